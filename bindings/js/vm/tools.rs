//! Signatures and policies of tools. The functions themselves stay in JavaScript.

use crate::thrown::{json, out_of_range};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_bindings::known::{Known, policy};
use ilo_drive::data::read::data_of;
use ilo_drive::policy::OnDoubt;
use ilo_drive::validate::expected::{Expects, unexpected as held};
use serde::Deserialize;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;

/// The policy of a tool, from JavaScript.
#[allow(clippy::struct_excessive_bools, reason = "each says another thing of the tool")]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Policy {
    name: String,
    read_only: bool,
    idempotent: bool,
    retries: f64,
    confirm: bool,
    timeout: Option<f64>,
    on_doubt: String,
    requires_rollback: bool,
}

/// Signatures and policies of tools, or nothing.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Catalogue(Option<Arc<Known>>);

impl Catalogue {
    /// The tools, if any were given.
    pub fn known(&self) -> Option<&Known> {
        self.0.as_deref()
    }

    /// The tools, to be shared; none if nothing was given.
    pub(crate) fn shared(&self) -> Arc<Known> {
        self.0.clone().unwrap_or_default()
    }
}

#[wasm_bindgen]
impl Catalogue {
    /// Reads a catalogue in MCP's form, and a policy for each tool. Without both, nothing is known about
    /// tools.
    #[wasm_bindgen(constructor)]
    pub fn new(entries: Option<String>, policies: Option<String>) -> Result<Catalogue, String> {
        let (Some(entries), Some(policies)) = (entries, policies) else {
            return Ok(Catalogue::default());
        };
        let catalog =
            Catalog::from_json(&entries).map_err(|error| out_of_range(&format!("tools: {error}")))?;
        let given: Vec<Policy> =
            serde_json::from_str(&policies).map_err(|error| out_of_range(&format!("tools: {error}")))?;
        let policies = given.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(Catalogue(Some(Arc::new(Known { catalog, policies }))))
    }

    /// The own name of the tool that a program calls by this name.
    #[wasm_bindgen(js_name = ownName)]
    pub fn own_name(&self, name: &str) -> Option<String> {
        self.known()?.own_name(name).map(str::to_owned)
    }

    /// What the answer of a tool must be, as a JSON schema that a store keeps; nothing if it may be anything.
    pub fn expects(&self, tool: &str) -> Option<String> {
        Expects::of(self.known()?.tool(tool)?).map(Expects::to_json)
    }

    /// The signatures of the tools for a model, as a list.
    pub fn signatures(&self) -> String {
        let all: Vec<String> = self.known().map_or_else(Vec::new, |known| {
            known.catalog.tools().iter().map(ToolSignature::signature).collect()
        });
        json(&all)
    }
}

/// Why an answer from outside does not fit a schema that [`Catalogue::expects`] gave.
#[wasm_bindgen]
pub fn unexpected(schema: &str, answer: &str) -> Option<String> {
    match data_of(answer) {
        Ok(answer) => held(schema, &answer),
        Err(error) => Some(error.to_string()),
    }
}

fn read(given: Policy) -> Result<(String, ilo_drive::policy::Policy), String> {
    let name = given.name;
    let whole = given.retries >= 0.0 && given.retries.fract() == 0.0;
    // Out of every bound, which `policy` reports.
    let retries = (0..=ilo_drive::policy::RETRIES)
        .find(|&n| f64::from(n).total_cmp(&given.retries).is_eq())
        .unwrap_or(u32::MAX);
    if !whole {
        return Err(out_of_range(&format!("tool `{name}`: `retries` expects a whole number from 0")));
    }
    let seconds = given.timeout.map(|milliseconds| milliseconds / 1000.0);
    let given = ilo_drive::policy::Policy {
        read_only: given.read_only,
        idempotent: given.idempotent,
        retries,
        confirm: given.confirm,
        on_doubt: if given.on_doubt == "stop" { OnDoubt::Stop } else { OnDoubt::Fail },
        requires_rollback: given.requires_rollback,
        ..ilo_drive::policy::Policy::default()
    };
    let policy = policy(&name, given, seconds).map_err(|error| out_of_range(&error))?;
    Ok((name, policy))
}
