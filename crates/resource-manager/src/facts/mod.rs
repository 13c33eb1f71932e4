//! What webhooks must know of the target cluster, kept current by watches and read without a request.
//!
//! Only the objects and fields that enabled webhooks need are watched.

mod kinds;
mod mirror;
mod watching;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use kube::Client;
use parking_lot::RwLock;
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use webhook::rejection::Rejection;

use self::kinds::{Autoscaler, Availability};
use self::mirror::{Mirror, WatchScope};
use crate::config::WebhooksConfiguration;
use crate::toleration::{Taint, Toleration};
use crate::webhooks::high_availability_config::Namespace;
use crate::webhooks::system_components_config;

/// Why a fact cannot be read; the texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such object.
    #[error("{kind} {name:?} not found")]
    NotFound {
        /// Its kind.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// The configuration restricts the watched namespaces to others.
    #[error("unable to {verb}: {what} because of unknown namespace for the cache")]
    UnknownNamespace {
        /// `get` or `list`.
        verb: &'static str,
        /// `namespace/name`, or the namespace.
        what: String,
    },
    /// Autoscalers could not be read.
    #[error("failed to list all {kind}: {source}")]
    Autoscalers {
        /// `HPAs` or `HVPAs`.
        kind: &'static str,
        /// The error.
        source: Box<Self>,
    },
}

impl From<Error> for Rejection {
    /// An object that is not found is answered with 404, any other error is a plain refusal.
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::NotFound { kind, name } => {
                let details = [("name", name), ("kind", kind.to_owned())];
                let details: Map<String, Value> =
                    details.into_iter().map(|(field, text)| (field.to_owned(), text.into())).collect();
                Self::status(404, "NotFound", message, details)
            }
            Error::UnknownNamespace { .. } | Error::Autoscalers { .. } => Self::forbidden(message),
        }
    }
}

/// The object that an autoscaler may scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleTarget<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its API group; empty for the core group.
    pub group: &'a str,
    /// Its API version.
    pub version: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
}

/// Facts about the target cluster; facts that no enabled webhook needs are not watched.
///
/// Watching ends when this is dropped.
#[derive(Debug)]
pub struct Facts {
    namespaces: Mirror<Arc<Namespace>>,
    horizontal_pod_autoscalers: Mirror<Autoscaler>,
    hvpas: Mirror<Autoscaler>,
    service_accounts: Mirror<Option<bool>>,
    nodes: Mirror<Box<[Taint]>>,
    node_tolerations: Arc<RwLock<Arc<[Toleration]>>>,
    watches: JoinSet<()>,
}

impl Facts {
    /// Starts to watch what the enabled webhooks need, in `namespaces` or, if that is empty, in all.
    ///
    /// Must be called within a tokio runtime. Does not wait; see [`Facts::wait_until_synced`].
    #[must_use]
    pub fn watch(webhooks: &WebhooksConfiguration, namespaces: &[String], client: &Client) -> Self {
        let namespaces = if namespaces.iter().any(String::is_empty) { &[] } else { namespaces };
        let mut facts = Self {
            namespaces: Mirror::of_cluster("Namespace"),
            horizontal_pod_autoscalers: Mirror::of_namespaces("HorizontalPodAutoscaler", namespaces),
            hvpas: Mirror::of_namespaces("Hvpa", namespaces),
            service_accounts: Mirror::of_namespaces("ServiceAccount", namespaces),
            nodes: Mirror::of_cluster("Node"),
            node_tolerations: Arc::default(),
            watches: JoinSet::new(),
        };
        if webhooks.high_availability_config.enabled {
            facts.watch_availability(client);
        }
        if webhooks.projected_token_mount.enabled {
            for (namespace, scope) in facts.service_accounts.scopes() {
                facts.watches.spawn(watching::service_accounts(client.clone(), namespace, scope));
            }
        }
        if webhooks.system_components_config.enabled {
            facts.watch_nodes(client, &webhooks.system_components_config.node_selector);
        }
        facts
    }

    /// Waits until everything watched has been read once.
    pub async fn wait_until_synced(&self) {
        if self.is_synced() {
            return;
        }
        let waits = [
            self.namespaces.waits(),
            self.horizontal_pod_autoscalers.waits(),
            self.hvpas.waits(),
            self.service_accounts.waits(),
            self.nodes.waits(),
        ];
        join_all(waits.into_iter().flatten().map(mirror::until_read)).await;
    }

    /// Whether everything watched has been read once.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.namespaces.is_read()
            && self.horizontal_pod_autoscalers.is_read()
            && self.hvpas.is_read()
            && self.service_accounts.is_read()
            && self.nodes.is_read()
    }

    /// The annotations of a namespace that concern workload.
    ///
    /// # Errors
    /// When there is no such namespace.
    pub fn namespace(&self, name: &str) -> Result<Arc<Namespace>, Error> {
        self.namespaces.get("", name)
    }

    /// `maxReplicas` of the HorizontalPodAutoscaler or else the Hvpa that scales an object; `None` if none does.
    ///
    /// GRM-HAC-014, GRM-HAC-015, GRM-HAC-056.
    ///
    /// # Errors
    /// When the namespace is not watched.
    pub fn scaled_up_to(&self, target: &ScaleTarget<'_>) -> Result<Option<i64>, Error> {
        for (kind, mirror) in [("HPAs", &self.horizontal_pod_autoscalers), ("HVPAs", &self.hvpas)] {
            let found = mirror
                .find(target.namespace, |autoscaler| {
                    autoscaler.scales(target).then_some(autoscaler.max_replicas)
                })
                .map_err(|source| Error::Autoscalers { kind, source: Box::new(source) })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// `automountServiceAccountToken` of a ServiceAccount.
    ///
    /// GRM-PTM-014, GRM-PTM-015.
    ///
    /// # Errors
    /// When there is no such ServiceAccount, or the namespace is not watched.
    pub fn automount(&self, namespace: &str, service_account: &str) -> Result<Option<bool>, Error> {
        self.service_accounts.get(namespace, service_account)
    }

    /// Tolerations that Pods need to run on the nodes for system components.
    #[must_use]
    pub fn node_tolerations(&self) -> Arc<[Toleration]> {
        self.node_tolerations.read().clone()
    }

    fn watch_availability(&mut self, client: &Client) {
        for (_, scope) in self.namespaces.scopes() {
            self.watches.spawn(watching::namespaces(client.clone(), scope));
        }
        for (namespace, scope) in self.horizontal_pod_autoscalers.scopes() {
            let api = kinds::horizontal_pod_autoscalers(client.clone(), &namespace);
            self.watches.spawn(watching::autoscalers(api, scope, Availability::Required));
        }
        for (namespace, scope) in self.hvpas.scopes() {
            let api = kinds::hvpas(client.clone(), &namespace);
            self.watches.spawn(watching::autoscalers(api, scope, Availability::MayBeAbsent));
        }
    }

    fn watch_nodes(&mut self, client: &Client, selector: &BTreeMap<String, String>) {
        for (_, scope) in self.nodes.scopes() {
            let tolerations = self.node_tolerations.clone();
            let refresh = move |scope: &WatchScope<Box<[Taint]>>| {
                let taints = scope.all();
                let required = system_components_config::tolerations_for(taints.iter().flatten());
                *tolerations.write() = required.into();
            };
            self.watches.spawn(watching::nodes(client.clone(), selector.clone(), scope, refresh));
        }
    }
}
