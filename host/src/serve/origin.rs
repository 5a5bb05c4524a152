//! Hosts and origins: the names of this machine that requests may use, and the pages that may send requests.
//!
//! The check of the protocol library is not used: it would come after the body was read, without preflights
//! and metadata, it looks at one of several `Host` headers and takes a name with a user before it, and an
//! allowed origin without a port allows every port there.

use axum::http::header::HeaderValue;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// The loopback names of this machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A port that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Any,
    /// The default port of the scheme, which origins leave out.
    Default,
    Number(u16),
}

/// An origin whose pages may send requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    host: String,
    port: Port,
}

/// A name of this machine, with or without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    name: String,
    port: Option<u16>,
}

impl Origin {
    /// Reads an origin, such as `https://app.example.com`, `http://localhost:3000` or `http://localhost:*`.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub(super) fn allowed(text: &str) -> Result<Origin, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(format!("`{text}` is not an origin: it has no scheme; write `https://{text}`"));
        };
        let (rest, any) = rest.strip_suffix(":*").map_or((rest, false), |rest| (rest, true));
        let bare = rest.trim_end_matches('/');
        let found = Origin::read(&format!("{scheme}://{bare}"));
        let found = found.filter(|found| !any || found.port == Port::Default);
        let Some(found) = found else {
            let form = "SCHEME://HOST, SCHEME://HOST:PORT or SCHEME://HOST:*";
            return Err(format!(
                "`{text}` is not an origin; write {form}, such as `https://app.example.com`"
            ));
        };
        if bare != rest {
            return Err(format!(
                "`{text}` is not an origin: an origin has no path; write `{scheme}://{bare}`"
            ));
        }
        Ok(Origin { port: if any { Port::Any } else { found.port }, ..found })
    }

    /// All ports of this machine's own names.
    pub(super) fn local() -> impl Iterator<Item = Origin> {
        LOCAL.iter().map(|host| Origin {
            scheme: "http".to_owned(),
            host: (*host).to_owned(),
            port: Port::Any,
        })
    }

    /// The origin of a page.
    fn read(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.split_once("://")?;
        let first = scheme.chars().next()?;
        let is_scheme = first.is_ascii_alphabetic()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        let host = Host::read(rest).filter(|_| is_scheme)?;
        let scheme = scheme.to_ascii_lowercase();
        let port = match (host.port, scheme.as_str()) {
            (None, _) | (Some(80), "http") | (Some(443), "https") => Port::Default,
            (Some(port), _) => Port::Number(port),
        };
        Some(Origin { scheme, host: host.name, port })
    }

    fn covers(&self, page: &Origin) -> bool {
        self.scheme == page.scheme
            && self.host == page.host
            && (self.port == Port::Any || self.port == page.port)
    }
}

/// Whether pages of this origin may send requests.
pub(super) fn is_allowed(origins: &[Origin], value: &HeaderValue) -> bool {
    let page = value.to_str().ok().and_then(Origin::read);
    page.is_some_and(|page| origins.iter().any(|origin| origin.covers(&page)))
}

impl Host {
    /// Reads the name of a machine, such as `box.example.com` or `box.example.com:8080`.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub(super) fn allowed(text: &str) -> Result<Host, String> {
        if let Some((_, rest)) = text.split_once("://") {
            return Err(format!("`{text}` is not a host: a host has no scheme; write `{rest}`"));
        }
        let bare = if text.matches(':').count() > 1 && !text.starts_with('[') {
            format!("[{text}]")
        } else {
            text.to_owned()
        };
        Host::read(&bare).ok_or_else(|| format!("`{text}` is not a host; write HOST or HOST:PORT"))
    }

    /// This machine's own names.
    pub(super) fn local() -> impl Iterator<Item = Host> {
        LOCAL.iter().map(|name| Host { name: (*name).to_owned(), port: None })
    }

    /// An authority without a user.
    fn read(text: &str) -> Option<Host> {
        let authority: Authority = text.parse().ok()?;
        // `Authority` ignores a port that is not a number.
        let port = text.get(authority.host().len()..)?.strip_prefix(':').map(str::parse).transpose().ok()?;
        let whole = authority.host().len() + port.map_or(0, |port: u16| format!(":{port}").len());
        let is_host = !authority.host().is_empty() && !text.contains('@') && whole == text.len();
        is_host.then(|| Host { name: authority.host().to_ascii_lowercase(), port })
    }
}

