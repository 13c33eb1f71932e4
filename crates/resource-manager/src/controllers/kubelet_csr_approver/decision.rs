//! Decides whether a kubelet's serving certificate is approved, or why not.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Node;

use super::request::CertificateSubject;

/// Prefix of the user names of nodes.
const USER_PREFIX: &str = "system:node:";
/// The group of all nodes.
const NODES: &str = "system:nodes";
/// Address types of a node that DNS names must match.
const DNS: [&str; 3] = ["Hostname", "InternalDNS", "ExternalDNS"];
/// Address types of a node that IP addresses must match.
const IP: [&str; 2] = ["InternalIP", "ExternalIP"];

/// Why a request is denied; the texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Denial {
    /// The requesting user is not a node.
    #[error("username {0:?} is not prefixed with {USER_PREFIX:?}")]
    User(String),
    /// The certificate would have no name and no address.
    #[error("no DNS names or IP addresses in the SANs found")]
    NoNames,
    /// The certificate would be for another user.
    #[error("common name in CSR does not match username")]
    CommonName,
    /// The certificate would be for other groups.
    #[error("organization in CSR does not match nodes group")]
    Organization,
    /// The node does not exist.
    #[error("could not find node object with name {0:?}")]
    NoNode(String),
    /// The node has no machine, or several.
    #[error("Expected exactly one machine in namespace {namespace:?} for node {node:?} but found {count}")]
    Machines {
        /// Namespace of the machines.
        namespace: String,
        /// Name of the node.
        node: String,
        /// How many there are.
        count: usize,
    },
    /// The DNS names are not the node's.
    #[error(
        "DNS names in CSR do not match addresses of type 'Hostname' or 'InternalDNS' or 'ExternalDNS' in node object"
    )]
    DnsNames,
    /// The IP addresses are not the node's.
    #[error("IP addresses in CSR do not match addresses of type 'InternalIP' or 'ExternalIP' in node object")]
    IpAddresses,
}

/// What the clusters say about the requesting node.
pub(super) struct NodeFacts {
    /// The node; `None` if it does not exist.
    pub(super) node: Option<Node>,
    /// How many machines the node has.
    pub(super) machines: usize,
}

/// GRM-CSR-002 to -005 and GRM-CSR-012: the name of the requesting node, according to the request.
///
/// # Errors
/// When the request is invalid in itself.
pub(super) fn node_name<'a>(user: &str, subject: &'a CertificateSubject) -> Result<&'a str, Denial> {
    if !user.starts_with(USER_PREFIX) {
        return Err(Denial::User(user.to_owned()));
    }
    if subject.dns_names.is_empty() && subject.ip_addresses.is_empty() {
        return Err(Denial::NoNames);
    }
    if subject.common_name != user {
        return Err(Denial::CommonName);
    }
    if subject.organizations != [NODES] {
        return Err(Denial::Organization);
    }
    Ok(&subject.common_name[USER_PREFIX.len()..])
}

/// GRM-CSR-001 and GRM-CSR-006 to -010: checks that the certificate has exactly the node's names and addresses.
///
/// # Errors
/// When it has others.
pub(super) fn check(
    namespace: &str,
    name: &str,
    subject: &CertificateSubject,
    facts: &NodeFacts,
) -> Result<(), Denial> {
    let Some(node) = &facts.node else { return Err(Denial::NoNode(name.to_owned())) };
    if facts.machines != 1 {
        let (namespace, node) = (namespace.to_owned(), name.to_owned());
        return Err(Denial::Machines { namespace, node, count: facts.machines });
    }
    if addresses(node, &DNS) != subject.dns_names {
        return Err(Denial::DnsNames);
    }
    if addresses(node, &IP) != subject.ip_addresses {
        return Err(Denial::IpAddresses);
    }
    Ok(())
}

