//! The syntax tree of an expression, before names, functions and types are known.

use super::reference::{Reference, Root, Step};
use super::template::Template;
use crate::ast::{Binary, Literal, Name};
use crate::span::Span;

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// The kind.
    pub kind: TreeKind<'a>,
    /// From its first byte to its last, without parentheses around it.
    pub span: Span,
    /// The levels of nesting of the tree.
    pub(crate) levels: usize,
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// One with an instruction of its own.
    Plain(Binary),
    /// `+=`, `-=`, `*=` and `/=`, which bind what is before them again.
    Changing(Binary),
    /// `//`.
    FloorDiv,
    /// `in`.
    In,
    /// `not in`.
    NotIn,
}

/// An operand of a function.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The name before it: `reverse=true`.
    pub name: Option<Name<'a>>,
    /// The value.
    pub value: Tree<'a>,
}

/// A value for each item of a list: `[E for x in xs if c]`, `xs.map(x => E)`.
#[derive(Clone, Copy, Debug)]
pub struct Each<'a> {
    /// The name of the item.
    pub item: Name<'a>,
    /// The list.
    pub list: Tree<'a>,
    /// The condition of items that are kept.
    pub condition: Option<Tree<'a>>,
    /// The value.
    pub value: Tree<'a>,
}

/// An expression's kind.
#[derive(Clone, Copy, Debug)]
pub enum TreeKind<'a> {
    /// A path: a name or an input, with fields and items whose names are written out.
    Path(Reference<'a>),
    /// A constant.
    Literal(Literal<'a>),
    /// A text with expressions in it.
    Text(Template<'a>),
    /// `not a`.
    Not(&'a Tree<'a>),
    /// `-a`.
    Minus(&'a Tree<'a>),
    /// An operator between two values, and its span.
    Binary(Sign, &'a [Tree<'a>; 2], Span),
    /// `a < b <= c`: two comparisons of the value in the middle.
    Between([Binary; 2], &'a [Tree<'a>; 3]),
    /// `a if c else b`: the condition, and the values for true and false.
    Choice(&'a [Tree<'a>; 3]),
    /// `a ?? b`.
    Default(&'a [Tree<'a>; 2]),
    /// A field of a value that is no path; with `?.` one that may be absent.
    Field(&'a Tree<'a>, Name<'a>, bool),
    /// `a[E]`.
    Item(&'a [Tree<'a>; 2]),
    /// `a[E:E]`.
    Slice(&'a Tree<'a>, [Option<&'a Tree<'a>>; 2]),
    /// A call of a function, `f(E, …)`.
    Call(Name<'a>, &'a [Operand<'a>]),
    /// A call of a method: the value, its name, and the other operands.
    Method(&'a Tree<'a>, Name<'a>, &'a [Operand<'a>]),
    /// `x => E`, an operand of a method.
    Lambda(Name<'a>, &'a Tree<'a>),
    /// A list.
    List(&'a [Tree<'a>]),
    /// A record.
    Record(&'a [(Name<'a>, Tree<'a>)]),
    /// A value for each item of a list.
    Each(&'a Each<'a>),
}

impl<'a> Tree<'a> {
    /// The path, if it is one.
    pub fn path(&self) -> Option<Reference<'a>> {
        if let TreeKind::Path(reference) = self.kind { Some(reference) } else { None }
    }

    /// Whether it is a path, with names and items in brackets that may be computed.
    pub(super) fn is_path(&self) -> bool {
        match self.kind {
            TreeKind::Path(_) => true,
            TreeKind::Field(of, _, optional) => !optional && of.is_path(),
            TreeKind::Item([of, _]) => of.is_path(),
            _ => false,
        }
    }

    /// Whether it is a path, or methods of one with operands that are paths and constants.
    pub(super) fn is_plain(&self) -> bool {
        let is_leaf = |tree: &Tree<'a>| matches!(tree.kind, TreeKind::Path(_) | TreeKind::Literal(_));
        match self.kind {
            TreeKind::Field(of, ..) => of.is_plain(),
            TreeKind::Item([of, index]) => of.is_plain() && is_leaf(index),
            TreeKind::Method(of, _, operands) => {
                of.is_plain() && operands.iter().all(|it| is_leaf(&it.value))
            }
            _ => is_leaf(self),
        }
    }

    /// The loop in which a lambda gets each item of a list.
    pub(crate) fn lambda(&self, list: Tree<'a>) -> Option<Each<'a>> {
        let TreeKind::Lambda(item, value) = self.kind else { return None };
        Some(Each { item, list, condition: None, value: *value })
    }

    /// The fields of its item that a lambda gives, with `-` before those that are negated: `x => x.f`,
    /// `lambda x: (-x.f, x.g)`. The items of `entries` are pairs too: `x[1]` is `x.value`.
    pub(crate) fn item_fields(&self, list: Option<&Tree<'a>>) -> Option<Vec<(Name<'a>, bool)>> {
        let TreeKind::Lambda(item, value) = self.kind else { return None };
        let pairs = list.is_some_and(|list| match list.kind {
            TreeKind::Call(name, _) => name.text == "entries",
            TreeKind::Method(_, name, _) => matches!(name.text, "entries" | "items"),
            _ => false,
        });
        let field = |tree: &Tree<'a>| {
            let (tree, down) = if let TreeKind::Minus(of) = tree.kind { (of, true) } else { (tree, false) };
            let Reference { root: Root::Name(root), path: [step], .. } = tree.path()? else { return None };
            let name = match *step {
                Step::Field(name) => name,
                Step::Index(at, span) if pairs => {
                    Name { text: ["key", "value"].get(usize::try_from(at).ok()?)?, span }
                }
                Step::Index(..) => return None,
            };
            (root.text == item.text).then_some((name, down))
        };
        match value.kind {
            TreeKind::List(all) => all.iter().map(field).collect(),
            _ => Some(vec![field(value)?]),
        }
    }

    /// Whether it compares two items by fields, as an order of JavaScript does: `a.f - b.f`,
    /// `a.f.localeCompare(b.f)`, or several with `||` between them. The fields are those of the first item,
    /// negated where the second comes first.
    pub(super) fn compares(&self, items: [&str; 2], fields: &mut Vec<Self>) -> bool {
        let pair = match self.kind {
            TreeKind::Binary(Sign::Plain(Binary::Or), [first, rest], _) => {
                return first.compares(items, fields) && rest.compares(items, fields);
            }
            TreeKind::Binary(Sign::Plain(Binary::Sub), [one, other], _) => [one, other],
            TreeKind::Method(one, Name { text: "localeCompare", .. }, [other]) => [one, &other.value],
            _ => return false,
        };
        let [Some(one), Some(other)] = pair.map(Tree::path) else { return false };
        let ([one_step], [other_step]) = (one.path, other.path) else { return false };
        let same = match (one_step, other_step) {
            (Step::Field(one), Step::Field(other)) => one.text == other.text,
            (Step::Index(one, _), Step::Index(other, _)) => one == other,
            _ => false,
        };
        let (Root::Name(left), Root::Name(right)) = (one.root, other.root) else { return false };
        let up = [left.text, right.text] == items;
        if !same || !up && [right.text, left.text] != items {
            return false;
        }
        fields.push(if up { *pair[0] } else { Tree { kind: TreeKind::Minus(pair[1]), ..*self } });
        true
    }

    /// Visits the operands that are written; the tree is at most as deep as the allowed nesting.
    pub(crate) fn children(&self, each: &mut dyn FnMut(&Tree<'a>)) {
        match self.kind {
            TreeKind::Path(_) | TreeKind::Literal(_) => {}
            TreeKind::Text(template) => template.values().for_each(|value| each(&value)),
            TreeKind::Not(of) | TreeKind::Minus(of) | TreeKind::Field(of, ..) | TreeKind::Lambda(_, of) => {
                each(of);
            }
            TreeKind::Binary(_, pair, _) | TreeKind::Default(pair) | TreeKind::Item(pair) => {
                pair.iter().for_each(each);
            }
            TreeKind::Between(_, all) | TreeKind::Choice(all) => all.iter().for_each(each),
            TreeKind::Slice(of, ends) => {
                each(of);
                ends.into_iter().flatten().for_each(each);
            }
            TreeKind::Call(_, operands) => operands.iter().for_each(|operand| each(&operand.value)),
            TreeKind::Method(of, _, operands) => {
                each(of);
                operands.iter().for_each(|operand| each(&operand.value));
            }
            TreeKind::List(items) => items.iter().for_each(each),
            TreeKind::Record(fields) => fields.iter().for_each(|(_, value)| each(value)),
            TreeKind::Each(found) => {
                each(&found.list);
                found.condition.iter().for_each(&mut *each);
                each(&found.value);
            }
        }
    }

    /// Whether it computes something: it is neither a path nor a constant.
    pub(crate) fn computes(&self) -> bool {
        !matches!(self.kind, TreeKind::Path(_) | TreeKind::Literal(_) | TreeKind::Text(_))
    }
}
