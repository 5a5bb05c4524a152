//! Random well-formed programs from a byte string, with their inputs and tools.
//!
//! The generator does not know what a program means. It tracks slots and kinds so that programs nearly always
//! pass the checks and run for a while; a test measures both.

mod choices;
mod expr;
mod functions;
mod generator;
mod kind;
mod scope;
mod stmt;
mod words;

use crate::data::Data;
use choices::Choices;
use generator::{Generator, Signature, ToolKind};
use kind::Kind;
use scope::Scope;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use stmt::{Block, Want};

/// The approximate number of statements of a program.
const STATEMENTS: usize = 40;

/// A program with its inputs and tools.
#[derive(Clone, Debug)]
pub struct Case {
    /// Integer-ID text.
    pub source: String,
    /// The function that runs.
    pub entry: String,
    /// Its arguments.
    pub input: Vec<(String, Data)>,
    /// Its tools.
    pub tools: Vec<Tool>,
}

/// A tool and its answers, in order; the last one repeats.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name in programs.
    pub name: String,
    /// Values and failures; at least one.
    pub answers: Vec<Result<Data, Data>>,
}

/// Generates a program from a byte string. Each byte decides one choice; after the last byte every choice is
/// the plainest.
pub fn case(bytes: &[u8]) -> Case {
    let mut choices = Choices::new(bytes);
    let mut tools = Vec::new();
    let first = choices.below(words::TOOLS.len());
    for place in 0..=choices.below(3) {
        let kind = Kind::choose(&mut choices, 2);
        tools.push(ToolKind { name: words::TOOLS[(first + place) % words::TOOLS.len()], kind });
    }
    let answers: Vec<Tool> = tools.iter().map(|tool| answers(tool, &mut choices)).collect();
    let helpers = choices.weighted(&[3, 3, 2, 1]);
    let scope = Scope::new(std::iter::empty(), Kind::Nil, None);
    let mut generator =
        Generator { choices, tools, functions: Vec::new(), scope, budget: STATEMENTS, without_calls: false };
    let mut sources = Vec::new();
    for place in 0..helpers {
        generator.budget = STATEMENTS / 4;
        sources.push(generator.function(words::FUNCTIONS[place]));
    }
    generator.budget = STATEMENTS;
    sources.push(generator.function("main"));
    if generator.choices.chance(60) {
        sources.reverse();
    }
    let mut source = sources.concat();
    if generator.choices.chance(6) {
        source = source.replace('\n', "\r\n");
    }
    let main = generator.functions.pop();
    let main = main.map(|main| (main.parameters, main.optional)).unwrap_or_default();
    let mut input = Vec::new();
    for ((name, kind), optional) in main.0.iter().zip(main.1) {
        if !(optional && generator.choices.chance(128)) {
            input.push((words::field(*name).into_owned(), argument(kind, &mut generator.choices)));
        }
    }
    Case { source, entry: "main".to_owned(), input, tools: answers }
}

/// The byte string of a seed, for [`case`]. It never changes.
pub fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let length = 64 << (next() % 6);
    let words = (0..length / 8).map(|_| next().to_le_bytes());
    words.flatten().collect()
}

/// An argument of a parameter, sometimes one that the program does not expect.
fn argument(kind: &Kind, choices: &mut Choices<'_>) -> Data {
    let declared = !matches!(kind, Kind::Any | Kind::Record(_));
    if !declared && choices.chance(16) { kind.other_value(choices) } else { kind.value(choices) }
}

/// What follows the name and the type of a parameter that may be left out.
fn optional(kind: &Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Any => Some(("?", "")),
        Kind::Bool => Some(("", " = true")),
        Kind::Number => Some(("", " = 7")),
        Kind::Text => Some(("", " = \"x\"")),
        Kind::List(_) => Some(("", " = []")),
        Kind::Nil | Kind::Record(_) => None,
    }
}

fn answers(tool: &ToolKind, choices: &mut Choices<'_>) -> Tool {
    let count = 1 + choices.below(4);
    let answers = (0..count)
        .map(|_| match choices.weighted(&[24, 7, 1]) {
            0 => Ok(tool.kind.value(choices)),
            1 if choices.chance(24) => Err(Kind::choose(choices, 1).value(choices)),
            1 => Err(words::text(choices).into()),
            _ => Ok(tool.kind.other_value(choices)),
        })
        .collect();
    Tool { name: tool.name.to_owned(), answers }
}

