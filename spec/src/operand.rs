//! The operands of bytecode instructions: one newtype a kind, so that an index of one table never reaches another.
//!
//! A kind says how it is packed ([`Operand::encode`], [`Operand::decode`]) and what the verifier must show of it
//! ([`Operand::role`]). Instructions are built of these in [`crate::isa`].

use crate::bytes::{ByteReader, ByteSink};
use crate::error::DecodeError;
use core::fmt;

/// What an operand means to the verifier, the lister and the liveness analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A register that is read; it must be set.
    Read(u8),
    /// A register that is written after every read of the instruction.
    Write(u8),
    /// The first register of a window that is read; how long it is stands in another operand.
    Window(u8),
    /// How many registers the window has.
    Count(u8),
    /// The first of the three registers of a loop's state.
    Loop(u8),
    /// A string of the string table.
    Str(u32),
    /// A field of the field table.
    Field(u16),
    /// A number constant.
    Number(u16),
    /// A shape; the window is as long as the shape.
    Shape(u16),
    /// A shape of as many fields as the instruction names registers for.
    Fields(u16),
    /// An entry of the call table; the window is as long as its shape.
    Call(u16),
    /// A function; the window is as long as its parameters.
    Function(u16),
    /// An entry of the map table.
    Map(u32),
    /// An entry of the map table whose targets are number constants.
    Choice(u32),
    /// Instructions to go forward, counted from the next one.
    Forward(u16),
    /// Where a failed call goes on, counted forward from the next instruction; 0 passes the failure on.
    OnFail(u16),
    /// Instructions to go back, counted from the next one.
    Back(u16),
    /// A number that stands in the instruction.
    Immediate(i32),
}

/// A kind of operand.
pub trait Operand: Copy + fmt::Debug + PartialEq {
    /// The bits of the first byte that say that more follow.
    const LONG: u8;

    /// The operand that is packed in one byte, none of [`Operand::LONG`] in it.
    fn short(byte: u8) -> Self;
    /// Writes the packed form.
    fn encode(self, sink: &mut ByteSink);
    /// Reads the packed form.
    fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError>;
    /// What the verifier must show.
    fn role(self) -> Role;
}

/// The bits of a first byte that say that more follow, and what a byte without them stands for.
macro_rules! short {
    (byte) => {
        0
    };
    ($varint:ident) => {
        0x80
    };
    (zigzag $byte:ident) => {
        i32::from($byte >> 1) ^ -i32::from($byte & 1)
    };
    ($unsigned:ident $byte:ident) => {
        $byte.into()
    };
}

macro_rules! operands {
    ($($(#[$doc:meta])* $name:ident($inner:ty) $role:ident by $write:ident $read:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub $inner);

        impl Operand for $name {
            const LONG: u8 = short!($write);

            #[inline]
            fn short(byte: u8) -> Self {
                $name(short!($write byte))
            }
            #[inline]
            fn encode(self, sink: &mut ByteSink) {
                sink.$write(self.0.into());
            }
            #[inline]
            fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
                reader.$read().map($name)
            }
            #[inline]
            fn role(self) -> Role {
                Role::$role(self.0)
            }
        }
    )*};
}

operands! {
    /// A register that is read.
    In(u8) Read by byte byte;
    /// A register that is written.
    Out(u8) Write by byte byte;
    /// The first register of a window that is read.
    First(u8) Window by byte byte;
    /// The length of a window.
    Count(u8) Count by byte byte;
    /// The first of the three registers of a loop's state: list, index, collected values.
    LoopBase(u8) Loop by byte byte;
    /// A string of the string table.
    StringId(u32) Str by varint varint32;
    /// A field name, which is one of the first strings.
    FieldId(u16) Field by varint varint16;
    /// A number constant.
    NumberId(u16) Number by varint varint16;
    /// A shape of the shape table.
    ShapeId(u16) Shape by varint varint16;
    /// A shape of the shape table, whose fields the instruction names one by one.
    FieldsId(u16) Fields by varint varint16;
    /// A tool with its argument shape.
    CallId(u16) Call by varint varint16;
    /// A function of the program.
    FunctionId(u16) Function by varint varint16;
    /// A switch's cases.
    MapId(u32) Map by varint varint32;
    /// A choice: the cases of a map, whose targets are number constants.
    ChoiceId(u32) Choice by varint varint32;
    /// A jump forward.
    To(u16) Forward by varint varint16;
    /// Where a failed call goes on; 0 passes the failure on.
    OnFail(u16) OnFail by varint varint16;
    /// A jump back.
    Back(u16) Back by varint varint16;
    /// A small integer in the instruction.
    Imm(i32) Immediate by zigzag zigzag32;
}

/// A tool of the tool table. It appears in the call table, not in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId(pub u16);
