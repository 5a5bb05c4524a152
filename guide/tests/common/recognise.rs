//! A recogniser of GBNF: it reads a grammar's text, finds whether another text is in its language, and writes
//! random texts of that language. The possible ends of a rule are found once for each start position.

use std::collections::{BTreeSet, HashMap};

#[derive(Clone, Debug)]
enum Node {
    Text(Vec<u8>),
    /// Ranges of characters, and whether they are excluded.
    Class(Vec<(char, char)>, bool),
    Rule(String),
    Either(Vec<Node>),
    Row(Vec<Node>),
    /// The least and the greatest number of repetitions.
    Many(Box<Node>, usize, usize),
}

/// A grammar that was read.
pub struct Grammar(HashMap<String, Node>);

impl Grammar {
    /// Reads the text of a grammar.
    pub fn read(text: &str) -> Grammar {
        let rules = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rules = rules.map(|line| {
            let (name, rest) = line.split_once(" ::= ").unwrap();
            let chars: Vec<char> = rest.chars().collect();
            let mut reader = Reader { chars, at: 0 };
            let node = reader.either();
            assert_eq!(reader.at, reader.chars.len(), "{line}");
            (name.to_owned(), node)
        });
        Grammar(rules.collect())
    }

    /// Whether the whole text is in the grammar's language.
    pub fn accepts(&self, text: &str) -> bool {
        let mut run = Run { grammar: self, text, known: HashMap::new() };
        run.rule("root", 0).contains(&text.len())
    }
}

impl Grammar {
    /// A random text of about this number of parts; `below` returns a random number below its argument.
    pub fn sentence(&self, below: &mut dyn FnMut(usize) -> usize, pieces: usize) -> String {
        let mut sizes: HashMap<&str, usize> = HashMap::new();
        // The least parts that each rule takes, until nothing changes.
        loop {
            let mut changed = false;
            for (name, node) in &self.0 {
                let size = node.size(&sizes);
                if size < sizes.get(name.as_str()).copied().unwrap_or(ENDLESS) {
                    sizes.insert(name, size);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let (mut text, mut left) = (String::new(), pieces);
        let mut rest = vec![&self.0["root"]];
        while let Some(node) = rest.pop() {
            match node {
                Node::Text(bytes) => text.push_str(std::str::from_utf8(bytes).unwrap()),
                Node::Class(ranges, not) => text.push(if *not { 'a' } else { ranges[below(ranges.len())].0 }),
                Node::Rule(name) => {
                    left = left.saturating_sub(1);
                    rest.push(&self.0[name.as_str()]);
                }
                Node::Either(choices) => rest.push(if left > 0 {
                    &choices[below(choices.len())]
                } else {
                    choices.iter().min_by_key(|choice| choice.size(&sizes)).unwrap()
                }),
                Node::Row(row) => rest.extend(row.iter().rev()),
                Node::Many(node, least, most) => {
                    let more = if left > 0 { (*most - *least).min(2) } else { 0 };
                    rest.extend(std::iter::repeat_n(&**node, least + below(more + 1)));
                }
            }
        }
        text
    }
}

/// The size of an item that is not known to end.
const ENDLESS: usize = 1 << 30;

impl Node {
    /// The least parts that it takes, as far as the sizes of rules are known.
    fn size(&self, sizes: &HashMap<&str, usize>) -> usize {
        match self {
            Node::Text(_) | Node::Class(..) => 1,
            Node::Rule(name) => sizes.get(name.as_str()).map_or(ENDLESS, |size| size + 1),
            Node::Either(choices) => choices.iter().map(|choice| choice.size(sizes)).min().unwrap_or(ENDLESS),
            Node::Row(row) => row.iter().map(|node| node.size(sizes)).sum::<usize>().min(ENDLESS),
            Node::Many(node, least, _) => (node.size(sizes) * least).min(ENDLESS),
        }
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.chars[self.at - 1]
    }

    fn blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn either(&mut self) -> Node {
        let mut choices = vec![self.row()];
        while self.peek() == Some('|') {
            self.at += 1;
            choices.push(self.row());
        }
        Node::Either(choices)
    }

    fn row(&mut self) -> Node {
        let mut row = Vec::new();
        loop {
            self.blanks();
            let node = match self.peek() {
                None | Some('|' | ')') => return Node::Row(row),
                Some('"') => self.text(),
                Some('[') => self.class(),
                Some('(') => {
                    self.at += 1;
                    let inner = self.either();
                    assert_eq!(self.next(), ')');
                    inner
                }
                Some(_) => {
                    let from = self.at;
                    while self.peek().is_some_and(|c| c.is_ascii_alphanumeric()) {
                        self.at += 1;
                    }
                    assert!(self.at > from);
                    Node::Rule(self.chars[from..self.at].iter().collect())
                }
            };
            row.push(self.many(node));
        }
    }

    fn many(&mut self, node: Node) -> Node {
        let (least, most) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let from = self.at + 1;
                while self.peek() != Some('}') {
                    self.at += 1;
                }
                let inner: String = self.chars[from..self.at].iter().collect();
                let (least, most) = inner.split_once(',').unwrap_or((&inner, &inner));
                (least.parse().unwrap(), most.parse().unwrap())
            }
            _ => return node,
        };
        self.at += 1;
        Node::Many(Box::new(node), least, most)
    }

    fn escaped(&mut self) -> char {
        match self.next() {
            '\\' => match self.next() {
                'n' => '\n',
                'x' => {
                    let digits: String = [self.next(), self.next()].iter().collect();
                    char::from(u8::from_str_radix(&digits, 16).unwrap())
                }
                other => other,
            },
            other => other,
        }
    }

    fn text(&mut self) -> Node {
        self.at += 1;
        let mut text = String::new();
        while self.peek() != Some('"') {
            text.push(self.escaped());
        }
        self.at += 1;
        Node::Text(text.into_bytes())
    }

    fn class(&mut self) -> Node {
        self.at += 1;
        let not = self.peek() == Some('^');
        self.at += usize::from(not);
        let mut ranges = Vec::new();
        while self.peek() != Some(']') {
            let from = self.escaped();
            let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1) != Some(&']');
            let to = if is_range {
                self.at += 1;
                self.escaped()
            } else {
                from
            };
            ranges.push((from, to));
        }
        self.at += 1;
        Node::Class(ranges, not)
    }
}

