//! Facts of a case: written before it is asked, and taken back where the cluster is not ours.

use std::collections::BTreeSet;
use std::time::Duration;

use contract::case::Given;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};

use super::group::Started;
use super::{Ground, shared_namespace};
use crate::dates;
use crate::place::{self, Placed};
use crate::plan::{CaseRef, Looked};
use crate::report::{Reason, ReasonCode, Status};

/// How long facts may take to be taken back once the run was interrupted.
const PATIENCE: Duration = Duration::from_secs(10);

/// A case whose facts stand.
pub(super) struct Prepared {
    /// Its objects, where they live.
    pub(super) placed: Placed,
    /// Whether objects were written, so that a target may lag behind.
    pub(super) has_facts: bool,
    /// What was written, in order.
    pub(super) written: Vec<Value>,
    /// Identity of its request.
    pub(super) uid: String,
    /// Namespaces that were touched, and what was there before.
    namespaces: Vec<(String, Before)>,
}

/// What the names of namespaces begin with that cases are given.
pub const CASES: &str = "case-";

/// A namespace name that no other case of any run of this process has.
pub(super) fn namespace_name(context: &Started<'_>, at: CaseRef, round: u16) -> String {
    let run = context.shared.state.number;
    let contract = context.shared.before + at.contract;
    let salt = context.shared.options.seed & 0xffff;
    format!("{CASES}{salt:04x}-{run}-{contract}-{}-{}-{round}", at.clause, at.case)
}

/// Writes the facts of a case.
pub(super) async fn prepare(
    context: &Started<'_>,
    looked: Looked<'_>,
    fresh: &str,
) -> Result<Prepared, (Status, Reason)> {
    let mut placed = place::place(looked.case, fresh);
    if let Some(decision) = looked.case.when.decision()
        && context.group.now.is_none()
    {
        dates::move_to_present(&mut placed.given, decision.now);
    }
    let mut prepared = Prepared {
        placed,
        has_facts: looked.has_facts(),
        written: Vec::new(),
        uid: uid(&looked.id(), fresh),
        namespaces: Vec::new(),
    };
    let Some(cluster) = &context.facts else {
        if looked.has_facts() {
            let text = "its facts need the cluster that the target reads (--kubeconfig)";
            return Err((Status::NotSupported, Reason::new(ReasonCode::Facts, text)));
        }
        return Ok(prepared);
    };
    // A given cluster is touched only where a case says so.
    if (looked.has_facts() || !context.tidy)
        && let Err(error) = write(context, cluster, &mut prepared).await
    {
        tidy(context, &prepared).await;
        let text = format!("failed to write facts: {error}");
        return Err((Status::Errored, Reason::new(ReasonCode::Environment, text)));
    }
    Ok(prepared)
}

/// Takes back what was written into a cluster that is not ours; the report tells what is left there.
pub(super) async fn tidy(context: &Started<'_>, prepared: &Prepared) {
    if let (Some(cluster), true) = (&context.facts, context.tidy) {
        take_back(context, cluster, prepared).await;
    }
}

/// Removes what was written for a case, and gives namespaces back as they were.
pub(super) async fn take_back(context: &Started<'_>, cluster: &Cluster, prepared: &Prepared) {
    let mut left = BTreeSet::new();
    tokio::select! {
        () = restore(cluster, prepared, &mut left, goes(context)) => {}
        () = patience(context) => {}
    }
    context.shared.left_behind(left);
}

/// Whether the cluster goes with the run: its namespaces stay meanwhile.
fn goes(context: &Started<'_>) -> bool {
    matches!(&context.shared.options.ground, Ground::Whole(whole) if !whole.stays)
}

/// Whether the cluster gives namespaces and pods service accounts.
fn has_accounts(context: &Started<'_>) -> bool {
    matches!(context.shared.options.ground, Ground::Whole(_))
}

fn brings_pods(given: &Given) -> bool {
    let is_pod = |object: &Value| object["apiVersion"] == "v1" && object["kind"] == "Pod";
    given.cluster.iter().chain(&given.old).chain(&given.object).any(is_pod)
}

/// Ends some time after the run was interrupted.
async fn patience(context: &Started<'_>) {
    context.shared.interrupt.wait().await;
    tokio::time::sleep(PATIENCE).await;
}

/// At any moment `left` names what is still there.
async fn restore(cluster: &Cluster, prepared: &Prepared, left: &mut BTreeSet<String>, goes: bool) {
    let touched = prepared.namespaces.iter().filter(|(_, before)| *before != Before::Same);
    left.extend(prepared.written.iter().map(describe));
    left.extend(touched.map(|(name, _)| format!("Namespace {name}")));
    for written in prepared.written.iter().rev() {
        let name = describe(written);
        note(left, &name, facts::remove(cluster, written).await);
    }
    for (name, before) in prepared.namespaces.iter().rev() {
        // Nobody else will want a name that was made up.
        let wait = !name.starts_with("case-");
        let bare = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let restored = match before {
            Before::Nothing if goes => {
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

/// Ends before the next fact if the run was interrupted: the case will not be asked.
async fn write(
    context: &Started<'_>,
    cluster: &Cluster,
    prepared: &mut Prepared,
) -> Result<(), ClusterError> {
    let home = prepared.placed.namespace.clone();
    let given = prepared.placed.given.clone();
    let wants_account = has_accounts(context) && brings_pods(&given);
    if shared_namespace::is_one(context.shared, &home) {
        return context.shared.state.namespaces.stand(cluster, &home, given.namespace.as_ref()).await;
    }
    if !home.is_empty() {
        let before = facts::write_namespace(cluster, &home, given.namespace.as_ref()).await?;
        prepared.namespaces.push((home.clone(), before));
        if wants_account {
            facts::write_account(cluster, &home).await?;
        }
    }
    for fact in &given.cluster {
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
        // A namespace that is there already belongs to somebody, and is given back as it was.
        if let Some(name) = namespace_that_stays(fact) {
            let before = facts::write_namespace(cluster, name, Some(fact)).await?;
            prepared.namespaces.push((name.to_owned(), before));
            continue;
        }
        let written = if has_accounts(context) {
            facts::write_over(cluster, fact).await?
        } else {
            facts::write(cluster, fact).await?
        };
        prepared.written.push(written);
    }
    Ok(())
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

/// A uid that the same case of the same run always has.
fn uid(id: &str, salt: &str) -> String {
    let hex = crate::digest::digest(&format!("{id}\n{salt}"));
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}
