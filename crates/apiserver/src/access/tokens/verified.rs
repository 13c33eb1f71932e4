//! Claims of tokens whose signature was verified before: a signature costs as much as several requests, and stays
//! valid as long as the server's keys. Nothing else about a token is remembered, so that one that ends, or whose
//! account or bound object goes, is refused at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;

use super::Tokens;
use super::claims::{Claims, SECRET_ISSUER, SecretClaims};
use super::signer::SignatureError;

/// How many tokens are remembered; when there are more, all are forgotten.
const CAPACITY: usize = 1024;

/// The claims of a token with a valid signature.
#[derive(Debug)]
pub(crate) enum VerifiedClaims {
    /// Of a TokenRequest.
    Bound(Claims),
    /// Of a Secret.
    Secret(SecretClaims),
}

/// Reason why a token has no valid signature of this server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    /// The server accepts no tokens of the claimed issuer, or it claims none.
    #[error("invalid bearer token")]
    Issuer,
    /// The signature is invalid.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

/// The verified tokens of a server.
#[derive(Debug, Default)]
pub(super) struct VerifiedTokens(Mutex<BTreeMap<Box<str>, Arc<VerifiedClaims>>>);

impl Tokens {
    /// Verifies the signature of a token, unless it was verified before. Checks neither times nor audiences nor whether
    /// the account exists.
    pub(crate) fn verify(&self, token: &str) -> Result<Arc<VerifiedClaims>, VerifyError> {
        if let Some(claims) = self.verified.get(token) {
            return Ok(claims);
        }
        let claims = match claimed_issuer(token).as_deref() {
            Some(issuer) if self.accepts(issuer) => VerifiedClaims::Bound(self.signer().read(token)?),
            Some(SECRET_ISSUER) => VerifiedClaims::Secret(self.signer().read(token)?),
            _ => return Err(VerifyError::Issuer),
        };
        Ok(self.verified.add(token, claims))
    }
}

impl VerifiedTokens {
    fn get(&self, token: &str) -> Option<Arc<VerifiedClaims>> {
        self.0.lock().get(token).cloned()
    }

    fn add(&self, token: &str, claims: VerifiedClaims) -> Arc<VerifiedClaims> {
        let claims = Arc::new(claims);
        let mut verified = self.0.lock();
        if verified.len() >= CAPACITY {
            verified.clear();
        }
        verified.insert(token.into(), Arc::clone(&claims));
        claims
    }
}

/// The issuer that a token claims, unverified.
fn claimed_issuer(token: &str) -> Option<String> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims = formats::json::document(&payload).ok()?;
    claims.get("iss")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::{Issuance, Reference};
    use super::*;

    fn token(tokens: &Tokens, name: &str) -> String {
        let account = Reference { name: name.to_owned(), uid: "u".to_owned() };
        tokens.signer().sign(&SecretClaims::new("n", &account, "s"))
    }

    #[test]
    fn a_signature_is_verified_once_by_the_server_that_signed_it() {
        let (tokens, others) = (Tokens::new(Issuance::default()), Tokens::new(Issuance::default()));
        let text = token(&tokens, "a");
        let first = tokens.verify(&text).unwrap();
        assert!(Arc::ptr_eq(&first, &tokens.verify(&text).unwrap()));
        assert!(others.verify(&text).is_err() && tokens.fork().verify(&text).is_err());
        let mut forged = text.clone();
        forged.replace_range(text.len() - 8.., "AAAAAAAA");
        assert!(tokens.verify(&forged).is_err() && tokens.verify(&forged).is_err());
        assert!(matches!(tokens.verify("a.b.c"), Err(VerifyError::Issuer)));
    }

    #[test]
    fn the_number_of_remembered_tokens_is_bounded() {
        let tokens = Tokens::new(Issuance::default());
        let claims = SecretClaims::new("n", &Reference::default(), "s");
        for number in 0..=CAPACITY {
            tokens.verified.add(&number.to_string(), VerifiedClaims::Secret(claims.clone()));
            assert!(tokens.verified.get(&number.to_string()).is_some());
        }
        assert!(tokens.verified.0.lock().len() <= CAPACITY);
    }
}
