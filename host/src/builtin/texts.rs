//! Built-in tools on texts: regular expressions, hashes and encodings. Each takes time in proportion to its
//! text, and its answer is bounded while it is made.

use super::{bad, text};
use crate::tool::limits::too_many_bytes;
use crate::tool::{Failure, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ilo_drive::data::Data;
use ilo_drive::data::write::hex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::{Regex, RegexBuilder};
use sha2::{Digest, Sha256, Sha512};

/// The maximum size of a compiled expression, since matching time is also proportional to it.
const EXPRESSION: usize = 256 << 10;
/// Characters that a part of a URL may have unescaped (RFC 3986, unreserved).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An optional argument that is a bool.
fn flag(request: &Request<'_>, name: &str) -> Result<bool, Failure> {
    match request.arguments.get(name) {
        None | Some(Data::Nil) => Ok(false),
        Some(Data::Bool(value)) => Ok(*value),
        other => Err(bad(name, "a bool", other)),
    }
}

fn too_large(request: &Request<'_>) -> Failure {
    too_many_bytes(request.bounds.bytes)
}

fn expression(request: &Request<'_>) -> Result<Regex, Failure> {
    let pattern = text(request, "pattern")?;
    let built = RegexBuilder::new(pattern).size_limit(EXPRESSION).dfa_size_limit(4 * EXPRESSION).build();
    built.map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Failure::text(format!("argument `pattern` is not a regular expression that can be used: {why}"))
    })
}

pub(super) fn matches(request: &Request<'_>) -> Result<Data, Failure> {
    let (expression, text) = (expression(request)?, text(request, "text")?);
    let (mut found, mut size, mut values) = (Vec::new(), 0_usize, 0_usize);
    for captures in expression.captures_iter(text) {
        let group = |at: usize| captures.get(at).map_or("", |group| group.as_str());
        let groups: Vec<Data> = (1..captures.len()).map(|at| Data::from(group(at))).collect();
        size += (0..captures.len()).map(|at| group(at).len()).sum::<usize>();
        values += captures.len() + 2;
        if size > request.bounds.bytes || values > request.bounds.values {
            return Err(too_large(request));
        }
        found.push(Data::record([("text", Data::from(group(0))), ("groups", Data::List(groups.into()))]));
    }
    Ok(Data::List(found.into()))
}

pub(super) fn replace(request: &Request<'_>) -> Result<Data, Failure> {
    let (expression, whole, with) = (expression(request)?, text(request, "text")?, text(request, "with")?);
    let (mut out, mut end) = (String::new(), 0);
    for captures in expression.captures_iter(whole) {
        let Some(place) = captures.get(0) else { continue };
        out.push_str(whole.get(end..place.start()).unwrap_or_default());
        captures.expand(with, &mut out);
        end = place.end();
        if out.len() > request.bounds.bytes {
            return Err(too_large(request));
        }
    }
    out.push_str(whole.get(end..).unwrap_or_default());
    if out.len() > request.bounds.bytes { Err(too_large(request)) } else { Ok(Data::Text(out)) }
}

pub(super) fn hash(request: &Request<'_>) -> Result<Data, Failure> {
    let bytes = text(request, "text")?.as_bytes();
    let digest = match request.arguments.get("algorithm") {
        None | Some(Data::Nil) => Sha256::digest(bytes).to_vec(),
        Some(Data::Text(name)) if name == "sha256" => Sha256::digest(bytes).to_vec(),
        Some(Data::Text(name)) if name == "sha512" => Sha512::digest(bytes).to_vec(),
        other => return Err(bad("algorithm", "sha256 or sha512", other)),
    };
    Ok(Data::Text(hex(&digest)))
}

/// Bytes as a text.
fn decoded(bytes: Vec<u8>) -> Result<Data, Failure> {
    String::from_utf8(bytes)
        .map(Data::Text)
        .map_err(|_| Failure::text("argument `text` is decoded to bytes that are not text (UTF-8)"))
}

pub(super) fn base64(request: &Request<'_>) -> Result<Data, Failure> {
    let text = text(request, "text")?;
    if !flag(request, "decode")? {
        return Ok(Data::Text(STANDARD.encode(text)));
    }
    let bytes = STANDARD.decode(text.trim());
    decoded(bytes.map_err(|error| Failure::text(format!("argument `text` is not base64: {error}")))?)
}

pub(super) fn url_encode(request: &Request<'_>) -> Result<Data, Failure> {
    let text = text(request, "text")?;
    if flag(request, "decode")? {
        return decoded(percent_decode_str(text).collect());
    }
    Ok(Data::Text(utf8_percent_encode(text, ENCODED).to_string()))
}
