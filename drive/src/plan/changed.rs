//! Tools that changed while a run waited: whether the calls that it has not made yet still fit them.
//!
//! Only tools whose signature differs from the stored one are looked at, and of a call only what is certain:
//! that its tool is there, the names of its arguments, and their constants. Nothing else of the check is
//! applied, and a wider schema fits.

use super::known_values::{jumps, loop_at, op};
use crate::data::Data;
use crate::data::read::{Bounds, data_of, read};
use crate::problem::{MOST, Problem, did_you_mean};
use crate::validate::misfit;
use ilo_asm::catalog::{SchemaShape, ToolSignature};
use ilo_asm::sorting::sort_by;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, First, Operand as _, Role, StringId};
use ilo_spec::program::{Number, Program};
use ilo_vm::Run;
use std::collections::{HashMap, HashSet};

/// Finds a tool by the name that a program uses.
pub type Lookup<'l, 't> = &'l dyn Fn(&str) -> Option<&'t ToolSignature>;

/// The signatures of the tools that a program names, as a text that is stored with a run.
pub fn signatures(program: &ilo_vm::Program, lookup: Lookup<'_, '_>) -> String {
    let found = program.tools().filter_map(|name| Some((name.to_owned(), signature(lookup(name)?))));
    Data::Record(found.map(|(name, signature)| (name, Data::Text(signature))).collect()).to_json()
}

/// A short text that differs if a tool takes or gives something else.
fn signature(tool: &ToolSignature) -> String {
    let (input, output) = tool.schema_texts();
    let parts = [input.unwrap_or_default(), output.unwrap_or_default(), tool.is_validated().to_string()];
    // FNV-1a, whose results are the same in every release.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// What no longer fits of the calls that a run has not made yet. `stored` is what [`signatures`] gave when it
/// was started. `is_made` says whether the call at which it waits may have been made.
pub fn misfits(run: &Run, stored: &str, is_made: bool, lookup: Lookup<'_, '_>) -> Vec<Problem> {
    let bounds = Bounds { bytes: usize::MAX, ..Bounds::default() };
    let Ok(Data::Record(stored)) = read(stored.as_bytes(), &bounds) else { return Vec::new() };
    let changed: HashSet<&str> = stored
        .iter()
        .filter(|(name, then)| match (lookup(name), then) {
            (Some(tool), Data::Text(then)) => signature(tool) != *then,
            _ => true,
        })
        .map(|(name, _)| name.as_str())
        .collect();
    if changed.is_empty() {
        return Vec::new();
    }
    let mut found = Found { changed, lookup, problems: HashMap::new() };
    if let Some(call) = run.waiting().filter(|_| !is_made) {
        let mut json = String::new();
        // Writing to a string does not fail.
        let _ = call.write_json(&mut json);
        found.exact(call.tool(), &json);
    }
    for (tool, json) in run.open_rollbacks() {
        found.exact(tool, &json);
    }
    let program = run.program().spec();
    for (pc, call, arguments) in calls_after(program, &run.places()) {
        let shape = program.calls.get(usize::from(call.0));
        let name = shape.and_then(|call| program.tools.get(usize::from(call.tool.0)).copied());
        let Some((shape, name)) = shape.zip(name) else { continue };
        let names = program.shapes.get(usize::from(shape.shape.0)).into_iter().flatten();
        let text = |id: StringId| program.strings.get(id).unwrap_or("?");
        let given = names.map(|field| text(StringId(field.0.into()))).zip(arguments).collect::<Vec<_>>();
        found.possible(program, pc, text(name), &given);
    }
    let mut problems: Vec<(String, Problem)> = found.problems.into_iter().collect();
    sort_by(&mut problems, |(a, _), (b, _)| a.cmp(b));
    problems.into_iter().map(|(_, problem)| problem).take(MOST).collect()
}

struct Found<'f, 't> {
    changed: HashSet<&'f str>,
    lookup: Lookup<'f, 't>,
    /// The first problem of each tool.
    problems: HashMap<String, Problem>,
}

impl<'t> Found<'_, 't> {
    /// The shape of a tool's arguments, if it has changed and is there.
    fn shape(&mut self, name: &str) -> Option<SchemaShape<'t>> {
        if !self.changed.contains(name) || self.problems.contains_key(name) {
            return None;
        }
        match (self.lookup)(name) {
            Some(tool) => tool.is_validated().then(|| tool.input()),
            None => {
                self.add(Code::UnknownTool, name, "it is not there any more".to_owned());
                None
            }
        }
    }

    fn add(&mut self, code: Code, name: &str, message: String) {
        self.problems.insert(name.to_owned(), Problem::new(code, format!("tool `{name}`"), message));
    }

    /// A call whose arguments are known, as JSON.
    fn exact(&mut self, name: &str, json: &str) {
        let why = match data_of(json) {
            Ok(arguments) => self.shape(name).and_then(|shape| misfit(shape, &arguments)),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            self.add(Code::ChangedTool, name, format!("its arguments no longer fit: {why}"));
        }
    }

    /// A call that may follow, of which some arguments are constants.
    fn possible(&mut self, program: &Program, pc: u32, name: &str, given: &[(&str, Option<Data>)]) {
        let Some(shape) = self.shape(name) else { return };
        let has = |wanted: &str| given.iter().any(|(name, _)| *name == wanted);
        let why = if let Some(field) = shape.required().find(|field| !has(field.name)) {
            Some(format!("the field `{}` is missing", field.name))
        } else if let Some((other, _)) =
            given.iter().find(|(name, _)| shape.refuses_others() && shape.field(name).is_none())
        {
            Some(format!("no field `{other}` is allowed{}", did_you_mean(other, shape.names())))
        } else {
            given.iter().find_map(|(name, value)| {
                let (shape, _) = shape.field(name)?;
                misfit(shape, value.as_ref()?).map(|why| format!("`{name}`: {why}"))
            })
        };
        if let Some(why) = why {
            let place = match program.position(pc) {
                Some(at) => format!("line {}, column {}", at.line, at.column),
                None => format!("instruction {pc}"),
            };
            self.add(Code::ChangedTool, name, format!("the call at {place} no longer fits: {why}"));
        }
    }
}

