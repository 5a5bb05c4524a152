//! Masks: bit `t % 32` of word `t / 32` is that of token `t`.

/// Sets the bit of a token.
pub(crate) fn set(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

pub(crate) fn set_all(bits: &mut [u32], tokens: &[u32]) {
    tokens.iter().for_each(|&token| set(bits, token));
}

pub(crate) fn clear(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word &= !(1 << (token % 32));
    }
}

pub(crate) fn has(bits: &[u32], token: u32) -> bool {
    bits.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}

/// Sets a mask to another one.
pub(crate) fn copy(mask: &[u32], bits: &mut [u32]) {
    if mask.len() == bits.len() {
        return bits.copy_from_slice(mask);
    }
    let all = mask.iter().copied().chain(core::iter::repeat(0));
    bits.iter_mut().zip(all).for_each(|(to, from)| *to = from);
}
