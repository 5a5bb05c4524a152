//! Compares the input of a function with its parameters: every name and type at once, before anything runs.

use crate::data::Data;
use crate::problem::{MOST, Problem, meant_or_all};
use ilo_spec::error::Code;
use ilo_spec::types::{Base, Type};

/// The problems of an input for these parameters: values that are missing, unknown, or of another type.
pub fn problems(parameters: &[(&str, Type)], input: &Data) -> Vec<Problem> {
    let Data::Record(fields) = input else {
        let message = format!("expected a record with a field for each parameter, found {}", input.kind());
        return vec![Problem::new(Code::BadInput, "input", message)];
    };
    let missing = parameters.iter().filter_map(|&(name, ty)| match input.get(name) {
        None => {
            let given = fields.iter().take(MOST).map(|(field, _)| field.as_str());
            let unknown = given.filter(|given| parameters.iter().all(|(name, _)| name != given));
            let near = crate::problem::nearest(name, unknown);
            let near = near.map_or_else(String::new, |near| format!("; is it `{near}`?"));
            let message = format!("no value, expected {ty}{near}");
            Some(Problem::new(Code::MissingInput, place(name), message))
        }
        Some(value) => mismatch(value, ty).map(|found| {
            let message = format!("expected {ty}, found {found}");
            Problem::new(Code::InputType, place(name), message)
        }),
    });
    let unknown = fields.iter().filter(|(field, _)| parameters.iter().all(|(name, _)| name != field));
    let unknown = unknown.map(|(field, _)| {
        let there = meant_or_all(field, parameters.iter().map(|&(name, _)| name));
        Problem::new(Code::UnknownInput, place(field), format!("the function has no such parameter{there}"))
    });
    missing.chain(unknown).take(MOST).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::{Bounds, read};

    #[test]
    fn every_problem_names_its_parameter() {
        let list = |ty: Type| ty.list().unwrap();
        let parameters = [
            ("amount", Type::NUMBER),
            ("name", Type::TEXT),
            ("tags", list(Type::TEXT)),
            ("grid", list(list(Type::NUMBER))),
            ("any", Type::ANY),
            ("done", Type::BOOL),
            ("none", Type::NIL),
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
}
