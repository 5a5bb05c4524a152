//! What a JSON Schema says about a value, as far as checking uses it: kinds, constants, ranges, items,
//! fields.
//!
//! The schemas of a tool become a table of nodes that refer to each other by index. So a schema that refers
//! to itself is a cycle, and its memory is linear. A [`SchemaShape`] is a node of that table. Other keywords
//! (`pattern`, `not`, `if` and the like) are ignored: a shape allows at least what its schema allows.

use super::Format;
use crate::sorting::sort_numbers;
use crate::types::Inferred;
use core::cmp::Ordering;
use ilo_spec::limits::TYPE_LISTS;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;

/// The index of a node.
pub(super) type NodeId = u32;
/// The node for values about which nothing is known: the first one of each table.
pub(super) const ANYTHING: NodeId = 0;

/// A bound of a range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeEnd {
    /// The number.
    pub number: Number,
    /// Whether the range includes the number.
    pub included: bool,
}

/// What is known about a value.
#[derive(Clone, Debug)]
pub(super) struct Constraints {
    pub(super) kinds: Kinds,
    /// The texts that are allowed, if only some are.
    pub(super) texts: Option<Indexed<Box<str>>>,
    /// The numbers that are allowed, if only some are.
    pub(super) numbers: Option<Indexed<Number>>,
    /// The format of texts.
    pub(super) format: Option<Format>,
    /// The only bool that is allowed.
    pub(super) boolean: Option<bool>,
    pub(super) least: Option<RangeEnd>,
    pub(super) most: Option<RangeEnd>,
    /// Whether numbers must be integers.
    pub(super) whole: bool,
    /// The items of lists.
    pub(super) items: NodeId,
    /// The fields of records, if some are listed or none are allowed.
    pub(super) record: Option<RecordFields>,
    /// The arms of a union of records that a constant text tells apart.
    pub(super) arms: Option<Variants>,
}

impl Constraints {
    /// Any value.
    pub(super) const ANY: Constraints = Constraints {
        kinds: Kinds::ANY,
        texts: None,
        numbers: None,
        format: None,
        boolean: None,
        least: None,
        most: None,
        whole: false,
        items: ANYTHING,
        record: None,
        arms: None,
    };
}

/// Items in the order of a schema, with an index by which they are found.
#[derive(Clone, Debug)]
pub(super) struct Indexed<T> {
    all: Box<[T]>,
    /// The places in ascending order; none of few items.
    sorted: Option<Box<[u32]>>,
}

impl<T> Indexed<T> {
    /// Items, with an index if there are as many as `least`.
    pub(super) fn new(all: Box<[T]>, least: usize, compare: impl Fn(&T, &T) -> Ordering) -> Indexed<T> {
        let sorted = (all.len() >= least).then(|| {
            let mut places: Vec<u32> = (0..).take(all.len()).collect();
            sort_numbers(&mut places, &|a, b| match (all.get(a as usize), all.get(b as usize)) {
                (Some(a), Some(b)) => compare(a, b),
                _ => Ordering::Equal,
            });
            places.into()
        });
        Indexed { all, sorted }
    }

    fn get(&self, place: u32) -> Option<&T> {
        self.all.get(place as usize)
    }

    /// The item that is equal to another, with which `compare` compares.
    fn find(&self, compare: impl Fn(&T) -> Ordering) -> Option<&T> {
        let Some(sorted) = &self.sorted else { return self.all.iter().find(|one| compare(one).is_eq()) };
        let at = sorted.binary_search_by(|&place| self.get(place).map_or(Ordering::Less, &compare));
        self.get(*sorted.get(at.ok()?)?)
    }
}

/// The arms of a union of records.
#[derive(Clone, Debug)]
pub(super) struct Variants {
    /// The field whose text says which arm is meant.
    pub(super) name: Box<str>,
    /// The arms by that text.
    pub(super) arms: Box<[(Box<str>, NodeId)]>,
}

/// The fields of a record.
#[derive(Clone, Debug)]
pub(super) struct RecordFields {
    /// In the order of the schema, with an index by name.
    pub(super) fields: Indexed<ListedField>,
    /// The indices of the required fields.
    pub(super) required: Box<[u32]>,
    /// The values of other fields, if these are allowed.
    pub(super) rest: Option<NodeId>,
    /// Whether the schema itself forbids other fields.
    pub(super) refused: bool,
}

