//! Steps in the shape of other languages and of sister notations: what they should have been.
//!
//! A call as agents send it to a tool, a loop as a record, an assignment. Each is one slip however many keys it has, so
//! that it is told once, mended in one piece, and read as if it were mended. Words alone are for [`super::keys`].

use super::doubt::Place;
use super::reader::Reader;
use super::steps::{Item, Tail};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator;
use crate::dialect::reference::bare;
use crate::dialect::{Dialect, Key, Meant, begins_step, instead};
use crate::document::edit::{Draft, mendable};
use crate::document::{Entry, Kind, Node, Style, Text};
use crate::document::{entries, first_of};
use crate::text::is_name;
use ilo_spec::error::Code;

/// What a record should have been, and what to say of it.
struct Mended<'a> {
    code: Code,
    message: &'static str,
    draft: Vec<(&'a str, Draft<'a>)>,
}

const CALLEES: [&str; 14] = [
    "uses",
    "tool",
    "function",
    "name",
    "tool_name",
    "toolName",
    "action",
    "recipient_name",
    "method",
    "fn",
    "command",
    "call",
    "use",
    "Resource",
];
const WRAPPERS: [&str; 9] =
    ["function", "tool_call", "toolCall", "call", "tool", "params", "function_call", "tool_use", "invoke"];
const ARGUMENTS: [&str; 15] = [
    "args",
    "with",
    "arguments",
    "parameters",
    "params",
    "input",
    "inputs",
    "action_input",
    "tool_input",
    "kwargs",
    "payload",
    "data",
    "body",
    "Parameters",
    "Arguments",
];
/// What says only that a record is a call.
const MARKERS: [&str; 5] = ["type", "kind", "step", "jsonrpc", "Type"];
const CALLS: [&str; 9] =
    ["function", "tool_use", "tool_call", "call", "tool", "action", "function_call", "2.0", "Task"];
const LOOPS: [&str; 10] =
    ["for", "foreach", "for_each", "forEach", "for-each", "map", "each", "loop", "iterate", "for_all"];
const VARIABLES: [&str; 9] = ["var", "item", "as", "each", "name", "variable", "iterator", "element", "let"];
const LISTS: [&str; 8] = ["in", "of", "over", "list", "items", "collection", "from", "array"];
const BODIES: [&str; 6] = ["do", "yield", "steps", "body", "then", "collect"];
const BINDERS: [&str; 5] = ["let", "set", "assign", "var", "define"];
const CONDITIONS: [&str; 6] = ["condition", "cond", "test", "when", "if", "expr"];
const SUBJECTS: [&str; 6] = ["on", "value", "subject", "expr", "match", "input"];

type Entries<'a> = &'a [Entry<'a>];

fn get<'a>(list: Entries<'a>, names: &[&str]) -> Option<&'a Entry<'a>> {
    names.iter().find_map(|&name| list.iter().find(|entry| entry.name() == Some(name)))
}

fn kept<'a>(entry: &Entry<'a>) -> Option<(&'a str, Draft<'a>)> {
    Some((entry.name()?, Draft::Kept(entry.value)))
}

/// The entries of a list but for some.
fn others<'a>(list: Entries<'a>, without: &[&str]) -> Vec<(&'a str, Draft<'a>)> {
    list.iter()
        .filter(|entry| !entry.name().is_some_and(|name| without.contains(&name)))
        .filter_map(kept)
        .collect()
}

