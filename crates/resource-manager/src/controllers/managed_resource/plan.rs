//! The plan of a pass: which objects to delete, release and apply.

use kube::core::GroupVersionKind;

use super::memory::SecretsContent;
use super::settings::Settings;
use crate::managed_resource::inventory::{Inventory, KindScope};
use crate::managed_resource::manifests::Manifests;
use crate::managed_resource::reference::origin;
use crate::managed_resource::{ManagedResource, ObjectReference};

/// What a pass has read before it plans.
pub(super) enum Observed {
    /// Nothing: a deletion needs no Secrets.
    Deletion,
    /// The content of the Secrets.
    Manifests {
        /// The objects that the Secrets describe.
        manifests: Manifests,
        /// Versions and digest of the Secrets.
        content: SecretsContent,
    },
}

/// The plan of a pass.
pub(super) enum Plan {
    /// Delete these objects, then let the ManagedResource go.
    Delete(Vec<ObjectReference>),
    /// Delete, release and apply objects.
    Apply(Box<Application>),
}

/// The plan of a pass that applies objects.
pub(super) struct Application {
    /// The desired objects, and those that are no longer desired.
    pub(super) inventory: Inventory,
    /// The origin annotation of the objects.
    pub(super) origin: String,
    /// The objects in the status when the pass began.
    pub(super) listed: Vec<ObjectReference>,
    /// Versions and digest of the Secrets.
    pub(super) content: SecretsContent,
}

impl Plan {
    /// Plans a pass; `scope` returns the scope of the target's kinds.
    pub(super) fn of(
        object: &ManagedResource,
        observed: Observed,
        settings: &Settings,
        scope: impl Fn(&GroupVersionKind) -> Option<KindScope>,
    ) -> Self {
        let listed = object.status.resources.clone();
        match observed {
            Observed::Deletion if object.spec.keep_objects.unwrap_or_default() => Self::Delete(Vec::new()),
            Observed::Deletion => Self::Delete(listed),
            Observed::Manifests { manifests, content } => {
                let inventory = Inventory::compute(object, manifests, &settings.managed_by, scope);
                let origin = origin(&settings.cluster_id, object);
                Self::Apply(Box::new(Application { inventory, origin, listed, content }))
            }
        }
    }

    /// The objects to delete. A document that cannot be read may describe an unwanted object: GRM-MR-132.
    pub(super) fn unwanted(&self) -> &[ObjectReference] {
        match self {
            Self::Delete(objects) => objects,
            Self::Apply(application) if application.inventory.errors.is_empty() => {
                &application.inventory.unwanted
            }
            Self::Apply(_) => &[],
        }
    }

    /// Logs documents that describe no object, and manifests that are ignored.
    pub(super) fn log_problems(&self) {
        let Self::Apply(application) = self else { return };
        for error in &application.inventory.errors {
            tracing::error!(%error, "Could not decode resource");
        }
        for duplicate in &application.inventory.duplicates {
            tracing::warn!(%duplicate, "an object is described more than once; the last description counts");
        }
    }
}
