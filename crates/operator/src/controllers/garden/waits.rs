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
use super::managed::ManagedKey;
use super::retry::{self, Attempt, Attempts};
use super::{newest_pod, objects, readiness};
use crate::components::NAMESPACE;
use crate::components::rendering::ObjectName;

/// Between two looks at a ManagedResource, or at an object that goes.
const MANAGED_INTERVAL: Duration = Duration::from_secs(2);
/// Between two looks at another object.
const INTERVAL: Duration = Duration::from_secs(5);
/// How many looks an Etcd may report an error before that counts.
const ETCD_ERRORS: u32 = 36;
const ETCD_LIMIT: Duration = Duration::from_mins(5);
const LOAD_BALANCER_LIMIT: Duration = Duration::from_mins(10);
const ROLLOUT_LIMIT: Duration = Duration::from_mins(5);

/// Something to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A ManagedResource is applied and healthy, within this time.
    Healthy(ManagedKey, Duration),
    /// And nothing of it is rolled out any more.
    HealthyAndDone(ManagedKey, Duration),
    /// A Deployment in the namespace `garden` is healthy.
    Available(&'static str),
    /// A Deployment in the namespace `garden` is rolled out, and no old Pod is left, within this time.
    RolledOut(&'static str, Duration),
    /// The same of the virtual cluster's kube-apiserver, whose log is quoted if it is not.
    ApiServer(&'static str),
    /// An Etcd in the namespace `garden` is ready.
    Etcd(&'static str),
    /// A Service has the address of a load balancer.
    LoadBalancer {
        /// Its namespace.
        namespace: &'static str,
        /// Its name.
        name: &'static str,
    },
}

/// Waits.
///
/// # Errors
/// If the time has passed, or the API server refuses.
pub(super) fn wait(client: &Client, wait: Wait) -> BoxFuture<'_, Result<(), StepError>> {
    match wait {
        Wait::Healthy(key, limit) => managed_resource(client, key, limit, false).boxed(),
        Wait::HealthyAndDone(key, limit) => managed_resource(client, key, limit, true).boxed(),
        Wait::Available(name) => available(client, name).boxed(),
        Wait::RolledOut(name, limit) => rolled_out(client, name, limit).boxed(),
        Wait::ApiServer(name) => api_server(client, name).boxed(),
        Wait::Etcd(name) => etcd(client, name).boxed(),
        Wait::LoadBalancer { namespace, name } => load_balancer(client, namespace, name).boxed(),
    }
}

/// Waits until an object is gone, as long as it takes without a limit.
///
/// # Errors
/// If the time has passed, or the API server refuses. Of a ManagedResource it is added why its deletion does not go on.
pub(super) async fn gone(
    client: &Client,
    name: &ObjectName,
    limit: Option<Duration>,
) -> Result<(), StepError> {
    let mut attempts = Attempts::new(MANAGED_INTERVAL, limit);
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

async fn managed_resource(
    client: &Client,
    (namespace, name): ManagedKey,
    limit: Duration,
    and_done: bool,
) -> Result<(), StepError> {
    let resources: Api<ManagedResource> = Api::namespaced(client.clone(), namespace);
    let look = || async {
        match resources.get(name).await {
            Ok(found) => attempt(readiness::managed_resource(&found, and_done)),
            Err(error) => Attempt::Failed(error.into()),
        }
    };
    retry::until(MANAGED_INTERVAL, Some(limit), look).await
}

async fn available(client: &Client, name: &str) -> Result<(), StepError> {
    let deployments = deployments(client);
    let look = || async {
        match deployments.get(name).await {
            Ok(found) => attempt(found.check().map_err(|reason| reason.to_string())),
            Err(error) => Attempt::Failed(error.into()),
        }
    };
    retry::until(INTERVAL, Some(ROLLOUT_LIMIT), look).await
}

async fn rolled_out(client: &Client, name: &str, limit: Duration) -> Result<(), StepError> {
    let deployments = deployments(client);
    let look = || async {
        let found = async {
            let deployment = deployments.get(name).await?;
            let pods = count_pods(client, &deployment).await?;
            Ok::<_, kube::Error>((deployment, pods))
        };
        match found.await {
            Ok((deployment, pods)) => attempt(is_rolled_out(&deployment, pods)),
            Err(error) => Attempt::Failed(error.into()),
        }
    };
    retry::until(INTERVAL, Some(limit), look).await
}

async fn api_server(client: &Client, name: &str) -> Result<(), StepError> {
    let Err(error) = rolled_out(client, name, ROLLOUT_LIMIT).await else { return Ok(()) };
    if !matches!(error, StepError::TimedOut { .. }) {
        return Err(error);
    }
    Err(newest_pod::with_log(client, name, error).await)
}

async fn etcd(client: &Client, name: &str) -> Result<(), StepError> {
    let object = ObjectName::in_garden(api::druid::API_VERSION, "Etcd", name);
    let mut attempts = Attempts::new(INTERVAL, Some(ETCD_LIMIT));
    let (mut observed, mut count) = (None, 0);
    let failed = |observed: Option<String>, error: StepError| {
        let cause = observed.map_or(error, StepError::State);
        cause.within(format!("Error while waiting for Etcd {NAMESPACE}/{name} to become ready"))
    };
    loop {
        count += 1;
        let found = match objects::read(client, &object).await {
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

async fn load_balancer(client: &Client, namespace: &str, name: &str) -> Result<(), StepError> {
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    let look = || async {
        match services.get(name).await {
            Ok(service) => attempt(readiness::load_balancer(&service)),
            Err(error) => Attempt::Again(StepError::from(error).text()),
        }
    };
    retry::until(INTERVAL, Some(LOAD_BALANCER_LIMIT), look).await
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
