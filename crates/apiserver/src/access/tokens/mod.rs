//! Tokens: claims and signer of service account tokens, and registered tokens.

mod claims;
mod signer;

use std::sync::OnceLock;

use parking_lot::RwLock;
use serde_json::{Value, json};

use crate::call::User;

pub(crate) use claims::{Claims, Private, Reference, SECRET_ISSUER, SecretClaims, username};

use signer::Signer;

/// The default token issuer.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// A server's token issuer, and its registered tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The `iss` of tokens.
    pub(crate) issuer: String,
    /// The audiences that this server accepts, and the default ones of requested tokens.
    pub(crate) audiences: Vec<String>,
    /// The server's URL, for the OpenID discovery document.
    url: RwLock<String>,
    signer: OnceLock<Signer>,
    /// Tokens that were registered for a user.
    registered: RwLock<Vec<(String, User)>>,
}

impl Tokens {
    /// A token issuer; it generates its key on first use.
    pub(crate) fn new(issuer: String, audiences: Vec<String>) -> Self {
        Self {
            issuer,
            audiences,
            url: RwLock::default(),
            signer: OnceLock::new(),
            registered: RwLock::default(),
        }
    }

    /// A copy with the same issuer and audiences, a new key, and no registered tokens.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.issuer.clone(), self.audiences.clone())
    }

    /// Registers a token for a user.
    pub(crate) fn register(&self, token: String, user: User) {
        self.registered.write().push((token, user));
    }

    /// Sets the server's URL.
    pub(crate) fn set_url(&self, url: &str) {
        url.clone_into(&mut self.url.write());
    }

    /// The key that signs tokens.
    pub(crate) fn signer(&self) -> &Signer {
        self.signer.get_or_init(Signer::new)
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
            "id_token_signing_alg_values_supported": [signer::ALGORITHM],
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
