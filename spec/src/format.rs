//! The frame of the packed form: its first bytes, its version and its sections.

/// The first four bytes.
pub const MAGIC: [u8; 4] = *b"ilob";
/// The version of the format that this build writes and reads.
pub const VERSION: u8 = 1;

/// The sections, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the part of `Program` of that name")]
pub enum Section {
    Strings = 1,
    Numbers = 2,
    Shapes = 3,
    Tools = 4,
    Calls = 5,
    Maps = 6,
    Functions = 7,
    Code = 8,
    Inputs = 9,
    Records = 10,
    Positions = 0x80,
    Source = 0x81,
}

impl Section {
    /// All sections, in order.
    pub const ALL: [Section; 12] = [
        Section::Strings,
        Section::Numbers,
        Section::Shapes,
        Section::Tools,
        Section::Calls,
        Section::Maps,
        Section::Functions,
        Section::Code,
        Section::Inputs,
        Section::Records,
        Section::Positions,
        Section::Source,
    ];
}
