//! The secrets of a tools file, which no message, trace, log or outcome shows: values of headers, environment
//! variables, URLs and arguments that look like secrets.
//!
//! A value counts as a secret unless it is plain: a path, a number, a word of small letters, or very short.
//! If its name says that it is a secret, it always counts. An answer that a tool gives is data and is not
//! changed. Longer secrets are hidden in their encoded forms too ([`encodings`]).

mod encodings;

use super::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ilo_drive::data::Data;
use ilo_drive::locked::locked;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, Weak};

/// The minimum length of a secret; a shorter one would hide ordinary text.
const LEAST: usize = 4;
/// The minimum length for a value whose name does not mark it as a secret, and for a part of a secret at the
/// edge of a truncated text.
const UNNAMED: usize = 8;
/// The replacement of a secret.
const HIDDEN: &str = "***";
/// The most secrets that are added at run time.
const LEARNED: usize = 16;
/// The most places at which a text was truncated that are looked at, from its end.
const CUTS: usize = 64;
/// Words in names that mark a secret.
const NAMES: [&str; 9] = ["key", "token", "secret", "pass", "pwd", "auth", "cred", "private", "session"];
/// Headers whose values are not secrets.
const OPEN: [&str; 5] = ["accept", "accept-language", "content-type", "user-agent", "mcp-protocol-version"];

/// Texts that are hidden. All clones share what is learned later.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Known>);

#[derive(Default)]
struct Known {
    /// The secrets of the tools file.
    written: Vec<String>,
    /// Their encoded forms.
    forms: Vec<String>,
    /// Secrets that become known at run time, such as tokens; the latest ones are kept. Each with its forms.
    learned: Arc<Mutex<Vec<Vec<String>>>>,
}

/// The secrets of all tools and servers of this process, each as long as it is there, for texts that could
/// have those of any.
static ALL: Mutex<Vec<Weak<Known>>> = Mutex::new(Vec::new());

/// A text without the secrets of any tool or server.
pub fn hidden_of_all(text: &str) -> String {
    let all = locked(&ALL);
    let known: Vec<_> = all.iter().filter_map(Weak::upgrade).map(Secrets).collect();
    drop(all);
    known.iter().fold(text.to_owned(), |text, secrets| secrets.shown(&text, false))
}

/// The same for all texts of a value, also the names of fields.
pub(crate) fn hide_of_all(value: &mut Data) {
    hide(value, &hidden_of_all);
}

/// Hides secrets in all texts of a value. The name of a field is cut where it has one, and stays another than
/// those beside it.
fn hide(value: &mut Data, hidden: &dyn Fn(&str) -> String) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Data::Text(text) => *text = hidden(text),
            Data::List(items) => open.extend(items),
            Data::Record(fields) => {
                hide_names(fields, hidden);
                open.extend(fields.iter_mut().map(|(_, value)| value));
            }
            _ => {}
        }
    }
}

