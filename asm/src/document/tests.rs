//! What the tests of both readers need.

use super::*;
use crate::arena::Arena;
use crate::diagnostic::fix;
use proptest::prelude::*;
use serde_json::Value;

/// Brackets within brackets.
pub(crate) fn deep(open: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + &close.repeat(levels)
}

/// Runs a test on a stack that recursion would soon overflow.
pub(crate) fn in_small_thread(test: fn()) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

/// A value as JSON may have it, with keys that differ.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<i64>().prop_map(Value::from), any::<f64>().prop_map(Value::from)];
    let text = prop_oneof!["\\PC{0,6}", "[a-z\"\\\\\n\t$ {}\\[\\]:#,'-]{0,8}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        text.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// What `read` makes of a source, as serde's values, and what it reports.
pub(crate) fn read_with(
    source: &str,
    read: for<'a> fn(&'a str, &'a Arena, &crate::source::SourceLimits, &mut Diagnostics) -> &'a [Node<'a>],
) -> (Vec<Value>, Vec<Diagnostic>) {
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = crate::source::SourceLimits { source: usize::MAX, line: 80, nesting: 128 };
    let documents = read(source, &arena, &options, &mut diagnostics);
    documents.iter().for_each(|document| check_places(source, document));
    (documents.iter().map(value).collect(), diagnostics.as_slice().to_vec())
}

/// Fixes that are applied until none is left come to an end.
#[track_caller]
pub(crate) fn fixes_end(mut source: String, documents: fn(&str) -> (Vec<Value>, Vec<Diagnostic>)) {
    for _ in 0..20 {
        let (_, found) = documents(&source);
        let (next, applied) = fix::apply(&source, &found);
        if applied == 0 {
            break;
        }
        assert_ne!(next, source);
        source = next;
    }
    let (_, found) = documents(&source);
    assert!(found.iter().all(|found| found.fix.is_none()), "{source}: {found:?}");
}

pub(crate) fn shown(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(|found| format!("{} at {}", found.code, found.span.start)).collect()
}

/// Every node lies in the source, within its parent and after its neighbour; a text that knows its place is
/// there.
pub(crate) fn check_places(source: &str, node: &Node<'_>) {
    assert!(source.get(node.span.range()).is_some(), "{node:?}");
    if let NodeKind::Text(Text { text, start: Some(start), .. }) = node.kind {
        let range = start as usize..start as usize + text.len();
        assert_eq!(source.get(range), Some(text), "{node:?}");
    }
    let mut at = node.span.start;
    let mut child = |child: &Node<'_>| {
        assert!(at <= child.span.start && child.span.end <= node.span.end, "{child:?} in {node:?}");
        at = child.span.end;
        check_places(source, child);
    };
    match node.kind {
        NodeKind::List(nodes) => nodes.iter().for_each(child),
        NodeKind::Record(entries) => entries.iter().for_each(|entry| {
            child(&entry.key);
            child(&entry.value);
        }),
        _ => {}
    }
}

pub(crate) fn value(node: &Node<'_>) -> Value {
    match node.kind {
        NodeKind::Null => Value::Null,
        NodeKind::Bool(bool) => Value::Bool(bool),
        NodeKind::Number(Number::Int(int)) => Value::from(int),
        NodeKind::Number(Number::Double(double)) => Value::from(double),
        NodeKind::Text(text) => Value::from(text.text),
        NodeKind::List(nodes) => nodes.iter().map(value).collect(),
        NodeKind::Record(entries) => {
            let key = |entry: &Entry<'_>| match entry.key.kind {
                NodeKind::Text(text) => text.text.to_owned(),
                NodeKind::List(_) | NodeKind::Record(_) => entry.key.kind_name().to_owned(),
                _ => format!("{}", value(&entry.key)),
            };
            Value::Object(entries.iter().map(|entry| (key(entry), value(&entry.value))).collect())
        }
    }
}

#[test]
fn equal_keys_are_given_once() {
    fn text(text: &str) -> NodeKind<'_> {
        NodeKind::Text(Text { text, style: Style::Plain, start: None })
    }
    for many in [0, 40] {
        let fill: Vec<String> = (0..many).map(|n| format!("k{n}")).collect();
        let number = |number| NodeKind::Number(number);
        let value = Node { kind: NodeKind::Null, span: Span::at(0) };
        let kinds = [
            number(Number::Int(1)),
            text("1"),
            number(Number::Double(1.0)),
            number(Number::Double(1.5)),
            NodeKind::Null,
            text("a"),
            text("a"),
            NodeKind::Bool(true),
            number(Number::Double(-0.0)),
            number(Number::Int(0)),
        ];
        let mut entries: Vec<_> = kinds
            .into_iter()
            .chain(fill.iter().map(|name| text(name)))
            .map(|kind| Entry { key: Node { kind, ..value }, value })
            .collect();
        let mut diagnostics = Diagnostics::default();
        let kept = keep_first(&mut entries, &mut diagnostics);
        assert_eq!(kept, 7 + many);
        assert_eq!(shown(diagnostics.as_slice()), ["duplicate-key at 0"; 3]);
    }
}
