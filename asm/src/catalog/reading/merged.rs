//! What several schemas say together about one value: the intersection of what each says, for `allOf` and
//! keywords beside a `$ref`, and the union, for `anyOf` and `oneOf`.

use super::{DEEPEST, LARGEST, WIDEST};
use crate::catalog::Format;
use crate::catalog::shape::{RangeEnd, order};
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};
use hashbrown::{HashMap, HashSet};
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;
use serde_json::Value;
use std::rc::Rc;

/// The schemas that apply to one value. Two are equal if they are the same parts of the same schema.
#[derive(Clone)]
pub(super) enum Source<'s> {
    One(&'s Value),
    Several(Rc<Several<'s>>),
}

/// How the schemas of one value are combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// A value fits one of them.
    Any,
    /// A value fits all of them.
    All,
}

/// Schemas that apply to one value.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Several<'s> {
    pub(super) mode: Mode,
    /// The nesting depth of these schemas.
    pub(super) deep: usize,
    pub(super) parts: Vec<Source<'s>>,
}

impl Hash for Source<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Source::One(schema) => core::ptr::hash(*schema, state),
            Source::Several(several) => several.hash(state),
        }
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Source::One(a), Source::One(b)) => core::ptr::eq(*a, *b),
            (Source::Several(a), Source::Several(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Source<'_> {}

impl<'s> Source<'s> {
    /// Both combined; `None` if there are too many.
    pub(super) fn with(self, other: Source<'s>, mode: Mode) -> Option<Source<'s>> {
        let mut parts = Vec::new();
        let mut deep = 0;
        for source in [self, other] {
            let merged = match &source {
                Source::Several(several) if several.mode == mode => {
                    deep = deep.max(several.deep);
                    several.parts.as_slice()
                }
                Source::Several(several) => {
                    deep = deep.max(several.deep + 1);
                    core::slice::from_ref(&source)
                }
                Source::One(_) => core::slice::from_ref(&source),
            };
            for part in merged {
                if !parts.contains(part) {
                    parts.push(part.clone());
                }
            }
        }
        match parts.len() {
            1 => parts.pop(),
            2..=WIDEST if deep < DEEPEST => Some(Source::Several(Rc::new(Several { mode, deep, parts }))),
            _ => None,
        }
    }
}

/// What the schema of a record says about fields that it does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing, and it lists no fields.
    Unsaid,
    /// Nothing, but it lists some fields, so only these are meant.
    Unlisted,
    /// Other fields are not allowed.
    Refused,
    /// Other fields are allowed.
    Allowed,
}

/// A field of a [`MergedSchema`].
#[derive(Clone)]
pub(super) struct MergedField<'s> {
    pub(super) name: &'s str,
    pub(super) required: bool,
    /// Whether the schema requires other fields, but not this one.
    pub(super) optional: bool,
    pub(super) source: Option<Source<'s>>,
}

/// Everything that a schema says about one value.
pub(super) struct MergedSchema<'s> {
    pub(super) kinds: Kinds,
    /// Whether the kind is a record only because fields are listed.
    pub(super) guessed: bool,
    pub(super) texts: Option<Vec<&'s str>>,
    pub(super) numbers: Option<Vec<Number>>,
    pub(super) format: Option<Format>,
    pub(super) boolean: Option<bool>,
    pub(super) least: Option<RangeEnd>,
    pub(super) most: Option<RangeEnd>,
    pub(super) whole: bool,
    pub(super) items: Option<Source<'s>>,
    pub(super) fields: Vec<MergedField<'s>>,
    pub(super) others: Others,
    pub(super) rest: Option<Source<'s>>,
    pub(super) arms: Option<ArmSources<'s>>,
}

/// The field by which the arms of a union differ, and each arm by its text.
pub(super) type ArmSources<'s> = (&'s str, Vec<(&'s str, Source<'s>)>);

