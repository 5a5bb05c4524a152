//! Orders the functions of a file so that every call goes to an earlier function.

use super::messages::names as messages;
use super::report::Report;
use crate::ast::File;
use crate::notation::Notation;
use crate::span::Span;

/// A call: the caller, the callee, and the span.
pub(super) type Edges = Vec<Vec<(u32, Span)>>;

/// The functions in an order in which every call goes to an earlier one. A cycle is an error; the order is
/// then that of the file.
pub(super) fn order(file: &File<'_>, edges: &Edges, report: &mut Report<'_>) -> Vec<u32> {
    #[derive(Clone, Copy)]
    enum Mark {
        New,
        /// On the path from the function where the search began, at this index.
        Open(usize),
        Done,
    }
    let notation = file.functions.first().map_or(Notation::Id, |function| function.notation);
    let mut marks = vec![Mark::New; file.functions.len()];
    let mut order = Vec::with_capacity(marks.len());
    let mut way: Vec<(u32, usize)> = Vec::new();
    for root in (0..).take(file.functions.len()) {
        if matches!(marks[root as usize], Mark::New) {
            marks[root as usize] = Mark::Open(0);
            way.push((root, 0));
        }
        while let Some((function, next)) = way.last_mut() {
            let function = *function;
            let Some(&(callee, span)) = edges[function as usize].get(*next) else {
                marks[function as usize] = Mark::Done;
                order.push(function);
                way.pop();
                continue;
            };
            *next += 1;
            match marks[callee as usize] {
                Mark::Done => {}
                Mark::New => {
                    marks[callee as usize] = Mark::Open(way.len());
                    way.push((callee, 0));
                }
                Mark::Open(place) => {
                    let name = |&(index, _): &(u32, usize)| file.functions[index as usize].name.text;
                    let names = way[place..].iter().map(name);
                    report.push(messages::circular_call(names, span, notation));
                }
            }
        }
    }
    order
}
