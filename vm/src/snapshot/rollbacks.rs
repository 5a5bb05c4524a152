//! The part of a snapshot about ROLLBACK entries. It is absent if there are none and the run was not
//! cancelled.

use super::error::{RestoreError, Restored};
use super::read::{Values, flag, not_utf8, rule};
use super::write::Writer;
use crate::fault::Fault;
use crate::frame::Frame;
use crate::machine::Machine;
use crate::rollbacks::{Done, Entry, Left, MESSAGE, Note, Rollbacks, Then};
use crate::value::{Value, at};
use alloc::string::String;
use alloc::vec::Vec;
use ilo_spec::bytes::ByteReader;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::{FunctionId, StringId};

/// How a run ends after its entries have run, in the form of the snapshot.
const THEN: [(u8, Then); 4] = [(0, Then::GoOn), (1, Then::Ok), (2, Then::Err), (3, Then::Fault)];

/// A fault without the parts that follow from the program.
#[derive(Debug)]
pub(crate) struct EndFault {
    pub(crate) code: Code,
    pub(crate) message: String,
}

/// Whether a snapshot has the part. `promised` is the number of entries for which the waiting call has taken
/// room.
pub(super) fn is_needed(machine: &Machine, promised: u8) -> bool {
    let rollbacks = &machine.rollbacks;
    let more = rollbacks.more();
    more.taken > usize::from(promised) || rollbacks.cancelled || !more.left.is_empty()
}

/// Writes the part.
pub(super) fn write(writer: &mut Writer<'_>, machine: &Machine, promised: u8, fault: Option<&Fault>) {
    let Machine { rollbacks, frames, notes, .. } = machine;
    let more = rollbacks.more();
    let taken = more.taken - usize::from(promised);
    writer.out.byte(rollbacks.cancelled.into());
    writer.out.size(taken);
    writer.out.varint(more.made);
    let running = more.running.map(|(entry, _)| entry);
    let entries = || more.entries.iter().copied().chain(running);
    writer.out.size(entries().count());
    let ends = entries().skip(1).map(|entry| at(entry.start)).chain([more.arguments.len()]);
    for (entry, end) in entries().zip(ends) {
        writer.out.varint(entry.pc.into());
        for &argument in more.arguments.get(at(entry.start)..end).unwrap_or_default() {
            writer.value(argument);
        }
    }
    for height in rollbacks.heights(frames) {
        writer.out.varint(height.into());
    }
    writer.out.size(more.done.len());
    for done in &more.done {
        writer.out.varint(done.tool.0.into());
        writer.out.varint(done.number);
    }
    writer.out.size(more.left.len());
    for left in &more.left {
        writer.out.varint(left.tool.0.into());
        writer.text_of(&left.why);
    }
    let messages = || notes.iter().enumerate().filter(|(_, note)| note.aside);
    writer.out.size(messages().count());
    for (place, note) in messages() {
        writer.out.size(place);
        writer.out.varint(note.tool.0.into());
        let text =
            more.messages.as_deref().and_then(|heap| heap.arena_range(note.value).map(|r| &heap.text[r]));
        writer.text_of(text.unwrap_or_default());
    }
    let Some((_, then)) = more.running else { return };
    let number = THEN.iter().find(|&&(_, known)| known == then).map_or(0, |&(number, _)| number);
    writer.out.byte(number);
    if then != Then::GoOn {
        writer.out.size(machine.pc.saturating_sub(1));
    }
    match (then, fault) {
        (Then::GoOn | Then::Err, _) => writer.value(machine.result),
        (Then::Fault, Some(fault)) => {
            // The numbers of codes have 16 bits.
            writer.out.varint((fault.code as u16).into());
            writer.text_of(&fault.message);
        }
        _ => {}
    }
}

/// What the reader of this part needs from the machine besides its values.
pub(super) struct EntryPlace {
    /// The function that was started.
    pub(super) function: FunctionId,
    /// Tool calls made.
    pub(super) calls: u64,
    /// The `rollback` whose entry waits for its answer, if one does.
    pub(super) running: Option<u32>,
}

