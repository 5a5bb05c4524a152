//! Pure functions in expressions, and those that can fail in the place of a call.

use super::generator::Generator;
use super::kind::Kind;
use super::words;
use std::fmt::Write;

impl Generator<'_> {
    /// A pure function, or another word, that gives a text.
    pub(super) fn function_of_text(&mut self, depth: usize, tail: bool, out: &mut String) {
        let text = &Kind::Text;
        match self.choices.below(11) {
            9 => {
                out.push_str("GROUPED ");
                self.expr(&Kind::Number, depth, false, out);
                self.places(tail, out);
            }
            10 => self.time("DATE ", depth, tail, out),
            0 => self.two("JOIN", [&Kind::list(Kind::Any), text], depth, tail, out),
            1 => {
                self.two("REPLACE", [text, text], depth, false, out);
                out.push(' ');
                self.expr(text, depth, tail, out);
            }
            2 => {
                self.two("SLICE", [text, &Kind::Number], depth, false, out);
                self.slice_end(tail, out);
            }
            3 => {
                out.push_str("FIXED ");
                self.expr(&Kind::Number, depth, false, out);
                self.places(tail, out);
            }
            4 => {
                out.push_str("ISO ");
                self.expr(&Kind::Number, depth, tail, out);
            }
            place => {
                out.push_str(["TRIM ", "LOWER ", "UPPER ", "JSON "][place - 5]);
                self.expr(if place == 8 { &Kind::Any } else { text }, depth, tail, out);
            }
        }
    }

    /// The end of a SLICE.
    fn slice_end(&mut self, tail: bool, out: &mut String) {
        if self.choices.chance(128) {
            out.push_str(" LIT 2 nil");
        } else {
            out.push(' ');
            self.expr(&Kind::Number, 0, tail, out);
        }
    }

    /// A pure function, or another word, that gives a list of these items.
    pub(super) fn function_of_list(
        &mut self,
        want: &Kind,
        item: &Kind,
        depth: usize,
        tail: bool,
        out: &mut String,
    ) {
        match (self.choices.below(10), item) {
            (7, _) => {
                out.push_str("SET ");
                self.expr(want, depth, false, out);
                let _ = write!(out, " LIT 1 {} ", [0, 1, -1, 2][self.choices.below(4)]);
                self.expr(item, depth, tail, out);
            }
            (word @ (8 | 9), _) => {
                out.push_str(["SORT_DOWN ", "UNIQUE "][word - 8]);
                self.expr(want, depth, false, out);
                self.sorted_by(item, out);
            }
            (0, _) => self.two("ADD", [want, want], depth, tail, out),
            (1, _) => self.two("CONCAT", [want, want], depth, tail, out),
            (2, _) => {
                self.two("SLICE", [want, &Kind::Number], depth, false, out);
                self.slice_end(tail, out);
            }
            (3, Kind::Text) => self.two("SPLIT", [&Kind::Text, &Kind::Text], depth, tail, out),
            (4, Kind::Text) => {
                out.push_str("KEYS ");
                self.expr(&Kind::Record(Vec::new()), depth, tail, out);
            }
            (3 | 4, Kind::Number) => {
                let _ = write!(out, "RANGE LIT 1 {}", self.choices.below(5));
            }
            (5, _) => {
                out.push_str("SORT ");
                self.expr(want, depth, false, out);
                self.sorted_by(item, out);
            }
            _ => {
                out.push_str("REVERSE ");
                self.expr(want, depth, tail, out);
            }
        }
    }

    /// A field of the items, or nil.
    fn sorted_by(&mut self, item: &Kind, out: &mut String) {
        match item {
            Kind::Record(fields) if !fields.is_empty() => {
                let (field, _) = fields[self.choices.below(fields.len())];
                self.scope.fields.insert(field);
                let _ = write!(out, " {field}");
            }
            _ => out.push_str(" LIT 2 nil"),
        }
    }

    /// A time as text or as seconds.
    fn time(&mut self, word: &str, depth: usize, tail: bool, out: &mut String) {
        out.push_str(word);
        let of = if self.choices.chance(128) { Kind::Number } else { Kind::Text };
        self.read(&of, depth, tail, out);
    }

    /// A pure function whose value may be of several kinds, or of a kind that nothing else wants.
    pub(super) fn function_of_any(&mut self, depth: usize, tail: bool, out: &mut String) {
        let record = Kind::choose_record(&mut self.choices);
        let Kind::Record(fields) = &record else { return };
        let (field, kind) = fields[self.choices.below(fields.len())].clone();
        self.scope.fields.insert(field);
        let records = Kind::list(record.clone());
        match self.choices.below(10) {
            place @ (0 | 1) => {
                out.push_str(["COLUMN ", "GROUP "][place]);
                self.expr(&records, depth, false, out);
                let _ = write!(out, " {field}");
            }
            2 => {
                out.push_str("FIND ");
                self.expr(&records, depth, false, out);
                let _ = write!(out, " {field} ");
                self.expr(&kind, depth, tail, out);
            }
            3 => {
                let item = Kind::choose(&mut self.choices, 1);
                self.two("INDEX", [&Kind::list(item.clone()), &item], depth, tail, out);
            }
            4 => self.two("INDEX", [&Kind::Text, &Kind::Text], depth, tail, out),
            5 => {
                out.push_str("READ ");
                self.read(&Kind::Text, depth, tail, out);
            }
            6 => {
                out.push_str("GROUP ");
                let items = Kind::list(Kind::choose(&mut self.choices, 1));
                self.expr(&items, depth, false, out);
                out.push_str(" LIT 2 nil");
            }
            7 => {
                out.push_str("RECORD ENTRIES ");
                self.expr(&record, depth, tail, out);
            }
            place => {
                out.push_str(["VALUES ", "ENTRIES "][place - 8]);
                self.expr(&record, depth, tail, out);
            }
        }
    }

    /// PUT of one of the fields, JOINED of two records, or WITHOUT another field.
    pub(super) fn put(
        &mut self,
        want: &Kind,
        fields: &[(usize, Kind)],
        depth: usize,
        tail: bool,
        out: &mut String,
    ) {
        match self.choices.below(4) {
            0 => return self.two("JOINED", [want, &Kind::Record(Vec::new())], depth, tail, out),
            1 => {
                let other = self.any_field();
                if fields.iter().all(|(name, _)| *name != other) {
                    out.push_str("WITHOUT ");
                    self.expr(want, depth, false, out);
                    let _ = write!(out, " {other}");
                    return;
                }
            }
            _ => {}
        }
        let (field, kind) = fields[self.choices.below(fields.len())].clone();
        self.scope.fields.insert(field);
        out.push_str("PUT ");
        self.expr(want, depth, false, out);
        let _ = write!(out, " {field} ");
        self.expr(&kind, depth, tail, out);
    }

    /// An item of a list, or another value where there is none.
    pub(super) fn get(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        out.push_str("GET ");
        self.expr(&Kind::list(want.clone()), depth.min(1), false, out);
        let _ = write!(out, " LIT 1 {} ", self.choices.below(3));
        self.expr(want, depth.min(1), tail, out);
    }

    /// A pure function that gives a number.
    pub(super) fn function_of_number(&mut self, depth: usize, tail: bool, out: &mut String) {
        match self.choices.weighted(&[3, 3, 2, 2, 1, 1, 1, 1]) {
            5 => {
                let word = *self.choices.pick(&["FLOOR ", "CEIL ", "ABS "]);
                out.push_str(word);
                self.expr(&Kind::Number, depth, tail, out);
            }
            6 => self.two("FLOORDIV", [&Kind::Number, &Kind::Number], depth, tail, out),
            7 => {
                self.time("DAYS ", depth, false, out);
                self.time(" ", depth, tail, out);
            }
            0 => {
                out.push_str("SUM ");
                self.expr(&Kind::list(Kind::Number), depth, tail, out);
            }
            1 => {
                out.push_str("ROUND ");
                self.expr(&Kind::Number, depth, false, out);
                self.places(tail, out);
            }
            2 => self.extreme(&Kind::Number, depth, tail, out),
            3 => {
                out.push_str("NUMBER ");
                let of = if self.choices.chance(60) { Kind::Number } else { Kind::Text };
                self.read(&of, depth, tail, out);
            }
            _ => {
                out.push_str("TIME ");
                if self.choices.chance(128) {
                    out.push_str("ISO ");
                    self.expr(&Kind::Number, depth, tail, out);
                } else {
                    self.read(&Kind::Text, depth, tail, out);
                }
            }
        }
    }

    /// The number of decimal places.
    fn places(&mut self, tail: bool, out: &mut String) {
        out.push(' ');
        if self.choices.chance(30) {
            self.expr(&Kind::Number, 0, tail, out);
        } else {
            let places = *self.choices.pick(&[2, 0, 1, 3, -1, -2, 20, 9]);
            let _ = write!(out, "LIT 1 {places}");
        }
    }

    /// MIN or MAX of a list.
    fn extreme(&mut self, item: &Kind, depth: usize, tail: bool, out: &mut String) {
        let word = *self.choices.pick(&["MIN ", "MAX "]);
        out.push_str(word);
        self.expr(&Kind::list(item.clone()), depth, tail, out);
    }

    /// A text that a function reads, or another value of a kind.
    fn read(&mut self, of: &Kind, depth: usize, tail: bool, out: &mut String) {
        if *of == Kind::Text && self.choices.chance(170) {
            out.push_str("LIT 0 ");
            let text = words::document(&mut self.choices);
            words::quote(text, self.choices.chance(10), out);
        } else {
            self.expr(of, depth, tail, out);
        }
    }

    /// PARSE of JSON of this kind; sometimes of another text.
    pub(super) fn parse(&mut self, want: &Kind, depth: usize, tail: bool, out: &mut String) {
        out.push_str("PARSE ");
        if self.choices.chance(90) {
            return self.read(&Kind::Text, depth, tail, out);
        }
        out.push_str("JSON ");
        self.expr(want, depth, tail, out);
    }

    /// A call, or a pure function that can fail; returns the kind of its value.
    pub(super) fn any_attempt(&mut self, depth: usize, out: &mut String) -> Kind {
        if !self.choices.chance(70) {
            return self.any_call(depth, out);
        }
        match self.choices.below(5) {
            0 => {
                self.extreme(&Kind::Text, depth, true, out);
                Kind::Text
            }
            1 => {
                self.extreme(&Kind::Number, depth, true, out);
                Kind::Number
            }
            2 => {
                out.push_str("NUMBER ");
                self.read(&Kind::Text, depth, true, out);
                Kind::Number
            }
            3 => {
                out.push_str("TIME ");
                self.read(&Kind::Text, depth, true, out);
                Kind::Number
            }
            _ => {
                let kind = Kind::choose(&mut self.choices, 1);
                self.parse(&kind, depth, true, out);
                kind
            }
        }
    }
}