fn hide_names(fields: &mut [(String, Data)], hidden: &dyn Fn(&str) -> String) {
    let shown: Vec<String> = fields.iter().map(|(name, _)| hidden(name)).collect();
    if shown.iter().zip(fields.iter()).all(|(shown, (name, _))| shown == name) {
        return;
    }
    let same = |(shown, (name, _)): &(&String, &(String, Data))| *shown == name;
    let mut taken: BTreeSet<String> =
        shown.iter().zip(fields.iter()).filter(same).map(|(shown, _)| shown.clone()).collect();
    for (shown, (name, _)) in shown.into_iter().zip(fields) {
        if shown == *name {
            continue;
        }
        let mut own = shown.clone();
        let mut count = 1;
        while !taken.insert(own.clone()) {
            count += 1;
            own = format!("{shown} {count}");
        }
        *name = own;
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// Collects secrets.
#[derive(Debug, Default)]
pub(crate) struct Found(Vec<String>);

/// Whether a name marks its value as a secret.
fn is_named(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

/// Whether a value is plain, so that it is a secret only if its name says so.
fn is_plain(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~", "\\"].iter().any(|start| value.starts_with(start))
        || value.get(1..3).is_some_and(|drive| drive == ":\\");
    value.len() < UNNAMED
        || is_path
        || value.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_. ".contains(&byte))
        || value.bytes().all(|byte| byte.is_ascii_digit() || b".,:- ".contains(&byte))
}

/// Whether the value of a variable counts as a secret.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    value.trim().len() >= LEAST && (is_named(name) || !is_plain(value.trim()))
}

impl Found {
    fn add(&mut self, named: bool, value: &str) {
        let value = value.trim();
        if value.len() >= LEAST && (named || !is_plain(value)) {
            self.0.push(value.to_owned());
        }
        if value.contains('\n') {
            // A key in several lines: texts are often shown line by line.
            value.lines().filter(|line| line.len() >= UNNAMED).for_each(|line| self.add(false, line));
        }
    }

    /// Variables that were replaced in the settings, with their values.
    pub(crate) fn expanded(&mut self, variables: &[(String, String)]) {
        variables.iter().for_each(|(name, value)| self.add(is_named(name), value));
    }

    /// A header.
    pub(crate) fn header(&mut self, name: &str, value: &str) {
        if OPEN.iter().any(|open| open.eq_ignore_ascii_case(name)) {
            return;
        }
        self.add(true, value);
        // After the word for the scheme.
        let Some((scheme, rest)) = value.trim().split_once(' ') else { return };
        self.add(true, rest);
        let decoded = STANDARD.decode(rest.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(user) = decoded.filter(|_| scheme.eq_ignore_ascii_case("basic")) {
            self.add(true, &user);
            self.add(true, user.split_once(':').map_or("", |(_, password)| password));
        }
    }

    /// An environment variable. Of a URL only its secrets count.
    pub(crate) fn environment(&mut self, name: &str, value: &str) {
        if value.contains("://") && !is_named(name) {
            self.url(value);
        } else {
            self.add(is_named(name), value);
        }
    }

    /// A URL.
    pub(crate) fn url(&mut self, url: &str) {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        for part in query.split('&').chain([fragment]) {
            self.part_of_url(part.split_once('=').map_or(part, |(_, value)| value), true);
        }
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some((user, _)) = host.rsplit_once('@') {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            self.part_of_url(password, true);
            self.part_of_url(name, false);
        }
        let random = |part: &&str| {
            part.len() >= 2 * UNNAMED
                && part.bytes().any(|byte| byte.is_ascii_digit())
                && part.bytes().any(|byte| byte.is_ascii_alphabetic())
        };
        path.split('/').filter(random).for_each(|part| self.part_of_url(part, false));
    }

    /// A part of a URL, as written and decoded.
    fn part_of_url(&mut self, part: &str, named: bool) {
        self.add(named, part);
        let meant = percent_encoding::percent_decode_str(part).decode_utf8_lossy();
        if meant != part {
            self.add(named, &meant);
        }
    }

    /// The words of a command line: values after an option whose name marks a secret.
    pub(crate) fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        let mut named = false;
        for argument in words {
            let option = argument.starts_with('-');
            match argument.split_once('=') {
                Some((name, value)) if is_named(name) => self.add(true, value),
                _ if named && !option => self.add(true, argument),
                _ if argument.contains("://") => self.url(argument),
                _ => {}
            }
            named = option && !argument.contains('=') && is_named(argument);
        }
    }

    /// All of them.
    pub(crate) fn secrets(self) -> Secrets {
        self.with(&Secrets::default())
    }

    /// These and those of others, longer ones first, so that none is replaced in part.
    fn with(mut self, others: &Secrets) -> Secrets {
        self.0.extend_from_slice(&others.0.written);
        self.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.0.dedup();
        let forms = self.0.iter().flat_map(|secret| encodings::forms(secret)).collect();
        let learned = Arc::clone(&others.0.learned);
        let secrets = Secrets(Arc::new(Known { written: self.0, forms, learned }));
        secrets.know();
        secrets
    }
}

/// A text without the part of a secret with which it ends.
fn without_cut<'t>(text: &'t str, all: &[String]) -> Cow<'t, str> {
    let cut = all.iter().filter_map(|secret| {
        let mut lengths = (UNNAMED..secret.len()).rev();
        lengths.find(|&at| secret.get(..at).is_some_and(|part| text.ends_with(part)))
    });
    let start = cut.max().and_then(|length| text.get(..text.len() - length));
    start.map_or(text.into(), |start| format!("{start}{HIDDEN}").into())
}

