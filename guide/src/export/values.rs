//! The rules of expressions: one for each set of kinds that an operand may have, and one for each schema of
//! an argument with further restrictions.

use super::ITEMS;
use super::rules::{Item, Rules, Sequence, rule, spaced, text, word};
use crate::automaton::session::{Numbered, Session};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::rules::{self as facts, Demand, ResultOf};
use ilo_asm::types::Inferred;
use ilo_spec::json::quoted;
use ilo_spec::node::{Place, Row, Shape as Operand, TABLE, Word};
use ilo_spec::pure::Kinds;

/// The deepest schemas that have rules of their own.
const DEEPEST: u8 = 3;

/// The grammar of a session, while it is made.
pub(super) struct Expressions<'s, 'c> {
    pub(super) session: &'s Session<'c>,
    pub(super) rules: Rules,
}

/// The kinds that a demand accepts.
fn kinds_wanted(demand: Demand) -> Kinds {
    let plain = [Inferred::NIL, Inferred::BOOL, Inferred::NUMBER, Inferred::TEXT, Inferred::RECORD];
    let all = plain.into_iter().chain([Inferred::ANY.list()]).filter(|&ty| demand.accepts(ty));
    all.fold(Kinds::NONE, |kinds, ty| kinds.or(ty.kinds()))
}

/// The kinds that a word may have as its value.
fn kinds_given(row: &Row) -> Kinds {
    if row.pure.is_some() {
        return facts::gives(row.word, None, None).map_or(Kinds::ANY, Inferred::kinds);
    }
    match facts::rule(row.word).1 {
        ResultOf::Nothing => Kinds::NONE,
        ResultOf::Is(ty) => ty.kinds(),
        ResultOf::Sum => Kinds::NUMBER.or(Kinds::TEXT).or(Kinds::LIST),
        ResultOf::Join => Kinds::TEXT.or(Kinds::LIST),
        ResultOf::Appended | ResultOf::ListOf => Kinds::LIST,
        ResultOf::Item | ResultOf::OneOf | ResultOf::Named => Kinds::ANY,
    }
}

/// The name of a rule for values of some kinds.
fn name(prefix: &str, kinds: Kinds) -> String {
    if kinds == Kinds::ANY {
        return format!("{prefix}any");
    }
    let names = Kinds::EACH.iter().filter(|(kind, _)| kinds.meets(*kind));
    prefix.to_owned() + &names.map(|(_, name)| *name).collect::<String>()
}

fn literal(kind: &str, constant: Item) -> Sequence {
    spaced([word(Word::Lit), text(kind), constant])
}

impl Expressions<'_, '_> {
    /// The rule with a name, which is made when it is first needed.
    pub(super) fn define(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Vec<Sequence>) -> Item {
        if let Some(place) = self.rules.begin(name) {
            let choices = make(self);
            if let Some(rule) = self.rules.all.get_mut(place) {
                rule.1 = choices;
            }
        }
        rule(name)
    }

    /// Any expression whose value may be of these kinds.
    pub(super) fn expression(&mut self, kinds: Kinds) -> Item {
        self.define(&name("e", kinds), |values| values.choices(kinds, SchemaShape::ANY, 0))
    }

    /// An expression that is not a constant and builds no list or record.
    fn computed(&mut self, kinds: Kinds) -> Item {
        self.define(&name("c", kinds), |values| {
            let rows = TABLE.iter().filter(|row| row.place == Place::Expression);
            let fit = rows.filter(|row| kinds_given(row).meets(kinds));
            fit.filter_map(|row| values.of_word(row, kinds)).collect()
        })
    }

    fn of_word(&mut self, row: &Row, kinds: Kinds) -> Option<Sequence> {
        Some(match row.word {
            Word::Lit | Word::List | Word::Obj => return None,
            Word::Call => vec![self.call(kinds)?],
            Word::Merge => vec![self.merge(true)],
            Word::MatchMap => {
                let (subject, cases) = (self.expression(Kinds::ANY), self.cases(kinds));
                spaced([word(row.word), subject, cases])
            }
            Word::Ref => spaced([word(row.word), rule("slot")]),
            _ => {
                let mut items = vec![word(row.word)];
                let mut index = 0;
                for operand in row.operands {
                    items.push(self.operand(row, *operand, index, kinds)?);
                    index += usize::from(matches!(operand, Operand::Expr | Operand::FieldOrName));
                }
                spaced(items)
            }
        })
    }

