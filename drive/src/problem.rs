//! A problem with something that a person gave, as data: a code, a place, and a message that says what to
//! write instead.
//!
//! It knows no file and prints nothing; problems are gathered until all of them are known.

pub use ilo_asm::text::shortened;
use ilo_spec::error::Code;
use std::fmt;
use std::ops::Deref;

/// Characters of a name that are shown.
const NAME: usize = 64;
/// Names that are compared with a given one. Comparing takes time, and names come from outside.
const NAMES: usize = 1_000;
/// Names that are listed.
const LISTED: usize = 20;
/// Problems that are collected at once: finding the position of each takes time.
pub const MOST: usize = 100;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its stable code.
    pub code: Code,
    /// The place: a file with line and column, an option, a tool. Empty if there is none.
    pub place: String,
    /// The message: what was expected and found, and the fix if there is one.
    pub message: String,
}

impl Problem {
    /// A problem at a place.
    pub fn new(code: Code, place: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { code, place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: ", self.code)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Several problems as one error: all that prevent something. It is read like a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl fmt::Display for Problems {
    /// A line for each problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl Deref for Problems {
    type Target = Vec<Problem>;

    fn deref(&self) -> &Vec<Problem> {
        &self.0
    }
}

impl From<Vec<Problem>> for Problems {
    fn from(problems: Vec<Problem>) -> Problems {
        Problems(problems)
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

impl From<Problems> for Vec<Problem> {
    fn from(problems: Problems) -> Vec<Problem> {
        problems.0
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// The name nearest to `found`, if one is near enough.
pub fn nearest<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    ilo_asm::text::nearest(found, names.into_iter().take(NAMES))
}

/// `; did you mean …?` if a name is near, else nothing.
pub fn did_you_mean<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    nearest(found, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// `; did you mean …?` if a name is near, else the first twenty of the existing names.
pub fn meant_or_all<'n>(found: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> String {
    if let Some(name) = nearest(found, names.clone()) {
        return format!("; did you mean `{name}`?");
    }
    let all: Vec<&str> = names.into_iter().take(LISTED + 1).collect();
    let shown: Vec<String> =
        all.iter().take(LISTED).map(|name| format!("`{}`", shortened(name, NAME))).collect();
    match shown.as_slice() {
        [] => "; there are none".to_owned(),
        [only] => format!("; there is only {only}"),
        several => {
            format!("; there are {}{}", several.join(", "), if all.len() > LISTED { ", …" } else { "" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_a_near_name_is_offered() {
        let names = ["mock", "command", "timeout_ms"];
        assert_eq!(nearest("mok", names), Some("mock"));
        assert_eq!(nearest("Command", names), Some("command"));
        assert_eq!(nearest("timeout-ms", names), Some("timeout_ms"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("retries", names), None);
        assert_eq!(nearest(&"m".repeat(1_000_000), names), None);
    }
}