impl Secrets {
    /// Adds these to those of all tools and servers.
    fn know(&self) {
        let mut all = locked(&ALL);
        // Looking through all of them each time would be quadratic in the servers of a file.
        if all.len() == all.capacity() {
            all.retain(|known| known.strong_count() > 0);
        }
        all.push(Arc::downgrade(&self.0));
    }

    fn is_known(&self) -> bool {
        let all = locked(&ALL);
        all.iter().any(|known| known.as_ptr() == Arc::as_ptr(&self.0))
    }

    /// Adds a secret that is not in the tools file.
    #[cfg_attr(not(feature = "login"), allow(dead_code, reason = "only tokens are learned"))]
    pub(crate) fn learn(&self, secret: &str) {
        let mut learned = locked(&self.0.learned);
        let is_it = |known: &Vec<String>| known.first().is_some_and(|known| known == secret);
        if secret.len() < LEAST || learned.iter().any(is_it) {
            return;
        }
        if learned.len() >= LEARNED {
            learned.remove(0);
        }
        learned.push(std::iter::once(secret.to_owned()).chain(encodings::forms(secret)).collect());
        drop(learned);
        if !self.is_known() {
            self.know();
        }
    }

    /// With more that were found in the tools file; what is learned is shared.
    pub(crate) fn and(&self, found: Found) -> Secrets {
        found.with(self)
    }