    fn operand(&mut self, row: &Row, operand: Operand, index: usize, kinds: Kinds) -> Option<Item> {
        Some(match operand {
            Operand::Path => self.path()?,
            Operand::Field => self.field()?,
            Operand::FieldOrName => {
                let name = self.expression(kinds_wanted(facts::operand(row.word, index, None)));
                match self.field() {
                    Some(field) => self.rules.of("k", vec![vec![field], vec![name]]),
                    None => name,
                }
            }
            _ => {
                let wanted = kinds_wanted(facts::operand(row.word, index, None));
                // The kinds of a sum or a join decide those of its parts.
                let same = matches!(row.word, Word::Add).then(|| wanted.and(kinds));
                let lists = (row.word == Word::Concat && !kinds.meets(Kinds::TEXT)).then_some(Kinds::LIST);
                self.expression(same.filter(|kinds| !kinds.is_empty()).or(lists).unwrap_or(wanted))
            }
        })
    }

    /// The operand from which FIELD reads.
    fn path(&mut self) -> Option<Item> {
        let field = self.field()?;
        Some(self.define("path", |values| {
            let indexed = values.expression(Kinds::LIST.or(Kinds::RECORD));
            let index = values.expression(Kinds::NUMBER.or(Kinds::TEXT));
            vec![
                vec![rule("slot")],
                spaced([word(Word::Field), rule("path"), field]),
                spaced([word(Word::At), indexed, index]),
            ]
        }))
    }

    /// The number of a field.
    fn field(&mut self) -> Option<Item> {
        let named = &self.session.named;
        let numbers = || named.iter().map(|number| vec![text(number.to_string())]).collect();
        (!named.is_empty()).then(|| self.define("field", |_| numbers()))
    }

    /// A count from `least` on, with what is around it, and at most `more` items.
    fn counted(
        &mut self,
        (least, more): (usize, usize),
        item: Option<Sequence>,
        head: impl Fn(Item) -> Sequence,
    ) -> Vec<Sequence> {
        let more = if item.is_some() { more } else { 0 };
        let (item, of) = (item.unwrap_or_default(), |more: usize| head(text((least + more).to_string())));
        (0..=more).map(|more| [of(more), self.rules.repeated(&item, more)].concat()).collect()
    }

    /// A field and a value of any kind.
    fn pair(&mut self) -> Option<Sequence> {
        let field = self.field()?;
        Some(spaced([field, self.expression(Kinds::ANY)]))
    }

    /// MERGE with its count, or without one, which takes all pairs that follow.
    fn merge(&mut self, is_counted: bool) -> Item {
        self.define(if is_counted { "merge" } else { "open" }, |values| {
            let (base, pair) = (values.expression(Kinds::RECORD), values.pair());
            values.counted((0, ITEMS), pair, |count| {
                let count = Some(count).filter(|_| is_counted);
                spaced([word(Word::Merge)].into_iter().chain(count).chain([base.clone()]))
            })
        })
    }

    /// An expression that ends a line, so that a MERGE needs no count.
    pub(super) fn last_expression(&mut self, kinds: Kinds) -> Item {
        let whole = self.expression(kinds);
        if !kinds.meets(Kinds::RECORD) {
            return whole;
        }
        let open = self.merge(false);
        self.rules.of("s", vec![vec![whole], vec![open]])
    }

    /// The count of cases, and each with its key; the last may be a default.
    fn cases(&mut self, kinds: Kinds) -> Item {
        let value = self.expression(kinds);
        let keys = [rule("string"), rule("number"), text("nil"), text("true"), text("false")];
        let key = self.rules.of("key", keys.into_iter().map(|key| vec![key]).collect());
        let case = spaced([key, value.clone()]);
        let last = vec![case.clone(), spaced([word(Word::Else), value])];
        let last = self.rules.of("case", last);
        let mut choices = self.counted((1, ITEMS - 1), Some(case), |count| vec![count]);
        choices.iter_mut().for_each(|choice| choice.extend([text(" "), last.clone()]));
        self.rules.of("cases", choices)
    }

    /// A call whose answer may be of these kinds; `None` if there is none.
    pub(super) fn call(&mut self, kinds: Kinds) -> Option<Item> {
        let tools = self.session.tools.iter().enumerate();
        let fits = |tool: &Numbered<'_>| tool.output.ty.kinds().meets(kinds);
        let called = tools.filter(|(_, tool)| tool.callee.is_some() && tool.depth.is_some() && fits(tool));
        let called: Vec<usize> = called.map(|it| it.0).collect();
        (!called.is_empty()).then(|| {
            self.define(&name("call", kinds), |values| {
                let called = called.into_iter();
                called.map(|number| vec![word(Word::Call), text(" "), values.tool(number)]).collect()
            })
        })
    }

