//! SecretBinding: a provider's credentials for the shoots of a namespace.

use super::reference::{ObjectReference, SecretReference};

kind! {
    /// A provider's credentials for the shoots of a namespace.
    SecretBinding, "SecretBinding", "SecretBindingList", "secretbindings", NamespaceResourceScope {
        /// The Secret that holds them.
        secret_ref: SecretReference,
        /// Quotas of their shoots.
        quotas: Vec<ObjectReference>,
        /// The provider of the credentials.
        provider: Option<SecretBindingProvider>,
    }
}

object! {
    /// The provider of the credentials.
    SecretBindingProvider {
        /// Types of providers, separated by commas.
        #[serde(rename = "type")]
        type_: String,
    }
}
