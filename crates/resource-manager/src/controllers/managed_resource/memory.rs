//! Remembers which objects were in sync at the end of a pass, so that the next pass can skip them quickly.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use controller::Request;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use parking_lot::Mutex;

use super::kinds::TargetKind;
use super::namespaces::Namespaces;
use crate::managed_resource::ObjectReference;

/// Version, kind, namespace and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectKey {
    api_version: Box<str>,
    kind: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
}

/// An object that was in sync with its manifest.
#[derive(Clone, Debug)]
pub(super) struct SyncedObject {
    /// Its kind.
    pub(super) kind: Arc<TargetKind>,
    /// Digest of the manifest and of everything that is injected into it.
    pub(super) manifest: u64,
    /// [`super::live::Live::digest`].
    pub(super) live: u64,
    /// [`super::namespaces::Namespaces::digest`] of its namespace.
    pub(super) namespace: u64,
    /// Whether the store notices its changes.
    pub(super) is_watched: bool,
}

/// The inputs of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PassInputs {
    /// Resource version of the ManagedResource, after our own writes.
    pub(super) version: Option<String>,
    /// Its generation when the pass began: others may write between our writes.
    pub(super) generation: Option<i64>,
    /// Resource versions of its Secrets.
    pub(super) secrets: Vec<Option<String>>,
    /// [`super::kinds::Kinds::revision`].
    pub(super) kinds: u64,
    /// [`super::scalers::Scalers::digest`], as the pass read them.
    pub(super) scaled: u64,
}

/// The objects of one ManagedResource after its last pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Objects that were in sync when last compared.
    pub(super) objects: BTreeMap<ObjectKey, SyncedObject>,
    /// The inputs of the last pass; `None` if that failed.
    pub(super) inputs: Option<PassInputs>,
    /// [`SecretsContent::digest`] of the Secrets in that pass.
    pub(super) secrets_digest: u64,
}

/// The content of Secrets, as far as needed to notice a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretsContent {
    /// Their resource versions, which change with every finalizer and label.
    pub(super) versions: Vec<Option<String>>,
    /// Digest of their names and values.
    pub(super) digest: u64,
}

impl SecretsContent {
    /// The versions and the digest of these Secrets.
    #[must_use]
    pub(super) fn of(secrets: &[Secret]) -> Self {
        let mut hasher = DefaultHasher::new();
        for secret in secrets {
            secret.metadata.name.hash(&mut hasher);
            for (key, value) in secret.data.iter().flatten() {
                (key, &value.0).hash(&mut hasher);
            }
        }
        let versions = secrets.iter().map(ResourceExt::resource_version).collect();
        Self { versions, digest: hasher.finish() }
    }
}

/// The memories of all ManagedResources.
#[derive(Debug, Default)]
pub(super) struct Memories(Mutex<BTreeMap<Request, Arc<Memory>>>);

impl ObjectKey {
    /// The key of an object.
    #[must_use]
    pub(super) fn of(object: &ObjectReference) -> Self {
        let ObjectReference { api_version, kind, namespace, name, .. } = object;
        let own = |text: &String| text.as_str().into();
        Self { api_version: own(api_version), kind: own(kind), namespace: own(namespace), name: own(name) }
    }
}

impl SyncedObject {
    /// Whether manifest, live object and namespace are the same.
    #[must_use]
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.manifest, self.live, self.namespace) == (other.manifest, other.live, other.namespace)
    }
}

impl Memory {
    /// GRM-MR-007: whether nothing has changed since all objects were in sync.
    #[must_use]
    pub(super) fn is_current(&self, namespaces: &Namespaces, inputs: &PassInputs) -> bool {
        let is_same = |(key, in_sync): (&ObjectKey, &SyncedObject)| {
            in_sync.is_watched
                && namespaces.digest(&key.namespace) == in_sync.namespace
                && in_sync.kind.digest(&key.namespace, &key.name) == Some(in_sync.live)
        };
        self.inputs.as_ref() == Some(inputs) && self.objects.iter().all(is_same)
    }
}

impl Memory {
    /// This memory with the new versions of the Secrets, if their content is the same.
    #[must_use]
    pub(super) fn with_secrets(&self, content: &SecretsContent) -> Option<Self> {
        let inputs = self.inputs.clone().filter(|_| self.secrets_digest == content.digest)?;
        let inputs = Some(PassInputs { secrets: content.versions.clone(), ..inputs });
        Some(Self { inputs, ..self.clone() })
    }
}

impl Memories {
    /// The memory of one ManagedResource; empty if there is none.
    #[must_use]
    pub(super) fn get(&self, of: &Request) -> Arc<Memory> {
        self.0.lock().get(of).cloned().unwrap_or_default()
    }

    /// Stores the memory of one ManagedResource.
    pub(super) fn put(&self, of: &Request, memory: Memory) {
        self.0.lock().insert(of.clone(), Arc::new(memory));
    }

    /// Removes the memory of one ManagedResource.
    pub(super) fn forget(&self, of: &Request) {
        self.0.lock().remove(of);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;

    use super::*;

    fn secret(version: &str, value: &str) -> Secret {
        let mut secret = Secret::default();
        secret.metadata.name = Some("s".to_owned());
        secret.metadata.resource_version = Some(version.to_owned());
        secret.data = Some([("k".to_owned(), ByteString(value.into()))].into());
        secret
    }

    #[test]
    fn a_written_secret_with_the_same_content_needs_no_pass() {
        let content = SecretsContent::of(&[secret("1", "a")]);
        let inputs = PassInputs {
            version: Some("7".to_owned()),
            generation: Some(1),
            secrets: content.versions,
            kinds: 0,
            scaled: 0,
        };
        let memory =
            Memory { inputs: Some(inputs.clone()), secrets_digest: content.digest, ..Memory::default() };
        let now =
            memory.with_secrets(&SecretsContent::of(&[secret("2", "a")])).and_then(|memory| memory.inputs);
        assert_eq!(now, Some(PassInputs { secrets: vec![Some("2".to_owned())], ..inputs }));
        for other in [vec![secret("2", "b")], vec![], vec![secret("1", "a"), secret("1", "a")]] {
            assert!(memory.with_secrets(&SecretsContent::of(&other)).is_none(), "{other:?}");
        }
        assert!(Memory::default().with_secrets(&SecretsContent::of(&[])).is_none(), "nothing was in order");
    }
}
