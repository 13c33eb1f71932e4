//! Where the Pods that a policy is about may connect to.

use std::net::IpAddr;

use api::kubernetes::METADATA_NAME;
use k8s_openapi::api::core::v1::EndpointSubset;
use k8s_openapi::api::networking::v1::{
    IPBlock, NetworkPolicyEgressRule, NetworkPolicyPeer, NetworkPolicyPort,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::facts::{Facts, shoot_networks};
use super::policy::pods;
use crate::network::{Network, OffsetError};

/// Private networks (RFC 1918) and carrier-grade NAT (RFC 6598).
const PRIVATE: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
const EVERYWHERE: &str = "0.0.0.0/0";
/// Ports of DNS servers: that of their Services, and that of CoreDNS' Pods.
const DNS_PORTS: [i32; 2] = [53, 8053];
/// Offset of the address of the DNS Service in the network of Services.
const DNS_OFFSET: u128 = 10;
/// Address of the DNS cache of each node.
const NODE_LOCAL_DNS: &str = "169.254.20.10/32";
/// Label of the Pods of DNS servers, and its values.
const DNS_LABEL: &str = "k8s-app";
const DNS_SERVERS: [&str; 2] = ["kube-dns", "node-local-dns"];
/// Prefix of a namespace with the control plane of a Shoot.
const SHOOT_PREFIX: &str = "shoot-";

/// Why the rules of a policy are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EgressError {
    /// The API server of the runtime cluster is not registered.
    #[error("Endpoints \"kubernetes\" not found")]
    Endpoints,
    /// The namespace has no Cluster.
    #[error("Cluster.extensions.gardener.cloud {0:?} not found")]
    Cluster(String),
    /// The Cluster of the namespace has no Shoot.
    #[error("cluster {0:?} has no shoot")]
    Shoot(String),
    /// A text is no network.
    #[error("invalid CIDR address: {0}")]
    Cidr(String),
    /// The network of Services has no address for the DNS Service.
    #[error("cannot calculate CoreDNS ClusterIP: {0}")]
    Dns(#[from] OffsetError),
}

/// To the addresses of the runtime cluster's API server. OPR-NPC-004.
pub(super) fn to_api_server(facts: &Facts<'_>) -> Result<Vec<NetworkPolicyEgressRule>, EgressError> {
    let endpoints = facts.endpoints.ok_or(EgressError::Endpoints)?;
    let subsets = endpoints.subsets.iter().flatten().chain(facts.resolved);
    Ok(subsets.filter_map(to_subset).collect())
}

/// To everywhere but private and blocked networks.
pub(super) fn to_public_networks(facts: &Facts<'_>) -> Vec<NetworkPolicyEgressRule> {
    let except = PRIVATE.into_iter().chain(facts.networks.block_cidrs.iter().map(String::as_str));
    vec![to_peers(vec![block(EVERYWHERE, except)])]
}

/// To private networks but for those of the runtime cluster, and of the Shoot of the namespace. OPR-NPC-006.
pub(super) fn to_private_networks(facts: &Facts<'_>) -> Result<Vec<NetworkPolicyEgressRule>, EgressError> {
    let networks = facts.networks;
    let mut except = vec![networks.pods.as_str(), networks.services.as_str()];
    except.extend(networks.block_cidrs.iter().map(String::as_str));
    except.extend(networks.nodes.as_deref());
    if facts.namespace.starts_with(SHOOT_PREFIX) {
        except.extend(of_shoot(facts)?);
    }
    Ok(vec![to_peers(blocks(&PRIVATE, &except)?)])
}

/// To networks that are blocked for others.
pub(super) fn to_blocked_cidrs(facts: &Facts<'_>) -> Vec<NetworkPolicyEgressRule> {
    let blocked = facts.networks.block_cidrs.iter();
    blocked.map(|cidr| to_peers(vec![block(cidr, [])])).collect()
}

/// To the DNS servers of the runtime cluster.
pub(super) fn to_dns(facts: &Facts<'_>) -> Result<Vec<NetworkPolicyEgressRule>, EgressError> {
    let service = Network::of(parse(&facts.networks.services)?.address_at(DNS_OFFSET)?);
    let servers = DNS_SERVERS.into_iter().map(dns_server);
    let addresses = [block(&service.to_string(), []), block(NODE_LOCAL_DNS, [])];
    let ports = DNS_PORTS.into_iter().flat_map(|number| [port(number, "UDP"), port(number, "TCP")]);
    let to = servers.chain(addresses).collect();
    Ok(vec![NetworkPolicyEgressRule { to: Some(to), ports: Some(ports.collect()) }])
}

/// To the networks of the Shoot but for blocked ones. A Shoot without networks has no rule: one without peers would
/// allow everything. OPR-NPC-007.
pub(super) fn to_shoot_networks(facts: &Facts<'_>) -> Result<Vec<NetworkPolicyEgressRule>, EgressError> {
    let blocked: Vec<&str> = facts.networks.block_cidrs.iter().map(String::as_str).collect();
    let mut networks = Vec::new();
    for network in of_shoot(facts)? {
        networks.push(parse(network)?.to_string());
    }
    let networks: Vec<&str> = networks.iter().map(String::as_str).collect();
    let peers = blocks(&networks, &blocked)?;
    Ok(if peers.is_empty() { Vec::new() } else { vec![to_peers(peers)] })
}

fn of_shoot<'a>(facts: &Facts<'a>) -> Result<Vec<&'a str>, EgressError> {
    let name = || facts.namespace.to_owned();
    let cluster = facts.cluster.ok_or_else(|| EgressError::Cluster(name()))?;
    shoot_networks(cluster).ok_or_else(|| EgressError::Shoot(name()))
}

