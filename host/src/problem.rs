//! A problem with something that a person gave, as data: a code, a place, and a message that says what to
//! write instead.
//!
//! It knows no file and prints nothing; problems are gathered until all of them are known.

use ilo_spec::error::Code;
use std::fmt;

/// Longest name that is compared with others: nobody misspells more, and comparing takes time by the square.
const NAME: usize = 64;
/// Names that one is compared with, for the same reason.
const NAMES: usize = 1_000;
/// Names that are listed: more are not read.
const LISTED: usize = 20;
/// Problems that are gathered at once: nobody reads more, and finding the place of each takes time.
pub(crate) const MOST: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its stable code.
    pub code: Code,
    /// Where: a file with line and column, an option, a tool; empty where nothing can be said.
    pub place: String,
    /// What was expected, what was found, and what to write instead where that is clear.
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

/// The name nearest to `found`, where one is near enough to have been meant.
pub fn nearest<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if found.len() > NAME {
        return None;
    }
    let allowed = (found.chars().count() / 3).clamp(1, 3);
    names
        .into_iter()
        .take(NAMES)
        .filter(|name| name.len() <= NAME)
        .map(|name| (strsim::osa_distance(&found.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// `; did you mean …?` where a name is near, else nothing.
pub fn did_you_mean<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    nearest(found, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// `; did you mean …?` where a name is near, else the names that there are, the first twenty of them.
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

/// The beginning of a text that may be long, on one line, for messages.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
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
