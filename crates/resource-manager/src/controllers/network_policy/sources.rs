//! Which changes trigger which Services.

use std::collections::BTreeMap;

use api::networking::{
    FROM_POLICY_POD_LABEL_SELECTOR, FROM_WORLD_TO_PORTS, NAMESPACE_SELECTORS,
    POD_LABEL_SELECTOR_NAMESPACE_ALIAS, SERVICE_NAME, SERVICE_NAMESPACE,
};
use controller::{Event, Request, Store, Watch};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy};
use kube::ResourceExt as _;

use super::{NamespaceMetadata, annotations, desired};

/// Annotations of a Service that allow access, apart from those that name ports.
const RELEVANT: [&str; 4] = [
    POD_LABEL_SELECTOR_NAMESPACE_ALIAS,
    NAMESPACE_SELECTORS,
    FROM_WORLD_TO_PORTS,
    FROM_POLICY_POD_LABEL_SELECTOR,
];

/// GRM-NPC-022: a Service triggers itself if inputs of its policies change.
pub(super) fn services(store: &Store<Service>) -> Watch<Service> {
    Watch::of(store).filter(|event| match event {
        Event::Update { old, new } => inputs_differ(old, new),
        Event::Create(_) | Event::Delete(_) | Event::Generic(_) => true,
    })
}

/// GRM-NPC-021: a policy triggers the Service that its labels name.
pub(super) fn policies(store: &Store<NetworkPolicy>) -> Watch<NetworkPolicy> {
    Watch::of(store).map_new(service_of)
}

/// GRM-NPC-019: an Ingress triggers its old and new backends.
pub(super) fn ingresses(store: &Store<Ingress>) -> Watch<Ingress> {
    let rules = |ingress: &Ingress| ingress.spec.as_ref().and_then(|spec| spec.rules.clone());
    let changed =
        move |event: &Event<Ingress>| event.old().is_none_or(|old| rules(old) != rules(event.object()));
    Watch::of(store).filter(changed).map(|ingress| {
        let namespace = ingress.namespace().unwrap_or_default();
        let names = desired::backends(ingress).map(|(name, _)| Request::new(namespace.clone(), name));
        names.collect::<Vec<_>>()
    })
}

/// GRM-NPC-008 and GRM-NPC-012: a namespace triggers all Services if it is created or deleted, or its labels change.
pub(super) fn namespaces(
    store: &Store<NamespaceMetadata>,
    services: &Store<Service>,
) -> Watch<NamespaceMetadata> {
    let services = services.clone();
    let changed = |event: &Event<NamespaceMetadata>| {
        event.old().is_none_or(|old| {
            let new = event.object();
            let is_going = |of: &NamespaceMetadata| of.metadata.deletion_timestamp.is_some();
            old.labels() != new.labels() || is_going(old) != is_going(new)
        })
    };
    Watch::of(store)
        .filter(changed)
        .map_new(move |_| services.list().iter().map(|service| Request::of(&**service)).collect::<Vec<_>>())
}

/// GRM-NPC-024: the Service that the labels of a policy name.
pub(super) fn service_of(policy: &NetworkPolicy) -> Option<Request> {
    let label = |key| policy.labels().get(key);
    Some(Request::new(label(SERVICE_NAMESPACE)?, label(SERVICE_NAME)?))
}

fn inputs_differ(old: &Service, new: &Service) -> bool {
    let going = |of: &Service| of.metadata.deletion_timestamp.is_some();
    let spec = |of: &Service| of.spec.as_ref().map(|spec| (spec.selector.clone(), spec.ports.clone()));
    (!going(old) && going(new)) || spec(old) != spec(new) || relevant(old) != relevant(new)
}

fn relevant(service: &Service) -> BTreeMap<&str, &str> {
    let annotations = service.annotations().iter();
    let counts = |key: &str| RELEVANT.contains(&key) || annotations::policy_name(key).is_some();
    annotations.filter(|(key, _)| counts(key)).map(|(key, value)| (key.as_str(), value.as_str())).collect()
}
