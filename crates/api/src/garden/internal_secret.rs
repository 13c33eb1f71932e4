//! InternalSecret: a secret of a project that its members cannot read.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;

kind! {
    /// A secret of a project that its members cannot read.
    InternalSecret, "InternalSecret", "InternalSecretList", "internalsecrets", NamespaceResourceScope {
        /// Whether its data may change.
        immutable: Option<bool>,
        /// The data.
        #[cfg_attr(feature = "schema", schemars(schema_with = "base64"))]
        data: BTreeMap<String, ByteString>,
        /// Data as text; only written, never returned.
        string_data: BTreeMap<String, String>,
        /// Its type.
        #[serde(rename = "type")]
        type_: Option<String>,
    }
}

/// k8s-openapi has no schema of [`ByteString`].
#[cfg(feature = "schema")]
fn base64(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "additionalProperties": {"type": "string", "format": "byte"}})
}
