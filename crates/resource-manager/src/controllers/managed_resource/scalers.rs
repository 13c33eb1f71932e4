//! Autoscalers of the target cluster, and their targets.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use controller::{Cluster, Selection, Store};
use kube::core::{ApiResource, GroupVersionKind};
use tokio::time::timeout;

use super::live::Live;
use crate::managed_resource::scaled::{Scaled, TargetError};

/// How long to wait until the autoscalers are listed.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// Why the scaled objects are unknown; the texts are the original's.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScalersError {
    /// The autoscalers were not listed in time.
    #[error("failed to list all {0}s: timed out waiting for cache to be synced")]
    Unlisted(&'static str),
    /// The target of an autoscaler is invalid.
    #[error(transparent)]
    Target(#[from] TargetError),
}

/// The autoscalers of a cluster; sends no request until they are needed.
#[derive(Debug)]
pub(super) struct Scalers {
    cluster: Cluster,
    stores: OnceLock<Stores>,
}

#[derive(Debug)]
struct Stores {
    hpa: (ApiResource, Store<Live>),
    hvpa: (ApiResource, Store<Live>),
}

impl Scalers {
    /// The autoscalers of a cluster.
    #[must_use]
    pub(super) fn new(cluster: &Cluster) -> Self {
        Self { cluster: cluster.clone(), stores: OnceLock::new() }
    }

    /// The scaled objects, and the [`Self::digest`] of the autoscalers.
    ///
    /// # Errors
    /// When the autoscalers cannot be listed, or one has an invalid target.
    pub(super) async fn scaled(&self) -> Result<(Scaled, u64), ScalersError> {
        let Stores { hpa, hvpa } = self.stores();
        for (name, store) in [("HPA", &hpa.1), ("HVPA", &hvpa.1)] {
            timeout(LIST_TIMEOUT, store.wait_until_synced())
                .await
                .map_err(|_elapsed| ScalersError::Unlisted(name))?;
        }
        let autoscalers = [hpa.1.list(), hvpa.1.list()];
        let mut scaled = Scaled::default();
        for live in &autoscalers[0] {
            scaled.add_hpa(&live.object(&hpa.0))?;
        }
        for live in &autoscalers[1] {
            scaled.add_hvpa(&live.object(&hvpa.0))?;
        }
        Ok((scaled, digest(autoscalers)))
    }

    /// Changes when other objects may be scaled.
    #[must_use]
    pub(super) fn digest(&self) -> u64 {
        let Some(Stores { hpa, hvpa }) = self.stores.get() else { return 0 };
        digest([hpa.1.list(), hvpa.1.list()])
    }

    fn stores(&self) -> &Stores {
        self.stores.get_or_init(|| {
            let store = |group: &str, version: &str, kind: &str, plural: &str| {
                let kind = GroupVersionKind::gvk(group, version, kind);
                let resource = ApiResource::from_gvk_with_plural(&kind, plural);
                // In autoscaling/v1, the metrics are annotations, and change all the time.
                let selection = Selection::all().reduced("spec", Live::reduce_to_spec).may_be_absent();
                let store = self.cluster.dynamic_store(&resource, selection);
                (resource, store)
            };
            Stores {
                hpa: store("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
                hvpa: store("autoscaling.k8s.io", "v1alpha1", "Hvpa", "hvpas"),
            }
        })
    }
}

fn digest(autoscalers: [Vec<Arc<Live>>; 2]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for live in autoscalers.into_iter().flatten() {
        live.digest().hash(&mut hasher);
    }
    hasher.finish()
}
