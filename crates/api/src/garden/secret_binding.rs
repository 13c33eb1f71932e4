//! SecretBinding: a provider's credentials for the shoots of a namespace.

use super::reference::{ObjectReference, SecretReference};

kind! {
    /// A provider's credentials for the shoots of a namespace.
    SecretBinding, "SecretBinding", "SecretBindingList", "secretbindings", NamespaceResourceScope {
        /// The Secret that holds them.
        secret_ref: SecretReference,
        /// Quotas that hold for their shoots.
        quotas: Vec<ObjectReference>,
        /// Whose credentials they are.
        provider: Option<SecretBindingProvider>,
    }
}

object! {
    /// Whose credentials they are.
    SecretBindingProvider {
        /// Types of providers, separated by commas.
        #[serde(rename = "type")]
        type_: String,
    }
}
