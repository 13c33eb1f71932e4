//! The tokens of service accounts: what they say, who signs them, and which other tokens are known.

mod claims;
mod keys;
mod signer;

use std::sync::OnceLock;

use parking_lot::RwLock;
use serde_json::{Value, json};

use crate::call::User;

pub(crate) use claims::{Claims, Private, Reference, SECRET_ISSUER, SecretClaims, username};
pub use keys::{SigningKey, TokenKeyError, VerifyingKey};

use signer::Signer;

/// The issuer of tokens of a server that is not told another one.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// Who issues tokens, for whom, and with which keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Issuance {
    /// The `iss` of new tokens, and those of other tokens that are accepted.
    pub(crate) issuers: Vec<String>,
    /// The audiences that the server answers to; the issuers where there are none.
    pub(crate) audiences: Vec<String>,
    /// Signs tokens; made when it is first used where none is given.
    pub(crate) signing: Option<SigningKey>,
    /// Verify tokens; the public half of the signing key where none are given.
    pub(crate) verifying: Vec<VerifyingKey>,
}

/// What a server signs tokens with, and which other tokens it knows.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The `iss` of tokens.
    pub(crate) issuer: String,
    /// The audiences that this server answers to, and those of tokens that are asked for without any.
    pub(crate) audiences: Vec<String>,
    issuance: Issuance,
    /// Where others reach the server, for the document of discovery.
    url: RwLock<String>,
    signer: OnceLock<Signer>,
    /// Tokens that are users without more ado.
    known: RwLock<Vec<(String, User)>>,
}

impl Tokens {
    /// An issuer of tokens; its key is made when it is first used, unless one is given.
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
            known: RwLock::default(),
        }
    }

    /// Others of the same issuer, that know no token yet.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.issuance.clone())
    }

    /// Whether tokens of this issuer are accepted.
    pub(crate) fn accepts(&self, issuer: &str) -> bool {
        issuer == self.issuer || self.issuance.issuers.iter().any(|accepted| accepted == issuer)
    }

    /// Takes this token for this user.
    pub(crate) fn know(&self, token: String, user: User) {
        self.known.write().push((token, user));
    }

    /// Says where the server is reached.
    pub(crate) fn reached_at(&self, url: &str) {
        url.clone_into(&mut self.url.write());
    }

    /// The keys of tokens.
    pub(crate) fn signer(&self) -> &Signer {
        let given = || self.issuance.signing.clone();
        let signing = || given().unwrap_or_else(SigningKey::generate);
        self.signer.get_or_init(|| Signer::of(signing(), &self.issuance.verifying))
    }

    /// `/.well-known/openid-configuration`.
    pub(crate) fn discovery(&self) -> Value {
        let url = self.url.read();
        let at = if url.is_empty() { self.issuer.as_str() } else { url.as_str() };
        json!({
            "issuer": self.issuer,
            "jwks_uri": format!("{at}/openid/v1/jwks"),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": self.signer().algorithms(),
        })
    }

    /// The user of a token that was made known.
    pub(crate) fn known(&self, token: &str) -> Option<User> {
        self.known.read().iter().find(|(known, _)| known == token).map(|(_, user)| user.clone())
    }
}
