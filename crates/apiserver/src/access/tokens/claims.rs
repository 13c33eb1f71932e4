//! What tokens of service accounts say.

use serde::{Deserialize, Serialize};

/// A token that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Whom it may be shown to.
    pub(crate) aud: Vec<String>,
    /// When it ends, in seconds.
    pub(crate) exp: i64,
    /// When it was made, in seconds.
    pub(crate) iat: i64,
    /// Who made it.
    pub(crate) iss: String,
    /// Its own name.
    pub(crate) jti: String,
    /// What Kubernetes adds.
    #[serde(rename = "kubernetes.io")]
    pub(crate) private: Private,
    /// When it begins, in seconds.
    pub(crate) nbf: i64,
    /// `system:serviceaccount:namespace:name`.
    pub(crate) sub: String,
}

/// The account, and the object that the token ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Private {
    /// Namespace of the account.
    pub(crate) namespace: String,
    /// The node it is bound to, or that the pod runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<Reference>,
    /// The pod it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<Reference>,
    /// The secret it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Reference>,
    /// The account.
    pub(crate) serviceaccount: Reference,
}

/// An object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reference {
    /// Its name.
    pub(crate) name: String,
    /// This very one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
}

/// A token that lies in a secret for as long as that lives.
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
    /// This very account.
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    pub(crate) uid: String,
    /// `system:serviceaccount:namespace:name`.
    pub(crate) sub: String,
}

/// The issuer of tokens in secrets.
pub(crate) const SECRET_ISSUER: &str = "kubernetes/serviceaccount";

impl SecretClaims {
    /// What the token of an account in a secret says.
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
