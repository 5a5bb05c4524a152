//! Pure functions as page 12 of the specification defines them, each in the plainest way.

use super::decimal::Decimal;
use super::number;
use super::render;
use super::value::Value;
use super::{json, search, time};
use ilo_asm::ast::Binary;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;
use std::cmp::Ordering;
use std::rc::Rc;

/// The number of items beyond which a run reaches its limits anyway.
const MOST: usize = 1 << 17;

/// Why there is no value.
pub(super) enum Stop {
    /// A fault.
    Fault(Code),
    /// A failure with this text.
    Failure(String),
    /// A limit.
    Limit,
}

pub(super) type Result<T> = core::result::Result<T, Stop>;

pub(super) const MISMATCH: Stop = Stop::Fault(Code::FaultTypeMismatch);

/// The value of a function.
pub(super) fn apply(function: Pure, operands: &[Value]) -> Result<Value> {
    let none = Value::Nil;
    let operand = |place: usize| operands.get(place).unwrap_or(&none);
    let [a, b, c] = [operand(0), operand(1), operand(2)];
    Ok(match function {
        Pure::Join => Value::text(&join(a, b)?),
        Pure::Get => get(a, b)?.filter(|found| !matches!(found, Value::Nil)).unwrap_or_else(|| c.clone()),
        Pure::Put => put(a, b, c)?,
        Pure::Keys => match a {
            Value::Record(record) => {
                Value::list(record.fields.iter().map(|(name, _)| Value::Text(name.clone())).collect())
            }
            _ => return Err(MISMATCH),
        },
        Pure::Split => split(text(a)?, text(b)?)?,
        Pure::Replace => {
            let (whole, old, new) = (text(a)?, text(b)?, text(c)?);
            if old.is_empty() { a.clone() } else { Value::text(&short(whole.replace(old, new))?) }
        }
        Pure::Trim => Value::text(text(a)?.trim()),
        Pure::Lower => Value::text(&mapped(text(a)?, |c| one(c, c.to_lowercase()))),
        Pure::Upper => Value::text(&mapped(text(a)?, |c| one(c, c.to_uppercase()))),
        Pure::Slice => slice(a, b, c)?,
        Pure::Sort => sort(a, b, |order| order)?,
        Pure::SortDown => sort(a, b, Ordering::reverse)?,
        Pure::Reverse => Value::list(items(a)?.iter().rev().cloned().collect()),
        Pure::Range => {
            let count = usize::try_from(whole(a)?).map_err(|_| MISMATCH)?;
            if count > MOST {
                return Err(Stop::Limit);
            }
            Value::list((0_i64..).take(count).map(Value::Int).collect())
        }
        Pure::Sum => sum(items(a)?)?,
        Pure::Json => Value::text(&render::json(a).ok_or(Stop::Limit)?),
        Pure::Min => extreme(a, Ordering::Less, "the least of an empty list")?,
        Pure::Max => extreme(a, Ordering::Greater, "the greatest of an empty list")?,
        Pure::Round => round(a, b)?,
        Pure::Fixed => Value::text(&fixed(a, b)?),
        Pure::Grouped => Value::text(&grouped(&fixed(a, b)?)),
        Pure::Number => match a {
            Value::Int(_) | Value::Double(_) => a.clone(),
            _ => json::number_of(text(a)?.trim()).map_err(|expected| refused(expected, a))?,
        },
        Pure::Parse => match a {
            Value::Text(text) => json::parse(text)?,
            _ => a.clone(),
        },
        Pure::Read => read(a)?,
        Pure::Time => time::read(text(a)?)
            .ok_or_else(|| refused("expected a time such as 2026-01-31T12:00:00Z or a date", a))?,
        Pure::Iso => Value::text(&time::write(a.number().ok_or(MISMATCH)?).ok_or(MISMATCH)?),
        Pure::Date => Value::text(&day(moment(a)?.1)?),
        Pure::Days => {
            // A wrong type of one is a fault, also where the other fails.
            if [a, b].into_iter().any(|it| it.number().is_none() && text(it).is_err()) {
                return Err(MISMATCH);
            }
            let (from, to) = (moment(a)?.0, moment(b)?.0);
            let difference = number::calculate(Binary::Sub, to, from).map_err(Stop::Fault)?;
            floor_div(difference, Number::Int(86_400))?
        }
        Pure::Floor => floor(a.number().ok_or(MISMATCH)?)?,
        Pure::Ceil => match a.number().ok_or(MISMATCH)? {
            Number::Double(double) => floor(Number::Double(double.ceil()))?,
            int @ Number::Int(_) => floor(int)?,
        },
        Pure::Abs => match a.number().ok_or(MISMATCH)? {
            Number::Int(int) => Value::Int(int.checked_abs().ok_or(Stop::Fault(Code::FaultOverflow))?),
            Number::Double(double) => Value::Double(double.abs()),
        },
        Pure::FloorDiv => floor_div(a.number().ok_or(MISMATCH)?, b.number().ok_or(MISMATCH)?)?,
        Pure::Set => set(a, b, c)?,
        Pure::Starts => {
            let (whole, part) = (text(a)?, text(b)?);
            Value::Bool(whole.as_bytes().get(..part.len()) == Some(part.as_bytes()))
        }
        Pure::Ends => {
            let (whole, part) = (text(a)?.as_bytes(), text(b)?.as_bytes());
            let from = whole.len().checked_sub(part.len());
            Value::Bool(from.is_some_and(|from| whole.get(from..) == Some(part)))
        }
        Pure::Unique => search::unique(a, b)?,
        Pure::Group => search::group(a, b)?,
        Pure::Column => search::column(a, b)?,
        Pure::Find => search::find(a, b, c)?,
        Pure::Index => search::index(a, b)?,
        Pure::Values => search::values(a)?,
        Pure::Entries => search::entries(a)?,
        Pure::Record => search::of_entries(a)?,
        Pure::Without => search::without(a, b)?,
        Pure::Joined => search::joined(a, b)?,
    })
}

