//! How kinds differ when they are written: generation, status, unconditional updates, answers to deletions.

pub(crate) mod services;
mod workloads;

use schema::Resource;
use serde_json::{Value, json};

use crate::object::defaults;
use crate::object::meta;
use crate::registry::ServedResource;

/// Built-in kinds with a generation; all custom resources have one.
const WITH_GENERATION: &[(&str, &str)] = &[
    ("", "pods"),
    ("", "podtemplates"),
    ("", "replicationcontrollers"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
    ("networking.k8s.io", "ingressclasses"),
    ("networking.k8s.io", "ingresses"),
    ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourceslices"),
    ("scheduling.k8s.io", "priorityclasses"),
];

/// Built-in kinds whose updates need a resourceVersion, as updates of all custom resources do.
const CONDITIONAL_UPDATE: &[(&str, &str)] = &[
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("policy", "poddisruptionbudgets"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "csistoragecapacities"),
    ("storage.k8s.io", "volumeattachments"),
];

/// Kinds that a PUT may create.
const CREATE_ON_UPDATE: &[(&str, &str)] = &[
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
];

/// Kinds whose deletion answers with the object instead of a `Status`.
const RETURNED_WHEN_DELETED: &[(&str, &str)] = &[
    ("", "namespaces"),
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "podtemplates"),
    ("", "resourcequotas"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("resource.k8s.io", "resourceslices"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "volumeattachments"),
    ("storage.k8s.io", "volumeattributesclasses"),
];

/// Kinds whose first update is always a write: their stored form differs from what a read returns.
const REWRITTEN_ONCE: &[(&str, &str)] = &[("", "persistentvolumeclaims")];

/// Built-in kinds whose status updates do not change metadata; those of custom resources never do.
pub(crate) const METADATA_STAYS: &[(&str, &str)] = &[
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("apiregistration.k8s.io", "apiservices"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
    ("internal.apiserver.k8s.io", "storageversions"),
    ("networking.k8s.io", "servicecidrs"),
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourcepoolstatusrequests"),
    ("scheduling.k8s.io", "podgroups"),
    ("storage.k8s.io", "volumeattachments"),
    ("storagemigration.k8s.io", "storageversionmigrations"),
];

/// Whether an update without resourceVersion is allowed.
pub(crate) fn allows_unconditional_update(target: &ServedResource) -> bool {
    match &target.typed {
        Some(typed) => typed.strategy.allows_unconditional_update,
        None => !target.custom && !is_one_of(&target.resource, CONDITIONAL_UPDATE),
    }
}

/// Whether an update creates a missing object. As in kube-apiserver, an update of the status does so too.
pub(crate) fn allows_create_on_update(target: &ServedResource, subresource: &str) -> bool {
    matches!(subresource, "" | "status") && !target.custom && is_one_of(&target.resource, CREATE_ON_UPDATE)
}

/// Whether a deletion answers with the object.
pub(crate) fn returns_deleted(target: &ServedResource) -> bool {
    !target.custom && is_one_of(&target.resource, RETURNED_WHEN_DELETED)
}

/// Whether the first update of an object is a write even if it changes nothing.
pub(crate) fn is_rewritten_once(target: &ServedResource) -> bool {
    !target.custom && is_one_of(&target.resource, REWRITTEN_ONCE)
}

/// What the server sets in a new object: status, generation, finalizer of a namespace.
pub(crate) fn prepare_for_create(target: &ServedResource, object: &mut Value) {
    let resource = &target.resource;
    let keeps_status = is_one_of(resource, &[("", "nodes")]);
    if resource.has_status()
        && !keeps_status
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    if has_generation(target) {
        meta::set(object, "generation", 1);
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "namespaces") => prepare_namespace(object),
        ("", "pods") => {
            object["status"] = json!({"phase": "Pending", "qosClass": workloads::qos_class(object)});
        }
        ("", "persistentvolumes") => {
            let since = meta::text(object, "creationTimestamp").to_owned();
            object["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": since});
        }
        ("", "persistentvolumeclaims") => object["status"] = json!({"phase": "Pending"}),
        ("batch", "jobs") => workloads::add_job_labels(object),
        ("apps", "daemonsets") => workloads::set_template_generation(object, None),
        _ => {}
    }
    if !target.custom {
        defaults::complete(resource, object);
    }
}

