//! The tools of a generated program and their answers.

use crate::data::Data;
use crate::generate::Tool;

/// The number of answers that each tool has given.
#[derive(Clone, Debug)]
pub struct World<'t> {
    tools: &'t [Tool],
    used: Vec<usize>,
}

impl<'t> World<'t> {
    /// Tools before their first call.
    pub fn new(tools: &'t [Tool]) -> World<'t> {
        World { tools, used: vec![0; tools.len()] }
    }

    /// The next answer of a tool: a value or a failure. A program calls no other tools.
    pub fn call(&mut self, name: &str) -> Option<&'t Result<Data, Data>> {
        let place = self.tools.iter().position(|tool| tool.name == name)?;
        let answers = &self.tools[place].answers;
        let answer = answers.get(self.used[place]).or(answers.last());
        self.used[place] += 1;
        answer
    }
}
