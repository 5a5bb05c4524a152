//! The rules of expressions: one for each set of kinds that an operand may have, and one for each schema of
//! an argument with further restrictions.

use super::ITEMS;
use super::rules::{Item, Rules, Sequence, Token, rule, spaced, text};
use crate::automaton::session::{Callee, Numbered, Parameter, Session};
use ilo_asm::catalog::{Field, Shape};
use ilo_asm::rules::{self as facts, Demand, Gives};
use ilo_asm::types::Inferred;
use ilo_spec::node::{Place, Row, Shape as Operand, TABLE, Word};
use ilo_spec::pure::Kinds;

/// The deepest schemas that have rules of their own.
const DEEPEST: u8 = 3;

/// The grammar of a session, while it is made.
pub(super) struct Values<'s, 'c> {
    pub(super) session: &'s Session<'c>,
    pub(super) rules: Rules,
}

/// The kinds that a demand accepts.
fn kinds_wanted(demand: Demand) -> Kinds {
    match demand {
        Demand::Any => Kinds::ANY,
        Demand::Is(ty) => ty.kinds(),
        Demand::List | Demand::Comparable | Demand::Sortable => Kinds::LIST,
        Demand::Condition => Kinds::BOOL.or(Kinds::NIL),
        Demand::Ordered => Kinds::NUMBER.or(Kinds::TEXT),
        Demand::Measurable => Kinds::TEXT.or(Kinds::LIST).or(Kinds::RECORD),
        Demand::Addable => Kinds::NUMBER.or(Kinds::LIST),
        Demand::Indexable => Kinds::LIST.or(Kinds::RECORD),
        Demand::Kinds(kinds) => kinds,
    }
}