    /// All secrets with their forms, longer ones first, so that none is replaced in part.
    fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = locked(&self.0.learned).concat();
        all.extend(self.0.written.iter().chain(&self.0.forms).cloned());
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        all
    }

    /// A text without secrets, whose end may have been truncated too.
    pub(crate) fn hidden(&self, text: &str) -> String {
        self.shown(text, true)
    }

    /// A text without secrets. Where it was truncated, at `…` and perhaps at its end, a part of one counts.
    fn shown(&self, text: &str, is_cut: bool) -> String {
        let all = self.all();
        let mut text = text.to_owned();
        for secret in &all {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), HIDDEN);
            }
        }
        let parts = text.rsplitn(CUTS, '…').enumerate();
        let mut parts: Vec<Cow<'_, str>> = parts
            .map(|(at, part)| if at > 0 || is_cut { without_cut(part, &all) } else { part.into() })
            .collect();
        parts.reverse();
        parts.join("…")
    }

    /// The same for the end of a longer text.
    pub(crate) fn hidden_in_end(&self, text: &str) -> String {
        let (text, all) = (self.hidden(text), self.all());
        let cut = all.iter().filter_map(|secret| {
            (1..secret.len())
                .filter(|&at| secret.len() - at >= LEAST)
                .find(|&at| secret.get(at..).is_some_and(|part| text.starts_with(part)))
                .map(|at| secret.len() - at)
        });
        match cut.max() {
            Some(length) => format!("{HIDDEN}{}", text.get(length..).unwrap_or_default()),
            None => text,
        }
    }

    /// A failure without secrets.
    pub(crate) fn hidden_in(&self, failure: Failure) -> Failure {
        if self.0.written.is_empty() && locked(&self.0.learned).is_empty() {
            return failure;
        }
        match failure {
            Failure::Failed(mut value) => {
                hide(&mut value, &|text| self.hidden(text));
                Failure::Failed(value)
            }
            Failure::InDoubt(text) => Failure::InDoubt(self.hidden(&text)),
            Failure::Misfit(text) => Failure::Misfit(self.hidden(&text)),
            Failure::Unsent(text) => Failure::Unsent(self.hidden(&text)),
            Failure::Limit(code, text) => Failure::Limit(code, self.hidden(&text)),
            failure @ (Failure::TimedOut | Failure::Interrupted) => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(work: impl FnOnce(&mut Found)) -> Secrets {
        let mut found = Found::default();
        work(&mut found);
        found.secrets()
    }

    #[test]
    fn what_is_secret_is_hidden_and_what_is_plain_is_not() {
        let secrets = secrets(|found| {
            found.header("Authorization", "Bearer abc-123");
            found.header("Accept", "application/json");
            found.environment("API_KEY", "hunter");
            found.environment("NODE_ENV", "production");
            found.environment("ROOT", "/srv/data");
            found.environment("PORT", "8080");
            found.environment("DB", "postgres://me:pw-99@host/db");
            found.environment("OTHER", "sk_live_0123");
            found.url("https://u:p4ss@h.example/mcp?key=q%2Fr4&b=cc-dd");
            found.words(["-y", "some-server", "--api-key", "k3y-value", "--token=t0ken", "--root", "."]);
            found.expanded(&[("X".to_owned(), "some-server".to_owned())]);
            found.header("Proxy-Authorization", "basic bWU6cHctMTAwMDA=");
            found.environment("PEM", "-----BEGIN-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n");
        });
        for secret in [
            "Bearer abc-123",
            "abc-123",
            "hunter",
            "pw-99",
            "sk_live_0123",
            "p4ss",
            "q%2Fr4",
            "q/r4",
            "cc-dd",
            "k3y-value",
            "t0ken",
            "bWU6cHctMTAwMDA=",
            "pw-10000",
            "kqhkiG9w0BAQEF",
        ] {
            assert_eq!(secrets.hidden(&format!("a {secret} b")), "a *** b", "{secret}");
        }
        let plain = "application/json production /srv/data 8080 some-server postgres host -y .";
        assert_eq!(secrets.hidden(plain), plain);
    }

    #[test]
    fn a_secret_that_was_cut_is_hidden_too() {
        let secrets = secrets(|found| found.header("x-key", "0123456789abcdef"));
        assert_eq!(secrets.hidden("at the end 0123456789a…"), "at the end ***…");
        assert_eq!(secrets.hidden("`0123456789a…` is not `012345678…`, …"), "`***…` is not `***…`, …");
        assert_eq!(secrets.hidden_in_end("89abcdef and more"), "*** and more");
        assert_eq!(secrets.hidden_in_end("more"), "more");
    }

    #[test]
    fn encoded_secrets_are_hidden_and_names_of_fields_are_cut_and_stay_apart() {
        let secrets = secrets(|found| found.header("Authorization", "Bearer 0123456789abcdef"));
        // `user:0123456789abcdef` in base64, and the bytes as digits.
        for text in ["dXNlcjowMTIzNDU2Nzg5YWJjZGVm", "30313233343536373839616263646566"] {
            let hidden = secrets.hidden(text);
            assert!(hidden.contains(HIDDEN) && hidden.len() < text.len(), "{hidden}");
        }
        let field = |name: &str| (name.to_owned(), Data::from(name));
        let failure = Failure::Failed(Data::Record(
            vec![field("***"), field("a"), field("0123456789abcdef"), field("Bearer 0123456789abcdef")]
                .into(),
        ));
        let Failure::Failed(value) = secrets.hidden_in(failure) else { panic!("no failure") };
        let Data::Record(fields) = &value else { panic!("no record") };
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["***", "a", "*** 2", "*** 3"]);
        assert_eq!(
            fields.iter().map(|(_, value)| value.to_json()).collect::<String>(),
            r#""***""a""***""***""#
        );
    }

    #[test]
    fn texts_of_all_tools_have_the_secrets_of_none() {
        let one = secrets(|found| found.header("x-key", "canary-of-one-9"));
        let two = secrets(|found| found.header("x-key", "canary-of-two-9"));
        two.learn("canary-of-three-9");
        let text = "canary-of-one-9 canary-of-two-9 canary-of-three-9";
        assert_eq!(hidden_of_all(text), "*** *** ***");
        // A word that begins as a secret does, and the part of a secret that was truncated.
        assert_eq!(hidden_of_all("canary-of-"), "canary-of-");
        assert_eq!(hidden_of_all("`canary-of-t…` is none"), "`***…` is none");
        drop(one);
        assert_eq!(hidden_of_all(text), "canary-of-one-9 *** ***");
        // With what a person has given for it.
        let mut found = Found::default();
        found.header("x-key", "canary-of-four-9");
        let more = two.and(found);
        drop(two);
        assert_eq!(hidden_of_all(&format!("{text} canary-of-four-9")), "canary-of-one-9 *** *** ***");
        drop(more);
    }
}
