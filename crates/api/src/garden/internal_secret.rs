//! InternalSecret: a secret of a project that its members cannot read.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;

kind! {
    /// A secret of a project that its members cannot read.
    InternalSecret, "InternalSecret", "InternalSecretList", "internalsecrets", NamespaceResourceScope {
        /// Whether its data may change.
        immutable: Option<bool>,
        /// The data.
        data: BTreeMap<String, ByteString>,
        /// Data as text; only written, never returned.
        string_data: BTreeMap<String, String>,
        /// Its type.
        #[serde(rename = "type")]
        type_: Option<String>,
    }
}
