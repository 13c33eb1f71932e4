//! Evicts pods: deletes them if disruption budgets allow it.

use std::sync::Arc;

use formats::selector::LabelSelector;
use serde_json::{Value, json};

use super::{create, delete, transient};
use crate::call::{self, Call};
use crate::clock::rfc3339;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::meta;
use crate::state::ServerState;
use crate::store::{Expect, Object};

const BUDGETS: &str = "poddisruptionbudgets.policy";
/// How many disrupted pods a budget may list before its controller must catch up.
const MAX_DISRUPTED_PODS: usize = 2000;

/// Deletes a pod with the options of its eviction, if the budgets that select it allow it. Webhooks receive the
/// eviction, not the deletion.
pub(crate) async fn evict(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    let mut eviction = decode::object(shared, call, &mut notes)?;
    create::clear_server_fields(&mut eviction);
    let check = |eviction: &Value| {
        if meta::name(eviction) == call.path.name {
            return Ok(());
        }
        Err(Status::bad_request("name in URL does not match name in Eviction object"))
    };
    let (eviction, notes) = transient::admit(shared, call, (eviction, notes), check).await?;
    delete_pod(shared, call, eviction).await.map_err(|status| status.with_notes(&notes))?;
    Ok(transient::created(call, notes))
}

async fn delete_pod(shared: &ServerState, call: &Call, mut eviction: Value) -> Result<(), Status> {
    let name = call.path.name.as_str();
    let pod = shared.store.get(&call.target.table, &call.key(name));
    let pod = pod.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
    let mut options = eviction.get_mut("deleteOptions").map(Value::take).filter(Value::is_object);
    let options = options.get_or_insert_with(|| json!({}));
    if call.query.dry_run() && options["dryRun"].as_array().is_none_or(Vec::is_empty) {
        options["dryRun"] = json!([call.query.text("dryRun")]);
    }
    let dry_run = options["dryRun"].as_array().is_some_and(|directives| !directives.is_empty());
    if !needs_no_budget(pod.value()) {
        charge_budget(shared, call, pod.value(), dry_run)?;
    }
    if !dry_run {
        set_disruption_target(shared, call, options);
    }
    delete::delete_without_webhooks(shared, call, options.take()).await
}

