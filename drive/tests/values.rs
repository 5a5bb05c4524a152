//! Values of Rust, of serde and of JSON as values of programs and back: exact, or an error that says what and
//! where.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_asm::compile::Options;
use ilo_drive::data::{ConvertError, Data, from_data, to_data};
use ilo_drive::lifecycle::start;
use ilo_vm::{Limits, Number, Program, Run, Step};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    account_id: String,
    logins: u32,
    score: f64,
    mail: Option<String>,
    tags: Vec<String>,
    role: Role,
    at: (i64, bool),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Admin,
    Guest { days: u8 },
    Named(String),
    Pair(i8, char),
}

fn user(role: Role) -> User {
    User {
        account_id: "u1".into(),
        logins: 3,
        score: 0.1,
        mail: None,
        tags: vec!["a".into(), "é\n".into()],
        role,
        at: (i64::MIN, true),
    }
}

#[test]
fn types_of_a_host_come_back_as_they_were() {
    for (role, json) in [
        (Role::Admin, json!("admin")),
        (Role::Guest { days: 7 }, json!({"guest": {"days": 7}})),
        (Role::Named("x".into()), json!({"named": "x"})),
        (Role::Pair(-1, 'ß'), json!({"pair": [-1, "ß"]})),
    ] {
        let user = user(role);
        let data = to_data(&user).unwrap();
        // serde_json is another implementation of the same conversion.
        assert_eq!(serde_json::to_value(&user).unwrap(), Value::try_from(data.clone()).unwrap());
        assert_eq!(data.get("role"), Some(&Data::try_from(json).unwrap()));
        assert_eq!(from_data::<User>(data).unwrap(), user);
    }
}

#[test]
fn data_is_serialized_and_deserialized_by_any_format() {
    let json = r#"{"a":[null,true,-9223372036854775808,9007199254740993,-0.0,1e300,"x\u0000"],"b":{}}"#;
    let data: Data = json.parse().unwrap();
    assert_eq!(serde_json::to_string(&data).unwrap().parse::<Data>().unwrap(), data);
    assert_eq!(serde_json::from_str::<Data>(json).unwrap(), data);
    assert_eq!(from_data::<Data>(to_data(&data).unwrap()).unwrap(), data);
    let value: Value = serde_json::from_str(json).unwrap();
    assert_eq!(Data::try_from(&value).unwrap(), data);
    assert_eq!(Value::try_from(data.clone()).unwrap(), value);
    assert_eq!(data.to_string(), data.to_json());
    assert_eq!(format!("{data:#}"), data.to_json_indented());
}

