//! Admission that is compiled into the server and writes into new objects before webhooks see them.

mod service_accounts;

use serde_json::{Value, json};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::state::Shared;

/// Priority classes that are there without being objects.
const SYSTEM_PRIORITIES: &[(&str, i64)] =
    &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
const PRIORITY_CLASSES: &str = "priorityclasses.scheduling.k8s.io";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Writes into a new object what the server's own admission does.
///
/// # Errors
/// If a pod names a priority class that is not there, or a service account, where that is looked at.
pub(crate) fn admit(shared: &Shared, call: &Call, object: &mut Value) -> Result<(), Status> {
    match call.target.table.as_str() {
        "pods" => {
            if shared.switches.service_account_admission {
                service_accounts::admit(shared, call, object)?;
            }
            prioritize(shared, call, object)?;
            tolerate(object);
        }
        "nodes" => taint(object),
        "persistentvolumes" => protect(object, "kubernetes.io/pv-protection"),
        "persistentvolumeclaims" => protect(object, "kubernetes.io/pvc-protection"),
        _ => {}
    }
    Ok(())
}

/// Lets a changed pod keep what was written into it when it was made.
pub(crate) fn keep(call: &Call, object: &mut Value, old: &Value) {
    if call.target.table != "pods" || !call.path.subresource.is_empty() {
        return;
    }
    tolerate(object);
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for field in ["priority", "preemptionPolicy"] {
        if let Some(value) = old["spec"].get(field) {
            spec.entry(field).or_insert_with(|| value.clone());
        }
    }
}

/// A pod's priority is that of its class.
fn prioritize(shared: &Shared, call: &Call, pod: &mut Value) -> Result<(), Status> {
    let named = pod.pointer("/spec/priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let found = if named.is_empty() {
        let snapshot = shared.store.snapshot(PRIORITY_CLASSES);
        let usual = snapshot.objects.values().find(|class| class.value()["globalDefault"] == true);
        usual.map(|class| class.value().clone())
    } else {
        shared.store.get(PRIORITY_CLASSES, &named).map(|class| class.value().clone()).or_else(|| {
            let (_, value) = SYSTEM_PRIORITIES.iter().find(|(name, _)| *name == named)?;
            Some(json!({"metadata": {"name": named}, "value": value}))
        })
    };
    let class = match found {
        Some(class) => class,
        None if named.is_empty() => json!({"value": 0}),
        None => {
            let why = format!("no PriorityClass with name {named} was found");
            return Err(Status::forbidden(call.group_resource(), called(pod), &why));
        }
    };
    let policy = class.get("preemptionPolicy").cloned().unwrap_or_else(|| "PreemptLowerPriority".into());
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return Ok(()) };
    let value = class.get("value").cloned().unwrap_or_else(|| 0.into());
    if let Some(given) = spec.get("priority").filter(|given| **given != value) {
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {value} from the given PriorityClass name"
        );
        return Err(Status::forbidden(call.group_resource(), called(pod), &why));
    }
    if named.is_empty() && !meta::name(&class).is_empty() {
        spec.insert("priorityClassName".to_owned(), meta::name(&class).into());
    }
    spec.insert("priority".to_owned(), value);
    spec.entry("preemptionPolicy").or_insert(policy);
    Ok(())
}

/// What an object is called that may not have a name yet.
fn called(object: &Value) -> &str {
    match (meta::name(object), meta::text(object, "generateName")) {
        ("", "") => "Unknown",
        ("", prefix) => prefix,
        (name, _) => name,
    }
}

/// A pod stays for five minutes on a node that is gone.
fn tolerate(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let existing: Vec<Value> = spec.get("tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
    let covers = |toleration: &Value, key: &str| {
        let text = |field: &str| toleration.get(field).and_then(Value::as_str).unwrap_or_default();
        (text("key") == key || text("key").is_empty()) && matches!(text("effect"), "NoExecute" | "")
    };
    let missing = [NOT_READY, "node.kubernetes.io/unreachable"]
        .into_iter()
        .filter(|key| !existing.iter().any(|toleration| covers(toleration, key)))
        .map(
            |key| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}),
        );
    let all: Vec<Value> = existing.iter().cloned().chain(missing).collect();
    if !all.is_empty() {
        spec.insert("tolerations".to_owned(), all.into());
    }
}

/// A new node takes no pods before it is ready.
fn taint(node: &mut Value) {
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    let Some(node) = node.as_object_mut() else { return };
    let spec = node.entry("spec").or_insert_with(|| json!({}));
    let Some(spec) = spec.as_object_mut() else { return };
    let taints = spec.entry("taints").or_insert_with(|| json!([]));
    if let Some(taints) = taints.as_array_mut().filter(|taints| !taints.contains(&taint)) {
        taints.push(taint);
    }
}

/// A volume in use is not deleted.
fn protect(object: &mut Value, finalizer: &str) {
    let mut finalizers: Vec<Value> = meta::finalizers(object).into_iter().map(Value::from).collect();
    if !finalizers.iter().any(|known| known == finalizer) {
        finalizers.push(finalizer.into());
        meta::set(object, "finalizers", finalizers);
    }
}
