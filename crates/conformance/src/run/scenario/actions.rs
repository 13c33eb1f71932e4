//! Actions of another user in a step.

use contract::scenario::{Action, ObjectRef, Side};
use serde_json::{Value, json};
use substrate::cluster::{ClusterError, Reply};

use super::clusters::{Clusters, head};
use super::steps::ScenarioEnd;

/// The annotation of a touch.
const TOUCHED: &str = "conformance.gardener.cloud/touched";

/// Performs an action; `count` makes each touch a change.
pub(super) async fn perform(clusters: &Clusters, action: &Action, count: usize) -> Result<(), ScenarioEnd> {
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
            check_reply("delete", *side, object, reply)
        }
        Action::Refuse(side, requests, refusal) => {
            clusters.refuse(*side, requests, *refusal);
            Ok(())
        }
        // The step runner does these, since it owns the target.
        Action::Stop | Action::Start => Ok(()),
    }
}

async fn send(
    clusters: &Clusters,
    side: Side,
    object: &ObjectRef,
    subresource: &str,
    patch: &Value,
) -> Result<(), ScenarioEnd> {
    let reply = clusters.cluster(side).merge_patch(&head(object), subresource, patch).await;
    check_reply("patch", side, object, reply)
}

fn check_reply(
    verb: &str,
    side: Side,
    object: &ObjectRef,
    reply: Result<Reply, ClusterError>,
) -> Result<(), ScenarioEnd> {
    let failed = |reason: String| {
        ScenarioEnd::Environment(format!("failed to {verb} {object} in {}: {reason}", side.name()))
    };
    let reply = reply.map_err(|error| failed(error.to_string()))?;
    if reply.is_success() { Ok(()) } else { Err(failed(reply.message())) }
}
