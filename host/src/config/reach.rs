//! Reads how a server is reached, in the keys of all clients: its program with arguments and variables, or
//! its URL with headers; and how long it may take.

use super::clients::{Effect, Place, SANDBOX, keys, row_of};
use super::text::Step;
use super::{Fields, Reading, from_home};
use crate::mcp::server_config::{Way, has_authorization};
use crate::tool::secrets::Found;
use ilo_drive::data::Data;
use ilo_drive::problem::shortened;
use ilo_spec::program::Number;
use std::path::Path;
use std::time::Duration;

/// The most that a client states in seconds: an hour. Larger values are in milliseconds.
const SECONDS: u64 = 3_600;
/// Keys that only clients write whose `timeout` is in seconds.
const IN_SECONDS: &[&str] = &["autoApprove", "alwaysAllow", "watchPaths", "transportType"];

/// The key of a server that has an effect: the preferred one, if there are several. Forms of clients
/// write empty texts for what is not there.
fn key_for(reading: &Reading, fields: &Fields, wanted: Effect) -> Option<&'static str> {
    let is_there = |value: &Data| !reading.client || !(*value == Data::Nil || value.as_text() == Some(""));
    keys(Place::Server, wanted).find(|key| fields.iter().any(|(name, value)| name == key && is_there(value)))
}

/// Reads all keys of a server that have an effect.
fn all_for<T>(
    reading: &mut Reading,
    fields: &Fields,
    wanted: Effect,
    read: impl Fn(&mut Reading, &Data) -> Option<Vec<T>>,
) -> Vec<T> {
    let given = keys(Place::Server, wanted).filter_map(|key| reading.field(fields, key, &read));
    given.flatten().collect()
}

/// How the server is reached. Obstacles have been reported already.
pub(super) fn way(reading: &mut Reading, fields: &Fields) -> Way {
    let (program, mut arguments, mut environment) = program_line(reading, fields);
    arguments.extend(all_for(reading, fields, Effect::Arguments, Reading::filled_texts));
    environment.extend(all_for(reading, fields, Effect::Variables, Reading::environment));
    environment.extend(all_for(reading, fields, Effect::Passed, passed));
    let folder = key_for(reading, fields, Effect::Folder);
    let folder = folder.and_then(|key| reading.field(fields, key, Reading::filled));
    let (command_key, url_key) =
        (key_for(reading, fields, Effect::Command), key_for(reading, fields, Effect::Url));
    let url = url_key.and_then(|key| reading.field(fields, key, Reading::filled));
    let headers = headers(reading, fields);
    let url = url.filter(|url| url_key.is_some_and(|key| has_url_form(reading, key, url)));
    match (command_key, url_key) {
        // Gemini CLI documents that a URL has priority; nobody else writes both.
        (Some(_), Some(key)) => reading.costs(format!("expected `command` or `{key}`, found both")),
        (None, None) => reading.costs("expected `command` or `url`, found neither"),
        _ if program.as_deref() == Some("") => reading.wrong("`command` is empty"),
        _ => {}
    }
    match (program, url) {
        (Some(program), _) => {
            let around = reading.around_program();
            let folder =
                folder.map_or_else(|| around.clone(), |folder| around.join(from_home(Path::new(&folder))));
            let program = seen_from_here(reading, program);
            Way::Program { program, arguments, folder, environment }
        }
        (None, Some(url)) => Way::Http { url, headers },
        (None, None) => Way::None,
    }
}

/// The program; and its arguments and variables, which some clients write beside it: as a list, or as a
/// record of `path`, `args` and `env`.
fn program_line(
    reading: &mut Reading,
    fields: &Fields,
) -> (Option<String>, Vec<String>, Vec<(String, String)>) {
    let Some(key) = key_for(reading, fields, Effect::Command) else { return Default::default() };
    let read = |this: &mut Reading, data: &Data| match data {
        Data::List(_) => {
            let mut words = this.filled_texts(data)?.into_iter();
            let program = words.next();
            if program.is_none() {
                this.wrong("expected a program, found an empty list");
            }
            Some((program, words.collect(), Vec::new()))
        }
        Data::Record(inner) if this.client => {
            let program = this.field(inner, "path", Reading::filled);
            let arguments = this.field(inner, "args", Reading::filled_texts).unwrap_or_default();
            let environment = this.field(inner, "env", Reading::environment).unwrap_or_default();
            Some((program, arguments, environment))
        }
        other => Some((this.filled(other), Vec::new(), Vec::new())),
    };
    reading.field(fields, key, read).unwrap_or_default()
}

/// The headers: written ones, ones from variables, and a bearer token from a variable.
fn headers(reading: &mut Reading, fields: &Fields) -> Vec<(String, String)> {
    let mut headers = all_for(reading, fields, Effect::Headers, Reading::filled_named);
    headers.extend(all_for(reading, fields, Effect::HeaderNames, |this, data| {
        let names = this.named(data, Reading::owned)?;
        let value = |(header, name): (String, String)| {
            this.inside(Step::Key(header.clone()), |this| Some((header, value_of(this, &name)?)))
        };
        Some(names.into_iter().filter_map(value).collect())
    }));
    for effect in [Effect::Bearer, Effect::Token] {
        let key = key_for(reading, fields, effect).filter(|_| !has_authorization(&headers));
        let token = key.and_then(|key| {
            reading.field(fields, key, |this, data| match (effect, data) {
                (Effect::Bearer, data) => {
                    let name = this.text(data)?.to_owned();
                    value_of(this, &name)
                }
                (_, Data::Text(word)) if word != "oauth" => this.filled(data),
                _ => None,
            })
        });
        headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
    }
    if reading.client && headers.iter().any(|(_, value)| value.contains("{{") && value.contains("}}")) {
        reading.lacks(
            "a header has a text `{{…}}`, which only its client can fill in; write `${NAME}`, and set it",
        );
    }
    headers
}

