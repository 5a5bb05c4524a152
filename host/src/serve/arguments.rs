//! Reads the arguments of a call from the bytes of the client, each one separately and within limits. What is
//! wrong with them is a text for the model that wrote them.

use super::message::Arguments;
use crate::json::members;
use axum::body::Bytes;
use ilo_asm::compile::{OutputSchema, Signature};
use ilo_asm::notation::Notation;
use ilo_drive::problem::meant_or_all;
use std::sync::Arc;

/// The most arguments of a call.
const MOST: usize = 1_000;

/// The arguments that have not been taken yet, each as JSON.
pub(super) struct Given {
    fields: Vec<(String, Bytes)>,
    whole: Bytes,
    /// The arguments that the tool has.
    names: &'static [&'static str],
}

/// A program as the client sends it.
pub(super) struct ProgramSource {
    pub(super) text: String,
    pub(super) notation: Option<Notation>,
    /// What the client expects of its function.
    pub(super) signature: Option<Signature>,
    /// Whether warnings that foretell a fault, or another result than meant, are errors.
    pub(super) strict: bool,
    /// What the client expects of its value.
    pub(super) output: Option<Arc<OutputSchema>>,
}

impl Given {
    /// Parses the arguments of a call, which may be missing.
    pub(super) fn of(arguments: Option<&Arguments>) -> Result<Given, String> {
        let whole = arguments.map_or_else(|| Bytes::from_static(b"{}"), |Arguments(bytes)| bytes.clone());
        let fields = fields(&whole)?;
        for (at, (name, _)) in fields.iter().enumerate() {
            if fields.iter().take(at).any(|(other, _)| other == name) {
                return Err(format!("argument `{name}` is there twice"));
            }
        }
        Ok(Given { fields, whole, names: &[] })
    }

    /// The same, for a tool that has these arguments.
    pub(super) fn of_tool(self, names: &'static [&'static str]) -> Given {
        Given { names, ..self }
    }

    /// All of them, as one object.
    pub(super) fn whole(self) -> Bytes {
        self.whole
    }

    /// Takes an argument; null counts as missing.
    fn take(&mut self, name: &str) -> Option<Bytes> {
        let at = self.fields.iter().position(|(field, _)| field == name)?;
        Some(self.fields.swap_remove(at).1).filter(|value| value.as_ref() != b"null")
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        serde_json::from_slice(&value).map(Some).map_err(|_| format!("`{name}` must be a text"))
    }

    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        serde_json::from_slice(&value).map(Some).map_err(|_| format!("`{name}` must be a whole number"))
    }

    pub(super) fn source(&mut self) -> Result<ProgramSource, String> {
        let Some(value) = self.take("source") else {
            let missing = "`source` is missing: the text of the program";
            let other = self.unknown().map(|(name, _)| format!("; there is no argument `{name}`"));
            return Err(missing.to_owned() + &other.unwrap_or_default());
        };
        let text = match value.first() {
            Some(b'"') => {
                let text: String =
                    serde_json::from_slice(&value).map_err(|error| format!("`source`: {error}"))?;
                // A model may write the text as JSON once more.
                let inner = Some(text.trim()).filter(|text| text.starts_with('"') && text.ends_with('"'));
                Ok(inner.and_then(|inner| serde_json::from_str(inner).ok()).unwrap_or(text))
            }
            // A model may write a program in a JSON notation as JSON instead of as a text.
            Some(b'{' | b'[') => {
                let text = std::str::from_utf8(&value).map_err(|error| format!("`source`: {error}"));
                text.map(str::to_owned)
            }
            _ => Err("`source` must be the text of a program".to_owned()),
        }?;
        let notation = self.text("notation")?.map(|name| name.parse()).transpose()?;
        let signature = self.text("signature")?.map(|text| text.parse()).transpose()?;
        let (strict, output) = (self.flag("strict")?.unwrap_or(true), self.output_schema()?);
        Ok(ProgramSource { text, notation, signature, strict, output })
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        serde_json::from_slice(&value).map(Some).map_err(|_| format!("`{name}` must be true or false"))
    }

    /// The inputs of a function, as an object.
    pub(super) fn inputs(&mut self) -> Result<Bytes, String> {
        match self.json("inputs")? {
            None => Ok(Bytes::from_static(b"{}")),
            Some(inputs) if inputs.starts_with(b"{") => Ok(inputs),
            Some(_) => Err("`inputs` must be a record with a field for each parameter".to_owned()),
        }
    }

    /// What the value must be, as a JSON Schema.
    fn output_schema(&mut self) -> Result<Option<Arc<OutputSchema>>, String> {
        let Some(given) = self.json("output_schema")? else { return Ok(None) };
        let schema = String::from_utf8_lossy(&given).parse();
        schema.map(|it| Some(Arc::new(it))).map_err(|why: String| format!("`output_schema`: {why}"))
    }

    /// Takes an argument that is JSON. Some clients send a record as a text of JSON.
    fn json(&mut self, name: &str) -> Result<Option<Bytes>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        if !value.starts_with(b"\"") {
            return Ok(Some(value));
        }
        let text: String = serde_json::from_slice(&value).map_err(|error| format!("`{name}`: {error}"))?;
        Ok(Some(Bytes::copy_from_slice(text.trim().as_bytes())).filter(|text| !text.is_empty()))
    }

    /// An argument that the tool does not have.
    fn unknown(&self) -> Option<&(String, Bytes)> {
        self.fields.iter().find(|(name, _)| !self.names.contains(&name.as_str()))
    }

    pub(super) fn nothing_left(&self) -> Result<(), String> {
        let Some((name, _)) = self.fields.first() else { return Ok(()) };
        let names = self.names.iter().copied();
        Err(format!("unknown argument `{name}`{}", meant_or_all(name, names)))
    }
}

