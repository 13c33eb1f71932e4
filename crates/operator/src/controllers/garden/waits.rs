//! Waits until something in the runtime cluster is as it should be. Intervals, limits and messages are the original's.

use std::time::Duration;

use api::resources::ManagedResource;
use controller::reconcile::health::apps::Deployment;
use controller::reconcile::health::{Check as _, Unfinished, rollout};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use k8s_openapi::api::apps::v1;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Client;
use kube::api::{Api, ApiResource, ListParams};

use super::error::StepError;
use super::retry::{self, Attempt, Attempts};
use super::side_by_side::side_by_side;
use super::{managed, newest_pod, objects, readiness};
use crate::components::lifecycle::{AwaitedState, ManagedWait, ObjectWait, PAUSE};
use crate::components::rendering::ObjectName;
use crate::components::{Lifecycle, NAMESPACE};

/// How many looks an Etcd may report an error before that counts.
const ETCD_ERRORS: u32 = 36;

/// Waits until a component is there.
///
/// # Errors
/// If it is not in time, or the API server refuses.
pub(super) async fn deployed(client: &Client, lifecycle: &Lifecycle) -> Result<(), StepError> {
    for wait in &lifecycle.deployed {
        let each = wait.names.iter().map(|name| managed_resource(client, wait, name).boxed());
        side_by_side(each.collect()).await?;
    }
    each_object(client, &lifecycle.ready).await
}

/// Waits until ManagedResources are gone, all at once.
///
/// # Errors
/// If they are not in time, or the API server refuses.
pub(super) async fn managed_gone(client: &Client, wait: &ManagedWait) -> Result<(), StepError> {
    let each = wait.names.iter().map(|name| {
        let name = managed::resource_name(&wait.namespace, name);
        async move { gone(client, &name, PAUSE, Some(wait.within)).await }.boxed()
    });
    side_by_side(each.collect()).await
}

/// Waits until objects are as they should be, all at once.
///
/// # Errors
/// If they are not in time, or the API server refuses.
pub(super) async fn each_object(client: &Client, waits: &[ObjectWait]) -> Result<(), StepError> {
    side_by_side(waits.iter().map(|wait| object(client, wait)).collect()).await
}

fn object<'a>(client: &'a Client, wait: &'a ObjectWait) -> BoxFuture<'a, Result<(), StepError>> {
    match wait.state {
        AwaitedState::Healthy => available(client, wait).boxed(),
        AwaitedState::RolledOut => rolled_out(client, wait).boxed(),
        AwaitedState::RolledOutOrLogs(lines) => rolled_out_or_log(client, wait, lines).boxed(),
        AwaitedState::EtcdReady => etcd(client, wait).boxed(),
        AwaitedState::LoadBalancer => load_balancer(client, wait).boxed(),
        AwaitedState::Gone => gone(client, &wait.object, wait.every, wait.within).boxed(),
    }
}

/// Waits until an object is gone. Of a ManagedResource it is added why its deletion does not go on.
async fn gone(
    client: &Client,
    name: &ObjectName,
    every: Duration,
    limit: Option<Duration>,
) -> Result<(), StepError> {
    let mut attempts = Attempts::new(every, limit);
    loop {
        let Some(live) = objects::read(client, name).await? else { return Ok(()) };
        let reason = format!("resource {}/{} still exists", name.namespace, name.name);
        if let Err(error) = attempts.pause(reason).await {
            return Err(match readiness::stuck_deletion(&live) {
                Some(message) => StepError::State(format!(
                    "error while waiting for all resources to be deleted: {}:\n{message}",
                    error.text()
                )),
                None => error,
            });
        }
    }
}

async fn managed_resource(client: &Client, wait: &ManagedWait, name: &str) -> Result<(), StepError> {
    let resources: Api<ManagedResource> = Api::namespaced(client.clone(), &wait.namespace);
    let look = || async {
        match resources.get(name).await {
            Ok(found) => attempt(readiness::managed_resource(&found, wait.is_rolled_out)),
            Err(error) => Attempt::Failed(error.into()),
        }
    };
    retry::until(PAUSE, Some(wait.within), look).await
}

