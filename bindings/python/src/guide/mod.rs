//! Guided generation: vocabularies, sessions, guides and masks.
//!
//! Masks are made without the interpreter's lock. Everything else is fast.

mod batch;
mod header;

use crate::errors::raise;
use crate::tools::Catalogue;
use batch::Row;
pub(crate) use batch::{accept_tokens, fill_masks};
pub(crate) use header::Header;
use ilo_bindings::guide::{Entry, Held, Refusal};
use ilo_bindings::known::Known;
use ilo_guide::{Options, Session};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// The bytes of a word of a mask.
const WORD: usize = 4;

/// A natural number from Python.
fn natural(name: &str, number: i64) -> PyResult<u32> {
    let wrong =
        |_| PyValueError::new_err(format!("{name}: expected a number from 0 to 2^32 - 1, found {number}"));
    u32::try_from(number).map_err(wrong)
}

/// `Refused`, with the number of bytes that could have come.
fn raise_refusal(py: Python<'_>, refusal: Refusal) -> PyErr {
    raise(py, "Refused", (refusal.message, refusal.at))
}

fn cannot_end(py: Python<'_>, why: String) -> PyErr {
    raise(py, "CannotEnd", (why,))
}

fn tokens_of(tokens: Vec<i64>) -> PyResult<Vec<u32>> {
    tokens.into_iter().map(|token| natural("token", token)).collect()
}

/// The tokens of a model.
#[pyclass(frozen, module = "ilo.guide")]
#[derive(Debug)]
pub(crate) struct Vocab(Arc<ilo_guide::Vocab>);

#[pymethods]
impl Vocab {
    #[new]
    fn new(py: Python<'_>, tokens: &Bound<'_, PyAny>, eos: i64) -> PyResult<Vocab> {
        let eos = natural("eos", eos)?;
        let mut all: Vec<PyBackedBytes> = Vec::new();
        for token in tokens.try_iter()? {
            let token = token?;
            let bytes = token.extract().map_err(|_| {
                let found = token.get_type().name().map(|name| name.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!("token {}: expected bytes, found {found}", all.len()))
            })?;
            all.push(bytes);
        }
        let vocab = py.detach(|| ilo_guide::Vocab::new(&all, eos));
        Ok(Vocab(Arc::new(vocab.map_err(|error| PyValueError::new_err(error.0))?)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    #[getter]
    fn eos(&self) -> u32 {
        self.0.eos()
    }

    /// The number of bytes of a mask.
    #[getter]
    fn mask_bytes(&self) -> usize {
        self.0.mask_len() * WORD
    }

    /// The bytes of a token.
    fn token<'py>(&self, py: Python<'py>, token: i64) -> PyResult<Bound<'py, PyBytes>> {
        match u32::try_from(token) {
            Ok(token) if (token as usize) < self.0.len() => Ok(PyBytes::new(py, self.0.token(token))),
            _ => Err(PyIndexError::new_err(format!("token {token}: the last is {}", self.0.len() - 1))),
        }
    }

    /// Splits a text into tokens, the longest first.
    fn cut(&self, text: &[u8]) -> Option<Vec<u32>> {
        self.0.cut(text)
    }
}

/// A signature, tools, and the guides that write a program of it.
#[pyclass(frozen, subclass, module = "ilo._ilo")]
#[derive(Debug)]
pub(crate) struct GuideSession(Arc<Held>);

#[pymethods]
impl GuideSession {
    #[new]
    #[pyo3(signature = (signature, tools, above, notation))]
    fn new(
        py: Python<'_>,
        signature: &str,
        tools: Option<&Bound<'_, Catalogue>>,
        above: String,
        notation: &str,
    ) -> PyResult<GuideSession> {
        let known = tools.map_or_else(|| Arc::new(Known::default()), |tools| Arc::clone(&tools.get().0));
        let options = Options { above, ..Options::default() };
        let begin = || Held::begin(|a, b, c| Session::new(a, b, c), known, signature, notation, &options);
        Ok(GuideSession(Arc::new(py.detach(begin).map_err(|error| PyValueError::new_err(error.0))?)))
    }

    /// The text before the body.
    #[getter]
    fn prefix(&self) -> String {
        self.0.prefix()
    }
}

/// A program that a model is writing.
#[pyclass(frozen, module = "ilo.guide")]
#[derive(Debug)]
pub(crate) struct Guide {
    held: Arc<Held>,
    number: u64,
    vocab: Option<Arc<ilo_guide::Vocab>>,
}

impl Drop for Guide {
    fn drop(&mut self) {
        self.held.remove(self.number);
    }
}

impl Guide {
    fn with<T>(&self, run: impl for<'a> FnOnce(&mut Entry<'a>) -> T) -> PyResult<T> {
        // The entry exists as long as its guide.
        self.held.with(self.number, run).ok_or_else(|| PyRuntimeError::new_err("the guide is gone"))
    }