#[derive(Serialize)]
struct Twice {
    a: i32,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

fn error<T: std::fmt::Debug>(result: Result<T, ConvertError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_a_program_cannot_have_is_an_error_with_its_place() {
    let fits = "does not fit 64 bits with a sign; write it as text";
    let big = format!("the integer 18446744073709551615 {fits}");
    assert_eq!(error(to_data(&u64::MAX)), big);
    assert_eq!(error(Data::try_from(u64::MAX)), big);
    assert_eq!(error(Data::try_from(json!({"a": [1, u64::MAX]}))), format!("`a[1]`: {big}"));
    assert!(serde_json::from_str::<Data>("[18446744073709551615]").is_err());
    assert_eq!(
        error(to_data(&BTreeMap::from([("n", vec![i128::MAX])]))),
        format!("`n[0]`: the integer {} {fits}", i128::MAX)
    );
    assert_eq!(Data::try_from(i64::MAX as u64).unwrap(), Data::from(i64::MAX));
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let expected = format!("{number} is not a number that a program can have; numbers are finite");
        assert_eq!(error(to_data(&number)), expected);
        assert_eq!(error(Data::try_from(number)), expected);
        // A host can write one by hand.
        let forged = Data::Number(Number::Double(number));
        assert_eq!(error(from_data::<Value>(forged.clone())), expected);
        assert!(serde_json::to_string(&forged).is_err());
    }
    assert_eq!(error(to_data(&HashMap::from([(1, "x")]))), "expected a text as a key, found a number");
    assert_eq!(
        error(to_data(&HashMap::from([((1, 2), "x")]))),
        "expected a text as a key, found something else"
    );
    let twice = Twice { a: 1, rest: BTreeMap::from([("a".into(), 2)]) };
    assert_eq!(error(to_data(&twice)), "`a`: the name is there twice");
}

#[test]
fn what_does_not_fit_a_type_is_an_error_with_its_place() {
    let read = |json: &str| from_data::<User>(json.parse().unwrap()).unwrap_err();
    let whole = to_data(&user(Role::Admin)).unwrap().to_json();
    let error = read(&whole.replace(r#"["a""#, r#"["a",{}"#));
    assert_eq!(error.path(), "tags[1]");
    assert_eq!(error.to_string(), "`tags[1]`: invalid type: map, expected a string");
    assert_eq!(read(&whole.replace(":3,", ":-3,")).path(), "logins");
    assert_eq!(read(&whole.replace(":3,", ":3.5,")).path(), "logins");
    assert_eq!(read("{}").to_string(), "missing field `account-id`");
    assert_eq!(read(&whole.replace("admin", "root")).path(), "role");
    // A whole number is an integer however it is written.
    let user: User = from_data(whole.replace(":3,", ":3.0,").parse().unwrap()).unwrap();
    assert_eq!(user.logins, 3);
    assert!(from_data::<i64>("9223372036854775808.0".parse().unwrap()).is_err());
    assert_eq!(from_data::<i64>("-9223372036854775808.0".parse().unwrap()), Ok(i64::MIN));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Nested(Vec<Nested>);

fn nested(depth: usize) -> Data {
    (0..depth).fold(Data::Nil, |inner, _| Data::list([inner]))
}

#[test]
fn depth_is_exact_up_to_that_of_a_value_and_an_error_beyond() {
    // Recursion in debug builds of serde needs more than the 2 MiB of a test's thread.
    let test = || {
        for depth in [1_000, 1_024] {
            let data = nested(depth);
            assert_eq!(to_data(&data).unwrap(), data);
            assert_eq!(from_data::<Data>(data.clone()).unwrap(), data);
            let value = Value::try_from(data.clone()).unwrap();
            assert_eq!(Data::try_from(&value).unwrap(), data);
            assert_eq!(data.to_string().parse::<Data>().unwrap(), data);
        }
        let deep = nested(1_025);
        assert!(error(to_data(&deep)).ends_with("nested deeper than 1024"));
        assert!(error(from_data::<Data>(deep.clone())).ends_with("nested deeper than 1024"));
        assert!(error(Value::try_from(deep.clone())).ends_with("nested deeper than 1024"));
        assert!(deep.to_string().parse::<Data>().is_err());
        assert!(serde_json::to_string(&deep).is_err());
        let mut own = Nested(Vec::new());
        for _ in 0..2_000 {
            own = Nested(vec![own]);
        }
        assert!(error(to_data(&own)).ends_with("nested deeper than 1024"));
        // What a host builds may be deeper; it is written and dropped in a loop.
        drop(nested(1_000_000).to_json());
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn the_value_of_a_run_becomes_a_type_of_the_host() {
    let source = "; fn f(x: any) -> any\nRET REF 0\n";
    let program = Program::new(ilo_asm::compile::compile(source, &Options::default()).0.unwrap()).unwrap();
    let given = user(Role::Pair(-1, 'ß'));
    let mut run = Run::new(&program, Limits::default());
    let input = Data::record([("x", to_data(&given).unwrap())]);
    start(&mut run, program.entry().unwrap(), &input).unwrap();
    let Step::Done(outcome) = run.step() else { panic!("it calls nothing") };
    let value = Data::from(outcome.ok().unwrap());
    assert_eq!(value, to_data(&given).unwrap());
    assert_eq!(from_data::<User>(value).unwrap(), given);
}

#[test]
fn a_million_items_are_exact() {
    let items: Vec<u32> = (0..1_000_000).collect();
    let data = to_data(&items).unwrap();
    assert_eq!(data, Data::from(items.clone()));
    assert_eq!(from_data::<Vec<u32>>(data).unwrap(), items);
}

#[test]
fn parts_are_moved_out_of_values() {
    let data = Data::record([("a", Data::list(["x", "y"])), ("b", true.into()), ("a", 1.into())]);
    assert_eq!(data.to_string(), r#"{"a":1,"b":true}"#, "the later of two fields of one name stays");
    assert_eq!(data.get("a").and_then(Data::as_int), Some(1));
    assert_eq!(data.get("b").and_then(Data::as_bool), Some(true));
    match Data::from(vec![Some("x"), None]) {
        Data::List(items) => assert_eq!(items.into_iter().next_back(), Some(Data::Nil)),
        other => panic!("{other}"),
    }
}