impl<'s> MergedSchema<'s> {
    pub(super) fn any(others: Others) -> MergedSchema<'s> {
        MergedSchema {
            kinds: Kinds::ANY,
            guessed: false,
            texts: None,
            numbers: None,
            format: None,
            boolean: None,
            least: None,
            most: None,
            whole: false,
            items: None,
            fields: Vec::new(),
            others,
            rest: None,
            arms: None,
        }
    }

    pub(super) fn size(&self) -> usize {
        1 + self.fields.len()
            + self.texts.as_ref().map_or(0, Vec::len)
            + self.numbers.as_ref().map_or(0, Vec::len)
    }

    /// The intersection: values that fit both.
    pub(super) fn and(mut self, mut other: MergedSchema<'s>) -> MergedSchema<'s> {
        match (self.guessed, other.guessed) {
            (true, false) if other.kinds.meets(Kinds::RECORD) => {
                (self.kinds, self.guessed) = (other.kinds, other.kinds == Kinds::ANY);
                if self.guessed {
                    self.kinds = Kinds::RECORD;
                }
            }
            (false, true) if self.kinds.meets(Kinds::RECORD) => {
                if self.kinds == Kinds::ANY {
                    (self.kinds, self.guessed) = (Kinds::RECORD, true);
                }
            }
            _ => self.kinds = self.kinds.and(other.kinds),
        }
        self.texts = both(self.texts, other.texts, |kept, other| {
            let other: HashSet<&str> = other.into_iter().collect();
            kept.retain(|text| other.contains(text));
        });
        self.numbers = both(self.numbers, other.numbers, |kept, other| {
            kept.retain(|&number| other.iter().any(|&one| order(one, number).is_eq()));
        });
        self.format = self.format.or(other.format);
        self.boolean = self.boolean.or(other.boolean);
        self.least = tighter(self.least, other.least, Ordering::Greater);
        self.most = tighter(self.most, other.most, Ordering::Less);
        self.whole |= other.whole;
        self.items = all_of(self.items, other.items);
        // What both say about fields is in neither's arms.
        self.arms = match (self.arms.take(), other.arms.take()) {
            (Some(arms), None) if other.fields.is_empty() => Some(arms),
            (None, Some(arms)) if self.fields.is_empty() => Some(arms),
            _ => None,
        };
        self.others = match (self.others, other.others) {
            (Others::Unsaid, others) | (others, Others::Unsaid) => others,
            (Others::Refused, _) | (_, Others::Refused) => Others::Refused,
            (Others::Allowed, _) | (_, Others::Allowed) => Others::Allowed,
            (Others::Unlisted, Others::Unlisted) => Others::Unlisted,
        };
        self.rest = all_of(self.rest, other.rest);
        let mut theirs = places(&other.fields);
        for field in &mut self.fields {
            let Some(place) = theirs.remove(field.name) else { continue };
            let Some(their) = other.fields.get_mut(place) else { continue };
            field.required |= their.required;
            field.optional = !field.required && (field.optional || their.optional);
            field.source = all_of(field.source.take(), their.source.take());
        }
        self.fields.extend(other.fields.into_iter().filter(|field| theirs.contains_key(field.name)));
        self
    }

    /// The union: values that fit one of them.
    pub(super) fn or(mut self, mut other: MergedSchema<'s>) -> MergedSchema<'s> {
        if self.kinds.is_empty() {
            return other;
        }
        if other.kinds.is_empty() {
            return self;
        }
        let have = |kind: Kinds| (self.kinds.meets(kind), other.kinds.meets(kind));
        self.texts = either(have(Kinds::TEXT), self.texts, other.texts, listed);
        self.format = either(have(Kinds::TEXT), self.format, other.format, |a, b| a.filter(|_| a == b));
        let numbers = have(Kinds::NUMBER);
        self.numbers = either(numbers, self.numbers, other.numbers, listed);
        let (a, b) = ((self.least, self.most, self.whole), (other.least, other.most, other.whole));
        (self.least, self.most, self.whole) = either(numbers, a, b, |a, b| {
            let widest = |a: Option<RangeEnd>, b: Option<RangeEnd>, side| {
                let (a, b) = (a?, b?);
                Some(if tighter(Some(a), Some(b), side) == Some(a) { b } else { a })
            };
            (widest(a.0, b.0, Ordering::Greater), widest(a.1, b.1, Ordering::Less), a.2 && b.2)
        });
        self.boolean = either(have(Kinds::BOOL), self.boolean, other.boolean, |a, b| a.filter(|_| a == b));
        self.items = either(have(Kinds::LIST), self.items, other.items, any_of);
        match have(Kinds::RECORD) {
            (true, false) => {}
            (false, _) => {
                (self.fields, self.others, self.rest) = (other.fields, other.others, other.rest);
                self.arms = other.arms;
            }
            (true, true) => {
                self.arms = None;
                let (a, b) = (self.others, other.others);
                (self.fields, self.others) = joined((self.fields, a), (other.fields, b));
                self.rest = any_of(self.rest, other.rest.take());
            }
        }
        self.guessed |= other.guessed;
        self.kinds = self.kinds.or(other.kinds);
        self
    }

    /// Whether some value may fit.
    pub(super) fn is_possible(&self) -> bool {
        let none = |listed: Option<usize>| listed == Some(0);
        let mut kinds = self.kinds;
        if none(self.texts.as_ref().map(Vec::len)) {
            kinds = kinds.without(Kinds::TEXT);
        }
        if none(self.numbers.as_ref().map(Vec::len)) {
            kinds = kinds.without(Kinds::NUMBER);
        }
        let crossed = self.least.zip(self.most).is_some_and(|(least, most)| {
            let found = order(least.number, most.number);
            found.is_gt() || (found.is_eq() && !(least.included && most.included))
        });
        if crossed {
            kinds = kinds.without(Kinds::NUMBER);
        }
        !kinds.is_empty()
    }
}

/// The fields of records that fit one of two schemas.
fn joined<'s>(
    (mut ours, a): (Vec<MergedField<'s>>, Others),
    (mut theirs, b): (Vec<MergedField<'s>>, Others),
) -> (Vec<MergedField<'s>>, Others) {
    let open = |others| matches!(others, Others::Unsaid | Others::Allowed);
    let mut also = places(&theirs);
    for field in &mut ours {
        match also.remove(field.name).and_then(|place| theirs.get_mut(place)) {
            Some(their) => {
                field.required &= their.required;
                // If one schema requires it, another field tells which of them is meant.
                field.optional &= their.optional;
                field.source = any_of(field.source.take(), their.source.take());
            }
            None => {
                (field.required, field.optional) = (false, false);
                // The other schema may allow it too, with any value.
                field.source = field.source.take().filter(|_| !open(b));
            }
        }
    }
    ours.extend(theirs.into_iter().filter(|field| also.contains_key(field.name)).map(|field| MergedField {
        required: false,
        optional: false,
        source: field.source.filter(|_| !open(a)),
        ..field
    }));
    let others = match (a, b) {
        _ if a == b => a,
        _ if open(a) || open(b) => Others::Allowed,
        _ => Others::Unlisted,
    };
    (ours, others)
}

fn places<'s>(fields: &[MergedField<'s>]) -> HashMap<&'s str, usize> {
    fields.iter().enumerate().map(|(place, field)| (field.name, place)).collect()
}

