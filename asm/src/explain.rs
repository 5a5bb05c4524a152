//! The explanation of each error code, with a wrong and a right example: the pages of the specification by
//! code.

use crate::notation::Notation;
use ilo_spec::error::Code;

const PAGES: &str = ilo_spec::error::PAGES;

/// The page of a code as Markdown without its title, or the chapter that covers it together with similar
/// codes; `None` for an unknown code.
pub fn explain(code: &str) -> Option<&'static str> {
    let known = Code::ALL.iter().find(|known| known.as_str() == code)?;
    let title = format!("\n## {known}\n");
    if let Some((_, page)) = PAGES.split_once(&title) {
        let page = page.split("\n# ").next().unwrap_or(page);
        return Some(page.split("\n## ").next().unwrap_or(page).trim());
    }
    let listed = format!("`{known}`");
    let chapter =
        PAGES.split("\n# ").find(|chapter| !chapter.contains("\n## ") && chapter.contains(&listed))?;
    chapter.split_once('\n').map(|(_, text)| text.trim())
}

/// A program of a page.
#[derive(Clone, Copy, Debug)]
pub struct Example<'p> {
    /// Its notation.
    pub notation: Notation,
    /// Its source.
    pub source: &'p str,
}

/// The programs of a page below the heading `Wrong` or `Right`. A fence's last word names the notation; `ilo`
/// is integer-ID text.
pub fn examples<'p>(page: &'p str, heading: &str) -> Vec<Example<'p>> {
    let Some((_, rest)) = page.split_once(&format!("### {heading}\n")) else { return Vec::new() };
    let part = rest.split("\n### ").next().unwrap_or(rest);
    programs(part)
}

/// The programs of any page.
pub fn programs(page: &str) -> Vec<Example<'_>> {
    let blocks = page.split("```").skip(1).step_by(2);
    let program = |block| {
        let (fence, source) = str::split_once(block, '\n')?;
        let word = fence.rsplit(' ').next()?;
        let notation = if word == "ilo" { Notation::Id } else { word.parse().ok()? };
        Some(Example { notation, source })
    };
    blocks.filter_map(program).collect()
}
