//! What an asynchronous run is given, apart from its program and input.

use super::super::{Observer, Options, Recorder};
use super::ask::{Asked, Asker};
use crate::tools::Tools;
use crate::tools::consent::Consent;
use ilo_drive::event::Event;
use std::fmt;
use std::sync::Arc;

/// What an asynchronous run needs. Each method sets one thing.
#[must_use]
pub struct AsyncOptions {
    pub(super) tools: Arc<Tools>,
    pub(super) function: Option<String>,
    pub(super) options: Options,
    pub(super) ask: Option<Asker>,
    pub(super) observer: Option<Box<dyn Observer + Send>>,
    pub(super) on_event: Option<Box<dyn FnMut(Event) + Send>>,
    pub(super) recorder: Option<Box<dyn Recorder + Send>>,
    pub(super) tool_call_id: Option<String>,
}

impl fmt::Debug for AsyncOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AsyncOptions { function, options, .. } = self;
        f.debug_struct("AsyncOptions")
            .field("function", function)
            .field("options", options)
            .finish_non_exhaustive()
    }
}

impl AsyncOptions {
    /// A run with these tools, which many runs can share, and with the default limits.
    pub fn new(tools: &Arc<Tools>) -> AsyncOptions {
        AsyncOptions {
            tools: Arc::clone(tools),
            function: None,
            options: Options::default(),
            ask: None,
            observer: None,
            on_event: None,
            recorder: None,
            tool_call_id: None,
        }
    }

    /// The function to run, if it is not the only one that no other function calls.
    pub fn function(self, name: impl Into<String>) -> AsyncOptions {
        AsyncOptions { function: Some(name.into()), ..self }
    }

    /// The limits of the run and of its calls, and what ends it early.
    pub fn options(self, options: Options) -> AsyncOptions {
        AsyncOptions { options, ..self }
    }

    /// Asks a person before each call of a tool with `confirm`. The question may take until its deadline; if
    /// it panics, the call is not made. Without this, [`Options::ask`] is asked on a thread for blocking
    /// work.
    pub fn ask<F>(self, ask: impl Fn(Asked) -> F + Send + Sync + 'static) -> AsyncOptions
    where
        F: Future<Output = Consent> + Send + 'static,
    {
        AsyncOptions { ask: Some(Arc::new(move |asked| Box::pin(ask(asked)))), ..self }
    }

    /// Gets each event of the run at once: start and end of every call, also of those that are made ahead. It
    /// is called between two steps of the run and must not block; a panic in it changes nothing of the run.
    pub fn on_event(self, on_event: impl FnMut(Event) + Send + 'static) -> AsyncOptions {
        AsyncOptions { on_event: Some(Box::new(on_event)), ..self }
    }

    /// Watches the calls in the order in which the run makes them, such as a [`Trace`](crate::trace::Trace).
    /// To have it back, give an `Arc<Mutex<…>>` of it.
    pub fn observer(self, observer: impl Observer + Send + 'static) -> AsyncOptions {
        AsyncOptions { observer: Some(Box::new(observer)), ..self }
    }

    /// Records the run, such as a journal's `Recording`. To have it back, give an `Arc<Mutex<…>>` of it.
    pub fn recorder(self, recorder: impl Recorder + Send + 'static) -> AsyncOptions {
        AsyncOptions { recorder: Some(Box::new(recorder)), ..self }
    }

    /// The identity that a framework has given to the call of the whole run, for its events.
    pub fn tool_call_id(self, id: impl Into<String>) -> AsyncOptions {
        AsyncOptions { tool_call_id: Some(id.into()), ..self }
    }
}
