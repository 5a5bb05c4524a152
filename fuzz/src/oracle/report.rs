//! The result of a run, in a form that the machine and the oracle are compared by.

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// The tool calls in the order in which they started: name and arguments as JSON.
    pub trace: Vec<String>,
    /// Failures of compensations, in order: the tool and the failure as JSON.
    pub notes: Vec<(String, String)>,
    /// The entries that have run, in order: the tool and the number of the call.
    pub rolled_back: Vec<(String, u64)>,
    /// The calls that no entry undoes, because that could not be worked out: the tools.
    pub not_rolled_back: Vec<String>,
}

/// How a run ended; values are compact JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// With a value.
    Ok(String),
    /// With a failure, in a result function.
    Err(String),
    /// With a fault of the program.
    Fault {
        /// Its stable code.
        code: String,
        /// The function.
        function: String,
        /// Line and column of the instruction.
        at: (u32, u32),
        /// Line and column of an instruction that may be fused with it.
        fused: Option<(u32, u32)>,
        /// The message, if the specification fixes it.
        message: Option<String>,
    },
    /// A limit was reached.
    Limit,
    /// Something that the checks guarantee does not hold.
    Broken(String),
}
