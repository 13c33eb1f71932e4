//! Signs tokens of service accounts and verifies them, with keys that were given or one that was made for this run.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{TokenData, Validation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::keys::{SigningKey, VerifyingKey};

/// Signs tokens and recognises its own.
#[derive(Debug)]
pub(crate) struct Signer {
    signing: SigningKey,
    /// At least one.
    verifying: Vec<VerifyingKey>,
}

/// Why a token is none of this signer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureError {
    /// It is no token, or of another signer's making.
    #[error("invalid bearer token")]
    Foreign,
    /// Its signature does not fit what it says.
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
    /// A signer with this key; those that verify are its own where none are named.
    pub(super) fn of(signing: SigningKey, verifying: &[VerifyingKey]) -> Self {
        let own = || vec![signing.public().clone()];
        let verifying = if verifying.is_empty() { own() } else { verifying.to_vec() };
        Self { signing, verifying }
    }

    /// The token that says this.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> String {
        let public = self.signing.public();
        let header = part(&Header { alg: public.algorithm_name(), kid: &public.id });
        let message = format!("{header}.{}", part(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.signing.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }

    /// What a token of this signer says. Neither its times nor its audiences are looked at.
    pub(crate) fn read<T: DeserializeOwned + Clone>(&self, token: &str) -> Result<T, SignatureError> {
        let named = jsonwebtoken::decode_header(token).map_err(|_| SignatureError::Foreign)?.kid;
        let is_named = |key: &&VerifyingKey| named.as_deref() == Some(key.id.as_str());
        let mut candidates: Vec<&VerifyingKey> = self.verifying.iter().filter(is_named).collect();
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

fn part(value: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).expect("claims are JSON"))
}
