//! Compares the input of a function with its parameters: every name and type at once, before anything runs.
//! Fills in what was left out.

use crate::data::Data;
use crate::data::read::{Bounds, read};
use crate::problem::{MOST, Problem, meant_or_all};
use ilo_spec::error::Code;
use ilo_spec::types::{Base, Type};
use ilo_vm::{Fields, Input};
use std::fmt::Display;

/// The problems of an input for these parameters: values that are missing, unknown, or of another type.
pub fn problems(parameters: &[Input<'_>], input: &Data) -> Vec<Problem> {
    let Data::Record(fields) = input else {
        let message = format!("expected a record with a field for each parameter, found {}", input.kind());
        return vec![Problem::new(Code::BadInput, "input", message)];
    };
    let missing =
        parameters.iter().filter_map(|&Input { name, ty, takes_nil, optional, fields: listed, .. }| {
            match input.get(name) {
                None if optional => None,
                Some(Data::Nil) if takes_nil => None,
                None => {
                    let given = fields.iter().take(MOST).map(|(field, _)| field.as_str());
                    let unknown = given.filter(|given| parameters.iter().all(|it| it.name != *given));
                    let near = crate::problem::nearest(name, unknown);
                    let help = match near {
                        Some(near) => format!("is it `{near}`?"),
                        None => format!("one of type `{ty}?` may be left out"),
                    };
                    let message = format!("no value, expected {ty}; {help}");
                    Some(Problem::new(Code::MissingInput, place(name), message))
                }
                Some(value) => match mismatch(value, ty) {
                    Some(found) => {
                        let message = format!("expected {ty}, found {found}");
                        Some(Problem::new(Code::InputType, place(name), message))
                    }
                    None => misfit(value, listed).map(|(at, message)| {
                        Problem::new(Code::InputType, format!("{}{at}", place(name)), message)
                    }),
                },
            }
        });
    let unknown = fields.iter().filter(|(field, _)| parameters.iter().all(|it| it.name != field));
    let unknown = unknown.map(|(field, _)| {
        let there = meant_or_all(field, parameters.iter().map(|it| it.name));
        Problem::new(Code::UnknownInput, place(field), format!("the function has no such parameter{there}"))
    });
    missing.chain(unknown).take(MOST).collect()
}

/// The input with a value for each parameter that was left out, and defaults in place of nil: what is
/// recorded. The input has no [`problems`].
pub fn filled(parameters: &[Input<'_>], mut input: Data) -> Data {
    let Data::Record(fields) = &mut input else { return input };
    let given = fields.len();
    for parameter in parameters.iter().filter(|it| it.optional) {
        let value = || match parameter.default {
            Some(default) => read(default.as_bytes(), &Bounds::default()).unwrap_or(Data::Nil),
            None => Data::Nil,
        };
        match fields.iter_mut().take(given).find(|(name, _)| name == parameter.name) {
            None => fields.push((parameter.name.to_owned(), value())),
            Some((_, found @ Data::Nil)) => *found = value(),
            Some(_) => {}
        }
    }
    input
}

/// The place of a problem with a parameter.
pub fn place(name: &str) -> String {
    format!("input `{}`", crate::problem::shortened(name, 80))
}

/// Describes a value whose type does not fit.
fn mismatch(value: &Data, ty: Type) -> Option<String> {
    let mut values = vec![(value, ty, None)];
    while let Some((value, ty, index)) = values.pop() {
        let fits = match (value, ty.item()) {
            _ if ty == Type::ANY => true,
            (Data::List(items), Some(item)) => {
                let items = items.iter().enumerate().rev();
                values.extend(items.map(|(at, value)| (value, item, index.or(Some(at)))));
                true
            }
            (_, Some(_)) => false,
            (value, None) => matches!(
                (value, ty.base),
                (Data::Number(_), Base::Number)
                    | (Data::Text(_), Base::Text)
                    | (Data::Bool(_), Base::Bool)
                    | (Data::Nil, Base::Nil)
            ),
        };
        if !fits {
            let at = index.map_or_else(String::new, |at| format!(" in item {at}"));
            return Some(format!("{}{at}", value.kind()));
        }
    }
    None
}

/// The first part of a value that is not as the fields of its type say: its place, and what is wrong there.
/// Fields that the type does not list are let through. Recursion to the depth that a value can have.
fn misfit(value: &Data, listed: Option<Fields<'_>>) -> Option<(String, String)> {
    let below = |step: &dyn Display, (place, why): (String, String)| (format!(".{step}{place}"), why);
    let listed = listed?;
    match value {
        Data::List(items) => items
            .iter()
            .enumerate()
            .find_map(|(at, item)| misfit(item, Some(listed)).map(|found| below(&at, found))),
        Data::Record(_) => listed.iter().find_map(|field| {
            let wrong = match value.get(field.name) {
                None if field.optional => None,
                None => Some((String::new(), format!("no value, expected {}", field.ty))),
                Some(Data::Nil) if field.nullable => None,
                Some(value) => match mismatch(value, field.ty) {
                    Some(found) => Some((String::new(), format!("expected {}, found {found}", field.ty))),
                    None => misfit(value, field.fields),
                },
            };
            wrong.map(|found| below(&field.name, found))
        }),
        other => Some((String::new(), format!("expected a record, found {}", other.kind()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::{Bounds, read};

    #[test]
    fn what_is_left_out_is_filled_in() {
        let required = Input::required("id", Type::TEXT);
        let optional = Input { takes_nil: true, optional: true, ..Input::required("title", Type::TEXT) };
        let limit = Input { default: Some("10"), name: "limit", ty: Type::NUMBER, ..optional };
        let nullable = Input { name: "note", optional: false, ..optional };
        let parameters = [required, optional, limit, nullable];
        let data = |json: &str| read(json.as_bytes(), &Bounds::default()).unwrap();
        for (given, expected) in [
            (r#"{"note":null,"id":"x"}"#, r#"{"note":null,"id":"x","title":null,"limit":10}"#),
            (r#"{"id":"x","limit":null,"note":"n"}"#, r#"{"id":"x","limit":10,"note":"n","title":null}"#),
            (
                r#"{"id":"x","title":"t","limit":3,"note":""}"#,
                r#"{"id":"x","title":"t","limit":3,"note":""}"#,
            ),
        ] {
            assert_eq!(problems(&parameters, &data(given)), []);
            assert_eq!(filled(&parameters, data(given)), data(expected));
        }
        let found: Vec<String> = problems(&parameters, &data(r#"{"id":null,"limit":"x"}"#))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "error[input-type]: input `id`: expected text, found nil",
                "error[input-type]: input `limit`: expected number, found a text",
                "error[missing-input]: input `note`: no value, expected text; one of type `text?` may be left out",
            ]
        );
    }

    #[test]
    fn every_problem_names_its_parameter() {
        let list = |ty: Type| ty.list().unwrap();
        let parameters = [
            Input::required("amount", Type::NUMBER),
            Input::required("name", Type::TEXT),
            Input::required("tags", list(Type::TEXT)),
            Input::required("grid", list(list(Type::NUMBER))),
            Input::required("any", Type::ANY),
            Input::required("done", Type::BOOL),
            Input::required("none", Type::NIL),
        ];
        let found = |json: &str| -> Vec<String> {
            let input = read(json.as_bytes(), &Bounds::default()).unwrap();
            problems(&parameters, &input).iter().map(ToString::to_string).collect()
        };
        let good =
            r#"{"amount":1,"name":"x","tags":["a"],"grid":[[1],[]],"any":[{}],"done":false,"none":null}"#;
        assert_eq!(found(good), [""; 0]);
        let bad = r#"{"amuont":1,"name":1,"tags":["a",2],"grid":[[1],2],"any":1,"done":null,"none":false}"#;
        assert_eq!(
            found(bad),
            [
                "error[missing-input]: input `amount`: no value, expected number; is it `amuont`?",
                "error[input-type]: input `name`: expected text, found a number",
                "error[input-type]: input `tags`: expected list text, found a number in item 1",
                "error[input-type]: input `grid`: expected list list number, found a number in item 1",
                "error[input-type]: input `done`: expected bool, found nil",
                "error[input-type]: input `none`: expected nil, found a bool",
                "error[unknown-input]: input `amuont`: the function has no such parameter; did you mean `amount`?",
            ]
        );
        let unknown = &found(&good.replace("{\"am", "{\"other\":1,\"am"))[0];
        let there = "there are `amount`, `name`, `tags`, `grid`, `any`, `done`, `none`";
        assert_eq!(
            *unknown,
            format!("error[unknown-input]: input `other`: the function has no such parameter; {there}")
        );
        assert_eq!(
            found("[1]"),
            ["error[bad-input]: input: expected a record with a field for each parameter, found a list"]
        );
    }

    #[test]
    fn the_first_part_that_its_type_does_not_allow_is_named() {
        let source = "; fn f(order: {id: number, lines: list list {sku: text|nil, note?: text}}) -> nil\n\
                      ; Vars: 0=order\nRET LIT 2 nil\n";
        let (spec, _) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
        let program = ilo_vm::Program::new(spec.unwrap_or_default()).unwrap();
        let parameters: Vec<_> = program.inputs(program.entry().unwrap()).collect();
        let found = |order: &str| {
            let input = read(format!("{{\"order\":{order}}}").as_bytes(), &Bounds::default()).unwrap();
            problems(&parameters, &input).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(
            found(r#"{"id":1,"lines":[[],[{"sku":"a"},{"sku":null,"note":"n","more":1}]],"more":1}"#),
            none
        );
        for (order, expected) in [
            (r#"{"lines":[]}"#, "error[input-type]: input `order`.id: no value, expected number"),
            (
                r#"{"id":1,"lines":[[{"sku":"a"}],[{"sku":"a"},{"note":"n"}]]}"#,
                "error[input-type]: input `order`.lines.1.1.sku: no value, expected text",
            ),
            (
                r#"{"id":1,"lines":[[{"sku":1}],[{}]]}"#,
                "error[input-type]: input `order`.lines.0.0.sku: expected text, found a number",
            ),
            (
                r#"{"id":1,"lines":[[{"sku":"a","note":null}]]}"#,
                "error[input-type]: input `order`.lines.0.0.note: expected text, found nil",
            ),
            (
                r#"{"id":1,"lines":[[1]]}"#,
                "error[input-type]: input `order`.lines.0.0: expected a record, found a number",
            ),
        ] {
            assert_eq!(found(order), [expected]);
        }
    }
}
