//! What writes change beyond their object: CRDs add and remove kinds, and namespaces restrict their content.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::admission;
use crate::call::Call;
use crate::crd;
use crate::http::status::{GroupResource, Status};
use crate::object::meta;
use crate::object::removal::{self, DeleteOptions, DeletionEffect};
use crate::registry::ServedResource;
use crate::state::ServerState;
use crate::store::{Expect, Object};

const NAMESPACES: &str = "namespaces";
const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";

const POLICIES: [&str; 2] = [
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
];

/// Namespaces that cannot be deleted.
const IMMORTAL: &[&str] = &["default", "kube-system", "kube-public"];

/// Rejects a change of an object whose namespace does not exist.
pub(crate) fn admit_change(shared: &ServerState, call: &Call) -> Result<(), Status> {
    namespace(shared, call).map(drop)
}

/// Rejects a new object whose namespace does not exist or is terminating.
pub(crate) fn admit_to_namespace(shared: &ServerState, call: &Call, name: &str) -> Result<(), Status> {
    let Some(object) = namespace(shared, call)? else { return Ok(()) };
    if !meta::is_terminating(object.value()) {
        return Ok(());
    }
    Err(namespace_terminating(call.group_resource(), &call.path.namespace, name))
}

/// The error for a new object in a namespace that is being deleted.
pub(crate) fn namespace_terminating(of: GroupResource<'_>, namespace: &str, name: &str) -> Status {
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut status = Status::forbidden(of, name, &why);
    let message = format!("namespace {namespace} is being terminated");
    let cause =
        json!([{"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}]);
    status.details.insert("causes".to_owned(), cause);
    status
}

/// The namespace of a request, if it has one.
fn namespace(shared: &ServerState, call: &Call) -> Result<Option<Arc<Object>>, Status> {
    let name = call.path.namespace.as_str();
    if !call.target.resource.namespaced || name.is_empty() {
        return Ok(None);
    }
    let missing = || Status::not_found(GroupResource { group: "", resource: NAMESPACES }, name);
    shared.store.get(NAMESPACES, name).map(Some).ok_or_else(missing)
}

/// Rejects the deletion of a protected namespace.
pub(crate) fn admit_deletion(call: &Call, name: &str) -> Result<(), Status> {
    if call.target.table == NAMESPACES && IMMORTAL.contains(&name) {
        return Err(Status::forbidden(call.group_resource(), name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Completes and checks objects that configure the server: CRDs, webhook configurations, admission policies.
pub(crate) fn prepare(target: &ServedResource, object: &mut Value, now: Timestamp) -> Result<(), Status> {
    match target.table.as_str() {
        CRDS => crd::prepare(object, now),
        MUTATING | VALIDATING => admission::prepare(object),
        table if POLICIES.contains(&table) => admission::policies::check(object),
        _ => Ok(()),
    }
}

/// Completes a CRD by comparison with the other CRDs; returns warnings for the user.
pub(crate) fn compare_with_others(
    shared: &ServerState,
    target: &ServedResource,
    object: &mut Value,
) -> Vec<String> {
    match target.table.as_str() {
        CRDS => {
            let snapshot = shared.store.snapshot(CRDS);
            let others: Vec<&Value> = snapshot.objects.values().map(|other| other.value()).collect();
            crd::accept_names(object, &others, shared.clock.now());
            crd::warnings(object)
        }
        _ => Vec::new(),
    }
}

/// Whether a terminating object has no finalizers and no grace period left.
pub(crate) fn is_gone(target: &ServedResource, object: &Value) -> bool {
    let has_content = target.table == NAMESPACES && has_content_finalizers(object);
    let grace =
        meta::of(object).get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    meta::is_terminating(object) && meta::finalizers(object).is_empty() && grace == 0 && !has_content
}

/// Updates the registry after an object was written.
pub(crate) fn after_write(shared: &ServerState, target: &ServedResource, object: &Object) {
    if target.table != CRDS {
        return;
    }
    let object = object.value();
    if let Some(crd) = crd::read(object).filter(|_| crd::is_established(object)) {
        shared.registry.add(&crd);
    }
    if meta::is_terminating(object) {
        delete_custom_resources(shared, meta::name(object));
    }
}

/// Updates the registry after an object was removed.
pub(crate) fn after_removal(shared: &ServerState, target: &ServedResource, object: &Object) {
    if target.table == CRDS
        && let Some(crd) = crd::read(object.value())
    {
        shared.registry.remove(crd.group(), crd.plural());
    }
    if target.custom {
        let name = target.table.as_str();
        if is_terminating(shared, CRDS, name) {
            release_crd(shared, name);
        }
    }
}

fn is_terminating(shared: &ServerState, table: &str, name: &str) -> bool {
    shared.store.get(table, name).is_some_and(|object| meta::is_terminating(object.value()))
}

fn has_content_finalizers(namespace: &Value) -> bool {
    namespace.pointer("/spec/finalizers").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
}

fn delete_custom_resources(shared: &ServerState, name: &str) {
    let served = shared.registry.served();
    if let Some(target) = served.stored().iter().find(|target| target.custom && target.table == name) {
        delete_all(shared, target, "");
    }
    release_crd(shared, name);
}

/// Removes the CRD's finalizer if no custom resources are left.
fn release_crd(shared: &ServerState, name: &str) {
    let served = shared.registry.served();
    // Objects of an aggregated API server of this name are none of the CRD's.
    if !served.has_typed(name) && !shared.store.snapshot(name).objects.is_empty() {
        return;
    }
    let Some(target) = served.target("apiextensions.k8s.io", "v1", "customresourcedefinitions") else {
        return;
    };
    update_without_request(shared, &target, name, |crd| {
        let remaining: Vec<Value> = meta::finalizers(crd)
            .into_iter()
            .filter(|finalizer| *finalizer != crd::CLEANUP)
            .map(Value::from)
            .collect();
        meta::set(crd, "finalizers", remaining);
    });
}

/// Writes an object as terminating, then removes it; `None` if another write came first.
pub(crate) fn remove_gracefully(
    shared: &ServerState,
    (target, key): (&ServedResource, &str),
    expect: Expect,
    marked: Value,
) -> Option<Arc<Object>> {
    let written = shared.store.put(&target.table, key, expect, marked).ok()?;
    let expect = Expect::Revision(written.revision());
    let gone = shared.store.remove(&target.table, key, expect, written.value().clone()).ok()?;
    after_removal(shared, target, &gone);
    Some(gone)
}

/// Deletes all objects of a resource whose key has the prefix, without admission.
fn delete_all(shared: &ServerState, target: &ServedResource, prefix: &str) {
    let snapshot = shared.store.snapshot(&target.table);
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    for (key, _) in snapshot.range(prefix, None) {
        while let Some(object) = shared.store.get(&target.table, key) {
            let expect = Expect::Revision(object.revision());
            let done = match removal::effect(target, object.value(), &options, shared.clock.now()) {
                DeletionEffect::Unchanged => break,
                DeletionEffect::Mark(value) => shared.store.put(&target.table, key, expect, value).is_ok(),
                DeletionEffect::MarkAndRemove(value) => {
                    remove_gracefully(shared, (target, key), expect, value).is_some()
                }
                DeletionEffect::Remove(value) | DeletionEffect::RemoveReleased(value) => {
                    let gone = shared.store.remove(&target.table, key, expect, value);
                    if let Ok(object) = &gone {
                        after_removal(shared, target, object);
                    }
                    gone.is_ok()
                }
            };
            if done {
                break;
            }
        }
    }
}

/// Changes an object without a request; removes it if this was its last finalizer.
fn update_without_request(
    shared: &ServerState,
    target: &ServedResource,
    key: &str,
    change: impl Fn(&mut Value),
) {
    while let Some(object) = shared.store.get(&target.table, key) {
        let mut value = object.value().clone();
        change(&mut value);
        let expect = Expect::Revision(object.revision());
        if is_gone(target, &value) {
            if let Ok(gone) = shared.store.remove(&target.table, key, expect, object.value().clone()) {
                after_removal(shared, target, &gone);
                return;
            }
        } else if &value == object.value() || shared.store.put(&target.table, key, expect, value).is_ok() {
            return;
        }
    }
}
