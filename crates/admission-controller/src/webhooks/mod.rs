//! One module per webhook; each is a pure function over a request and facts about the garden.

pub mod admission_plugin_secret;
mod api_error;
pub mod audit_policy;
pub mod internal_domain;
pub mod kubeconfig_secret;
pub mod namespace_deletion;
pub mod resource_size;
pub mod seed_restriction;

use serde::de::DeserializeOwned;
use serde_json::Value;
use webhook::mutation::decode;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, Operation};

/// Name and path of every webhook.
pub const PATHS: [(&str, &str); 7] = [
    (audit_policy::NAME, audit_policy::PATH),
    (internal_domain::NAME, internal_domain::PATH),
    (kubeconfig_secret::NAME, kubeconfig_secret::PATH),
    (admission_plugin_secret::NAME, admission_plugin_secret::PATH),
    (namespace_deletion::NAME, namespace_deletion::PATH),
    (resource_size::NAME, resource_size::PATH),
    (seed_restriction::NAME, seed_restriction::PATH),
];

/// The objects of a request, by what is done with them.
#[derive(Clone, Debug, PartialEq)]
pub enum Objects<K> {
    /// A new object.
    Create(K),
    /// An object before and after a change.
    Update {
        /// Before.
        old: K,
        /// After.
        new: K,
    },
    /// The object that shall go.
    Delete(K),
    /// A connection to a subresource, which these webhooks do not check.
    Connect,
}

impl<K: DeserializeOwned> Objects<K> {
    /// Decodes the objects of a request, whatever their kind. ADM-ANS-001.
    ///
    /// # Errors
    /// 400 if one is missing or malformed.
    pub fn read(request: &AdmissionRequest<'_>) -> Result<Self, Rejection> {
        match request.operation {
            Operation::Create => typed(decode(request.object)?).map(Self::Create),
            Operation::Update => {
                let new = typed(decode(request.object)?)?;
                Ok(Self::Update { old: typed(decode(request.old_object)?)?, new })
            }
            Operation::Delete => typed(decode(request.old_object)?).map(Self::Delete),
            Operation::Connect => Ok(Self::Connect),
        }
    }
}

/// Reads an object of a kind.
///
/// # Errors
/// 400 if a field has the wrong type.
pub(crate) fn typed<K: DeserializeOwned>(object: Value) -> Result<K, Rejection> {
    serde_json::from_value(object)
        .map_err(|error| Rejection::undecodable(format!("failed to decode the object: {error}")))
}