/// The intersection of both lists if both are given, otherwise the given one.
fn both<T>(a: Option<Vec<T>>, b: Option<Vec<T>>, keep: impl FnOnce(&mut Vec<T>, Vec<T>)) -> Option<Vec<T>> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            keep(&mut a, b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// What fits one of two schemas, of which each may not have the kind at all.
fn either<T>(have: (bool, bool), a: T, b: T, both: impl FnOnce(T, T) -> T) -> T {
    match have {
        (true, false) => a,
        (false, _) => b,
        (true, true) => both(a, b),
    }
}

/// The constants of either list.
fn listed<T>(a: Option<Vec<T>>, b: Option<Vec<T>>) -> Option<Vec<T>> {
    let (mut a, b) = (a?, b?);
    a.extend(b);
    Some(a).filter(|all| all.len() <= LARGEST)
}

/// The tighter of two bounds. `side` is the order of the tighter one relative to the other.
pub(super) fn tighter(a: Option<RangeEnd>, b: Option<RangeEnd>, side: Ordering) -> Option<RangeEnd> {
    let (Some(one), Some(other)) = (a, b) else { return a.or(b) };
    Some(match order(one.number, other.number) {
        Ordering::Equal => RangeEnd { included: one.included && other.included, ..one },
        found if found == side => one,
        _ => other,
    })
}

/// The intersection of both sources if both are given, otherwise the given one.
pub(super) fn all_of<'s>(a: Option<Source<'s>>, b: Option<Source<'s>>) -> Option<Source<'s>> {
    match (a, b) {
        (Some(a), Some(b)) => a.clone().with(b, Mode::All).or(Some(a)),
        (a, b) => a.or(b),
    }
}

/// The union of two sources. An absent one allows anything.
pub(super) fn any_of<'s>(a: Option<Source<'s>>, b: Option<Source<'s>>) -> Option<Source<'s>> {
    a?.with(b?, Mode::Any)
}
