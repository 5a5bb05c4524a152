//! A journal in a PostgreSQL database: the commands are the same, and a person accepts a failover.

#[path = "../../../journal/tests/support/server.rs"]
#[allow(unreachable_pub, missing_docs, clippy::missing_panics_doc, reason = "a test's own helpers")]
mod server;

use super::support::{Place, code, error, json_of};
use serde_json::json;
use server::Server;

#[test]
fn a_run_that_waits_in_a_database_goes_on_after_a_failover_that_a_person_accepts() {
    let Some(server) = Server::start() else { return };
    let address = server.address_of("cli", "");
    let address = address.to_str().unwrap();
    let place = Place::new("", ", \"confirm\": true");
    let run =
        ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", address, "--name", "order"];
    let waits = place.run(&run);
    assert_eq!((code(&waits), place.tools_called()), (4, vec!["pay".to_owned()]), "{}", error(&waits));
    let after = ["runs", "after-failover", "--journal", address];
    let none = place.run(&after);
    assert_eq!((code(&none), none.stdout), (0, b"0 calls are in doubt\n".to_vec()));

    // The timeline of the server is another one than the journal has noted, as after a failover.
    server.sql(
        "UPDATE cli.setting SET value = set_byte(value, 8, get_byte(value, 8) # 1) WHERE name = 'cluster'",
    );
    let resume = ["resume", "order", "--tools", "tools.json", "--journal", address];
    let refused = place.run(&resume);
    assert_eq!(code(&refused), 2, "{}", error(&refused));
    assert!(
        error(&refused).contains("failed-over") && error(&refused).contains("runs after-failover"),
        "{refused:?}"
    );
    assert!(!error(&refused).contains("ss-word"), "{refused:?}");
    let accepted = place.run(&after);
    assert_eq!((code(&accepted), accepted.stdout), (0, b"0 calls are in doubt\n".to_vec()));
    assert_eq!(code(&place.approve_in(address, "order", &[])), 0);
    let ended = place.run(&resume);
    assert_eq!(json_of(&ended), json!({"status": "ok", "value": 7}), "{}", error(&ended));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}
