//! Compares values with the schemas of their tools, at run time.
//!
//! It refuses nothing that the schema allows. Keywords that a [`SchemaShape`] does not hold (`pattern`,
//! `format` and the like) are ignored, and a field that the schema does not list is refused only if the
//! schema forbids other fields. A field that is nil counts as absent where it may be absent: `sent` leaves
//! it out of arguments if the schema lists it, and tools answer so, also with the entries of a map.

pub mod expected;

use crate::data::Data;
use crate::data::read::data_of;
use crate::problem::{did_you_mean, nearest, shortened};
use ilo_asm::catalog::{Misfit, RangeEnd, SchemaShape};
use ilo_asm::compile::OutputSchema;
use ilo_spec::number;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;
use ilo_vm::Run;
use std::iter::Enumerate;
use std::slice::Iter;

/// Characters of a value that are shown in a message.
const SHOWN: usize = 60;
/// Allowed constants that are listed in a message.
const LISTED: usize = 8;
/// Steps of a path that are shown in a message.
const STEPS: usize = 12;

/// What a value is: a map with null for an entry says in arguments something that its schema does not allow,
/// and in answers that the entry has no value.
#[derive(Clone, Copy)]
enum Of {
    Arguments,
    Answer,
}

/// A list or record whose parts are compared in order.
enum Inside<'v, 's> {
    List { items: Enumerate<Iter<'v, Data>>, at: usize, shape: SchemaShape<'s> },
    Record { fields: Iter<'v, (String, Data)>, name: &'v str, shape: SchemaShape<'s> },
}

impl<'v, 's> Inside<'v, 's> {
    /// The next part with its shape.
    fn next(&mut self, of: Of) -> Option<(&'v Data, SchemaShape<'s>)> {
        match self {
            Inside::List { items, at, shape } => {
                let (index, value) = items.next()?;
                *at = index;
                Some((value, *shape))
            }
            Inside::Record { fields, name, shape } => loop {
                let (field, value) = fields.next()?;
                let absent = match of {
                    Of::Arguments => shape.omits_nil(field),
                    Of::Answer => shape.field(field).is_some_and(|(_, required)| !required),
                };
                if absent && *value == Data::Nil {
                    continue;
                }
                if let Some((shape, _)) = shape.field(field) {
                    *name = field;
                    return Some((value, shape));
                }
            },
        }
    }
}

/// The path to the first part of a value that does not fit, and the reason; `None` if the whole value fits.
pub fn misfit(shape: SchemaShape<'_>, value: &Data) -> Option<String> {
    compared(shape, value, Of::Arguments)
}

/// The same for the answer of a tool: nil fits in each field that need not be there.
pub fn answer_misfit(shape: SchemaShape<'_>, value: &Data) -> Option<String> {
    compared(shape, value, Of::Answer)
}

fn compared(shape: SchemaShape<'_>, value: &Data, of: Of) -> Option<String> {
    let mut inside = Vec::new();
    let mut next = Some((value, shape));
    loop {
        if let Some((value, shape)) = next.filter(|(_, shape)| !shape.is_any()) {
            if let Some(why) = wrong(value, shape) {
                return Some(format!("{}{why}", path(&inside)));
            }
            match value {
                Data::List(items) if !shape.item().is_any() => {
                    let (items, shape) = (items.iter().enumerate(), shape.item());
                    inside.push(Inside::List { items, at: 0, shape });
                }
                Data::Record(fields) if shape.has_fields() => {
                    inside.push(Inside::Record { fields: fields.iter(), name: "", shape });
                }
                _ => {}
            }
        }
        next = inside.last_mut()?.next(of);
        if next.is_none() {
            inside.pop();
        }
    }
}

/// Why the value with which a run has ended is not what its host expects; `None` if it is, or if there is no
/// value.
pub fn output_misfit(run: &Run, expected: &OutputSchema) -> Option<String> {
    let mut json = String::new();
    // Writing to a string does not fail.
    let _ = run.outcome()?.ok()?.write_json(&mut json);
    match data_of(&json) {
        Ok(value) => misfit(expected.shape(), &value),
        Err(error) => Some(error.to_string()),
    }
}

/// The reason why a value does not fit, apart from its parts.
fn wrong(value: &Data, shape: SchemaShape<'_>) -> Option<String> {
    let kind = kind(value);
    if !shape.kinds().meets(kind) {
        return Some(format!("expected {}, found {}", shape.kinds(), value.kind()));
    }
    let refused = match value {
        Data::Bool(truth) => shape.refuses_bool(*truth),
        Data::Number(number) => shape.refuses_number(*number),
        Data::Text(text) => shape.refuses_text(text),
        Data::Record(fields) => return wrong_fields(fields, shape),
        Data::Nil | Data::List(_) => None,
    };
    let expected = match refused? {
        Misfit::Constant => allowed(shape, kind),
        Misfit::Fraction => "a whole number".to_owned(),
        Misfit::Range => range(shape),
    };
    Some(format!("expected {expected}, found {}", shortened(&value.to_json(), SHOWN)))
}

/// The path to a part, as messages begin with it.
fn path(inside: &[Inside<'_, '_>]) -> String {
    let shown = inside.len().saturating_sub(STEPS);
    let steps = inside.iter().skip(shown).map(|step| match step {
        Inside::List { at, .. } => format!("[{at}]"),
        Inside::Record { name, .. } => format!(".{}", shortened(name, SHOWN)),
    });
    match steps.collect::<String>().trim_start_matches('.') {
        "" => String::new(),
        // The last steps are the most informative ones.
        path if shown > 0 => format!("`…{path}`: "),
        path => format!("`{path}`: "),
    }
}

fn kind(value: &Data) -> Kinds {
    match value {
        Data::Nil => Kinds::NIL,
        Data::Bool(_) => Kinds::BOOL,
        Data::Number(_) => Kinds::NUMBER,
        Data::Text(_) => Kinds::TEXT,
        Data::List(_) => Kinds::LIST,
        Data::Record(_) => Kinds::RECORD,
    }
}

/// A required field that is missing, or a field that the schema refuses.
fn wrong_fields(given: &[(String, Data)], shape: SchemaShape<'_>) -> Option<String> {
    let mut names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(field) = shape.required().find(|field| names.binary_search(&field.name).is_err()) {
        let unknown = names.into_iter().filter(|name| !shape.fields().any(|field| field.name == *name));
        let near = nearest(field.name, unknown.take(LISTED));
        let near = near.map_or_else(String::new, |near| format!("; is it `{near}`?"));
        return Some(format!("the field `{}` is missing{near}", shortened(field.name, SHOWN)));
    }
    if !shape.refuses_others() {
        return None;
    }
    let (name, _) = given.iter().find(|(name, _)| shape.field(name).is_none())?;
    let near = did_you_mean(name, shape.names());
    Some(format!("no field `{}` is allowed{near}", shortened(name, SHOWN)))
}

/// The constants of a kind that a shape allows.
fn allowed(shape: SchemaShape<'_>, kind: Kinds) -> String {
    let texts = shape.texts().unwrap_or_default();
    let numbers = shape.numbers().unwrap_or_default();
    let (all, shown): (usize, Vec<String>) = if kind == Kinds::TEXT {
        let shown = texts.iter().take(LISTED).map(|text| shortened(&Data::from(&**text).to_json(), SHOWN));
        (texts.len(), shown.collect())
    } else if kind == Kinds::NUMBER {
        (numbers.len(), numbers.iter().take(LISTED).map(|&number| written(number)).collect())
    } else {
        (1, shape.boolean().iter().map(ToString::to_string).collect())
    };
    let more = if all > LISTED { ", …" } else { "" };
    if all == 1 { shown.concat() } else { format!("one of {}{more}", shown.join(", ")) }
}

fn range(shape: SchemaShape<'_>) -> String {
    let end = |bound: RangeEnd, included: &str, excluded: &str| {
        format!("{} {}", if bound.included { included } else { excluded }, written(bound.number))
    };
    let (least, most) = shape.range();
    let ends = [
        least.map(|bound| end(bound, "of at least", "above")),
        most.map(|bound| end(bound, "of at most", "below")),
    ];
    format!("a number {}", ends.into_iter().flatten().collect::<Vec<_>>().join(" and "))
}

fn written(number: Number) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = number::write(number, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::{answer_misfit, misfit};
    use crate::data::read::{Bounds, read};
    use ilo_asm::catalog::Catalog;

    /// How a value differs from a schema.
    fn wrong(schema: &str, value: &str) -> String {
        let tools = format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#);
        let catalog = Catalog::from_json(&tools).unwrap();
        let value = read(value.as_bytes(), &Bounds::default()).unwrap();
        misfit(catalog.tools()[0].input(), &value).unwrap_or_default()
    }

    #[test]
    fn the_first_misfit_has_its_path() {
        let schema = r#"{"type":"object","required":["to","n"],"properties":{
            "to":{"type":"array","items":{"type":"object","properties":{"mail":{"type":"string"}},"required":["mail"]}},
            "n":{"enum":[1,2,"many",true]},"r":{"type":"number","exclusiveMinimum":0,"maximum":1},
            "closed":{"type":"object","properties":{"email":{}},"additionalProperties":false},
            "rest":{"type":"object","additionalProperties":{"type":"integer"}}}}"#;
        for (value, expected) in [
            (r#"{"to":[],"n":1}"#, ""),
            (r#"{"to":[{"mail":"a","more":1}],"n":"many","other":[]}"#, ""),
            (r#"{"to":[],"n":true,"r":1,"rest":{"a":1}}"#, ""),
            (r#"{"to":[]}"#, "the field `n` is missing"),
            (r#"{"too":[],"n":1}"#, "the field `to` is missing; is it `too`?"),
            (r#"{"to":{},"n":1}"#, "`to`: expected list, found a record"),
            (r#"{"to":[{"mail":"a"},{"mail":1}],"n":1}"#, "`to[1].mail`: expected text, found a number"),
            (r#"{"to":[{"mial":"a"}],"n":1}"#, "`to[0]`: the field `mail` is missing; is it `mial`?"),
            (r#"{"to":[],"n":3}"#, "`n`: expected one of 1, 2, found 3"),
            (r#"{"to":[],"n":"x"}"#, "`n`: expected \"many\", found \"x\""),
            (r#"{"to":[],"n":false}"#, "`n`: expected true, found false"),
            (r#"{"to":[],"n":1,"r":0}"#, "`r`: expected a number above 0 and of at most 1, found 0"),
            (
                r#"{"to":[],"n":1,"closed":{"emial":1}}"#,
                "`closed`: no field `emial` is allowed; did you mean `email`?",
            ),
            (r#"{"to":[],"n":1,"rest":{"a":1,"b":""}}"#, "`rest.b`: expected number, found a text"),
        ] {
            assert_eq!(wrong(schema, value), expected, "{value}");
        }
    }

    #[test]
    fn nil_in_an_answer_is_a_field_that_is_not_there() {
        let schema = r#"{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"note":{"type":"string"},
            "counts":{"type":"object","additionalProperties":{"type":"integer"}},
            "list":{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}},
            "closed":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}"#;
        let tools = format!(r#"[{{"name":"t","outputSchema":{schema}}}]"#);
        let catalog = Catalog::from_json(&tools).unwrap();
        let wrong = |value: &str| {
            let value = read(value.as_bytes(), &Bounds::default()).unwrap();
            answer_misfit(catalog.tools()[0].output(), &value).unwrap_or_default()
        };
        for fits in [
            r#"{"id":"1","note":null,"counts":null,"other":null}"#,
            r#"{"id":"1","counts":{"a":1,"b":null},"list":[{"x":null}],"closed":{"a":null}}"#,
        ] {
            assert_eq!(wrong(fits), "");
        }
        assert_eq!(wrong(r#"{"id":null}"#), "`id`: expected text, found nil");
        assert_eq!(wrong(r#"{"id":"1","list":[null]}"#), "`list[0]`: expected record, found nil");
        assert_eq!(wrong(r#"{"id":"1","closed":{"b":null}}"#), "`closed`: no field `b` is allowed");
        // An argument that is nil is sent, if it is not listed.
        let schema = r#"{"type":"object","additionalProperties":{"type":"integer"}}"#;
        assert_eq!(self::wrong(schema, r#"{"a":null}"#), "`a`: expected number, found nil");
    }

    #[test]
    fn constants_are_found_among_many() {
        let texts: Vec<String> = (0..100).rev().map(|n| format!("\"t{n}\"")).collect();
        let numbers: Vec<String> = (0..100).rev().map(|n| format!("{n}.5,{n}")).collect();
        let schema = format!(r#"{{"enum":[{},{}]}}"#, texts.join(","), numbers.join(","));
        for value in ["\"t0\"", "\"t99\"", "0", "99.5", "42.0", "7"] {
            assert_eq!(wrong(&schema, value), "", "{value}");
        }
        for value in ["\"t100\"", "\"\"", "100", "-1", "0.25"] {
            assert!(wrong(&schema, value).starts_with("expected one of "), "{value}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_holds_to_every_depth() {
        let schema = r##"{"$ref":"#/$defs/t","$defs":{"t":{"type":"array","items":{"$ref":"#/$defs/t"}}}}"##;
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(wrong(schema, &deep("")), "");
        let steps = "[0]".repeat(12);
        assert_eq!(wrong(schema, &deep("1")), format!("`…{steps}`: expected list, found a number"));
    }
}
