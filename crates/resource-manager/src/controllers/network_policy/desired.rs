//! The desired policies of a Service.

use std::collections::{BTreeMap, BTreeSet};

use api::gardener::NETWORK_POLICY_ALLOWED;
use api::networking::{POD_LABEL_SELECTOR_NAMESPACE_ALIAS, TO_PREFIX};
use formats::selector::LabelSelector;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy, NetworkPolicyPort, ServiceBackendPort};
use kube::ResourceExt as _;

use super::State;
use super::annotations::{self, AnnotationError};
use super::policy::{Connection, Everywhere, policy_id};
use crate::config::NetworkPolicyConfig;

/// All policies, each once, ordered by namespace and name.
pub(super) fn policies(
    config: &NetworkPolicyConfig,
    service: &Service,
    state: &State,
) -> Result<Vec<NetworkPolicy>, AnnotationError> {
    let annotations = service.annotations();
    let namespaces = relevant(service, state)?;
    let mut found = BTreeMap::new();
    let mut add = |policy: NetworkPolicy| {
        found.insert((policy.namespace().unwrap_or_default(), policy.name_any()), policy);
    };
    let ports = own_ports(service).map(|port| (String::new(), port));
    for (selector, port) in ports.chain(annotations::from_policies(annotations)?) {
        for namespace in &namespaces {
            let connection = labelled(service, &selector, &port, namespace);
            add(connection.ingress());
            add(connection.egress());
        }
    }
    if let Some(ports) = annotations::from_everywhere(annotations)? {
        add(Everywhere { service, ports: &ports }.ingress());
    }
    for connection in from_ingress_controller(config, service, state) {
        add(connection.ingress());
        add(connection.egress());
    }
    Ok(found.into_values().collect())
}

/// GRM-NPC-010 and GRM-NPC-012: the Service's namespace, and others that its annotation selects and that are not
/// terminating.
fn relevant(service: &Service, state: &State) -> Result<BTreeSet<String>, AnnotationError> {
    let selectors = annotations::namespace_selectors(service.annotations())?;
    let selected = state.namespaces.iter().filter(|namespace| {
        namespace.metadata.deletion_timestamp.is_none()
            && selectors.iter().any(|selector| selector.matches(namespace.labels()))
    });
    let names = selected.map(|namespace| namespace.name_any());
    Ok(names.chain(service.namespace()).collect())
}

fn own_ports(service: &Service) -> impl Iterator<Item = NetworkPolicyPort> {
    let ports = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten());
    ports.map(|port| NetworkPolicyPort {
        protocol: port.protocol.clone(),
        port: port.target_port.clone(),
        end_port: None,
    })
}

/// GRM-NPC-005, GRM-NPC-011 and GRM-NPC-013: a connection from Pods with a label.
fn labelled<'a>(
    service: &'a Service,
    selector: &str,
    port: &NetworkPolicyPort,
    namespace: &'a str,
) -> Connection<'a> {
    let own = policy_id(&service.name_any(), port);
    let (id, label) = if selector.is_empty() {
        (own.clone(), own.as_str())
    } else {
        (format!("{own}-via-{selector}"), selector)
    };
    let of = service.namespace().unwrap_or_default();
    let infix = if of == namespace {
        String::new()
    } else {
        let alias = service.annotations().get(POD_LABEL_SELECTOR_NAMESPACE_ALIAS);
        format!("{}-", alias.unwrap_or(&of))
    };
    let label = (format!("{TO_PREFIX}{infix}{label}"), NETWORK_POLICY_ALLOWED.to_owned());
    let peers = LabelSelector { match_labels: BTreeMap::from([label]), ..LabelSelector::default() };
    Connection { service, port: port.clone(), id, namespace, peers, is_through_ingress: false }
}

/// GRM-NPC-017, GRM-NPC-018, GRM-NPC-027 and GRM-NPC-028: connections from the ingress controller, for Ingresses with
/// the Service as backend.
fn from_ingress_controller<'a>(
    config: &'a NetworkPolicyConfig,
    service: &'a Service,
    state: &State,
) -> Vec<Connection<'a>> {
    let Some(controller) = &config.ingress_controller_selector else { return Vec::new() };
    let name = service.name_any();
    let backends = state.ingresses.iter().flat_map(|ingress| backends(ingress));
    let ports = backends.filter(|(of, _)| *of == name).filter_map(|(_, port)| backend_port(service, port));
    ports
        .map(|port| Connection {
            id: policy_id(&name, &port),
            service,
            port,
            namespace: &controller.namespace,
            peers: controller.pod_selector.clone(),
            is_through_ingress: true,
        })
        .collect()
}

/// Names and ports of the Services that are backends of an Ingress.
pub(super) fn backends(ingress: &Ingress) -> impl Iterator<Item = (&str, Option<&ServiceBackendPort>)> {
    let rules = ingress.spec.iter().flat_map(|spec| spec.rules.iter().flatten());
    let paths = rules.filter_map(|rule| rule.http.as_ref()).flat_map(|http| &http.paths);
    let services = paths.filter_map(|path| path.backend.service.as_ref());
    services.map(|service| (service.name.as_str(), service.port.as_ref()))
}

/// The first port of the Service with the backend's name or number; no name and an empty name are the same.
fn backend_port(service: &Service, backend: Option<&ServiceBackendPort>) -> Option<NetworkPolicyPort> {
    let text = |name: Option<&String>| name.cloned().unwrap_or_default();
    let name = text(backend.and_then(|backend| backend.name.as_ref()));
    let number = backend.and_then(|backend| backend.number).unwrap_or_default();
    let mut ports = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten());
    let port = ports.find(|port| text(port.name.as_ref()) == name || port.port == number)?;
    Some(NetworkPolicyPort {
        protocol: port.protocol.clone(),
        port: port.target_port.clone(),
        end_port: None,
    })
}