/// The kinds that a word may have as its value.
fn kinds_given(row: &Row) -> Kinds {
    if row.pure.is_some() {
        return facts::gives(row.word, None, None).map_or(Kinds::ANY, Inferred::kinds);
    }
    let rule = facts::TABLE.iter().find(|rule| rule.word == row.word);
    match rule.map_or(Gives::Nothing, |rule| rule.gives) {
        Gives::Nothing => Kinds::NONE,
        Gives::Is(ty) => ty.kinds(),
        Gives::Sum => Kinds::NUMBER.or(Kinds::LIST),
        Gives::Join => Kinds::TEXT.or(Kinds::LIST),
        Gives::Appended | Gives::ListOf => Kinds::LIST,
        Gives::Item | Gives::OneOf | Gives::Named => Kinds::ANY,
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

fn word(word: Word) -> Item {
    text(word.mnemonic())
}

fn literal(kind: &str, constant: Item) -> Sequence {
    spaced([word(Word::Lit), text(kind), constant])
}

impl Values<'_, '_> {
    /// Any expression whose value may be of these kinds.
    pub(super) fn expression(&mut self, kinds: Kinds) -> Item {
        let name = name("e", kinds);
        if self.rules.begin(&name) {
            let mut choices = vec![vec![self.computed(kinds)]];
            if kinds.meets(Kinds::TEXT) {
                choices.push(literal("0", Item::Token(Token::Text)));
            }
            if kinds.meets(Kinds::NUMBER) {
                choices.push(literal("1", Item::Token(Token::Number)));
            }
            if kinds.meets(Kinds::NIL) {
                choices.push(literal("2", text("nil")));
            }
            if kinds.meets(Kinds::BOOL) {
                choices.push(literal("3", text("true")));
                choices.push(literal("3", text("false")));
            }
            if kinds.meets(Kinds::LIST) {
                let any = self.expression(Kinds::ANY);
                choices.push(self.list(&any));
            }
            if kinds.meets(Kinds::RECORD) {
                choices.push(self.record());
            }
            self.rules.end(&name, choices);
        }
        Item::Rule(name)
    }

    /// An expression that is not a constant and builds no list or record.
    fn computed(&mut self, kinds: Kinds) -> Item {
        let name = name("c", kinds);
        if self.rules.begin(&name) {
            let mut choices = Vec::new();
            for row in TABLE.iter().filter(|row| row.place == Place::Expression) {
                if kinds_given(row).meets(kinds) {
                    choices.extend(self.of_word(row, kinds));
                }
            }
            self.rules.end(&name, choices);
        }
        Item::Rule(name)
    }

    fn of_word(&mut self, row: &Row, kinds: Kinds) -> Option<Sequence> {
        Some(match row.word {
            Word::Lit | Word::List | Word::Obj => return None,
            Word::Call => vec![self.call(kinds)?],
            Word::Merge => vec![self.merge()],
            Word::MatchMap => {
                let (subject, cases) = (self.expression(Kinds::ANY), self.cases(kinds));
                spaced([word(row.word), subject, cases])
            }
            Word::Ref => spaced([word(row.word), Item::Token(Token::Slot)]),
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
        if self.rules.begin("path") {
            let indexed = self.expression(Kinds::LIST.or(Kinds::RECORD));
            let index = self.expression(Kinds::NUMBER.or(Kinds::TEXT));
            let choices = vec![
                vec![Item::Token(Token::Slot)],
                spaced([word(Word::Field), rule("path"), field]),
                spaced([word(Word::At), indexed, index]),
            ];
            self.rules.end("path", choices);
        }
        Some(rule("path"))
    }

    /// The number of a field.
    fn field(&mut self) -> Option<Item> {
        let named = &self.session.named;
        if !named.is_empty() && self.rules.begin("field") {
            let choices = named.iter().map(|number| vec![text(number.to_string())]).collect();
            self.rules.end("field", choices);
        }
        (!named.is_empty()).then(|| rule("field"))
    }

    /// A word, a count and this number of items.
    fn counted(&mut self, head: Word, item: &[Item]) -> Vec<Sequence> {
        let mut of = |count: usize| {
            let head = spaced([word(head), text(count.to_string())]);
            [head, self.rules.repeated(item, count)].concat()
        };
        (0..=ITEMS).map(&mut of).collect()
    }

    fn list(&mut self, item: &Item) -> Sequence {
        let choices = self.counted(Word::List, core::slice::from_ref(item));
        vec![self.rules.of("list", choices)]
    }

    /// A record of any fields.
    fn record(&mut self) -> Sequence {
        let choices = match self.pair() {
            Some(pair) => self.counted(Word::Obj, &pair),
            None => vec![spaced([word(Word::Obj), text("0")])],
        };
        vec![self.rules.of("record", choices)]
    }

    /// A field and a value of any kind.
    fn pair(&mut self) -> Option<Sequence> {
        let field = self.field()?;
        Some(spaced([field, self.expression(Kinds::ANY)]))
    }

    /// MERGE with its count.
    fn merge(&mut self) -> Item {
        self.merges("merge", |count| Some(text(count.to_string())))
    }

    /// MERGE without a count, which takes all pairs that follow.
    fn open_merge(&mut self) -> Item {
        self.merges("open", |_| None)
    }

    fn merges(&mut self, name: &str, head: impl Fn(usize) -> Option<Item>) -> Item {
        if self.rules.begin(name) {
            let base = self.expression(Kinds::RECORD);
            let most = if self.session.named.is_empty() { 0 } else { ITEMS };
            let pair = self.pair().unwrap_or_default();
            let mut of = |count: usize| {
                let head = [word(Word::Merge)].into_iter().chain(head(count)).chain([base.clone()]);
                [spaced(head), self.rules.repeated(&pair, count)].concat()
            };
            let choices = (0..=most).map(&mut of).collect();
            self.rules.end(name, choices);
        }
        rule(name)
    }

    /// An expression that ends a line, so that a MERGE needs no count.
    pub(super) fn last_expression(&mut self, kinds: Kinds) -> Item {
        let whole = self.expression(kinds);
        if !kinds.meets(Kinds::RECORD) {
            return whole;
        }
        let open = self.open_merge();
        self.rules.of("s", vec![vec![whole], vec![open]])
    }

    /// The count of cases, and each with its key; the last may be a default.
    fn cases(&mut self, kinds: Kinds) -> Item {
        let value = self.expression(kinds);
        let keys =
            [Item::Token(Token::Text), Item::Token(Token::Number), text("nil"), text("true"), text("false")];
        let key = self.rules.of("key", keys.into_iter().map(|key| vec![key]).collect());
        let case = spaced([key, value.clone()]);
        let last = vec![case.clone(), spaced([word(Word::Else), value])];
        let last = self.rules.of("case", last);
        let mut choices = Vec::new();
        for count in 1..=ITEMS {
            let before = self.rules.repeated(&case, count - 1);
            let sequence = [vec![text(count.to_string())], before, vec![text(" "), last.clone()]].concat();
            choices.push(sequence);
        }
        self.rules.of("cases", choices)
    }

    /// A call whose answer may be of these kinds; `None` if there is none.
    pub(super) fn call(&mut self, kinds: Kinds) -> Option<Item> {
        let name = name("call", kinds);
        let tools = self.session.tools.iter().enumerate();
        let fits = |tool: &Numbered<'_>| tool.output.ty.kinds().meets(kinds);
        let called: Vec<usize> = tools
            .filter(|(_, tool)| tool.callee.is_some() && tool.depth.is_some() && fits(tool))
            .map(|it| it.0)
            .collect();
        if called.is_empty() {
            return None;
        }
        if self.rules.begin(&name) {
            let choices =
                called.into_iter().map(|number| vec![word(Word::Call), text(" "), self.tool(number)]);
            let choices = choices.collect();
            self.rules.end(&name, choices);
        }
        Some(Item::Rule(name))
    }

    /// The number of a tool and its arguments.
    fn tool(&mut self, number: usize) -> Item {
        let name = format!("tool{number}");
        if self.rules.begin(&name) {
            let session = self.session;
            let callee = session.tools.get(number).and_then(|tool| tool.callee.as_ref());
            let pairs = match callee {
                Some(Callee::Function { parameters, .. }) => {
                    let (required, optional): (Vec<_>, Vec<_>) =
                        parameters.iter().partition(|parameter| parameter.required);
                    let mut pair = |parameter: &&Parameter| {
                        let value = self.expression(parameter.given.kinds());
                        spaced([self.number_of(&parameter.name), value])
                    };
                    let required: Vec<Sequence> = required.iter().map(&mut pair).collect();
                    let others: Vec<Sequence> = optional.iter().map(&mut pair).collect();
                    let most = others.len();
                    let other = (most > 0).then(|| self.rules.of("other", others));
                    counted_pairs(&mut self.rules, &required, most, other.as_ref())
                }
                Some(Callee::Tool(tool)) => self.pairs(tool.input(), 0),
                None => Vec::new(),
            };
            let choices =
                pairs.into_iter().map(|rest| [vec![text(number.to_string()), text(" ")], rest].concat());
            let choices = choices.collect();
            self.rules.end(&name, choices);
        }
        Item::Rule(name)
    }

    fn number_of(&self, field: &str) -> Item {
        text(self.session.field_numbers.get(field).map(ToString::to_string).unwrap_or_default())
    }

    /// The count of a record's fields and each of them: the required ones in their order, then others.
    fn pairs(&mut self, shape: Shape<'_>, depth: u8) -> Vec<Sequence> {
        let numbered = |field: &Field<'_>| self.session.field_numbers.contains_key(field.name);
        let (required, optional): (Vec<_>, Vec<_>) =
            shape.fields().filter(numbered).partition(|field| field.required);
        let mut pair = |field: &Field<'_>| {
            let value = self.value(field.shape, depth + 1);
            spaced([self.number_of(field.name), value])
        };
        let required: Vec<Sequence> = required.iter().map(&mut pair).collect();
        let mut others: Vec<Sequence> = optional.iter().map(&mut pair).collect();
        let most = if shape.is_open() { ITEMS } else { others.len().min(ITEMS) };
        if shape.is_open() {
            others.extend(self.pair());
        }
        let other = (!others.is_empty()).then(|| self.rules.of("other", others));
        counted_pairs(&mut self.rules, &required, most, other.as_ref())
    }

    /// An expression for a place with a schema.
    fn value(&mut self, shape: Shape<'_>, depth: u8) -> Item {
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
        let mut choices = vec![vec![self.computed(kinds)]];
        if kinds.meets(Kinds::TEXT) {
            match shape.texts() {
                Some(texts) => choices.extend(
                    texts.iter().map(|one| literal("0", text(serde_json::Value::from(&**one).to_string()))),
                ),
                None => choices.push(literal("0", Item::Token(Token::Text))),
            }
        }
        if kinds.meets(Kinds::NUMBER) {
            match shape.numbers() {
                Some(numbers) => {
                    choices.extend(numbers.iter().map(|one| literal("1", text(one.to_string()))));
                }
                None if shape.is_whole() => choices.push(literal("1", Item::Token(Token::Whole))),
                None => choices.push(literal("1", Item::Token(Token::Number))),
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
            choices.push(self.list(&item));
        }
        if kinds.meets(Kinds::RECORD) {
            if shape.has_fields() {
                let pairs = self.pairs(shape, depth);
                let head = |pairs| [vec![word(Word::Obj), text(" ")], pairs].concat();
                choices.extend(pairs.into_iter().map(head));
            } else {
                choices.push(self.record());
            }
        }
        self.rules.of("v", choices)
    }
}

/// The count of a record's pairs: the required ones, and up to this number of another kind.
fn counted_pairs(
    rules: &mut Rules,
    required: &[Sequence],
    most: usize,
    other: Option<&Item>,
) -> Vec<Sequence> {
    let mut head = Vec::new();
    for pair in required {
        head.push(text(" "));
        head.extend_from_slice(pair);
    }
    let most = if other.is_some() { most } else { 0 };
    let of = |more: usize| {
        let rest = other.map(|other| rules.repeated(core::slice::from_ref(other), more)).unwrap_or_default();
        [vec![text((required.len() + more).to_string())], head.clone(), rest].concat()
    };
    (0..=most).map(of).collect()
}
