//! The ROLLBACK entries of a run: calls that undo what it has done, kept until the run has succeeded.
//!
//! All entries are on one stack. The frame that waits for a function with entries is their owner, and the
//! height of the stack when that function began is kept here, so that functions without entries keep nothing.
//! The memory of an entry, of its arguments and of what the outcome says about it is charged when its room is
//! taken, so that running entries needs none. `run/rollback` decides when entries run.

use crate::budget::{Budget, Limits};
use crate::fault::Trap;
use crate::frame::Frame;
use crate::heap::Heap;
use crate::program::ProgramData;
use crate::render::Capped;
use crate::value::{Value, at};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use ilo_spec::error::Code;
use ilo_spec::operand::StringId;

/// An entry: the `rollback` that pushed it, and where its arguments begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The `rollback`, counted over the whole program.
    pub(crate) pc: u32,
    /// The first of its arguments in [`More::arguments`].
    pub(crate) start: u32,
}

/// An entry whose call succeeded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) tool: StringId,
    /// The number of its call within the run.
    pub(crate) number: u64,
}

/// A call that may have changed something and that no entry undoes.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) tool: StringId,
    pub(crate) why: String,
}

/// The failure of a compensation or an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub(crate) tool: StringId,
    pub(crate) value: Value,
    /// Whether the value is in the heap of [`More::messages`].
    pub(crate) aside: bool,
}

/// What happens after the entries have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The caller that handles the failure continues.
    GoOn,
    /// The run ends with its value, its failure or its fault.
    Ok,
    Err,
    Fault,
}

/// Bytes charged for an entry, its height and what the outcome says about it; lists double as they grow.
const ENTRY: u64 = 2 * (size_of::<Entry>() + size_of::<u32>() + size_of::<Note>() + size_of::<Done>()) as u64;
/// Bytes charged for an argument.
const ARGUMENT: u64 = 2 * size_of::<Value>() as u64;

/// The entries of a run, and the results of those that have run. Most programs have no ROLLBACK; the parts
/// that only programs with ROLLBACK need are in [`More`].
#[derive(Debug, Default)]
pub(crate) struct Rollbacks {
    pub(crate) cancelled: bool,
    /// Whether anything here differs from a fresh state, or a compensation has failed.
    pub(crate) used: bool,
    more: Option<Box<More>>,
}

/// The part of [`Rollbacks`] that is allocated when it is first needed.
#[derive(Debug)]
pub(crate) struct More {
    /// The latest is the last.
    pub(crate) entries: Vec<Entry>,
    /// The arguments of all entries, and of the one that runs, in the order of the entries.
    pub(crate) arguments: Vec<Value>,
    /// For each frame that is an owner, the number of entries when the function that it waits for began.
    heights: Vec<u32>,
    /// How many entries have been pushed or promised in the run.
    pub(crate) taken: usize,
    /// How many entries have run or begun to run.
    pub(crate) made: u64,
    /// The entry whose call waits for its answer, and what follows.
    pub(crate) running: Option<(Entry, Then)>,
    /// The `tool.rollback` whose section is being executed, and the `rollback`s still to come.
    section: (u32, u8),
    /// A fault that the host has asked for, which waits for the end of the section.
    waiting: Option<Trap>,
    pub(crate) done: Vec<Done>,
    pub(crate) left: Vec<Left>,
    /// The messages of entries that failed: texts only, outside the memory of the run.
    pub(crate) messages: Option<Box<Heap>>,
}

impl More {
    const NOTHING: More = More {
        entries: Vec::new(),
        arguments: Vec::new(),
        heights: Vec::new(),
        taken: 0,
        made: 0,
        running: None,
        section: (0, 0),
        waiting: None,
        done: Vec::new(),
        left: Vec::new(),
        messages: None,
    };
}

/// The empty state, without allocation.
static NOTHING: More = More::NOTHING;

