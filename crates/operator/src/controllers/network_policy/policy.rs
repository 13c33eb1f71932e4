//! The policies of a namespace: which of them it gets, and what they allow.

use std::collections::BTreeMap;

use api::gardener::{
    DESCRIPTION, EXPOSURE_CLASS_HANDLER, NETWORK_POLICY_ALLOWED, ROLE, ROLE_EXTENSION, ROLE_ISTIO_INGRESS,
    ROLE_ISTIO_SYSTEM, ROLE_SHOOT,
};
use api::kubernetes::METADATA_NAME;
use api::networking::{
    TO_BLOCKED_CIDRS, TO_DNS, TO_PRIVATE_NETWORKS, TO_PUBLIC_NETWORKS, TO_RUNTIME_API_SERVER,
    TO_SHOOT_NETWORKS,
};
use formats::selector::LabelSelector;
use k8s_openapi::api::networking::v1::{NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicySpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector as Selector, ObjectMeta};

use super::egress::{self, EgressError};
use super::facts::Facts;
use crate::controllers::GARDEN_NAMESPACE;

/// A policy of this controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    DenyAll,
    RuntimeApiServer,
    PublicNetworks,
    PrivateNetworks,
    BlockedCidrs,
    Dns,
    ShootNetworks,
}

impl Policy {
    /// All policies, in the order in which they are written.
    pub(super) const ALL: [Self; 7] = [
        Self::DenyAll,
        Self::RuntimeApiServer,
        Self::PublicNetworks,
        Self::PrivateNetworks,
        Self::BlockedCidrs,
        Self::Dns,
        Self::ShootNetworks,
    ];

