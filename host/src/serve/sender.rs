//! Who sends a request: the subject to whom its sessions, questions and runs belong, and the client for which
//! its share of the server is counted.
//!
//! With `--issuer` both come from the access token, with `--subject-header` from a header that a trusted
//! proxy sets. Else there is no subject, and a client is an address: for IPv6 a network of 64 bits, since who
//! has one address has all of them. A header about the sender is read only if a trusted proxy sends it.

use axum::http::{HeaderMap, HeaderName};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The header in which proxies name the address that sent a request to them.
const FORWARDED: &str = "x-forwarded-for";
/// The most bytes of a subject.
const LONGEST: usize = 1024;

/// Whose a session, a question or a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// Who has vouched for it.
    pub(super) issuer: Arc<str>,
    /// The person or program.
    pub(super) sub: Option<String>,
    /// The program through which it comes.
    pub(super) client: Option<String>,
}

impl Subject {
    /// The owner of its runs: the subject of the issuer, or the client if there is none. It is in the
    /// journal.
    pub(super) fn owner(&self) -> String {
        let issuer = &self.issuer;
        match (&self.sub, &self.client) {
            (Some(sub), _) => format!("{issuer} sub {sub}"),
            (None, client) => format!("{issuer} client {}", client.as_deref().unwrap_or_default()),
        }
    }
}

/// The client for which something is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counted {
    /// An owner.
    Owner(Arc<str>),
    /// An address, or the network of 64 bits.
    Address(IpAddr),
}

/// Who sends a request.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) subject: Option<Subject>,
    pub(super) counted: Counted,
    /// Whether it may decide on the calls of others.
    pub(super) decides: bool,
}

impl Sender {
    pub(super) fn of(subject: Option<Subject>, decides: bool, from: IpAddr) -> Sender {
        let counted = match &subject {
            Some(subject) => Counted::Owner(subject.owner().into()),
            None => Counted::Address(network(from)),
        };
        Sender { subject, counted, decides }
    }
}

/// An address as clients are counted.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.into(),
            None => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        },
    }
}

/// The proxies whose headers are believed.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    trusted: Vec<IpAddr>,
    /// The header with the subject.
    subject: Option<HeaderName>,
}

impl Proxies {
    /// # Errors
    /// A name that no header has.
    pub(super) fn new(trusted: &[IpAddr], subject: Option<&str>) -> Result<Proxies, String> {
        let name = |name: &str| {
            name.parse().map_err(|_| {
                format!("`{name}` is not the name of a header; write one such as `x-remote-user`")
            })
        };
        let trusted = trusted.iter().map(|&address| plain(address)).collect();
        Ok(Proxies { trusted, subject: subject.map(name).transpose()? })
    }

    pub(super) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.contains(&plain(address))
    }

    /// The address that sent a request, which came from `peer`: the last one of the header that is no trusted
    /// proxy. What is before it could be made up. A trusted proxy that names no address is the sender
    /// itself.
    pub(super) fn sender(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        let lines: Option<Vec<&str>> =
            headers.get_all(FORWARDED).iter().map(|line| line.to_str().ok()).collect();
        let named = lines.unwrap_or_default();
        let mut sender = peer;
        for entry in named.iter().flat_map(|line| line.split(',')).rev() {
            let Some(address) = address(entry.trim()) else { return sender };
            sender = address;
            if !self.trusts(address) {
                return address;
            }
        }
        sender
    }

    /// The subject that a trusted proxy names.
    ///
    /// # Errors
    /// If it names several, or one that is no text.
    pub(super) fn subject(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Option<Subject>, &'static str> {
        let Some(name) = self.subject.as_ref().filter(|_| self.trusts(peer)) else { return Ok(None) };
        let mut values = headers.get_all(name).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err("the proxy names no subject, or several\n");
        };
        let sub = value.to_str().ok().filter(|sub| !sub.is_empty() && sub.len() <= LONGEST);
        let sub = sub.ok_or("the subject of the proxy is no text\n")?;
        Ok(Some(Subject { issuer: format!("header:{name}").into(), sub: Some(sub.to_owned()), client: None }))
    }
}

