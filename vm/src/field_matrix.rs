//! The field matrix: where a record keeps a field. It has one row for each shape and one column for each
//! field that the program reads, one byte each.

use crate::value::at;
use alloc::vec::Vec;

/// The shape does not have the field.
pub(crate) const ABSENT: u8 = 255;
/// The position does not fit in a byte and must be looked up.
pub(crate) const FAR: u8 = 254;
/// Appends the row for a shape with these fields.
#[inline]
pub(crate) fn push_row(matrix: &mut Vec<u8>, stride: usize, fields: &[u32]) {
    let start = matrix.len();
    matrix.resize(start + stride, ABSENT);
    for (place, &field) in fields.iter().enumerate() {
        if at(field) < stride {
            matrix[start + at(field)] = u8::try_from(place).unwrap_or(FAR).min(FAR);
        }
    }
}
