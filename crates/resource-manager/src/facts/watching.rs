//! Watches that fill mirrors and survive all failures.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use controller::store::ConstantBackoff;
use futures::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1 as core;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, DefaultBackoff, Event};
use kube::{Api, Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;

use super::kinds::{self, Autoscaler, Availability, Node, Scales, SpecApi};
use super::mirror::WatchScope;
use crate::toleration::Taint;
use crate::webhooks::high_availability_config::Namespace;

/// Fills `scope` with the annotations of Namespaces that concern workload; only their metadata is read.
pub(super) async fn namespaces(client: Client, scope: Arc<WatchScope<Arc<Namespace>>>) {
    let api: Api<PartialObjectMeta<core::Namespace>> = Api::all(client);
    let objects = watcher::watcher(api, watcher::Config::default());
    let reduce = |namespace: PartialObjectMeta<core::Namespace>| {
        let annotations = namespace.annotations();
        Some(Arc::new(Namespace::read(|key| annotations.get(key).map(String::as_str))))
    };
    follow(objects, DefaultBackoff::default(), &scope, Availability::Required, reduce, |_| ()).await;
}

/// Fills `scope` with the automount settings of ServiceAccounts.
pub(super) async fn service_accounts(
    client: Client,
    namespace: String,
    scope: Arc<WatchScope<Option<bool>>>,
) {
    let api: Api<core::ServiceAccount> =
        if namespace.is_empty() { Api::all(client) } else { Api::namespaced(client, &namespace) };
    let objects = watcher::watcher(api, watcher::Config::default());
    let reduce = |account: core::ServiceAccount| Some(account.automount_service_account_token);
    follow(objects, DefaultBackoff::default(), &scope, Availability::Required, reduce, |_| ()).await;
}

/// Fills `scope` with the targets of autoscalers.
pub(super) async fn autoscalers<S>(
    api: SpecApi<S>,
    scope: Arc<WatchScope<Autoscaler>>,
    availability: Availability,
) where
    S: Scales + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let objects = watcher::watcher(api, watcher::Config::default());
    let reduce = |object: kinds::Spec<S>| object.spec.autoscaler();
    match availability {
        Availability::Required => {
            follow(objects, DefaultBackoff::default(), &scope, availability, reduce, |_| ()).await;
        }
        Availability::MayBeAbsent => {
            follow(objects, ConstantBackoff, &scope, availability, reduce, |_| ()).await;
        }
    }
}

/// Fills `scope` with the taints of the Nodes that have all labels of `selector`; notifies `refresh` of every change.
///
/// GRM-SCC-006, GRM-SCC-007.
pub(super) async fn nodes(
    client: Client,
    selector: BTreeMap<String, String>,
    scope: Arc<WatchScope<Box<[Taint]>>>,
    refresh: impl Fn(&WatchScope<Box<[Taint]>>) + Send,
) {
    let labels: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let config = watcher::Config::default().labels(&labels.join(","));
    let objects = watcher::watcher(kinds::nodes(client), config);
    let reduce = |node: kinds::Spec<Node>| Some(node.spec.taints.into());
    follow(objects, DefaultBackoff::default(), &scope, Availability::Required, reduce, refresh).await;
}

/// Applies the events of a watch to `scope`, reduced; ends only with the watch.
async fn follow<K, T>(
    objects: impl Stream<Item = watcher::Result<Event<K>>> + Send,
    backoff: impl Backoff,
    scope: &WatchScope<T>,
    availability: Availability,
    reduce: impl Fn(K) -> Option<T>,
    refresh: impl Fn(&WatchScope<T>),
) where
    K: Resource,
{
    let mut listed = Vec::new();
    let mut events = std::pin::pin!(objects.backoff(backoff));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => listed.clear(),
            Ok(Event::InitApply(object)) => {
                let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
                listed.extend(reduce(object).map(|reduced| (namespace, name, reduced)));
            }
            Ok(Event::InitDone) => scope.replace(std::mem::take(&mut listed)),
            Ok(Event::Apply(object)) => {
                let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
                match reduce(object) {
                    Some(reduced) => scope.put(&namespace, &name, reduced),
                    None => scope.remove(&namespace, &name),
                }
            }
            Ok(Event::Delete(object)) => {
                scope.remove(&object.namespace().unwrap_or_default(), &object.name_any());
            }
            Err(error) if availability == Availability::MayBeAbsent && is_absent(&error) => scope.replace([]),
            Err(error) => {
                tracing::warn!(error = controller::describe_error(&error), "failed to watch, trying again");
                continue;
            }
        }
        refresh(scope);
    }
}

/// Whether the API server does not serve the kind.
fn is_absent(error: &watcher::Error) -> bool {
    let (watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
