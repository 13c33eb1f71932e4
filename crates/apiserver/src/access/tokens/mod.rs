//! Tokens: claims and signer of service account tokens, and registered tokens.

mod claims;
mod keys;
mod signer;
mod verified;

use std::sync::OnceLock;

use parking_lot::RwLock;
use serde_json::{Value, json};

use crate::call::User;

pub(crate) use claims::{Claims, Private, Reference, SecretClaims, username};
pub use keys::{SigningKey, TokenKeyError, VerifyingKey};
pub(crate) use verified::{VerifiedClaims, VerifyError};

use signer::Signer;
use verified::VerifiedTokens;

/// The default token issuer.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// Settings of the tokens that a server issues and verifies: issuers, audiences, keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Issuance {
    /// The `iss` of new tokens, then further ones that are accepted; empty for [`ISSUER`].
    pub(crate) issuers: Vec<String>,
    /// The audiences that the server accepts; if empty, the issuers.
    pub(crate) audiences: Vec<String>,
    /// Signs tokens; if absent, the server generates a key on first use.
    pub(crate) signing: Option<SigningKey>,
    /// Verify tokens; if empty, the public half of the signing key does.
    pub(crate) verifying: Vec<VerifyingKey>,
}

/// A server's token issuer, and its registered tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The `iss` of tokens.
    pub(crate) issuer: String,
    /// The audiences that this server accepts, and the default ones of requested tokens.
    pub(crate) audiences: Vec<String>,
    issuance: Issuance,
    /// The server's URL, for the OpenID discovery document.
    url: RwLock<String>,
    signer: OnceLock<Signer>,
    verified: VerifiedTokens,
    /// Tokens that were registered for a user.
    registered: RwLock<Vec<(String, User)>>,
}

impl Tokens {
    /// A token issuer; it generates its key on first use, unless one is given.
    pub(crate) fn new(issuance: Issuance) -> Self {
        let audiences = match (issuance.audiences.as_slice(), issuance.issuers.as_slice()) {
            ([], []) => vec![ISSUER.to_owned()],
            ([], issuers) => issuers.to_vec(),
            (audiences, _) => audiences.to_vec(),
        };
        Self {
            issuer: issuance.issuers.first().cloned().unwrap_or_else(|| ISSUER.to_owned()),
            audiences,
            issuance,
            url: RwLock::default(),
            signer: OnceLock::new(),
            verified: VerifiedTokens::default(),
            registered: RwLock::default(),
        }
    }

    /// A copy with the same issuer and audiences, a new key, and no registered tokens.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.issuance.clone())
    }

    /// Whether the server accepts tokens of this issuer.
    pub(crate) fn accepts(&self, issuer: &str) -> bool {
        issuer == self.issuer || self.issuance.issuers.iter().any(|accepted| accepted == issuer)
    }

    /// Registers a token for a user.
    pub(crate) fn register(&self, token: String, user: User) {
        self.registered.write().push((token, user));
    }

    /// Sets the server's URL.
    pub(crate) fn set_url(&self, url: &str) {
        url.clone_into(&mut self.url.write());
    }

    /// Signs and verifies tokens.
    pub(crate) fn signer(&self) -> &Signer {
        let given = || self.issuance.signing.clone();
        let signing = || given().unwrap_or_else(SigningKey::generate);
        self.signer.get_or_init(|| Signer::new(signing(), &self.issuance.verifying))
    }

    /// `/.well-known/openid-configuration`.
    pub(crate) fn discovery(&self) -> Value {
        let url = self.url.read();
        let base = if url.is_empty() { self.issuer.as_str() } else { url.as_str() };
        json!({
            "issuer": self.issuer,
            "jwks_uri": format!("{base}/openid/v1/jwks"),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": self.signer().algorithms(),
        })
    }

    /// The user of a registered token.
    pub(crate) fn registered_user(&self, token: &str) -> Option<User> {
        self.registered
            .read()
            .iter()
            .find(|(registered, _)| registered == token)
            .map(|(_, user)| user.clone())
    }
}
