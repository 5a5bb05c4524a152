//! Upper bounds of counts: sums of products of list lengths.
//!
//! A bound only ever grows coarser: where branches meet, the larger coefficient of each product counts, and a
//! sum with too many products is given up.

use super::sorted::Map;
use std::fmt;
use std::rc::Rc;

/// Products in one bound. A longer one is not readable, and nested calls could double their number without
/// end.
const PRODUCTS: usize = 16;
/// Bytes of a list's name. A longer name tells people nothing more.
const NAME: usize = 120;

/// The name of a value in a program, built around the parameter of the function from which it comes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    before: String,
    parameter: Option<usize>,
    after: String,
}

impl Name {
    /// The value of a parameter.
    pub(super) fn parameter(index: usize) -> Name {
        Name { before: String::new(), parameter: Some(index), after: String::new() }
    }

    /// A value that does not come from a parameter.
    pub(super) fn plain(text: String) -> Name {
        Name { before: text, parameter: None, after: String::new() }
    }

    /// The name of one of its fields; `None` if it would be too long.
    pub(super) fn field(&self, field: &str) -> Option<Name> {
        let mut name = self.clone();
        if self.parameter.is_some() && self.before.is_empty() {
            name.after = format!("{}.{field}", self.after);
        } else {
            name.before = format!("{field} of {}", self.before);
        }
        name.checked()
    }

    /// A name derived from it, such as `each item of …`.
    pub(super) fn prefixed(&self, prefix: &str) -> Option<Name> {
        let mut name = self.clone();
        name.before.insert_str(0, prefix);
        name.checked()
    }

    /// The name with the caller's argument in place of the parameter.
    fn with_argument(&self, argument: &Name) -> Option<Name> {
        let inner = self.after.split('.').skip(1).try_fold(argument.clone(), |name, field| name.field(field));
        inner?.prefixed(&self.before)
    }

    fn checked(self) -> Option<Name> {
        (self.before.len() + self.after.len() <= NAME).then_some(self)
    }

    fn shown(&self, parameters: &[&str]) -> String {
        let parameter = self.parameter.and_then(|index| parameters.get(index).copied()).unwrap_or_default();
        format!("{}{parameter}{}", self.before, self.after)
    }
}

/// What is known about a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// A list of at most this number of items.
    Items(u64),
    /// A known integer.
    Count(u64),
    /// A value with this name.
    Named(Rc<Name>),
}

/// An upper bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    /// Products of list lengths, each with its coefficient.
    products: Map<Vec<Name>, u64>,
    /// Whether the sum was given up.
    beyond: bool,
}

impl Bound {
    /// Once.
    pub(super) fn once() -> Bound {
        Bound { products: Map::of(Vec::new(), 1), beyond: false }
    }

    fn merge(&mut self, other: &Bound, join: fn(u64, u64) -> u64) {
        self.beyond |= other.beyond;
        self.products.join(&other.products, |mine, count| *mine = join(*mine, *count));
        self.give_up_past_limit();
    }

    fn give_up_past_limit(&mut self) {
        if self.products.len() > PRODUCTS {
            self.beyond = true;
        }
        if self.beyond {
            self.products.clear();
        }
    }

    /// Both happen.
    pub(super) fn add(&mut self, other: &Bound) {
        self.merge(other, u64::saturating_add);
    }

    /// One or the other happens.
    pub(super) fn either(&mut self, other: &Bound) {
        self.merge(other, u64::max);
    }

    /// Subtracts what is counted elsewhere.
    pub(super) fn without(&mut self, other: &Bound) {
        for (product, mine) in self.products.iter_mut() {
            let count = other.products.get(product).copied().unwrap_or(0);
            *mine = mine.saturating_sub(count);
        }
        self.products.retain(|count| *count > 0);
    }

    /// Once for each item of a list.
    pub(super) fn for_each(&self, list: &Known, unnamed: &Name) -> Bound {
        let mut bound = Bound { beyond: self.beyond, ..Bound::default() };
        for (product, count) in self.products.iter() {
            let (factor, name) = match list {
                Known::Items(items) => (*items, None),
                Known::Named(name) => (1, Some(Name::clone(name))),
                Known::Count(_) | Known::Nothing => (1, Some(unnamed.clone())),
            };
            let mut product = product.clone();
            if let Some(name) = name {
                product.insert(product.partition_point(|other| *other <= name), name);
            }
            let count = count.saturating_mul(factor);
            if count > 0 {
                *bound.products.entry(product) = count;
            }
        }
        bound.give_up_past_limit();
        bound
    }

    /// The bound for a caller, with its arguments in place of the parameters.
    pub(super) fn called_with(&self, arguments: &[Known], unnamed: &Name) -> Bound {
        let mut bound = Bound { beyond: self.beyond, ..Bound::default() };
        for (product, count) in self.products.iter() {
            let mut one = Bound { products: Map::of(Vec::new(), *count), beyond: false };
            for name in product {
                let argument = name.parameter.and_then(|index| arguments.get(index));
                let is_bare = name.before.is_empty() && name.after.is_empty();
                let list = match argument {
                    None => Known::Named(Rc::new(name.clone())),
                    Some(Known::Items(items)) if is_bare => Known::Items(*items),
                    Some(Known::Named(argument)) => name
                        .with_argument(argument)
                        .map_or(Known::Nothing, |name| Known::Named(Rc::new(name))),
                    Some(Known::Items(_) | Known::Count(_) | Known::Nothing) => Known::Nothing,
                };
                one = one.for_each(&list, unnamed);
            }
            bound.add(&one);
        }
        bound
    }

    /// The bound for people, with the names of the parameters.
    pub(super) fn shown(&self, parameters: &[&str]) -> String {
        if self.beyond {
            return "more often than can be said briefly".to_owned();
        }
        let products: Vec<String> = self
            .products
            .iter()
            .map(|(names, count)| Product { names, count: *count, parameters }.to_string())
            .collect();
        match self.products.iter().next() {
            None => "0".to_owned(),
            Some((names, 1)) if names.is_empty() && products.len() == 1 => "1".to_owned(),
            Some(_) => format!("≤ {}", products.join(" + ")),
        }
    }
}

struct Product<'p> {
    names: &'p [Name],
    count: u64,
    parameters: &'p [&'p str],
}

impl fmt::Display for Product<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 || self.names.is_empty() {
            write!(f, "{}", self.count)?;
        }
        for (at, name) in self.names.iter().enumerate() {
            if at > 0 || self.count != 1 {
                f.write_str(" × ")?;
            }
            write!(f, "len({})", name.shown(self.parameters))?;
        }
        Ok(())
    }
}
