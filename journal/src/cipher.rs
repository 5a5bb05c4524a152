//! Digests, random numbers, and the encryption of the data of runs.
//!
//! With a key, a blob is encrypted with AES-256-GCM. Each run has its own key, derived from that of the
//! journal with HKDF, so that random nonces do not run out. A blob is bound to its run, its call and its
//! column: one that was moved elsewhere is rejected.

use crate::error::{Error, ErrorCode, Result};
use ilo_drive::data::write::hex;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hkdf, hmac};
use std::fmt;

/// The length of a run's key in bytes.
pub const RUN_KEY: usize = 16;

/// The kind of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Column {
    Program = 1,
    Snapshot = 2,
    Answer = 3,
    Outcome = 4,
    Detail = 5,
    Check = 6,
}

/// The key of a journal, 32 bytes. It is never printed.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// A key of 64 hexadecimal digits, such as `openssl rand -hex 32` prints.
    ///
    /// # Errors
    /// If the text is anything else. The message does not quote it.
    pub fn from_hex(text: &str) -> Result<Key> {
        let text = text.trim();
        let refused = || {
            let found = text.chars().count();
            Error::new(
                ErrorCode::Key,
                format!("a journal key has 64 hexadecimal digits; this one has {found} characters"),
            )
            .remedy("make one with `openssl rand -hex 32`")
        };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(refused());
        }
        let mut key = [0; 32];
        for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| refused())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| refused())?;
        }
        Ok(Key(key))
    }

    /// A key of 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Key {
        Key(bytes)
    }
}

/// Encrypts and decrypts; without a key, blobs are unchanged.
#[derive(Debug)]
pub(crate) struct Cipher {
    key: Option<Secret>,
    random: SystemRandom,
}

struct Secret {
    derive: hkdf::Prk,
    digest: hmac::Key,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Cipher {
    pub(crate) fn new(key: Option<&Key>) -> Cipher {
        let secret = |key: &Key| Secret {
            derive: hkdf::Salt::new(hkdf::HKDF_SHA256, b"ilo-journal 1").extract(&key.0),
            digest: hmac::Key::new(hmac::HMAC_SHA256, &key.0),
        };
        Cipher { key: key.map(secret), random: SystemRandom::new() }
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Random bytes.
    pub(crate) fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.random
            .fill(&mut bytes)
            .map_err(|_| Error::new(ErrorCode::Io, "the system gives no random numbers"))?;
        Ok(bytes)
    }

    /// A short digest, keyed if there is a key, so that it reveals nothing about its input.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> i64 {
        let mut input = Vec::new();
        for part in parts {
            // The length of a slice fits 64 bits.
            input.extend_from_slice(&(part.len() as u64).to_le_bytes());
            input.extend_from_slice(part);
        }
        let whole: Vec<u8> = match &self.key {
            Some(secret) => hmac::sign(&secret.digest, &input).as_ref().to_vec(),
            None => sha256(&input).to_vec(),
        };
        whole.first_chunk().map_or(0, |first: &[u8; 8]| i64::from_le_bytes(*first))
    }

    fn of_run(&self, run: &[u8]) -> Option<Result<LessSafeKey>> {
        let secret = self.key.as_ref()?;
        let failed = || Error::new(ErrorCode::Key, "no key can be derived");
        let derived = secret
            .derive
            .expand(&[b"run", run], &AES_256_GCM)
            .map(UnboundKey::from)
            .map(LessSafeKey::new)
            .map_err(|_| failed());
        Some(derived)
    }

    /// Encrypts a blob of a run.
    pub(crate) fn seal(&self, run: &[u8], call: u64, column: Column, data: &[u8]) -> Result<Vec<u8>> {
        let Some(key) = self.of_run(run) else { return Ok(data.to_vec()) };
        let nonce: [u8; NONCE_LEN] = self.random()?;
        let mut sealed = data.to_vec();
        let tag = key?
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), bound(call, column), &mut sealed)
            .map_err(|_| Error::new(ErrorCode::Value, "too long to be encrypted"))?;
        sealed.splice(0..0, nonce);
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Decrypts a blob of a run.
    pub(crate) fn open(&self, run: &[u8], call: u64, column: Column, data: Vec<u8>) -> Result<Vec<u8>> {
        let Some(key) = self.of_run(run) else { return Ok(data) };
        let refused = || Error::damaged("an encrypted part does not fit its run, its call or the key");
        let (nonce, sealed) = data.split_first_chunk::<NONCE_LEN>().ok_or_else(refused)?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened =
            key?.open_in_place(nonce, bound(call, column), &mut sealed).map_err(|_| refused())?.len();
        sealed.truncate(opened);
        Ok(sealed)
    }
}

impl Cipher {
    /// A program from its stored form, whose hash must fit.
    pub(crate) fn program(&self, hash: &[u8; 32], stored: Vec<u8>) -> Result<Vec<u8>> {
        let bytes = self.open(hash, 0, Column::Program, stored)?;
        if sha256(&bytes) != *hash {
            return Err(Error::damaged("a program does not fit its hash"));
        }
        Ok(bytes)
    }
}

/// What a blob is bound to, in addition to the key of its run.
fn bound(call: u64, column: Column) -> Aad<[u8; 9]> {
    let mut bytes = [column as u8; 9];
    for (to, from) in bytes.iter_mut().skip(1).zip(call.to_le_bytes()) {
        *to = from;
    }
    Aad::from(bytes)
}

/// SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    for (to, from) in hash.iter_mut().zip(digest::digest(&digest::SHA256, bytes).as_ref()) {
        *to = *from;
    }
    hash
}

