//! The policies of one connection: their names and specs.

use std::collections::BTreeMap;

use api::gardener::DESCRIPTION;
use api::kubernetes::METADATA_NAME;
use formats::selector::{LabelSelector, Requirement};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::{
    NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort,
    NetworkPolicySpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    LabelSelector as Selector, LabelSelectorRequirement, ObjectMeta,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt as _;

use super::labels_of;

/// Protocol of ports without one.
const DEFAULT_PROTOCOL: &str = "TCP";
/// Go's output for a missing port.
const NO_PORT: &str = "<nil>";

/// From Pods of a namespace to one port of the Pods of a Service.
pub(super) struct Connection<'a> {
    pub(super) service: &'a Service,
    pub(super) port: NetworkPolicyPort,
    pub(super) id: String,
    /// Namespace of the Pods that connect.
    pub(super) namespace: &'a str,
    /// Selects these Pods.
    pub(super) peers: LabelSelector,
    pub(super) is_through_ingress: bool,
}

/// From everywhere to ports of the Pods of a Service.
pub(super) struct Everywhere<'a> {
    pub(super) service: &'a Service,
    pub(super) ports: &'a [NetworkPolicyPort],
}

/// `<service>-<protocol>-<port>`, the protocol in lower case.
pub(super) fn policy_id(service: &str, port: &NetworkPolicyPort) -> String {
    format!("{service}-{}-{}", protocol(port).to_lowercase(), number(port))
}

impl Connection<'_> {
    /// GRM-NPC-006 and GRM-NPC-020: the policy that lets the Pods of the Service accept the connection.
    pub(super) fn ingress(&self) -> NetworkPolicy {
        let name = match (self.is_through_ingress, self.is_across()) {
            (true, _) => format!("ingress-to-{}-from-ingress-controller", self.id),
            (false, true) => format!("ingress-to-{}-from-{}", self.id, self.namespace),
            (false, false) => format!("ingress-to-{}", self.id),
        };
        let description = format!(
            "Allows ingress {} traffic to port {} for pods selected by the {} service selector from pods running in \
             namespace {} labeled with {}.",
            protocol(&self.port),
            number(&self.port),
            key(self.service),
            self.namespace,
            go_value(&self.peers),
        );
        let peer = NetworkPolicyPeer {
            pod_selector: Some(selector(&self.peers)),
            namespace_selector: self.is_across().then(|| named(self.namespace)),
            ip_block: None,
        };
        let rule =
            NetworkPolicyIngressRule { from: Some(vec![peer]), ports: Some(vec![defaulted(&self.port)]) };
        let spec = NetworkPolicySpec {
            pod_selector: Some(pods_of(self.service)),
            ingress: Some(vec![rule]),
            policy_types: Some(vec!["Ingress".to_owned()]),
            egress: None,
        };
        policy(self.service, &of(self.service), name, description, spec)
    }

    /// GRM-NPC-007 and GRM-NPC-020: the policy that lets the other Pods open the connection.
    pub(super) fn egress(&self) -> NetworkPolicy {
        let infix = if self.is_across() { format!("{}-", of(self.service)) } else { String::new() };
        let suffix = if self.is_through_ingress { "-from-ingress-controller" } else { "" };
        let name = format!("egress-to-{infix}{}{suffix}", self.id);
        let description = format!(
            "Allows egress {} traffic to port {} from pods running in namespace {} labeled with {} to pods selected by \
             the {} service selector.",
            protocol(&self.port),
            number(&self.port),
            self.namespace,
            go_value(&self.peers),
            key(self.service),
        );
        let peer = NetworkPolicyPeer {
            pod_selector: Some(pods_of(self.service)),
            namespace_selector: self.is_across().then(|| named(&of(self.service))),
            ip_block: None,
        };
        let rule = NetworkPolicyEgressRule { to: Some(vec![peer]), ports: Some(vec![defaulted(&self.port)]) };
        let spec = NetworkPolicySpec {
            pod_selector: Some(selector(&self.peers)),
            egress: Some(vec![rule]),
            policy_types: Some(vec!["Egress".to_owned()]),
            ingress: None,
        };
        policy(self.service, self.namespace, name, description, spec)
    }

    fn is_across(&self) -> bool {
        of(self.service) != self.namespace
    }
}

