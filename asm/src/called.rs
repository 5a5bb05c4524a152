//! The tools that a source names, before it is checked: what a host has to have ready to check it.

use crate::ast::{Block, Bound, Control, Expr, ExprKind, File, StmtKind};
use crate::build::{Options, read, text};
use crate::diagnostic::Diagnostics;
use bumpalo::Bump;
use std::collections::BTreeSet;

/// The names of the tools that a source calls, as far as it can be read; functions of its own are none.
pub fn called(source: &[u8], options: &Options<'_>) -> BTreeSet<String> {
    let Ok(source) = text(source) else { return BTreeSet::new() };
    let arena = Bump::new();
    let file = read(source, &arena, options, &mut Diagnostics::default());
    let mut names = Names { file: &file, found: BTreeSet::new() };
    file.functions.iter().for_each(|function| names.block(&function.body));
    names.found.into_iter().map(str::to_owned).collect()
}

struct Names<'f, 'a> {
    file: &'f File<'a>,
    found: BTreeSet<&'a str>,
}

impl<'a> Names<'_, 'a> {
    /// Whether a name stands for a function of the file, or for one that should be there.
    fn is_own(&self, name: &str) -> bool {
        name.starts_with("mcp://self/")
            || self.file.functions.iter().any(|function| function.name.text == name)
    }

    fn block(&mut self, block: &Block<'a>) {
        for statement in block.statements {
            match &statement.kind {
                StmtKind::Let { value: Bound::Expr(value), .. }
                | StmtKind::Value(value)
                | StmtKind::Return(_, value)
                | StmtKind::Fail(value) => self.expr(value),
                StmtKind::Undo(call) => self.expr(&Expr { kind: ExprKind::Call(call), span: call.span }),
                StmtKind::Let { value: Bound::Control(control), .. } | StmtKind::Control(control) => {
                    self.control(control);
                }
            }
        }
    }

    fn control(&mut self, control: &Control<'a>) {
        match control {
            Control::If(node) => {
                self.expr(&node.condition);
                self.block(&node.then);
                node.otherwise.iter().for_each(|block| self.block(block));
            }
            Control::Match(node) => {
                node.err.iter().chain(&node.ok).for_each(|arm| self.block(&arm.body));
            }
            Control::For(node) => {
                self.expr(&node.list);
                self.block(&node.body);
            }
        }
    }

    fn expr(&mut self, expr: &Expr<'a>) {
        if let ExprKind::Call(call) = expr.kind
            && !self.is_own(call.tool.text)
        {
            self.found.insert(call.tool.text);
        }
        expr.children(|child| self.expr(child));
    }
}

#[cfg(test)]
mod tests {
    use super::called;
    use crate::build::Options;

    #[test]
    fn own_functions_are_no_tools_and_errors_hide_nothing() {
        let source = "; fn a() -> result nil, text\n; Tools: 0=b 1=fetch 2=undo-it\nLET 0 CALL 1 0\n\
            IF EQ REF 0 LIT 1 1 1\n  UNDO CALL 2 0\nCALL 0 0\nRET_OK REF 7\n\n\
            ; fn b() -> nil\n; Tools: 0=store\nRET CALL 0 0\n";
        let names = called(source.as_bytes(), &Options::default());
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["fetch", "store", "undo-it"]);
    }
}
