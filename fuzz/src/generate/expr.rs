//! Expressions of a wanted kind.
//!
//! `tail` says that no integer follows. A MERGE without a count takes pairs as long as integers follow, so it
//! may end only there.

use super::generator::Generator;
use super::kind::Kind;
use super::scope::Slot;
use super::words;
use std::fmt::Write;

/// A value that can be read: its source text and its kind.
struct Source {
    text: String,
    kind: Kind,
    /// The checker cannot infer its type.
    hidden: bool,
}

impl Generator<'_> {
    /// An expression that is meant to have this kind.
    pub(super) fn expr(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        if self.choices.chance(4) && self.surprise(out) {
            return;
        }
        match self.choices.weighted(if depth == 0 { &[1] } else { &[9, 8, 4] }) {
            0 => self.leaf(want, out),
            1 => self.operator(want, depth - 1, tail, out),
            _ => self.anywhere(want, depth - 1, tail, out),
        }
    }

    /// An expression as text by itself.
    pub(super) fn text_of(&mut self, want: &Kind, depth: usize, tail: bool) -> String {
        let mut out = String::new();
        self.expr(want, depth, tail, &mut out);
        out
    }

    /// A field that may be missing, or a value of any kind whose type the checker cannot infer.
    fn surprise(&mut self, out: &mut String) -> bool {
        let sources: Vec<Source> = self.sources(&Kind::Any).into_iter().filter(|s| s.hidden).collect();
        if sources.is_empty() {
            return false;
        }
        let source = self.choices.pick(&sources);
        match source.text.strip_prefix("REF ") {
            Some(slot) if self.choices.chance(200) => {
                let field = self.any_field();
                let _ = write!(out, "FIELD {slot} {field}");
            }
            _ => out.push_str(&source.text),
        }
        true
    }

    fn leaf(&mut self, want: &Kind, out: &mut String) {
        let sources = self.sources(want);
        if sources.is_empty() || !self.choices.chance(200) {
            self.literal(want, out);
        } else {
            out.push_str(&self.choices.pick(&sources).text);
        }
    }

    /// The readable values that fit a kind.
    fn sources(&mut self, want: &Kind) -> Vec<Source> {
        let mut found = Vec::new();
        let mut fields = Vec::new();
        for (slot, state) in self.scope.slots.iter().enumerate() {
            let Slot::Plain(kind) = state else { continue };
            if kind.does_for(want) {
                let hidden = matches!(kind, Kind::Any | Kind::Record(_));
                found.push(Source { text: format!("REF {slot}"), kind: kind.clone(), hidden });
            }
            let mut open = vec![(format!("{slot}"), kind)];
            while let Some((path, kind)) = open.pop() {
                let Kind::Record(inner) = kind else { continue };
                for (name, kind) in inner {
                    let text = format!("FIELD {path} {name}");
                    if kind.does_for(want) {
                        found.push(Source { text: text.clone(), kind: kind.clone(), hidden: true });
                        fields.push(*name);
                    }
                    open.push((text, kind));
                }
            }
        }
        // Every name on the path to a field is in the registry, used or not.
        for state in &self.scope.slots {
            if let Slot::Plain(kind) = state {
                kind.fields(&mut fields);
            }
        }
        self.scope.fields.extend(fields);
        found
    }

    /// A list to loop over, and the kind of its items.
    pub(super) fn list(&mut self, depth: usize, out: &mut String) -> Kind {
        let sources = self.sources(&Kind::list(Kind::Any));
        if !sources.is_empty() && self.choices.chance(220) {
            let source = self.choices.pick(&sources);
            if let Kind::List(item) = &source.kind {
                out.push_str(&source.text);
                return (**item).clone();
            }
        }
        let item = Kind::choose(&mut self.choices, 1);
        self.expr(&Kind::list(item.clone()), depth, false, out);
        item
    }

    fn literal(&mut self, want: &Kind, out: &mut String) {
        match want {
            Kind::Any => {
                let kind = Kind::choose(&mut self.choices, 1);
                self.literal(&kind, out);
            }
            Kind::List(item) => {
                let length =
                    if self.choices.chance(2) { 60 + self.choices.below(80) } else { self.choices.below(4) };
                let _ = write!(out, "LIST {length}");
                for _ in 0..length {
                    out.push(' ');
                    self.literal(item, out);
                }
            }
            Kind::Record(fields) => self.record(fields, 0, false, out),
            _ => {
                out.push_str(match want {
                    Kind::Nil => "LIT 2 ",
                    Kind::Bool => "LIT 3 ",
                    Kind::Number => "LIT 1 ",
                    _ => "LIT 0 ",
                });
                self.bare(want, out);
            }
        }
    }

    pub(super) fn literal_number(&mut self, out: &mut String) {
        self.literal(&Kind::Number, out);
    }

    /// A constant without LIT.
    fn bare(&mut self, want: &Kind, out: &mut String) {
        match want {
            Kind::Bool => {
                let word = *self.choices.pick(&["true", "false"]);
                out.push_str(word);
            }
            Kind::Number => {
                let number = words::number(&mut self.choices);
                words::write_number(number, &mut self.choices, out);
            }
            Kind::Text => {
                let text = words::text(&mut self.choices);
                words::quote(text, self.choices.chance(20), out);
            }
            _ => out.push_str("nil"),
        }
    }

    pub(super) fn field(&mut self, name: usize) -> usize {
        self.scope.fields.insert(name);
        name
    }

    pub(super) fn any_field(&mut self) -> usize {
        let name = self.choices.below(words::FIELDS.len());
        self.field(name)
    }

    pub(super) fn two(&mut self, word: &str, kinds: [&Kind; 2], depth: usize, tail: bool, out: &mut String) {
        out.push_str(word);
        out.push(' ');
        self.expr(kinds[0], depth, false, out);
        out.push(' ');
        self.expr(kinds[1], depth, tail, out);
    }

    fn operator(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        match want {
            Kind::Nil => self.leaf(want, out),
            Kind::Any if self.choices.chance(90) => self.function_of_any(depth, tail, out),
            Kind::Any => {
                let kind = Kind::choose(&mut self.choices, 2);
                self.operator(&kind, depth, tail, out);
            }
            Kind::Bool => self.condition(depth, tail, out),
            Kind::Number => self.arithmetic(depth, tail, out),
            Kind::Text if self.choices.chance(2) => self.long_text(depth, tail, out),
            Kind::Text if self.choices.chance(110) => self.function_of_text(depth, tail, out),
            Kind::Text => self.two("CONCAT", [&Kind::Any, &Kind::Any], depth, tail, out),
            Kind::List(item) if self.choices.chance(100) => {
                self.function_of_list(want, item, depth, tail, out);
            }
            Kind::List(item) if self.choices.chance(128) => {
                self.two("APPEND", [want, item], depth, tail, out);
            }
            Kind::List(item) => {
                let length = self.choices.below(4);
                let _ = write!(out, "LIST {length}");
                for place in 0..length {
                    out.push(' ');
                    self.expr(item, depth, tail && place + 1 == length, out);
                }
            }
            Kind::Record(fields) if self.choices.chance(40) && !fields.is_empty() => {
                self.put(want, fields, depth, tail, out);
            }
            Kind::Record(fields) if self.choices.chance(128) => {
                let base = self.text_of(want, depth, false);
                let (count, pairs) = self.pairs(fields, depth);
                out.push_str("MERGE ");
                if !tail || self.choices.chance(64) {
                    let _ = write!(out, "{count} ");
                }
                let _ = write!(out, "{base}{pairs}");
            }
            Kind::Record(fields) => self.record(fields, depth, tail, out),
        }
    }

    /// More joined texts than fit into one instruction.
    fn long_text(&mut self, depth: usize, tail: bool, out: &mut String) {
        let joined = 60 + self.choices.below(100);
        out.push_str(&"CONCAT ".repeat(joined));
        for _ in 0..joined {
            self.leaf(&Kind::Any, out);
            out.push(' ');
        }
        self.expr(&Kind::Any, depth, tail, out);
    }

    /// Sometimes more fields than fit into one instruction.
    fn wide(&mut self) -> Vec<(usize, Kind)> {
        let more = if self.choices.chance(3) { 60 + self.choices.below(100) } else { 0 };
        (0..more).map(|place| (words::FIELDS.len() + place, Kind::Any)).collect()
    }

    /// The fields that MERGE sets, and their number: some of these, or a new one.
    fn pairs(&mut self, fields: &[(usize, Kind)], depth: usize) -> (usize, String) {
        let mut out = String::new();
        let count = self.choices.below(4);
        let mut used = Vec::new();
        for _ in 0..count {
            let (name, kind) = if !fields.is_empty() && self.choices.chance(128) {
                self.choices.pick(fields).clone()
            } else {
                let name = self.any_field();
                if fields.iter().any(|(known, _)| *known == name) {
                    continue;
                }
                (name, Kind::choose(&mut self.choices, 0))
            };
            if used.contains(&name) {
                continue;
            }
            used.push(name);
            let name = self.field(name);
            let _ = write!(out, " {name} ");
            self.expr(&kind, depth, false, &mut out);
        }
        let wide = self.wide();
        let count = used.len() + wide.len();
        for (name, kind) in wide {
            let name = self.field(name);
            let _ = write!(out, " {name} ");
            self.literal(&kind, &mut out);
        }
        (count, out)
    }

    fn record(&mut self, fields: &[(usize, Kind)], depth: usize, tail: bool, out: &mut String) {
        let mut fields = fields.to_vec();
        if self.choices.chance(40) {
            let extra = self.any_field();
            if fields.iter().all(|(name, _)| *name != extra) {
                fields.push((extra, Kind::choose(&mut self.choices, 0)));
            }
        }
        if self.choices.chance(40) {
            fields.reverse();
        }
        fields.extend(self.wide());
        let _ = write!(out, "OBJ {}", fields.len());
        for (place, (name, kind)) in fields.iter().enumerate() {
            let name = self.field(*name);
            let _ = write!(out, " {name} ");
            self.expr(kind, depth, tail && place + 1 == fields.len(), out);
        }
    }

    fn arithmetic(&mut self, depth: usize, tail: bool, out: &mut String) {
        let number = &Kind::Number;
        match self.choices.weighted(&[5, 4, 4, 2, 2, 3, 3]) {
            5 => {
                out.push_str("LEN ");
                let of = match self.choices.below(3) {
                    0 => Kind::list(Kind::Any),
                    1 => Kind::Text,
                    _ => Kind::Record(Vec::new()),
                };
                self.expr(&of, depth, tail, out);
            }
            6 => self.function_of_number(depth, tail, out),
            place => self.two(["ADD", "SUB", "MUL", "DIV", "MOD"][place], [number, number], depth, tail, out),
        }
    }

    fn condition(&mut self, depth: usize, tail: bool, out: &mut String) {
        match self.choices.weighted(&[6, 2, 3, 3, 4, 2, 1, 1]) {
            0 => {
                let word = *self.choices.pick(&["GTE", "GT", "LT", "LTE", "EQ", "NEQ"]);
                self.two(word, [&Kind::Number, &Kind::Number], depth, tail, out);
            }
            1 => {
                let word = *self.choices.pick(&["LT", "GTE", "GT", "LTE", "EQ"]);
                self.two(word, [&Kind::Text, &Kind::Text], depth, tail, out);
            }
            2 => {
                let word = *self.choices.pick(&["EQ", "NEQ"]);
                let kind = Kind::choose(&mut self.choices, 2);
                let other = if self.choices.chance(60) { Kind::Any } else { kind.clone() };
                self.two(word, [&kind, &other], depth, tail, out);
            }
            3 => {
                out.push_str("NOT ");
                self.truth(depth, tail, out);
            }
            4 => {
                let word = *self.choices.pick(&["AND ", "OR "]);
                out.push_str(word);
                self.truth(depth, false, out);
                out.push(' ');
                self.truth(depth, tail, out);
            }
            5 => {
                out.push_str("HAS ");
                self.expr(&Kind::Record(Vec::new()), depth, false, out);
                let field = self.any_field();
                let _ = write!(out, " {field}");
            }
            6 if self.choices.chance(128) => {
                let word = *self.choices.pick(&["STARTS", "ENDS"]);
                self.two(word, [&Kind::Text, &Kind::Text], depth, tail, out);
            }
            6 => {
                let of = if self.choices.chance(128) { Kind::Text } else { Kind::list(Kind::Text) };
                self.two("HAS", [&of, &Kind::Text], depth, tail, out);
            }
            _ => {
                self.two("HAS", [&Kind::Record(Vec::new()), &Kind::Text], depth, tail, out);
            }
        }
    }

    /// A condition: a bool, or sometimes nil.
    pub(super) fn truth(&mut self, depth: usize, tail: bool, out: &mut String) {
        let kind = if self.choices.chance(10) { Kind::Nil } else { Kind::Bool };
        self.expr(&kind, depth, tail, out);
    }

    /// An expression of any kind.
    fn anywhere(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        match self.choices.weighted(&[4, 3, 3, 1]) {
            0 => self.match_map(want, depth, tail, out),
            1 if self.choices.chance(60) => self.get(want, depth, tail, out),
            1 if self.choices.chance(40) => self.parse(want, depth, tail, out),
            1 => self.at(want, depth, tail, out),
            2 => {
                if !self.call_for(want, depth, tail, out) {
                    self.leaf(want, out);
                }
            }
            _ => {
                let name = self.any_field();
                out.push_str("FIELD ");
                self.at(&Kind::Record(vec![(name, want.clone())]), depth, false, out);
                let _ = write!(out, " {name}");
            }
        }
    }

    fn at(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        let list = Kind::list(want.clone());
        out.push_str("AT ");
        if self.choices.chance(190) && self.sources(&list).is_empty() {
            // At least one item, so that the index is not out of range at once.
            out.push_str("LIST 2 ");
            self.expr(want, depth, false, out);
            out.push(' ');
            self.expr(want, 0, false, out);
        } else {
            self.expr(&list, depth.min(1), false, out);
        }
        out.push(' ');
        match self.choices.weighted(&[8, 2, 1, 1, 2]) {
            0 => out.push_str("LIT 1 0"),
            1 => out.push_str("LIT 1 1"),
            2 => out.push_str("LIT 1 1.0"),
            3 => out.push_str("LIT 1 -1"),
            _ => self.expr(&Kind::Number, depth, tail, out),
        }
    }

    fn match_map(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        let subject = match self.choices.weighted(&[5, 4, 2, 1]) {
            0 => Kind::Text,
            1 => Kind::Number,
            2 => Kind::Bool,
            _ => Kind::Any,
        };
        let count = if self.choices.chance(4) { 20 } else { self.choices.below(5) };
        let mut keys: Vec<String> = Vec::new();
        for _ in 0..count {
            let key = self.key(&subject);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        // A case keyed "_" is the default.
        let has_default = keys.iter().any(|key| key.as_str() == "\"_\"");
        if !has_default && !self.choices.chance(30) {
            keys.insert(self.choices.below(keys.len() + 1), "ELSE".to_owned());
        }
        out.push_str("MATCH_MAP ");
        self.expr(&subject, depth, false, out);
        let _ = write!(out, " {}", keys.len());
        for (place, key) in keys.iter().enumerate() {
            let _ = write!(out, " {key} ");
            let scalar = matches!(want, Kind::Nil | Kind::Bool | Kind::Number | Kind::Text);
            if scalar && self.choices.chance(128) {
                self.bare(want, out);
            } else {
                self.expr(want, depth, tail && place + 1 == keys.len(), out);
            }
        }
    }

    /// A key; each value has one spelling.
    fn key(&mut self, subject: &Kind) -> String {
        let kind = match subject {
            Kind::Any => Kind::choose(&mut self.choices, 0),
            _ if self.choices.chance(20) => Kind::choose(&mut self.choices, 0),
            kind => kind.clone(),
        };
        match kind {
            Kind::Number => {
                (*self.choices.pick(&["1", "0", "2", "3", "10", "2.5", "-1", "9007199254740993"])).to_owned()
            }
            Kind::Text => {
                let mut key = String::new();
                words::quote(words::text(&mut self.choices), false, &mut key);
                key
            }
            Kind::Bool => (*self.choices.pick(&["true", "false"])).to_owned(),
            _ => "nil".to_owned(),
        }
    }

    /// A call whose value fits a kind, if there is something to call.
    pub(super) fn call_for(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) -> bool {
        let fitting: Vec<usize> =
            (0..self.callees()).filter(|&callee| self.callee_kind(callee).does_for(want)).collect();
        if fitting.is_empty() || self.without_calls {
            return false;
        }
        let callee = *self.choices.pick(&fitting);
        self.call(callee, depth, tail, out);
        true
    }

    /// A call of anything; returns the kind of its value.
    pub(super) fn any_call(&mut self, depth: usize, out: &mut String) -> Kind {
        let callee = self.choices.below(self.callees());
        self.call(callee, depth, true, out);
        self.callee_kind(callee)
    }

    /// The tools and the functions before this one, by number.
    fn callees(&self) -> usize {
        self.tools.len() + self.functions.len()
    }

    fn callee_kind(&self, callee: usize) -> Kind {
        match callee.checked_sub(self.tools.len()) {
            None => self.tools[callee].kind.clone(),
            Some(function) => self.functions[function].ok.clone(),
        }
    }

    fn arguments_of_tool(&mut self) -> Vec<(usize, Kind)> {
        let first = self.choices.below(words::FIELDS.len());
        let count = self.choices.below(3).min(words::FIELDS.len() - first);
        (first..first + count).map(|name| (name, Kind::Any)).collect()
    }

    /// A call of any tool.
    pub(super) fn call_of_tool(&mut self, depth: usize, out: &mut String) {
        let tool = self.choices.below(self.tools.len());
        self.call(tool, depth, true, out);
    }

    /// A call of a tool whose arguments hold no calls.
    pub(super) fn registered_call(&mut self, out: &mut String) {
        let tool = self.choices.below(self.tools.len());
        self.without_calls = true;
        self.call(tool, 2, true, out);
        self.without_calls = false;
    }

    fn call(&mut self, callee: usize, depth: usize, tail: bool, out: &mut String) {
        self.scope.tools.insert(callee);
        let arguments: Vec<(usize, Kind)> = match callee.checked_sub(self.tools.len()) {
            None => self.arguments_of_tool(),
            Some(function) => {
                let mut optional = self.functions[function].optional.clone().into_iter();
                let mut parameters = self.functions[function].parameters.clone();
                let choices = &mut self.choices;
                parameters.retain(|_| !(optional.next() == Some(true) && choices.chance(128)));
                if self.choices.chance(60) {
                    parameters.reverse();
                }
                parameters
            }
        };
        let _ = write!(out, "CALL {callee} {}", arguments.len());
        for (place, (name, kind)) in arguments.iter().enumerate() {
            let name = self.field(*name);
            let _ = write!(out, " {name} ");
            self.expr(kind, depth.min(2), tail && place + 1 == arguments.len(), out);
        }
    }
}
