//! The tools that a host's tools file describes, without starting anything: for editors.

use super::{AtHand, Catalog, CatalogError, ToolSignature, Validation, unmarked};
use serde_json::{Map, Value};
use std::sync::Arc;

impl Catalog {
    /// Reads the names and schemas of a tools file (`{"tools": {…}, "mcpServers": {…}}`). Missing schemas are
    /// unknown, and so are the tools of its servers. The second value is true if it has servers.
    ///
    /// # Errors
    /// If it is not a tools file.
    pub fn from_tools_file(json: &str) -> Result<(Catalog, bool), CatalogError> {
        let whole: Value =
            serde_json::from_str(unmarked(json)).map_err(|error| CatalogError::Json(error.to_string()))?;
        let record = |key: &str| whole.get(key).and_then(Value::as_object);
        let servers = record("mcpServers").or_else(|| record("servers"));
        if record("tools").is_none() && servers.is_none() {
            return Err(CatalogError::NoTools);
        }
        let mut catalog = Catalog::default();
        for (name, entry) in record("tools").into_iter().flatten() {
            if let Some(entry) = entry.as_object() {
                catalog.insert(tool(name, entry));
            }
        }
        let servers = servers.into_iter().flat_map(Map::keys);
        let count = servers.map(|name| catalog.insert_server(name, false)).count();
        Ok((catalog, count > 0))
    }
}

/// The tool that an entry describes.
fn tool(name: &str, entry: &Map<String, Value>) -> ToolSignature {
    let schema = |key: &str| entry.get(key).filter(|schema| schema.is_object()).cloned();
    let description = entry.get("description").and_then(Value::as_str).map(str::to_owned);
    let schemas = AtHand(schema("input_schema"), schema("output_schema"));
    let tool = ToolSignature::with_schemas(name, description, Arc::new(schemas));
    let validation = entry.get("validate").and_then(Validation::of).unwrap_or_default();
    let requires_rollback = entry.get("rollback").and_then(Value::as_str) == Some("required");
    let confirm = entry.get("confirm").and_then(Value::as_bool) == Some(true);
    ToolSignature { validation, requires_rollback, confirm, ..tool }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Lookup;

    #[test]
    fn a_tools_file_gives_names_and_schemas() {
        let file = r#"{
            "tools": {
                "get-user": {
                    "command": ["users"],
                    "input_schema": {"properties": {"id": {"type": "string"}}, "required": ["id"]},
                    "output_schema": {"properties": {"email": {"type": "string"}}}
                },
                "pay": {"mock": [], "rollback": "required"}
            },
            "mcpServers": {"mail": {"command": "mail"}}
        }"#;
        let (catalog, more) = Catalog::from_tools_file(file).unwrap();
        assert!(more);
        let signature = |name: &str| match catalog.lookup(name) {
            Lookup::Found(tool) => tool.signature(),
            other => panic!("{other:?}"),
        };
        assert_eq!(signature("get-user"), "get-user(id: text) -> {email?: text}");
        assert_eq!(signature("pay"), "pay(…) -> any");
        assert!(catalog.tools()[1].requires_rollback);
        assert_eq!(catalog.lookup("mcp://mail/send"), Lookup::Unlisted);
        assert_eq!(Catalog::from_tools_file("[]").map(|_| ()), Err(CatalogError::NoTools));
    }
}
