//! The operation that is meant by a call in infix text with a record or a list as an operand, such as
//! `append(${rows}, {id: ${x}})`. Infix text has neither, but an operator that is written as a key takes
//! both.

use crate::dialect::operator::{self, Form};
use crate::text::quote;

use super::text_expression::call;

/// The levels of records, lists and calls that are rewritten.
const LEVELS: usize = 8;

/// Keys that make a record more than data.
const CONSTRUCTS: [&str; 6] = ["call", "expr", "match", "merge", "obj", "op"];

/// The call as a record with the operator as its key, if each operand is a reference, a constant, a record,
/// a list or such a call.
pub(super) fn operation(text: &str) -> Option<String> {
    called(text, LEVELS)
}

fn called(text: &str, levels: usize) -> Option<String> {
    let (name, operands) = call(text)?;
    operator::find(name).filter(|found| found.form == Form::Function)?;
    let operands: Option<Vec<String>> =
        parts(operands)?.into_iter().map(|part| value(part, levels)).collect();
    Some(format!("{{\"{name}\": [{}]}}", operands?.join(", ")))
}

/// The parts between the commas that no bracket and no quotes enclose.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut from, mut open, mut quoted) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match (quoted, c) {
            (Some(mark), _) if c == mark => quoted = None,
            (None, '\'' | '"') => quoted = Some(c),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']' | '}') => open = open.checked_sub(1)?,
            (None, ',') if open == 0 => {
                parts.push(text.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = text.get(from..)?;
    if !parts.is_empty() || !last.trim().is_empty() {
        parts.push(last);
    }
    (open == 0 && quoted.is_none()).then_some(parts)
}

fn value(text: &str, levels: usize) -> Option<String> {
    let (text, inner) = (text.trim(), levels.checked_sub(1)?);
    let within = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(items) = within('[', ']') {
        let items: Option<Vec<String>> = parts(items)?.into_iter().map(|item| value(item, inner)).collect();
        return Some(format!("[{}]", items?.join(", ")));
    }
    if let Some(fields) = within('{', '}') {
        return record(&parts(fields)?, inner);
    }
    let constant = matches!(text, "true" | "false" | "null") || ilo_spec::number::parse(text).is_ok();
    if constant {
        return Some(text.to_owned());
    }
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let reference =
        text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or(text.strip_prefix('$'));
    let quoted =
        within('\'', '\'').or(within('"', '"')).filter(|text| !text.contains(['\'', '"', '\\', '$']));
    let plain = match (reference, quoted) {
        (Some(path), _) if path.chars().all(word) => text,
        (_, Some(quoted)) => quoted,
        _ => return called(text, inner),
    };
    Some(as_json(plain))
}

fn record(fields: &[&str], levels: usize) -> Option<String> {
    let mut written = Vec::with_capacity(fields.len());
    for field in fields {
        let (key, inside) = field.split_once(':')?;
        let key = key.trim().trim_matches(['\'', '"']);
        let is_operation = fields.len() == 1 && operator::is(key);
        if is_operation || CONSTRUCTS.contains(&key) {
            return None;
        }
        written.push(format!("{}: {}", as_json(key), value(inside, levels)?));
    }
    Some(format!("{{{}}}", written.join(", ")))
}

fn as_json(text: &str) -> String {
    let mut out = String::new();
    quote(text, &mut out);
    out
}
