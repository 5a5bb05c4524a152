//! The forms in which a secret appears in texts of others: base64, percent escapes, hexadecimal digits and
//! JSON escapes. Only longer secrets have them; the form of a short one would hide ordinary text.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The minimum length of a secret in bytes.
const LEAST: usize = 12;

/// The forms of a secret, without itself.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let mut forms = BTreeSet::from([escaped(secret, |c| c != '"' && c != '\\' && c >= ' ')]);
    if secret.len() >= LEAST {
        base64(secret.as_bytes(), &mut forms);
        percent(secret, &mut forms);
        let hex = digits(secret.as_bytes(), "");
        forms.extend([hex.to_uppercase(), hex]);
        forms.insert(escaped(secret, |c| c.is_ascii_graphic() && !"\"\\".contains(c)));
        forms.insert(escaped(secret, |c| c.is_ascii_graphic() && !"\"\\/<>&'+".contains(c)));
        forms.insert(escaped(secret, |c| c != '"' && c != '\\' && c >= ' ').replace('/', "\\/"));
    }
    forms.remove(secret);
    forms.into_iter().collect()
}

/// Each alphabet at each of the three offsets that the secret can have in a longer text: the characters that
/// depend on nothing else.
fn base64(secret: &[u8], forms: &mut BTreeSet<String>) {
    for offset in 0..3_usize {
        let bytes = [&b"\0\0"[..offset], secret].concat();
        let (from, to) = ((8 * offset).div_ceil(6), 8 * bytes.len() / 6);
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            forms.extend(text.get(from..to).map(str::to_owned));
        }
    }
}

/// What different writers leave as it is in a URL or a form, with digits of both cases.
fn percent(secret: &str, forms: &mut BTreeSet<String>) {
    for plain in ["", "-_.~", "-_.!~*'()", "-_.*", "-_.~!$&'()*+,;=:@/?"] {
        let mut written = String::new();
        for byte in secret.bytes() {
            if byte.is_ascii_alphanumeric() || plain.as_bytes().contains(&byte) {
                written.push(char::from(byte));
            } else {
                // Writing to a string does not fail.
                let _ = write!(written, "%{byte:02X}");
            }
        }
        forms.insert(written.replace("%20", "+"));
        forms.insert(lower_case(&written));
        forms.insert(written);
    }
}

/// The digits after each `%` in lower case.
fn lower_case(written: &str) -> String {
    let mut parts = written.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text.extend(["%", &digits.to_ascii_lowercase(), rest]);
    }
    text
}

fn digits(bytes: &[u8], before: &str) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{before}{byte:02x}");
        text
    })
}

/// A text within JSON, in which characters that are not plain are written as escapes.
fn escaped(secret: &str, is_plain: impl Fn(char) -> bool) -> String {
    let mut text = String::new();
    for c in secret.chars() {
        match c {
            _ if is_plain(c) => text.push(c),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cr/t k+y\"é\\z";

    #[test]
    fn every_form_of_a_long_secret_is_known() {
        let forms = forms(SECRET);
        let known = |text: &str| forms.iter().any(|form| text.contains(form.as_str()));
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "x", "xy"] {
                let whole = format!("{before}{SECRET}{after}");
                assert!(known(&STANDARD_NO_PAD.encode(&whole)), "{whole}");
                assert!(known(&URL_SAFE_NO_PAD.encode(&whole)), "{whole}");
            }
        }
        for text in [
            "s3cr%2Ft%20k%2By%22%C3%A9%5Cz",
            "s3cr%2ft%20k%2by%22%c3%a9%5cz",
            "s3cr%2Ft+k%2By%22%C3%A9%5Cz",
            "s3cr/t k+y\\\"é\\\\z",
            "s3cr/t\\u0020k+y\\\"\\u00e9\\\\z",
            "s3cr\\/t k+y\\\"é\\\\z",
            "733363722f74206b2b7922c3a95c7a",
            "733363722F74206B2B7922C3A95C7A",
        ] {
            assert!(known(text), "{text}");
        }
        assert!(!known("c2VjcmV0") && !known("secret"));
    }

    #[test]
    fn a_short_secret_has_no_forms_but_its_escapes() {
        assert!(forms("hunter2").is_empty());
        assert_eq!(forms("a\"b\nc"), ["a\\\"b\\nc"]);
        assert!(forms("0123456789a").is_empty() && !forms("0123456789ab").is_empty());
    }
}
