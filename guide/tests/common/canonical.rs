//! Functions in that canonical layout of `constrained` that a guide follows.

use ilo_asm::ast::{
    Binary, Block, Bound, Call, Control, Expr, ExprKind, Field, For, Function, If, Literal, Match,
    ReturnKind, Slot, Stmt, StmtKind, Try,
};
use ilo_asm::dialect::operator::{self, Makes};
use ilo_asm::text::is_name;
use serde_json::Value;

/// The reason why a function has no such layout.
type Written = Result<String, &'static str>;

struct Writer {
    /// The names of slots, where they may be read or bound.
    names: Vec<Option<String>>,
    count: usize,
    /// Whether paths have more than one field, and texts are as short as they can be.
    deep: bool,
}

/// The body of a function after `"body":[`, or the reason why it has none.
pub fn body(function: &Function<'_>, deep: bool) -> Written {
    let names = function.parameters.iter().map(|it| Some(it.name.text.to_owned())).collect();
    let mut writer = Writer { names, count: 0, deep };
    Ok(writer.steps(&function.body)? + "]}")
}

/// A text in which no reference begins.
fn escaped(text: &str) -> String {
    text.replace('$', "$$")
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl Writer {
    fn name(&self, slot: Slot) -> Result<&str, &'static str> {
        let name = self.names.get(slot.0 as usize).and_then(Option::as_deref);
        name.filter(|name| is_name(name)).ok_or("a slot that has no name here")
    }

    fn set(&mut self, slot: Slot, name: Option<String>) {
        let at = slot.0 as usize;
        if self.names.len() <= at {
            self.names.resize(at + 1, None);
        }
        self.names[at] = name;
    }

    fn fresh(&mut self, slot: Slot) -> String {
        self.count += 1;
        let name = format!("v{}-x", self.count);
        self.set(slot, Some(name.clone()));
        name
    }

    fn bind(&mut self, slot: Slot) -> String {
        match self.name(slot) {
            Ok(name) => name.to_owned(),
            Err(_) => self.fresh(slot),
        }
    }

    fn steps(&mut self, block: &Block<'_>) -> Written {
        let mut all = Vec::new();
        let mut rest = block.statements;
        while let Some((first, behind)) = rest.split_first() {
            rest = behind;
            let handled = match (&first.kind, behind.first().map(|next| &next.kind)) {
                (
                    StmtKind::Let { slot, value: Bound::Expr(Expr { kind: ExprKind::Call(_), .. }), .. },
                    Some(StmtKind::Control(Control::Match(node))),
                ) => (node.slot == *slot && node.ok.is_none() && is_handler(node)).then_some(*node),
                _ => None,
            };
            if handled.is_some() {
                rest = &behind[1..];
            }
            all.push(self.step(first, handled)?);
        }
        Ok(all.join(","))
    }

    fn step(&mut self, statement: &Stmt<'_>, handled: Option<&Match<'_>>) -> Written {
        Ok(match &statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                // The value is read before the name is bound.
                let written = self.members(value)?;
                let handler = match handled {
                    Some(node) => self.handler(node, *slot)?,
                    None => String::new(),
                };
                format!("{{\"let\":{},{written}{handler}}}", quoted(&self.bind(*slot)))
            }
            StmtKind::Let { slot, value: Bound::Control(Control::If(node)), .. } => {
                let name = self.bind(*slot);
                format!("{{\"let\":{},{}", quoted(&name), self.branch(node)?)
            }
            StmtKind::Let { slot, value: Bound::Control(Control::For(node)), .. } => {
                let name = self.bind(*slot);
                format!("{{\"let\":{},{}", quoted(&name), self.passes(node)?)
            }
            StmtKind::Let { slot, value: Bound::Control(Control::Try(node)), .. } => {
                let name = self.bind(*slot);
                format!("{{\"let\":{},{}", quoted(&name), self.tried(node)?)
            }
            StmtKind::Let { .. } => return Err("the result of MATCH that LET binds"),
            StmtKind::Value(value) => match value.kind {
                ExprKind::Call(call) => format!("{{{}}}", self.call(call)?),
                _ => format!("{{\"expr\":{}}}", self.computed(value)?),
            },
            StmtKind::Return(kind, value) => format!("{{{}}}", self.ret(*kind, value)?),
            StmtKind::Fail(value) => format!("{{\"raise\":{}}}", self.value(value)?),
            StmtKind::Undo(call) => format!("{{\"compensate\":[{{{}}}]}}", self.call(call)?),
            StmtKind::Rollback(call) => format!("{{\"rollback\":{{{}}}}}", self.call(call)?),
            StmtKind::Skip => "{\"skip\":true}".to_owned(),
            StmtKind::Yield(value) => format!("{{\"yield\":{}}}", self.value(value)?),
            StmtKind::Break => "{\"break\":true}".to_owned(),
            StmtKind::Control(Control::Try(node)) => format!("{{{}", self.tried(node)?),
            StmtKind::Control(Control::If(node)) => format!("{{{}", self.branch(node)?),
            StmtKind::Control(Control::For(node)) => format!("{{{}", self.passes(node)?),
            StmtKind::Control(Control::Match(node)) => self.matched(node)?,
        })
    }

    fn ret(&mut self, kind: ReturnKind, value: &Expr<'_>) -> Written {
        let value = self.value(value)?;
        Ok(match kind {
            ReturnKind::Plain => format!("\"ret\":{value}"),
            ReturnKind::Ok => format!("\"ret\":{{\"ok\":{value}}}"),
            ReturnKind::Err => format!("\"ret\":{{\"err\":{value}}}"),
        })
    }

    /// The value that LET binds, with its key.
    fn members(&mut self, value: &Expr<'_>) -> Written {
        match value.kind {
            ExprKind::Call(call) => self.call(call),
            ExprKind::Merge(..) | ExprKind::MatchMap(_) => {
                let whole = self.value(value)?;
                Ok(whole[1..whole.len() - 1].to_owned())
            }
            _ => Ok(format!("\"expr\":{}", self.computed(value)?)),
        }
    }

    fn handler(&mut self, node: &Match<'_>, bound: Slot) -> Written {
        let Some(arm) = &node.err else { return Err("MATCH without an arm") };
        let before = self.names.clone();
        let failure = self.fresh(arm.bind);
        let way = match arm.body.statements {
            [Stmt { kind: StmtKind::Return(kind, value), .. }] => self.ret(*kind, value)?,
            [Stmt { kind: StmtKind::Let { slot, value: Bound::Expr(value), .. }, .. }]
                if *slot == bound && !value.calls() =>
            {
                format!("\"value\":{}", self.value(value)?)
            }
            [.., last] if arm.body.completes() => {
                let StmtKind::Let { value: Bound::Expr(value), .. } = &last.kind else {
                    return Err("a handler that continues without a value");
                };
                let (_, before) = arm.body.statements.split_last().ok_or("a handler without steps")?;
                let steps = self.steps(&Block { statements: before })?;
                let comma = if steps.is_empty() { "" } else { "," };
                format!("\"then\":[{steps}{comma}{{\"value\":{}}}]", self.value(value)?)
            }
            _ => format!("\"then\":[{}]", self.steps(&arm.body)?),
        };
        self.names = before;
        Ok(format!(",\"err\":{{\"as\":{},{way}}}", quoted(&failure)))
    }

    fn matched(&mut self, node: &Match<'_>) -> Written {
        let name = self.name(node.slot)?.to_owned();
        let err = match &node.err {
            Some(arm) => {
                let before = self.names.get(arm.bind.0 as usize).cloned().flatten();
                let failure = self.fresh(arm.bind);
                let steps = self.steps(&arm.body)?;
                self.set(arm.bind, before);
                format!(",\"err\":{{\"as\":{},\"then\":[{steps}]}}", quoted(&failure))
            }
            None => String::new(),
        };
        let Some(ok) = &node.ok else { return Ok(format!("{{\"match\":{}{err}}}", quoted(&name))) };
        self.set(ok.bind, Some(name.clone()));
        let steps = self.steps(&ok.body)?;
        Ok(format!("{{\"match\":{}{err},\"then\":[{steps}]}}", quoted(&name)))
    }

    fn tried(&mut self, node: &Try<'_>) -> Written {
        let steps = self.steps(&node.body)?;
        let before = self.names.get(node.handler.bind.0 as usize).cloned().flatten();
        let failure = self.fresh(node.handler.bind);
        let handler = self.steps(&node.handler.body)?;
        self.set(node.handler.bind, before);
        let failure = quoted(&failure);
        Ok(format!("\"try\":[{steps}],\"err\":{{\"as\":{failure},\"then\":[{handler}]}}}}"))
    }

    fn otherwise(&mut self, block: Option<&Block<'_>>) -> Written {
        block.map_or(Ok(String::new()), |block| Ok(format!(",\"else\":[{}]", self.steps(block)?)))
    }

    fn branch(&mut self, node: &If<'_>) -> Written {
        let condition = self.computed(&node.condition)?;
        let then = match node.then.statements {
            [Stmt { kind: StmtKind::Return(kind, value), .. }] if self.deep => Some(self.ret(*kind, value)?),
            [Stmt { kind: StmtKind::Break, .. }] if self.deep => Some("\"break\":true".to_owned()),
            [Stmt { kind: StmtKind::Skip, .. }] if self.deep => Some("\"skip\":true".to_owned()),
            _ => None,
        };
        if let Some(way) = then {
            let otherwise = self.otherwise(node.otherwise.as_ref())?;
            return Ok(format!("\"if\":{condition},{way}{otherwise}}}"));
        }
        let then = self.steps(&node.then)?;
        let otherwise = self.otherwise(node.otherwise.as_ref())?;
        Ok(format!("\"if\":{condition},\"then\":[{then}]{otherwise}}}"))
    }

    fn passes(&mut self, node: &For<'_>) -> Written {
        let list = self.value(&node.list)?;
        let mut before = self.names.clone();
        let item = self.fresh(node.item);
        let steps = self.steps(&node.body)?;
        // Slots that the passes bind first are not read after them, except after a BREAK.
        if !node.breaks {
            if let Some(name) = before.get_mut(node.item.0 as usize) {
                *name = None;
            }
            self.names = before;
        }
        let otherwise = self.otherwise(node.otherwise.as_ref())?;
        Ok(format!("\"for\":{},\"in\":{list},\"yield\":[{steps}]{otherwise}}}", quoted(&item)))
    }

    fn call(&mut self, call: &Call<'_>) -> Written {
        let args = match call.arguments {
            [] => String::new(),
            all => format!(",\"args\":{}", self.fields(all)?),
        };
        Ok(format!("\"call\":{}{args}", quoted(call.tool.text)))
    }

    fn fields(&mut self, fields: &[Field<'_>]) -> Written {
        let mut written = Vec::new();
        for field in fields {
            written.push(format!("{}:{}", quoted(field.name.text), self.value(&field.value)?));
        }
        Ok(format!("{{{}}}", written.join(",")))
    }

    fn all(&mut self, values: &[Expr<'_>]) -> Written {
        let mut written = Vec::new();
        for value in values {
            written.push(self.value(value)?);
        }
        Ok(format!("[{}]", written.join(",")))
    }

    fn operation(&mut self, makes: Makes, operands: &[Expr<'_>]) -> Written {
        let operands: Vec<String> =
            operands.iter().map(|operand| self.computed(operand)).collect::<Result<_, _>>()?;
        Ok(format!("{{{}:[{}]}}", quoted(operator::row(makes).spelling), operands.join(",")))
    }

    /// A value where every operator is one.
    fn computed(&mut self, value: &Expr<'_>) -> Written {
        match value.kind {
            ExprKind::Apply(apply) => self.operation(Makes::Apply(apply.function), apply.operands),
            _ => self.value(value),
        }
    }

    fn value(&mut self, value: &Expr<'_>) -> Written {
        Ok(match value.kind {
            ExprKind::Ref(slot) => quoted(self.name(slot)?),
            ExprKind::Literal(literal) => match literal {
                Literal::Nil => "null".to_owned(),
                Literal::Bool(truth) => truth.to_string(),
                Literal::Number(number) => number.to_string(),
                Literal::Text(text) if self.deep && text.contains(' ') => quoted(&escaped(text)),
                Literal::Text(text) => format!("{{\"text\":{}}}", quoted(text)),
            },
            ExprKind::Field(of, name) => match self.path(value) {
                Some(path) => quoted(&path),
                None => format!("{{\"at\":[{},{{\"text\":{}}}]}}", self.computed(of)?, quoted(name.text)),
            },
            ExprKind::Call(call) => format!("{{{}}}", self.call(call)?),
            ExprKind::Unary(unary, of) => self.operation(Makes::Unary(unary), &[*of])?,
            ExprKind::Binary(Binary::Concat, a, b) => match self.template(value) {
                Some((text, true, true)) if self.deep => quoted(&text),
                _ => self.operation(Makes::Binary(Binary::Concat), &[*a, *b])?,
            },
            ExprKind::Binary(binary, a, b) => self.operation(Makes::Binary(binary), &[*a, *b])?,
            ExprKind::Has(of, name) => {
                format!("{{\"has\":[{},{{\"text\":{}}}]}}", self.computed(of)?, quoted(name.text))
            }
            ExprKind::Apply(apply) => {
                let operation = self.computed(value)?;
                let row = operator::row(Makes::Apply(apply.function));
                if row.is_everywhere() { operation } else { format!("{{\"expr\":{operation}}}") }
            }
            ExprKind::Record(fields) => format!("{{\"obj\":{}}}", self.fields(fields)?),
            ExprKind::Merge(_, []) => return Err("MERGE without a field"),
            ExprKind::Merge(of, fields) => {
                format!("{{\"merge\":{},\"set\":{}}}", self.value(of)?, self.fields(fields)?)
            }
            ExprKind::List(items) => self.all(items)?,
            ExprKind::MatchMap(map) => {
                let subject = self.value(&map.subject)?;
                let text = |key: &Literal<'_>| match key {
                    Literal::Text(key) => ilo_spec::number::parse(key).is_err(),
                    _ => false,
                };
                let pairs = !map.cases.iter().all(|case| text(&case.key));
                let mut cases = Vec::new();
                for case in map.cases {
                    let key = match case.key {
                        Literal::Text("default" | "_") => return Err("a case whose key is `default` or `_`"),
                        Literal::Text(key) => quoted(key),
                        Literal::Nil => "null".to_owned(),
                        Literal::Bool(truth) => truth.to_string(),
                        Literal::Number(number) => number.to_string(),
                    };
                    let value = self.value(&case.value)?;
                    cases.push(if pairs { format!("[{key},{value}]") } else { format!("{key}:{value}") });
                }
                let cases =
                    if pairs { format!("[{}]", cases.join(",")) } else { format!("{{{}}}", cases.join(",")) };
                let default = match &map.default {
                    Some(value) => format!(",\"default\":{}", self.value(value)?),
                    None => String::new(),
                };
                format!("{{\"match\":{subject},\"cases\":{cases}{default}}}")
            }
            ExprKind::Template(_) => return Err("a template"),
            ExprKind::Bad => return Err("an error"),
        })
    }

    /// A text with references in it, and whether it has texts and references.
    fn template(&self, value: &Expr<'_>) -> Option<(String, bool, bool)> {
        match value.kind {
            ExprKind::Literal(Literal::Text(text)) => Some((escaped(text), !text.is_empty(), false)),
            ExprKind::Ref(slot) => Some((format!("${{{}}}", self.name(slot).ok()?), false, true)),
            ExprKind::Field(..) => Some((format!("${{{}}}", self.path(value)?), false, true)),
            ExprKind::Binary(Binary::Concat, a, b) => {
                let (a, b) = (self.template(a)?, self.template(b)?);
                Some((a.0 + &b.0, a.1 || b.1, a.2 || b.2))
            }
            _ => None,
        }
    }

    /// A path of names, if it is one.
    fn path(&self, value: &Expr<'_>) -> Option<String> {
        let ExprKind::Field(of, name) = value.kind else { return None };
        let before = match of.kind {
            ExprKind::Ref(slot) => self.name(slot).ok()?.to_owned(),
            _ if self.deep => self.path(of)?,
            _ => return None,
        };
        is_name(name.text).then(|| format!("{before}.{}", name.text))
    }
}

/// Whether the arm of a failure may be the handler of the call: it does not continue, or with a value.
fn is_handler(node: &Match<'_>) -> bool {
    node.err.as_ref().is_some_and(|arm| match arm.body.statements.last().map(|last| &last.kind) {
        Some(StmtKind::Let { slot, value: Bound::Expr(value), .. }) if *slot == node.slot => !value.calls(),
        _ => !arm.body.completes(),
    })
}
