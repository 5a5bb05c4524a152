//! Verification: checks every rule in one pass over tables and code, linear in both.
//!
//! What it proves, and the interpreter relies on:
//! - every index is within its table; every window and loop is within the registers of its function
//! - functions cover the code without gaps, every path through a function ends in it, every instruction is
//!   reachable
//! - jumps go forward, the only backward jump is a loop's `next`, and no jump enters a loop from before it
//! - a register is set on every path to a read; the registers of a loop are not touched by others until it
//!   ends
//! - a call goes to a function with a lower number; its frame begins at the caller's window and may overwrite
//!   the rest
//! - strings are distinct, and so are the fields of a shape, the parameters of a function and the keys of a
//!   map
//!
//! It also computes the costs of running ([`Facts`]). The first broken rule is reported; it is always the
//! same one.

mod flow;
mod operands;
mod rules;
mod section;

pub use rules::{Rule, VerifyError};

use rules::{Result, index};

use crate::facts::{COLUMNS, FEW_CASES, Facts, Rank, rank};
use crate::hash_index::HashIndex;
use crate::value::at;
use alloc::vec::Vec;
use ilo_spec::limits;
use ilo_spec::operand::{FieldId, StringId};
use ilo_spec::program::{Function, Key, Map, Need, Number, Parameter, Program};
use ilo_spec::record_input::RecordField;
use ilo_spec::types::{Base, Type};

/// Up to this many parameters are compared pairwise.
const FEW_PARAMETERS: usize = 8;

/// Verifies a program.
pub(crate) fn verify(program: &Program) -> Result<Facts> {
    let mut facts = Facts::default();
    tables(program, &mut facts)?;
    let mut start = 0;
    let mut names = alloc::vec![false; program.strings.len()];
    for (id, function) in program.functions.iter().enumerate() {
        let found =
            signature(program, function, start).map_err(|()| VerifyError::function(id, Rule::Cover))?;
        start = function.end;
        if let Some(rule) = found {
            return Err(VerifyError::function(id, rule));
        }
        if core::mem::replace(&mut names[at(function.name.0)], true) {
            return Err(VerifyError::function(id, Rule::Duplicate { what: "function name" }));
        }
    }
    if at(start) != program.code.len() {
        return Err(VerifyError::table(Rule::Cover));
    }
    records(program).map_err(VerifyError::table)?;
    facts.stride = usize::from(flow::check(program, &mut facts)?).min(COLUMNS);
    Ok(facts)
}

/// Checks everything except functions and code.
fn tables(program: &Program, facts: &mut Facts) -> Result<()> {
    let error = |rule| Err(VerifyError::table(rule));
    let sizes = [
        ("strings", program.strings.len(), limits::STRINGS),
        ("numbers", program.numbers.len(), limits::NUMBERS),
        ("shapes", program.shapes.len(), limits::SHAPES),
        ("tools", program.tools.len(), limits::TOOLS),
        ("calls", program.calls.len(), limits::CALLS),
        ("maps", program.maps.len(), limits::MAPS),
        ("functions", program.functions.len(), limits::FUNCTIONS),
        ("fields", program.fields.into(), program.strings.len()),
    ];
    for (what, found, limit) in sizes {
        if found > limit {
            return error(Rule::Count { what, found, limit });
        }
    }
    strings(program, &mut facts.strings)?;
    if program.numbers.iter().any(|n| matches!(n, Number::Double(d) if !d.is_finite())) {
        return error(Rule::NotFinite);
    }
    shapes(program)?;
    for tool in &program.tools {
        index("string", at(tool.0), program.strings.len()).or_else(error)?;
    }
    for call in &program.calls {
        index("tool", call.tool.0.into(), program.tools.len()).or_else(error)?;
        index("shape", call.shape.0.into(), program.shapes.len()).or_else(error)?;
    }
    facts.orders.reserve_exact(program.maps.len());
    for map in &program.maps {
        let order = keys(program, map).map_err(VerifyError::table)?;
        facts.orders.push(order);
    }
    Ok(())
}

/// Checks that strings are distinct, so that a text has one number.
fn strings(program: &Program, table: &mut HashIndex) -> Result<()> {
    let get = |id| program.strings.get(StringId(id)).unwrap_or_default();
    *table = HashIndex::with_room(program.strings.len());
    let all_new = (0..).zip(program.strings.iter()).all(|(id, text)| {
        table.insert_new(id, |other| get(other) == text, |table, id| table.hash_text(get(id)))
    });
    if all_new { Ok(()) } else { Err(VerifyError::table(Rule::Duplicate { what: "string" })) }
}

