//! Reads names of tools and functions, in calls and in the list of what may be called.

use super::reader::StepReader;
use crate::ast::Name;
use crate::catalog::{meant_address, own_function, own_function_address};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Node, inner, shown};
use crate::text::is_name;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// The tool or function that is called.
    pub(crate) fn callee(&mut self, node: &Node<'a>) -> Name<'a> {
        let node =
            self.shaped(Key::Call, node, node.text().is_some_and(|text| meant_address(text).is_some()));
        let Some(text) = node.text() else {
            self.bad_shape(node, "what is called", "the name of a tool or function, a text");
            return Name { text: "", span: node.span };
        };
        let called = in_parentheses(text);
        if text.is_empty() || text.contains("${") || called.is_some() {
            let message = "what is called is a name that is there before the program runs";
            let wrong = Diagnostic::new(Code::BadShape, node.span, message)
                .expected("the name of a tool or function", format!("`{}`", shown(node)));
            self.report(wrong.help(match called {
                Some(name) => format!("write `{name}` alone, and its arguments beside it, by their names"),
                None => "choose between tools with `if`, each with a `call` of its own".to_owned(),
            }));
        }
        let name = Name { text: called.unwrap_or(text), span: inner(node) };
        let Some((own, function)) = self.unnamed_function(name) else { return name };
        self.report(
            Diagnostic::new(
                Code::UnnamedSelf,
                name.span,
                format!(
                    "no function is named `{own}`; the only other function, which has no name, is called"
                ),
            )
            .expected(format!("a function with `\"name\": \"{own}\"` in its `meta`"), "one without a name")
            .help(format!("write `\"name\": \"{own}\"` into the `meta` of the function that is meant")),
        );
        function
    }

    /// The only other unnamed function, for an unknown `mcp://self/name`, and its name.
    pub(crate) fn unnamed_function(&self, name: Name<'a>) -> Option<(&'a str, Name<'a>)> {
        let own = own_function(name.text)?;
        let list = self.functions.list;
        if list.iter().any(|&(function, given)| given && function == own) {
            return None;
        }
        let mut others =
            list.iter().enumerate().filter(|&(at, &(_, given))| !given && at != self.functions.own);
        let (Some((_, &(only, _))), None) = (others.next(), others.next()) else { return None };
        Some((own, Name { text: self.arena.alloc_str(&own_function_address(only)), span: name.span }))
    }
}

/// The name before arguments in parentheses.
pub(crate) fn in_parentheses(text: &str) -> Option<&str> {
    text.split_once('(').filter(|(name, rest)| is_name(name) && rest.ends_with(')')).map(|(name, _)| name)
}
