//! The key that signs service account tokens: ECDSA over P-256, generated for each server.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The name of the algorithm.
pub(super) const ALGORITHM: &str = "ES256";

/// Signs tokens and verifies their signatures.
pub(crate) struct Signer {
    encoding: EncodingKey,
    decoding: DecodingKey,
    point: Vec<u8>,
    id: String,
}

/// Reason why a token is not a valid token of this signer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureError {
    /// It is not a token, or another signer made it.
    #[error("invalid bearer token")]
    Foreign,
    /// Its signature does not match its claims.
    #[error("go-jose/go-jose: error in cryptographic primitive")]
    Broken,
}

impl Signer {
    /// A signer with a new key.
    pub(super) fn new() -> Self {
        let key = rcgen::KeyPair::generate().expect("the system has randomness for a key");
        let point = key.public_key_raw().to_vec();
        // As in Kubernetes, the key id is the digest of the public key.
        let id = URL_SAFE_NO_PAD.encode(Sha256::digest(rcgen::PublicKeyData::subject_public_key_info(&key)));
        let encoding = EncodingKey::from_ec_der(&key.serialize_der());
        let decoding = DecodingKey::from_ec_der(&point);
        Self { encoding, decoding, point, id }
    }

    /// Signs a token with these claims.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> String {
        let header = Header { kid: Some(self.id.clone()), typ: None, ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, claims, &self.encoding).expect("the key is one for this algorithm")
    }

    /// Verifies the signature of a token and returns its claims. Does not check times or audiences.
    pub(crate) fn read<T: DeserializeOwned + Clone>(&self, token: &str) -> Result<T, SignatureError> {
        let mut validation = Validation::new(Algorithm::ES256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        match jsonwebtoken::decode(token, &self.decoding, &validation) {
            Ok(data) => Ok(data.claims),
            Err(error) if matches!(error.kind(), jsonwebtoken::errors::ErrorKind::InvalidSignature) => {
                Err(SignatureError::Broken)
            }
            Err(_) => Err(SignatureError::Foreign),
        }
    }

    /// The public key, as a set of JSON web keys.
    pub(crate) fn keys(&self) -> Value {
        // An uncompressed point: the byte 4, then both coordinates.
        let (x, y) = self.point[1..].split_at((self.point.len() - 1) / 2);
        json!({"keys": [{
            "use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": ALGORITHM,
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        }]})
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("id", &self.id).finish_non_exhaustive()
    }
}
