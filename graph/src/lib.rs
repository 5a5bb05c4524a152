//! Draws programs, for people who want to see what a program will do before it runs.
//!
//! [`walk`] turns the tree into a neutral picture ([`model`]) once; each form only writes it: [`svg`] with a
//! layout of its own ([`layout`]), [`dot`] and [`mermaid`] without positions, which their tools compute.
//! Calls of tools are highlighted; rollbacks, failures and data flow have their own styles. This crate does
//! not check programs: a faulty tree gives a picture of what it contains.

mod annotate;
mod dot;
mod expression_nodes;
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

/// A picture format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A self-contained SVG, readable on light and dark backgrounds.
    #[default]
    Svg,
    /// Graphviz text.
    Dot,
    /// Mermaid flowchart text.
    Mermaid,
}

impl Format {
    /// Every format with its name. This is the only list of them.
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
            format!("`{name}` is not a form of picture: expected one of {}", known.join(", "))
        })
    }
}

/// Draws every function of a file, in a frame each.
///
/// Time and size are at worst linear in the size of the program times its nesting. Texts are cut to what a
/// picture can show.
pub fn graph(file: &File<'_>, format: Format) -> String {
    let graph = walk::graph(file);
    match format {
        Format::Svg => svg::write(&graph),
        Format::Dot => dot::write(&graph),
        Format::Mermaid => mermaid::write(&graph),
    }
}
