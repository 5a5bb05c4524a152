//! What an answer from outside must be: the output schema of its tool as a text, which is stored with the
//! waiting call. The answer is compared with this text, whatever the tool has become since.

use super::answer_misfit;
use crate::data::Data;
use ilo_asm::catalog::{Catalog, SchemaShape, ToolSignature};
use ilo_spec::pure::Kinds;
use serde_json::{Map, Value, json};

/// The longest schema that is stored in bytes. Of a longer one, only the types are.
const LONGEST: usize = 64 << 10;
/// The levels and the parts of a schema whose types are stored.
const DEEPEST: usize = 6;
const PARTS: usize = 500;

/// What the answer of a tool must be.
#[derive(Clone, Copy)]
pub struct Expects<'c>(&'c ToolSignature);

impl std::fmt::Debug for Expects<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Expects").field(&self.0.name).finish()
    }
}

impl<'c> Expects<'c> {
    /// What the answer of this tool must be; nothing if it may be anything.
    pub fn of(tool: &'c ToolSignature) -> Option<Expects<'c>> {
        (tool.is_validated() && !tool.output().is_any()).then_some(Expects(tool))
    }

    /// The text to store: a JSON Schema of at most 64 KiB.
    pub fn to_json(self) -> String {
        let whole = self.0.schema_texts().1.filter(|schema| schema.len() <= LONGEST);
        whole.unwrap_or_else(|| {
            let types = types(self.0.output(), DEEPEST, &mut 0).to_string();
            if types.len() <= LONGEST { types } else { types_of(self.0.output().kinds()).to_string() }
        })
    }

    /// Why an answer does not fit.
    pub fn misfit(self, answer: &Data) -> Option<String> {
        answer_misfit(self.0.output(), answer)
    }
}

/// Why an answer does not fit a text that [`Expects::to_json`] gave. A text that is no schema allows all.
pub fn unexpected(schema: &str, answer: &Data) -> Option<String> {
    let catalog = Catalog::from_json(&format!(r#"[{{"name":"t","outputSchema":{schema}}}]"#)).ok()?;
    answer_misfit(catalog.tools().first()?.output(), answer)
}

/// The types of a schema without its constants, ranges and definitions.
fn types(shape: SchemaShape<'_>, deep: usize, parts: &mut usize) -> Value {
    *parts += 1;
    let mut found = types_of(shape.kinds());
    let Some(map) = found.as_object_mut().filter(|_| !shape.is_any() && deep > 0) else { return found };
    if !shape.item().is_any() && *parts < PARTS {
        map.insert("items".to_owned(), types(shape.item(), deep - 1, parts));
    }
    if shape.has_fields() && shape.fields().len() <= PARTS {
        let mut fields = Map::new();
        let mut required = Vec::new();
        for field in shape.fields() {
            let inner = if *parts < PARTS { types(field.shape, deep - 1, parts) } else { json!({}) };
            fields.insert(field.name.to_owned(), inner);
            required.extend(field.required.then_some(field.name));
        }
        map.insert("properties".to_owned(), Value::Object(fields));
        map.insert("required".to_owned(), json!(required));
        map.insert("additionalProperties".to_owned(), json!(!shape.refuses_others()));
    }
    found
}

/// The JSON Schema of some kinds.
fn types_of(kinds: Kinds) -> Value {
    let all = [
        (Kinds::NIL, "null"),
        (Kinds::BOOL, "boolean"),
        (Kinds::NUMBER, "number"),
        (Kinds::TEXT, "string"),
        (Kinds::LIST, "array"),
        (Kinds::RECORD, "object"),
    ];
    let names: Vec<&str> =
        all.into_iter().filter(|(kind, _)| kinds.meets(*kind)).map(|(_, name)| name).collect();
    json!({ "type": names })
}

#[cfg(test)]
mod tests {
    use super::{Expects, LONGEST, unexpected};
    use crate::data::Data;
    use crate::data::read::{Bounds, read};
    use ilo_asm::catalog::Catalog;

    fn data(json: &str) -> Data {
        read(json.as_bytes(), &Bounds::default()).unwrap()
    }

    fn stored(schema: &str) -> Option<String> {
        let catalog = Catalog::from_json(&format!(r#"[{{"name":"t","outputSchema":{schema}}}]"#)).unwrap();
        Expects::of(&catalog.tools()[0]).map(Expects::to_json)
    }

    #[test]
    fn an_answer_is_compared_with_the_stored_text() {
        let schema = r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}}"##;
        let text = stored(schema).unwrap();
        assert_eq!(unexpected(&text, &data(r#"{"ok":true}"#)), None);
        let why = unexpected(&text, &data(r#"{"ok":"no"}"#)).unwrap();
        assert_eq!(why, "`ok`: expected bool, found a text");
        assert_eq!(stored("{}"), None);
        assert_eq!(unexpected("no schema", &data("1")), None);
    }

    #[test]
    fn of_a_long_schema_the_types_are_stored() {
        let texts: Vec<String> = (0..20_000).map(|n| format!("\"t{n}\"")).collect();
        let schema = format!(
            r#"{{"type":"object","properties":{{"kind":{{"enum":[{}]}},"tags":{{"type":"array","items":{{"type":"string"}}}}}},"required":["kind"]}}"#,
            texts.join(",")
        );
        assert!(schema.len() > LONGEST);
        let text = stored(&schema).unwrap();
        assert!(text.len() < 500, "{text}");
        assert_eq!(unexpected(&text, &data(r#"{"kind":"other","tags":[]}"#)), None);
        for wrong in [r#"{"kind":1}"#, r#"{"tags":[]}"#, r#"{"kind":"t1","tags":[1]}"#, "[]"] {
            assert!(unexpected(&text, &data(wrong)).is_some(), "{wrong}");
        }
    }
}