/// Reads the part.
pub(super) fn read(
    values: &mut Values<'_, '_>,
    parts: &mut Parts<'_>,
    place: &EntryPlace,
) -> Restored<Option<EndFault>> {
    let rollbacks = &mut *parts.rollbacks;
    rollbacks.used = true;
    rollbacks.cancelled = flag(&mut values.reader)?;
    let taken = values.reader.varint32()?;
    let made = values.reader.varint()?;
    rollbacks.more_mut().made = made;
    entries(values, rollbacks, taken)?;
    if let Some(pc) = place.running {
        let Some(entry) = rollbacks.more_mut().entries.pop().filter(|entry| entry.pc == pc) else {
            return values.rule("the entry whose call waits as the last", pc.into());
        };
        rollbacks.more_mut().running = Some((entry, Then::GoOn));
    }
    let left = rollbacks.more().entries.len() as u64;
    if made > u64::from(taken).saturating_sub(left) {
        return values.rule("at most as many entries that have run as are no longer there", made);
    }
    heights(values, rollbacks, parts.frames)?;
    records(values, rollbacks, place)?;
    messages(values, parts)?;
    if place.running.is_none() {
        return Ok(None);
    }
    ending(values, parts, place.function)
}

/// The parts of a machine that are read here.
pub(super) struct Parts<'m> {
    pub(super) rollbacks: &'m mut Rollbacks,
    pub(super) frames: &'m mut [Frame],
    pub(super) notes: &'m mut Vec<Note>,
    pub(super) pc: &'m mut usize,
    pub(super) result: &'m mut Value,
}

/// The entries with their arguments. All that were pushed are charged, also those that have run.
fn entries(values: &mut Values<'_, '_>, rollbacks: &mut Rollbacks, taken: u32) -> Restored<()> {
    let count = values.reader.count("entries", usize::MAX, 1)?;
    if at(taken) < count {
        return values.rule("at least as many entries in the run as there are left", taken.into());
    }
    let limit = values.heap.budget.limits.rollbacks;
    if at(taken) > limit {
        return Err(RestoreError::Limit {
            code: Code::FaultTooManyRollbacks,
            message: alloc::format!("{taken} ROLLBACK entries, which passes the limit of {limit}"),
        });
    }
    for _ in 0..count {
        let pc = values.reader.varint32()?;
        let Some(&Op::Rollback { call, .. }) = values.program.spec.code.get(at(pc)) else {
            return values.rule("a rollback", pc.into());
        };
        let arguments = values.program.call(call).arguments;
        rollbacks.promise(&mut values.heap.budget, 1, arguments)?;
        let start = u32::try_from(rollbacks.more().arguments.len()).unwrap_or(u32::MAX);
        for _ in 0..arguments {
            let value = values.value(None)?;
            rollbacks.more_mut().arguments.push(value);
        }
        rollbacks.more_mut().entries.push(Entry { pc, start });
    }
    rollbacks.more_mut().taken = at(taken);
    Ok(())
}

/// The number of entries when the functions began that frames wait for.
fn heights(values: &mut Values<'_, '_>, rollbacks: &mut Rollbacks, frames: &mut [Frame]) -> Restored<()> {
    let count = rollbacks.more().entries.len();
    let (mut before, mut outer) = (0, None);
    for frame in frames {
        let height = values.reader.varint32()?;
        if height < before || at(height) > count {
            return values
                .rule("a height from that of the frame before to the number of entries", height.into());
        }
        if height > before {
            rollbacks.give(outer, before);
        }
        (before, outer) = (height, Some(frame));
    }
    if count > at(before) {
        rollbacks.give(outer, before);
    }
    Ok(())
}

/// What has happened to entries and calls so far.
fn records(values: &mut Values<'_, '_>, rollbacks: &mut Rollbacks, place: &EntryPlace) -> Restored<()> {
    let running = u64::from(place.running.is_some());
    let numbers = rollbacks.more().made.saturating_add(place.calls);
    for _ in 0..values.reader.count("entries that have run", at_most(rollbacks.more().made, running), 2)? {
        let tool = tool(values)?;
        let number = values.reader.varint()?;
        if number > numbers {
            return values.rule("the number of a call that was made", number);
        }
        values.heap.budget.charge(2 * size_of::<Done>() as u64)?;
        rollbacks.more_mut().done.push(Done { tool, number });
    }
    for _ in 0..values.reader.count("calls that nothing undoes", usize::MAX, 2)? {
        let tool = tool(values)?;
        let why = String::from(text(values, MESSAGE)?);
        values.heap.budget.charge((2 * size_of::<Left>() + why.len()) as u64)?;
        rollbacks.more_mut().left.push(Left { tool, why });
    }
    Ok(())
}

