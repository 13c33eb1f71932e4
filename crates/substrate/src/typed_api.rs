//! Kinds that embedded servers serve as an aggregated API server does, with the servers that others are forked from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use apiserver::{ApiServer, Authorization, TypedRules};
use schema::{Crd, KubernetesVersion, TypedKind};
use webhook::admission_plugin::AdmissionPlugins;
use webhook::strategy::Strategy;

/// Kinds with their strategies, which embedded servers serve in the place of the project's CRDs of the same groups.
pub struct TypedApi {
    kinds: Vec<(TypedKind, &'static Strategy)>,
    plugins: Option<Arc<dyn AdmissionPlugins>>,
    /// The server of each version of Kubernetes that others are forked from.
    templates: Mutex<BTreeMap<KubernetesVersion, ApiServer>>,
}

impl TypedApi {
    /// An API of these kinds.
    #[must_use]
    pub fn new(kinds: Vec<(TypedKind, &'static Strategy)>) -> Self {
        Self { kinds, plugins: None, templates: Mutex::default() }
    }

    /// The same kinds on servers with admission plugins. RBAC decides there what users may do, because plugins ask it.
    #[must_use]
    pub fn admitting(&self, plugins: Arc<dyn AdmissionPlugins>) -> Self {
        Self { plugins: Some(plugins), ..Self::new(self.kinds.clone()) }
    }

    /// Whether it has a kind: `core.gardener.cloud/v1beta1`, `Shoot`.
    #[must_use]
    pub fn serves(&self, api_version: &str, kind: &str) -> bool {
        self.kinds.iter().any(|(served, _)| {
            let resource = served.resource();
            resource.kind == kind && resource.api_version() == api_version
        })
    }

    /// Whether it has the kind of a resource: `shoots.core.gardener.cloud`.
    #[must_use]
    pub fn serves_resource(&self, name: &str) -> bool {
        self.kinds.iter().any(|(served, _)| {
            let resource = served.resource();
            name.split_once('.') == Some((resource.plural.as_str(), resource.group.as_str()))
        })
    }

    /// The builder of a server with these kinds and the project's CRDs of other groups. Objects that [`Embedded::storing_client`]
    /// wrote may be incomplete, so an update is refused for what it changes.
    ///
    /// [`Embedded::storing_client`]: crate::embedded::Embedded::storing_client
    pub(crate) fn builder(&self, kubernetes: KubernetesVersion) -> apiserver::Builder {
        let is_replaced =
            |crd: &&Crd| self.kinds.iter().any(|(served, _)| served.resource().group == crd.group());
        let crds = schema::crds().iter().filter(|crd| !is_replaced(crd)).cloned();
        let builder = ApiServer::builder().kubernetes(kubernetes).typed_kinds(self.kinds.clone());
        let builder = builder.typed_rules(TypedRules::Changes).crds(crds);
        match &self.plugins {
            Some(plugins) => builder.admission(Arc::clone(plugins)).authorization(Authorization::Rbac),
            None => builder,
        }
    }

    /// The server of a version, built once.
    pub(crate) fn template(&self, kubernetes: KubernetesVersion) -> ApiServer {
        // A panic while it was locked left no broken template behind.
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.entry(kubernetes).or_insert_with(|| self.builder(kubernetes).build()).clone()
    }
}

impl fmt::Debug for TypedApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedApi").field("kinds", &self.kinds.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Cluster;
    use crate::embedded::{Embedded, ServedApi};
    use schema::TypedKindDetails;
    use serde_json::json;
    use webhook::rejection::Rejection;

    static REFUSING: Strategy =
        Strategy { validate: |_, _, _| Err(Rejection::forbidden("no")), ..Strategy::PLAIN };

    fn projects() -> TypedApi {
        let crd = schema::crds().iter().find(|crd| crd.plural() == "projects").unwrap();
        TypedApi::new(vec![(
            TypedKind::new(crd, "v1beta1", &TypedKindDetails::default()).unwrap(),
            &REFUSING,
        )])
    }

    #[tokio::test(start_paused = true)]
    async fn its_kinds_take_the_place_of_crds_and_their_rules_can_be_left_out() {
        let typed = projects();
        assert!(typed.serves("core.gardener.cloud/v1beta1", "Project"));
        assert!(!typed.serves("core.gardener.cloud/v1beta1", "Shoot"));
        assert!(typed.serves_resource("projects.core.gardener.cloud"));
        for other in ["projects", "shoots.core.gardener.cloud", "projects.extensions.gardener.cloud"] {
            assert!(!typed.serves_resource(other), "{other}");
        }
        let api = ServedApi { typed: Some(&typed), ..ServedApi::default() };
        let project = json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": {"name": "a"}, "spec": {},
        });
        let time = "2024-06-01T00:00:00Z".parse().unwrap();
        for server in
            [Embedded::start_with(api, false, None).await.unwrap(), Embedded::still_at(api, time, None)]
        {
            let judged = Cluster::new(server.client());
            assert_eq!(judged.create(&project, "").await.unwrap().code, 403);
            assert!(!judged.serves("core.gardener.cloud", "v1beta1", "shoots").await.unwrap());
            assert!(judged.serves("extensions.gardener.cloud", "v1alpha1", "workers").await.unwrap());
            let writer = Cluster::new(server.client_under("writer", TypedRules::Stored));
            assert_eq!(writer.create(&project, "").await.unwrap().code, 201);
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
    }
}
