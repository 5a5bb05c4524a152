//! Finds the tool or function that an unknown name most likely means.

use super::report::Report;
use crate::catalog::{Catalog, Lookup, is_address, server_and_tool, tool_of_client_name};
use crate::text::Near;

/// The tool or function that a name most likely means.
pub(super) fn tool<'c>(
    catalog: &'c Catalog,
    name: &str,
    functions: impl Iterator<Item = &'c str>,
    report: &mut Report<'_>,
) -> Option<Near<'c>> {
    if is_address(name) {
        return on_server(catalog, name, report);
    }
    let near = report.near(name, functions.chain(catalog.names_like(name)));
    near.or_else(|| by_client_name(catalog, name)).or_else(|| by_part(catalog, name, report))
}

/// The only tool whose name begins or ends with this name as a separate word: `lookup-order` for `lookup`.
fn by_part<'c>(catalog: &'c Catalog, name: &str, report: &mut Report<'_>) -> Option<Near<'c>> {
    let parted = |c: char| matches!(c, '-' | '_' | '/' | '.');
    let meets = |tool: &str| {
        tool.strip_prefix(name).is_some_and(|rest| rest.starts_with(parted))
            || tool.strip_suffix(name).is_some_and(|rest| rest.ends_with(parted))
    };
    let tools = catalog.tools();
    report.spend(tools.len())?;
    let mut found = tools.iter().filter(|tool| meets(&tool.name));
    let only = found.next().filter(|_| !name.is_empty())?;
    found.next().is_none().then_some(Near { name: &only.name, sure: false })
}

/// The tool of a name in the form that other clients use for tools of servers.
fn by_client_name<'c>(catalog: &'c Catalog, name: &str) -> Option<Near<'c>> {
    match catalog.lookup(tool_of_client_name(name)?) {
        Lookup::Found(tool) => Some(Near { name: &tool.name, sure: true }),
        _ => None,
    }
}

/// The tool nearest to an address: a tool of the same server, or a tool of the same name on a server with a
/// similar name. The parts of addresses are compared separately.
fn on_server<'c>(catalog: &'c Catalog, name: &str, report: &mut Report<'_>) -> Option<Near<'c>> {
    let (server, tool) = server_and_tool(name)?;
    let all = || {
        catalog.tools().iter().filter_map(|tool| {
            let (server, own) = server_and_tool(&tool.name)?;
            Some((tool.name.as_str(), server, own))
        })
    };
    let own = report.near(tool, all().filter(|&(_, of, _)| of == server).map(|(.., own)| own));
    if let Some(own) = own {
        let found = all().find(|&(_, of, name)| of == server && name == own.name);
        return found.map(|(name, ..)| Near { name, sure: own.sure });
    }
    let of = report.near(server, all().filter(|&(.., own)| own == tool).map(|(_, of, _)| of))?;
    let found = all().find(|&(_, name, own)| name == of.name && own == tool);
    found.map(|(name, ..)| Near { name, sure: of.sure })
}