/// The number of entries that have ended.
fn at_most(made: u64, running: u64) -> usize {
    usize::try_from(made.saturating_sub(running)).unwrap_or(usize::MAX)
}

/// The failures of entries, which are inserted among the other notes.
fn messages(values: &mut Values<'_, '_>, parts: &mut Parts<'_>) -> Restored<()> {
    let Parts { rollbacks, notes, .. } = parts;
    let failed = at_most(rollbacks.more().made, 0).saturating_sub(rollbacks.more().done.len());
    for _ in 0..values.reader.count("failures of entries", failed, 3)? {
        let index = values.reader.varint32()?;
        let tool = tool(values)?;
        let text = text(values, MESSAGE)?;
        if at(index) > notes.len() {
            return values.rule("a place among the notes", index.into());
        }
        values.heap.budget.charge(2 * size_of::<Note>() as u64)?;
        let value = rollbacks.add_message(values.program, &values.heap.budget.limits, text)?;
        notes.insert(at(index), Note { tool, value, aside: true });
    }
    Ok(())
}

/// What follows the entry that waits for its answer.
fn ending(
    values: &mut Values<'_, '_>,
    parts: &mut Parts<'_>,
    function: FunctionId,
) -> Restored<Option<EndFault>> {
    let byte = values.reader.byte()?;
    let Some(&(_, then)) = THEN.iter().find(|&&(number, _)| number == byte) else {
        return values.rule("what follows the entries", byte.into());
    };
    let program = values.program;
    if then == Then::GoOn {
        let handled = parts.frames.last().and_then(|frame| program.spec.code.get(frame.pc().wrapping_sub(1)));
        if !matches!(handled, Some(Op::Invoke { fail, .. }) if fail.0 != 0) {
            return values.rule("a caller that handles the failure", byte.into());
        }
    } else {
        if !parts.frames.is_empty() {
            return values.rule("no frames in a run that ends", parts.frames.len() as u64);
        }
        let pc = values.reader.varint32()?;
        if at(pc) >= program.spec.code.len() {
            return values.rule("an instruction", pc.into());
        }
        *parts.pc = at(pc) + 1;
    }
    if let Some((entry, _)) = parts.rollbacks.more().running {
        parts.rollbacks.more_mut().running = Some((entry, then));
    }
    match then {
        Then::Ok if !parts.rollbacks.cancelled => values.rule("a run that was cancelled", byte.into()),
        Then::Ok => Ok(None),
        Then::Err if program.function(function).is_none_or(|function| function.output.err.is_none()) => {
            values.rule("a function with a failure as its result", function.0.into())
        }
        Then::GoOn | Then::Err => {
            *parts.result = values.value(None)?;
            Ok(None)
        }
        Then::Fault => {
            let number = values.reader.varint16()?;
            let faults = Code::FaultToolFailed as u16..=Code::FaultOutputMismatch as u16;
            let found = Code::ALL.iter().copied().find(|&code| code as u16 == number);
            let Some(code) = found.filter(|_| faults.contains(&number)) else {
                return values.rule("the number of a fault", number.into());
            };
            let message = String::from(text(values, usize::MAX)?);
            Ok(Some(EndFault { code, message }))
        }
    }
}

fn tool(values: &mut Values<'_, '_>) -> Restored<StringId> {
    let tool = values.reader.varint32()?;
    if tool >= values.program.string_count() {
        return values.rule("the number of a tool's name", tool.into());
    }
    Ok(StringId(tool))
}

/// A text of at most `most` bytes.
fn text<'b>(values: &mut Values<'_, 'b>, most: usize) -> Restored<&'b str> {
    let reader: &mut ByteReader<'b> = &mut values.reader;
    let count = reader.count("bytes", most, 1)?;
    let offset = reader.offset();
    match core::str::from_utf8(reader.raw(count)?) {
        Ok(text) => Ok(text),
        Err(_) => not_utf8(offset),
    }
}

/// A snapshot without the part has no entry that waits.
pub(super) fn none(reader: &ByteReader<'_>, place: &EntryPlace) -> Restored<()> {
    match place.running {
        Some(pc) => rule(reader, "the entries of the run", pc.into()),
        None => Ok(()),
    }
}
