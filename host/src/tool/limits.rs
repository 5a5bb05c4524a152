//! The failures of answers that exceed a limit of the host, which name the option of the limit.

use super::Failure;
use ilo_drive::data::read::ReadErrorKind;
use ilo_spec::error::Code;

/// The option for the bytes of an answer, in a host and on the command line.
const BYTES: &str = "the limit is `result_bytes`, on the command line `--max-result`";
const VALUES: &str = "the limit is `result_nodes`, on the command line `--max-result-values`";

/// The failure of an answer that has more bytes than the limit of the run.
pub(crate) fn too_many_bytes(most: usize) -> Failure {
    Failure::Limit(Code::FaultTooLarge, format!("the tool's answer has more than {most} bytes; {BYTES}"))
}

/// The failure of an answer that exceeds a limit; `None` if something else is wrong with it.
pub(crate) fn exceeded(kind: &ReadErrorKind) -> Option<Failure> {
    Some(match kind {
        ReadErrorKind::Depth(_) => Failure::Limit(Code::FaultDepth, format!("the tool's answer is {kind}")),
        ReadErrorKind::Bytes(most) => too_many_bytes(*most),
        ReadErrorKind::Values(_) => {
            Failure::Limit(Code::FaultTooLarge, format!("the tool's answer has {kind}; {VALUES}"))
        }
        _ => return None,
    })
}