/// A hash of a call's tool and arguments as JSON, by which a person names the call that was looked at: 32
/// hexadecimal digits.
pub fn arguments_hash(tool: &str, arguments: &str) -> String {
    let length = (tool.len() as u64).to_le_bytes();
    let hash = sha256(&[&length[..], tool.as_bytes(), arguments.as_bytes()].concat());
    hex(hash.get(..16).unwrap_or_default())
}

/// The idempotency key of a call: the run's key in base 32, and the number of the call. It is the same for
/// every attempt, before and after a crash.
pub fn idempotency_key(run: &[u8; RUN_KEY], call: u64) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::with_capacity(48);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in run {
        bits = (bits << 8) | u32::from(byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(ALPHABET[(bits >> count) as usize & 31]));
        }
    }
    text.push(char::from(ALPHABET[(bits << (5 - count)) as usize & 31]));
    format!("{text}-{call}")
}

/// The run's key and the number in the idempotency key of a call, if the text is one.
pub(crate) fn of_idempotency_key(text: &str) -> Option<([u8; RUN_KEY], u64)> {
    let (digits, call) = text.rsplit_once('-')?;
    let call: u64 = call.parse().ok()?;
    let (mut key, mut bits, mut count, mut bytes) = ([0; RUN_KEY], 0_u32, 0, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'a'..=b'z' => digit - b'a',
            b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5 | u32::from(value)) & 0xfff;
        count += 5;
        if count >= 8 {
            count -= 8;
            *key.get_mut(bytes)? = u8::try_from(bits >> count & 0xff).ok()?;
            bytes += 1;
        }
    }
    (idempotency_key(&key, call) == text).then_some((key, call))
}

#[cfg(test)]
mod tests {
    use super::{Cipher, Column, Key, RUN_KEY, idempotency_key, sha256};
    use crate::error::ErrorCode;

    #[test]
    fn the_key_of_a_call_says_which_call_it_is_and_no_other_text_is_one() {
        for call in [1, 7, u64::MAX] {
            let key = std::array::from_fn(|at| u8::try_from(at * 37 % 256).unwrap());
            let text = super::idempotency_key(&key, call);
            assert_eq!(super::of_idempotency_key(&text), Some((key, call)));
            for wrong in
                [text.to_uppercase(), format!("a{text}"), text[1..].to_owned(), text.replace('-', "-0")]
            {
                assert_eq!(super::of_idempotency_key(&wrong), None, "{wrong}");
            }
        }
        assert!(
            ["", "-", "order-7", "1", "é-1"]
                .into_iter()
                .all(|text| super::of_idempotency_key(text).is_none())
        );
    }

    #[test]
    fn a_blob_opens_only_with_its_key_run_call_and_column() {
        let cipher = Cipher::new(Some(&Key::from_bytes([7; 32])));
        let sealed = cipher.seal(b"run", 3, Column::Answer, b"secret").unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
        assert_eq!(cipher.open(b"run", 3, Column::Answer, sealed.clone()).unwrap(), b"secret");
        let again = cipher.seal(b"run", 3, Column::Answer, b"secret").unwrap();
        assert_ne!(sealed, again, "each has its own nonce");
        let other = Cipher::new(Some(&Key::from_bytes([8; 32])));
        let wrong = [
            cipher.open(b"ruN", 3, Column::Answer, sealed.clone()),
            cipher.open(b"run", 4, Column::Answer, sealed.clone()),
            cipher.open(b"run", 3, Column::Outcome, sealed.clone()),
            other.open(b"run", 3, Column::Answer, sealed.clone()),
        ];
        assert!(wrong.into_iter().all(|opened| opened.unwrap_err().code == ErrorCode::Damaged));
        for at in 0..sealed.len() {
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert!(cipher.open(b"run", 3, Column::Answer, flipped).is_err());
            assert!(cipher.open(b"run", 3, Column::Answer, sealed[..at].to_vec()).is_err());
        }
    }

    #[test]
    fn keys_are_64_digits_and_no_message_quotes_one() {
        assert!(Key::from_hex(&"0f".repeat(32)).is_ok());
        for wrong in ["", "zz", &"0f".repeat(31), &"0g".repeat(32), &"é".repeat(32), &"+f".repeat(32)] {
            let error = Key::from_hex(wrong).unwrap_err();
            assert_eq!(error.code, ErrorCode::Key);
            assert!(wrong.is_empty() || !error.to_string().contains(wrong));
        }
        assert_eq!(format!("{:?}", Key::from_bytes([1; 32])), "Key(..)");
    }

    #[test]
    fn digests_follow_the_key_and_the_bounds_of_their_parts() {
        let plain = Cipher::new(None);
        let keyed = Cipher::new(Some(&Key::from_bytes([1; 32])));
        assert_eq!(plain.digest(&[b"ab", b"c"]), plain.digest(&[b"ab", b"c"]));
        assert_ne!(plain.digest(&[b"ab", b"c"]), plain.digest(&[b"a", b"bc"]));
        assert_ne!(plain.digest(&[b"ab"]), keyed.digest(&[b"ab"]));
    }

    #[test]
    fn idempotency_keys_are_base_32_and_the_number() {
        assert_eq!(idempotency_key(&[0; RUN_KEY], 1), format!("{}-1", "a".repeat(26)));
        assert_eq!(idempotency_key(&[255; RUN_KEY], 12), format!("{}4-12", "7".repeat(25)));
        let mut ends = [0; RUN_KEY];
        ends[RUN_KEY - 1] = 1;
        assert_eq!(idempotency_key(&ends, 1), format!("{}e-1", "a".repeat(25)));
    }

    #[test]
    fn sha256_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha256(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
