//! A small assembler for tests: builds programs from instructions, without the crate that assembles text.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, reason = "a test's own helpers")]
#![allow(missing_docs, reason = "a test's own helpers")]

use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, FieldId, FunctionId, MapId, NumberId, ShapeId, StringId, ToolId};
use ilo_spec::program::{CallShape, Function, Key, Map, Number, Parameter, Program as Spec};
use ilo_spec::types::{Output, Type};
use ilo_vm::{Datum, Limits, Program, Run, Step};

pub use ilo_spec::isa::NumberByte;
pub use ilo_spec::operand::{Back, Count, First, Imm, In, LoopBase, OnFail, Out, To};

pub const RESULT: Output = Output { ok: Type::ANY, err: Some(Type::ANY) };
pub const PLAIN: Output = Output { ok: Type::ANY, err: None };

pub struct Asm {
    pub spec: Spec,
}

impl Asm {
    /// A program with these field names.
    pub fn new(fields: &[&str]) -> Asm {
        let mut spec = Spec::default();
        for field in fields {
            spec.strings.push(field).unwrap();
        }
        spec.fields = u16::try_from(fields.len()).unwrap();
        Asm { spec }
    }

    pub fn text(&mut self, text: &str) -> StringId {
        let known = self.spec.strings.iter().position(|known| known == text);
        match known {
            Some(id) => StringId(u32::try_from(id).unwrap()),
            None => self.spec.strings.push(text).unwrap(),
        }
    }

    pub fn field(&self, name: &str) -> FieldId {
        FieldId(u16::try_from(self.spec.strings.iter().position(|known| known == name).unwrap()).unwrap())
    }

    pub fn number(&mut self, number: Number) -> NumberId {
        let known = self.spec.numbers.iter().position(|&known| known == number);
        let id = known.unwrap_or_else(|| {
            self.spec.numbers.push(number);
            self.spec.numbers.len() - 1
        });
        NumberId(u16::try_from(id).unwrap())
    }

    pub fn int(&mut self, int: i64) -> NumberId {
        self.number(Number::Int(int))
    }

    pub fn double(&mut self, double: f64) -> NumberId {
        self.number(Number::Double(double))
    }

    pub fn shape(&mut self, fields: &[&str]) -> ShapeId {
        let shape = fields.iter().map(|field| self.field(field)).collect();
        self.spec.shapes.push(shape);
        ShapeId(u16::try_from(self.spec.shapes.len() - 1).unwrap())
    }

    pub fn call(&mut self, tool: &str, fields: &[&str]) -> CallId {
        let shape = self.shape(fields);
        let name = self.text(tool);
        self.spec.tools.push(name);
        let tool = ToolId(u16::try_from(self.spec.tools.len() - 1).unwrap());
        self.spec.calls.push(CallShape { tool, shape });
        CallId(u16::try_from(self.spec.calls.len() - 1).unwrap())
    }

    pub fn map(&mut self, cases: Vec<(Key, u16)>, default: Option<u16>) -> MapId {
        self.spec.maps.push(Map { cases, default });
        MapId(u32::try_from(self.spec.maps.len() - 1).unwrap())
    }

    /// A function whose parameters are fields of any type.
    pub fn function(
        &mut self,
        name: &str,
        parameters: &[&str],
        output: Output,
        registers: u16,
        code: &[Op],
    ) -> FunctionId {
        let parameters: Vec<_> = parameters.iter().map(|name| (*name, Type::ANY)).collect();
        self.typed_function(name, &parameters, output, registers, code)
    }

    pub fn typed_function(
        &mut self,
        name: &str,
        parameters: &[(&str, Type)],
        output: Output,
        registers: u16,
        code: &[Op],
    ) -> FunctionId {
        let name = self.text(name);
        let parameters =
            parameters.iter().map(|&(name, ty)| Parameter::required(self.field(name), ty)).collect();
        let start = u32::try_from(self.spec.code.len()).unwrap();
        self.spec.code.extend_from_slice(code);
        let end = u32::try_from(self.spec.code.len()).unwrap();
        self.spec.functions.push(Function { name, parameters, output, registers, start, end });
        FunctionId(u16::try_from(self.spec.functions.len() - 1).unwrap())
    }

    pub fn build(self) -> Program {
        Program::new(self.spec).unwrap()
    }
}

/// What a tool does in a test.
pub type Tool<'t> = &'t dyn Fn(&str, &str) -> Result<Datum<'static>, &'static str>;

/// A tool that no test program calls.
pub const NO_TOOLS: Tool<'static> = &|_, _| Err("no such tool");