/// The value of an environment variable that must be there.
fn value_of(reading: &mut Reading, name: &str) -> Option<String> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => {
            reading.expanded.push((name.to_owned(), value.clone()));
            Some(value)
        }
        _ => {
            reading.lacks(format!("the environment has no text `{}`; set it", shortened(name, 80)));
            None
        }
    }
}

/// Names of variables that are passed on if they are set: texts, or records with `name` and `source`.
fn passed(reading: &mut Reading, data: &Data) -> Option<Vec<(String, String)>> {
    let Data::List(items) = data else { return reading.expected("a list of names", data) };
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let name = item.get("name").unwrap_or(item);
        let name = reading.inside(Step::Index(at), |this| this.text(name).map(str::to_owned))?;
        let is_local = item.get("source").is_none_or(|source| source.as_text() == Some("local"));
        let value = Some(name).filter(|name| is_local && !name.is_empty() && !name.contains('='));
        found.extend(value.and_then(|name| Some((name.clone(), std::env::var(name).ok()?))));
    }
    Some(found)
}

fn has_url_form(reading: &mut Reading, key: &str, url: &str) -> bool {
    if url.starts_with("http://") || url.starts_with("https://") || url.starts_with("${input:") {
        return true;
    }
    let mut secrets = Found::default();
    secrets.expanded(&reading.expanded);
    secrets.url(url);
    secrets.words(url.split_whitespace());
    let shown = shortened(&secrets.secrets().hidden(url), 80);
    reading.inside(Step::Key(key.to_owned()), |this| {
        this.costs(format!("expected `http://…` or `https://…`, found `{shown}`"));
    });
    false
}

/// Reports settings of other clients that ilo does not support and without which the server would not
/// work.
pub(super) fn unsupported(reading: &mut Reading, fields: &Fields) {
    for (key, value) in fields {
        let row = row_of(Place::Server, key);
        let message = match (key.as_str(), value, row.map(|row| row.effect)) {
            (_, Data::Nil, _) => continue,
            // VS Code keeps the rules of a sandbox that is off.
            ("sandbox", ..)
                if fields.iter().any(|(key, on)| key == "sandboxEnabled" && *on == Data::Bool(false)) =>
            {
                continue;
            }
            (_, _, Some(Effect::Unsupported(why))) => why,
            ("type" | "transport" | "transportType", Data::Text(way), _) => match &*way.to_lowercase() {
                "sse" => {
                    "the transport of the older protocol, `sse`, is not spoken; give the URL of the server's \
                     streamable HTTP, with the type `http`"
                }
                "ws" | "websocket" => {
                    "WebSockets are not spoken; give the URL of the server's streamable HTTP"
                }
                "builtin" | "platform" | "frontend" | "inline_python" if reading.client => {
                    "it is a part of its client, and no server that can be started here"
                }
                _ => continue,
            },
            ("sandboxEnabled", Data::Bool(true), _) => SANDBOX,
            _ => continue,
        };
        let link = row.map_or_else(String::new, |row| format!(" ({}: {})", row.client, row.link));
        reading.lacks_at(key, format!("{message}{link}"));
    }
}

/// How long the server may take to start, and its calls, if the file says so. `timeout` is in
/// milliseconds, but in the files of some clients in seconds.
pub(super) fn times(reading: &mut Reading, fields: &Fields) -> (Option<Duration>, Option<Duration>) {
    let in_seconds = reading.in_seconds || fields.iter().any(|(key, _)| IN_SECONDS.contains(&key.as_str()));
    let starting = reading.field(fields, "timeout", |this, data| match data {
        // opencode 2 has a time for each part.
        Data::Record(parts) if this.client => {
            this.field(parts, "startup", |this, data| this.count(data, 1)).map(Duration::from_millis)
        }
        data => {
            let count = this.count(data, 1)?;
            let is_seconds = in_seconds && this.client && count <= SECONDS;
            Some(if is_seconds { Duration::from_secs(count) } else { Duration::from_millis(count) })
        }
    });
    let after = key_for(reading, fields, Effect::Seconds);
    let after = after.and_then(|key| reading.field(fields, key, seconds));
    let milliseconds = key_for(reading, fields, Effect::Milliseconds);
    let milliseconds =
        milliseconds.and_then(|key| reading.field(fields, key, |this, data| this.count(data, 1)));
    let call = key_for(reading, fields, Effect::CallSeconds);
    let call = call.and_then(|key| reading.field(fields, key, seconds));
    (starting.or(after).or(milliseconds.map(Duration::from_millis)), call)
}

/// A number of seconds, which may have a fraction.
pub(super) fn seconds(reading: &mut Reading, data: &Data) -> Option<Duration> {
    let seconds = match data {
        Data::Number(Number::Int(int)) => u64::try_from(*int).ok().map(Duration::from_secs),
        Data::Number(Number::Double(double)) => Duration::try_from_secs_f64(*double).ok(),
        _ => None,
    };
    let seconds = seconds.filter(|time| !time.is_zero() && time.as_secs() <= 100 * SECONDS);
    seconds.or_else(|| reading.expected_other("a number of seconds above 0", data))
}

/// A program name with a slash is relative to the folder of the file, or of the project in the file of a
/// client; any other name is searched when it starts.
fn seen_from_here(reading: &Reading, program: String) -> String {
    let path = from_home(Path::new(&program));
    if program.contains(std::path::is_separator) {
        reading.around_program().join(path).display().to_string()
    } else {
        program
    }
}