impl Generator<'_> {
    /// Writes a function; later ones can call it.
    fn function(&mut self, name: &'static str) -> String {
        let mut parameters: Vec<(usize, Kind)> = Vec::new();
        // A header can write the first six field names without quotes.
        let first = self.choices.below(6);
        for place in 0..self.choices.below(4) {
            parameters.push(((first + place) % 6, Kind::choose(&mut self.choices, 2)));
        }
        let ok = Kind::choose(&mut self.choices, 2);
        let err = match self.choices.below(8) {
            0..3 => None,
            3 => Some(Kind::choose(&mut self.choices, 1)),
            _ => Some(Kind::Text),
        };
        let kinds = parameters.iter().map(|(_, kind)| kind.clone());
        self.scope = Scope::new(kinds, ok.clone(), err);
        let want = if ok == Kind::Nil { Want::Nothing } else { Want::Value(ok.clone()) };
        let body = self.block(&want, 0);
        let may_be = parameters.iter().map(|(_, kind)| optional(kind).is_some());
        let optional: Vec<bool> = may_be.map(|may| may && self.choices.chance(64)).collect();
        let source = self.write(name, (&parameters, &optional), &body);
        self.functions.push(Signature { name, parameters, optional, ok });
        source
    }

    fn write(&mut self, name: &str, inputs: (&[(usize, Kind)], &[bool]), body: &Block) -> String {
        let mut out = format!("; fn {name}(");
        let (parameters, may_be_absent) = inputs;
        for (place, ((name, kind), absent)) in parameters.iter().zip(may_be_absent).enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let (mark, default) = optional(kind).filter(|_| *absent).unwrap_or_default();
            let _ = write!(out, "{comma}{}{mark}: {}{default}", words::field(*name), kind.declared());
        }
        let ok = self.scope.ok.declared();
        match &self.scope.err {
            Some(err) => {
                let _ = writeln!(out, ") -> result {ok}, {}", err.declared());
            }
            None => {
                let _ = writeln!(out, ") -> {ok}");
            }
        }
        registry(&mut out, "Tools", &self.scope.tools, |callee| match callee.checked_sub(self.tools.len()) {
            None => self.tools[callee].name.into(),
            Some(function) => self.functions[function].name.into(),
        });
        registry(&mut out, "Fields", &self.scope.fields, words::field);
        let flat = !self.scope.has_else && self.choices.chance(20);
        let indent = if flat { "" } else { *self.choices.pick(&["  ", " ", "\t", "    "]) };
        for (level, line) in &body.lines {
            for _ in 0..*level {
                out.push_str(indent);
            }
            out.push_str(line);
            out.push(if flat && self.choices.chance(128) { ' ' } else { '\n' });
        }
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out
    }
}

/// Writes the registry of the names that are used.
fn registry(out: &mut String, word: &str, used: &BTreeSet<usize>, name: impl Fn(usize) -> Cow<'static, str>) {
    if used.is_empty() {
        return;
    }
    let _ = write!(out, "; {word}:");
    for &id in used {
        let name = name(id);
        let _ = write!(out, " {id}=");
        if !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:/".contains(&byte))
        {
            out.push_str(&name);
        } else {
            words::quote(&name, false, out);
        }
    }
    out.push('\n');
}

/// Formats the case as the beginning of a file of the conformance corpus.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "=== source id\n{}=== tools", self.source)?;
        let tools = self.tools.iter().map(|tool| {
            let last = tool.answers.len() - 1;
            let entries = tool.answers.iter().enumerate().map(|(place, answer)| {
                let (word, value) = match answer {
                    Ok(value) => ("returns", value),
                    Err(value) => ("fails", value),
                };
                let mut entry = vec![(word.to_owned(), value.clone())];
                if place < last {
                    let once = Data::Number(ilo_spec::program::Number::Int(1));
                    entry.push(("times".to_owned(), once));
                }
                Data::Record(entry)
            });
            let mock = Data::Record(vec![("mock".to_owned(), Data::List(entries.collect()))]);
            (tool.name.clone(), mock)
        });
        writeln!(f, "{}", Data::Record(tools.collect()).to_json())?;
        writeln!(f, "=== input\n{}", Data::Record(self.input.clone()).to_json())
    }
}
