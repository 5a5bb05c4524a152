//! PARSE and NUMBER as the specification defines them (12.11, 12.12): a reader that recurses, character by
//! character.

use super::pure::Stop;
use super::value::Value;
use std::rc::Rc;

/// The deepest nesting (10.6).
const DEPTH: usize = 128;
/// Bytes of a name or text that a message shows (12.3).
const SHOWN: usize = 60;

/// The value of a JSON document.
pub(super) fn parse(text: &str) -> Result<Value, Stop> {
    let mut reader = Reader { text: text.chars().collect(), at: 0 };
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at == reader.text.len() { Ok(value) } else { Err(reader.wrong("expected the end", reader.at)) }
}

/// NUMBER of a text: as in JSON, but for zeros before the first digit.
pub(super) fn number_of(text: &str) -> Result<Value, &'static str> {
    let mut chars: Vec<char> = text.chars().collect();
    let first = usize::from(chars.first() == Some(&'-'));
    while chars.get(first) == Some(&'0') && chars.get(first + 1).is_some_and(char::is_ascii_digit) {
        chars.remove(first);
    }
    number(&chars.into_iter().collect::<String>())
}

/// The number that a text is; in place of it, what was expected.
fn number(text: &str) -> Result<Value, &'static str> {
    if !is_number(text) {
        return Err("expected a number");
    }
    if text == "-0" {
        return Ok(Value::Double(-0.0));
    }
    if !text.contains(['.', 'e', 'E']) {
        return text.parse().map(Value::Int).map_err(|_| "expected an integer within 64 bits");
    }
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => Ok(Value::Double(double)),
        _ => Err("expected a finite number"),
    }
}

/// Whether a text has the form of RFC 8259: `[ "-" ] int [ frac ] [ exp ]`.
fn is_number(text: &str) -> bool {
    let all_digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    all_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(all_digits)
        && exponent.is_none_or(all_digits)
}

/// The beginning of a text in a message.
pub(super) fn shown(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let mut start = String::new();
    for c in text.chars() {
        if start.len() + c.len_utf8() > SHOWN {
            break;
        }
        start.push(c);
    }
    start + "…"
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    #[allow(clippy::unused_self, reason = "reads as a sentence where it is used")]
    fn wrong(&self, why: &str, at: usize) -> Stop {
        Stop::Failure(format!("not JSON: {why} at character {at}"))
    }

    fn next(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.next() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) {
        while matches!(self.next(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        self.blanks();
        for (word, value) in
            [("null", Value::Nil), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.text[self.at..].iter().copied().take(word.len()).eq(word.chars()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        match self.next() {
            Some('[' | '{') if depth == DEPTH => Err(Stop::Limit),
            Some('[') => self.list(depth + 1),
            Some('{') => self.record(depth + 1),
            Some('"') => self.string().map(|text| Value::text(&text)),
            Some('-' | '0'..='9') => self.number(),
            _ => Err(self.wrong("expected a value", self.at)),
        }
    }

    fn number(&mut self) -> Result<Value, Stop> {
        let start = self.at;
        let mut token = String::new();
        while let Some(c) = self.next().filter(|c| c.is_ascii_digit() || "+-.eE".contains(*c)) {
            token.push(c);
            self.at += 1;
        }
        number(&token).map_err(|expected| {
            let why = match expected {
                "expected a number" => "expected a number in JSON's form",
                "expected a finite number" => "a number that is not finite",
                _ => "an integer beyond 64 bits",
            };
            self.wrong(why, start)
        })
    }

    fn list(&mut self, depth: usize) -> Result<Value, Stop> {
        self.at += 1;
        self.blanks();
        let mut items = Vec::new();
        if self.eat(']') {
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.blanks();
            if self.eat(']') {
                return Ok(Value::list(items));
            }
            if !self.eat(',') {
                return Err(self.wrong("expected `,` or `]`", self.at));
            }
        }
    }

    fn record(&mut self, depth: usize) -> Result<Value, Stop> {
        self.at += 1;
        self.blanks();
        let mut fields: Vec<(Rc<str>, Value)> = Vec::new();
        if self.eat('}') {
            return Ok(Value::record(fields));
        }
        loop {
            if self.next() != Some('"') {
                let first = fields.is_empty();
                let why = if first { "expected a name or `}`" } else { "expected a name" };
                return Err(self.wrong(why, self.at));
            }
            let name = self.string()?;
            self.blanks();
            if !self.eat(':') {
                return Err(self.wrong("expected `:`", self.at));
            }
            fields.push((name.into(), self.value(depth)?));
            self.blanks();
            if self.eat('}') {
                break;
            }
            if !self.eat(',') {
                return Err(self.wrong("expected `,` or `}`", self.at));
            }
            self.blanks();
        }
        let repeated = (0..fields.len()).find(|&at| fields[..at].iter().any(|field| field.0 == fields[at].0));
        match repeated {
            Some(at) => {
                let name = if fields[at].0.is_empty() { "\"\"".to_owned() } else { shown(&fields[at].0) };
                Err(Stop::Failure(format!("the field {name} is given twice")))
            }
            None => Ok(Value::record(fields)),
        }
    }

    fn string(&mut self) -> Result<String, Stop> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.wrong("expected the end of the string", self.at)),
                Some('"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some('\\') => {
                    let start = self.at;
                    let c = self.escape().ok_or_else(|| self.wrong("expected a valid escape", start))?;
                    text.push(c);
                }
                Some('\0'..='\u{1f}') => {
                    return Err(self.wrong("expected no control character in a string", self.at));
                }
                Some(c) => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        self.at += 1;
        let letter = self.next()?;
        self.at += 1;
        Some(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let mut units = vec![self.unit()?];
                if (0xd800..0xdc00).contains(&units[0]) {
                    if !(self.eat('\\') && self.eat('u')) {
                        return None;
                    }
                    units.push(self.unit()?);
                }
                let mut decoded = char::decode_utf16(units);
                let c = decoded.next()?.ok()?;
                if decoded.next().is_some() {
                    return None;
                }
                c
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = 16 * unit + self.next()?.to_digit(16)?;
            self.at += 1;
        }
        u16::try_from(unit).ok()
    }
}