impl Everywhere<'_> {
    /// GRM-NPC-016: the policy that lets the Pods of the Service accept connections; without ports, on all ports.
    pub(super) fn ingress(&self) -> NetworkPolicy {
        let text = |port: &NetworkPolicyPort| match &port.protocol {
            Some(protocol) => format!("{protocol}/{}", number(port)),
            None => number(port),
        };
        let texts: Vec<String> = self.ports.iter().map(text).collect();
        let description = format!(
            "Allows ingress traffic from everywhere to ports [{}] for pods selected by the {} service selector.",
            texts.join(" "),
            key(self.service),
        );
        let ports: Vec<_> = self.ports.iter().map(defaulted).collect();
        let rule = NetworkPolicyIngressRule { from: None, ports: (!ports.is_empty()).then_some(ports) };
        let spec = NetworkPolicySpec {
            pod_selector: Some(pods_of(self.service)),
            ingress: Some(vec![rule]),
            policy_types: Some(vec!["Ingress".to_owned()]),
            egress: None,
        };
        let name = format!("ingress-to-{}-from-world", self.service.name_any());
        policy(self.service, &of(self.service), name, description, spec)
    }
}

fn policy(
    service: &Service,
    namespace: &str,
    name: String,
    description: String,
    spec: NetworkPolicySpec,
) -> NetworkPolicy {
    let metadata = ObjectMeta {
        name: Some(name),
        namespace: Some(namespace.to_owned()),
        labels: Some(BTreeMap::from(labels_of(service))),
        annotations: Some(BTreeMap::from([(DESCRIPTION.to_owned(), description)])),
        ..ObjectMeta::default()
    };
    NetworkPolicy { metadata, spec: Some(spec) }
}

fn of(service: &Service) -> String {
    service.namespace().unwrap_or_default()
}

fn key(service: &Service) -> String {
    format!("{}/{}", of(service), service.name_any())
}

/// Selects the Pods of a Service.
fn pods_of(service: &Service) -> Selector {
    let labels = service.spec.as_ref().and_then(|spec| spec.selector.clone());
    Selector { match_labels: labels, match_expressions: None }
}

/// Selects a namespace by name.
fn named(namespace: &str) -> Selector {
    let labels = BTreeMap::from([(METADATA_NAME.to_owned(), namespace.to_owned())]);
    Selector { match_labels: Some(labels), match_expressions: None }
}

fn selector(of: &LabelSelector) -> Selector {
    let requirement = |wanted: &Requirement| LabelSelectorRequirement {
        key: wanted.key.clone(),
        operator: wanted.operator.as_str().to_owned(),
        values: (!wanted.values.is_empty()).then(|| wanted.values.clone()),
    };
    let expressions: Vec<_> = of.match_expressions.iter().map(requirement).collect();
    Selector {
        match_labels: (!of.match_labels.is_empty()).then(|| of.match_labels.clone()),
        match_expressions: (!expressions.is_empty()).then_some(expressions),
    }
}

/// The struct as Go prints it: `{map[a:b] [{key In [v w]}]}`.
fn go_value(of: &LabelSelector) -> String {
    let labels: Vec<String> = of.match_labels.iter().map(|(key, value)| format!("{key}:{value}")).collect();
    let expressions = of.match_expressions.iter();
    let expressions: Vec<String> = expressions
        .map(|Requirement { key, operator, values }| {
            format!("{{{key} {} [{}]}}", operator.as_str(), values.join(" "))
        })
        .collect();
    format!("{{map[{}] [{}]}}", labels.join(" "), expressions.join(" "))
}

/// GRM-NPC-015: a port without a protocol uses TCP, the API server's default.
fn defaulted(port: &NetworkPolicyPort) -> NetworkPolicyPort {
    NetworkPolicyPort { protocol: Some(protocol(port).to_owned()), ..port.clone() }
}

fn protocol(port: &NetworkPolicyPort) -> &str {
    port.protocol.as_deref().unwrap_or(DEFAULT_PROTOCOL)
}

fn number(port: &NetworkPolicyPort) -> String {
    match &port.port {
        Some(IntOrString::Int(number)) => number.to_string(),
        Some(IntOrString::String(name)) => name.clone(),
        None => NO_PORT.to_owned(),
    }
}