/// A call at an instruction, with the constants among its arguments.
type Site = (u32, CallId, Vec<Option<Data>>);

/// The calls that may follow these places, each of which is after a call that waits or was made.
fn calls_after(program: &Program, places: &[u32]) -> Vec<Site> {
    let mut reached = vec![false; program.code.len()];
    let mut next: Vec<u32> = Vec::new();
    for &after in places {
        let Some(at) = after.checked_sub(1) else { continue };
        follow(program, at, &mut next);
    }
    while let Some(pc) = next.pop() {
        let Some(op) = op(program, pc) else { continue };
        if std::mem::replace(&mut reached[pc as usize], true) {
            continue;
        }
        if let Op::Invoke { function, .. } = op {
            next.extend(program.functions.get(usize::from(function.0)).map(|callee| callee.start));
        }
        follow(program, pc, &mut next);
    }
    sites(program, &reached)
}

/// The instructions that may come directly after one.
fn follow(program: &Program, pc: u32, next: &mut Vec<u32>) {
    let Some(op) = op(program, pc) else { return };
    jumps(program, pc, op, |target| next.push(target));
    match op {
        Op::Next { back, .. } => {
            next.push(pc + 1);
            next.extend((pc + 1).checked_sub(back.0.into()));
        }
        Op::For { .. } | Op::Each { .. } => {
            next.push(pc + 1);
            next.extend(loop_at(program, pc).map(|(body, _)| body));
        }
        _ if !op.ends() => next.push(pc + 1),
        _ => {}
    }
}

/// The calls among these instructions. Constants are known within a stretch that nothing jumps into.
fn sites(program: &Program, reached: &[bool]) -> Vec<Site> {
    let reached = || (0_u32..).zip(reached).filter_map(|(pc, &reached)| reached.then_some(pc));
    // What is jumped to; a jump out of the program leads nowhere.
    let mut entered = vec![false; program.code.len()];
    let mut enter = |pc: u32| entered.get_mut(pc as usize).map(|entered| *entered = true);
    for pc in reached() {
        let Some(op) = op(program, pc) else { continue };
        jumps(program, pc, op, |target| _ = enter(target));
        if let Op::Next { back, .. } = op {
            (pc + 1).checked_sub(back.0.into()).and_then(&mut enter);
        }
    }
    let (mut found, mut known, mut before) = (Vec::new(), Constants::default(), None);
    for pc in reached() {
        let Some(op) = op(program, pc) else { continue };
        if before != Some(pc) || entered[pc as usize] {
            known.0.clear();
        }
        before = Some(pc + 1);
        let call = match op {
            Op::Rollback { first, call } => Some((first, call)),
            _ => op.tool_call().map(|call| (call.first, call.call)),
        };
        if let Some((First(first), call)) = call {
            let count = program.calls.get(usize::from(call.0));
            let count =
                count.and_then(|call| program.shapes.get(usize::from(call.shape.0))).map_or(0, Vec::len);
            let argument =
                |at| u8::try_from(usize::from(first) + at).ok().and_then(|at| known.get(at).cloned());
            found.push((pc, call, (0..count).map(argument).collect()));
        }
        let constant = constant(program, op);
        op.roles(|_, role| {
            if let Role::Write(register) = role {
                known.forget(register);
            }
        });
        if let Some((register, value)) = constant {
            debug_assert!(matches!(register.role(), Role::Write(_)), "only outputs are set");
            known.set(register.0, value);
        }
    }
    found
}

/// The registers that have known constants.
#[derive(Default)]
struct Constants(Vec<Option<Data>>);

impl Constants {
    fn get(&self, register: u8) -> Option<&Data> {
        self.0.get(usize::from(register))?.as_ref()
    }

    fn set(&mut self, register: u8, value: Data) {
        let at = usize::from(register);
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(value);
    }

    fn forget(&mut self, register: u8) {
        if let Some(known) = self.0.get_mut(usize::from(register)) {
            *known = None;
        }
    }
}

/// The constant that an instruction loads.
fn constant(program: &Program, op: Op) -> Option<(ilo_spec::operand::Out, Data)> {
    Some(match op {
        Op::Nil { dst } => (dst, Data::Nil),
        Op::False { dst } => (dst, Data::Bool(false)),
        Op::True { dst } => (dst, Data::Bool(true)),
        Op::Int { dst, value } => (dst, Data::Number(Number::Int(value.0.into()))),
        Op::Number { dst, number } => (dst, Data::Number(*program.numbers.get(usize::from(number.0))?)),
        Op::Text { dst, text } => (dst, Data::from(program.strings.get(text)?)),
        _ => return None,
    })
}
