//! Mocks as tools: the pause before an answer.

use crate::tool::{Failure, Provider, Request};
use ilo_drive::data::Data;
use ilo_drive::mock::Mock;

impl Provider for Mock {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let (delay, answer) = self.answer(request.tool, request.arguments);
        request.wait(delay)?;
        answer
    }

    fn may_run_ahead(&self) -> bool {
        Mock::may_run_ahead(self)
    }
}
