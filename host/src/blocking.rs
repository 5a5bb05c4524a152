//! Functions that block their thread refuse to do so in asynchronous code, where everything else on the
//! thread would wait, and perhaps what they wait for.

use ilo_drive::blocking::is_asynchronous;
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;

/// Refuses a call of `function` in asynchronous code.
///
/// # Errors
/// What to do instead.
pub(crate) fn refuse(function: &str, instead: &str) -> Result<(), Problem> {
    if !is_asynchronous() {
        return Ok(());
    }
    let message = format!(
        "`{function}` blocks its thread, and this is asynchronous code; await {instead}, or call it in \
         `tokio::task::spawn_blocking`"
    );
    Err(Problem::new(Code::BadUsage, "", message))
}