/// What the server sets in an updated object: the status stays, changes increment the generation.
pub(crate) fn prepare_for_update(target: &ServedResource, object: &mut Value, old: &Value) {
    if target.resource.has_status() {
        keep_field(object, old, "status");
    }
    match (target.resource.group.as_str(), target.resource.plural.as_str()) {
        ("", "namespaces") => {
            let finalizers = old.pointer("/spec/finalizers").cloned();
            object["spec"] =
                finalizers.map_or_else(|| json!({}), |finalizers| json!({"finalizers": finalizers}));
            meta::label_namespace(object);
        }
        ("", "services") => services::keep_allocated(object, old),
        ("apps", "daemonsets") => workloads::set_template_generation(object, Some(old)),
        _ => {}
    }
    meta::keep(object, old, "generation");
    if has_generation(target) && is_spec_changed(target, object, old) {
        meta::set(object, "generation", meta::generation(old) + 1);
    }
}

/// What the server changes in an update of the status: it keeps the rest, and for some kinds the metadata too.
pub(crate) fn prepare_for_status_update(target: &ServedResource, object: &mut Value, old: &Value) {
    let status = object.get("status").cloned();
    let written = object["metadata"].take();
    *object = old.clone();
    let name = (target.resource.group.as_str(), target.resource.plural.as_str());
    if target.custom || METADATA_STAYS.contains(&name) {
        meta::of_mut(object).remove("managedFields");
        // Of a custom resource, kube-apiserver looks at no other UID than that of a replacement's precondition.
        let uid = (!target.custom).then_some("uid");
        for field in ["managedFields", "resourceVersion"].into_iter().chain(uid) {
            if let Some(value) = written.get(field) {
                meta::set(object, field, value.clone());
            }
        }
    } else {
        object["metadata"] = written;
        meta::keep(object, old, "generation");
        match name {
            ("apps", "deployments") => meta::keep(object, old, "labels"),
            ("apps", "daemonsets") => workloads::keep_template_generation(object, old),
            ("", "pods") => {
                meta::keep(object, old, "ownerReferences");
                meta::keep(object, old, "deletionTimestamp");
            }
            _ => {}
        }
    }
    match status {
        Some(status) => {
            object["status"] = status;
            if name == ("", "pods") && object["status"]["qosClass"].as_str().unwrap_or_default().is_empty() {
                object["status"]["qosClass"] = old["status"]["qosClass"].clone();
            }
        }
        None => {
            if let Some(fields) = object.as_object_mut() {
                fields.remove("status");
            }
        }
    }
}

/// What the server changes in an update of a namespace's finalizers: it keeps the status and sets the name label.
pub(crate) fn prepare_for_finalize(object: &mut Value, old: &Value) {
    keep_field(object, old, "status");
    let finalizers = object.pointer("/spec/finalizers").and_then(Value::as_array);
    let finalizers = finalizers.filter(|finalizers| !finalizers.is_empty());
    object["spec"] = finalizers.map_or_else(|| json!({}), |finalizers| json!({"finalizers": finalizers}));
    meta::label_namespace(object);
    meta::keep(object, old, "generation");
}

fn prepare_namespace(object: &mut Value) {
    let finalizers =
        object.pointer("/spec/finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut finalizers: Vec<Value> = finalizers;
    if !finalizers.iter().any(|finalizer| finalizer == "kubernetes") {
        finalizers.push("kubernetes".into());
    }
    object["spec"] = json!({"finalizers": finalizers});
    object["status"] = json!({"phase": "Active"});
    meta::label_namespace(object);
}

fn has_generation(target: &ServedResource) -> bool {
    target.custom || is_one_of(&target.resource, WITH_GENERATION)
}

fn is_spec_changed(target: &ServedResource, object: &Value, old: &Value) -> bool {
    let ignored = |field: &str| {
        matches!(field, "metadata" | "apiVersion" | "kind")
            || (field == "status" && target.resource.has_status())
    };
    let fields = |object: &Value| -> Vec<(String, Value)> {
        let all = object.as_object().into_iter().flatten();
        all.filter(|(field, _)| !ignored(field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect()
    };
    // Changed annotations of a deployment, such as its revision, increment the generation too.
    let annotations = |object: &Value| meta::of(object).get("annotations").cloned();
    let deployment =
        (target.resource.group.as_str(), target.resource.plural.as_str()) == ("apps", "deployments");
    fields(object) != fields(old) || (deployment && annotations(object) != annotations(old))
}

/// Gives an object the old value of a field, or none.
pub(crate) fn keep_field(object: &mut Value, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => object[field] = value.clone(),
        None => {
            if let Some(fields) = object.as_object_mut() {
                fields.remove(field);
            }
        }
    }
}

fn is_one_of(resource: &Resource, list: &[(&str, &str)]) -> bool {
    list.contains(&(resource.group.as_str(), resource.plural.as_str()))
}