impl RecordFields {
    /// The field of this name that the schema lists.
    fn listed(&self, name: &str) -> Option<&ListedField> {
        self.fields.find(|field| (*field.name).cmp(name))
    }
}

/// A field that a schema lists.
#[derive(Clone, Debug)]
pub(super) struct ListedField {
    pub(super) name: Box<str>,
    pub(super) required: bool,
    /// Whether the schema says that it may be absent: it requires other fields, but not this one.
    pub(super) optional: bool,
    pub(super) node: NodeId,
}

/// The shapes of a tool's arguments and answer.
#[derive(Debug)]
pub(super) struct Shapes {
    /// The tool, or the input whose type lists fields.
    pub(super) tool: String,
    /// Whether it is the type of an input.
    pub(super) declared: bool,
    pub(super) nodes: Vec<Constraints>,
    pub(super) input: NodeId,
    pub(super) output: NodeId,
    /// The first keyword of the schemas with a value that it cannot have, in words.
    pub(super) misused: Option<String>,
}

/// A field of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Field<'c> {
    /// Its name.
    pub name: &'c str,
    /// Whether it is required.
    pub required: bool,
    /// The shape of its value.
    pub shape: SchemaShape<'c>,
}

/// What a schema says about one value.
#[derive(Clone, Copy, Debug)]
pub struct SchemaShape<'c> {
    all: &'c Shapes,
    id: NodeId,
}

/// The shapes of a tool without schemas.
static NONE: Shapes = Shapes {
    tool: String::new(),
    declared: false,
    nodes: Vec::new(),
    input: ANYTHING,
    output: ANYTHING,
    misused: None,
};

/// Why a constant does not fit a shape that allows its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misfit {
    /// It is not one of the listed constants.
    Constant,
    /// It is not an integer.
    Fraction,
    /// It is out of range.
    Range,
}

impl<'c> SchemaShape<'c> {
    /// Any value.
    pub const ANY: SchemaShape<'static> = SchemaShape { all: &NONE, id: ANYTHING };

    pub(super) fn new(all: &'c Shapes, id: NodeId) -> SchemaShape<'c> {
        SchemaShape { all, id }
    }

    /// The name of the tool.
    pub fn tool(self) -> &'c str {
        &self.all.tool
    }

    /// Whether it is from the type of an input, whose name is that of the tool.
    pub fn is_declared(self) -> bool {
        self.all.declared
    }

    /// Whether this is a whole answer and not a part of one.
    pub fn is_answer(self) -> bool {
        self.id == self.all.output
    }

