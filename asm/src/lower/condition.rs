//! Lowers conditions: to a jump where a branch depends on them, or to a bool where they are a value.

use super::emit::{Label, Reg};
use super::expr::{Destination, Lowered, Values};
use crate::ast::{Binary, Expr, ExprKind, Literal, Unary};
use ilo_spec::isa::Op;
use ilo_spec::operand::To;

impl<'a> Values<'_, '_> {
    /// AND and OR as a bool. Their operands may read `dst`, so the first one is evaluated into another
    /// register unless `dst` is free.
    pub(super) fn logic(&mut self, [a, b]: [&Expr<'a>; 2], and: bool, dst: Reg, at: u32) -> Lowered<()> {
        let held = if self.is_slot(dst) { self.code.take(1) } else { dst };
        let mut end = Label::default();
        self.truth(a, held, at)?;
        let (src, to) = (held.read(), To(0));
        let op = if and { Op::JumpUnless { src, to } } else { Op::JumpIf { src, to } };
        self.code.jump(op, at, &mut end);
        self.truth(b, held, at)?;
        self.code.bind(end);
        self.give_over(held, dst);
        Ok(())
    }

    /// Evaluates a condition to a bool, for the operator at a position.
    fn truth(&mut self, expr: &Expr<'a>, dst: Reg, at: u32) -> Lowered<()> {
        if expr.is_comparison() {
            self.expr(expr, Destination::Into(dst))?;
        } else {
            let mark = self.code.mark();
            let src = self.expr(expr, Destination::Any)?.read();
            self.code.give_back(mark);
            self.code.emit_at(Op::Truth { dst: dst.write(), src }, at);
        }
        Ok(())
    }

    /// Jumps to `label` if the condition is not `wanted`; otherwise it falls through. A value that is not a
    /// condition is a fault at `by`.
    pub(super) fn branch(
        &mut self,
        expr: &Expr<'a>,
        wanted: bool,
        label: &mut Label,
        by: u32,
    ) -> Lowered<()> {
        let mark = self.code.mark();
        let at = expr.span.start;
        let to = To(0);
        if let Some((record, name)) = expr.as_field().filter(|(of, _)| !self.may_be_absent(of)) {
            let src = self.expr(record, Destination::Any)?.read();
            let field = self.tables().field(name)?;
            let op = if wanted { Op::UnlessField { src, field, to } } else { Op::IfField { src, field, to } };
            self.code.jump(op, at, label);
            self.code.give_back(mark);
            return Ok(());
        }
        match expr.kind {
            ExprKind::Unary(Unary::Not, operand) => self.branch(operand, !wanted, label, at)?,
            ExprKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                if (operator == Binary::And) == wanted {
                    self.branch(a, wanted, label, at)?;
                    self.branch(b, wanted, label, at)?;
                } else {
                    // The first operand alone can decide the wanted outcome.
                    let mut here = Label::default();
                    self.branch(a, !wanted, &mut here, at)?;
                    self.branch(b, wanted, label, at)?;
                    self.code.bind(here);
                }
            }
            ExprKind::Binary(
                operator @ (Binary::Eq | Binary::Neq | Binary::Lt | Binary::Lte | Binary::Gt | Binary::Gte),
                a,
                b,
            ) => {
                let operator = if wanted { operator } else { opposite(operator) };
                self.compare(operator, a, b, at, label)?;
            }
            _ => {
                let src = self.expr(expr, Destination::Any)?.read();
                let op = if wanted { Op::JumpUnless { src, to } } else { Op::JumpIf { src, to } };
                self.code.jump(op, by, label);
            }
        }
        self.code.give_back(mark);
        Ok(())
    }

    fn compare(
        &mut self,
        operator: Binary,
        a: &Expr<'a>,
        b: &Expr<'a>,
        at: u32,
        label: &mut Label,
    ) -> Lowered<()> {
        let a = self.expr(a, Destination::Any)?.read();
        let to = To(0);
        let op = if let ExprKind::Literal(Literal::Number(number)) = b.kind {
            let number = self.tables().number(number)?;
            match operator {
                Binary::Eq => Op::UnlessEqC { a, number, to },
                Binary::Neq => Op::UnlessNeC { a, number, to },
                Binary::Lt => Op::UnlessLtC { a, number, to },
                Binary::Lte => Op::UnlessLeC { a, number, to },
                Binary::Gt => Op::UnlessGtC { a, number, to },
                _ => Op::UnlessGeC { a, number, to },
            }
        } else {
            let b = self.expr(b, Destination::Any)?.read();
            match operator {
                Binary::Eq => Op::UnlessEq { a, b, to },
                Binary::Neq => Op::UnlessNe { a, b, to },
                Binary::Lt => Op::UnlessLt { a, b, to },
                Binary::Lte => Op::UnlessLe { a, b, to },
                Binary::Gt => Op::UnlessGt { a, b, to },
                _ => Op::UnlessGe { a, b, to },
            }
        };
        let Values { code, tables, .. } = self;
        code.jump_fused(op, at, label, &tables.numbers);
        Ok(())
    }
}

/// The negated comparison. Numbers are never NaN, so it always exists.
fn opposite(operator: Binary) -> Binary {
    match operator {
        Binary::Eq => Binary::Neq,
        Binary::Neq => Binary::Eq,
        Binary::Lt => Binary::Gte,
        Binary::Lte => Binary::Gt,
        Binary::Gt => Binary::Lte,
        _ => Binary::Lt,
    }
}
