//! The manifests in the Secrets of a ManagedResource, before the scopes of their kinds are known.

use std::borrow::Borrow;

use k8s_openapi::api::core::v1::Secret;

use super::ObjectReference;
use super::annotation::has_mode_ignore;
use super::checksum::Checksum;
use super::decode::{self, DecodeError, Decoded, Manifest, decode};

/// All documents of all Secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifests {
    /// Decoded objects, in order.
    pub(super) objects: Vec<Manifest>,
    /// Documents that describe no object.
    pub(super) errors: Vec<DecodeError>,
    /// `status.secretsDataChecksum`.
    pub(super) checksum: String,
}

impl Manifests {
    /// Decodes Secrets, in the order of their references.
    #[must_use]
    pub fn read(secrets: &[impl Borrow<Secret>]) -> Self {
        let (mut all, mut errors, mut checksum) = (Vec::new(), Vec::new(), Checksum::default());
        for secret in secrets {
            let secret = secret.borrow();
            let decoded: Decoded = decode(secret);
            let applied = decoded.manifests.iter().filter(|manifest| !has_mode_ignore(&manifest.object));
            applied.for_each(|manifest| checksum.feed(decode::value(secret, &manifest.location)));
            all.extend(decoded.manifests);
            errors.extend(decoded.errors);
        }
        Self { objects: all, errors, checksum: checksum.finish() }
    }

    /// The objects to apply.
    pub fn references(&self) -> impl Iterator<Item = ObjectReference> {
        let applied = self.objects.iter().filter(|manifest| !has_mode_ignore(&manifest.object));
        applied.map(|manifest| ObjectReference::to(&manifest.object))
    }
}
