//! The table of bytecode instructions.
//!
//! A row gives the frozen number, the name, the mnemonic, the fuel, the operands in packed order and one line
//! of meaning. The in-memory [`Op`], encoding, decoding, listing, the verifier's view of the operands and the
//! tables in the specification are all derived from it. An [`Op`] has 8 bytes, so a program is a flat array.
//!
//! Numbers are only added; a test freezes them.

use crate::bytes::{ByteReader, ByteSink};
use crate::error::DecodeError;
use crate::operand::{
    Back, CallId, ChoiceId, Count, Entries, FieldId, FieldsId, First, FunctionId, Imm, In, LoopBase, MapId,
    NumberId, OnFail, Operand, Out, PureId, Role, ShapeId, StringId, To, TypeId,
};

/// The data of a table row; the specification's table is printed from it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The frozen number, which is the first packed byte.
    pub number: u8,
    /// The mnemonic in listings.
    pub mnemonic: &'static str,
    /// Operand names and kinds, in packed order.
    pub operands: &'static [(&'static str, &'static str)],
    /// The fuel of one execution.
    pub cost: u8,
    /// What it does, in one line.
    pub meaning: &'static str,
}

/// Visits instructions and their operands.
pub trait Visitor {
    /// Visits an instruction. `cost` is its fuel; `ends` says that execution never continues at the next
    /// instruction.
    fn instruction(&mut self, cost: u8, ends: bool);
    /// Visits one operand.
    fn operand(&mut self, role: Role);
}