impl Rollbacks {
    /// The allocated part, for reading.
    pub(crate) fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NOTHING)
    }

    /// The allocated part, for changes.
    pub(crate) fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_with(|| Box::new(More::NOTHING))
    }

    /// The arguments of all entries, which the garbage collector changes.
    pub(crate) fn arguments_mut(&mut self) -> &mut [Value] {
        self.more.as_deref_mut().map_or(&mut [], |more| &mut more.arguments)
    }

    /// Clears everything, for another start.
    #[cold]
    #[inline(never)]
    pub(crate) fn reset(&mut self) {
        (self.cancelled, self.used) = (false, false);
        let Some(more) = self.more.as_deref_mut() else { return };
        // The lists keep their memory.
        let More { entries, arguments, heights, done, left, .. } = more;
        entries.clear();
        arguments.clear();
        heights.clear();
        done.clear();
        left.clear();
        (more.taken, more.made, more.running, more.section) = (0, 0, None, (0, 0));
        (more.waiting, more.messages) = (None, None);
    }

    /// Takes the room for a number of entries and their arguments.
    pub(crate) fn promise(&mut self, budget: &mut Budget, entries: u8, arguments: u32) -> Result<(), Trap> {
        let (taken, limit) = (self.more().taken + usize::from(entries), budget.limits.rollbacks);
        if taken > limit {
            return Err(Trap::new(
                Code::FaultTooManyRollbacks,
                format_args!("the run has used all of its {limit} ROLLBACK entries"),
            ));
        }
        budget.charge(room(entries, arguments))?;
        self.more_mut().taken = taken;
        self.used = true;
        Ok(())
    }

    /// Returns the room, because the call for which it was taken has failed.
    pub(crate) fn release(&mut self, budget: &mut Budget, entries: u8, arguments: u32) {
        budget.give_back(room(entries, arguments));
        self.more_mut().taken -= usize::from(entries);
    }

    /// Records that the call of a `tool.rollback` has succeeded, so its `rollback`s follow.
    pub(crate) fn begin_section(&mut self, pc: u32, entries: u8) {
        self.more_mut().section = (pc, entries);
    }

    /// Whether a section is being executed.
    #[inline]
    pub(crate) fn in_section(&self) -> bool {
        self.more().section.1 > 0
    }

    /// Ends a section whose `rollback`s could not be reached; returns its `tool.rollback`.
    pub(crate) fn abandon_section(&mut self) -> u32 {
        let section = &mut self.more_mut().section;
        section.1 = 0;
        section.0
    }

    /// Delays a fault until the end of the section.
    pub(crate) fn wait_for_section(&mut self, trap: Trap) {
        self.more_mut().waiting = Some(trap);
    }

    /// Pushes the entry of the `rollback` before `behind`, in the function that `waiting` waits for. Outside
    /// a section it takes its room first; the last of a section ends it.
    #[cold]
    #[inline(never)]
    pub(crate) fn push(
        &mut self,
        budget: &mut Budget,
        waiting: Option<&mut Frame>,
        behind: usize,
        arguments: &[Value],
    ) -> Result<(), Trap> {
        if !self.in_section() {
            // A window has at most 256 registers.
            self.promise(budget, 1, u32::try_from(arguments.len()).unwrap_or(u32::MAX))?;
        }
        let short = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        self.give(waiting, self.height());
        let more = self.more_mut();
        more.entries.push(Entry { pc: short(behind) - 1, start: short(more.arguments.len()) });
        more.arguments.extend_from_slice(arguments);
        let left = &mut more.section.1;
        if *left > 0 {
            *left -= 1;
            if *left == 0 {
                budget.repay()?;
            }
        }
        Ok(())
    }

    /// Gives the entries above a height to the function that `waiting` waits for, unless it had entries below
    /// them.
    pub(crate) fn give(&mut self, waiting: Option<&mut Frame>, height: u32) {
        if let Some(frame) = waiting.filter(|frame| !frame.is_owner()) {
            frame.make_owner();
            self.more_mut().heights.push(height);
        }
    }

    /// Records that the function that the frame at an index waits for has failed. Drops the frames above.
    /// Returns whether the function, or one that it called, has entries; the frame is their owner then.
    pub(crate) fn gather(&mut self, frames: &mut Vec<Frame>, index: usize) -> bool {
        let owners = frames.drain(index + 1..).filter(Frame::is_owner).count();
        let Some(frame) = frames.last_mut() else { return false };
        let owners = owners + usize::from(frame.is_owner());
        if owners > 0 {
            frame.make_owner();
            let heights = &mut self.more_mut().heights;
            heights.truncate((heights.len() + 1).saturating_sub(owners));
        }
        owners > 0
    }

    /// Records that the function that a frame waited for has ended. Returns the number of entries when it
    /// began, if it has any.
    pub(crate) fn disown(&mut self, frame: &Frame) -> Option<u32> {
        if frame.is_owner() { self.more_mut().heights.pop() } else { None }
    }

    /// For each frame, the number of entries when the function began that it waits for.
    pub(crate) fn heights(&self, frames: &[Frame]) -> impl Iterator<Item = u32> {
        // A frame that is no owner has the height of the next owner.
        let mut heights = self.more().heights.iter();
        frames.iter().map(move |frame| {
            let height = heights.as_slice().first().copied().unwrap_or_else(|| self.height());
            if frame.is_owner() {
                heights.next();
            }
            height
        })
    }

    /// The number of entries.
    fn height(&self) -> u32 {
        // Far fewer fit into memory.
        u32::try_from(self.more().entries.len()).unwrap_or(u32::MAX)
    }

    /// Whether a fault has waited for the section that has ended now.
    pub(crate) fn must_end(&self) -> bool {
        self.more().waiting.is_some() && !self.in_section()
    }

    /// The fault that has waited for the end of the section.
    pub(crate) fn take_waiting(&mut self) -> Option<Trap> {
        self.more.as_mut()?.waiting.take()
    }

    /// Removes the latest entry that has to run before `then`, so that its call can be made; its arguments
    /// stay until the call has its answer.
    pub(crate) fn run_latest(&mut self, frames: &[Frame], then: Then) -> Option<Entry> {
        let height = match (then, frames.last()) {
            (Then::GoOn, Some(frame)) if frame.is_owner() => self.more().heights.last().copied(),
            (Then::GoOn, _) => None,
            (Then::Ok | Then::Err | Then::Fault, _) => Some(0),
        };
        let height = height.unwrap_or_else(|| self.height());
        let More { entries, running, made, .. } = self.more_mut();
        let entry = if entries.len() > at(height) { entries.pop() } else { None };
        *running = entry.map(|entry| (entry, then));
        *made += u64::from(entry.is_some());
        entry
    }

    /// The arguments of the entry that runs.
    pub(crate) fn running_arguments(&self) -> &[Value] {
        let More { arguments, running, .. } = self.more();
        let start = running.map_or(arguments.len(), |(entry, _)| at(entry.start));
        arguments.get(start..).unwrap_or_default()
    }

    /// Keeps the message of a failed entry, outside the memory of the run.
    pub(crate) fn add_message(
        &mut self,
        program: &ProgramData,
        limits: &Limits,
        message: &str,
    ) -> Result<Value, Trap> {
        let messages = self.more_mut().messages.get_or_insert_with(|| {
            let unlimited = Limits { memory: u64::MAX, text: usize::MAX, ..limits.clone() };
            Box::new(Heap::new(program, unlimited))
        });
        messages.add_text(message)
    }

    /// Drops the entries above a height without running them.
    #[cold]
    #[inline(never)]
    pub(crate) fn drop_above(&mut self, height: u32) {
        let Some(more) = &mut self.more else { return };
        if let Some(first) = more.entries.get(at(height)) {
            more.arguments.truncate(at(first.start));
            more.entries.truncate(at(height));
        }
    }

    /// Records a call that no entry undoes. The record is made even if there is no memory for it: the run
    /// ends then.
    pub(crate) fn leave(&mut self, budget: &mut Budget, tool: StringId, why: &str) -> Result<(), Trap> {
        let why = shortened(why);
        let charged = budget.charge((2 * size_of::<Left>() + why.len()) as u64);
        self.more_mut().left.push(Left { tool, why });
        self.used = true;
        charged
    }
}

/// Bytes of a number of entries and their arguments.
fn room(entries: u8, arguments: u32) -> u64 {
    ENTRY * u64::from(entries) + ARGUMENT * u64::from(arguments)
}

/// The most bytes of a message about an entry or a call.
pub(crate) const MESSAGE: usize = 4 << 10;

/// A message of at most [`MESSAGE`] bytes.
pub(crate) fn shortened(message: &str) -> String {
    let mut out = String::new();
    let left = if message.len() <= MESSAGE { MESSAGE } else { MESSAGE - '…'.len_utf8() };
    // An error means that it was cut, which the ellipsis shows.
    let _ = Capped { out: &mut out, left }.write_str(message);
    out
}
