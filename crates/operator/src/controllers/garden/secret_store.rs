//! The secrets manager on the cluster: it begins with the Secrets of the namespace, and what it plans is written.

use controller::clock::Clock;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use secrets::labels::{IDENTITY, MANAGED_BY, MANAGER, USE_DATA_FOR};
use secrets::{ManagedSecret, Material, PlannedWrite, SecretsManager, Setup};
use serde_json::json;

use super::error::StepError;
use crate::components::{GeneratedSecrets, RequestedSecret};

/// How often a request is answered again because a Secret that it creates exists already.
const ATTEMPTS: usize = 3;

/// Makes the values of new Secrets.
pub(super) type NewMaterial = Box<dyn Material + Send>;

/// The secrets manager of one reconciliation.
pub(super) struct SecretStore {
    manager: SecretsManager,
    secrets: Api<DynamicObject>,
    material: NewMaterial,
    clock: Clock,
    /// Names of the requests that were answered.
    names: Vec<String>,
}

/// Whether all was written that was planned.
#[derive(PartialEq, Eq)]
enum Written {
    All,
    /// A Secret existed already, and the manager knows it now.
    NotAll,
}

impl SecretStore {
    /// Begins with the Secrets of the manager, and those whose data it is to take over.
    ///
    /// # Errors
    /// If Secrets cannot be listed, or are malformed.
    pub(super) async fn open(
        client: &Client,
        setup: Setup,
        material: NewMaterial,
        clock: Clock,
    ) -> Result<Self, StepError> {
        let resource = ApiResource::erase::<Secret>(&());
        let secrets: Api<DynamicObject> = Api::namespaced_with(client.clone(), &setup.namespace, &resource);
        let own = format!("{MANAGED_BY}={MANAGER},{IDENTITY}={}", setup.identity);
        let mut known = Vec::new();
        for selector in [own.as_str(), USE_DATA_FOR] {
            let found = secrets.list(&ListParams::default().labels(selector)).await?;
            for secret in found.items {
                known.push(read(&secret)?);
            }
        }
        let manager = SecretsManager::new(setup, known, clock.now())?;
        Ok(Self { manager, secrets, material, clock, names: Vec::new() })
    }

    /// Answers a request, and writes what that needs.
    ///
    /// # Errors
    /// If there is no answer, or a write is refused.
    pub(super) async fn generate(&mut self, requested: &RequestedSecret) -> Result<(), StepError> {
        let RequestedSecret { request, options } = requested;
        for _ in 0..ATTEMPTS {
            let generated =
                self.manager.generate(request, options, self.clock.now(), self.material.as_mut())?;
            if self.write(generated.writes).await? == Written::All {
                self.names.push(request.name.clone());
                return Ok(());
            }
        }
        Err(StepError::State(format!(
            "Secrets of the request {:?} change while they are written",
            request.name
        )))
    }

    /// What was generated.
    pub(super) fn generated(&self) -> GeneratedSecrets {
        GeneratedSecrets::of(&self.manager, self.names.iter().map(String::as_str))
    }

    /// Deletes the Secret that answered a request of this name: the bundle where there is one, else the current one. A request that was
    /// not made has none.
    ///
    /// # Errors
    /// If the deletion is refused.
    pub(super) async fn delete(&mut self, request: &str) -> Result<(), StepError> {
        let Some(secret) = self.manager.get(request, None) else { return Ok(()) };
        let name = secret.name.clone();
        self.write(vec![PlannedWrite::Delete { name }]).await.map(drop)
    }

    /// Deletes the Secrets of the manager that no request was answered with.
    ///
    /// # Errors
    /// If a deletion is refused.
    pub(super) async fn clean_up(&mut self) -> Result<(), StepError> {
        let stale = self.manager.clean_up();
        self.write(stale).await.map(drop)
    }

    async fn write(&mut self, writes: Vec<PlannedWrite>) -> Result<Written, StepError> {
        for write in writes {
            match write {
                PlannedWrite::Create(secret) => {
                    let object = serde_json::from_value(secret.object()).map_err(kube::Error::SerdeError)?;
                    match self.secrets.create(&PostParams::default(), &object).await {
                        Err(kube::Error::Api(status)) if status.is_already_exists() => {
                            let existing = self.secrets.get(&secret.name).await?;
                            self.manager.observe(read(&existing)?);
                            return Ok(Written::NotAll);
                        }
                        created => drop(created?),
                    }
                }
                PlannedWrite::Patch { name, patch } => {
                    self.secrets.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
                }
                PlannedWrite::Delete { name } => {
                    match self.secrets.delete(&name, &DeleteParams::default()).await {
                        Err(kube::Error::Api(status)) if status.is_not_found() => {}
                        deleted => drop(deleted?),
                    }
                }
            }
        }
        Ok(Written::All)
    }
}

fn read(secret: &DynamicObject) -> Result<ManagedSecret, StepError> {
    ManagedSecret::read(&json!(secret)).map_err(|error| StepError::State(error.to_string()))
}
