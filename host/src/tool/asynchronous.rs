//! Tools of the host that are asynchronous functions. `run::asynchronous` makes their calls.

use super::typed::{answer, arguments};
use super::{Failure, Provider, Request, Tool};
use crate::interrupt::{Interrupt, Wait};
use ilo_drive::data::Data;
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// One call of an asynchronous tool. It can be dropped, kept, or handed on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AsyncRequest {
    /// The name of the tool in the table.
    pub tool: Arc<str>,
    /// The deadline of the answer. After it the call is dropped where it awaits something, and has failed.
    pub deadline: Instant,
    /// The idempotency key of the call in a run with a journal. It is the same for each attempt.
    pub key: Option<Arc<str>>,
    pub(crate) cancel: Interrupt,
}

impl AsyncRequest {
    /// Whether the run was cancelled. A call that changes something is still awaited.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// Ends once the run is cancelled, for a call that can end early in an orderly way.
    pub fn cancelled(&self) -> Wait {
        self.cancel.wait()
    }
}

/// The result of a call, later.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Data, Failure>> + Send>>;

/// Begins a call.
pub(crate) type Begin = dyn Fn(Data, AsyncRequest) -> Answering + Send + Sync;

/// An asynchronous function as the provider of a tool.
struct Function(Arc<Begin>);

impl Provider for Function {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let name = request.tool;
        Err(Failure::Unsent(format!("tool `{name}` is asynchronous; start the run with `run_async`")))
    }

    fn asynchronous(&self) -> Option<Arc<Begin>> {
        Some(Arc::clone(&self.0))
    }
}

impl Tool {
    /// A tool that is an asynchronous function of the host, for `run_async`. `A`, `R` and `E` are those of
    /// [`Tool::typed`].
    ///
    /// The call is a task of the runtime. It is dropped at its deadline, when its answer is no longer wanted,
    /// and, if it only reads, when the run is cancelled. A panic fails the call.
    pub fn asynchronous<A, R, E, F>(
        name: impl Into<String>,
        function: impl Fn(A, AsyncRequest) -> F + Send + Sync + 'static,
    ) -> Tool
    where
        A: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let begin = move |given: Data, request: AsyncRequest| -> Answering {
            match arguments(given) {
                Ok(arguments) => {
                    let future = function(arguments, request);
                    Box::pin(async move { answer(future.await) })
                }
                Err(failure) => Box::pin(std::future::ready(Err(failure))),
            }
        };
        Tool::new(name, Box::new(Function(Arc::new(begin))))
    }
}
