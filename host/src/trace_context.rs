//! W3C Trace Context: tools get it with a call, and spans are sent with it.

use std::fmt;
use std::str::FromStr;

/// A trace context, as in the header `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    trace: u128,
    span: u64,
    parent: Option<u64>,
    sampled: bool,
}

#[cfg_attr(not(feature = "telemetry"), allow(dead_code, reason = "without the feature nothing is sent"))]
impl Context {
    /// A new span within another one, or in a new trace. `None` if the system has no random numbers.
    pub(crate) fn new(parent: Option<&Context>) -> Option<Context> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).ok()?;
        let (trace, span) = bytes.split_at(16);
        // An ID of zeros is invalid.
        let span = u64::from_be_bytes(span.try_into().ok()?).max(1);
        let trace = u128::from_be_bytes(trace.try_into().ok()?).max(1);
        Some(match parent {
            Some(parent) => Context { span, parent: Some(parent.span), ..*parent },
            None => Context { trace, span, parent: None, sampled: true },
        })
    }

    /// The ID of the trace, in hexadecimal digits.
    pub(crate) fn trace_id(&self) -> String {
        format!("{:032x}", self.trace)
    }

    /// The ID of the span, in hexadecimal digits.
    pub(crate) fn span_id(&self) -> String {
        format!("{:016x}", self.span)
    }

    /// The ID of the parent span.
    pub(crate) fn parent_id(&self) -> Option<String> {
        self.parent.map(|parent| format!("{parent:016x}"))
    }

    /// Whether the trace is sampled.
    pub(crate) fn is_sampled(&self) -> bool {
        self.sampled
    }
}

/// The form for the header and for the `_meta` of MCP.
impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

impl FromStr for Context {
    type Err = ();

    fn from_str(text: &str) -> Result<Context, ()> {
        let mut parts = text.trim().split('-');
        let mut part = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits);
            part.filter(|part| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
        };
        let (Some(version), Some(trace), Some(span), Some(flags)) = (part(2), part(32), part(16), part(2))
        else {
            return Err(());
        };
        // A later version may have more parts.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return Err(());
        }
        let trace = u128::from_str_radix(trace, 16).map_err(drop)?;
        let span = u64::from_str_radix(span, 16).map_err(drop)?;
        let flags = u8::from_str_radix(flags, 16).map_err(drop)?;
        if trace == 0 || span == 0 {
            return Err(());
        }
        Ok(Context { trace, span, parent: None, sampled: flags & 1 == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_read_and_written() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context: Context = text.parse().unwrap();
        assert_eq!(context.to_string(), text);
        let child = Context::new(Some(&context)).unwrap();
        assert_eq!((child.trace, child.parent), (context.trace, Some(context.span)));
        assert!(child.to_string().starts_with("00-0af7651916cd43dd8448eb211c80319c-") && child.is_sampled());
        assert!(!text.replace("-01", "-00").parse::<Context>().unwrap().is_sampled());
        assert!(format!("01{}-more", &text[2..]).parse::<Context>().is_ok());
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(bad.parse::<Context>().is_err(), "{bad}");
        }
    }
}
