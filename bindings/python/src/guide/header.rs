//! The header of a function that a model writes: of a helper, or of the program.

use super::{GuideSession, Vocab, cannot_end, natural, packed, raise_refusal, tokens_of};
use ilo_bindings::guide;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The header of the next function of a file.
#[pyclass(frozen, module = "ilo.guide")]
#[derive(Debug)]
pub(crate) struct Header {
    state: Mutex<guide::Header>,
    vocab: Option<Arc<ilo_guide::Vocab>>,
}

impl Header {
    fn state(&self) -> MutexGuard<'_, guide::Header> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn vocab(&self) -> PyResult<&Arc<ilo_guide::Vocab>> {
        let wrong = || PyTypeError::new_err("the header has no vocabulary: pass one to `Header`");
        self.vocab.as_ref().ok_or_else(wrong)
    }
}

#[pymethods]
impl Header {
    #[new]
    #[pyo3(signature = (session, vocab=None))]
    fn new(session: &Bound<'_, GuideSession>, vocab: Option<&Bound<'_, Vocab>>) -> PyResult<Header> {
        let header = guide::Header::new(&session.get().0).map_err(PyValueError::new_err)?;
        let state = Mutex::new(header);
        Ok(Header { state, vocab: vocab.map(|vocab| Arc::clone(&vocab.get().0)) })
    }

    /// A copy of the header that continues independently.
    fn copy(&self) -> Header {
        Header { state: Mutex::new(self.state().clone()), vocab: self.vocab.clone() }
    }

    /// The header so far.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.state().text())
    }

    /// Whether the header is complete.
    #[getter]
    fn ended(&self) -> bool {
        self.state().ended()
    }

    /// Whether it is, or can only become, the header of the program itself.
    #[getter]
    fn is_own(&self) -> bool {
        self.state().is_own()
    }

    /// The number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.state().steps()
    }

    /// Takes a token.
    fn accept(&self, py: Python<'_>, token: i64) -> PyResult<()> {
        let (vocab, token) = (self.vocab()?, natural("token", token)?);
        self.state().accept(vocab, token).map_err(|refusal| raise_refusal(py, refusal))
    }

    /// Takes bytes, as one step.
    fn accept_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.state().accept_bytes(bytes).map_err(|refusal| raise_refusal(py, refusal))
    }

    /// The number of these tokens, from the first, that may come next in order.
    fn validate(&self, tokens: Vec<i64>) -> PyResult<usize> {
        let (vocab, tokens) = (self.vocab()?, tokens_of(tokens)?);
        Ok(self.state().validate(vocab, &tokens))
    }

    /// Takes back this number of steps.
    #[pyo3(signature = (steps=1))]
    fn rollback(&self, steps: i64) -> PyResult<()> {
        let steps = natural("steps", steps)? as usize;
        self.state().rollback(steps).map_err(PyValueError::new_err)
    }

    /// The tokens that may come next.
    #[pyo3(signature = (left=None))]
    fn mask<'py>(&self, py: Python<'py>, left: Option<i64>) -> PyResult<Bound<'py, PyBytes>> {
        let left = left.map_or(Ok(u32::MAX), |left| natural("left", left))?;
        let vocab = self.vocab()?;
        let mut bits = vec![0; vocab.mask_len()];
        let filled = py.detach(|| self.state().fill_mask(vocab, left, &mut bits));
        filled.map_err(|why| cannot_end(py, why))?;
        packed(py, &bits)
    }

    /// The bytes that must come next.
    fn forced<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state().forced())
    }

    /// A text that completes the header.
    fn close<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.state().close().as_bytes())
    }
}
