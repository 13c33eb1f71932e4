//! What another user does in a step.

use contract::scenario::{Action, ObjectRef, Side};
use serde_json::{Value, json};
use substrate::cluster::{ClusterError, Reply};

use super::clusters::{Clusters, head};
use super::steps::Ended;

/// The annotation of a touch.
const TOUCHED: &str = "conformance.gardener.cloud/touched";

/// Does it; `count` tells touches apart.
pub(super) async fn act(clusters: &Clusters, action: &Action, count: usize) -> Result<(), Ended> {
    match action {
        Action::Create(side, object) => clusters.create(*side, object).await,
        Action::Patch(side, object, patch) => send(clusters, *side, object, "", patch).await,
        Action::PatchStatus(side, object, patch) => send(clusters, *side, object, "status", patch).await,
        Action::Touch(side, object) => {
            let patch = json!({"metadata": {"annotations": {TOUCHED: count.to_string()}}});
            send(clusters, *side, object, "", &patch).await
        }
        Action::Delete(side, object) => {
            let reply = clusters.cluster(*side).delete(&head(object), "").await;
            done("delete", *side, object, reply)
        }
        Action::Refuse(side, asked, refusal) => {
            clusters.refuse(*side, asked, *refusal);
            Ok(())
        }
        // The stage does these: the target is its own.
        Action::Stop | Action::Start => Ok(()),
    }
}

async fn send(
    clusters: &Clusters,
    side: Side,
    object: &ObjectRef,
    subresource: &str,
    patch: &Value,
) -> Result<(), Ended> {
    let reply = clusters.cluster(side).merge_patch(&head(object), subresource, patch).await;
    done("patch", side, object, reply)
}

fn done(verb: &str, side: Side, object: &ObjectRef, reply: Result<Reply, ClusterError>) -> Result<(), Ended> {
    let failed = |reason: String| {
        Ended::Environment(format!("failed to {verb} {object} in {}: {reason}", side.name()))
    };
    let reply = reply.map_err(|error| failed(error.to_string()))?;
    if reply.is_success() { Ok(()) } else { Err(failed(reply.message())) }
}
