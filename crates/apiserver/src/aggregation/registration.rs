//! The APIServices for versions of CRDs, which kube-apiserver creates, maintains and removes, and those of typed kinds.

use std::collections::BTreeMap;

use schema::TypedKind;
use serde_json::{Value, json};

use super::{CRDS, TABLE};
use crate::apply::{self, Lens};
use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::ServerState;
use crate::store::Expect;

/// The label of APIServices that the server maintains; `onstart` if it only creates them.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";

/// Creates, updates and removes APIServices so that they match the CRDs, if post-start hooks are enabled.
pub(crate) fn sync_api_services(shared: &ServerState) {
    if !shared.switches.post_start_hooks {
        return;
    }
    let mut wanted = crd_versions(shared);
    wanted.extend(typed_versions(shared));
    for ((group, version), (of_group, of_version)) in &wanted {
        let name = format!("{version}.{group}");
        let spec = json!({
            "group": group, "version": version, "groupPriorityMinimum": of_group, "versionPriority": of_version,
        });
        ensure_api_service(shared, &name, &spec);
    }
    let snapshot = shared.store.snapshot(TABLE);
    for service in snapshot.objects.values().filter(|service| is_managed(service.value())) {
        let text = |field: &str| service.value()["spec"][field].as_str().unwrap_or_default().to_owned();
        if !wanted.contains_key(&(text("group"), text("version"))) {
            remove_api_service(shared, meta::name(service.value()));
        }
    }
}

/// The versions of the typed kinds, with the priorities of group and version.
fn typed_versions(shared: &ServerState) -> BTreeMap<(String, String), (u32, u32)> {
    let served = shared.registry.served();
    let version = |kind: &TypedKind| {
        let resource = kind.resource();
        ((resource.group.clone(), resource.version.clone()), kind.priorities())
    };
    served.typed().map(version).collect()
}

/// The served versions of all CRDs, with the priorities of group and version.
fn crd_versions(shared: &ServerState) -> BTreeMap<(String, String), (u32, u32)> {
    const PRIORITIES: (u32, u32) = (1000, 100);
    let snapshot = shared.store.snapshot(CRDS);
    let versions_of = |definition: &Value| {
        let group = definition.pointer("/spec/group").and_then(Value::as_str).unwrap_or_default().to_owned();
        let versions =
            definition.pointer("/spec/versions").and_then(Value::as_array).cloned().unwrap_or_default();
        let served = versions.into_iter().filter(|version| version["served"] == true);
        served
            .filter_map(|version| Some(((group.clone(), version["name"].as_str()?.to_owned()), PRIORITIES)))
            .collect::<Vec<_>>()
    };
    snapshot.objects.values().flat_map(|definition| versions_of(definition.value())).collect()
}

/// Removes a maintained APIService; retries if it was changed concurrently.
fn remove_api_service(shared: &ServerState, name: &str) {
    while let Some(service) = shared.store.get(TABLE, name).filter(|service| is_managed(service.value())) {
        let expect = Expect::Revision(service.revision());
        if shared.store.remove(TABLE, name, expect, service.value().clone()).is_ok() {
            return;
        }
    }
}

/// Creates a missing APIService, or corrects its spec; retries if it was changed concurrently.
fn ensure_api_service(shared: &ServerState, name: &str, spec: &Value) {
    loop {
        let (expect, mut object) = match shared.store.get(TABLE, name) {
            None => (Expect::Absent, new_api_service(shared, name, spec)),
            Some(service) if is_managed(service.value()) && service.value()["spec"] != *spec => {
                (Expect::Revision(service.revision()), service.value().clone())
            }
            Some(_) => return,
        };
        object["spec"] = spec.clone();
        object["status"] = json!({"conditions": [{
            "type": "Available", "status": "True", "lastTransitionTime": rfc3339(shared.clock.now()),
            "reason": "Local", "message": "Local APIServices are always available",
        }]});
        if shared.store.put(TABLE, name, expect, object).is_ok() {
            return;
        }
    }
}

fn new_api_service(shared: &ServerState, name: &str, spec: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": name, "labels": {MANAGED: "true"}}, "spec": spec,
    });
    let served = shared.registry.served();
    if let Some(target) = served.target("apiregistration.k8s.io", "v1", "apiservices") {
        apply::record(
            &Lens::new(&served, &target, ""),
            None,
            &mut object,
            "kube-apiserver",
            shared.clock.now(),
        );
    }
    meta::set(&mut object, "uid", shared.ids.uid());
    meta::set(&mut object, "creationTimestamp", rfc3339(shared.clock.now()));
    object
}

fn is_managed(service: &Value) -> bool {
    service["metadata"]["labels"][MANAGED] == "true"
}