/// The number with decimal places (12.10).
fn fixed(number: &Value, places: &Value) -> Result<String> {
    let (number, places) = (number.number().ok_or(MISMATCH)?, whole(places)?);
    let places = usize::try_from(places).ok().filter(|&places| places <= 20).ok_or(MISMATCH)?;
    Ok(Decimal::of(number).rounded(places as i128).fixed(places))
}

/// A number with a comma before every third digit of its whole part, from the right.
fn grouped(fixed: &str) -> String {
    let (sign, rest) = fixed.strip_prefix('-').map_or(("", fixed), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut digits: Vec<char> = whole.chars().collect();
    let mut place = digits.len();
    while place > 3 {
        place -= 3;
        digits.insert(place, ',');
    }
    sign.to_owned() + &digits.into_iter().collect::<String>() + fraction
}

/// The greatest integer that is at most a number (12.20).
fn floor(number: Number) -> Result<Value> {
    let down = match number {
        Number::Int(int) => return Ok(Value::Int(int)),
        Number::Double(double) => number::whole(Number::Double(double.floor())),
    };
    down.and_then(|down| i64::try_from(down).ok()).map(Value::Int).ok_or(Stop::Fault(Code::FaultOverflow))
}

fn floor_div(a: Number, b: Number) -> Result<Value> {
    if let (Number::Int(a), Number::Int(b)) = (a, b)
        && b != 0
    {
        let (a, b) = if b < 0 { (-i128::from(a), -i128::from(b)) } else { (i128::from(a), i128::from(b)) };
        let down = i64::try_from(a.div_euclid(b));
        return down.map(Value::Int).map_err(|_| Stop::Fault(Code::FaultOverflow));
    }
    floor(number::calculate(Binary::Div, a, b).map_err(Stop::Fault)?)
}

/// The list with one item replaced.
fn set(list: &Value, index: &Value, value: &Value) -> Result<Value> {
    let mut list = items(list)?.to_vec();
    let index = index.number().ok_or(MISMATCH)?;
    let index = number::whole(index);
    let from_start = index.map(|index| if index < 0 { index + list.len() as i128 } else { index });
    let place = from_start.and_then(|place| usize::try_from(place).ok());
    let item = place.and_then(|place| list.get_mut(place)).ok_or(Stop::Fault(Code::FaultIndexOutOfRange))?;
    *item = value.clone();
    Ok(Value::list(list))
}

/// The value of a JSON object or array in a text; anything else is itself.
fn read(value: &Value) -> Result<Value> {
    let Value::Text(text) = value else { return Ok(value.clone()) };
    match json::parse(text) {
        Ok(found @ (Value::List(_) | Value::Record(_))) => Ok(found),
        Ok(_) | Err(Stop::Failure(_)) => Ok(value.clone()),
        Err(stop) => Err(stop),
    }
}

/// The seconds of a time, and the time of day as text; a failure outside the years 1 to 9999.
fn moment(value: &Value) -> Result<(Number, Number)> {
    let (number, expected) = match value {
        Value::Text(text) => {
            let expected = "expected a time such as 2026-01-31T12:00:00Z or a date";
            let read = time::read(text).and_then(|read| read.number());
            (read.ok_or_else(|| refused(expected, value))?, expected)
        }
        _ => (value.number().ok_or(MISMATCH)?, "expected seconds since 1970 within the years 1 to 9999"),
    };
    let Ok(Value::Int(down)) = floor(number) else { return Err(refused(expected, value)) };
    match time::write(Number::Int(down)) {
        Some(_) => Ok((number, Number::Int(down))),
        None => Err(refused(expected, value)),
    }
}

/// The date of whole seconds.
fn day(seconds: Number) -> Result<String> {
    let written = time::write(seconds).ok_or(MISMATCH)?;
    Ok(written.split_once('T').map_or("", |(date, _)| date).to_owned())
}

/// The first item and the others added to it (12.9), so that the sum of `-0.0` alone is `-0.0`.
fn sum(items: &[Value]) -> Result<Value> {
    let Some((first, others)) = items.split_first() else { return Ok(Value::Int(0)) };
    let first = first.number().ok_or(MISMATCH)?;
    let add = |sum, item: &Value| {
        number::calculate(Binary::Add, sum, item.number().ok_or(MISMATCH)?).map_err(Stop::Fault)
    };
    others.iter().try_fold(first, add).map(Value::from)
}

pub(super) fn text(value: &Value) -> Result<&str> {
    if let Value::Text(text) = value { Ok(text) } else { Err(MISMATCH) }
}

pub(super) fn items(value: &Value) -> Result<&[Value]> {
    if let Value::List(list) = value { Ok(&list.items) } else { Err(MISMATCH) }
}

fn whole(value: &Value) -> Result<i128> {
    value.number().and_then(number::whole).ok_or(MISMATCH)
}

/// The failure of a function that was given another text than it expects.
fn refused(expected: &str, found: &Value) -> Stop {
    match render::json(found) {
        Some(found) => Stop::Failure(format!("{expected}, found {}", json::shown(&found))),
        None => Stop::Limit,
    }
}

/// The first item that no other one is before in the wanted order.
fn extreme(list: &Value, wanted: Ordering, none: &str) -> Result<Value> {
    let list = items(list)?;
    let first = list.first().ok_or_else(|| Stop::Failure(none.to_owned()))?;
    let mut best = first;
    for item in list {
        let order = item.order(best).ok_or(MISMATCH)?;
        best = if order == wanted { item } else { best };
    }
    Ok(best.clone())
}

fn round(value: &Value, places: &Value) -> Result<Value> {
    let (number, places) = (value.number().ok_or(MISMATCH)?, whole(places)?);
    let rounded = Decimal::of(number).rounded(places);
    match number {
        Number::Int(_) if places >= 0 => Ok(value.clone()),
        Number::Double(_) if places > 0 => Ok(Value::Double(rounded.double())),
        _ => {
            let int = rounded.scaled(0).and_then(|whole| i64::try_from(whole).ok());
            int.map(Value::Int).ok_or(Stop::Fault(Code::FaultOverflow))
        }
    }
}

fn short(text: String) -> Result<String> {
    if text.len() > MOST << 4 { Err(Stop::Limit) } else { Ok(text) }
}

fn join(list: &Value, separator: &Value) -> Result<String> {
    let (list, separator) = (items(list)?, text(separator)?);
    let mut joined = String::new();
    for (place, item) in list.iter().enumerate() {
        joined.push_str(if place > 0 { separator } else { "" });
        joined = short(joined + &render::text(item).ok_or(Stop::Limit)?)?;
    }
    Ok(joined)
}

fn get(container: &Value, key: &Value) -> Result<Option<Value>> {
    match (container, key) {
        (Value::Nil, Value::Text(_) | Value::Int(_) | Value::Double(_)) => Ok(None),
        (Value::List(list), Value::Int(_) | Value::Double(_)) => {
            let index = whole(key)?;
            let index = if index < 0 { index + list.items.len() as i128 } else { index };
            Ok(usize::try_from(index).ok().and_then(|index| list.items.get(index)).cloned())
        }
        (Value::Record(record), Value::Text(name)) => {
            Ok(record.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()))
        }
        _ => Err(MISMATCH),
    }
}

