//! Facts of a case: written before the case runs, and removed afterwards if the cluster is not ours.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use contract::case::Given;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};

use super::attempt::{FIRST_PAUSE, LONGEST_PAUSE};
use super::group::StartedGroup;
use super::{Substrate, shared_namespace};
use crate::gardener::dates;
use crate::place::{self, PlacedCase};
use crate::plan::{CaseRef, LocatedCase};
use crate::report::{Reason, ReasonCode, Status};

/// How long the removal of facts may take after the run was interrupted.
const PATIENCE: Duration = Duration::from_secs(10);

/// A case whose facts are in the cluster.
#[derive(Clone)]
pub(super) struct PreparedCase {
    /// Its objects with their final namespaces.
    pub(super) placed: PlacedCase,
    /// The written objects, in order.
    pub(super) written: Vec<Value>,
    /// The `uid` of its request.
    pub(super) uid: String,
    /// Namespaces that were written, and their state before.
    namespaces: Vec<(String, Before)>,
}

/// Prefix of the names of cases' namespaces.
pub const CASES: &str = "case-";

/// A namespace name that no other case of any run of this process has.
pub(super) fn namespace_name(context: &StartedGroup<'_>, at: CaseRef, round: u16) -> String {
    let run = context.shared.state.number;
    let contract = context.shared.before + at.contract;
    let salt = context.shared.options.seed & 0xffff;
    format!("{CASES}{salt:04x}-{run}-{contract}-{}-{}-{round}", at.clause, at.case)
}

/// Writes the facts of a case.
pub(super) async fn prepare(
    context: &StartedGroup<'_>,
    located: LocatedCase<'_>,
    fresh: &str,
) -> Result<PreparedCase, (Status, Reason)> {
    let mut placed = place::assign_namespace(located.case, fresh);
    if let Some(decision) = located.case.when.decision()
        && context.group.now.is_none()
    {
        dates::move_to_present(&mut placed.given, decision.now);
    }
    let mut prepared =
        PreparedCase { placed, written: Vec::new(), uid: uid(&located.id(), fresh), namespaces: Vec::new() };
    let Some(cluster) = &context.facts else {
        if located.has_facts() {
            let text = "its facts need the cluster that the target reads (--kubeconfig)";
            return Err((Status::NotSupported, Reason::new(ReasonCode::Facts, text)));
        }
        return Ok(prepared);
    };
    // Into a given cluster, nothing is written but facts.
    if (located.has_facts() || !context.cleans_up)
        && let Err(error) = write(context, cluster, &mut prepared).await
    {
        clean_up(context, &prepared).await;
        let text = format!("failed to write facts: {error}");
        return Err((Status::Errored, Reason::new(ReasonCode::Environment, text)));
    }
    Ok(prepared)
}

/// Removes what was written into a cluster that is not ours; the report lists what is left there.
pub(super) async fn clean_up(context: &StartedGroup<'_>, prepared: &PreparedCase) {
    if let (Some(cluster), true) = (&context.facts, context.cleans_up) {
        remove_facts(context, cluster, prepared).await;
    }
}

/// Removes the objects of a case and restores namespaces.
pub(super) async fn remove_facts(context: &StartedGroup<'_>, cluster: &Cluster, prepared: &PreparedCase) {
    let mut left = BTreeSet::new();
    tokio::select! {
        () = restore(cluster, prepared, &mut left, is_deleted_after_run(context)) => {}
        () = cleanup_timeout(context) => {}
    }
    context.shared.left_behind(left);
}

/// Whether the cluster is deleted after the run, so that its namespaces need not be.
fn is_deleted_after_run(context: &StartedGroup<'_>) -> bool {
    matches!(&context.shared.options.substrate, Substrate::Whole(whole) if !whole.stays)
}

/// Whether the cluster's controllers create service accounts in namespaces and for pods.
fn has_accounts(context: &StartedGroup<'_>) -> bool {
    matches!(context.shared.options.substrate, Substrate::Whole(_))
}

fn has_pods(given: &Given) -> bool {
    let is_pod = |object: &Value| object["apiVersion"] == "v1" && object["kind"] == "Pod";
    given.cluster.iter().chain(&given.old).chain(&given.object).any(is_pod)
}

/// Returns some time after the run was interrupted.
async fn cleanup_timeout(context: &StartedGroup<'_>) {
    context.shared.interrupt.wait().await;
    tokio::time::sleep(PATIENCE).await;
}

