//! Operand types of bytecode instructions: one newtype for each kind, so that indexes of different tables
//! cannot be mixed up.
//!
//! A kind defines its encoding ([`Operand::encode`], [`Operand::decode`]) and what the verifier must check
//! ([`Operand::role`]). The instructions in [`crate::isa`] are built from these.

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
    /// The first register of a window that is read; another operand gives its length.
    Window(u8),
    /// The length of the window.
    Count(u8),
    /// The first of the three registers of a loop's state.
    Loop(u8),
    /// A string of the string table.
    Str(u32),
    /// A field of the field table.
    Field(u16),
    /// A number constant.
    Number(u16),
    /// A shape, which also gives the length of the window.
    Shape(u16),
    /// A shape with as many fields as the instruction names registers.
    Fields(u16),
    /// An entry of the call table; its shape gives the length of the window.
    Call(u16),
    /// A function; its parameters give the length of the window.
    Function(u16),
    /// A pure function; another operand gives the length of the window.
    Pure(u8),
    /// An entry of the map table.
    Map(u32),
    /// An entry of the map table whose targets are number constants.
    Choice(u32),
    /// The distance of a forward jump, counted from the next instruction.
    Forward(u16),
    /// The distance to the failure handler, counted from the next instruction; 0 passes the failure on.
    OnFail(u16),
    /// The distance of a backward jump, counted from the next instruction.
    Back(u16),
    /// The number of `rollback`s that follow.
    Entries(u8),
    /// A number inside the instruction.
    Immediate(i32),
    /// The type of the function's value, packed as in its output.
    Type(u16),
}

/// A kind of operand.
pub trait Operand: Copy + fmt::Debug + PartialEq {
    /// The bits of the first byte that mean that more bytes follow.
    const LONG: u8;

    /// The operand packed in one byte, which has no bit of [`Operand::LONG`].
    fn short(byte: u8) -> Self;
    /// Writes the packed form.
    fn encode(self, sink: &mut ByteSink);
    /// Reads the packed form.
    fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError>;
    /// What the verifier must check.
    fn role(self) -> Role;
}

/// The bits of a first byte that mean that more bytes follow, and the value of a byte without them.
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
    /// The number of `rollback`s that belong to a call.
    Entries(u8) Entries by byte byte;
    /// The first of the three registers of a loop's state: list, index, collected values.
    LoopBase(u8) Loop by byte byte;
    /// A string of the string table.
    StringId(u32) Str by varint varint32;
    /// A field name; field names are the first strings.
    FieldId(u16) Field by varint varint16;
    /// A number constant.
    NumberId(u16) Number by varint varint16;
    /// A shape of the shape table.
    ShapeId(u16) Shape by varint varint16;
    /// A shape whose fields come from single registers of the instruction.
    FieldsId(u16) Fields by varint varint16;
    /// A tool with its argument shape.
    CallId(u16) Call by varint varint16;
    /// A function of the program.
    FunctionId(u16) Function by varint varint16;
    /// A pure function.
    PureId(u8) Pure by byte byte;
    /// The cases of a switch.
    MapId(u32) Map by varint varint32;
    /// The cases of a choice, whose targets are number constants.
    ChoiceId(u32) Choice by varint varint32;
    /// A jump forward.
    To(u16) Forward by varint varint16;
    /// The failure handler of a call; 0 passes the failure on.
    OnFail(u16) OnFail by varint varint16;
    /// A jump back.
    Back(u16) Back by varint varint16;
    /// A type, which is that of the function's value.
    TypeId(u16) Type by varint varint16;
    /// A small integer in the instruction.
    Imm(i32) Immediate by zigzag zigzag32;
}

/// A tool of the tool table, which only the call table refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId(pub u16);