/// Whether a request is for one of these hosts.
pub(super) fn is_asked_for(hosts: &[Host], headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::HOST).iter();
    let asked = match (values.next(), values.next()) {
        (Some(only), None) => only.to_str().ok().and_then(Host::read),
        _ => None,
    };
    asked.is_some_and(|asked| is_one_of(hosts, &asked))
}

/// Whether the target of a request, if it names a host, names one of these.
pub(super) fn is_target(hosts: &[Host], target: &Uri) -> bool {
    let Some(authority) = target.authority() else { return true };
    Host::read(authority.as_str()).is_some_and(|asked| is_one_of(hosts, &asked))
}

fn is_one_of(hosts: &[Host], asked: &Host) -> bool {
    let is_it =
        |host: &&Host| host.name == asked.name && host.port.is_none_or(|port| asked.port == Some(port));
    hosts.iter().find(is_it).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_allowed_by_scheme_host_and_port() {
        let allowed = |entry: &str, page: &str| {
            let entry = Origin::allowed(entry).unwrap();
            is_allowed(&[entry], &HeaderValue::from_str(page).unwrap())
        };
        assert!(allowed("https://a.example", "https://a.example"));
        assert!(allowed("https://A.example:443", "https://a.example"));
        assert!(allowed("http://localhost:*", "http://localhost:5173"));
        assert!(allowed("http://localhost:*", "http://localhost"));
        assert!(allowed("vscode-webview://*".replace('*', "abc").as_str(), "vscode-webview://abc"));
        for page in [
            "http://a.example",
            "https://a.example:8443",
            "https://b.a.example",
            "https://a.example.evil",
            "https://a.example@evil",
            "https://evil@a.example",
            "https://a.example/",
            "null",
            "",
        ] {
            assert!(!allowed("https://a.example", page), "{page}");
        }
    }

    #[test]
    fn what_is_no_origin_says_what_to_write() {
        let told = |entry: &str| Origin::allowed(entry).unwrap_err();
        assert_eq!(
            told("app.example"),
            "`app.example` is not an origin: it has no scheme; write `https://app.example`"
        );
        assert!(told("localhost:3000").ends_with("write `https://localhost:3000`"));
        assert!(told("https://a.example/").ends_with("write `https://a.example`"));
        for entry in
            ["https://", "https://a.example/path", "https://a:b", "https://u@a", "://a", "https://a:1:*"]
        {
            assert!(told(entry).contains("write SCHEME://HOST"), "{entry}");
        }
    }

    #[test]
    fn a_host_is_asked_for_by_its_name() {
        let hosts: Vec<Host> = Host::local()
            .chain(["box.example", "other.example:8080", "fe80::1"].map(|host| Host::allowed(host).unwrap()))
            .collect();
        let asked = |host: &str| {
            is_asked_for(
                &hosts,
                &HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(host).unwrap())]),
            )
        };
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:80",
            "[::1]:80",
            "box.example:1",
            "other.example:8080",
            "[fe80::1]",
        ] {
            assert!(asked(host), "{host}");
        }
        for host in [
            "user@localhost",
            "localhost@evil",
            "other.example",
            "other.example:80",
            "evil",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "",
        ] {
            assert!(!asked(host), "{host}");
        }
        let twice = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost"))]);
        let mut twice = twice;
        twice.append(header::HOST, HeaderValue::from_static("evil"));
        assert!(!is_asked_for(&hosts, &twice));
        assert!(!is_asked_for(&hosts, &HeaderMap::new()));
    }

    #[test]
    fn a_target_of_another_host_is_not_taken() {
        let hosts: Vec<Host> = Host::local().collect();
        let taken = |target: &str| is_target(&hosts, &target.parse().unwrap());
        assert!(taken("/mcp") && taken("http://localhost:80/mcp") && taken("http://[::1]/mcp"));
        assert!(
            !taken("http://evil.example/mcp") && !taken("http://user@localhost/mcp") && !taken("evil:443")
        );
    }

    #[test]
    fn what_is_no_host_says_what_to_write() {
        assert!(Host::allowed("http://box").unwrap_err().ends_with("write `box`"));
        for host in ["", "a b", "u@box", "box:x", "box/path"] {
            assert!(Host::allowed(host).unwrap_err().ends_with("write HOST or HOST:PORT"), "{host}");
        }
    }
}
