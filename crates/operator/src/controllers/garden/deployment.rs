//! Deploys components: renders them and writes their objects.

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use formats::version::Version;
use kube::Client;
use serde_json::{Value, json};

use super::component_table::{ComponentTable, FlowComponent};
use super::error::StepError;
use super::observation::{self, KNOWS_NEW_KEY};
use super::retry::Attempts;
use super::{direct, managed, objects, waits};
use crate::components::image_vector::ImageVector;
use crate::components::rendering::ObjectName;
use crate::components::{GardenValues, GeneratedSecrets, ObservedState, ReferencedObjects, Rendering};
use crate::config::OperatorConfiguration;

const PREPARING: &str = "Preparing";
const COMPLETING: &str = "Completing";
/// Between two looks at a Service whose address is awaited, and how long it is awaited.
const ADDRESS_INTERVAL: Duration = Duration::from_secs(2);
const ADDRESS_LIMIT: Duration = Duration::from_mins(2);

/// Deploys the components of one Garden.
#[derive(Clone, Copy)]
pub(super) struct Deployer<'a> {
    pub(super) client: &'a Client,
    pub(super) components: &'a ComponentTable,
    pub(super) garden: &'a Garden,
    pub(super) config: &'a OperatorConfiguration,
    pub(super) runtime_version: &'a Version,
    pub(super) operator_version: &'a str,
    pub(super) images: &'a ImageVector,
    pub(super) component_images: &'a BTreeMap<String, String>,
    pub(super) secrets: &'a GeneratedSecrets,
    pub(super) referenced: &'a ReferencedObjects,
    pub(super) observed: &'a ObservedState,
}

impl Deployer<'_> {
    /// Deploys a component.
    ///
    /// # Errors
    /// If it cannot be rendered, or the API server refuses.
    pub(super) async fn deploy(&self, component: FlowComponent) -> Result<(), StepError> {
        self.deploy_observing(component, self.observed.clone()).await
    }

    /// Deploys a component with another observed state. If its objects depend on the address of a Service that is among them, they
    /// are rendered again once it is there.
    pub(super) async fn deploy_observing(
        &self,
        component: FlowComponent,
        mut observed: ObservedState,
    ) -> Result<(), StepError> {
        loop {
            let rendering = self.render(component, &observed)?;
            write(self.client, &rendering).await?;
            let Some(service) = rendering.awaited_service else { return Ok(()) };
            if observed.service_addresses.contains_key(service) {
                return Ok(());
            }
            let address = self.address_of(service).await?;
            observed.service_addresses.insert(service.to_owned(), address);
        }
    }

    /// Deploys an API server. In phase `Preparing` it encrypts with the new key only after all its replicas know that key.
    pub(super) async fn deploy_api_server(
        &self,
        component: FlowComponent,
        deployment: &str,
    ) -> Result<(), StepError> {
        let phase = self.values(self.observed).encryption_key_phase();
        let name = ObjectName::in_garden("apps/v1", "Deployment", deployment);
        self.deploy(component).await?;
        if phase == PREPARING && !self.observed.know_new_encryption_key.contains(deployment) {
            waits::deployed(self.client, &component.lifecycle()).await?;
            objects::patch(self.client, &name, &annotation(KNOWS_NEW_KEY, &json!("true"))).await?;
            let mut observed = self.observed.clone();
            observed.know_new_encryption_key.insert(deployment.to_owned());
            return self.deploy_observing(component, observed).await;
        }
        if phase == COMPLETING {
            objects::patch(self.client, &name, &annotation(KNOWS_NEW_KEY, &Value::Null)).await?;
        }
        Ok(())
    }

    /// The objects of a component.
    pub(super) fn render(
        &self,
        component: FlowComponent,
        observed: &ObservedState,
    ) -> Result<Rendering, StepError> {
        self.components.render(component, &self.values(observed))
    }

    /// What components are rendered from, with this observed state.
    pub(super) fn values<'b>(&'b self, observed: &'b ObservedState) -> GardenValues<'b> {
        GardenValues {
            garden: self.garden,
            config: self.config,
            runtime_version: self.runtime_version,
            operator_version: self.operator_version,
            images: self.images,
            component_images: self.component_images,
            secrets: self.secrets,
            referenced: self.referenced,
            observed,
        }
    }

    async fn address_of(&self, service: &'static str) -> Result<String, StepError> {
        let mut attempts = Attempts::new(ADDRESS_INTERVAL, Some(ADDRESS_LIMIT));
        loop {
            if let Some(address) = observation::cluster_ip(self.client, service).await? {
                return Ok(address);
            }
            attempts.pause(format!("Service \"{service}\" not found")).await?;
        }
    }
}

/// Writes what a component has been rendered to.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn write(client: &Client, rendering: &Rendering) -> Result<(), StepError> {
    for step in &rendering.steps {
        direct::perform(client, step).await?;
    }
    for resource in &rendering.managed {
        managed::write(client, resource).await?;
    }
    Ok(())
}

fn annotation(key: &str, value: &Value) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}
