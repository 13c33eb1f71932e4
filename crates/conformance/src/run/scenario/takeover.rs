//! A leader is lost: the Lease of the target's election, and what the old leader wrote after the second instance had it.

use std::time::Duration;

use apiserver::{Effect, Fault, Matching, Refusal, Request, Verb};
use contract::scenario::Side;
use controller::leader::ElectionConfig;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use serde_json::json;
use substrate::embedded::Embedded;
use tokio::time::Instant;

use super::clusters::{Clusters, SECOND_USER, TARGET_USER};
use super::requests::{self, ObservedWrite};
use super::steps::ScenarioEnd;

/// How long the write is held up at which the leader is lost: until the second instance leads, and longer. It needs the time for
/// which the Lease is valid, and at most two attempts.
pub(super) const HELD_UP: Duration = Duration::from_secs(40);

/// The API group of Leases.
const GROUP: &str = "coordination.k8s.io";
/// Namespace and name of the Lease.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "explored-target";

/// The election of an instance, with the times that Kubernetes' and Gardener's components have by default.
pub(super) fn election(user: &str) -> ElectionConfig {
    ElectionConfig {
        namespace: NAMESPACE.to_owned(),
        name: NAME.to_owned(),
        identity: identity(user),
        lease_duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
        release_on_cancel: true,
    }
}

/// The identity of an instance, which is also the user of its election: what a scenario refuses is not about that.
fn identity(user: &str) -> String {
    format!("{user}-election")
}

/// Refuses the first instance its Lease from now on.
pub(super) fn refuse_renewals(clusters: &Clusters) {
    let leases = Matching::resource(GROUP, "leases");
    let of_first = Matching { user: Some(identity(TARGET_USER)), ..leases };
    let faults = clusters.server(Side::Source).faults();
    faults.add(Fault::new(of_first, Effect::Refuse(Refusal::InternalError)));
}

/// Gives the Lease to a holder that does not renew it.
///
/// # Errors
/// If the target has no Lease yet, or the server refuses the change.
pub(super) async fn give_to_somebody(clusters: &Clusters) -> Result<(), ScenarioEnd> {
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, "v1", "Lease"), "leases");
    let leases: Api<DynamicObject> = Api::namespaced_with(clusters.client(Side::Source), NAMESPACE, &kind);
    let patch = Patch::Merge(json!({"spec": {"holderIdentity": "somebody"}}));
    let written = leases.patch(NAME, &PatchParams::default(), &patch).await;
    written.map(drop).map_err(|error| ScenarioEnd::Environment(format!("failed to take the Lease: {error}")))
}

/// When the second instance got the Lease, if it did.
pub(super) fn moment(clusters: &Clusters) -> Option<Instant> {
    let second = identity(SECOND_USER);
    let is_takeover = |request: &Request| {
        let is_write = matches!(request.verb, Verb::Create | Verb::Update | Verb::Patch);
        is_write && request.user == second && request.resource == "leases" && request.code < 400
    };
    let requests = clusters.server(Side::Source).requests_since(0);
    requests.into_iter().find(is_takeover).map(|request| request.at)
}

/// What the first instance wrote after this moment, server by server.
pub(super) fn late_writes(clusters: &Clusters, moment: Instant) -> Vec<ObservedWrite> {
    let of_server = |(at, server): (usize, &Embedded)| {
        let late = server
            .requests_since(0)
            .into_iter()
            .filter(|request| request.user == TARGET_USER && request.at > moment && request.code < 400);
        late.filter_map(|request| requests::write(at, &request)).collect::<Vec<_>>()
    };
    clusters.servers().enumerate().flat_map(of_server).collect()
}
