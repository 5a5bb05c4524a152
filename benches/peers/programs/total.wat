(func $total (export "total") (param $price f64) (param $quantity f64) (param $rate f64) (result f64)
  (local $net f64)
  (local.set $net (f64.mul (local.get $price) (local.get $quantity)))
  (f64.add (local.get $net) (f64.mul (local.get $net) (local.get $rate))))