fn addresses(node: &Node, types: &[&str]) -> BTreeSet<String> {
    let all = node.status.iter().flat_map(|status| status.addresses.iter().flatten());
    all.filter(|address| types.contains(&address.type_.as_str()))
        .map(|address| address.address.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn subject(name: &str, organizations: &[&str], dns: &[&str], ip: &[&str]) -> CertificateSubject {
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        CertificateSubject {
            common_name: name.to_owned(),
            organizations: organizations.iter().map(|text| (*text).to_owned()).collect(),
            dns_names: all(dns),
            ip_addresses: all(ip),
        }
    }

    const USER: &str = "system:node:n";

    #[rstest]
    #[case::good(USER, subject(USER, &[NODES], &["n"], &[]), Ok("n"))]
    #[case::an_address_is_enough(USER, subject(USER, &[NODES], &[], &["10.0.0.1"]), Ok("n"))]
    #[case::no_name("system:node:", subject("system:node:", &[NODES], &["n"], &[]), Ok(""))]
    #[case::no_node("bob", subject("bob", &[NODES], &["n"], &[]), Err(Denial::User("bob".to_owned())))]
    #[case::no_names(USER, subject("other", &[], &[], &[]), Err(Denial::NoNames))]
    #[case::another_name(USER, subject("system:node:m", &[], &["n"], &[]), Err(Denial::CommonName))]
    #[case::no_organization(USER, subject(USER, &[], &["n"], &[]), Err(Denial::Organization))]
    #[case::another_organization(USER, subject(USER, &["system:masters"], &["n"], &[]), Err(Denial::Organization))]
    #[case::two_organizations(USER, subject(USER, &[NODES, NODES], &["n"], &[]), Err(Denial::Organization))]
    fn the_request_names_the_node(
        #[case] user: &str,
        #[case] subject: CertificateSubject,
        #[case] want: Result<&str, Denial>,
    ) {
        assert_eq!(node_name(user, &subject), want);
    }

    const ADDRESSES: &[(&str, &str)] = &[
        ("Hostname", "n"),
        ("InternalDNS", "n.in"),
        ("ExternalDNS", "n.ex"),
        ("InternalIP", "10.0.0.1"),
        ("ExternalIP", "1.1.1.1"),
    ];
    const DNS_NAMES: &[&str] = &["n", "n.ex", "n.in"];
    const IP_ADDRESSES: &[&str] = &["1.1.1.1", "10.0.0.1"];

    fn not_one(count: usize) -> Denial {
        Denial::Machines { namespace: "shoot".to_owned(), node: "n".to_owned(), count }
    }

    #[rstest]
    #[case::good(true, 1, DNS_NAMES, IP_ADDRESSES, Ok(()))]
    #[case::no_node(false, 1, DNS_NAMES, IP_ADDRESSES, Err(Denial::NoNode("n".to_owned())))]
    #[case::no_machine(true, 0, DNS_NAMES, IP_ADDRESSES, Err(not_one(0)))]
    #[case::two_machines(true, 2, DNS_NAMES, IP_ADDRESSES, Err(not_one(2)))]
    #[case::a_name_fewer(true, 1, &["n", "n.ex"], IP_ADDRESSES, Err(Denial::DnsNames))]
    #[case::a_name_more(true, 1, &["n", "n.ex", "n.in", "m"], IP_ADDRESSES, Err(Denial::DnsNames))]
    #[case::an_address_fewer(true, 1, DNS_NAMES, &["10.0.0.1"], Err(Denial::IpAddresses))]
    #[case::an_address_more(true, 1, DNS_NAMES, &["10.0.0.1", "1.1.1.1", "::1"], Err(Denial::IpAddresses))]
    fn names_and_addresses_must_be_those_of_the_node(
        #[case] there: bool,
        #[case] machines: usize,
        #[case] dns: &[&str],
        #[case] ip: &[&str],
        #[case] want: Result<(), Denial>,
    ) {
        let addresses: Vec<_> =
            ADDRESSES.iter().map(|(kind, address)| json!({"type": kind, "address": address})).collect();
        let node =
            serde_json::from_value(json!({"metadata": {}, "status": {"addresses": addresses}})).unwrap();
        let facts = NodeFacts { node: Some(node).filter(|_| there), machines };
        assert_eq!(check("shoot", "n", &subject(USER, &[NODES], dns, ip), &facts), want);
    }

    #[test]
    fn denials_have_the_originals_texts() {
        assert_eq!(
            Denial::User("bob".to_owned()).to_string(),
            r#"username "bob" is not prefixed with "system:node:""#
        );
        let message = r#"Expected exactly one machine in namespace "shoot" for node "n" but found 2"#;
        assert_eq!(not_one(2).to_string(), message);
    }
}
