//! The steps of a Project that is not deleted.

use std::sync::Arc;

use api::garden::Project;
use controller::events::EventType;
use controller::reconcile::parallel;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, RoleBinding};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::namespace::{self, NamespaceError, NamespacePlan};
use super::quota::{self, QuotaError};
use super::rbac::{self, RoleObjects};
use super::{NamespaceMetadata, PENDING, ProjectError, READY, Reconciler, objects};
use crate::controllers::finalizer;

/// Reason of the event that the namespace is as it should be.
const RECONCILED: &str = "NamespaceReconcileSuccessful";

impl Reconciler {
    /// Adds the finalizer, and the phase `Pending` if there is none; returns the current Project.
    pub(super) async fn begin(&self, project: &Project) -> Result<Project, ProjectError> {
        let mut project = project.clone();
        if !finalizer::is_present(&project) {
            tracing::info!("Adding finalizer");
            let finalizers = project.finalizers().iter().map(String::as_str).chain([finalizer::FINALIZER]);
            let finalizers: Vec<&str> = finalizers.collect();
            let version = project.resource_version();
            let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}});
            project = self.patch(&project, &patch).await.map_err(ProjectError::AddFinalizer)?;
        }
        if project.status.phase.as_deref().unwrap_or_default().is_empty() {
            let status = json!({"observedGeneration": project.metadata.generation, "phase": PENDING});
            let patch = Patch::Merge(json!({"status": status}));
            let name = project.name_any();
            let patched = self.projects().patch_status(&name, &PatchParams::default(), &patch).await;
            project = patched.map_err(ProjectError::Phase)?;
        }
        Ok(project)
    }

    /// Provides the namespace and what belongs to it, then the phase `Ready`.
    pub(super) async fn provide(&self, project: &Project) -> Result<(), ProjectError> {
        let name = Box::pin(self.provide_namespace(project)).await.map_err(ProjectError::Namespace)?;
        let message = format!("Successfully reconciled namespace {name:?} for project");
        self.recorder.event(project, EventType::Normal, RECONCILED, &message);
        let project = self.name_namespace(project, &name).await.map_err(ProjectError::SpecNamespace)?;
        Box::pin(self.provide_quota(&project, &name)).await.map_err(ProjectError::Quota)?;
        let deployed = Box::pin(self.deploy_roles(&project, &name)).await;
        deployed.map_err(|source| ProjectError::Rbac { namespace: name.clone(), source })?;
        self.delete_stale_roles(&project, &name).await.map_err(ProjectError::StaleRoles)?;
        self.set_phase(&project, READY).await.map_err(ProjectError::Ready)
    }

    async fn patch(&self, project: &Project, patch: &Value) -> Result<Project, kube::Error> {
        self.projects().patch(&project.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await
    }

    /// GCM-PRJ-002 to -007: creates or adopts the namespace; returns its name.
    async fn provide_namespace(&self, project: &Project) -> Result<String, NamespaceError> {
        let name = namespace::name(project);
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let found = match self.namespaces.get("", &name) {
            Some(found) => found,
            None => match namespaces.create(&PostParams::default(), &namespace::wanted(project, &name)).await
            {
                // The cache does not have it yet.
                Err(kube::Error::Api(status)) if status.is_already_exists() => {
                    Arc::new(namespaces.get_metadata(&name).await.map_err(NamespaceError::Write)?)
                }
                created => return created.map(|_| name).map_err(NamespaceError::Write),
            },
        };
        match namespace::plan(project, &found)? {
            NamespacePlan::Keep => {}
            NamespacePlan::Adopt(metadata) => {
                tracing::info!(namespaceName = name, "Adopting Namespace for Project");
                self.patch_namespace(&found, metadata).await.map_err(NamespaceError::Write)?;
            }
        }
        Ok(name)
    }

    /// Changes the metadata of a namespace; fails if it has changed in the meantime.
    pub(super) async fn patch_namespace(
        &self,
        found: &NamespaceMetadata,
        mut metadata: Value,
    ) -> Result<(), kube::Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        metadata["resourceVersion"] = json!(found.metadata.resource_version);
        let patch = Patch::Merge(json!({"metadata": metadata}));
        namespaces.patch_metadata(&found.name_any(), &PatchParams::default(), &patch).await.map(drop)
    }

    /// Writes the name of a created namespace to the Project, unless that has changed in the meantime.
    async fn name_namespace(&self, project: &Project, name: &str) -> Result<Project, kube::Error> {
        if namespace::named(project).is_some() {
            return Ok(project.clone());
        }
        let version = project.resource_version();
        self.patch(project, &json!({"metadata": {"resourceVersion": version}, "spec": {"namespace": name}}))
            .await
    }

    /// GCM-PRJ-010 to -014.
    async fn provide_quota(&self, project: &Project, namespace: &str) -> Result<(), QuotaError> {
        let Some(template) = quota::select(&self.quota_configurations, project.labels())? else {
            return Ok(());
        };
        let owner = namespace::owner(project, true);
        self.write(
            &self.quotas,
            &Api::namespaced(self.client.clone(), namespace),
            &quota::create(&template, namespace, &owner),
            |found| quota::patch(found, &template, &owner),
        )
        .await
        .map_err(QuotaError::Write)
    }

    /// GCM-PRJ-020 to -023: the objects of one role one after the other, those of several roles side by side.
    async fn deploy_roles(&self, project: &Project, namespace: &str) -> Result<(), parallel::Failures> {
        let roles = rbac::wanted(project, namespace);
        let deployments: Vec<_> = roles.iter().map(|role| self.deploy_role(role, namespace)).collect();
        parallel::all(deployments).await
    }

    async fn deploy_role(&self, role: &RoleObjects, namespace: &str) -> Result<(), kube::Error> {
        let client = || self.client.clone();
        if let Some(wanted) = &role.cluster_role {
            let all = Api::all(client());
            self.write(&self.cluster_roles, &all, wanted, |found| rbac::patch(found, wanted)).await?;
        }
        if let Some(wanted) = &role.cluster_role_binding {
            let all = Api::all(client());
            self.write(&self.cluster_role_bindings, &all, wanted, |found| rbac::patch(found, wanted)).await?;
        }
        if let Some(wanted) = &role.role_binding {
            let namespaced = Api::namespaced(client(), namespace);
            self.write(&self.role_bindings, &namespaced, wanted, |found| rbac::patch(found, wanted)).await?;
        }
        Ok(())
    }

    /// GCM-PRJ-025: RoleBindings first, then ClusterRoles.
    async fn delete_stale_roles(&self, project: &Project, namespace: &str) -> Result<(), kube::Error> {
        let role_bindings: Api<RoleBinding> = Api::namespaced(self.client.clone(), namespace);
        for binding in self.role_bindings.list_in(namespace) {
            if rbac::is_stale(project, &*binding) {
                objects::delete(&role_bindings, &binding.name_any(), &DeleteParams::default()).await?;
            }
        }
        let cluster_roles: Api<ClusterRole> = Api::all(self.client.clone());
        for role in self.roles_of_project.get(&project.name_any()) {
            if rbac::is_stale(project, &*role) {
                objects::delete(&cluster_roles, &role.name_any(), &DeleteParams::default()).await?;
            }
        }
        Ok(())
    }
}
