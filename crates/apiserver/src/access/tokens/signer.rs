//! Signs and verifies service account tokens, with given keys or one that the server generates.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{TokenData, Validation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::keys::{SigningKey, VerifyingKey};

/// Signs tokens and verifies their signatures.
#[derive(Debug)]
pub(crate) struct Signer {
    signing: SigningKey,
    /// At least one.
    verifying: Vec<VerifyingKey>,
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

/// The header of a token.
#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    kid: &'a str,
}

impl Signer {
    /// A signer with this key; if `verifying` is empty, the key itself verifies.
    pub(super) fn new(signing: SigningKey, verifying: &[VerifyingKey]) -> Self {
        let own = || vec![signing.public().clone()];
        let verifying = if verifying.is_empty() { own() } else { verifying.to_vec() };
        Self { signing, verifying }
    }

    /// Signs a token with these claims.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> String {
        let public = self.signing.public();
        let header = encode(&Header { alg: public.algorithm_name(), kid: &public.id });
        let message = format!("{header}.{}", encode(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.signing.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }

    /// Verifies the signature of a token and returns its claims. Does not check times or audiences.
    pub(crate) fn read<T: DeserializeOwned + Clone>(&self, token: &str) -> Result<T, SignatureError> {
        let key_id = jsonwebtoken::decode_header(token).map_err(|_| SignatureError::Foreign)?.kid;
        let matches_id = |key: &&VerifyingKey| key_id.as_deref() == Some(key.id.as_str());
        let mut candidates: Vec<&VerifyingKey> = self.verifying.iter().filter(matches_id).collect();
        if candidates.is_empty() {
            candidates = self.verifying.iter().collect();
        }
        let mut reason = SignatureError::Foreign;
        for key in candidates {
            let mut validation = Validation::new(key.algorithm);
            validation.validate_exp = false;
            validation.validate_aud = false;
            validation.required_spec_claims.clear();
            let read: Result<TokenData<T>, _> = jsonwebtoken::decode(token, &key.decoding, &validation);
            match read {
                Ok(data) => return Ok(data.claims),
                Err(error) if matches!(error.kind(), ErrorKind::InvalidSignature) => {
                    reason = SignatureError::Broken;
                }
                Err(_) => {}
            }
        }
        Err(reason)
    }

    /// The public keys, as a set of JSON web keys.
    pub(crate) fn keys(&self) -> Value {
        json!({"keys": self.verifying.iter().map(VerifyingKey::to_json).collect::<Vec<_>>()})
    }

    /// The algorithms of the public keys, each once.
    pub(super) fn algorithms(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.verifying.iter().map(VerifyingKey::algorithm_name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn encode(value: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).expect("claims are JSON"))
}