/// Sets the pod's condition `DisruptionTarget`, unless the preconditions do not match.
fn set_disruption_target(shared: &ServerState, call: &Call, options: &mut Value) {
    let key = call.key(&call.path.name);
    while let Some(pod) = shared.store.get(&call.target.table, &key) {
        let precondition =
            |field: &str| options["preconditions"][field].as_str().unwrap_or_default().to_owned();
        let holds = |field: &str| {
            precondition(field).is_empty() || precondition(field) == meta::text(pod.value(), field)
        };
        if !holds("uid") || !holds("resourceVersion") {
            return;
        }
        let mut marked = pod.value().clone();
        let condition = json!({
            "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        });
        transient::set_condition(&mut marked, condition, &rfc3339(shared.clock.now()));
        if &marked == pod.value() {
            return;
        }
        let expect = Expect::Revision(pod.revision());
        if let Ok(written) = shared.store.put(&call.target.table, &key, expect, marked) {
            if !precondition("resourceVersion").is_empty() {
                options["preconditions"]["resourceVersion"] = written.revision().to_string().into();
            }
            return;
        }
    }
}

/// Whether no budget protects a pod: it has ended, is pending, or is terminating.
fn needs_no_budget(pod: &Value) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default();
    matches!(phase, "Succeeded" | "Failed" | "Pending") || meta::is_terminating(pod)
}

/// Uses one allowed disruption of the budget that selects the pod.
fn charge_budget(shared: &ServerState, call: &Call, pod: &Value, dry_run: bool) -> Result<(), Status> {
    loop {
        let budgets = budgets_of(shared, call, pod);
        let (key, budget) = match budgets.as_slice() {
            [] => return Ok(()),
            [one] => one,
            _ => {
                let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
                           support.";
                return Err(Status::plain(500, "", why));
            }
        };
        if !is_ready(pod) && allows_unready_eviction(budget.value()) {
            return Ok(());
        }
        let changed = charged_budget(budget.value(), meta::name(pod), &rfc3339(shared.clock.now()))?;
        let expect = Expect::Revision(budget.revision());
        if dry_run || shared.store.put(BUDGETS, key, expect, changed).is_ok() {
            return Ok(());
        }
    }
}

fn budgets_of(shared: &ServerState, call: &Call, pod: &Value) -> Vec<(String, Arc<Object>)> {
    let prefix = call::key(true, &call.path.namespace, "");
    let selects = |budget: &Value| {
        let selector = budget.pointer("/spec/selector").cloned();
        let selector = selector.and_then(|selector| serde_json::from_value::<LabelSelector>(selector).ok());
        selector.is_some_and(|selector| selector.matches_by(|key| meta::label(pod, key)))
    };
    let snapshot = shared.store.snapshot(BUDGETS);
    let found = snapshot.range(&prefix, None).filter(|(_, budget)| selects(budget.value()));
    found.map(|(key, budget)| (key.to_string(), Arc::clone(budget))).collect()
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Whether a budget allows the eviction of unready pods: always, or while enough others are healthy.
fn allows_unready_eviction(budget: &Value) -> bool {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let policy = budget.pointer("/spec/unhealthyPodEvictionPolicy").and_then(Value::as_str);
    policy == Some("AlwaysAllow")
        || status("desiredHealthy") > 0 && status("currentHealthy") >= status("desiredHealthy")
}

/// The budget after one more disruption, or the error if it allows none.
fn charged_budget(budget: &Value, pod: &str, now: &str) -> Result<Value, Status> {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let name = meta::name(budget);
    if status("observedGeneration") < meta::generation(budget) {
        let cause = format!("The disruption budget {name} is still being processed by the server.");
        return Err(too_many_requests(&cause, Some(10)));
    }
    let of = crate::http::status::GroupResource { group: "policy", resource: "poddisruptionbudgets" };
    let allowed = status("disruptionsAllowed");
    if allowed < 0 {
        return Err(Status::forbidden(of, name, "pdb disruptions allowed is negative"));
    }
    if budget["status"]["disruptedPods"].as_object().is_some_and(|pods| pods.len() > MAX_DISRUPTED_PODS) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Status::forbidden(of, name, why));
    }
    if allowed == 0 {
        let (desired, current) = (status("desiredHealthy"), status("currentHealthy"));
        let cause =
            format!("The disruption budget {name} needs {desired} healthy pods and has {current} currently");
        return Err(too_many_requests(&cause, None));
    }
    let mut changed = budget.clone();
    changed["status"]["disruptionsAllowed"] = (allowed - 1).into();
    changed["status"]["disruptedPods"][pod] = now.into();
    if allowed == 1 {
        set_exhausted_condition(&mut changed, now);
    }
    Ok(changed)
}

/// Sets the condition that no more disruptions are allowed.
fn set_exhausted_condition(budget: &mut Value, now: &str) {
    let observed = budget["status"]["observedGeneration"].clone();
    let condition = json!({
        "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
        "observedGeneration": observed, "lastTransitionTime": now,
    });
    let known = budget["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let others = known.into_iter().filter(|other| other["type"] != "DisruptionAllowed");
    budget["status"]["conditions"] = others.chain([condition]).collect();
}

fn too_many_requests(cause: &str, retry_after: Option<u64>) -> Status {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let mut status = Status::plain(429, "TooManyRequests", message);
    status.details.insert("causes".to_owned(), json!([{"reason": "DisruptionBudget", "message": cause}]));
    if let Some(seconds) = retry_after {
        status.details.insert("retryAfterSeconds".to_owned(), seconds.into());
    }
    status
}
