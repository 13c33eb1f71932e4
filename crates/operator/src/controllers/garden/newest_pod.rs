//! The end of the log of a Deployment's newest Pod, which tells why it is not rolled out.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::{Api, ListParams, LogParams};

use super::error::StepError;
use crate::components::NAMESPACE;

/// The container whose log is read.
const CONTAINER: &str = "kube-apiserver";

/// An error with the last lines of the log of the newest Pod of a Deployment in the namespace `garden`; without a Pod the error itself.
pub(super) async fn with_log(client: &Client, deployment: &str, lines: u32, error: StepError) -> StepError {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let name = match newest(client, &pods, deployment).await {
        Ok(Some(name)) => name,
        Ok(None) => return error,
        Err(cause) => {
            let text = "failure to find the newest pod for deployment to read the logs";
            return because(text, cause, &error);
        }
    };
    let options = LogParams {
        container: Some(CONTAINER.to_owned()),
        tail_lines: Some(i64::from(lines)),
        ..LogParams::default()
    };
    match pods.logs(&name, &options).await {
        Ok(log) => StepError::State(format!("{}, logs of newest pod:\n{log}", error.text())),
        Err(cause) => because("failure to read the logs", cause, &error),
    }
}

fn because(text: &str, cause: kube::Error, error: &StepError) -> StepError {
    StepError::State(format!("{text}: {}: {}", StepError::from(cause).text(), error.text()))
}

async fn newest(client: &Client, pods: &Api<Pod>, deployment: &str) -> Result<Option<String>, kube::Error> {
    let deployments: Api<v1::Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = deployments.get(deployment).await?.spec;
    let labels = spec.and_then(|spec| spec.selector.match_labels).unwrap_or_default();
    let found = pods.list_metadata(&ListParams::default().labels(&selector(&labels))).await?;
    let named = found.items.into_iter().filter_map(|pod| {
        let created = pod.metadata.creation_timestamp.map(|Time(created)| created);
        Some((created, pod.metadata.name?))
    });
    Ok(named.max().map(|(_, name)| name))
}

fn selector(labels: &BTreeMap<String, String>) -> String {
    let terms: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    terms.join(",")
}