impl<'a> Reader<'_, 'a> {
    /// The step that a record stands for; `None` where it is a step, or stands for none.
    pub(crate) fn meant_step(&mut self, node: &Node<'a>) -> Option<&'a Node<'a>> {
        let list = entries(node);
        let nested = |entry: &Entry<'a>| {
            matches!(entry.value.kind, Kind::Record(_))
                && entry.name().is_some_and(|name| matches!(name, "let" | "if" | "for" | "match" | "call"))
        };
        let looped =
            |entry: &Entry<'a>| entry.name() == Some("for") && !is_name(entry.value.text().unwrap_or("x"));
        let own = |entry: &Entry<'a>| entry.name().is_some_and(|name| self.dialect.is_own(name));
        if list.iter().all(|entry| own(entry) && !nested(entry) && !looped(entry))
            && !(get(list, &["if"]).is_some() && self.conditioned(list).is_some()
                || self.has_pair(list)
                || get(list, &["op"]).is_some() && get(list, &["a"]).is_none()
                || get(list, &["switch"]).is_some()
                || matches!(list, [only] if only.name() == Some("set")))
        {
            return None;
        }
        let mended = self
            .sister_operation(list, true)
            .or_else(|| self.sister_assert(list))
            .or_else(|| self.sister_merge(list))
            .or_else(|| self.default_beside(list))
            .or_else(|| Self::record_of_step(list))
            .or_else(|| self.conditioned(list))
            .or_else(|| self.looped(list))
            .or_else(|| self.called(list))
            .or_else(|| self.loose_arguments(list))
            .or_else(|| self.tried(list))
            .or_else(|| self.assigned(list))?;
        Some(self.instead_of(node, mended))
    }

    /// The value that a record stands for in a sister notation.
    pub(crate) fn meant_value(&mut self, node: &Node<'a>, place: Place) -> Option<&'a Node<'a>> {
        let list = entries(node);
        if list.len() > 3 {
            return None;
        }
        let mended = self
            .sister_operation(list, false)
            .or_else(|| self.sister_merge(list))
            .or_else(|| self.compared(list).filter(|_| place == Place::Formula))?;
        Some(self.instead_of(node, mended))
    }

    /// Reports what a record should have been, which is read in its place.
    fn instead_of(&mut self, node: &Node<'a>, mended: Mended<'a>) -> &'a Node<'a> {
        let yaml = self.dialect.is_yaml();
        let draft = Draft::Record(mended.draft);
        let expected = format!("`{}`", draft.outline(yaml));
        let place = entries(node).first().map_or(first_of(node), |entry| entry.key.span);
        let found = Draft::Record(entries(node).iter().filter_map(kept).collect()).outline(yaml);
        let wrong = Diagnostic::new(mended.code, place, mended.message)
            .expected(expected.clone(), format!("`{}`", crate::text::shorten(&found)));
        let fix = draft.fix(node, self.source, yaml, self.dialect.is_bare());
        self.report(match fix {
            Some(fix) => wrong.fix(fix),
            None => wrong.help(format!("write {expected}")),
        });
        self.arena.alloc(draft.node(place, self.arena))
    }

    /// Reads `{"let": {"a": 1, "b": 2}}` as the steps that it should have been; whether it was that.
    pub(crate) fn assigns_several(&mut self, node: &Node<'a>) -> bool {
        let [only] = entries(node) else { return false };
        let inner = entries(&only.value);
        if !only.name().is_some_and(|name| BINDERS.contains(&name)) || inner.len() < 2 {
            return false;
        }
        let draft = |entry: &Entry<'a>| {
            Some(Draft::Record(vec![("let", Draft::Word(entry.name()?)), ("expr", Draft::Kept(entry.value))]))
        };
        let drafts: Vec<Draft<'a>> = inner.iter().filter_map(draft).collect();
        let written = !self.dialect.is_yaml() && mendable(node.span);
        let wrong = Diagnostic::new(Code::BadStep, only.key.span, "a step binds one name")
            .expected("a step with `let` and `expr` for each", format!("{} names in one", inner.len()));
        self.report(if written {
            let texts: Vec<String> =
                drafts.iter().map(|draft| draft.text(self.source, self.dialect.is_bare())).collect();
            wrong.replace(node.span, texts.join(", "))
        } else {
            wrong.help("write a step for each, with its name and `expr`")
        });
        for draft in drafts {
            let node = draft.node(only.key.span, self.arena);
            self.steps(&[Item { name: None, node: &node }], Tail::Drop);
        }
        true
    }

    /// Whether a merge has its two parts in the form of a sister.
    fn has_pair(&self, list: Entries<'a>) -> bool {
        let list_form = self.is_tool_calling();
        let merge = get(list, &["merge", "$merge"]);
        merge.is_some_and(|entry| list_form != matches!(entry.value.kind, Kind::List(_)))
    }

    fn is_tool_calling(&self) -> bool {
        !self.dialect.has(Key::Set)
    }

    /// `op` with `a` and `b`, where operators are keys; and `op` with a list of operands anywhere.
    fn sister_operation(&self, list: Entries<'a>, step: bool) -> Option<Mended<'a>> {
        let named = get(list, &["let"]).filter(|_| step);
        let rest: Vec<Entry<'a>> =
            list.iter().filter(|entry| named.is_none() || entry.name() != Some("let")).copied().collect();
        let (operator, operands) = Self::operation_by_keys(self.arena.alloc_slice_copy(&rest))?;
        let sister =
            rest.iter().all(|entry| entry.name().is_some_and(|name| matches!(name, "op" | "a" | "b")));
        if sister && self.dialect.has(Key::Op) || !sister && !step {
            return None;
        }
        let operands: Vec<Draft<'a>> = operands.into_iter().map(|node| Draft::Kept(*node)).collect();
        let operands = match <[Draft<'a>; 1]>::try_from(operands) {
            Ok([only]) => only,
            Err(operands) => Draft::List(operands),
        };
        let mut draft: Vec<(&'a str, Draft<'a>)> = named.and_then(kept).into_iter().collect();
        if step {
            draft.push(("expr", Draft::one(operator.spelling, operands)));
        } else {
            draft.push((operator.spelling, operands));
        }
        let (code, message) = if sister {
            (Code::SisterWord, "`op` is another notation's form of an operation, and read as that")
        } else {
            (Code::BadStep, "an operation has its operator as the key of its operands")
        };
        Some(Mended { code, message, draft })
    }

    /// `assert`, where an `if` returns a failure.
    fn sister_assert(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let assert = get(list, &["assert"]).filter(|_| !self.dialect.has(Key::Assert))?;
        let message = get(list, &["error", "err"])?;
        let mut draft = vec![("if", Draft::one("not", Draft::Kept(assert.value)))];
        draft.extend(others(list, &["assert", "error", "err"]));
        let failure = Draft::one(self.dialect.word(Key::Message), Draft::Kept(message.value));
        draft.push((self.dialect.word(Key::Return), failure));
        let message = "`assert` is another notation's word for an `if` that fails, and read as that";
        Some(Mended { code: Code::SisterWord, message, draft })
    }

    /// `merge` with `set` for a list of the two, and the reverse.
    fn sister_merge(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let merge = get(list, &["merge", "$merge"])?;
        let word = self.dialect.word(Key::Merge);
        let mut draft = Vec::new();
        let message = if self.is_tool_calling() {
            let set = get(list, &["set"])?;
            draft.extend(others(list, &["merge", "$merge", "set"]));
            draft.push((word, Draft::List(vec![Draft::Kept(merge.value), Draft::Kept(set.value)])));
            "`set` beside a merge is another notation's form, and read as the second of a list"
        } else {
            let (Kind::List([base, set]), None) = (merge.value.kind, get(list, &["set"])) else {
                return None;
            };
            draft.extend(others(list, &["merge", "$merge"]));
            draft.extend([(word, Draft::Kept(*base)), (self.dialect.word(Key::Set), Draft::Kept(*set))]);
            "a merge of a list is another notation's form, and read as `merge` with `set`"
        };
        Some(Mended { code: Code::SisterWord, message, draft })
    }

    /// The default of a switch beside its arms, of which it should be the last.
    fn default_beside(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let arms = get(list, &["switch"]).filter(|_| self.dialect.is_yaml())?;
        let default = get(list, &["default", "else", "otherwise"])?;
        let Kind::List(items) = arms.value.kind else { return None };
        let last = Draft::one("default", Draft::Kept(default.value));
        let items = items.iter().map(|arm| Draft::Kept(*arm)).chain([last]).collect();
        let mut draft = others(list, &["switch", "default", "else", "otherwise"]);
        draft.push(("switch", Draft::List(items)));
        let message = "the default of a switch is its last arm: write `- default: …` at the end of the list";
        Some(Mended { code: Code::BadStep, message, draft })
    }

    /// A record under `if` or `match` that holds what belongs beside it.
    fn record_of_step(list: Entries<'a>) -> Option<Mended<'a>> {
        if let (Some(on), Some(_)) = (get(list, &["switch"]), get(list, &["cases"]))
            && !matches!(on.value.kind, Kind::List(_))
        {
            let subject = get(entries(&on.value), &SUBJECTS).map_or(on.value, |entry| entry.value);
            let mut draft: Vec<(&'a str, Draft<'a>)> =
                get(list, &["let"]).and_then(kept).into_iter().collect();
            draft.push(("match", Draft::Kept(subject)));
            draft.extend(others(list, &["let", "switch"]));
            let message = "the value of a case that is equal is a `match`; a `switch` has conditions";
            return Some(Mended { code: Code::BadStep, message, draft });
        }
        if let Some(subject) = get(list, &["match"])
            && get(list, &["cases", "as", "then", "else", "catch", "on-error", "err", "compensate"]).is_none()
        {
            let own = |entry: &&Entry<'a>| matches!(entry.name(), Some("let" | "match" | "default" | "_"));
            let loose = |entry: &Entry<'a>| {
                !own(&entry)
                    && entry.name().is_some_and(|name| !crate::dialect::is_word(name) && is_plain(name))
            };
            let cases: Vec<(&'a str, Draft<'a>)> =
                list.iter().filter(|entry| loose(entry)).filter_map(kept).collect();
            if cases.len() > 1 && list.iter().all(|entry| own(&entry) || loose(entry)) {
                let mut draft: Vec<(&'a str, Draft<'a>)> =
                    get(list, &["let"]).and_then(kept).into_iter().collect();
                draft.extend([("match", Draft::Kept(subject.value)), ("cases", Draft::Record(cases))]);
                draft.extend(get(list, &["default", "_"]).map(|entry| ("default", Draft::Kept(entry.value))));
                let message = "the cases of a `match` stand in a record of their own";
                return Some(Mended { code: Code::BadStep, message, draft });
            }
        }
        let outer = get(list, &["if", "match"])?;
        let inner = entries(&outer.value);
        let word = outer.name()?;
        let (head, beside, message): (_, &[&str], _) = if word == "if" {
            (
                get(inner, &CONDITIONS)?,
                &["then", "else", "return", "ret", "ok", "err"],
                "`if` holds the condition alone",
            )
        } else if get(list, &["cases"]).is_none() {
            (get(inner, &SUBJECTS)?, &["cases"], "`match` holds the value alone")
        } else {
            // The value of a `match` may be that of another one.
            return None;
        };
        // A value may be such a record itself, beside what belongs to the step.
        if get(inner, beside).is_none() || get(list, beside).is_some() {
            return None;
        }
        let mut draft: Vec<(&'a str, Draft<'a>)> = get(list, &["let"]).and_then(kept).into_iter().collect();
        draft.push((word, Draft::Kept(head.value)));
        draft.extend(others(inner, &[head.name()?]));
        draft.extend(others(list, &[word, "let"]));
        Some(Mended { code: Code::BadStep, message, draft })
    }

    /// A condition beside a step of another kind, which belongs under its `then`.
    fn conditioned(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let condition = get(list, &["if", "when", "condition"])?;
        let ends = ["then", "return", "ret", "ok", "err", "error", "default", "switch", "skip"];
        if get(list, &ends).is_some() {
            return None;
        }
        let word = condition.name()?;
        let inner: Vec<&Entry<'a>> = list
            .iter()
            .filter(|entry| !matches!(entry.name(), Some("else")) && entry.name() != Some(word))
            .collect();
        inner.iter().find(|entry| entry.name().is_some_and(begins_step))?;
        let own = |(key, value): (&'a str, Draft<'a>)| match (key, &value) {
            ("yield", Draft::Kept(node))
                if !self.dialect.has(Key::Yield) && get(list, &["for"]).is_none() =>
            {
                let record = matches!(node.kind, Kind::Record(_));
                (self.dialect.word(if record { Key::Obj } else { Key::Value }), value)
            }
            _ => (key, value),
        };
        let step = Draft::Record(inner.into_iter().filter_map(kept).map(own).collect());
        let then = if self.dialect.is_yaml() { step } else { Draft::List(vec![step]) };
        let mut draft = vec![("if", Draft::Kept(condition.value)), ("then", then)];
        draft.extend(get(list, &["else"]).and_then(kept));
        Some(Mended {
            code: Code::BadStep,
            message: "what a condition decides about stands under its `then`",
            draft,
        })
    }

    /// A loop whose element and list stand together, or under words of another language.
    fn looped(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let marked =
            get(list, &MARKERS).filter(|entry| entry.value.text().is_some_and(|text| LOOPS.contains(&text)));
        let outer = get(list, &LOOPS).or(marked)?;
        let inside = entries(&outer.value);
        let word = outer.name()?;
        let is_list = |text: &str| {
            text.starts_with('$')
                || self.dialect.is_bare() && get(list, &["in"]).is_none() && self.named(text).is_some()
        };
        let (variable, over, used): (Draft<'a>, Draft<'a>, Vec<&str>) = if let Some(text) = outer.value.text()
        {
            let pair = text.split_once(" in ").or_else(|| text.split_once(" of "));
            if let Some((variable, over)) = pair {
                (Draft::Word(variable.trim().trim_start_matches('$')), Draft::Word(over.trim()), vec![word])
            } else if is_list(text) {
                let variable = get(list, &VARIABLES);
                let used = [Some(word), variable.and_then(Entry::name)];
                let variable = variable.map_or(Draft::Word("item"), |entry| Draft::Kept(entry.value));
                (variable, Draft::Kept(outer.value), used.into_iter().flatten().collect())
            } else if marked.is_some() {
                let (variable, over) = (get(list, &VARIABLES)?, get(list, &LISTS)?);
                let used = vec![word, variable.name()?, over.name()?];
                (Draft::Kept(variable.value), Draft::Kept(over.value), used)
            } else {
                return None;
            }
        } else if let [only] = inside
            && get(list, &LISTS).is_none()
            && only.name().is_some_and(|name| is_name(name) && !LISTS.contains(&name))
        {
            // `{"for": {"x": "$xs"}}`
            (Draft::Word(only.name()?), Draft::Kept(only.value), vec![word])
        } else {
            let over = get(inside, &LISTS).or(get(list, &LISTS))?;
            let variable = get(inside, &VARIABLES);
            let variable = variable.map_or(Draft::Word("item"), |entry| Draft::Kept(entry.value));
            (variable, Draft::Kept(over.value), vec![word, over.name()?])
        };
        let body = get(inside, &BODIES).or(get(list, &BODIES))?;
        let mut draft = Vec::new();
        if let Some(bound) = get(list, &["let"]).filter(|_| !used.contains(&"let")) {
            draft.extend(kept(bound));
        }
        draft.extend([
            ("for", variable),
            ("in", over),
            (self.dialect.word(Key::Body), Draft::Kept(body.value)),
        ]);
        let mut without: Vec<&str> = vec!["let"];
        without.extend(used);
        without.extend(body.name());
        draft.extend(others(list, &without));
        let message = "a loop names its element under `for` and its list under `in`";
        Some(Mended { code: Code::BadStep, message, draft })
    }

    /// A call as agents send it to a tool.
    fn called(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let marked = get(list, &MARKERS)
            .is_some_and(|entry| entry.value.text().is_some_and(|text| CALLS.contains(&text)));
        let wrapper = get(list, &WRAPPERS).filter(|entry| get(entries(&entry.value), &CALLEES).is_some());
        let inner = wrapper.map_or(list, |entry| entries(&entry.value));
        let callee = get(inner, &CALLEES)?;
        let text = callee.value.text().filter(|text| !text.is_empty())?;
        let own = self.dialect.meaning(callee.name()?, &[Key::Call]).is_some();
        let arguments = get(inner, &ARGUMENTS)
            .or_else(|| get(list, &ARGUMENTS))
            .filter(|entry| !core::ptr::eq(*entry, callee));
        if text.contains([' ', '\n', '@']) {
            // A command or an action of a build, which is no tool.
            return None;
        }
        let known = wrapper.is_some() || marked || arguments.is_some();
        let steps = |entry: &Entry<'a>| {
            entry.name().is_some_and(|name| name != callee.name().unwrap_or("") && begins_step(name))
                && !wrapper.is_some_and(|wrapper| core::ptr::eq(wrapper, entry))
        };
        if !known || own && wrapper.is_none() && !marked || list.iter().any(steps) {
            return None;
        }
        let bound = get(list, &["let"]).or_else(|| {
            let named = get(list, &["id", "as", "save_as", "result", "output", "store", "assign", "name"])?;
            let name = named.value.text().filter(|_| !core::ptr::eq(named, callee))?;
            (is_name(name) && self.survey.used_after(name, named.value.span.end)).then_some(named)
        });
        // The path of a state machine at which what is answered is put: `$.user`.
        let put = get(list, &["ResultPath"]).and_then(|entry| entry.value.text()?.strip_prefix("$."));
        let put = put.filter(|name| is_name(name) && bound.is_none() && !self.dialect.is_yaml());
        let server = get(inner, &["server", "server_name"]).and_then(|entry| entry.value.text());
        let tool = match server {
            Some(server) if !text.contains("://") => {
                Draft::Word(self.arena.alloc_str(&crate::catalog::address(server, text)))
            }
            _ => Draft::Kept(callee.value),
        };
        let mut draft = Vec::new();
        draft.extend(bound.map(|entry| ("let", Draft::Kept(entry.value))));
        draft.extend(put.map(|name| ("let", Draft::Word(name))));
        draft.push((self.dialect.word(Key::Call), tool));
        draft.extend(arguments.map(|entry| (self.dialect.word(Key::Args), Draft::Kept(entry.value))));
        let said = [callee, wrapper.unwrap_or(callee), arguments.unwrap_or(callee), bound.unwrap_or(callee)];
        let mut without: Vec<&str> = said.iter().filter_map(|entry| entry.name()).collect();
        without.extend([
            "let",
            "name",
            "id",
            "call_id",
            "tool_call_id",
            "description",
            "server",
            "server_name",
            "Next",
            "End",
            "Comment",
            "ResultPath",
        ]);
        without.extend(MARKERS);
        if wrapper.is_some_and(|wrapper| wrapper.name() == Some("params")) {
            without.push("method");
        }
        draft.extend(others(list, &without));
        Some(Mended { code: Code::BadStep, message: "this is another language's form of a call", draft })
    }

    /// A call whose arguments stand beside it.
    fn loose_arguments(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        const CALL: [Key; 5] = [Key::Let, Key::Call, Key::Args, Key::Handler, Key::Compensate];
        let call = get(list, &["call"])?;
        call.value.text()?;
        let has = |key: &Key| {
            list.iter()
                .any(|entry| entry.name().is_some_and(|name| self.dialect.meaning(name, &[*key]).is_some()))
        };
        let free: Vec<Key> = CALL.iter().filter(|key| !has(key)).copied().collect();
        let loose = |entry: &&Entry<'a>| {
            entry.name().is_some_and(|name| {
                self.dialect.nearest(name, &free).is_none()
                    && instead(name, self.dialect).is_none()
                    && !crate::dialect::is_word(name)
            })
        };
        if list
            .iter()
            .any(|entry| entry.name().is_some_and(|name| self.dialect.meaning(name, &[Key::Args]).is_some()))
        {
            return None;
        }
        let arguments: Vec<(&'a str, Draft<'a>)> = list.iter().filter(loose).filter_map(kept).collect();
        if arguments.is_empty() {
            return None;
        }
        let mut draft: Vec<(&'a str, Draft<'a>)> = get(list, &["let"]).and_then(kept).into_iter().collect();
        draft.push(("call", Draft::Kept(call.value)));
        draft.push((self.dialect.word(Key::Args), Draft::Record(arguments)));
        let rest = list.iter().filter(|entry| !loose(entry) && !matches!(entry.name(), Some("let" | "call")));
        draft.extend(rest.filter_map(kept));
        Some(Mended {
            code: Code::BadStep,
            message: "the arguments of a call stand in a record of their own",
            draft,
        })
    }

    /// `{"n": {">": 3}}`, as some queries have a comparison.
    fn compared(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let [outer] = list else { return None };
        let [inner] = entries(&outer.value) else { return None };
        let word = inner.name()?.trim_start_matches('$');
        let operator = operator::find(word).or_else(|| operator::meant(word))?;
        let scalar = !matches!(inner.value.kind, Kind::List(_) | Kind::Record(_));
        if operator.least() != 2 || !scalar || operator::find(outer.name()?).is_some() {
            return None;
        }
        let subject = outer.name()?.trim_start_matches(['$', '{', '.']).trim_end_matches('}');
        let text = Text { text: self.arena.alloc_str(subject), style: Style::Double, start: None };
        let node = Node { kind: Kind::Text(text), span: outer.key.span };
        let meant = self.meant(&bare(&node, self.arena)?)?;
        let form = self.arena.alloc_str(&self.own_form(&meant, false));
        let operands = Draft::List(vec![Draft::Word(form), Draft::Kept(inner.value)]);
        let message = "a comparison has its operator as the key of both operands";
        Some(Mended { code: Code::BadShape, message, draft: vec![(operator.spelling, operands)] })
    }

    /// `try` around one call, with `catch`.
    fn tried(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let only = |entry: &Entry<'a>| match entry.value.kind {
            Kind::List([only]) => entries(only),
            _ => entries(&entry.value),
        };
        let call = only(get(list, &["try"])?);
        get(call, &["call"])?;
        let caught = get(list, &["catch", "except", "rescue", "on-error", "err"])?;
        let handler = match caught.value.kind {
            Kind::List([only]) => *only,
            Kind::List(_) => return None,
            _ => caught.value,
        };
        let mut draft: Vec<(&'a str, Draft<'a>)> = call.iter().filter_map(kept).collect();
        draft.push((self.dialect.word(Key::Handler), Draft::Kept(handler)));
        let message = "there is no `try`: each call has a handler of its own";
        Some(Mended { code: Code::BadStep, message, draft })
    }

    /// A name and what it is bound to as key and value: `{"let": {"x": 1}}`, `{"let": "x", "+": […]}`.
    fn assigned(&self, list: Entries<'a>) -> Option<Mended<'a>> {
        let message = "`let` names what stands beside it under `expr`, `call` or another step's word";
        let code = Code::BadStep;
        if let [only] = list
            && self.dialect.is_yaml()
            && BINDERS.contains(&only.name()?)
            && only.name() != Some("let")
            && !matches!(only.value.kind, Kind::Record(_))
        {
            // Under the name of a step that is all it needs; a text that computes nothing is a value.
            let text = only.value.text().is_some_and(|text| !text.contains(['$', '+', '*', '/', '(']));
            let word = if text { Key::Value } else { Key::Expr };
            let draft = vec![(self.dialect.word(word), Draft::Kept(only.value))];
            return Some(Mended { code, message: "the name of a step is that of its value", draft });
        }
        if let [only] = list
            && BINDERS.contains(&only.name()?)
            && let [bound] = entries(&only.value)
        {
            let name = Draft::Word(bound.name()?);
            let is_step = entries(&bound.value).iter().any(|entry| entry.name().is_some_and(begins_step));
            let mut draft = vec![("let", name)];
            if is_step {
                draft.extend(entries(&bound.value).iter().filter_map(kept));
            } else {
                draft.push(("expr", Draft::Kept(bound.value)));
            }
            return Some(Mended { code, message, draft });
        }
        let operation = |entry: &&Entry<'a>| entry.name().is_some_and(|name| operator::find(name).is_some());
        if let [_, _] = list
            && let (Some(name), Some(entry)) = (get(list, &["let"]), list.iter().find(operation))
        {
            let value = Draft::one(entry.name()?, Draft::Kept(entry.value));
            return Some(Mended {
                code,
                message,
                draft: vec![("let", Draft::Kept(name.value)), ("expr", value)],
            });
        }
        let kind = get(list, &MARKERS)?.value.text()?;
        let value = get(list, &["value", "result", "expr", "to"]);
        match (kind, value) {
            ("return", Some(value)) => {
                let word =
                    self.dialect.word(if self.dialect.has(Key::Return) { Key::Return } else { Key::Ok });
                let message = "a step is told by its own word, and has no type";
                Some(Mended { code, message, draft: vec![(word, Draft::Kept(value.value))] })
            }
            ("let" | "set" | "assign", Some(value)) => {
                let name = get(list, &["name", "var", "variable", "let"])?;
                let draft = vec![("let", Draft::Kept(name.value)), ("expr", Draft::Kept(value.value))];
                Some(Mended { code, message, draft })
            }
            _ => None,
        }
    }
}

/// Whether a key is no word that cases go by in some language.
fn is_plain(name: &str) -> bool {
    !["case", "arms", "when", "on", "branches", "options", "values", "with"].contains(&name)
}

impl Dialect {
    /// Whether a word is the notation's own.
    fn is_own(self, word: &str) -> bool {
        matches!(self.meaning(word, &crate::dialect::ALL), Some((key, Meant::Own)) if self.has(key))
    }
}
