//! What the policies of a namespace depend on.

use api::extensions::Cluster;
use api::operator::runtime_cluster::RuntimeNetworking;
use k8s_openapi::api::core::v1::{EndpointSubset, Endpoints};

/// What the policies of a namespace depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    /// The namespace.
    pub(super) namespace: &'a str,
    /// The networks of the runtime cluster.
    pub(super) networks: &'a RuntimeNetworking,
    /// Addresses of the API server of the runtime cluster, inside of it.
    pub(super) endpoints: Option<&'a Endpoints>,
    /// Its addresses outside, if it has a host name there.
    pub(super) resolved: &'a [EndpointSubset],
    /// The Cluster of the namespace's name.
    pub(super) cluster: Option<&'a Cluster>,
}

/// The networks of a Shoot, in the order nodes, Pods, Services; without its networking, none. `None`: the Cluster has
/// no Shoot.
pub(super) fn shoot_networks(cluster: &Cluster) -> Option<Vec<&str>> {
    let networking = &cluster.spec.shoot.as_ref()?["spec"]["networking"];
    Some(["nodes", "pods", "services"].into_iter().filter_map(|name| networking[name].as_str()).collect())
}
