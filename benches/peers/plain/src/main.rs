//! The four programs written in Rust by hand, over dynamic values in an arena: the work that remains without
//! bytecode. There is no fuel and there are no limits; values are checked, and faults are values, as a host
//! needs.

use ilo_worker::Worker;
use std::fmt::Write;
use std::hint::black_box;

/// A dynamic value. Containers and texts of a run are in its arena.
#[derive(Clone, Copy, Debug)]
enum Value {
    Nil,
    Bool(bool),
    Number(f64),
    Constant(&'static &'static str),
    Text { start: u32, length: u32 },
    List { start: u32, length: u32 },
    Record { start: u32, shape: Shape },
}

/// The known lists of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Customer,
    Summary,
    User,
    Sent,
}

/// The names of the fields that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Spent,
    Level,
    Discount,
    Email,
    Verified,
}

/// The position of a field in a record of a shape.
fn place(shape: Shape, field: Field) -> Result<u32> {
    match (shape, field) {
        (Shape::Customer | Shape::Summary, Field::Name) | (Shape::User, Field::Email) => Ok(0),
        (Shape::Customer, Field::Spent) | (Shape::Summary, Field::Level) | (Shape::User, Field::Verified) => Ok(1),
        (Shape::Summary, Field::Discount) => Ok(2),
        _ => Err(Fault::Missing),
    }
}

#[derive(Debug)]
enum Fault {
    Type,
    NotFinite,
    Missing,
    NoCase,
}

type Result<T> = std::result::Result<T, Fault>;

/// The data that a run makes. Between runs it is cleared up to the end of the inputs.
#[derive(Default)]
struct Arena {
    values: Vec<Value>,
    bytes: Vec<u8>,
}

impl Arena {
    fn text(&mut self, text: &str) -> Value {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text.as_bytes());
        Value::Text { start, length: text.len() as u32 }
    }

    #[inline]
    fn record<const N: usize>(&mut self, shape: Shape, values: [Value; N]) -> Value {
        let start = self.values.len() as u32;
        self.values.extend_from_slice(&values);
        Value::Record { start, shape }
    }

    #[inline]
    fn field(&self, record: Value, name: Field) -> Result<Value> {
        let Value::Record { start, shape } = record else { return Err(Fault::Type) };
        Ok(self.values[(start + place(shape, name)?) as usize])
    }

    fn items(&self, list: Value) -> Result<std::ops::Range<usize>> {
        let Value::List { start, length } = list else { return Err(Fault::Type) };
        Ok(start as usize..(start + length) as usize)
    }

    fn concat(&mut self, before: &str, value: Value) -> Result<Value> {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(before.as_bytes());
        match value {
            Value::Constant(text) => self.bytes.extend_from_slice(text.as_bytes()),
            Value::Text { start, length } => {
                self.bytes.extend_from_within(start as usize..(start + length) as usize);
            }
            _ => return Err(Fault::Type),
        }
        Ok(Value::Text { start, length: self.bytes.len() as u32 - start })
    }

    fn show(&self, value: Value) -> String {
        match value {
            Value::Nil => "nil".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Constant(text) => (*text).to_owned(),
            Value::Text { start, length } => {
                String::from_utf8_lossy(&self.bytes[start as usize..(start + length) as usize]).into_owned()
            }
            Value::List { .. } | Value::Record { .. } => "?".to_owned(),
        }
    }
}

fn number(value: Value) -> Result<f64> {
    match value {
        Value::Number(number) => Ok(number),
        _ => Err(Fault::Type),
    }
}

fn finite(number: f64) -> Result<Value> {
    if number.is_finite() { Ok(Value::Number(number)) } else { Err(Fault::NotFinite) }
}

#[inline(never)]
fn total(arguments: &[Value; 3]) -> Result<Value> {
    let [price, quantity, rate] = *arguments;
    let net = finite(number(price)? * number(quantity)?)?;
    let tax = finite(number(net)? * number(rate)?)?;
    finite(number(net)? + number(tax)?)
}

#[inline(never)]
fn classify(spent: Value) -> Result<Value> {
    let spent = number(spent)?;
    Ok(Value::Constant(if spent >= 1_000.0 {
        &"gold"
    } else if spent >= 500.0 {
        &"silver"
    } else {
        &"bronze"
    }))
}

fn discount(level: Value) -> Result<Value> {
    match level {
        Value::Constant(&"gold") => Ok(Value::Number(20.0)),
        Value::Constant(&"silver") => Ok(Value::Number(10.0)),
        Value::Constant(&"bronze") => Ok(Value::Number(5.0)),
        _ => Err(Fault::NoCase),
    }
}

#[inline(never)]
fn summaries(arena: &mut Arena, customers: Value) -> Result<Value> {
    let items = arena.items(customers)?;
    let (start, length) = (arena.values.len(), items.len());
    arena.values.resize(start + length, Value::Nil);
    for (next, place) in (start..).zip(items) {
        let customer = arena.values[place];
        let level = classify(arena.field(customer, Field::Spent)?)?;
        let discount = discount(level)?;
        let name = arena.field(customer, Field::Name)?;
        arena.values[next] = arena.record(Shape::Summary, [name, level, discount]);
    }
    Ok(Value::List { start: start as u32, length: length as u32 })
}

