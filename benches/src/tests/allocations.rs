//! A warm run allocates nothing.

use crate::{P1_ARGUMENTS, PROGRAMS, Prepared, finish, p1};

#[test]
fn warm_runs_allocate_nothing() {
    for (name, prepare) in PROGRAMS {
        let mut prepared = prepare();
        assert!(prepared.again(), "{name} ends well");
        let counted = allocation_counter::measure(|| {
            for _ in 0..3 {
                assert!(prepared.again());
            }
        });
        assert_eq!(counted.count_total, 0, "{name} allocated {counted:?}");
    }
}

#[test]
fn a_warm_start_allocates_nothing_either() {
    let Prepared { mut run, entry, answers } = p1();
    assert!(finish(&mut run, &answers));
    let counted = allocation_counter::measure(|| {
        assert!(run.start(entry, &P1_ARGUMENTS).is_ok());
        assert!(finish(&mut run, &answers));
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1_u8; 100])));
    assert_eq!(counted.count_total, 1);
}