fn put(record: &Value, name: &Value, value: &Value) -> Result<Value> {
    let Value::Record(record) = record else { return Err(MISMATCH) };
    let name: Rc<str> = text(name)?.into();
    let mut fields = record.fields.clone();
    match fields.iter_mut().find(|(field, _)| *field == name) {
        Some(field) => field.1 = value.clone(),
        None => fields.push((name, value.clone())),
    }
    Ok(Value::record(fields))
}

fn split(whole: &str, separator: &str) -> Result<Value> {
    let parts: Vec<Value> = if separator.is_empty() {
        whole.chars().map(|c| Value::text(&c.to_string())).collect()
    } else {
        whole.split(separator).map(Value::text).collect()
    };
    if parts.len() > MOST { Err(Stop::Limit) } else { Ok(Value::list(parts)) }
}

/// The one code point that another is mapped to; itself where a mapping has several.
fn one(from: char, mut to: impl Iterator<Item = char>) -> char {
    match (to.next(), to.next()) {
        (Some(only), None) => only,
        _ => from,
    }
}

fn mapped(text: &str, of: impl Fn(char) -> char) -> String {
    text.chars().map(of).collect()
}

fn slice(value: &Value, from: &Value, to: &Value) -> Result<Value> {
    let from = whole(from)?;
    let to = if matches!(to, Value::Nil) { None } else { Some(whole(to)?) };
    let bounds = |length: usize| {
        let place = |at: i128| {
            let from_start = if at < 0 { at + length as i128 } else { at };
            usize::try_from(from_start.clamp(0, length as i128)).unwrap_or(0)
        };
        let (from, to) = (place(from), to.map_or(length, place));
        from..to.max(from)
    };
    match value {
        Value::Text(text) => {
            let points: Vec<char> = text.chars().collect();
            Ok(Value::text(&points[bounds(points.len())].iter().collect::<String>()))
        }
        Value::List(list) => Ok(Value::list(list.items[bounds(list.items.len())].to_vec())),
        _ => Err(MISMATCH),
    }
}

fn sort(list: &Value, field: &Value, direction: impl Fn(Ordering) -> Ordering) -> Result<Value> {
    let mut keyed: Vec<(Value, Value)> = Vec::new();
    let list = items(list)?;
    if !matches!(field, Value::Nil) {
        text(field)?;
    }
    for item in list {
        let key = match (field, item) {
            (Value::Nil, _) => item.clone(),
            (Value::Text(name), Value::Record(record)) => {
                let found = record.fields.iter().find(|(field, _)| field == name);
                found.ok_or(Stop::Fault(Code::FaultMissingField))?.1.clone()
            }
            _ => return Err(MISMATCH),
        };
        let first = keyed.first().map_or(&key, |(first, _)| first);
        if first.order(&key).is_none() {
            return Err(MISMATCH);
        }
        keyed.push((key, item.clone()));
    }
    keyed.sort_by(|(a, _), (b, _)| direction(a.order(b).unwrap_or(Ordering::Equal)));
    Ok(Value::list(keyed.into_iter().map(|(_, item)| item).collect()))
}
