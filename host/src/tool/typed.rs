//! Tools of the host with the types of its own functions: their arguments are deserialized, and what they
//! return is serialized.

use super::{Failure, Request, Tool};
use ilo_drive::data::{from_data, to_data};
use ilo_drive::policy::Policy;
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use std::error::Error;

/// The typed arguments of a call. A call whose arguments do not fit is not made.
pub(crate) fn arguments<A: DeserializeOwned>(given: ilo_drive::data::Data) -> Result<A, Failure> {
    from_data(given).map_err(|error| Failure::Unsent(error.to_string()))
}

/// The answer of a call, from what its function returned.
pub(crate) fn answer<R: Serialize, E: Into<Box<dyn Error + Send + Sync>>>(
    returned: Result<R, E>,
) -> Result<ilo_drive::data::Data, Failure> {
    let value = returned.map_err(Failure::of)?;
    to_data(&value).map_err(|error| Failure::Misfit(error.to_string()))
}

impl Tool {
    /// A tool that is a function of the host. `A` is what `serde` makes of the record of arguments; a
    /// function that wants them as they are takes [`Data`](ilo_drive::data::Data). `E` is a text, a
    /// [`Failure`], or any error that can be sent between threads: its message fails the call.
    ///
    /// The function blocks its thread: `run` calls it on a thread of the run, `run_async` on one of the
    /// runtime's threads for that. It gives up at the deadline of the request, with [`Failure::TimedOut`].
    pub fn typed<A, R, E>(
        name: impl Into<String>,
        function: impl Fn(A, &Request<'_>) -> Result<R, E> + Send + Sync + 'static,
    ) -> Tool
    where
        A: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        let provider =
            move |request: &Request<'_>| answer(function(arguments(request.arguments.clone())?, request));
        Tool::new(name, Box::new(provider))
    }

    /// The tool with this policy.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Tool {
        Tool { policy, ..self }
    }

    /// The tool with this description, for people and models.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Tool {
        Tool { description: Some(description.into()), ..self }
    }

    /// The tool with the JSON Schemas of its arguments and answers. The check compares programs with them,
    /// and calls that do not fit are not made.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn described_by<A: schemars::JsonSchema, R: schemars::JsonSchema>(mut self) -> Tool {
        for (key, schema) in
            [("input_schema", schemars::schema_for!(A)), ("output_schema", schemars::schema_for!(R))]
        {
            match super::schema::of_value(&schema.to_value()) {
                Ok(schema) if key == "input_schema" => self.input_schema = Some(schema),
                Ok(schema) => self.output_schema = Some(schema),
                Err(why) => {
                    let place = format!("tool `{}`", self.name);
                    let message = format!("{key}: {why}");
                    let code = ilo_spec::error::Code::BadToolsFile;
                    self.lacks.push(ilo_drive::problem::Problem::new(code, place, message));
                }
            }
        }
        self
    }
}