/// An IPv4 address that is written as IPv6 is that IPv4 address.
fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// An entry of the header: an address, which may have a port.
fn address(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim_matches('"');
    let bare = || entry.strip_prefix('[')?.split_once(']')?.0.parse().ok();
    let with_port = || entry.parse().ok().map(|address: std::net::SocketAddr| address.ip());
    entry.parse().ok().or_else(with_port).or_else(bare).map(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(name: &'static str, lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(name, HeaderValue::from_str(line).unwrap());
        }
        headers
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_client() {
        let at = |text: &str| network(text.parse().unwrap());
        assert_eq!(at("2001:db8:1:2:3:4:5:6"), at("2001:db8:1:2:ffff::1"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }

    #[test]
    fn the_last_address_that_is_no_trusted_proxy_sends_a_request() {
        let trusted = ["127.0.0.1", "10.0.0.7"].map(|address| address.parse().unwrap());
        let proxies = Proxies::new(&trusted, None).unwrap();
        let sent = |peer: &str, lines: &[&str]| {
            proxies.sender(&headers(FORWARDED, lines), peer.parse().unwrap()).to_string()
        };
        assert_eq!(sent("127.0.0.1", &["9.9.9.9"]), "9.9.9.9");
        assert_eq!(sent("::ffff:127.0.0.1", &["9.9.9.9"]), "9.9.9.9");
        assert_eq!(
            sent("127.0.0.1", &["1.1.1.1, 9.9.9.9, 10.0.0.7"]),
            "9.9.9.9",
            "what is before it is made up"
        );
        assert_eq!(sent("127.0.0.1", &["1.1.1.1", "9.9.9.9:80"]), "9.9.9.9", "the last line counts");
        assert_eq!(sent("127.0.0.1", &["[2001:db8::1]:80"]), "2001:db8::1");
        assert_eq!(sent("127.0.0.1", &["1.1.1.1, nonsense"]), "127.0.0.1");
        assert_eq!(sent("127.0.0.1", &["1.1.1.1, nonsense, 10.0.0.7"]), "10.0.0.7");
        assert_eq!(sent("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(sent("8.8.8.8", &["9.9.9.9"]), "8.8.8.8", "it is no trusted proxy");
    }

    #[test]
    fn a_subject_is_believed_from_a_trusted_proxy_only() {
        let proxy = "127.0.0.1".parse().unwrap();
        let proxies = Proxies::new(&[proxy], Some("X-Remote-User")).unwrap();
        let of = |lines: &[&str], peer: &str| {
            let subject = proxies.subject(&headers("x-remote-user", lines), peer.parse().unwrap());
            subject.map(|subject| subject.map(|subject| subject.owner()))
        };
        assert_eq!(of(&["ada"], "127.0.0.1"), Ok(Some("header:x-remote-user sub ada".to_owned())));
        assert_eq!(of(&["ada"], "8.8.8.8"), Ok(None));
        assert!(of(&[], "127.0.0.1").is_err() && of(&["ada", "eve"], "127.0.0.1").is_err());
        assert!(of(&[""], "127.0.0.1").is_err());
        assert!(Proxies::new(&[], Some("a b")).is_err());
    }

    #[test]
    fn owners_are_told_apart_by_issuer_and_kind() {
        let subject = |sub: Option<&str>, client: Option<&str>| Subject {
            issuer: "https://a.example".into(),
            sub: sub.map(str::to_owned),
            client: client.map(str::to_owned),
        };
        assert_eq!(subject(Some("x"), Some("c")).owner(), subject(Some("x"), Some("d")).owner());
        assert_ne!(subject(Some("x"), Some("c")), subject(Some("x"), Some("d")), "sessions have both");
        assert_ne!(subject(Some("x"), None).owner(), subject(None, Some("x")).owner());
    }
}
