//! Installs the extensions that each Seed needs (contracts/controller-manager/controllers/controller-registration-seed).
//!
//! `required` computes kinds and types from what belongs to a Seed, `wanted` the ControllerRegistrations that serve
//! them, and `plan` the ControllerInstallations to write and delete.

mod domains;
mod hash;
mod plan;
mod required;
mod triggers;
mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;

use api::garden::{
    BackupBucket, BackupEntry, ControllerDeployment, ControllerInstallation, ControllerRegistration, Seed,
    Shoot,
};
use controller::cluster::WatchedKind;
use controller::store::Index;
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store, Watch};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Resource, ResourceExt as _};

use self::domains::{Domains, DomainsError};
use self::plan::{Action, plan};
use self::wanted::WantedError;
use super::seed_secrets::{GARDEN_SECRETS, namespace_of};
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "controllerregistration-seed";

/// Why the extensions of a Seed could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    /// Objects could not be listed.
    #[error("failed to list {0}")]
    List(&'static str, #[source] kube::Error),
    /// The controller of Secrets has not copied them yet.
    #[error("garden secrets for seed {0:?} have not been synchronized yet")]
    Unsynchronized(String),
    /// A Secret of the garden is unusable.
    #[error(transparent)]
    Domains(#[from] DomainsError),
    /// It is unknown which extensions the Seed needs.
    #[error(transparent)]
    Wanted(#[from] WantedError),
    /// An extension cannot be installed now; the others were.
    #[error("{0}")]
    Refused(String),
    /// A ControllerInstallation could not be written.
    #[error("failed to write the ControllerInstallation of {0:?}")]
    Write(String, #[source] kube::Error),
    /// A ControllerInstallation could not be deleted.
    #[error("failed to delete ControllerInstallation {0:?}")]
    Delete(String, #[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let seeds = garden.store::<Seed>(Selection::all());
    let registrations = garden.store::<ControllerRegistration>(Selection::all());
    let deployments = garden.store::<ControllerDeployment>(Selection::all());
    let buckets = garden.store::<BackupBucket>(Selection::all());
    let entries = garden.store::<BackupEntry>(Selection::all());
    let installations = garden.store::<ControllerInstallation>(Selection::all());
    let shoots = garden.store::<Shoot>(Selection::all());
    let reconciler = Reconciler {
        of_seed: buckets.index(|bucket| bucket.spec.seed_name.clone().into_iter().collect()),
        garden_secrets: garden.store::<Secret>(Selection::all().labels(GARDEN_SECRETS)),
        secrets: garden.store::<PartialObjectMeta<Secret>>(Selection::all()),
        seeds: seeds.clone(),
        registrations: registrations.clone(),
        deployments: deployments.clone(),
        client: garden.client(),
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.controller_registration.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(Watch::of(&seeds).filter(triggers::seed))
        .source(Watch::of(&registrations).filter(triggers::is_written).map_new(triggers::all(&seeds)))
        .source(Watch::of(&buckets).filter(triggers::bucket).map_new(triggers::seed_of_bucket))
        .source(Watch::of(&entries).filter(triggers::entry).map_new(triggers::seed_of_entry))
        .source(
            Watch::of(&installations).filter(triggers::installation).map_new(triggers::seed_of_installation),
        )
        .source(
            Watch::of(&deployments)
                .filter(triggers::is_written)
                .map_new(triggers::users(&registrations, &seeds)),
        )
        .source(Watch::of(&shoots).filter(triggers::shoot).map_new(triggers::seed_of_shoot))
}

struct Reconciler {
    seeds: Store<Seed>,
    registrations: Store<ControllerRegistration>,
    deployments: Store<ControllerDeployment>,
    of_seed: Index<BackupBucket>,
    garden_secrets: Store<Secret>,
    secrets: Store<PartialObjectMeta<Secret>>,
    client: Client,
}

/// A Seed, and what decides about its extensions.
struct State {
    seed: Arc<Seed>,
    registrations: BTreeMap<String, Arc<ControllerRegistration>>,
    deployments: BTreeMap<String, Arc<ControllerDeployment>>,
    installations: Vec<ControllerInstallation>,
    buckets: Vec<Arc<BackupBucket>>,
    entries: Vec<BackupEntry>,
    shoots: Vec<Shoot>,
    domains: Domains,
}

impl Reconcile for Reconciler {
    type Error = RegistrationError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, RegistrationError> {
        let Some(seed) = self.seeds.get("", &request.name) else { return Ok(Outcome::Done) };
        let state = Box::pin(self.observe(seed)).await?;
        for action in plan(&state)? {
            self.execute(action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    /// Installations, entries and Shoots are read from the server: a store that lags would lead to a second
    /// installation.
    async fn observe(&self, seed: Arc<Seed>) -> Result<State, RegistrationError> {
        let name = seed.name_any();
        let copies = self.garden_secrets.list_in(&namespace_of(&name));
        let domains =
            Domains::read(&copies)?.ok_or_else(|| RegistrationError::Unsynchronized(name.clone()))?;
        let mut shoots = self.shoots("spec.seedName", &name).await?;
        shoots.extend(self.shoots("status.seedName", &name).await?);
        let shoots: BTreeMap<Request, Shoot> =
            shoots.into_iter().map(|shoot| (Request::of(&shoot), shoot)).collect();
        let domains = domains
            .with_secrets(shoots.values(), |namespace, name| self.secrets.get(namespace, name).is_some());
        Ok(State {
            registrations: by_name(self.registrations.list()),
            deployments: by_name(self.deployments.list()),
            installations: self.list("ControllerInstallations", &ListParams::default()).await?,
            buckets: self.of_seed.get(&name),
            entries: self.list("BackupEntries", &selecting("spec.seedName", &name)).await?,
            shoots: shoots.into_values().collect(),
            domains,
            seed,
        })
    }

    async fn shoots(&self, field: &str, seed: &str) -> Result<Vec<Shoot>, RegistrationError> {
        self.list("Shoots", &selecting(field, seed)).await
    }

    async fn list<K>(&self, what: &'static str, params: &ListParams) -> Result<Vec<K>, RegistrationError>
    where
        K: WatchedKind + Resource<DynamicType = ()>,
    {
        let api: Api<K> = Api::all(self.client.clone());
        let listed = api.list(params).await;
        listed.map(|listed| listed.items).map_err(|error| RegistrationError::List(what, error))
    }

    async fn execute(&self, action: Action) -> Result<(), RegistrationError> {
        let installations: Api<ControllerInstallation> = Api::all(self.client.clone());
        match action {
            Action::Create { registration, installation } => {
                tracing::info!(registration, "Deploying wanted ControllerInstallation");
                let created = installations.create(&PostParams::default(), &installation).await;
                created.map(drop).map_err(|error| RegistrationError::Write(registration, error))
            }
            Action::Patch { registration, installation, patch } => {
                tracing::info!(registration, "Deploying wanted ControllerInstallation");
                let patch = Patch::Merge(patch);
                let patched = installations.patch(&installation, &PatchParams::default(), &patch).await;
                patched.map(drop).map_err(|error| RegistrationError::Write(registration, error))
            }
            Action::Refuse(reason) => Err(RegistrationError::Refused(reason)),
            Action::Delete(installation) => {
                tracing::info!(installation, "Deleting unneeded ControllerInstallation");
                match installations.delete(&installation, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                    deleted => {
                        deleted.map(drop).map_err(|error| RegistrationError::Delete(installation, error))
                    }
                }
            }
        }
    }
}

fn selecting(field: &str, seed: &str) -> ListParams {
    ListParams::default().fields(&format!("{field}={seed}"))
}

fn by_name<K: Resource>(objects: Vec<Arc<K>>) -> BTreeMap<String, Arc<K>> {
    objects.into_iter().map(|object| (object.name_any(), object)).collect()
}