    fn vocab(&self) -> PyResult<&Arc<ilo_guide::Vocab>> {
        let wrong = || PyTypeError::new_err("the guide has no vocabulary: pass one to `Guide`");
        self.vocab.as_ref().ok_or_else(wrong)
    }
}

#[allow(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime only")]
#[pymethods]
impl Guide {
    #[new]
    #[pyo3(signature = (session, vocab=None))]
    fn new(session: &Bound<'_, GuideSession>, vocab: Option<&Bound<'_, Vocab>>) -> Guide {
        let held = Arc::clone(&session.get().0);
        let number = held.add();
        Guide { held, number, vocab: vocab.map(|vocab| Arc::clone(&vocab.get().0)) }
    }

    /// A copy of the guide that continues independently.
    fn copy(&self) -> Guide {
        let number = self.held.copy(self.number);
        Guide { held: Arc::clone(&self.held), number, vocab: self.vocab.clone() }
    }

    /// The body so far.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(|entry| PyBytes::new(py, entry.text()))
    }

    /// The number of steps.
    #[getter]
    fn steps(&self) -> PyResult<usize> {
        self.with(|entry| entry.steps())
    }

    #[getter]
    fn may_end(&self) -> PyResult<bool> {
        self.with(|entry| entry.may_end())
    }

    /// Whether the token that ends the text was taken.
    #[getter]
    fn ended(&self) -> PyResult<bool> {
        self.with(|entry| entry.ended())
    }

    /// The approximate number of bytes of the guide.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        self.with(|entry| entry.memory())
    }

    /// Takes a token.
    fn accept(&self, py: Python<'_>, token: i64) -> PyResult<()> {
        let (vocab, token) = (self.vocab()?, natural("token", token)?);
        self.with(|entry| entry.accept(vocab, token))?.map_err(|refusal| raise_refusal(py, refusal))
    }

    /// Takes bytes of the body, as one step.
    fn accept_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.with(|entry| entry.accept_bytes(bytes))?.map_err(|refusal| raise_refusal(py, refusal))
    }

    /// The number of these tokens, from the first, that may come next in order.
    fn validate(&self, tokens: Vec<i64>) -> PyResult<usize> {
        let (vocab, tokens) = (self.vocab()?, tokens_of(tokens)?);
        self.with(|entry| entry.validate(vocab, &tokens))
    }

    /// Takes back this number of steps.
    #[pyo3(signature = (steps=1))]
    fn rollback(&self, steps: i64) -> PyResult<()> {
        let steps = natural("steps", steps)? as usize;
        self.with(|entry| entry.rollback(steps))?.map_err(PyValueError::new_err)
    }

    /// The tokens that may come next.
    #[pyo3(signature = (left=None))]
    fn mask<'py>(&self, py: Python<'py>, left: Option<i64>) -> PyResult<Bound<'py, PyBytes>> {
        let (vocab, left) = (self.vocab()?, left.map(|left| natural("left", left)).transpose()?);
        let rows = [Row { held: &self.held, number: self.number, left }];
        PyBytes::new_with(py, vocab.mask_len() * WORD, |out| {
            let failed = py.detach(|| batch::fill_rows(vocab, &rows, out));
            failed.into_iter().next().map_or(Ok(()), |(_, why)| Err(cannot_end(py, why)))
        })
    }

    /// The bytes that must come next.
    fn forced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let forced = self.with(|entry| entry.forced())?;
        Ok(PyBytes::new(py, &forced))
    }

    /// The tokens that must come next.
    #[pyo3(signature = (cut=None))]
    fn forced_tokens(&self, cut: Option<Vec<i64>>) -> PyResult<Vec<u32>> {
        let (vocab, cut) = (self.vocab()?, cut.map(tokens_of).transpose()?);
        self.with(|entry| entry.forced_tokens(vocab, cut))
    }

    /// A text that ends the program.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let end = self.with(|entry| entry.close())?;
        Ok(end.map(|end| PyBytes::new(py, &end)))
    }

    /// What may come next, as nodes.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = self.with(|entry| entry.next_json())?;
        py.import("json")?.call_method1("loads", (json,))?.get_item("next")
    }

    /// The whole file.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        self.with(|entry| entry.finish())?.map_err(|refusal| raise_refusal(py, refusal))
    }
}

/// A mask as bytes.
fn packed<'py>(py: Python<'py>, bits: &[u32]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bits.len() * WORD, |out| {
        pack(bits, out);
        Ok(())
    })
}

fn pack(bits: &[u32], out: &mut [u8]) {
    for (out, word) in out.chunks_exact_mut(WORD).zip(bits) {
        out.copy_from_slice(&word.to_le_bytes());
    }
}