/// The names and values of an object.
fn fields(whole: &Bytes) -> Result<Vec<(String, Bytes)>, String> {
    let mut fields = Vec::new();
    let wrong = |error| format!("the arguments: {error}");
    let is_object = members(whole, wrong, |name, place| {
        if fields.len() == MOST {
            return Err(format!("more than {MOST} arguments"));
        }
        fields.push((name.to_owned(), whole.slice(place)));
        Ok(())
    })?;
    if is_object { Ok(fields) } else { Err("the arguments must be an object".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &'static str) -> Result<Given, String> {
        let arguments = Arguments(Bytes::from_static(text.as_bytes()));
        Given::of(Some(&arguments))
    }

    fn refusal(given: &mut Given) -> String {
        given.source().err().unwrap_or_default()
    }

    #[test]
    fn a_source_under_another_name_is_told() {
        let mut other = given(r#"{"inputs": {}, "program": "; fn"}"#).unwrap().of_tool(&["source", "inputs"]);
        let told = "`source` is missing: the text of the program; there is no argument `program`";
        assert_eq!(refusal(&mut other), told);
        let query = given(r#"{"query": "x"}"#).unwrap().of_tool(&["source", "notation"]);
        let told = "unknown argument `query`; there are `source`, `notation`";
        assert_eq!(query.nothing_left().unwrap_err(), told);
        let mut number = given(r#"{"source": 5}"#).unwrap();
        assert_eq!(refusal(&mut number), "`source` must be the text of a program");
    }

    #[test]
    fn each_argument_is_taken_once() {
        let mut given =
            given(r#"{"source": {"a": [1 , 2]}, "limit": 3, "query": "q", "function": null}"#).unwrap();
        assert_eq!(given.source().unwrap().text, r#"{"a": [1 , 2]}"#);
        assert_eq!(given.count("limit").unwrap(), Some(3));
        assert!(given.nothing_left().unwrap_err().starts_with("unknown argument"));
        assert_eq!(given.text("query").unwrap().as_deref(), Some("q"));
        assert_eq!(given.text("function").unwrap(), None);
        assert!(given.nothing_left().is_ok());
        assert_eq!(refusal(&mut given), "`source` is missing: the text of the program");
        assert_eq!(given.inputs().unwrap(), "{}");
    }

    #[test]
    fn values_of_other_types_are_refused() {
        assert!(given(r#"{"a": 1, "\u0061": 2}"#).is_err());
        assert!(given("[]").is_err());
        assert!(given(r#"{"limit": -1}"#).unwrap().count("limit").is_err());
        assert!(given(r#"{"query": 1}"#).unwrap().text("query").is_err());
        assert!(given(r#"{"source": 1}"#).unwrap().source().is_err());
        assert!(given(r#"{"source": "\ud800"}"#).is_err());
        assert!(given(r#"{"inputs": [1]}"#).unwrap().inputs().is_err());
        assert!(given(r#"{"inputs": "[1]"}"#).unwrap().inputs().is_err());
        assert_eq!(given(r#"{"inputs": " {\"n\": 5}"}"#).unwrap().inputs().unwrap(), r#"{"n": 5}"#);
        assert_eq!(given(r#"{"inputs": ""}"#).unwrap().inputs().unwrap(), "{}");
        assert_eq!(given(r#"{"source": "\"; f\""}"#).unwrap().source().unwrap().text, "; f");
        assert!(Given::of(None).unwrap().nothing_left().is_ok());
    }
}
