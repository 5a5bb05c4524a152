//! Pure functions that look for equal values or take records apart, as page 12 of the specification defines
//! them (12.16 to 12.19), each by comparing everything with everything.

use super::pure::{MISMATCH, Result, Stop, items, text};
use super::render;
use super::value::Value;
use ilo_spec::error::Code;
use std::rc::Rc;

/// The comparisons after which a run reaches its limits anyway.
const MOST: u64 = 1 << 22;

fn same(a: &Value, b: &Value) -> Result<bool> {
    let mut steps = MOST;
    a.equals(b, &mut steps).ok_or(Stop::Limit)
}

fn record(value: &Value) -> Result<&[(Rc<str>, Value)]> {
    if let Value::Record(record) = value { Ok(&record.fields) } else { Err(MISMATCH) }
}

/// The field of a record; nil if it is absent.
fn field(item: &Value, name: &str) -> Result<Value> {
    let found = record(item)?.iter().find(|(field, _)| &**field == name);
    Ok(found.map_or(Value::Nil, |(_, value)| value.clone()))
}

/// The items of a list, or a field of each.
fn keys(list: &Value, name: &Value) -> Result<Vec<Value>> {
    match name {
        Value::Nil => Ok(items(list)?.to_vec()),
        _ => {
            let (list, name) = (items(list)?, text(name)?);
            list.iter().map(|item| field(item, name)).collect()
        }
    }
}

pub(super) fn column(list: &Value, name: &Value) -> Result<Value> {
    text(name)?;
    keys(list, name).map(Value::list)
}

pub(super) fn find(list: &Value, name: &Value, wanted: &Value) -> Result<Value> {
    let (list, name) = (items(list)?, text(name)?);
    for item in list {
        if same(&field(item, name)?, wanted)? {
            return Ok(item.clone());
        }
    }
    Ok(Value::Nil)
}

/// The different keys in the order of their first places, each with the items that have it.
fn classes(list: &Value, name: &Value) -> Result<Vec<(Value, Vec<Value>)>> {
    let keys = keys(list, name)?;
    let mut classes: Vec<(Value, Vec<Value>)> = Vec::new();
    for (key, item) in keys.into_iter().zip(items(list)?) {
        let mut place = None;
        for (number, (known, _)) in classes.iter().enumerate() {
            if same(known, &key)? {
                place = Some(number);
                break;
            }
        }
        match place.and_then(|place| classes.get_mut(place)) {
            Some((_, members)) => members.push(item.clone()),
            None => classes.push((key, vec![item.clone()])),
        }
    }
    Ok(classes)
}

pub(super) fn unique(list: &Value, name: &Value) -> Result<Value> {
    let firsts = classes(list, name)?.into_iter().filter_map(|(_, members)| members.into_iter().next());
    Ok(Value::list(firsts.collect()))
}

pub(super) fn group(list: &Value, name: &Value) -> Result<Value> {
    let group =
        |(key, members)| Value::record(vec![("key".into(), key), ("items".into(), Value::list(members))]);
    Ok(Value::list(classes(list, name)?.into_iter().map(group).collect()))
}

pub(super) fn index(value: &Value, wanted: &Value) -> Result<Value> {
    let place = match value {
        Value::Text(whole) => {
            let part = text(wanted)?;
            (0..=whole.chars().count())
                .find(|&from| whole.chars().skip(from).collect::<String>().starts_with(part))
        }
        Value::List(list) => {
            let mut place = None;
            for (number, item) in list.items.iter().enumerate() {
                if same(item, wanted)? {
                    place = Some(number);
                    break;
                }
            }
            place
        }
        _ => return Err(MISMATCH),
    };
    Ok(place.and_then(|place| i64::try_from(place).ok()).map_or(Value::Nil, Value::Int))
}

pub(super) fn values(of: &Value) -> Result<Value> {
    Ok(Value::list(record(of)?.iter().map(|(_, value)| value.clone()).collect()))
}

pub(super) fn entries(of: &Value) -> Result<Value> {
    let entry = |(name, value): &(Rc<str>, Value)| {
        Value::record(vec![("key".into(), Value::Text(name.clone())), ("value".into(), value.clone())])
    };
    Ok(Value::list(record(of)?.iter().map(entry).collect()))
}

/// A field set: at its place, or at the end.
fn set(fields: &mut Vec<(Rc<str>, Value)>, name: &str, value: &Value) {
    match fields.iter_mut().find(|(field, _)| &**field == name) {
        Some(field) => field.1 = value.clone(),
        None => fields.push((name.into(), value.clone())),
    }
}

pub(super) fn of_entries(list: &Value) -> Result<Value> {
    let mut fields = Vec::new();
    for entry in items(list)? {
        let part = |name: &str| {
            let found = record(entry)?.iter().find(|(field, _)| &**field == name);
            found.map(|(_, value)| value).ok_or(Stop::Fault(Code::FaultMissingField))
        };
        let (key, value) = (part("key")?, part("value")?);
        if !matches!(key, Value::Text(_) | Value::Int(_) | Value::Double(_) | Value::Bool(_)) {
            return Err(MISMATCH);
        }
        set(&mut fields, &render::text(key).ok_or(Stop::Limit)?, value);
    }
    Ok(Value::record(fields))
}

pub(super) fn without(of: &Value, name: &Value) -> Result<Value> {
    let (fields, name) = (record(of)?, text(name)?);
    Ok(Value::record(fields.iter().filter(|(field, _)| &**field != name).cloned().collect()))
}

pub(super) fn joined(a: &Value, b: &Value) -> Result<Value> {
    let (mut fields, others) = (record(a)?.to_vec(), record(b)?);
    others.iter().for_each(|(name, value)| set(&mut fields, name, value));
    Ok(Value::record(fields))
}
