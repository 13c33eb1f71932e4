//! The initial objects: namespaces, roles, CRDs, and those that kube-apiserver writes when it starts.

pub(crate) mod post_start_hooks;

use std::net::SocketAddr;

use schema::Crd;
use serde_json::{Value, json};

use crate::access::authorization;
use crate::aggregation;
use crate::apply::{self, Lens};
use crate::call;
use crate::clock::rfc3339;
use crate::object::effects;
use crate::object::meta;
use crate::object::strategy;
use crate::state::{Authorization, ServerState};
use crate::store::Expect;

/// The field manager of the initial objects.
const MANAGER: &str = "kube-apiserver";

/// Writes all initial objects.
pub(crate) fn write(shared: &ServerState, namespaces: &[String], crds: &[Crd], advertised: SocketAddr) {
    let manager = shared.switches.post_start_hooks.then_some(MANAGER);
    for name in namespaces {
        write_object(shared, ("", "v1", "namespaces"), json!({"metadata": {"name": name}}), manager);
    }
    if shared.switches.authorization == Authorization::Rbac {
        for (resource, role) in authorization::bootstrap() {
            write_object(shared, resource, role, manager);
        }
    }
    for crd in crds {
        let resource = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        write_object(shared, resource, crd.json().clone(), None);
    }
    if shared.switches.post_start_hooks {
        post_start_hooks::write(shared, advertised);
        aggregation::sync_api_services(shared);
    }
}

/// Writes an initial object, unless an object of that name exists.
fn write_object(
    shared: &ServerState,
    (group, version, plural): (&str, &str, &str),
    mut object: Value,
    manager: Option<&str>,
) {
    let served = shared.registry.served();
    let Some(target) = served.target(group, version, plural) else {
        tracing::warn!(group, version, plural, "did not seed an object of a kind that is not served");
        return;
    };
    object["apiVersion"] = target.resource.api_version().into();
    object["kind"] = target.resource.kind.as_str().into();
    if let Some(manager) = manager {
        if plural == "namespaces" {
            meta::label_namespace(&mut object);
        }
        apply::record(&Lens::new(&served, &target, ""), None, &mut object, manager, shared.clock.now());
    }
    meta::set(&mut object, "uid", shared.ids.uid());
    meta::set(&mut object, "creationTimestamp", rfc3339(shared.clock.now()));
    strategy::prepare_for_create(&target, &mut object);
    let key = call::key(target.resource.namespaced, meta::namespace(&object), meta::name(&object));
    if let Err(status) = effects::prepare(&target, &mut object, shared.clock.now()) {
        tracing::error!(table = target.table, key, error = status.message, "failed to seed an object");
        return;
    }
    if shared.store.put(&target.table, &key, Expect::Absent, object).is_err() {
        tracing::warn!(table = target.table, key, "did not seed an object that is there already");
    }
}
