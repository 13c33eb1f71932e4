//! The steps of the flow that brings a Garden to its specification.

use controller::clock::Clock;
use controller::describe_error;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::Client;
use tokio::sync::Mutex;

use super::deployment::Deployer;
use super::error::StepError;
use super::flow_run::FlowTasks;
use super::flow_state::FlowProgress;
use super::progress_report::ProgressReport;
use super::removal::Remover;
use super::secret_store::SecretStore;
use super::step_plan::{self, StepPlan};
use super::{bootstrap, encryption, etcds, renewal, waits};
use crate::components::generated::CA_ETCD;
use crate::controllers::care::VirtualCluster;
use crate::flow::FlowStep;

const ENCRYPTION_KEY: &str = "kube-apiserver-etcd-encryption-key";

/// What the steps of one reconciliation work with.
pub(super) struct Reconciliation<'a> {
    pub(super) deployer: Deployer<'a>,
    pub(super) store: &'a Mutex<SecretStore>,
    pub(super) virtual_cluster: &'a VirtualCluster,
    pub(super) has_hvpa: bool,
    pub(super) clock: Clock,
    pub(super) progress: &'a ProgressReport,
}

impl FlowTasks for Reconciliation<'_> {
    fn run(&self, step: &'static FlowStep) -> BoxFuture<'_, Result<(), StepError>> {
        self.perform(step).boxed()
    }

    fn report(&self, progress: FlowProgress) -> BoxFuture<'_, ()> {
        self.progress.write(progress).boxed()
    }
}

impl Reconciliation<'_> {
    async fn perform(&self, step: &'static FlowStep) -> Result<(), StepError> {
        let Some(plan) = step_plan::plan(step.name) else {
            return Err(StepError::State(format!("nothing is planned for the step {:?}", step.name)));
        };
        let (deployer, client) = (&self.deployer, self.deployer.client);
        match plan {
            StepPlan::Deploy(component) => deployer.deploy(component).await,
            StepPlan::DeployAndAwait(component) => {
                deployer.deploy(component).await?;
                waits::deployed(client, &component.lifecycle()).await
            }
            StepPlan::Await(component) => waits::deployed(client, &component.lifecycle()).await,
            StepPlan::DeployWithHvpa(component) if self.has_hvpa => deployer.deploy(component).await,
            StepPlan::DeployWithHvpa(component) => {
                let remover = Remover { client, store: self.store, clock: self.clock };
                remover.delete(&component.lifecycle()).await
            }
            StepPlan::DeployApiServer(component, deployment) => {
                deployer.deploy_api_server(component, deployment).await
            }
            StepPlan::Etcds => etcds::deploy(deployer).await,
            StepPlan::VirtualResourceManager => bootstrap::deploy(deployer, self.store, self.clock).await,
            StepPlan::RenewAccess => renewal::access_secrets(client).await,
            StepPlan::Connect => self.connect().await.map(drop),
            StepPlan::RenewInSeeds(operation) => renewal::in_seeds(&self.connect().await?, operation).await,
            StepPlan::CheckSeeds(operation) => renewal::check_seeds(&self.connect().await?, operation).await,
            StepPlan::EncryptAnew => {
                let key = &deployer.secrets.all(ENCRYPTION_KEY)?.current.name;
                encryption::label(&self.connect().await?, key).await
            }
            StepPlan::Snapshot => encryption::snapshot(client, deployer.secrets.bundle_pem(CA_ETCD)?).await,
            StepPlan::ForgetEncryption => encryption::unlabel(client, &self.connect().await?).await,
        }
    }

    /// A client of the virtual cluster, whose API server answers.
    async fn connect(&self) -> Result<Client, StepError> {
        let garden = self.deployer.garden.metadata.name.as_deref().unwrap_or_default();
        let client = self.virtual_cluster.client().await.map_err(|error| {
            let text = describe_error(&error);
            StepError::State(format!("error creating new ClientSet for key \"{garden}\": {text}"))
        })?;
        client.apiserver_version().await?;
        Ok(client)
    }
}