    /// The number of a tool and its arguments.
    fn tool(&mut self, number: usize) -> Item {
        self.define(&format!("tool{number}"), |values| {
            let callee = values.session.tools.get(number).and_then(|tool| tool.callee.as_ref());
            let pairs = callee.map(|callee| values.pairs(callee.input(), 0)).unwrap_or_default();
            let head = vec![text(number.to_string()), text(" ")];
            pairs.into_iter().map(|rest| [head.clone(), rest].concat()).collect()
        })
    }

    /// The count of a record's fields and each of them: the required ones in their order, then others.
    fn pairs(&mut self, shape: SchemaShape<'_>, depth: u8) -> Vec<Sequence> {
        let is_open = shape.is_open();
        let (mut head, mut others) = (Vec::new(), Vec::new());
        let mut least = 0;
        for field in shape.fields() {
            let Some(number) = self.session.field_numbers.get(field.name) else { continue };
            let (is_required, value) = (field.required, self.value(field.shape, depth + 1));
            let pair = spaced([text(number.to_string()), value]);
            if is_required {
                least += 1;
                head.push(text(" "));
                head.extend(pair);
            } else {
                others.push(pair);
            }
        }
        let most = if is_open { ITEMS } else { others.len().min(ITEMS) };
        others.extend(self.pair().filter(|_| is_open));
        let other = (!others.is_empty()).then(|| vec![self.rules.of("other", others)]);
        self.counted((least, most), other, |count| [&[count], head.as_slice()].concat())
    }

    /// An expression for a place with a schema.
    fn value(&mut self, shape: SchemaShape<'_>, depth: u8) -> Item {
        let kinds = shape.kinds();
        if shape.is_any() || depth > DEEPEST {
            return self.expression(kinds);
        }
        let constants = shape.texts().is_some()
            || shape.numbers().is_some()
            || shape.boolean().is_some()
            || shape.is_whole()
            || (kinds.meets(Kinds::RECORD) && shape.has_fields())
            || (kinds.meets(Kinds::LIST) && !shape.item().is_any());
        if !constants {
            return self.expression(kinds);
        }
        let choices = self.choices(kinds, shape, depth);
        self.rules.of("v", choices)
    }

    /// The expressions for a place that takes these kinds, with the constants, lists and records of a schema.
    fn choices(&mut self, kinds: Kinds, shape: SchemaShape<'_>, depth: u8) -> Vec<Sequence> {
        let mut choices = vec![vec![self.computed(kinds)]];
        if kinds.meets(Kinds::TEXT) {
            match shape.texts() {
                Some(texts) => choices.extend(texts.iter().map(|one| literal("0", text(quoted(one))))),
                None => choices.push(literal("0", rule("string"))),
            }
        }
        if kinds.meets(Kinds::NUMBER) {
            match shape.numbers() {
                Some(numbers) => {
                    choices.extend(numbers.iter().map(|one| literal("1", text(one.to_string()))));
                }
                None if shape.is_whole() => choices.push(literal("1", rule("whole"))),
                None => choices.push(literal("1", rule("number"))),
            }
        }
        if kinds.meets(Kinds::NIL) {
            choices.push(literal("2", text("nil")));
        }
        if kinds.meets(Kinds::BOOL) {
            let some = |truth: &bool| shape.boolean().is_none_or(|only| only == *truth);
            let some = [true, false].into_iter().filter(some);
            choices.extend(some.map(|truth| literal("3", text(truth.to_string()))));
        }
        if kinds.meets(Kinds::LIST) {
            let item = self.value(shape.item(), depth + 1);
            let items = self.counted((0, ITEMS), Some(vec![item]), |count| spaced([word(Word::List), count]));
            choices.push(vec![self.rules.of("list", items)]);
        }
        if kinds.meets(Kinds::RECORD) {
            if shape.has_fields() {
                let pairs = self.pairs(shape, depth);
                let head = |pairs| [vec![word(Word::Obj), text(" ")], pairs].concat();
                choices.extend(pairs.into_iter().map(head));
            } else {
                let pair = self.pair();
                let pairs = self.counted((0, ITEMS), pair, |count| spaced([word(Word::Obj), count]));
                choices.push(vec![self.rules.of("record", pairs)]);
            }
        }
        choices
    }
}
