//! Which function of a file runs.

use super::resolve::some_of;
use super::{Checked, Report};
use crate::ast::File;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use ilo_spec::error::Code;

/// The function that runs: the one asked for, else the only one that no other calls, as an index into the file's.
pub fn entry(file: &File<'_>, checked: &Checked, asked: Option<&str>) -> Result<u32, Box<Diagnostic>> {
    match asked {
        Some(name) => named(file, name),
        None => uncalled(file, checked),
    }
}

fn named(file: &File<'_>, name: &str) -> Result<u32, Box<Diagnostic>> {
    let names = || file.functions.iter().map(|function| function.name.text);
    let found = (0..).zip(names()).find(|&(_, own)| own == name);
    found.map(|(index, _)| index).ok_or_else(|| {
        let nearest = Report { diagnostics: &mut Diagnostics::default(), comparisons: super::COMPARISONS }
            .near(name, names())
            .map(|near| near.name);
        let message = format!("no function is named `{name}`");
        Box::new(
            Diagnostic::new(Code::UnknownFunction, Span::at(0), message)
                .expected(some_of(names()), format!("`{name}`"))
                .nearest(nearest),
        )
    })
}

fn uncalled(file: &File<'_>, checked: &Checked) -> Result<u32, Box<Diagnostic>> {
    let mut called = vec![false; file.functions.len()];
    for (caller, facts) in (0_u32..).zip(&checked.functions) {
        for callee in facts.calls.iter().filter_map(|call| call.function).filter(|&callee| callee != caller) {
            if let Some(called) = called.get_mut(callee as usize) {
                *called = true;
            }
        }
    }
    let candidates: Vec<u32> =
        (0..).zip(&called).filter(|&(_, called)| !called).map(|(index, _)| index).collect();
    match candidates[..] {
        [only] => Ok(only),
        _ => Err(Box::new(no_single(file, &candidates))),
    }
}

fn no_single(file: &File<'_>, candidates: &[u32]) -> Diagnostic {
    let functions = || candidates.iter().filter_map(|&index| file.functions.get(index as usize));
    let names = some_of(functions().map(|function| function.name.text));
    let message = match candidates {
        [] => "every function is called by another: none of them is where the program begins".to_owned(),
        _ => format!("several functions are called by no other: {names}"),
    };
    let span = functions().next().map_or(Span::at(0), |function| function.span);
    Diagnostic::new(Code::NoSingleEntry, span, message)
        .expected("one function that no other calls", format!("{} such functions", candidates.len()))
        .help("say which one runs")
}
