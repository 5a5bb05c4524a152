//! A verified program: its functions and tools, its plan, and starting and restoring runs of it.

use crate::WORDS;
use crate::given::{datum, input, limits};
use crate::run::Run;
use crate::thrown::{bad_snapshot, cannot_start, json, out_of_range};
use crate::tools::Catalogue;
use bumpalo::Bump;
use ilo_bindings::known::Known;
use ilo_bindings::limits::input_bounds;
use ilo_bindings::start::{function, missing, problems};
use ilo_bindings::wiring::Wiring;
use ilo_drive::lifecycle;
use ilo_drive::plan::changed;
use ilo_drive::plan::{self, Place, Planned};
use ilo_vm::{Datum, Limits, Program};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;

/// A verified program.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Core {
    /// The program.
    #[wasm_bindgen(skip)]
    pub program: Program,
    warnings: String,
    /// The wiring for the tools of the last run.
    wiring: RefCell<Option<Arc<Wiring>>>,
    /// An ended run with the default limits, which the next run reuses.
    pub(crate) idle: Rc<RefCell<Option<ilo_vm::Run>>>,
}

impl Core {
    /// A program with its warnings, as a list.
    pub fn new(program: Program, warnings: String) -> Core {
        Core { program, warnings, wiring: RefCell::default(), idle: Rc::default() }
    }

    /// The wiring of the program to these tools.
    pub(crate) fn wiring(&self, tools: &Catalogue) -> Arc<Wiring> {
        let known = tools.shared();
        let mut kept = self.wiring.borrow_mut();
        if let Some(wiring) = kept.as_ref().filter(|wiring| wiring.is_of(&known)) {
            return Arc::clone(wiring);
        }
        Arc::clone(kept.insert(Arc::new(Wiring::new(&self.program, &known, &WORDS))))
    }

    /// A run before its first step, and its limits. With `is_ready`, all its tools are known to be there.
    pub(crate) fn started(
        &self,
        inputs: &str,
        function: Option<&str>,
        limits: Option<&str>,
        tools: &Catalogue,
        is_ready: bool,
    ) -> Result<(ilo_vm::Run, Limits), String> {
        let has_limits = limits.is_some();
        let limits = self::limits(limits)?;
        let function =
            self::function(&self.program, function, &WORDS).map_err(|problem| cannot_start(vec![problem]))?;
        let idle = if has_limits { None } else { self.idle.take() };
        let mut run = idle.unwrap_or_else(|| ilo_vm::Run::new(&self.program, limits.clone()));
        let arena = Bump::new();
        if is_ready
            && let Some(Datum::Record(fields)) = datum(inputs, &input_bounds(), &arena)
            && run.start_named(function, fields).is_ok()
        {
            return Ok((run, limits));
        }
        // The run cannot start.
        let input = input(inputs)?;
        let problems = problems(&self.program, function, &input, tools.known(), &WORDS);
        if !problems.is_empty() {
            return Err(cannot_start(problems));
        }
        lifecycle::start(&mut run, function, &input).map_err(|problem| cannot_start(vec![problem]))?;
        Ok((run, limits))
    }
}

#[derive(Serialize)]
struct Function<'p> {
    name: &'p str,
    parameters: Vec<(&'p str, String)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlannedCalls {
    tool: String,
    most: String,
    read_only: bool,
    confirm: bool,
    after_crash: &'static str,
    is_rollback: bool,
    entries: Vec<String>,
    without_rollback: Vec<At>,
}

#[derive(Serialize)]
struct At {
    line: u32,
    column: u32,
}

impl From<Planned> for PlannedCalls {
    fn from(found: Planned) -> PlannedCalls {
        let at = |place: Place| place.source.map(|(line, column)| At { line, column });
        PlannedCalls {
            tool: found.tool,
            most: found.most,
            read_only: found.policy.read_only,
            confirm: found.policy.confirm,
            after_crash: found.policy.after_crash(),
            is_rollback: found.is_rollback,
            entries: found.entries,
            without_rollback: found.without.into_iter().filter_map(at).collect(),
        }
    }
}

/// Reads a packed program.
#[wasm_bindgen]
pub fn load(packed: &[u8]) -> Result<Core, String> {
    let program = Program::load(packed);
    let program = program.map_err(|error| out_of_range(&format!("{}: {error}", error.code())))?;
    Ok(Core::new(program, "[]".to_owned()))
}

#[wasm_bindgen]
impl Core {
    /// The program, packed.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.program.to_bytes()
    }

    /// The warnings of the build, as a list.
    pub fn warnings(&self) -> String {
        self.warnings.clone()
    }

    /// The tools that the program may call, as a list.
    pub fn tools(&self) -> String {
        json(&self.program.tools().collect::<Vec<_>>())
    }

    /// The functions with the name and type of each parameter, as a list.
    pub fn functions(&self) -> String {
        let spec = self.program.spec();
        let names = spec.functions.iter().filter_map(|function| spec.strings.get(function.name));
        let all = names.filter_map(|name| {
            let parameters = self.program.inputs(self.program.function(name)?);
            let parameters = parameters.map(|it| (it.name, it.written().to_string())).collect();
            Some(Function { name, parameters })
        });
        json(&all.collect::<Vec<_>>())
    }

    /// The plan of a run: for each tool its name, the most calls, and the calls that nothing rolls back.
    pub fn plan(&self, tools: &Catalogue, function: Option<String>) -> Result<String, String> {
        let none = Known::default();
        let tools = tools.known().unwrap_or(&none);
        let plan = self::function(&self.program, function.as_deref(), &WORDS)
            .and_then(|function| plan::plan(&self.program, function, tools))
            .map_err(|problem| cannot_start(vec![problem]))?;
        Ok(json(&plan.calls.into_iter().map(PlannedCalls::from).collect::<Vec<_>>()))
    }

    /// Starts a run, which waits for its first step.
    pub fn start(
        &self,
        inputs: &str,
        function: Option<String>,
        limits: Option<String>,
        tools: &Catalogue,
    ) -> Result<Run, String> {
        let is_ready = tools.known().is_none() || self.wiring(tools).is_complete;
        let (run, limits) = self.started(inputs, function.as_deref(), limits.as_deref(), tools, is_ready)?;
        Ok(Run::new(run, limits))
    }

    /// Throws if tools that the program may call are missing.
    pub fn need(&self, tools: &Catalogue) -> Result<(), String> {
        let none = Known::default();
        let problems = missing(&self.program, tools.known().unwrap_or(&none), &WORDS);
        if problems.is_empty() { Ok(()) } else { Err(cannot_start(problems)) }
    }

    /// The signatures of the tools that the program names, to be stored with a run.
    pub fn signatures(&self, tools: &Catalogue) -> String {
        changed::signatures(&self.program, &|name| tools.known()?.tool(name))
    }

    /// Restores a run from a snapshot. The call at which the snapshot was taken waits for its answer.
    pub fn restore(&self, snapshot: &[u8], limits: Option<String>) -> Result<Run, String> {
        let limits = self::limits(limits.as_deref())?;
        let run = ilo_vm::Run::from_snapshot(&self.program, snapshot, limits.clone())
            .map_err(|error| bad_snapshot(error.code().as_str(), &format!("{}: {error}", error.code())))?;
        Ok(Run::new(run, limits))
    }
}