/// At any moment `left` names what is still there.
async fn restore(cluster: &Cluster, prepared: &PreparedCase, left: &mut BTreeSet<String>, is_deleted: bool) {
    let touched = prepared.namespaces.iter().filter(|(_, before)| *before != Before::Same);
    left.extend(prepared.written.iter().map(describe));
    left.extend(touched.map(|(name, _)| format!("Namespace {name}")));
    for written in prepared.written.iter().rev() {
        let name = describe(written);
        note(left, &name, facts::remove(cluster, written).await);
    }
    for (name, before) in prepared.namespaces.iter().rev() {
        // No other case uses a generated name.
        let wait = !name.starts_with("case-");
        let bare = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let restored = match before {
            Before::Nothing if is_deleted => {
                facts::restore_namespace(cluster, name, &Before::Other(bare), wait).await
            }
            before => facts::restore_namespace(cluster, name, before, wait).await,
        };
        note(left, &format!("Namespace {name}"), restored);
    }
}

fn note(left: &mut BTreeSet<String>, name: &str, result: Result<(), ClusterError>) {
    left.remove(name);
    if let Err(error) = result {
        left.insert(format!("{name}: {error}"));
    }
}

/// Stops before the next fact if the run was interrupted: the case will not run.
async fn write(
    context: &StartedGroup<'_>,
    cluster: &Cluster,
    prepared: &mut PreparedCase,
) -> Result<(), ClusterError> {
    let home = prepared.placed.namespace.clone();
    let given = prepared.placed.given.clone();
    let wants_account = has_accounts(context) && has_pods(&given);
    if shared_namespace::is_shared(context.shared, &home) {
        let with_account = matches!(context.shared.options.substrate, Substrate::Whole(_));
        let settle = context.shared.options.settle;
        return context.namespaces.ensure(cluster, &prepared.placed, (with_account, settle)).await;
    }
    if !home.is_empty() {
        let before = facts::write_namespace(cluster, &home, given.namespace.as_ref()).await?;
        prepared.namespaces.push((home.clone(), before));
        if wants_account {
            facts::write_account(cluster, &home).await?;
        }
    }
    for fact in &prepared.placed.facts() {
        if context.shared.interrupt.raised().is_some() {
            break;
        }
        if let Some(other) = fact["metadata"]["namespace"].as_str().filter(|other| *other != home) {
            let before = facts::write_namespace(cluster, other, None).await?;
            prepared.namespaces.push((other.to_owned(), before));
            if wants_account {
                facts::write_account(cluster, other).await?;
            }
        }
        // An existing namespace belongs to somebody else, and is restored afterwards.
        if let Some(name) = namespace_that_stays(fact) {
            let before = facts::write_namespace(cluster, name, Some(fact)).await?;
            prepared.namespaces.push((name.to_owned(), before));
            continue;
        }
        let settle = context.shared.options.settle;
        let written = if has_accounts(context) {
            write_patiently(cluster, fact, settle, async || facts::write_over(cluster, fact).await).await?
        } else {
            write_patiently(cluster, fact, settle, async || facts::write(cluster, fact).await).await?
        };
        prepared.written.push(written);
    }
    Ok(())
}

/// Writes a fact with `first`; while a webhook refuses it, again for `settle`: the target's own webhooks, which may be registered
/// in the cluster, read caches that lag behind the facts before.
pub(super) async fn write_patiently(
    cluster: &Cluster,
    fact: &Value,
    settle: Duration,
    first: impl AsyncFnOnce() -> Result<Value, ClusterError>,
) -> Result<Value, ClusterError> {
    let begin = Instant::now();
    let (mut written, mut pause) = (first().await, FIRST_PAUSE);
    while is_denied_by_webhook(&written) && begin.elapsed() + pause <= settle {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        // The object may be there without its status.
        written = facts::write_anew(cluster, fact).await;
    }
    written
}

fn is_denied_by_webhook(written: &Result<Value, ClusterError>) -> bool {
    matches!(written, Err(ClusterError::Refused { message, .. }) if message.contains("admission webhook \""))
}

/// `ServiceAccount garden/app`.
pub(super) fn describe(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let names = [text(&metadata["namespace"]), text(&metadata["name"])];
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    format!("{} {}", text(&object["kind"]), names.join("/"))
}

/// The name of a fact that is a namespace, unless its deletion has begun.
fn namespace_that_stays(fact: &Value) -> Option<&str> {
    let is_namespace = fact["apiVersion"] == "v1" && fact["kind"] == "Namespace";
    fact["metadata"]["name"].as_str().filter(|_| is_namespace && !facts::is_deleting(fact))
}

/// A uid that is the same whenever the same case of the same run gets one.
fn uid(id: &str, salt: &str) -> String {
    let hex = crate::digest::digest(&format!("{id}\n{salt}"));
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}