/// A host: the name of a tool and its arguments to its answer or its failure.
type Tools<'t> = &'t mut dyn FnMut(&mut Arena, &str, &[Value]) -> std::result::Result<Value, Value>;

#[inline(never)]
fn notify(arena: &mut Arena, user_id: Value, message: Value, tools: Tools<'_>) -> Result<std::result::Result<Value, Value>> {
    let user = match tools(arena, "get-user", &[user_id]) {
        Ok(user) => user,
        Err(failure) => return Ok(Err(arena.concat("User lookup failed: ", failure)?)),
    };
    match arena.field(user, Field::Verified)? {
        Value::Bool(true) => {}
        Value::Bool(false) | Value::Nil => return Ok(Err(Value::Constant(&"Email not verified"))),
        _ => return Err(Fault::Type),
    }
    let email = arena.field(user, Field::Email)?;
    if let Err(failure) = tools(arena, "send-email", &[email, Value::Constant(&"Notification"), message]) {
        return Ok(Err(arena.concat("Send failed: ", failure)?));
    }
    Ok(Ok(Value::Nil))
}

#[inline(never)]
fn sum(arena: &Arena, numbers: Value) -> Result<Value> {
    let mut total = Value::Number(0.0);
    for place in arena.items(numbers)? {
        let doubled = finite(number(arena.values[place])? * 2.0)?;
        if number(doubled)? >= 10.0 {
            total = finite(number(total)? + number(doubled)?)?;
        }
    }
    Ok(total)
}

fn answer(arena: &mut Arena, tool: &str) -> Value {
    if tool == "get-user" {
        let email = arena.text("a@b.c");
        arena.record(Shape::User, [email, Value::Bool(true)])
    } else {
        let id = arena.text("m1");
        arena.record(Shape::Sent, [id])
    }
}

fn shown_notify() -> String {
    let mut arena = Arena::default();
    let (user, message) = (arena.text("u1"), arena.text("Hello"));
    let mut log = String::new();
    let mut tools = |arena: &mut Arena, tool: &str, arguments: &[Value]| {
        let arguments: Vec<String> = arguments.iter().map(|value| arena.show(*value)).collect();
        let _ = write!(log, "{tool}({}) ", arguments.join(", "));
        Ok(answer(arena, tool))
    };
    let outcome = notify(&mut arena, user, message, &mut tools);
    log + if matches!(outcome, Ok(Ok(_))) { "ok" } else { "err" }
}

fn shown_summaries(arena: &Arena, list: Value) -> Result<String> {
    let mut out = String::new();
    for place in arena.items(list)? {
        for field in [Field::Name, Field::Level, Field::Discount] {
            let _ = write!(out, "{} ", arena.show(arena.field(arena.values[place], field)?));
        }
    }
    Ok(out)
}

fn list(arena: &mut Arena, values: &[Value]) -> Value {
    let start = arena.values.len() as u32;
    arena.values.extend_from_slice(values);
    Value::List { start, length: values.len() as u32 }
}

fn main() -> std::io::Result<()> {
    let mut worker = Worker::new("plain Rust");
    let arguments = [10.5, 20.5, 0.3].map(Value::Number);
    let shown = total(&arguments).map_or_else(|fault| format!("{fault:?}"), |value| Arena::default().show(value));
    worker.item("p1", shown, move |count| {
        for _ in 0..count {
            let _ = black_box(total(black_box(&arguments)));
        }
        count
    });

    let mut arena = Arena::default();
    let customers: Vec<Value> = (0..1_000_u32)
        .map(|number| {
            let name = arena.text(&format!("customer {number}"));
            let spent = Value::Number(f64::from(number % 13) * 100.0 + 0.5);
            arena.record(Shape::Customer, [name, spent])
        })
        .collect();
    let customers = list(&mut arena, &customers);
    let mark = arena.values.len();
    let made = summaries(&mut arena, customers);
    let shown = made.and_then(|made| shown_summaries(&arena, made)).unwrap_or_default();
    worker.item("p2", shown, move |count| {
        for _ in 0..count {
            arena.values.truncate(mark);
            let _ = black_box(summaries(&mut arena, black_box(customers)));
        }
        count * 1_000
    });

    let mut arena = Arena::default();
    let (user, message) = (arena.text("u1"), arena.text("Hello"));
    let (values, bytes) = (arena.values.len(), arena.bytes.len());
    worker.item("p3", shown_notify(), move |count| {
        let mut tools = |arena: &mut Arena, tool: &str, arguments: &[Value]| {
            black_box(arguments);
            Ok(answer(arena, tool))
        };
        for _ in 0..count {
            arena.values.truncate(values);
            arena.bytes.truncate(bytes);
            let _ = black_box(notify(&mut arena, black_box(user), black_box(message), black_box(&mut tools)));
        }
        count
    });

    let mut arena = Arena::default();
    let numbers: Vec<Value> = (0..10_000_u32).map(|number| Value::Number(f64::from(number % 10) + 0.5)).collect();
    let numbers = list(&mut arena, &numbers);
    let shown = sum(&arena, numbers).map_or_else(|fault| format!("{fault:?}"), |value| arena.show(value));
    worker.item("p4", shown, move |count| {
        for _ in 0..count {
            let _ = black_box(sum(&arena, black_box(numbers)));
        }
        count * 10_000
    });
    worker.serve()
}
