//! Answers of the misbehaving server that cannot be read, or would take much memory.

use crate::hostile_server::raw;
use serde_json::Value;

/// Bytes of a flood, which with its envelope is less than the largest message.
const FLOOD: usize = (16 << 20) - 1000;

/// Answers a call if the scenario is of this kind.
pub(crate) fn answer(scenario: &str, id: &Value) -> bool {
    if let Some(place) = scenario.strip_prefix("flood:") {
        flood(id, place);
        return true;
    }
    let text = |inside: &[u8]| [br#"{"content":[{"type":"text","text":""#, inside, br#""}]}"#].concat();
    let structured = |value: &str| format!(r#"{{"content":[],"structuredContent":{value}}}"#).into_bytes();
    let result = match scenario {
        "answers-nan" => structured(r#"{"n":NaN}"#),
        "answers-1e999" => structured(r#"{"n":1e999}"#),
        "answers-bad-utf8" => text(b"a\xff\xfe"),
        "answers-half-a-pair" => text(br"a\ud83d!\ude00"),
        "answers-half-json" => b"{\"content\":[}".to_vec(),
        "answers-null" => br#"{"content":[{"type":"text","text":"kept"}],"structuredContent":null}"#.to_vec(),
        "escapes-a-key" => br#"{"content":[],"structured\u0043ontent":{"n":18446744073709551616}}"#.to_vec(),
        _ => return false,
    };
    send(id, &result);
    true
}

fn send(id: &Value, result: &[u8]) {
    raw(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).as_bytes());
    raw(result);
    raw(b"}\n");
}

/// Sends millions of small values at a position of a message.
pub(crate) fn flood(id: &Value, place: &str) {
    let one = br#"{"":0},"#;
    let mut values = one.repeat(FLOOD / one.len());
    values.pop();
    let good = br#"{"content":[{"type":"text","text":"hello"}]"#.to_vec();
    let (before, after) = match place {
        "structured" => (br#"{"content":[],"structuredContent":["#.to_vec(), &b"]}"[..]),
        "content" => (br#"{"content":["#.to_vec(), &b"]}"[..]),
        "meta" => ([&good[..], br#","_meta":{"x":["#].concat(), &b"]}}"[..]),
        "list" => (br#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}],"_meta":{"x":["#.to_vec(), &b"]}}"[..]),
        "other" => {
            raw(br#"{"jsonrpc":"2.0","method":"notifications/message","params":["#);
            raw(&values);
            raw(b"]}\n{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":[");
            raw(&values);
            raw(b"]}\n");
            return send(id, &[&good[..], b"}"].concat());
        }
        _ => (good, &b"}"[..]),
    };
    if before.ends_with(b"]") {
        return send(id, &[&before[..], after].concat());
    }
    send(id, &[&before[..], &values[..], after].concat());
}
