//! What a run that waits for an answer costs to keep: the rows of suspended runs and snapshots belong here. It has none
//! while runs cannot be packed.

use crate::rows::Row;
use ilo_worker::Worker;

/// What is measured of us.
pub(crate) fn add(_worker: &mut Worker) {}

/// The rows.
pub(crate) const ROWS: &[Row] = &[];
