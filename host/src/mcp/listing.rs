//! Reads the tools that a server lists, within limits. A tool that cannot be read does not affect the others.

use super::answer::{WRAPPED, prepare, result_of, unfit};
use super::members::{items, members, text_of, unreadable};
use super::pending::Pending;
use super::reason::{short, why};
use crate::json::kind;
use crate::tool::Failure;
use crate::tool::numbers::read_schema as read_schema_of;
use ilo_asm::text::is_hidden;
use ilo_drive::data::Data;
use ilo_drive::data::read::Bounds;
use ilo_drive::problem::shortened;
use ilo_spec::limits;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, Extensions, ListToolsRequest, ListToolsRequestMethod, PaginatedRequestParams,
    RequestId,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use std::sync::Arc;

/// The most tools that one server may list, and the most pages: a program has no use for more.
const TOOLS: usize = 10_000;
/// The most values in all their schemas together.
const VALUES: usize = 300_000;

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) input_schema: Option<Arc<Data>>,
    pub(super) output_schema: Option<Arc<Data>>,
}

impl Listed {
    /// Whether its schema says that its structured content is a wrapper of one value.
    pub(super) fn is_wrapped(&self) -> bool {
        self.output_schema.as_ref().and_then(|schema| schema.get(WRAPPED)) == Some(&Data::Bool(true))
    }
}

/// A server's tools, and those that cannot be used: the name where it has one, and why.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    pub(super) bad: Vec<(String, String)>,
}

/// A page of a listing.
struct Page {
    next: Option<String>,
}

/// Every tool of a server, page by page.
pub(super) async fn list(peer: &Peer<RoleClient>, pending: &Pending) -> Result<Listing, String> {
    let mut listing = Listing::default();
    let mut cursor: Option<String> = None;
    let mut left = VALUES;
    for _ in 0..TOOLS {
        let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let request = ListToolsRequest {
            method: ListToolsRequestMethod,
            params: Some(params),
            extensions: Extensions::default(),
        };
        let Some(mut message) = ask(peer, pending, ClientRequest::ListToolsRequest(request)).await? else {
            return Ok(listing);
        };
        let page = page(&mut message, &mut listing, &mut left)
            .map_err(|failure| format!("does not list its tools: {}", said(&failure)))?;
        if listing.tools.len() + listing.bad.len() > TOOLS {
            break;
        }
        match page.next {
            None => return Ok(unique(listing)),
            Some(next) if cursor.as_ref() == Some(&next) => {
                return Err("lists its tools without end: a page leads to itself".to_owned());
            }
            Some(next) => cursor = Some(next),
        }
    }
    Err(format!("lists more than {TOOLS} tools, or as many pages"))
}

/// Removes a request when nobody waits for it any more.
struct Forgotten<'p> {
    pending: &'p Pending,
    id: RequestId,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        self.pending.forget(&self.id);
    }
}

/// Requests a page; `None` if the server has no tools at all.
async fn ask(
    peer: &Peer<RoleClient>,
    pending: &Pending,
    request: ClientRequest,
) -> Result<Option<Vec<u8>>, String> {
    let not_listed = |why: &str| format!("does not list its tools: {why}");
    let handle = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let handle = handle.map_err(|error| not_listed(&why(&error)))?;
    let id = handle.id.clone();
    let _forgotten = Forgotten { pending, id: id.clone() };
    let answer = handle.await_response().await;
    let text = pending.take(&id);
    match (answer, text) {
        (_, Some(Ok(message))) if is_unknown_method(&message) => Ok(None),
        (_, Some(Ok(message))) => Ok(Some(message)),
        (_, Some(Err(failure))) => Err(not_listed(&said(&failure))),
        (Err(ServiceError::McpError(error)), None) if error.code == ErrorCode::METHOD_NOT_FOUND => Ok(None),
        (Err(error), None) => Err(not_listed(&why(&error))),
        (Ok(_), None) => Err(not_listed("an answer that cannot be read")),
    }
}

/// Whether an answer says that the method is unknown.
fn is_unknown_method(message: &[u8]) -> bool {
    let mut unknown = false;
    // A malformed answer is reported when it is read.
    drop(members(message, |name, value| {
        if name == "error" {
            members(value, |name, value| {
                unknown |= name == "code" && value == ErrorCode::METHOD_NOT_FOUND.0.to_string().as_bytes();
                Ok(())
            })?;
        }
        Ok(())
    }));
    unknown
}

