;; The numbers lie in memory from 0 on.
(func $sum (export "sum") (param $count i32) (result f64)
  (local $place i32) (local $end i32) (local $total f64) (local $doubled f64)
  (local.set $end (i32.shl (local.get $count) (i32.const 3)))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $place) (local.get $end)))
      (local.set $doubled (f64.mul (f64.load (local.get $place)) (f64.const 2)))
      (if (f64.ge (local.get $doubled) (f64.const 10))
        (then (local.set $total (f64.add (local.get $total) (local.get $doubled)))))
      (local.set $place (i32.add (local.get $place) (i32.const 8)))
      (br $next)))
  (local.get $total))
