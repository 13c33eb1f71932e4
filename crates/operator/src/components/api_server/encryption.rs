//! How an API server encrypts what it stores in etcd.

use std::collections::BTreeMap;

use formats::yaml;
use secrets::{Content, GenerateOptions, ManagedSecret, RotationStrategy, SecretData, SecretRequest};
use serde_json::{Value, json};

use super::{PodParts, mount};
use crate::components::error::RenderError;
use crate::components::generated::{GeneratedSecret, RequestedSecret};
use crate::components::objects::{entries, secret_volume};
use crate::components::rendering::name_of;
use crate::components::unique;
use crate::components::values::GardenValues;

const FILE: &str = "encryption-configuration.yaml";
const PATH: &str = "/etc/kubernetes/etcd-encryption-secret";
const VOLUME: &str = "etcd-encryption-secret";
/// Characters of a key.
const KEY_LENGTH: usize = 32;
/// The phase of a rotation in which data is encrypted with the new key.
const PREPARING: &str = "Preparing";
/// The phase of a rotation in which the old key is dropped.
const COMPLETING: &str = "Completing";

/// The key of an API server; `phase` is that of its rotation. OPC-098.
#[must_use]
pub fn request(name: &str, phase: &str) -> RequestedSecret {
    RequestedSecret {
        request: SecretRequest::new(name, Content::EtcdEncryptionKey { length: KEY_LENGTH }),
        options: GenerateOptions {
            persist: true,
            rotation: RotationStrategy::KeepOld,
            ignore_old: phase == COMPLETING,
            ..GenerateOptions::default()
        },
    }
}

/// Whether the Deployment of an API server encrypts with the current key: while a rotation is prepared, not before all replicas know
/// it. OPC-098.
#[must_use]
pub fn uses_current_key(values: &GardenValues<'_>, deployment: &str) -> bool {
    let is_known = values.observed.know_new_encryption_key.contains(deployment);
    values.encryption_key_phase() != PREPARING || is_known
}

/// The Secret with the configuration: these resources are encrypted with the first key; others, and what was stored before, are
/// read as they are. OPC-097, OPC-098, OPC-114.
///
/// # Errors
/// Never: all values have a YAML form.
pub fn secret(
    prefix: &str,
    resources: &[&str],
    keys: &GeneratedSecret,
    uses_current_key: bool,
) -> Result<Value, RenderError> {
    let current = key(&keys.current);
    let keys = match keys.old.as_ref().map(key) {
        None => vec![current],
        Some(old) if uses_current_key => vec![current, old],
        Some(old) => vec![old, current],
    };
    let file = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{
            "resources": resources,
            "providers": [{"aescbc": {"keys": keys}}, {"identity": {}}],
        }],
    });
    let text = yaml::to_string(&file).map_err(RenderError::yaml(FILE))?;
    let data = SecretData(BTreeMap::from([(FILE.to_owned(), text.into_bytes())]));
    Ok(unique::secret(prefix, &entries([("role", prefix)]), &data))
}

/// The argument and the volume.
#[must_use]
pub fn parts(secret: &Value) -> PodParts {
    PodParts {
        arguments: vec![format!("--encryption-provider-config={PATH}/{FILE}")],
        volumes: vec![(secret_volume(VOLUME, name_of(secret)), mount(VOLUME, PATH, true))],
    }
}

fn key(secret: &ManagedSecret) -> Value {
    let text = |key: &str| String::from_utf8_lossy(secret.data.get(key)).into_owned();
    json!({"name": text("key"), "secret": text("secret")})
}
