//! The workflow `ilo`: a run, and the requests and decisions of people while it runs.

use crate::decision::{Decision, Waiting, promise};
use crate::drive::{Settings, drive};
use crate::order::Order;
use ilo_host::Tools;
use restate_sdk::prelude::*;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The key under which the server keeps the description of a waiting run.
pub(crate) const WAITING: &str = "waiting";

/// The workflow. Its key is the name of the run.
pub(crate) struct Ilo {
    pub(crate) tools: Arc<Tools>,
    pub(crate) settings: Settings,
}

#[workflow(name = "ilo")]
impl Ilo {
    /// Runs a program to its outcome.
    #[handler]
    async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        Json(order): Json<Order>,
    ) -> Result<Json<Box<RawValue>>, HandlerError> {
        let run = order.begin(&self.tools).map_err(|why| TerminalError::new_with_code(400, why))?;
        let outcome = drive(&ctx, run, &self.tools, &self.settings).await?;
        Ok(Json(RawValue::from_string(outcome)?))
    }

    /// What the run waits for; null if nobody has to decide.
    #[handler]
    async fn status(&self, ctx: SharedWorkflowContext<'_>) -> Result<Json<Option<Waiting>>, HandlerError> {
        Ok(Json(ctx.get::<Json<Waiting>>(WAITING).await?.map(|Json(waiting)| waiting)))
    }

    /// Takes a person's decision on a call.
    #[handler]
    async fn decide(
        &self,
        ctx: SharedWorkflowContext<'_>,
        Json(decision): Json<Decision>,
    ) -> Result<(), HandlerError> {
        let waiting = ctx.get::<Json<Waiting>>(WAITING).await?.map(|Json(waiting)| waiting);
        let promise =
            promise(waiting, &decision).map_err(|(status, why)| TerminalError::new_with_code(status, why))?;
        ctx.resolve_promise(&promise, Json(decision));
        Ok(())
    }
}