    /// Its name in each namespace.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DenyAll => "deny-all",
            Self::RuntimeApiServer => "allow-to-runtime-apiserver",
            Self::PublicNetworks => "allow-to-public-networks",
            Self::PrivateNetworks => "allow-to-private-networks",
            Self::BlockedCidrs => "allow-to-blocked-cidrs",
            Self::Dns => "allow-to-dns",
            Self::ShootNetworks => "allow-to-shoot-networks",
        }
    }

    /// Whether a namespace with these labels gets it. OPR-NPC-001, OPR-NPC-002.
    pub(super) fn is_for(self, labels: &BTreeMap<String, String>, additional: &[LabelSelector]) -> bool {
        let roles: &[&str] = match self {
            Self::DenyAll | Self::Dns => &[ROLE_SHOOT, ROLE_ISTIO_SYSTEM, ROLE_ISTIO_INGRESS, ROLE_EXTENSION],
            Self::RuntimeApiServer => &[ROLE_SHOOT, ROLE_ISTIO_SYSTEM, ROLE_EXTENSION],
            Self::PublicNetworks | Self::PrivateNetworks | Self::BlockedCidrs => {
                &[ROLE_SHOOT, ROLE_EXTENSION]
            }
            Self::ShootNetworks => &[ROLE_SHOOT],
        };
        let label = |key: &str| labels.get(key).map(String::as_str);
        if label(ROLE).is_some_and(|role| roles.contains(&role)) {
            return true;
        }
        let has_gateway =
            matches!(self, Self::DenyAll | Self::Dns) && labels.contains_key(EXPOSURE_CLASS_HANDLER);
        let is_garden = label(METADATA_NAME) == Some(GARDEN_NAMESPACE);
        let is_additional = || additional.iter().any(|selector| selector.matches(labels));
        has_gateway || (self != Self::ShootNetworks && (is_garden || is_additional()))
    }

    /// The policy of a namespace. OPR-NPC-003 to -007.
    ///
    /// # Errors
    /// When something that it depends on is missing or not valid.
    pub(super) fn build(self, facts: &Facts<'_>) -> Result<NetworkPolicy, EgressError> {
        let spec = match self.label() {
            None => NetworkPolicySpec {
                pod_selector: Some(Selector::default()),
                policy_types: Some(vec!["Ingress".to_owned(), "Egress".to_owned()]),
                ..NetworkPolicySpec::default()
            },
            Some(label) => NetworkPolicySpec {
                pod_selector: Some(pods(label, NETWORK_POLICY_ALLOWED)),
                egress: Some(self.egress(facts)?).filter(|rules| !rules.is_empty()),
                policy_types: Some(vec!["Egress".to_owned()]),
                ingress: None,
            },
        };
        let metadata = ObjectMeta {
            name: Some(self.name().to_owned()),
            namespace: Some(facts.namespace.to_owned()),
            annotations: Some(BTreeMap::from([(DESCRIPTION.to_owned(), self.description())])),
            ..ObjectMeta::default()
        };
        Ok(NetworkPolicy { metadata, spec: Some(spec) })
    }

    /// The label of the Pods that it is about; `None`: all Pods.
    fn label(self) -> Option<&'static str> {
        match self {
            Self::DenyAll => None,
            Self::RuntimeApiServer => Some(TO_RUNTIME_API_SERVER),
            Self::PublicNetworks => Some(TO_PUBLIC_NETWORKS),
            Self::PrivateNetworks => Some(TO_PRIVATE_NETWORKS),
            Self::BlockedCidrs => Some(TO_BLOCKED_CIDRS),
            Self::Dns => Some(TO_DNS),
            Self::ShootNetworks => Some(TO_SHOOT_NETWORKS),
        }
    }

    fn egress(self, facts: &Facts<'_>) -> Result<Vec<NetworkPolicyEgressRule>, EgressError> {
        match self {
            Self::DenyAll => Ok(Vec::new()),
            Self::RuntimeApiServer => egress::to_api_server(facts),
            Self::PublicNetworks => Ok(egress::to_public_networks(facts)),
            Self::PrivateNetworks => egress::to_private_networks(facts),
            Self::BlockedCidrs => Ok(egress::to_blocked_cidrs(facts)),
            Self::Dns => egress::to_dns(facts),
            Self::ShootNetworks => egress::to_shoot_networks(facts),
        }
    }

    /// The original's words.
    fn description(self) -> String {
        let pods = self.label().map(|label| format!("pods labeled with '{label}={NETWORK_POLICY_ALLOWED}'"));
        let pods = pods.unwrap_or_default();
        match self {
            Self::DenyAll => "Disables all ingress and egress traffic into/from this namespace.".to_owned(),
            Self::RuntimeApiServer => format!(
                "Allows egress traffic from {pods} to the endpoints in the default namespace of the kube-apiserver of the \
                 runtime cluster."
            ),
            Self::PublicNetworks => format!(
                "Allows egress from {pods} to all public network IPs, except for private networks (RFC1918), carrier-grade \
                 NAT (RFC6598), and explicitly blocked addresses configured by human operators. In practice, this blocks \
                 egress traffic to all networks in the cluster and only allows egress traffic to public IPv4 addresses."
            ),
            Self::PrivateNetworks => format!(
                "Allows egress from {pods} to the private networks (RFC1918) and carrier-grade NAT (RFC6598), except for \
                 cluster-specific networks."
            ),
            Self::BlockedCidrs => format!(
                "Allows egress from {pods} to explicitly blocked addresses configured by human operators."
            ),
            Self::Dns => format!(
                "Allows egress from {pods} to DNS running in 'kube-system'. In practice, most of the pods which require \
                 network egress need this label."
            ),
            Self::ShootNetworks => format!(
                "Allows egress from {pods} to IPv4 blocks belonging to the shoot networks. In practice, this should be used \
                 by components which use VPN tunnel to communicate to pods in the shoot cluster."
            ),
        }
    }
}

/// Selects what has a label.
pub(super) fn pods(key: &str, value: &str) -> Selector {
    let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    Selector { match_labels: Some(labels), match_expressions: None }
}