fn said(failure: &Failure) -> String {
    match failure {
        Failure::Failed(Data::Text(text)) | Failure::InDoubt(text) | Failure::Limit(_, text) => short(text),
        _ => "it cannot be read".to_owned(),
    }
}

/// Takes the tools of a page.
fn page(message: &mut [u8], listing: &mut Listing, left: &mut usize) -> Result<Page, Failure> {
    prepare(message)?;
    let (mut tools, mut next) = (None, None);
    members(result_of(message)?, |name, value| {
        match name {
            "tools" => tools = Some(value),
            "nextCursor" => next = text_of(value).map(String::from),
            _ => {}
        }
        Ok(())
    })?;
    let tools = tools.ok_or_else(|| Failure::text("the answer is without `tools`"))?;
    let whole = items(tools, |tool| {
        let place = listing.tools.len() + listing.bad.len() + 1;
        if place > TOOLS + 1 {
            return Ok(());
        }
        match read_tool(tool, left) {
            Ok(tool) => listing.tools.push(tool),
            Err((name, why)) => {
                let name = name.unwrap_or_else(|| format!("number {place}"));
                listing.bad.push((name, why));
            }
        }
        Ok(())
    })?;
    if whole { Ok(Page { next }) } else { Err(Failure::text(format!("`tools` is {}", kind(tools)))) }
}

/// Reads one tool. The error has its name, if it has one, and what is wrong with it.
fn read_tool(text: &[u8], left: &mut usize) -> Result<Listed, (Option<String>, String)> {
    let (mut name, mut description, mut input, mut output) = (None, None, None, None);
    let read = members(text, |key, value| {
        match key {
            "name" => name = Some(value),
            "description" => description = text_of(value),
            "inputSchema" => input = Some(value),
            "outputSchema" => output = Some(value).filter(|&value| value != b"null"),
            _ => {}
        }
        Ok(())
    });
    match read {
        Ok(true) => {}
        Ok(false) => return Err((None, format!("it is {}, expected a record", kind(text)))),
        Err(failure) => return Err((None, said(&failure))),
    }
    let Some(name) = name.and_then(text_of).filter(|name| !name.is_empty()) else {
        return Err((None, "it is without a name".to_owned()));
    };
    if name.chars().any(is_hidden) {
        return Err((None, "its name has characters that are not shown".to_owned()));
    }
    let mut schema = |key: &str, value: Option<&[u8]>| {
        value.map(|value| read_schema(value, left).map_err(|why| format!("its `{key}` {why}"))).transpose()
    };
    let schemas = schema("inputSchema", input).and_then(|input| Ok((input, schema("outputSchema", output)?)));
    let (input_schema, output_schema) = schemas.map_err(|why| (Some(name.clone().into_owned()), why))?;
    let description = description.map(|text| shortened(&text, limits::DEFAULT_LINE));
    Ok(Listed { name: name.into_owned(), description, input_schema, output_schema })
}

fn read_schema(text: &[u8], left: &mut usize) -> Result<Arc<Data>, String> {
    if text.first() != Some(&b'{') {
        return Err(format!("is {}, expected a record", kind(text)));
    }
    let bounds = Bounds::default();
    let values = bounds.values.min(*left);
    let schema = read_schema_of(text, &Bounds { values, ..bounds }).map_err(|error| match unfit(&error) {
        Failure::Limit(..) => "is too large".to_owned(),
        _ => format!("cannot be read: {}", error.kind),
    })?;
    *left -= count(&schema).min(*left);
    Ok(Arc::new(schema))
}

/// The number of values in a JSON value.
fn count(data: &Data) -> usize {
    let (mut open, mut count) = (vec![data], 0);
    while let Some(data) = open.pop() {
        count += 1;
        match data {
            Data::List(items) => open.extend(items),
            Data::Record(fields) => open.extend(fields.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    count
}

/// The tools, each name once. One that is listed twice cannot be used, since a call would be of either.
fn unique(mut listing: Listing) -> Listing {
    let mut names: Vec<String> = listing.tools.iter().map(|tool| tool.name.clone()).collect();
    names.sort_unstable();
    let several = names.chunk_by(|one, other| one == other).filter(|same| same.len() > 1);
    let twice: Vec<String> = several.filter_map(|same| same.first().cloned()).collect();
    listing.tools.retain(|tool| twice.binary_search(&tool.name).is_err());
    listing.bad.extend(twice.into_iter().map(|name| (name, "its server lists it more than once".to_owned())));
    listing
}

/// The message about a malformed answer.
pub(super) fn no_answer() -> Failure {
    unreadable("expected an answer to a call")
}