fn shapes(program: &Program) -> Result<()> {
    let mut seen = alloc::vec![usize::MAX; program.fields.into()];
    for (number, shape) in program.shapes.iter().enumerate() {
        for &FieldId(field) in shape {
            index("field", field.into(), program.fields.into()).map_err(VerifyError::table)?;
            if core::mem::replace(&mut seen[usize::from(field)], number) == number {
                return Err(VerifyError::table(Rule::Duplicate { what: "field of a shape" }));
            }
        }
    }
    Ok(())
}

/// Checks that keys are within their tables and distinct; returns the sorted keys of a map with many cases.
fn keys(program: &Program, map: &Map) -> core::result::Result<Vec<(Rank, u16)>, Rule> {
    for &(key, _) in &map.cases {
        match key {
            Key::Number(id) => index("number", id.0.into(), program.numbers.len())?,
            Key::Text(id) => index("string", at(id.0), program.strings.len())?,
            Key::Nil | Key::Bool(_) => {}
        }
    }
    let ranked = map.cases.iter().map(|&(key, target)| (rank(program, key), target));
    let mut order = Vec::new();
    let twice = if map.cases.len() <= FEW_CASES {
        // A few are compared pairwise.
        let mut few = [(0, 0); FEW_CASES];
        ranked.enumerate().any(|(place, (rank, _))| {
            few[place] = rank;
            few[..place].contains(&rank)
        })
    } else {
        order.extend(ranked);
        order.sort_unstable();
        order.windows(2).any(|pair| pair[0].0 == pair[1].0)
    };
    if twice { Err(Rule::Duplicate { what: "key of a map" }) } else { Ok(order) }
}

/// Checks that the types that list fields belong to distinct parameters, in order.
fn records(program: &Program) -> core::result::Result<(), Rule> {
    let mut last = None;
    for record in &program.records {
        let place = (record.function.0, record.place);
        let function = usize::from(record.function.0);
        index("function", function, program.functions.len())?;
        let parameters = &program.functions[function].parameters;
        index("parameter", record.place.into(), parameters.len())?;
        if last >= Some(place) {
            return Err(Rule::Duplicate { what: "record of a parameter" });
        }
        last = Some(place);
        record_fields(program, parameters[usize::from(record.place)].ty, &record.fields)?;
    }
    Ok(())
}

/// Checks the fields in a type, whose names are distinct. Decoding limits their nesting.
fn record_fields(program: &Program, ty: Type, fields: &[RecordField]) -> core::result::Result<(), Rule> {
    if ty.base != Base::Any {
        return Err(Rule::RecordType);
    }
    let mut names: Vec<u32> = fields.iter().map(|field| field.name.0).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Rule::Duplicate { what: "field of a record" });
    }
    for field in fields {
        index("string", at(field.name.0), program.strings.len())?;
        if !field.fields.is_empty() {
            record_fields(program, field.ty, &field.fields)?;
        }
    }
    Ok(())
}

/// `Err` if the function's code does not follow that of the previous one, else the rule that it breaks.
fn signature(program: &Program, function: &Function, start: u32) -> core::result::Result<Option<Rule>, ()> {
    if function.start != start || function.end <= start || at(function.end) > program.code.len() {
        return Err(());
    }
    Ok(parameters(program, function).err())
}

fn parameters(program: &Program, function: &Function) -> core::result::Result<(), Rule> {
    index("string", at(function.name.0), program.strings.len())?;
    let found = at(function.end - function.start);
    if found > limits::FUNCTION_CODE {
        return Err(Rule::Count { what: "instructions", found, limit: limits::FUNCTION_CODE });
    }
    for parameter in &function.parameters {
        if let Need::Default(constant) = parameter.need {
            index("string", at(constant.0), program.strings.len())?;
        }
    }
    let registers = usize::from(function.registers);
    if registers > limits::REGISTERS {
        return Err(Rule::Count { what: "registers", found: registers, limit: limits::REGISTERS });
    }
    if function.parameters.len() > registers {
        return Err(Rule::Count { what: "parameters", found: function.parameters.len(), limit: registers });
    }
    // A few are compared pairwise.
    let few = function.parameters.len() <= FEW_PARAMETERS;
    let twice = |(place, parameter): (usize, &Parameter)| {
        function.parameters[..place].iter().any(|other| other.name == parameter.name)
    };
    if few && function.parameters.iter().enumerate().any(twice) {
        return Err(Rule::Duplicate { what: "parameter" });
    }
    if few {
        let last = function.parameters.iter().map(|parameter| parameter.name.0).max();
        return last.map_or(Ok(()), |last| index("field", last.into(), program.fields.into()));
    }
    let mut names: Vec<u32> = function.parameters.iter().map(|parameter| parameter.name.0.into()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Rule::Duplicate { what: "parameter" });
    }
    match names.last() {
        Some(&last) => index("field", at(last), program.fields.into()),
        None => Ok(()),
    }
}
