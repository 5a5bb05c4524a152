//! Selects the entry function of a file.

use super::facts::Checked;
use super::messages::names as messages;
use super::report::Report;
use crate::ast::File;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The index of the entry function: the requested one, otherwise the only one that no other function calls.
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
        let nearest = Report::new(&mut Diagnostics::default()).near(name, names());
        Box::new(messages::no_function(file, name, nearest.map(|near| near.name)))
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
        _ => Err(Box::new(messages::no_single_entry(file, &candidates))),
    }
}