    fn node(self) -> &'c Constraints {
        const ANY: &Constraints = &Constraints::ANY;
        self.all.nodes.get(self.id as usize).unwrap_or(ANY)
    }

    fn at(self, id: NodeId) -> SchemaShape<'c> {
        SchemaShape { id, ..self }
    }

    /// Whether nothing is known about the value.
    pub fn is_any(self) -> bool {
        self.id == ANYTHING
    }

    /// Whether both are the same node of the same schema.
    pub fn same(self, other: SchemaShape<'_>) -> bool {
        self.id == other.id && core::ptr::eq(self.all, other.all)
    }

    /// Numbers that differ from those of every other node of the same schemas.
    pub fn place(self) -> (usize, usize) {
        (core::ptr::from_ref(self.all).addr(), self.id as usize)
    }

    /// The kinds that the value may have.
    pub fn kinds(self) -> Kinds {
        self.node().kinds
    }

    /// The type of the value, if it has only one kind.
    pub fn ty(self) -> Inferred {
        let (mut shape, mut lists) = (self, 0);
        let innermost = loop {
            match shape.kinds() {
                Kinds::LIST if lists < TYPE_LISTS => {
                    lists += 1;
                    shape = shape.item();
                }
                kinds => break single(kinds),
            }
        };
        (0..lists).fold(innermost, |ty, _| ty.list())
    }

    /// The shape of the items of a list.
    #[must_use]
    pub fn item(self) -> SchemaShape<'c> {
        self.at(self.node().items)
    }

    /// Whether the fields of the record are known.
    pub fn has_fields(self) -> bool {
        self.node().record.is_some()
    }

    /// Whether the record may have fields that are not listed.
    pub fn is_open(self) -> bool {
        self.node().record.as_ref().is_none_or(|record| record.rest.is_some())
    }

    /// Whether the schema itself forbids other fields. A schema that only lists some means these, but allows
    /// others.
    pub fn refuses_others(self) -> bool {
        self.node().record.as_ref().is_some_and(|record| record.refused)
    }

    /// The listed fields, in the order of the schema.
    pub fn fields(self) -> impl ExactSizeIterator<Item = Field<'c>> + Clone {
        let listed = self.node().record.as_ref().map_or(&[][..], |record| &record.fields.all);
        listed.iter().map(move |field| self.listed(field))
    }

    fn listed(self, field: &'c ListedField) -> Field<'c> {
        Field { name: &field.name, required: field.required, shape: self.at(field.node) }
    }

    /// The required fields, in the order of the schema.
    pub fn required(self) -> impl Iterator<Item = Field<'c>> {
        let record = self.node().record.as_ref();
        let places = record.map_or(&[][..], |record| &record.required);
        places.iter().filter_map(move |&place| Some(self.listed(record?.fields.get(place)?)))
    }

    /// The names of the listed fields in alphabetical order.
    pub fn names(self) -> impl Iterator<Item = &'c str> + Clone {
        let record = self.node().record.as_ref();
        let sorted = record.and_then(|record| record.fields.sorted.as_deref()).unwrap_or_default();
        sorted.iter().filter_map(move |&place| Some(&*record?.fields.get(place)?.name))
    }

    /// The shape of a field by name, and whether it is required; `None` if the record cannot have it.
    pub fn field(self, name: &str) -> Option<(SchemaShape<'c>, bool)> {
        self.said(name, |field| field.required)
    }

    fn said(self, name: &str, of: impl Fn(Field<'c>) -> bool) -> Option<(SchemaShape<'c>, bool)> {
        match self.node().record.as_ref().and_then(|record| record.listed(name)) {
            Some(field) => Some((self.at(field.node), of(self.listed(field)))),
            None => self.unlisted().map(|rest| (rest, false)),
        }
    }

    /// Whether the schema says that a field may be absent. One that requires none of its fields does not say
    /// so.
    pub fn may_lack(self, name: &str) -> bool {
        self.node().record.as_ref().and_then(|it| it.listed(name)).is_some_and(|field| field.optional)
    }

    /// Whether a field that is nil is left out of what a tool gets: it is listed, not required, and takes no
    /// null.
    pub fn omits_nil(self, name: &str) -> bool {
        self.given(name).is_some_and(|(_, omits)| omits)
    }

    /// The shape of a field by name, as [`SchemaShape::field`] gives it, and whether it is left out if it is
    /// nil.
    pub fn given(self, name: &str) -> Option<(SchemaShape<'c>, bool)> {
        self.said(name, |field| !field.required && !field.shape.kinds().meets(Kinds::NIL))
    }

    /// The field whose text selects an arm of a union, and the arms by that text; `None` without arms.
    pub fn arms(self) -> Option<(&'c str, impl ExactSizeIterator<Item = (&'c str, SchemaShape<'c>)>)> {
        let Variants { name, arms } = self.node().arms.as_ref()?;
        Some((name, arms.iter().map(move |(text, arm)| (&**text, self.at(*arm)))))
    }

    /// The arm of a union that the texts of a record select, as far as they are known: `text_of` gives that
    /// of a field. A shape without arms is itself.
    #[must_use]
    pub fn arm<'t>(self, text_of: impl Fn(&str) -> Option<&'t str>) -> SchemaShape<'c> {
        let Some((name, mut arms)) = self.arms() else { return self };
        let text = text_of(name);
        arms.find(|it| Some(it.0) == text).map_or(self, |it| it.1)
    }

    /// The shape of the fields that are not listed; `None` if the record cannot have others.
    pub fn unlisted(self) -> Option<SchemaShape<'c>> {
        let Some(record) = &self.node().record else { return Some(SchemaShape::ANY) };
        record.rest.map(|rest| self.at(rest))
    }

    /// The texts that are allowed, if only some are.
    pub fn texts(self) -> Option<&'c [Box<str>]> {
        self.node().texts.as_ref().map(|texts| &*texts.all)
    }

    /// All texts that the schemas of the tool list.
    pub fn listed_texts(self) -> impl Iterator<Item = &'c str> {
        self.all.nodes.iter().flat_map(|node| &node.texts).flat_map(|texts| &texts.all).map(|text| &**text)
    }

    /// The numbers that are allowed, if only some are.
    pub fn numbers(self) -> Option<&'c [Number]> {
        self.node().numbers.as_ref().map(|numbers| &*numbers.all)
    }

    /// The only bool that is allowed, if there is only one.
    pub fn boolean(self) -> Option<bool> {
        self.node().boolean
    }

    /// Whether numbers must be integers.
    pub fn is_whole(self) -> bool {
        self.node().whole
    }

    /// The bounds of the range of numbers.
    pub fn range(self) -> (Option<RangeEnd>, Option<RangeEnd>) {
        (self.node().least, self.node().most)
    }

    /// Why a text is not allowed.
    pub fn refuses_text(self, text: &str) -> Option<Misfit> {
        let found = self.node().texts.as_ref()?.find(|one| (**one).cmp(text));
        found.is_none().then_some(Misfit::Constant)
    }

    /// The format that a text does not have. Answers are not compared with it.
    pub fn misses_format(self, text: &str) -> Option<Format> {
        self.node().format.filter(|format| !format.fits(text))
    }

    /// Why a number is not allowed.
    pub fn refuses_number(self, number: Number) -> Option<Misfit> {
        let node = self.node();
        let listed = |all: &Indexed<Number>| all.find(|&one| order(one, number)).is_some();
        if node.numbers.as_ref().is_some_and(|all| !listed(all)) {
            return Some(Misfit::Constant);
        }
        if node.whole && !is_whole(number) {
            return Some(Misfit::Fraction);
        }
        let within = |bound: Option<RangeEnd>, outside: Ordering| {
            bound.is_none_or(|bound| match order(number, bound.number) {
                Ordering::Equal => bound.included,
                found => found != outside,
            })
        };
        let fits = within(node.least, Ordering::Less) && within(node.most, Ordering::Greater);
        (!fits).then_some(Misfit::Range)
    }

    /// Why a bool is not allowed.
    pub fn refuses_bool(self, truth: bool) -> Option<Misfit> {
        self.boolean().is_some_and(|only| only != truth).then_some(Misfit::Constant)
    }
}

