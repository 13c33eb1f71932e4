//! Built-in admission plugins that change new objects before webhooks run.

mod service_accounts;

use serde_json::{Value, json};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::state::ServerState;

/// Priority classes that are built in.
const SYSTEM_PRIORITIES: &[(&str, i64)] =
    &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
const PRIORITY_CLASSES: &str = "priorityclasses.scheduling.k8s.io";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Applies the built-in mutating admission plugins to a new object.
///
/// # Errors
/// If a pod names a priority class that does not exist, or, if that admission plugin is on, a service account.
pub(crate) fn admit(shared: &ServerState, call: &Call, object: &mut Value) -> Result<(), Status> {
    match call.target.table.as_str() {
        "pods" => {
            if shared.switches.service_account_admission {
                service_accounts::admit(shared, call, object)?;
            }
            set_priority(shared, call, object)?;
            add_tolerations(object);
        }
        "nodes" => add_taint(object),
        "persistentvolumes" => add_finalizer(object, "kubernetes.io/pv-protection"),
        "persistentvolumeclaims" => add_finalizer(object, "kubernetes.io/pvc-protection"),
        _ => {}
    }
    Ok(())
}

/// Restores in an updated pod what these plugins set at its creation.
pub(crate) fn keep(call: &Call, object: &mut Value, old: &Value) {
    if call.target.table != "pods" || !call.path.subresource.is_empty() {
        return;
    }
    add_tolerations(object);
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for field in ["priority", "preemptionPolicy"] {
        if let Some(value) = old["spec"].get(field) {
            spec.entry(field).or_insert_with(|| value.clone());
        }
    }
}

/// Sets a pod's priority from its priority class.
fn set_priority(shared: &ServerState, call: &Call, pod: &mut Value) -> Result<(), Status> {
    let class_name =
        pod.pointer("/spec/priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let class = if class_name.is_empty() {
        let snapshot = shared.store.snapshot(PRIORITY_CLASSES);
        let default = snapshot.objects.values().find(|class| class.value()["globalDefault"] == true);
        default.map(|class| class.value().clone())
    } else {
        shared.store.get(PRIORITY_CLASSES, &class_name).map(|class| class.value().clone()).or_else(|| {
            let (_, value) = SYSTEM_PRIORITIES.iter().find(|(name, _)| *name == class_name)?;
            Some(json!({"metadata": {"name": class_name}, "value": value}))
        })
    };
    let class = match class {
        Some(class) => class,
        None if class_name.is_empty() => json!({"value": 0}),
        None => {
            let why = format!("no PriorityClass with name {class_name} was found");
            return Err(Status::forbidden(call.group_resource(), name_or_prefix(pod), &why));
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
        return Err(Status::forbidden(call.group_resource(), name_or_prefix(pod), &why));
    }
    if class_name.is_empty() && !meta::name(&class).is_empty() {
        spec.insert("priorityClassName".to_owned(), meta::name(&class).into());
    }
    spec.insert("priority".to_owned(), value);
    spec.entry("preemptionPolicy").or_insert(policy);
    Ok(())
}

/// The name of an object that may not have one yet.
fn name_or_prefix(object: &Value) -> &str {
    match (meta::name(object), meta::text(object, "generateName")) {
        ("", "") => "Unknown",
        ("", prefix) => prefix,
        (name, _) => name,
    }
}

/// Adds the default tolerations: a pod stays for five minutes on a node that is not ready or unreachable.
fn add_tolerations(pod: &mut Value) {
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

/// Adds the taint that keeps pods away from a new node until it is ready.
fn add_taint(node: &mut Value) {
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    let Some(node) = node.as_object_mut() else { return };
    let spec = node.entry("spec").or_insert_with(|| json!({}));
    let Some(spec) = spec.as_object_mut() else { return };
    let taints = spec.entry("taints").or_insert_with(|| json!([]));
    if let Some(taints) = taints.as_array_mut().filter(|taints| !taints.contains(&taint)) {
        taints.push(taint);
    }
}

/// Adds the finalizer that protects a volume in use.
fn add_finalizer(object: &mut Value, finalizer: &str) {
    let mut finalizers: Vec<Value> = meta::finalizers(object).into_iter().map(Value::from).collect();
    if !finalizers.iter().any(|other| other == finalizer) {
        finalizers.push(finalizer.into());
        meta::set(object, "finalizers", finalizers);
    }
}
