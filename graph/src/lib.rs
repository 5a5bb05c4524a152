//! Draws a program, for people who want to see what it will do before it runs.
//!
//! The tree becomes a neutral picture once ([`walk`] into [`model`]); each form then only writes it down:
//! [`svg`] with a layout of its own ([`layout`]), [`dot`] and [`mermaid`] leaving the layout to their tools.
//! Calls of tools are highlighted; rollbacks, failures and data flow have a look of their own. Nothing
//! here checks a program: a faulty tree gives a picture of what it says.

mod dot;
mod expression_nodes;
mod finish;
mod flow;
mod layout;
mod mermaid;
mod model;
mod names;
mod svg;
mod text;
mod walk;

pub use svg::escape;
pub use text::{clean, columns};

use ilo_asm::ast::File;
use std::fmt;
use std::str::FromStr;

/// A form of picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A self-contained SVG, readable on light and dark ground.
    #[default]
    Svg,
    /// Graphviz text.
    Dot,
    /// Mermaid flowchart text.
    Mermaid,
}

impl Format {
    /// Every form with its name; the one list of them.
    pub const ALL: [(Format, &'static str); 3] =
        [(Format::Svg, "svg"), (Format::Dot, "dot"), (Format::Mermaid, "mermaid")];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Format::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        Format::ALL.iter().find(|(_, known)| *known == name).map(|&(format, _)| format).ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.iter().map(|&(_, name)| name).collect();
            format!("`{name}` is no form of picture: expected one of {}", known.join(", "))
        })
    }
}

/// Draws every function of a file, one frame each.
///
/// Time and size are linear in the program, times its nesting at worst; texts are cut to what a picture can
/// show.
pub fn graph(file: &File<'_>, format: Format) -> String {
    let graph = walk::graph(file);
    match format {
        Format::Svg => svg::write(&graph),
        Format::Dot => dot::write(&graph),
        Format::Mermaid => mermaid::write(&graph),
    }
}
