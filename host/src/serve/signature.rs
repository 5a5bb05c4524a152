//! Verifies the signatures of tokens with `ring`, which TLS uses already. Nothing here signs.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the provider of the process. An existing one works too.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

/// Whether signatures of an algorithm can be verified; those with a shared secret cannot.
pub(super) fn is_known(algorithm: Algorithm) -> bool {
    rsa(algorithm).is_some() || curve(algorithm).is_some()
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &signature::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &signature::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &signature::ED25519,
        _ => return None,
    })
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::InvalidAlgorithm.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    let key = match (key.kind(), rsa(*algorithm), curve(*algorithm)) {
        (DecodingKeyKind::RsaModulusExponent { n, e }, Some(parameters), _) => {
            Key::Rsa(parameters, n.clone(), e.clone())
        }
        (DecodingKeyKind::SecretOrDer(bytes), _, Some(curve)) => Key::Curve(curve, bytes.clone()),
        _ => return Err(ErrorKind::InvalidKeyFormat.into()),
    };
    Ok(Box::new(Ring { algorithm: *algorithm, key }))
}

enum Key {
    Rsa(&'static RsaParameters, Vec<u8>, Vec<u8>),
    Curve(&'static dyn VerificationAlgorithm, Vec<u8>),
}

struct Ring {
    algorithm: Algorithm,
    key: Key,
}

impl Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let verified = match &self.key {
            Key::Rsa(parameters, n, e) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            Key::Curve(curve, bytes) => UnparsedPublicKey::new(*curve, bytes).verify(message, signature),
        };
        verified.map_err(|_| Error::new())
    }
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
