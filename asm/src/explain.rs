//! What an error code means, with a wrong and a right example: the pages of the specification, cut by code.

use ilo_spec::error::Code;

const PAGES: &str = include_str!("../../spec/doc/errors.md");

/// The page of a code, as Markdown without its title; `None` where the code is unknown or explained in prose only.
pub fn explain(code: &str) -> Option<&'static str> {
    let known = Code::ALL.iter().find(|known| known.as_str() == code)?;
    let title = format!("\n## {known}\n");
    let (_, page) = PAGES.split_once(&title)?;
    Some(page.split("\n## ").next().unwrap_or(page).trim())
}

/// The code blocks of a page below the heading `Wrong` or `Right`.
pub fn examples<'p>(page: &'p str, heading: &str) -> Vec<&'p str> {
    let Some((_, rest)) = page.split_once(&format!("### {heading}\n")) else { return Vec::new() };
    let part = rest.split("\n### ").next().unwrap_or(rest);
    let blocks = part.split("```ilo\n").skip(1);
    blocks.filter_map(|block| block.split_once("```").map(|(example, _)| example)).collect()
}
