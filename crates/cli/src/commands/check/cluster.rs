//! Reads the objects of a cluster by namespace, several namespaces at the same time.

use std::path::Path;

use conformance::objects::Read;
use futures::StreamExt as _;
use kube::Client;
use kube::api::ListParams;
use kube::core::Request;
use schema::{Kinds, Resource};
use serde_json::Value;

use super::{CheckRun, ObjectFilter};
use crate::kubeconfig::cluster_client;
use crate::terminal::Failure;

/// Objects per page of a list.
const PAGE: u32 = 500;
/// How many namespaces are read at the same time.
const PARALLEL: usize = 4;
/// The label that Gardener sets on the namespaces of Shoots.
const SHOOT_LABEL: &str = "gardener.cloud/role=shoot";

/// Checks the namespaces and returns a description of what was read.
pub(super) async fn check(
    path: &Path,
    filter: &ObjectFilter,
    run: &mut CheckRun<'_, '_>,
) -> Result<String, Failure> {
    let client = cluster_client(path).await.map_err(|failure| match failure.code {
        3 => Failure::environment(format!(
            "{}; check that the cluster runs and that the kubeconfig is still valid",
            failure.text
        )),
        _ => failure,
    })?;
    let namespaces = namespaces(&client, path, filter).await?;
    let is_in_shard =
        |found: &Value| filter.is_in_shard(found["metadata"]["name"].as_str().unwrap_or_default());
    let namespaces: Vec<Value> = namespaces.into_iter().filter(is_in_shard).collect();
    run.set_total(namespaces.len());
    let kinds: Vec<&Resource> = filter
        .kinds
        .iter()
        .filter_map(|kind| Kinds::gardener().preferred(&kind.group, &kind.kind))
        .filter(|resource| resource.namespaced)
        .collect();
    let read = namespaces.into_iter().map(|namespace| objects(&client, &kinds, namespace));
    let mut read = futures::stream::iter(read).buffered(PARALLEL);
    while let Some(read) = read.next().await {
        let (name, objects) = read?;
        if !run.check_namespace(&name, &objects) {
            break;
        }
    }
    Ok(format!("objects of the cluster of {}", path.display()))
}

/// The namespaces of `--namespace`, or those of all Shoots.
async fn namespaces(client: &Client, path: &Path, filter: &ObjectFilter) -> Result<Vec<Value>, Failure> {
    if filter.namespaces.is_empty() {
        let found =
            list_all(client, "/api/v1/namespaces", &ListParams::default().labels(SHOOT_LABEL)).await?;
        if found.is_empty() {
            let text = format!(
                "no namespace of {} has the label {SHOOT_LABEL}; name one with --namespace",
                path.display()
            );
            return Err(Failure { code: 4, text });
        }
        return Ok(found);
    }
    let mut found = Vec::new();
    for name in &filter.namespaces {
        let request = Request::new("/api/v1/namespaces").get(name, &kube::api::GetParams::default());
        let request = request.map_err(|error| failed("namespaces", &error.to_string()))?;
        match client.request::<Value>(request).await {
            Ok(namespace) => found.push(namespace),
            Err(kube::Error::Api(status)) if status.code == 404 => {
                let text = format!(
                    "there is no namespace {name:?} in the cluster of {}; `kubectl get namespaces -l {SHOOT_LABEL}` lists those \
                    of Shoots",
                    path.display()
                );
                return Err(Failure::usage(text));
            }
            Err(error) => return Err(failed("namespaces", &error.to_string())),
        }
    }
    Ok(found)
}

/// Reads the namespace and its objects of the kinds that clauses are about.
async fn objects(
    client: &Client,
    kinds: &[&Resource],
    mut namespace: Value,
) -> Result<(String, Vec<Read>), Failure> {
    let name = namespace["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    set_type(&mut namespace, "v1", "Namespace");
    let read = |object: Value| Read { object: object.into(), origin: String::new() };
    let mut found = vec![read(namespace)];
    for kind in kinds {
        let root = if kind.group.is_empty() { "/api" } else { "/apis" };
        let url = format!("{root}/{}/namespaces/{name}/{}", kind.api_version(), kind.plural);
        for mut object in list_all(client, &url, &ListParams::default()).await? {
            set_type(&mut object, &kind.api_version(), &kind.kind);
            found.push(read(object));
        }
    }
    Ok((name, found))
}

/// Sets `apiVersion` and `kind`, which the items of a list do not have.
fn set_type(object: &mut Value, api_version: &str, kind: &str) {
    if object.is_object() {
        object["apiVersion"] = Value::from(api_version);
        object["kind"] = Value::from(kind);
    }
}

/// Lists all objects of a kind, page by page; an empty list if the server does not serve the kind.
async fn list_all(client: &Client, url: &str, params: &ListParams) -> Result<Vec<Value>, Failure> {
    let mut params = params.clone().limit(PAGE);
    let mut found = Vec::new();
    loop {
        let request = Request::new(url).list(&params).map_err(|error| failed(url, &error.to_string()))?;
        let mut page = match client.request::<Value>(request).await {
            Ok(page) => page,
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(found),
            Err(error) => return Err(failed(url, &error.to_string())),
        };
        found.extend(page["items"].as_array_mut().map(std::mem::take).unwrap_or_default());
        match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(token),
            None => return Ok(found),
        }
    }
}

fn failed(what: &str, why: &str) -> Failure {
    Failure::environment(format!(
        "failed to list {what}: {why}; the user of the kubeconfig must be allowed to list it"
    ))
}
