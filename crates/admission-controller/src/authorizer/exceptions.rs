//! Objects that a client needs before the graph knows them, and those in the namespace of its seed.

use super::{AccessDecision, List, ResourceAttributes, only};
use crate::bootstrapping::{
    BINDING_PREFIX, TOKEN_NAMESPACE, managed_seed_of_binding, service_account, token_secret,
};
use crate::seed_identity::SeedClient;
use crate::webhooks::seed_restriction::LEADER_ELECTION;

const GARDEN_NAMESPACE: &str = "garden";
const LEASE_VERBS: [&str; 8] =
    ["create", "get", "list", "watch", "update", "patch", "delete", "deletecollection"];

/// The answer for such an object; `None` if the table decides. ADM-AUT-009, ADM-AUT-010.
pub(super) fn decide(client: &SeedClient, attributes: &ResourceAttributes) -> Option<AccessDecision> {
    let is_exception = match (attributes.group.as_str(), attributes.resource.as_str()) {
        ("coordination.k8s.io", "leases") if client.is_extension() => return Some(lease(client, attributes)),
        ("coordination.k8s.io", "leases") => {
            attributes.name == LEADER_ELECTION
                && ["create", "get", "list", "watch", "update"].contains(&attributes.verb.as_str())
        }
        ("", "secrets") => secret(client, attributes),
        ("rbac.authorization.k8s.io", "clusterrolebindings") if !client.is_extension() => {
            attributes.verb == "delete"
                && attributes.name.starts_with(BINDING_PREFIX)
                && managed_seed_of_binding(&attributes.name) == (GARDEN_NAMESPACE, client.seed.as_str())
        }
        ("", "serviceaccounts") if !client.is_extension() => {
            let is_own = attributes.verb == "delete"
                && attributes.namespace == GARDEN_NAMESPACE
                && attributes.name == service_account(&client.seed);
            is_own || attributes.namespace == client.namespace()
        }
        _ => false,
    };
    is_exception.then_some(AccessDecision::Allow)
}

/// An extension has Leases in the namespace of its seed, and no others.
fn lease(client: &SeedClient, attributes: &ResourceAttributes) -> AccessDecision {
    if attributes.namespace != client.namespace() {
        return AccessDecision::NoOpinion("lease object is not in seed namespace".to_owned());
    }
    if LEASE_VERBS.contains(&attributes.verb.as_str()) {
        return AccessDecision::Allow;
    }
    only(format_args!("verbs are allowed for this resource type: {}", List(&[&LEASE_VERBS])))
}

/// A client reads the Secrets of its seed's namespace, and deletes the token by which it got its certificate.
fn secret(client: &SeedClient, attributes: &ResourceAttributes) -> bool {
    let reads = ["get", "list", "watch"].contains(&attributes.verb.as_str());
    if reads && attributes.namespace == client.namespace() {
        return true;
    }
    attributes.verb == "delete"
        && attributes.namespace == TOKEN_NAMESPACE
        && attributes.name == token_secret(GARDEN_NAMESPACE, &client.seed)
}