/// To ready addresses. One that is there twice counts once; a subset without any has no rule, because one without peers
/// would allow everything.
fn to_subset(subset: &EndpointSubset) -> Option<NetworkPolicyEgressRule> {
    let mut cidrs: Vec<String> = Vec::new();
    for address in subset.addresses.iter().flatten() {
        let cidr = match address.ip.parse::<IpAddr>() {
            Ok(address) => Network::of(address).to_string(),
            Err(_) => format!("{}/32", address.ip),
        };
        if !cidrs.contains(&cidr) {
            cidrs.push(cidr);
        }
    }
    let ports = subset.ports.iter().flatten();
    let ports: Vec<_> =
        ports.map(|found| port(found.port, found.protocol.as_deref().unwrap_or("TCP"))).collect();
    let to: Vec<_> = cidrs.iter().map(|cidr| block(cidr, [])).collect();
    (!to.is_empty())
        .then(|| NetworkPolicyEgressRule { to: Some(to), ports: (!ports.is_empty()).then_some(ports) })
}

fn to_peers(peers: Vec<NetworkPolicyPeer>) -> NetworkPolicyEgressRule {
    NetworkPolicyEgressRule { to: Some(peers), ports: None }
}

/// Each network but for those of the others that are a part of it.
fn blocks(networks: &[&str], others: &[&str]) -> Result<Vec<NetworkPolicyPeer>, EgressError> {
    let mut parsed = Vec::new();
    for other in others {
        parsed.push((*other, parse(other)?));
    }
    let peer = |network: &&str| -> Result<NetworkPolicyPeer, EgressError> {
        let whole = parse(network)?;
        let parts = parsed.iter().filter(|(_, other)| whole.has_part(*other)).map(|(text, _)| *text);
        Ok(block(network, parts))
    };
    networks.iter().map(peer).collect()
}

fn block<'a>(cidr: &str, except: impl IntoIterator<Item = &'a str>) -> NetworkPolicyPeer {
    let except: Vec<String> = except.into_iter().map(str::to_owned).collect();
    let block = IPBlock { cidr: cidr.to_owned(), except: (!except.is_empty()).then_some(except) };
    NetworkPolicyPeer { ip_block: Some(block), ..NetworkPolicyPeer::default() }
}

fn dns_server(value: &str) -> NetworkPolicyPeer {
    let requirement = LabelSelectorRequirement {
        key: DNS_LABEL.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![value.to_owned()]),
    };
    let servers = LabelSelector { match_labels: None, match_expressions: Some(vec![requirement]) };
    NetworkPolicyPeer {
        namespace_selector: Some(pods(METADATA_NAME, "kube-system")),
        pod_selector: Some(servers),
        ip_block: None,
    }
}

fn port(number: i32, protocol: &str) -> NetworkPolicyPort {
    NetworkPolicyPort {
        port: Some(IntOrString::Int(number)),
        protocol: Some(protocol.to_owned()),
        end_port: None,
    }
}

fn parse(text: &str) -> Result<Network, EgressError> {
    Network::parse(text).ok_or_else(|| EgressError::Cidr(text.to_owned()))
}
