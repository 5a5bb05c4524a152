//! The place of a journal: a file, or the address of a database, whose password is never shown.

use std::path::Path;

/// Whether a text is the address of a database.
pub(crate) fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// The place of a journal for people: a path, or an address without its password.
pub fn shown_place(place: &Path) -> String {
    match place.to_str().filter(|text| is_address(text)) {
        Some(address) => without_password(address),
        None => place.display().to_string(),
    }
}

/// An address without its password.
pub(crate) fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (place, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    // A password with a slash that is not escaped goes on until the last sign that ends one.
    let (place, path) = if path.contains('@') { (rest, "") } else { (place, path) };
    let place = match place.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => place.to_owned(),
    };
    let is_open = |part: &&str| !part.to_ascii_lowercase().starts_with("password");
    let query: Vec<&str> = query.into_iter().flat_map(|query| query.split('&')).filter(is_open).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{place}{path}{query}")
}

#[cfg(test)]
mod tests {
    use super::{shown_place, without_password};
    use std::path::Path;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, shown) in [
            ("postgres://ann:secret@db/app", "postgres://ann@db/app"),
            ("postgres://ann:s%40c:ret@db:5433/app?schema=x", "postgres://ann@db:5433/app?schema=x"),
            ("postgresql://ann:p@ss@db", "postgresql://ann@db"),
            ("postgres://ann:p/ss@db/app", "postgres://ann@db/app"),
            ("postgres://db/app?password=secret&lease=5", "postgres://db/app?lease=5"),
            ("postgres:///app?host=/tmp", "postgres:///app?host=/tmp"),
        ] {
            assert_eq!(without_password(address), shown);
            assert_eq!(shown_place(Path::new(address)), shown);
        }
        assert_eq!(shown_place(Path::new("a:b@c")), "a:b@c", "a path is no address");
    }
}