macro_rules! instructions {
    ($($number:literal $name:ident $mnemonic:literal $cost:literal
       { $($field:ident : $kind:ident),* $(,)? } $meaning:literal;)*) => {
        /// A bytecode instruction in memory.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the operands are named and described by the table")]
        pub enum Op {
            $(#[doc = $meaning] $name { $($field: $kind),* },)*
        }

        /// The rows in the order of their numbers.
        pub const TABLE: &[Row] = &ROWS;

        // A constant in its place is copied into each crate that reads it.
        static ROWS: [Row; [$($number),*].len()] = [$(Row {
            number: $number,
            mnemonic: $mnemonic,
            operands: &[$((stringify!($field), stringify!($kind))),*],
            cost: $cost,
            meaning: $meaning,
        }),*];

        impl Op {
            /// The frozen number.
            #[inline]
            pub const fn number(&self) -> u8 {
                match self { $(Op::$name { .. } => $number,)* }
            }

            /// The fuel of one execution.
            #[inline]
            pub const fn cost(&self) -> u8 {
                match self { $(Op::$name { .. } => $cost,)* }
            }

            /// The row of the table.
            pub fn row(&self) -> &'static Row {
                const fn position(number: u8) -> usize {
                    let mut at = 0;
                    while at < TABLE.len() {
                        if TABLE[at].number == number {
                            return at;
                        }
                        at += 1;
                    }
                    0
                }
                match self { $(Op::$name { .. } => const { &TABLE[position($number)] },)* }
            }

            /// Writes the packed form: the number, then each operand.
            pub fn encode(&self, sink: &mut ByteSink) {
                match *self { $(Op::$name { $($field),* } => {
                    sink.byte($number);
                    $($field.encode(sink);)*
                })* }
            }

            /// Decodes an instruction with one-byte operands from the beginning of `bytes`; returns it and
            /// its length.
            #[inline(always)]
            pub(crate) fn short(bytes: [u8; 8]) -> Option<(Op, usize)> {
                match bytes[0] {
                    $($number => {
                        #[allow(unused_mut, reason = "an instruction may have no operands")]
                        let (mut length, mut long) = (1, 0);
                        $(let $field = bytes[length];
                        length += 1;
                        long |= $field & <$kind as Operand>::LONG;)*
                        (long == 0).then(|| (Op::$name { $($field: Operand::short($field)),* }, length))
                    })*
                    _ => None,
                }
            }

            /// Decodes the packed form.
            #[inline(never)]
            pub fn decode(reader: &mut ByteReader<'_>) -> Result<Op, DecodeError> {
                match reader.byte()? {
                    $($number => Ok(Op::$name { $($field: Operand::decode(reader)?),* }),)*
                    number => Err(reader.unknown_instruction(number)),
                }
            }

            /// Calls the visitor with the instruction, then with the role of each operand in packed order;
            /// inlined.
            #[inline(always)]
            pub fn visit(&self, visitor: &mut impl Visitor) {
                match *self { $(Op::$name { $($field),* } => {
                    visitor.instruction($cost, self.ends());
                    $(visitor.operand($field.role());)*
                })* }
            }

            /// Calls `each` with the name and role of each operand, in packed order.
            #[inline]
            pub fn roles(&self, mut each: impl FnMut(&'static str, Role)) {
                self.each_role(&mut each);
            }

            /// Compiled once for all callers, which makes `vm.wasm` 5 % smaller (`bindings/RESULTS.md`).
            #[inline(never)]
            fn each_role(&self, each: &mut dyn FnMut(&'static str, Role)) {
                match *self { $(Op::$name { $($field),* } => {
                    $(each(stringify!($field), $field.role());)*
                })* }
            }
        }
    };
}

instructions! {
    // Constants and moves.
    0x00 Nil "nil" 1 { dst: Out } "`dst` becomes nil";
    0x01 False "false" 1 { dst: Out } "`dst` becomes false";
    0x02 True "true" 1 { dst: Out } "`dst` becomes true";
    0x03 Int "int" 1 { dst: Out, value: Imm } "`dst` becomes a small integer";
    0x04 Number "number" 1 { dst: Out, number: NumberId } "`dst` becomes a number constant";
    0x05 Text "text" 1 { dst: Out, text: StringId } "`dst` becomes a constant text";
    0x06 Move "move" 1 { dst: Out, src: In } "`dst` becomes the value of `src`";

    // Arithmetic on numbers.
    0x10 Add "add" 1 { dst: Out, a: In, b: In } "`a` + `b`; of two lists, the items of both";
    0x11 Sub "sub" 1 { dst: Out, a: In, b: In } "`a` - `b`";
    0x12 Mul "mul" 1 { dst: Out, a: In, b: In } "`a` * `b`";
    0x13 Div "div" 1 { dst: Out, a: In, b: In } "`a` / `b`; an integer if two integers divide without a remainder";
    0x14 Mod "mod" 1 { dst: Out, a: In, b: In } "`a` mod `b`, with the sign of `a`";
    0x15 AddC "add.c" 1 { dst: Out, a: In, number: NumberId } "`a` + constant";
    0x16 SubC "sub.c" 1 { dst: Out, a: In, number: NumberId } "`a` - constant";
    0x17 MulC "mul.c" 1 { dst: Out, a: In, number: NumberId } "`a` * constant";
    0x18 DivC "div.c" 1 { dst: Out, a: In, number: NumberId } "`a` / constant";
    0x19 ModC "mod.c" 1 { dst: Out, a: In, number: NumberId } "`a` mod constant";

    // Comparison and logic, to a bool.
    0x20 Eq "eq" 1 { dst: Out, a: In, b: In } "whether `a` equals `b`, any two values";
    0x21 Ne "ne" 1 { dst: Out, a: In, b: In } "whether `a` differs from `b`";
    0x22 Lt "lt" 1 { dst: Out, a: In, b: In } "`a` < `b`, two numbers or two texts";
    0x23 Le "le" 1 { dst: Out, a: In, b: In } "`a` <= `b`";
    0x24 Gt "gt" 1 { dst: Out, a: In, b: In } "`a` > `b`";
    0x25 Ge "ge" 1 { dst: Out, a: In, b: In } "`a` >= `b`";
    0x26 Not "not" 1 { dst: Out, src: In }
        "true for false and nil, false for true; any other value is fault condition-type";
    0x27 Truth "truth" 1 { dst: Out, src: In }
        "false for false and nil, true for true; any other value is fault condition-type";

    // Text, records and lists.
    0x28 Concat "concat" 1 { dst: Out, first: First, count: Count }
        "the values of the window, rendered and joined to one text";
    0x29 ConcatTwo "concat.two" 1 { dst: Out, a: In, b: In }
        "the items of two lists as one list; any two other values rendered and joined to one text";
    0x30 Record "record" 1 { dst: Out, first: First, shape: ShapeId }
        "a record of the window with the fields of the shape";
    0x31 Merge "merge" 1 { dst: Out, src: In, first: First, shape: ShapeId }
        "the record `src` with the window's fields set; existing fields keep their place, new ones are appended";
    0x32 Field "field" 1 { dst: Out, src: In, field: FieldId } "the field of the record `src`";
    0x33 Has "has" 1 { dst: Out, src: In, field: FieldId }
        "whether the record `src` has the field; or the list or text `src` the name as an item or part";
    0x34 HasName "has.name" 1 { dst: Out, src: In, name: In }
        "whether a record has the field with that name, a list an equal item, or a text that part";
    0x38 List "list" 1 { dst: Out, first: First, count: Count } "a list of the window";
    0x39 Append "append" 1 { dst: Out, list: In, item: In }
        "the list with one more item, in amortised constant time";
    0x3a At "at" 1 { dst: Out, list: In, index: In }
        "the item at an index, from 0 or negative from the end; of a record, the field that a text names";
    0x3b Len "len" 1 { dst: Out, src: In } "code points of a text, items of a list, fields of a record";

    // Jumps. Only `next` jumps backward, so code outside loops runs once.
    0x40 Jump "jump" 1 { to: To } "jumps";
    0x41 JumpIf "jump.if" 1 { src: In, to: To }
        "jumps on true; a value that is neither bool nor nil is fault condition-type";
    0x42 JumpUnless "jump.unless" 1 { src: In, to: To } "jumps on false and nil";
    0x44 UnlessEq "unless.eq" 1 { a: In, b: In, to: To } "jumps unless `a` equals `b`";
    0x45 UnlessNe "unless.ne" 1 { a: In, b: In, to: To } "jumps unless `a` differs from `b`";
    0x46 UnlessLt "unless.lt" 1 { a: In, b: In, to: To } "jumps unless `a` < `b`";
    0x47 UnlessLe "unless.le" 1 { a: In, b: In, to: To } "jumps unless `a` <= `b`";
    0x48 UnlessGt "unless.gt" 1 { a: In, b: In, to: To } "jumps unless `a` > `b`";
    0x49 UnlessGe "unless.ge" 1 { a: In, b: In, to: To } "jumps unless `a` >= `b`";
    0x4a UnlessEqC "unless.eq.c" 1 { a: In, number: NumberId, to: To } "jumps unless `a` equals the constant";
    0x4b UnlessNeC "unless.ne.c" 1 { a: In, number: NumberId, to: To } "jumps unless `a` differs from it";
    0x4c UnlessLtC "unless.lt.c" 1 { a: In, number: NumberId, to: To } "jumps unless `a` < constant";
    0x4d UnlessLeC "unless.le.c" 1 { a: In, number: NumberId, to: To } "jumps unless `a` <= constant";
    0x4e UnlessGtC "unless.gt.c" 1 { a: In, number: NumberId, to: To } "jumps unless `a` > constant";
    0x4f UnlessGeC "unless.ge.c" 1 { a: In, number: NumberId, to: To } "jumps unless `a` >= constant";
    0x50 UnlessField "unless.field" 1 { src: In, field: FieldId, to: To }
        "jumps if the field of the record `src` is false or nil";
    0x51 IfField "if.field" 1 { src: In, field: FieldId, to: To }
        "jumps if the field of the record `src` is true";
    0x52 Switch "switch" 1 { src: In, map: MapId }
        "jumps to the case of the map that equals `src`, else to the default; without one, fault no-case";
    0x53 Select "select" 1 { dst: Out, src: In, map: ChoiceId }
        "`dst` becomes the number of the case that equals `src`, else of the default; without one, fault no-case";

    // Loops. Three registers from `base` hold the list, the index and the collected items; no other code
    // touches them.
    0x60 For "for" 1 { base: LoopBase, list: In, to: To } "begins a collecting loop; jumps to its `next`";
    0x61 Each "each" 1 { base: LoopBase, list: In, to: To }
        "begins a loop that does not collect; jumps to its `next`";
    0x62 Next "next" 1 { base: LoopBase, item: Out, back: Back }
        "takes the next item and jumps back to the loop's body; falls through after the last item";
    0x63 Yield "yield" 1 { base: LoopBase, src: In } "adds `src` to the collected items";
    0x64 YieldRecord "yield.record" 1 { base: LoopBase, first: First, shape: ShapeId }
        "adds a record of the window to the collected items";
    0x65 Collect "collect" 1 { dst: Out, base: LoopBase } "`dst` becomes the list of collected items";
    0x66 YieldTwo "yield.two" 1 { base: LoopBase, a: In, b: In, shape: FieldsId }
        "adds a record of two registers to the collected items";
    0x67 YieldThree "yield.three" 1 { base: LoopBase, a: In, b: In, c: In, shape: FieldsId }
        "adds a record of three registers";
    0x68 YieldFour "yield.four" 1 { base: LoopBase, a: In, b: In, c: In, d: In, shape: FieldsId }
        "adds a record of four registers";

    0x69 Break "break" 1 { dst: Out, base: LoopBase, to: To }
        "`dst` becomes the list that the loop has collected so far; jumps out of the loop";

    // Calls. The arguments are a window; a failure is stored in `dst` as well.
    0x70 Tool "tool" 1 { dst: Out, first: First, call: CallId, fail: OnFail } "calls a tool of the host";
    0x71 Invoke "invoke" 1 { dst: Out, first: First, function: FunctionId, fail: OnFail }
        "calls a function of the program, which has a lower number than the caller";
    0x72 Note "note" 1 { src: In, tool: StringId } "records `src` as the failure of a compensation";

    0x73 Apply "apply" 1 { dst: Out, first: First, count: Count, function: PureId, fail: OnFail }
        "calls a pure function with the window; only one that can fail has a handler";

    0x74 ToolRollback "tool.rollback" 1 { dst: Out, first: First, call: CallId, fail: OnFail, entries: Entries }
        "calls a tool; this many `rollback`s follow its success. The room for their entries is reserved before the call";
    0x75 Rollback "rollback" 1 { first: First, call: CallId }
        "registers a call, with the arguments in the window, as a rollback entry";

    // Ends of a function.
    0x78 Return "return" 1 { src: In } "ends the function with a value";
    0x79 ReturnNil "return.nil" 1 {} "ends the function with nil";
    0x7a Fail "fail" 1 { src: In } "ends the function with a failure";
    0x7b ReturnAdd "return.add" 1 { a: In, b: In } "ends the function with `a` + `b`";
    0x7c ReturnText "return.text" 1 { text: StringId } "ends the function with a constant text";
    0x7d ReturnAs "return.as" 1 { src: In, ty: TypeId }
        "ends the function with a value of its type; any other is fault type-mismatch";

    // Fused instructions, each justified by a benchmark.
    0x80 MulCUnlessGeC "mul.c.unless.ge.c" 2 { dst: Out, a: In, by: NumberByte, least: NumberByte, to: To }
        "`dst` = `a` * constant, then jumps unless `dst` >= constant";
    0x81 MulUnlessGe "mul.unless.ge" 2 { dst: Out, a: In, by: Small, least: Small, to: To }
        "`dst` = `a` * small integer, then jumps unless `dst` >= small integer";
}

/// One of the first 256 number constants, for instructions without room for a larger index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberByte(pub u8);

impl Operand for NumberByte {
    const LONG: u8 = 0;

    #[inline]
    fn short(byte: u8) -> Self {
        NumberByte(byte)
    }
    #[inline]
    fn encode(self, sink: &mut ByteSink) {
        sink.byte(self.0);
    }
    #[inline]
    fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        reader.byte().map(NumberByte)
    }
    #[inline]
    fn role(self) -> Role {
        Role::Number(u16::from(self.0))
    }
}

/// A one-byte integer, for instructions without room for a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Small(pub i8);

impl Operand for Small {
    const LONG: u8 = 0;

    #[inline]
    fn short(byte: u8) -> Self {
        Small(byte.cast_signed())
    }
    #[inline]
    fn encode(self, sink: &mut ByteSink) {
        sink.byte(self.0.cast_unsigned());
    }
    #[inline]
    fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        reader.byte().map(Self::short)
    }
    #[inline]
    fn role(self) -> Role {
        Role::Immediate(self.0.into())
    }
}