async fn available(client: &Client, wait: &ObjectWait) -> Result<(), StepError> {
    let deployments = deployments(client);
    let look = || async {
        match deployments.get(&wait.object.name).await {
            Ok(found) => attempt(found.check().map_err(|reason| reason.to_string())),
            Err(error) => Attempt::Failed(error.into()),
        }
    };
    retry::until(wait.every, wait.within, look).await
}

async fn rolled_out(client: &Client, wait: &ObjectWait) -> Result<(), StepError> {
    let deployments = deployments(client);
    let look = || async {
        let found = async {
            let deployment = deployments.get(&wait.object.name).await?;
            let pods = count_pods(client, &deployment).await?;
            Ok::<_, kube::Error>((deployment, pods))
        };
        match found.await {
            Ok((deployment, pods)) => attempt(is_rolled_out(&deployment, pods)),
            Err(error) => Attempt::Failed(error.into()),
        }
    };
    retry::until(wait.every, wait.within, look).await
}

async fn rolled_out_or_log(client: &Client, wait: &ObjectWait, lines: u32) -> Result<(), StepError> {
    let Err(error) = rolled_out(client, wait).await else { return Ok(()) };
    if !matches!(error, StepError::TimedOut { .. }) {
        return Err(error);
    }
    Err(newest_pod::with_log(client, &wait.object.name, lines, error).await)
}

async fn etcd(client: &Client, wait: &ObjectWait) -> Result<(), StepError> {
    let name = &wait.object.name;
    let mut attempts = Attempts::new(wait.every, wait.within);
    let (mut observed, mut count) = (None, 0);
    let failed = |observed: Option<String>, error: StepError| {
        let cause = observed.map_or(error, StepError::State);
        cause.within(format!("Error while waiting for Etcd {NAMESPACE}/{name} to become ready"))
    };
    loop {
        count += 1;
        let found = match objects::read(client, &wait.object).await {
            Ok(found) => found,
            Err(error) => return Err(failed(observed, error)),
        };
        let reason = match found.as_ref().map(readiness::etcd) {
            Some(Ok(())) => return Ok(()),
            Some(Err(reason)) => {
                observed = Some(reason.text.clone());
                if reason.is_reported && count > ETCD_ERRORS {
                    return Err(failed(observed, StepError::State(reason.text)));
                }
                reason.text
            }
            None => format!("etcds.druid.gardener.cloud {name:?} not found"),
        };
        if let Err(error) = attempts.pause(reason).await {
            return Err(failed(observed, error));
        }
    }
}

async fn load_balancer(client: &Client, wait: &ObjectWait) -> Result<(), StepError> {
    let services: Api<Service> = Api::namespaced(client.clone(), &wait.object.namespace);
    let look = || async {
        match services.get(&wait.object.name).await {
            Ok(service) => attempt(readiness::load_balancer(&service)),
            Err(error) => Attempt::Again(StepError::from(error).text()),
        }
    };
    retry::until(wait.every, wait.within, look).await
}

fn attempt(result: Result<(), String>) -> Attempt {
    result.map_or_else(Attempt::Again, |()| Attempt::Done)
}

/// It is not progressing, healthy, and has no Pods but those that it should have, looked at in this order.
fn is_rolled_out(deployment: &Deployment, pods: usize) -> Result<(), String> {
    let finished = rollout::deployment(deployment, |_| pods);
    if matches!(finished, Ok(()) | Err(Unfinished::OldPods)) {
        deployment.check().map_err(|reason| reason.to_string())?;
    }
    finished.map_err(|reason| reason.to_string())
}

async fn count_pods(client: &Client, deployment: &Deployment) -> Result<usize, kube::Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let labels = deployment.spec.selector.match_labels.iter();
    let selector: Vec<String> = labels.map(|(key, value)| format!("{key}={value}")).collect();
    Ok(pods.list_metadata(&ListParams::default().labels(&selector.join(","))).await?.items.len())
}

fn deployments(client: &Client) -> Api<Deployment> {
    Api::namespaced_with(client.clone(), NAMESPACE, &ApiResource::erase::<v1::Deployment>(&()))
}
