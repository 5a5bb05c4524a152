//! What blocks a thread refuses to do so in asynchronous code.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use ilo_journal::{ErrorCode, To};
use support::{Place, record, start};
use tokio::runtime::Builder;

#[test]
fn a_ticket_says_in_asynchronous_code_that_it_is_awaited() {
    let place = Place::new();
    let store = place.open();
    let (_, mut lease) = start(&store, None, To::Calling);
    let mut call = 1;
    let mut next = || {
        call += 1;
        store.record(&mut lease, &record(To::Calling, call)).unwrap()
    };
    for runtime in
        [Builder::new_current_thread().build(), Builder::new_multi_thread().worker_threads(1).build()]
    {
        runtime.unwrap().block_on(async {
            let refused = next().wait().unwrap_err();
            assert_eq!(refused.code, ErrorCode::Blocks);
            assert!(refused.to_string().contains("await the ticket"), "{refused}");
            assert!(!next().await.unwrap());
            let ticket = next();
            assert!(!tokio::task::spawn_blocking(move || ticket.wait()).await.unwrap().unwrap());
        });
    }
}

#[test]
fn what_a_host_keeps_can_be_sent_between_threads() {
    fn sends<T: Send>() {}
    fn shares<T: Send + Sync>() {}
    sends::<ilo_journal::Session>();
    sends::<ilo_journal::Claimed>();
    sends::<ilo_journal::Left>();
    shares::<ilo_journal::Store>();
    shares::<ilo_journal::Error>();
    shares::<ilo_journal::Options>();
}