const _: () = assert!(size_of::<Op>() == 8, "an instruction is 8 bytes");
const _: () = {
    let mut at = 1;
    while at < TABLE.len() {
        assert!(TABLE[at - 1].number < TABLE[at].number, "rows are in the order of their numbers");
        at += 1;
    }
};

/// The operands of a `tool` or `tool.rollback`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The register for the answer or the failure.
    pub dst: Out,
    /// The first argument.
    pub first: First,
    /// The tool with its argument names.
    pub call: CallId,
    /// Where a failure goes.
    pub fail: OnFail,
    /// The number of `rollback`s that follow the success.
    pub entries: Entries,
}

impl Op {
    /// The call of a tool that the instruction makes, if it makes one.
    #[inline]
    pub const fn tool_call(&self) -> Option<ToolCall> {
        match *self {
            Op::Tool { dst, first, call, fail } => {
                Some(ToolCall { dst, first, call, fail, entries: Entries(0) })
            }
            Op::ToolRollback { dst, first, call, fail, entries } => {
                Some(ToolCall { dst, first, call, fail, entries })
            }
            _ => None,
        }
    }

    /// Whether it never continues at the next instruction.
    pub const fn ends(&self) -> bool {
        matches!(
            self,
            Op::Jump { .. }
                | Op::Break { .. }
                | Op::Switch { .. }
                | Op::Return { .. }
                | Op::ReturnNil {}
                | Op::Fail { .. }
                | Op::ReturnAdd { .. }
                | Op::ReturnText { .. }
                | Op::ReturnAs { .. }
                | Op::For { .. }
                | Op::Each { .. }
        )
    }
}
