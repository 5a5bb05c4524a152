//! The header of a function that a model writes: that of a helper, or that of the program.

use super::{GuideSession, Vocab, WORD, natural, tokens_of};
use crate::errors::raise;
use ilo_guide::{HeaderMark, Refused};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A header, and where it was before each step.
#[derive(Clone, Debug)]
struct State {
    header: ilo_guide::Header,
    marks: Vec<HeaderMark>,
}

impl State {
    fn step(
        &mut self,
        take: impl FnOnce(&mut ilo_guide::Header) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mark = self.header.mark();
        take(&mut self.header)?;
        self.marks.push(mark);
        Ok(())
    }
}

/// The header of the next function of a file.
#[pyclass(frozen, module = "ilo.guide")]
#[derive(Debug)]
pub(crate) struct Header {
    state: Mutex<State>,
    vocab: Option<Arc<ilo_guide::Vocab>>,
}

impl Header {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn vocab(&self) -> PyResult<&Arc<ilo_guide::Vocab>> {
        let wrong = || PyTypeError::new_err("the header has no vocabulary: pass one to `Header`");
        self.vocab.as_ref().ok_or_else(wrong)
    }

    /// The error of a step that cannot be taken.
    fn refused(py: Python<'_>, header: &mut ilo_guide::Header, found: &[u8], at: usize) -> PyErr {
        let mark = header.mark();
        // It has come so far before.
        let _ = header.accept_bytes(found.get(..at).unwrap_or_default());
        let next = header.next_bytes();
        let close = header.close();
        let column = header.text().len() + 1;
        header.back(&mark);
        let quoted = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
        let found = match found.get(at..).unwrap_or_default() {
            [] => "the end".to_owned(),
            rest => quoted(rest.get(..rest.len().min(40)).unwrap_or_default()),
        };
        let expected = match next.as_slice() {
            [] => "nothing: the header has ended".to_owned(),
            [only] => quoted(&[*only]),
            several => format!("one of {}, such as in {close:?}", quoted(several)),
        };
        raise(py, "Refused", (format!("1:{column} of the header: expected {expected}; found {found}"), at))
    }
}

#[pymethods]
impl Header {
    #[new]
    #[pyo3(signature = (session, vocab=None))]
    fn new(session: &Bound<'_, GuideSession>, vocab: Option<&Bound<'_, Vocab>>) -> Header {
        let header = ilo_guide::Header::new(session.get().0.session());
        let state = State { header, marks: Vec::new() };
        Header { state: Mutex::new(state), vocab: vocab.map(|vocab| Arc::clone(&vocab.get().0)) }
    }

    /// A header that goes on from here by itself.
    fn copy(&self) -> Header {
        Header { state: Mutex::new(self.state().clone()), vocab: self.vocab.clone() }
    }

    /// The header so far.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.state().header.text())
    }

    /// Whether the header is whole.
    #[getter]
    fn ended(&self) -> bool {
        self.state().header.ended()
    }

    /// Whether it can only be, or is, the header of the program itself.
    #[getter]
    fn is_own(&self) -> bool {
        self.state().header.is_own()
    }

    /// How many steps were taken.
    #[getter]
    fn steps(&self) -> usize {
        self.state().marks.len()
    }

    /// Takes a token.
    fn accept(&self, py: Python<'_>, token: i64) -> PyResult<()> {
        let (vocab, token) = (self.vocab()?, natural("token", token)?);
        let mut state = self.state();
        let taken = state.step(|header| header.accept(vocab, token));
        taken.map_err(|it| Header::refused(py, &mut state.header, vocab.token(token), it.at))
    }

    /// Takes bytes, as one step.
    fn accept_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let mut state = self.state();
        let taken = state.step(|header| header.accept_bytes(bytes));
        taken.map_err(|it| Header::refused(py, &mut state.header, bytes, it.at))
    }

    /// How many of these tokens may come next, one behind the other.
    fn validate(&self, tokens: Vec<i64>) -> PyResult<usize> {
        let (vocab, tokens) = (self.vocab()?, tokens_of(tokens)?);
        let mut header = self.state().header.clone();
        Ok(tokens.iter().take_while(|&&token| header.accept(vocab, token).is_ok()).count())
    }

    /// Goes back by so many steps.
    #[pyo3(signature = (steps=1))]
    fn rollback(&self, steps: i64) -> PyResult<()> {
        let steps = natural("steps", steps)? as usize;
        let mut state = self.state();
        let taken = state.marks.len();
        let Some(left) = taken.checked_sub(steps) else {
            let message = format!("cannot go back by {steps} steps: only {taken} were taken");
            return Err(PyValueError::new_err(message));
        };
        if let Some(mark) = state.marks.get(left).copied() {
            state.header.back(&mark);
            state.marks.truncate(left);
        }
        Ok(())
    }

    /// The tokens that may come next.
    #[pyo3(signature = (left=None))]
    fn mask<'py>(&self, py: Python<'py>, left: Option<i64>) -> PyResult<Bound<'py, PyBytes>> {
        let left = left.map_or(Ok(u32::MAX), |left| natural("left", left))?;
        let vocab = self.vocab()?;
        let mut bits = vec![0; vocab.mask_len()];
        let filled = py.detach(|| self.state().header.fill_mask(vocab, left, &mut bits));
        let none = "the vocabulary has no token for what may come next in the header".to_owned();
        match filled {
            Ok(()) if bits.iter().any(|word| *word != 0) => {}
            Ok(()) => return Err(raise(py, "CannotEnd", (none,))),
            Err(short) => {
                let needed = short.needed.map_or(none, |needed| {
                    format!("the header cannot end within the tokens left: it takes {needed}")
                });
                return Err(raise(py, "CannotEnd", (needed,)));
            }
        }
        PyBytes::new_with(py, vocab.mask_len() * WORD, |out| {
            for (out, word) in out.chunks_exact_mut(WORD).zip(&bits) {
                out.copy_from_slice(&word.to_le_bytes());
            }
            Ok(())
        })
    }

    /// The bytes that must come next.
    fn forced<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state().header.forced())
    }

    /// A text that ends the header from here.
    fn close<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.state().header.close().as_bytes())
    }
}