struct Run<'g> {
    grammar: &'g Grammar,
    text: &'g str,
    known: HashMap<(&'g str, usize), BTreeSet<usize>>,
}

impl<'g> Run<'g> {
    /// The possible ends of a rule from a start position.
    fn rule(&mut self, name: &'g str, at: usize) -> BTreeSet<usize> {
        if let Some(known) = self.known.get(&(name, at)) {
            return known.clone();
        }
        let node = self.grammar.0.get(name).unwrap_or_else(|| panic!("no rule {name}"));
        let ends = self.node(node, at);
        self.known.insert((name, at), ends.clone());
        ends
    }

    fn node(&mut self, node: &'g Node, at: usize) -> BTreeSet<usize> {
        match node {
            Node::Text(text) => {
                let fits = self.text.as_bytes()[at..].starts_with(text);
                fits.then_some(at + text.len()).into_iter().collect()
            }
            Node::Class(ranges, not) => {
                let next = self.text[at..].chars().next();
                let fits = |c: char| ranges.iter().any(|(from, to)| *from <= c && c <= *to) != *not;
                next.filter(|&c| fits(c)).map(|c| at + c.len_utf8()).into_iter().collect()
            }
            Node::Rule(name) => self.rule(name, at),
            Node::Either(choices) => choices.iter().flat_map(|choice| self.node(choice, at)).collect(),
            Node::Row(row) => {
                let mut places = BTreeSet::from([at]);
                for node in row {
                    places = places.into_iter().flat_map(|at| self.node(node, at)).collect();
                    if places.is_empty() {
                        break;
                    }
                }
                places
            }
            Node::Many(node, least, most) => {
                let (mut places, mut ends) = (BTreeSet::from([at]), BTreeSet::new());
                for count in 0.. {
                    if count >= *least {
                        ends.extend(&places);
                    }
                    if count == *most || places.is_empty() {
                        return ends;
                    }
                    places = places.into_iter().flat_map(|at| self.node(node, at)).collect();
                }
                ends
            }
        }
    }
}
