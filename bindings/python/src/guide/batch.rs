//! Batches of guides: their masks, spread over threads, and their next tokens. A guide that fails is reported
//! by its row, and the others go on.

use super::{Guide, WORD, natural, tokens_of};
use ilo_bindings::guide::Held;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The fewest rows for which another thread begins: to begin one takes as long as some masks.
const ROWS: usize = 4;

/// A requested mask: its guide, and the number of tokens left.
pub(super) struct Row<'h> {
    pub(super) held: &'h Held,
    pub(super) number: u64,
    pub(super) left: Option<u32>,
}

impl Row<'_> {
    fn fill(&self, vocab: &ilo_guide::Vocab, bits: &mut [u32]) -> Result<(), String> {
        let left = self.left.unwrap_or(u32::MAX);
        self.held.with(self.number, |entry| entry.fill_mask(vocab, left, bits)).unwrap_or(Ok(()))
    }

    /// Writes the mask. If there is none, the mask allows the end alone.
    fn write(&self, vocab: &ilo_guide::Vocab, bits: &mut [u32], out: &mut [u8]) -> Result<(), String> {
        let filled = self.fill(vocab, bits);
        if filled.is_err() {
            bits.fill(0);
            if let Some(word) = bits.get_mut(vocab.eos() as usize / 32) {
                *word = 1 << (vocab.eos() % 32);
            }
        }
        for (out, word) in out.chunks_exact_mut(WORD).zip(bits) {
            out.copy_from_slice(&word.to_le_bytes());
        }
        filled
    }
}

/// A row, by its number, and why it has no mask.
type NoMask = (usize, String);

/// Writes the masks of some rows, concatenated. Returns the rows that have none, in order.
pub(super) fn fill_rows(vocab: &ilo_guide::Vocab, rows: &[Row<'_>], out: &mut [u8]) -> Vec<NoMask> {
    let one = vocab.mask_len() * WORD;
    let work = Mutex::new(rows.iter().enumerate().zip(out.chunks_exact_mut(one)));
    let run = || {
        let (mut bits, mut failed) = (vec![0; vocab.mask_len()], Vec::new());
        loop {
            // Masks differ in time, so each thread takes the next one when it is free.
            let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(((number, row), out)) = next else { return failed };
            if let Err(why) = row.write(vocab, &mut bits, out) {
                failed.push((number, why));
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let others = cores.min(rows.len() / ROWS).saturating_sub(1);
    let mut failed = thread::scope(|scope| {
        // If the system gives no thread, the others do its work.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let begun: Vec<_> = (0..others).filter_map(spawn).collect();
        let mut failed = run();
        failed.extend(begun.into_iter().filter_map(|thread| thread.join().ok()).flatten());
        failed
    });
    failed.sort_unstable();
    failed
}

/// The vocabulary of all guides of a batch.
fn common_vocab<'g>(guides: &'g [Bound<'_, Guide>]) -> PyResult<Option<&'g Arc<ilo_guide::Vocab>>> {
    let Some(first) = guides.first() else { return Ok(None) };
    let vocab = first.get().vocab()?;
    for (number, guide) in guides.iter().enumerate() {
        if !Arc::ptr_eq(guide.get().vocab()?, vocab) {
            let message = format!("guide {number} has another vocabulary than guide 0");
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(Some(vocab))
}

fn one_each<T>(name: &str, all: &[T], guides: usize) -> PyResult<()> {
    if all.len() == guides {
        return Ok(());
    }
    let found = all.len();
    let message = format!("expected {guides} numbers in `{name}`, one for each guide, found {found}");
    Err(PyValueError::new_err(message))
}

fn by_row(py: Python<'_>, failed: Vec<NoMask>) -> PyResult<Bound<'_, PyDict>> {
    let rows = PyDict::new(py);
    failed.into_iter().try_for_each(|(row, why)| rows.set_item(row, why))?;
    Ok(rows)
}

/// The masks of guides with one vocabulary, concatenated, and why some rows have none.
#[pyfunction]
#[pyo3(signature = (guides, left=None))]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 gives lists by value")]
pub(crate) fn fill_masks<'py>(
    py: Python<'py>,
    guides: Vec<Bound<'py, Guide>>,
    left: Option<Vec<Option<i64>>>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
    let left = left.unwrap_or_else(|| vec![None; guides.len()]);
    one_each("left", &left, guides.len())?;
    let Some(vocab) = common_vocab(&guides)? else { return Ok((PyBytes::new(py, b""), PyDict::new(py))) };
    let mut rows = Vec::new();
    for (guide, left) in guides.iter().zip(left) {
        let guide = guide.get();
        let left = left.map(|left| natural("left", left)).transpose()?;
        rows.push(Row { held: &guide.held, number: guide.number, left });
    }
    let mut failed = Vec::new();
    let masks = PyBytes::new_with(py, vocab.mask_len() * WORD * rows.len(), |out| {
        failed = py.detach(|| fill_rows(vocab, &rows, out));
        Ok(())
    })?;
    Ok((masks, by_row(py, failed)?))
}

/// Takes the next token of each of some guides. Returns why some rows refuse theirs; these have not changed.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 gives lists by value")]
pub(crate) fn accept_tokens<'py>(
    py: Python<'py>,
    guides: Vec<Bound<'py, Guide>>,
    tokens: Vec<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    one_each("tokens", &tokens, guides.len())?;
    let tokens = tokens_of(tokens)?;
    let Some(vocab) = common_vocab(&guides)? else { return Ok(PyDict::new(py)) };
    let held: Vec<(&Held, u64)> = guides.iter().map(|it| (&*it.get().held, it.get().number)).collect();
    let failed = py.detach(|| {
        let rows = held.into_iter().zip(tokens).enumerate();
        let refused = rows.filter_map(|(row, ((held, number), token))| {
            let taken = held.with(number, |entry| entry.accept(vocab, token))?;
            Some((row, taken.err()?.message))
        });
        refused.collect()
    });
    by_row(py, failed)
}