/// Drives a started run to its end; returns the outcome as JSON.
pub fn drive(run: &mut Run, tools: Tool<'_>) -> String {
    let program = run.program().clone();
    loop {
        match run.step() {
            Step::Call(call) => {
                assert_eq!(program.tools().nth(call.tool_index()), Some(call.tool()));
                let mut arguments = String::new();
                call.write_json(&mut arguments).unwrap();
                // An answer that exceeds a limit shows in the outcome.
                let _ = match tools(call.tool(), &arguments) {
                    Ok(value) => call.answer(value),
                    Err(message) => call.fail(message),
                };
            }
            Step::Done(outcome) => {
                let mut json = String::new();
                outcome.write_json(&mut json).unwrap();
                return json;
            }
        }
    }
}

/// Runs the last function of a program.
pub fn outcome(asm: Asm, arguments: &[Datum<'_>], tools: Tool<'_>) -> String {
    outcome_within(asm, arguments, tools, Limits::default())
}

pub fn outcome_within(asm: Asm, arguments: &[Datum<'_>], tools: Tool<'_>, limits: Limits) -> String {
    let last = FunctionId(u16::try_from(asm.spec.functions.len() - 1).unwrap());
    let program = asm.build();
    let mut run = Run::new(&program, limits);
    run.start(last, arguments).unwrap();
    drive(&mut run, tools)
}

/// The notify program: looks up a user and sends an e-mail.
pub fn notify() -> Asm {
    let mut asm = Asm::new(&["email", "verified", "user-id", "message", "subject", "body"]);
    let lookup = asm.call("get-user", &["user-id"]);
    let send = asm.call("send-email", &["email", "subject", "body"]);
    let lookup_failed = asm.text("User lookup failed: ");
    let not_verified = asm.text("Email not verified");
    let notification = asm.text("Notification");
    let send_failed = asm.text("Send failed: ");
    let (email, verified) = (asm.field("email"), asm.field("verified"));
    let code = [
        Op::Tool { dst: Out(2), first: First(0), call: lookup, fail: OnFail(9) },
        Op::IfField { src: In(2), field: verified, to: To(2) },
        Op::Text { dst: Out(3), text: not_verified },
        Op::Fail { src: In(3) },
        Op::Field { dst: Out(3), src: In(2), field: email },
        Op::Text { dst: Out(4), text: notification },
        Op::Move { dst: Out(5), src: In(1) },
        Op::Tool { dst: Out(3), first: First(3), call: send, fail: OnFail(1) },
        Op::ReturnNil {},
        Op::Jump { to: To(4) },
        Op::Text { dst: Out(3), text: lookup_failed },
        Op::Move { dst: Out(4), src: In(2) },
        Op::Concat { dst: Out(3), first: First(3), count: Count(2) },
        Op::Fail { src: In(3) },
        Op::Move { dst: Out(4), src: In(3) },
        Op::Text { dst: Out(3), text: send_failed },
        Op::Concat { dst: Out(3), first: First(3), count: Count(2) },
        Op::Fail { src: In(3) },
    ];
    asm.function("notify", &["user-id", "message"], RESULT, 6, &code);
    asm
}

pub const NIL: Datum<'static> = Datum::Nil;
pub const TRUE: Datum<'static> = Datum::Bool(true);
pub const FALSE: Datum<'static> = Datum::Bool(false);
pub const MIN: Datum<'static> = Datum::Int(i64::MIN);
pub const MAX: Datum<'static> = Datum::Int(i64::MAX);

pub const fn i(value: i64) -> Datum<'static> {
    Datum::Int(value)
}
pub const fn d(value: f64) -> Datum<'static> {
    Datum::Double(value)
}
pub const fn t(value: &str) -> Datum<'_> {
    Datum::Text(value)
}
pub const fn l<'a>(items: &'a [Datum<'a>]) -> Datum<'a> {
    Datum::List(items)
}
pub const fn r<'a>(fields: &'a [(&'a str, Datum<'a>)]) -> Datum<'a> {
    Datum::Record(fields)
}

/// The value as JSON, or the code of the fault.
pub fn short(outcome: &str) -> String {
    let value = outcome.strip_prefix(r#"{"status":"ok","value":"#).and_then(|rest| rest.strip_suffix('}'));
    let fault = outcome.strip_prefix(r#"{"status":"fault","code":""#).and_then(|rest| rest.split('"').next());
    value.or(fault).unwrap_or(outcome).to_string()
}

/// Runs a function with the parameters a and b and six registers.
pub fn run(code: &[Op], a: Datum<'_>, b: Datum<'_>, tables: impl Fn(&mut Asm)) -> String {
    let mut asm = Asm::new(&["a", "b", "c"]);
    tables(&mut asm);
    asm.function("f", &["a", "b"], PLAIN, 8, code);
    outcome(asm, &[a, b], NO_TOOLS)
}

pub const MISMATCH: &str = "type-mismatch";
