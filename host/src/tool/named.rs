//! What the file of an MCP client says about tools of its servers by patterns, in the forms of all clients:
//! `mcp__server__tool`, `server_*`, `@server/tool`, `mcp:server:tool`.

/// What holds for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Nothing more than elsewhere.
    Allowed,
    /// A person is asked before each call.
    Asked,
    /// No program may call it.
    Denied,
}

/// Patterns in groups, of which the strictest one decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named(pub(crate) Vec<Group>);

/// Patterns of which the last one that fits decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Whether a pattern may be the name of a tool without its server.
    pub(crate) bare: bool,
    pub(crate) patterns: Vec<(String, Standing)>,
}

impl Group {
    /// Only these tools are allowed.
    pub(crate) fn only(names: impl IntoIterator<Item = String>) -> Group {
        let mut patterns = vec![("*".to_owned(), Standing::Denied)];
        patterns.extend(names.into_iter().map(|name| (name, Standing::Allowed)));
        Group { bare: true, patterns }
    }

    /// The same holds for all these tools.
    pub(crate) fn of(names: impl IntoIterator<Item = String>, verdict: Standing) -> Group {
        Group { bare: true, patterns: names.into_iter().map(|name| (name, verdict)).collect() }
    }
}

impl Named {
    /// What holds for a tool of a server.
    pub(crate) fn verdict(&self, server: &str, tool: &str) -> Standing {
        if self.0.is_empty() {
            return Standing::Allowed;
        }
        let forms = forms(server, tool);
        let of = |group: &Group| {
            let fits = |pattern: &str| {
                (group.bare && fits(pattern, tool)) || forms.iter().any(|form| fits(pattern, form))
            };
            let last = group.patterns.iter().rev().find(|(pattern, _)| fits(pattern));
            last.map_or(Standing::Allowed, |&(_, verdict)| verdict)
        };
        self.0.iter().map(of).max().unwrap_or(Standing::Allowed)
    }
}

/// The names with the server that clients give to a tool, and to all tools of a server.
fn forms(server: &str, tool: &str) -> Vec<String> {
    let plain = |text: &str| -> String {
        let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        text.chars().map(kept).collect()
    };
    let (other, short) = (plain(server), plain(tool));
    let mut forms = vec![
        format!("@{server}"),
        format!("@{server}/{tool}"),
        format!("{server}/{tool}"),
        format!("mcp:{server}:{tool}"),
    ];
    for (server, tool) in [(server, tool), (&other, &short)] {
        forms.extend([
            format!("mcp__{server}"),
            format!("mcp__{server}__{tool}"),
            format!("mcp_{server}_{tool}"),
            format!("{server}__{tool}"),
            format!("{server}_{tool}"),
        ]);
    }
    forms
}

/// Whether a pattern fits a whole text: `*` fits any characters, `?` for one. It takes at most the
/// product of both lengths.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // The last `*`, and the place in the text up to which it reaches.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), text.get(place)) {
            (Some('*'), _) => {
                star = Some((at, place));
                at += 1;
            }
            (None, None) => return true,
            (Some(&one), Some(&other)) if one == '?' || one == other => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((from, reached)) if reached < text.len() => {
                    star = Some((from, reached + 1));
                    (at, place) = (from + 1, reached + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        for (pattern, text) in
            [("*", ""), ("*", "a"), ("a*c", "abbc"), ("a?c", "abc"), ("", ""), ("*b*b", "abab")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a", "ab"), ("a*c", "abcd"), ("?", ""), ("*a", "b"), ("ab", "a")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
        assert!(!fits(&"a*".repeat(200), &"a".repeat(2_000).replace("aaaaa", "b")));
    }

    #[test]
    fn tools_are_found_in_the_forms_of_all_clients() {
        let verdict = |pattern: &str| {
            let patterns = vec![(pattern.to_owned(), Standing::Denied)];
            let named = Named(vec![Group { bare: true, patterns }]);
            named.verdict("my server", "get.it")
        };
        for pattern in [
            "get.it",
            "mcp__my server",
            "mcp__my server__*",
            "mcp__my_server__get_it",
            "my_server_*",
            "@my server",
            "@my server/get.it",
            "mcp:my server:get.it",
            "mcp_my_server_get_it",
            "*",
        ] {
            assert_eq!(verdict(pattern), Standing::Denied, "{pattern}");
        }
        for pattern in ["mcp__my", "mcp__other__*", "get", "@my", ""] {
            assert_eq!(verdict(pattern), Standing::Allowed, "{pattern}");
        }
    }

    #[test]
    fn the_last_pattern_of_a_group_and_the_strictest_group_decide() {
        let own = |pairs: &[(&str, Standing)]| Group {
            bare: false,
            patterns: pairs.iter().map(|&(text, verdict)| (text.to_owned(), verdict)).collect(),
        };
        let named = Named(vec![
            own(&[("*", Standing::Denied), ("s_get", Standing::Allowed), ("s_ask", Standing::Asked)]),
            own(&[("s_get", Standing::Asked), ("ask", Standing::Denied)]),
        ]);
        let found = ["get", "ask", "set"].map(|tool| named.verdict("s", tool));
        assert_eq!(found, [Standing::Asked, Standing::Asked, Standing::Denied]);
    }
}
