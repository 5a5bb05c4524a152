//! A choice: bytes that may come next as a whole, and their effect, which `acts` brings about.

use super::machine::{Next, Owner};
use ilo_spec::node::Word;
use std::borrow::Cow;

/// Bytes that may come next as a whole.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Most are constant.
    pub(super) bytes: Cow<'static, str>,
    pub(super) act: Act,
}

pub(super) fn choice(bytes: impl Into<Cow<'static, str>>, act: Act) -> Choice {
    Choice { bytes: bytes.into(), act }
}

/// The effect of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Only another kind of choice is next.
    Goes(Next),
    /// A step that begins with this word and ends with these bytes after its value or call.
    Step(Word, &'static str),
    Let,
    /// A step that is a value.
    Expr,
    /// A call as a step.
    Call,
    If,
    For,
    /// BREAK or SKIP.
    Exit(Word),
    Try,
    /// The handler of `try`.
    Caught,
    /// The position of a loop's item, the condition of its passes, and their steps after one of these.
    Index,
    Where,
    Passes,
    Match(u8),
    /// `while`, and the passes before `until`.
    While,
    Until,
    /// The condition of `until`, and its end.
    UntilWhat,
    EndUntil,
    BoundExpr,
    /// `push` beside `let`, with a name or a path.
    Push,
    PushPart,
    BoundCall,
    Failure,
    /// `then` beside a call.
    Then,
    /// `err` beside a call.
    Handler,
    /// A word in a handler, and the bytes that end the handler.
    Way(Word, &'static str),
    EndHandler,
    /// A handler that does not name the failure, as for [`Act::Way`]; without bytes, it ends at once.
    Unnamed(Word, &'static str),
    /// The message of a failure in place of a handler.
    Message,
    /// A way out beside `if`, and the bytes that end its value.
    Leave(Word, &'static str),
    Open(Owner),
    Else,
    Success,
    /// MATCH with success alone.
    OnlySuccess,
    /// MATCH with failure alone.
    NoSuccess,
    /// The steps of a handler, and the value with which they continue.
    OpenHandler,
    Give,
    EndBlock,
    EndStep,
    EndBody,
    Nil,
    Bool(bool),
    Number,
    Text,
    /// A text that may be a reference.
    Quote,
    /// The text of this number, of those that are allowed.
    Listed(usize),
    /// An operator, a list, a record, a call or another construct that begins with this word.
    Begin(Word),
    /// A list or record without parts.
    Empty(Word),
    /// `expr` in a value, around an operation that is one only there.
    Wrapped,
    Ref(u8),
    /// The slot of a path.
    Path(u8),
    Field(u32),
    LastField(u32),
    Tool(u32),
    Arguments,
    EndCall,
    Key(u32),
    /// The end of a list, a record, arguments or cases.
    EndParts,
    Set,
    Cases,
    /// Cases as pairs in a list, with their keys.
    Pairs,
    NumberKey,
    TextKey,
    Default,
    Comma,
    /// The end of the innermost open construct.
    End,
}
