//! The tokens of service accounts: what they say, who signs them, and which other tokens are known.

mod claims;
mod signer;

use std::sync::OnceLock;

use parking_lot::RwLock;
use serde_json::{Value, json};

use crate::call::User;

pub(crate) use claims::{Claims, Private, Reference, SECRET_ISSUER, SecretClaims, username};

use signer::Signer;

/// The issuer of tokens of a server that is not told another one.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// What a server signs tokens with, and which other tokens it knows.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The `iss` of tokens.
    pub(crate) issuer: String,
    /// The audiences that this server answers to, and those of tokens that are asked for without any.
    pub(crate) audiences: Vec<String>,
    /// Where others reach the server, for the document of discovery.
    url: RwLock<String>,
    signer: OnceLock<Signer>,
    /// Tokens that are users without more ado.
    registered: RwLock<Vec<(String, User)>>,
}

impl Tokens {
    /// An issuer of tokens; its key is made when it is first used.
    pub(crate) fn new(issuer: String, audiences: Vec<String>) -> Self {
        Self {
            issuer,
            audiences,
            url: RwLock::default(),
            signer: OnceLock::new(),
            registered: RwLock::default(),
        }
    }

    /// Others of the same issuer, that know no token yet.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.issuer.clone(), self.audiences.clone())
    }

    /// Takes this token for this user.
    pub(crate) fn register(&self, token: String, user: User) {
        self.registered.write().push((token, user));
    }

    /// Says where the server is reached.
    pub(crate) fn set_url(&self, url: &str) {
        url.clone_into(&mut self.url.write());
    }

    /// The key of tokens.
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

    /// The user of a token that was made known.
    pub(crate) fn registered_user(&self, token: &str) -> Option<User> {
        self.registered
            .read()
            .iter()
            .find(|(registered, _)| registered == token)
            .map(|(_, user)| user.clone())
    }
}