/// The type of one kind.
fn single(kinds: Kinds) -> Inferred {
    match kinds {
        Kinds::NIL => Inferred::NIL,
        Kinds::BOOL => Inferred::BOOL,
        Kinds::NUMBER => Inferred::NUMBER,
        Kinds::TEXT => Inferred::TEXT,
        Kinds::RECORD => Inferred::RECORD,
        _ => Inferred::ANY,
    }
}

/// Whether a number is an integer in the sense of JSON Schema: 1.0 is.
pub(super) fn is_whole(number: Number) -> bool {
    match number {
        Number::Int(_) => true,
        Number::Double(double) => double.fract() == 0.0,
    }
}

/// Compares two numbers exactly.
pub(super) fn order(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Number::Int(a), Number::Double(b)) => against_double(a, b),
        (Number::Double(a), Number::Int(b)) => against_double(b, a).reverse(),
    }
}

fn against_double(int: i64, double: f64) -> Ordering {
    // The integer part: its digits are exact, and beyond 64 bits they cannot be read.
    match format!("{:.0}", double.floor()).parse::<i64>() {
        Ok(below) => {
            int.cmp(&below).then(if double.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
        }
        Err(_) if double > 0.0 => Ordering::Less,
        Err(_) => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_exactly() {
        use Number::{Double, Int};
        for (a, b, expected) in [
            (Int(1), Double(1.0), Ordering::Equal),
            (Int(1), Double(1.5), Ordering::Less),
            (Int(2), Double(1.5), Ordering::Greater),
            (Int(-1), Double(-1.5), Ordering::Greater),
            (Int(0), Double(-0.0), Ordering::Equal),
            (Int(9_007_199_254_740_993), Double(9_007_199_254_740_992.0), Ordering::Greater),
            (Int(i64::MAX), Double(9_223_372_036_854_775_808.0), Ordering::Less),
            (Int(i64::MIN), Double(-9_223_372_036_854_775_808.0), Ordering::Equal),
            (Int(i64::MIN), Double(-1e300), Ordering::Greater),
        ] {
            assert_eq!(order(a, b), expected, "{a:?} {b:?}");
            assert_eq!(order(b, a), expected.reverse(), "{b:?} {a:?}");
        }
    }
}
