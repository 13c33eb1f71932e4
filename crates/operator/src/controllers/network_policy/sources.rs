//! Which changes trigger which namespaces.

use api::extensions::Cluster;
use api::operator::runtime_cluster::RuntimeNetworking;
use controller::source::{Requests, Source, Started};
use controller::{Event, Request, Store, Watch};
use k8s_openapi::api::core::v1::{Endpoints, Namespace};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::ResourceExt as _;
use tokio::sync::watch;

use super::facts::shoot_networks;
use super::policy::Policy;

/// A namespace triggers itself when it is written.
pub(super) fn namespaces(store: &Store<Namespace>) -> Watch<Namespace> {
    Watch::of(store).filter(|event| matches!(event, Event::Create(_) | Event::Update { .. }))
}

/// OPR-NPC-011: the addresses of the API server trigger all namespaces.
pub(super) fn endpoints(store: &Store<Endpoints>, namespaces: &Store<Namespace>) -> Watch<Endpoints> {
    let namespaces = namespaces.clone();
    Watch::of(store).map_new(move |_| all_namespaces(&namespaces))
}

/// OPR-NPC-008: a policy of ours triggers its namespace.
pub(super) fn policies(store: &Store<NetworkPolicy>) -> Watch<NetworkPolicy> {
    let is_ours = |event: &Event<NetworkPolicy>| {
        let name = event.object().name_any();
        Policy::ALL.iter().any(|policy| policy.name() == name)
    };
    Watch::of(store)
        .filter(is_ours)
        .map_new(|policy| [Request::new("", policy.namespace().unwrap_or_default())])
}

/// OPR-NPC-012: the networks of a Shoot trigger its namespace.
pub(super) fn clusters(store: &Store<Cluster>) -> Watch<Cluster> {
    let changed = |event: &Event<Cluster>| {
        event.old().is_none_or(|old| shoot_networks(old) != shoot_networks(event.object()))
    };
    Watch::of(store).filter(changed)
}

/// Triggers all namespaces when the networks of the runtime cluster are known, or change. OPR-NPR-001, OPR-NPR-003.
pub(super) struct NetworkChanges {
    pub(super) networks: watch::Receiver<Option<RuntimeNetworking>>,
    pub(super) namespaces: Store<Namespace>,
}

impl Source for NetworkChanges {
    fn describe(&self) -> String {
        "networks of the runtime cluster".to_owned()
    }

    fn start(mut self: Box<Self>, queue: &Requests) -> Started {
        let queue = queue.clone();
        let run = async move {
            while self.networks.changed().await.is_ok() {
                for request in all_namespaces(&self.namespaces) {
                    queue.add(request);
                }
            }
        };
        Started { synced: Box::pin(std::future::ready(())), run: Box::pin(run) }
    }
}

/// Requests for all namespaces: those that get no policy may still have some.
pub(super) fn all_namespaces(namespaces: &Store<Namespace>) -> Vec<Request> {
    namespaces.list().iter().map(|namespace| Request::of(&**namespace)).collect()
}
