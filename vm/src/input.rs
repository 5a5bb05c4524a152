//! The inputs of a function as hosts see them: name, type, and what may be left out.

use crate::program::Program;
use core::fmt;
use ilo_spec::operand::FunctionId;
use ilo_spec::program::Need;
use ilo_spec::types::Type;

/// One input of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input<'p> {
    /// Its name.
    pub name: &'p str,
    /// The type of its values, besides nil.
    pub ty: Type,
    /// Whether it takes nil.
    pub takes_nil: bool,
    /// Whether it may be left out.
    pub optional: bool,
    /// Its value where it is left out or nil: a constant, as JSON.
    pub default: Option<&'p str>,
}

impl<'p> Input<'p> {
    /// An input that takes only values of its type.
    pub const fn required(name: &'p str, ty: Type) -> Input<'p> {
        Input { name, ty, takes_nil: false, optional: false, default: None }
    }

    /// What it takes, such as `text`, `text|nil`, `text?` or `number = 10`.
    pub fn written(&self) -> impl fmt::Display {
        Written(*self)
    }
}

struct Written<'p>(Input<'p>);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.ty.fmt(f)?;
        match self.0 {
            Input { default: Some(default), .. } => write!(f, " = {default}"),
            Input { optional: true, .. } => f.write_str("?"),
            Input { takes_nil: true, .. } => f.write_str("|nil"),
            _ => Ok(()),
        }
    }
}

impl Program {
    /// The inputs of a function, in order.
    pub fn inputs(&self, function: FunctionId) -> impl Iterator<Item = Input<'_>> {
        let parameters = self.0.function(function).map_or(&[][..], |function| &function.parameters);
        parameters.iter().map(|parameter| Input {
            name: self.0.string(parameter.name.0.into()),
            ty: parameter.ty,
            takes_nil: parameter.need.takes_nil(),
            optional: parameter.need.may_be_absent(),
            default: match parameter.need {
                Need::Default(constant) => Some(self.0.string(constant.0)),
                _ => None,
            },
        })
    }
}
