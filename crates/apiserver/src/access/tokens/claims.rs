//! The claims of service account tokens.

use serde::{Deserialize, Serialize};

/// The claims of a token from a TokenRequest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The audiences.
    pub(crate) aud: Vec<String>,
    /// Expiration time, in seconds.
    pub(crate) exp: i64,
    /// Issue time, in seconds.
    pub(crate) iat: i64,
    /// The issuer.
    pub(crate) iss: String,
    /// The token's id.
    pub(crate) jti: String,
    /// Kubernetes' own claims.
    #[serde(rename = "kubernetes.io")]
    pub(crate) private: Private,
    /// Start of its validity, in seconds.
    pub(crate) nbf: i64,
    /// `system:serviceaccount:namespace:name`.
    pub(crate) sub: String,
}

/// The account, and the objects that the token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Private {
    /// Namespace of the account.
    pub(crate) namespace: String,
    /// The node that it is bound to, or that the bound pod runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<Reference>,
    /// The pod that it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<Reference>,
    /// The Secret that it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Reference>,
    /// The account.
    pub(crate) serviceaccount: Reference,
}

/// A reference to an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reference {
    /// Its name.
    pub(crate) name: String,
    /// Its UID.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
}

/// The claims of a token in a Secret, which is valid as long as the Secret exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SecretClaims {
    /// `kubernetes/serviceaccount`.
    pub(crate) iss: String,
    /// Namespace of the account.
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    pub(crate) namespace: String,
    /// The secret.
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    pub(crate) secret: String,
    /// The account.
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    pub(crate) name: String,
    /// The UID of the account.
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    pub(crate) uid: String,
    /// `system:serviceaccount:namespace:name`.
    pub(crate) sub: String,
}

/// The issuer of tokens in Secrets.
pub(crate) const SECRET_ISSUER: &str = "kubernetes/serviceaccount";

impl SecretClaims {
    /// The claims of an account's token in a Secret.
    pub(crate) fn new(namespace: &str, account: &Reference, secret: &str) -> Self {
        Self {
            iss: SECRET_ISSUER.to_owned(),
            namespace: namespace.to_owned(),
            secret: secret.to_owned(),
            name: account.name.clone(),
            uid: account.uid.clone(),
            sub: username(namespace, &account.name),
        }
    }
}

/// `system:serviceaccount:namespace:name`.
pub(crate) fn username(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}
