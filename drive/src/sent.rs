//! What is sent of the arguments of a call: fields that are nil are left out where the schema of the tool
//! lists them as optional and does not allow null.

use crate::data::Data;
use ilo_asm::catalog::SchemaShape;

/// Leaves out what is not sent, at any depth; returns whether there was any. An item of a list is never left
/// out.
pub fn leave_out(shape: SchemaShape<'_>, arguments: &mut Data) -> bool {
    let mut left_out = false;
    let mut open = vec![(arguments, shape)];
    while let Some((value, shape)) = open.pop() {
        match value {
            _ if shape.is_any() => {}
            Data::Record(fields) => {
                let count = fields.len();
                fields.retain(|(name, value)| *value != Data::Nil || !shape.omits_nil(name));
                left_out |= fields.len() < count;
                open.extend(
                    fields.iter_mut().filter_map(|(name, value)| Some((value, shape.field(name)?.0))),
                );
            }
            Data::List(items) => open.extend(items.iter_mut().map(|item| (item, shape.item()))),
            _ => {}
        }
    }
    left_out
}

/// Leaves out the fields that are nil and that a recorded call does not have.
pub(crate) fn as_recorded(recorded: &Data, arguments: &mut Data) {
    let mut open = vec![(arguments, recorded)];
    while let Some(pair) = open.pop() {
        match pair {
            (Data::Record(fields), Data::Record(_)) => {
                fields.retain(|(name, value)| *value != Data::Nil || pair.1.get(name).is_some());
                open.extend(fields.iter_mut().filter_map(|(name, value)| Some((value, pair.1.get(name)?))));
            }
            (Data::List(items), Data::List(others)) => open.extend(items.iter_mut().zip(others)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::data_of;
    use ilo_asm::catalog::Catalog;

    fn sent(schema: &str, arguments: &str) -> String {
        let catalog =
            Catalog::from_json(&format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#)).expect("a catalogue");
        let mut arguments = data_of(arguments).expect("JSON");
        leave_out(catalog.tools()[0].input(), &mut arguments);
        arguments.to_json()
    }

    #[test]
    fn nil_is_left_out_where_it_is_optional_and_not_allowed() {
        let schema = r#"{"type":"object","required":["must"],"properties":{
            "must":{"type":"string"},"may":{"type":"string"},"null":{"type":["string","null"]},
            "any":{},"deep":{"type":"object","properties":{"x":{"type":"number"}}},
            "list":{"type":"array","items":{"type":"object","properties":{"y":{"type":"number"}}}}},
            "additionalProperties":{"type":"string"}}"#;
        for (given, expected) in [
            (r#"{"must":null,"may":null,"null":null,"any":null}"#, r#"{"must":null,"null":null,"any":null}"#),
            (r#"{"may":"x","deep":{"x":null}}"#, r#"{"may":"x","deep":{}}"#),
            (r#"{"deep":null,"list":[{"y":null},null,{"y":1}]}"#, r#"{"list":[{},null,{"y":1}]}"#),
            (r#"{"other":null}"#, r#"{"other":null}"#),
        ] {
            assert_eq!(sent(schema, given), expected);
        }
        assert_eq!(sent("{}", r#"{"may":null}"#), r#"{"may":null}"#);
    }

    #[test]
    fn a_recorded_call_may_lack_what_is_nil() {
        let recorded = data_of(r#"{"a":1,"n":null,"l":[{"x":1},{}]}"#).expect("JSON");
        let mut own =
            data_of(r#"{"a":1,"b":null,"n":null,"l":[{"x":1,"y":null},{"x":null}]}"#).expect("JSON");
        as_recorded(&recorded, &mut own);
        assert_eq!(own, recorded);
    }
}
