//! The configuration with which an API server encrypts data in etcd.

use std::collections::BTreeMap;

use secrets::{Content, GenerateOptions, RotationStrategy, SecretClass, SecretData, SecretRequest, SecretsManager};
use serde_json::{Value, json};

use super::document;
use super::parts::ServerParts;
use super::references::MissingSecretError;

/// Key of the file.
const KEY: &str = "encryption-configuration.yaml";
const FOLDER: &str = "/etc/kubernetes/etcd-encryption-secret";
/// Number of characters of a key; the original writes them as they are, and kube-apiserver reads 24 bytes in base64.
const KEY_LENGTH: usize = 32;
/// Annotation of the Deployment of an API server all of whose replicas know the new key.
pub const NEW_KEY_POPULATED: &str = "credentials.gardener.cloud/new-encryption-key-populated";

/// Phases of the rotation of keys.
const PREPARING: &str = "Preparing";
const COMPLETING: &str = "Completing";

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey {
    /// Its name.
    pub name: String,
    /// The key, in base64.
    pub secret: String,
}

/// The keys of an API server.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKeys {
    /// The key in use, or that will be.
    pub current: EncryptionKey,
    /// The key before the last rotation, while it is kept.
    pub old: Option<EncryptionKey>,
}

/// Whether to encrypt with the current key: not while a rotation is prepared and replicas may not know it. OPC-098.
#[must_use]
pub fn uses_current_key(phase: &str, deployment: Option<&Value>) -> bool {
    let annotation = deployment.map(|deployment| &deployment["metadata"]["annotations"][NEW_KEY_POPULATED]);
    phase != PREPARING || annotation.is_some_and(|value| !value.is_null())
}

/// The request for the key of an API server, such as `kube-apiserver-etcd-encryption-key`.
#[must_use]
pub fn key_request(name: &str, phase: &str) -> (SecretRequest, GenerateOptions) {
    let options = GenerateOptions {
        persist: true,
        rotation: RotationStrategy::KeepOld,
        ignore_old: phase == COMPLETING,
        ..GenerateOptions::default()
    };
    (SecretRequest::new(name, Content::EtcdEncryptionKey { length: KEY_LENGTH }), options)
}

impl EncryptionKeys {
    /// The keys that were generated for this request.
    ///
    /// # Errors
    /// If there are none.
    pub fn generated(manager: &SecretsManager, name: &str) -> Result<Self, MissingSecretError> {
        let current = manager.get(name, Some(SecretClass::Current));
        let current = current.ok_or_else(|| MissingSecretError(name.to_owned()))?;
        let old = manager.get(name, Some(SecretClass::Old));
        Ok(Self {
            current: EncryptionKey::read(&current.data),
            old: old.map(|secret| EncryptionKey::read(&secret.data)),
        })
    }

    /// The data of the Secret: these resources are encrypted with the first key, and read with both. OPC-097, OPC-098.
    #[must_use]
    pub fn configuration_data(&self, resources: &[&str], with_current: bool) -> BTreeMap<String, Vec<u8>> {
        let mut keys: Vec<&EncryptionKey> = std::iter::once(&self.current).chain(&self.old).collect();
        if !with_current {
            keys.reverse();
        }
        let keys: Vec<Value> =
            keys.iter().map(|key| json!({ "name": key.name, "secret": key.secret })).collect();
        let configuration = json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [{
                "resources": resources,
                "providers": [{ "aescbc": { "keys": keys } }, { "identity": {} }],
            }],
        });
        BTreeMap::from([(KEY.to_owned(), document(&configuration).into_bytes())])
    }
}

impl EncryptionKey {
    fn read(data: &SecretData) -> Self {
        let text = |key: &str| String::from_utf8_lossy(data.get(key)).into_owned();
        Self { name: text("key"), secret: text("secret") }
    }
}

/// Adds the configuration from this Secret. OPC-077.
pub fn add(parts: &mut ServerParts, secret: &str) {
    parts.flag("encryption-provider-config", format_args!("{FOLDER}/{KEY}"));
    parts.read_only_secret("etcd-encryption-secret", secret, FOLDER);
}

/// Without the key.
impl std::fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EncryptionKey({})", self.name)
    }
}

/// Without the keys.
impl std::fmt::Debug for EncryptionKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EncryptionKeys").field("current", &self.current).field("old", &self.old).finish()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn key(number: u8) -> EncryptionKey {
        EncryptionKey { name: format!("key{number}"), secret: number.to_string().repeat(8) + "a" }
    }

    const FIRST: &str = "      - name: key1\n        secret: 11111111a\n";
    const SECOND: &str = "      - name: key2\n        secret: 22222222a\n";

    #[rstest]
    #[case(None, true, &[SECOND])]
    #[case(None, false, &[SECOND])]
    #[case(Some(1), true, &[SECOND, FIRST])]
    #[case(Some(1), false, &[FIRST, SECOND])]
    fn the_first_key_encrypts(#[case] old: Option<u8>, #[case] with_current: bool, #[case] keys: &[&str]) {
        let both = EncryptionKeys { current: key(2), old: old.map(key) };
        let want = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- providers:\n  - aescbc:\n      \
             keys:\n{}  - identity: {{}}\n  resources:\n  - secrets\n",
            keys.concat()
        );
        let data = both.configuration_data(&["secrets"], with_current);
        assert_eq!(data, BTreeMap::from([("encryption-configuration.yaml".to_owned(), want.into_bytes())]));
    }

    #[rstest]
    #[case("", None, true)]
    #[case("Prepared", None, true)]
    #[case("Preparing", None, false)]
    #[case("Preparing", Some(json!({ "metadata": {} })), false)]
    #[case("Preparing", Some(json!({ "metadata": { "annotations": { NEW_KEY_POPULATED: "true" } } })), true)]
    #[case("Completing", None, true)]
    fn the_new_key_waits_for_all_replicas(
        #[case] phase: &str,
        #[case] deployment: Option<Value>,
        #[case] current: bool,
    ) {
        assert_eq!(uses_current_key(phase, deployment.as_ref()), current);
    }

    #[test]
    fn the_old_key_is_dropped_in_the_end() {
        let ignores_old = |phase| key_request("kube-apiserver-etcd-encryption-key", phase).1.ignore_old;
        assert_eq!(["", "Preparing", "Completing", "Completed"].map(ignores_old), [false, false, true, false]);
    }
}
