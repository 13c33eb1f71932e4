//! The configuration with which an API server encrypts data in etcd.

use std::fmt;

use api::operator::Garden;
use secrets::{Content, GenerateOptions, RotationStrategy, SecretData, SecretRequest};
use serde_json::{Value, json};

use super::document;
use super::parts::ServerParts;
use crate::components::generated::{GeneratedSecret, RequestedSecret};
use crate::components::values::GardenValues;

/// Key of the file.
const KEY: &str = "encryption-configuration.yaml";
const FOLDER: &str = "/etc/kubernetes/etcd-encryption-secret";
/// Number of characters of a key; the original writes them as they are, and kube-apiserver reads 24 bytes in base64.
const KEY_LENGTH: usize = 32;
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

/// Whether an API server encrypts with the current key: not while a rotation is prepared and replicas of its Deployment may not
/// know that key. OPC-098.
#[must_use]
pub fn uses_current_key(values: &GardenValues<'_>, deployment: &str) -> bool {
    values.encryption_key_phase() != PREPARING || values.observed.know_new_encryption_key.contains(deployment)
}

/// The request for the key of an API server, such as `kube-apiserver-etcd-encryption-key`.
#[must_use]
pub fn key_request(name: &str, garden: &Garden) -> RequestedSecret {
    let credentials = garden.status.credentials.as_ref();
    let rotation =
        credentials.and_then(|credentials| credentials.rotation.as_ref()?.etcd_encryption_key.as_ref());
    let options = GenerateOptions {
        persist: true,
        rotation: RotationStrategy::KeepOld,
        ignore_old: rotation.is_some_and(|rotation| rotation.phase == COMPLETING),
        ..GenerateOptions::default()
    };
    let request = SecretRequest::new(name, Content::EtcdEncryptionKey { length: KEY_LENGTH });
    RequestedSecret { request, options }
}

impl EncryptionKeys {
    /// The keys that were generated.
    #[must_use]
    pub fn generated(secret: &GeneratedSecret) -> Self {
        Self {
            current: EncryptionKey::read(&secret.current.data),
            old: secret.old.as_ref().map(|old| EncryptionKey::read(&old.data)),
        }
    }

    /// The data of the Secret: these resources are encrypted with the first key, and read with both. OPC-097, OPC-098.
    #[must_use]
    pub fn configuration_data(&self, resources: &[&str], with_current: bool) -> SecretData {
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
        SecretData::from([(KEY, document(&configuration))])
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
impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncryptionKey({})", self.name)
    }
}

/// Without the keys.
impl fmt::Debug for EncryptionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptionKeys").field("current", &self.current).field("old", &self.old).finish()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::Fixture;

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
        assert_eq!(data, SecretData::from([("encryption-configuration.yaml", want)]));
    }

    #[rstest]
    #[case("", false, true, false)]
    #[case("Preparing", false, false, false)]
    #[case("Preparing", true, true, false)]
    #[case("Prepared", true, true, false)]
    #[case("Completing", true, true, true)]
    #[case("Completed", false, true, false)]
    fn the_new_key_waits_for_all_replicas_and_the_old_one_goes_last(
        #[case] phase: &str,
        #[case] known: bool,
        #[case] uses_current: bool,
        #[case] drops_old: bool,
    ) {
        let status = json!({ "status": { "credentials": { "rotation": { "etcdEncryptionKey": { "phase": phase } } } } });
        let mut fixture = Fixture::with(&status);
        if known {
            fixture.observed.know_new_encryption_key.insert("virtual-garden-kube-apiserver".to_owned());
        }
        let values = fixture.values();
        assert_eq!(uses_current_key(&values, "virtual-garden-kube-apiserver"), uses_current);
        assert_eq!(key_request("a", &fixture.garden).options.ignore_old, drops_old);
    }
}
