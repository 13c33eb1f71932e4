//! Confirms that an object may be deleted, which the garden's API server requires.

use std::fmt::Debug;

use api::gardener::CONFIRMATION_DELETION;
use jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams};
use serde::de::DeserializeOwned;
use serde_json::json;

/// Annotation of an object: when an operation on it was requested last, RFC 3339 with nanoseconds.
const TIMESTAMP: &str = "gardener.cloud/timestamp";

/// Annotates an object so that it may be deleted.
pub(super) async fn confirm<K>(objects: &Api<K>, name: &str, now: Timestamp) -> Result<(), kube::Error>
where
    K: Clone + Debug + DeserializeOwned,
{
    let annotations = json!({CONFIRMATION_DELETION: "true", TIMESTAMP: now.to_string()});
    let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    objects.patch(name, &PatchParams::default(), &patch).await.map(drop)
}
