//! What kube-apiserver and gardener-apiserver of a Garden have in common.
//!
//! - [`parts`] — arguments and volumes of a container, in their order;
//! - [`settings`] — the arguments that both have;
//! - [`audit`] — the audit policy, and where audit events go;
//! - [`admission`] — admission plugins and their files;
//! - [`encryption`] — the configuration that encrypts data in etcd.

pub mod admission;
pub mod audit;
pub mod encryption;
pub mod parts;
pub mod settings;

use formats::yaml;
use serde_json::Value;

/// The TLS cipher suites that Gardener's servers accept, in order.
pub const CIPHER_SUITES: [&str; 9] = [
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
];

/// A file in YAML, keys in order.
#[must_use]
pub fn document(value: &Value) -> String {
    yaml::to_string(value).expect("keys of JSON values are texts")
}
