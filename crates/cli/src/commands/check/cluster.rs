//! Objects of a cluster: the namespaces of its shoots page by page, a few of them at once.

use std::path::Path;

use conformance::objects::Read;
use futures::StreamExt as _;
use kube::Client;
use kube::api::ListParams;
use kube::core::Request;
use schema::{Kinds, Resource};
use serde_json::Value;
use substrate::kubeconfig;

use super::{Sink, Wanted};
use crate::terminal::Failure;

/// How many objects are asked for at once.
const PAGE: u32 = 500;
/// How many namespaces are read at once.
const SIDE_BY_SIDE: usize = 4;
/// What Gardener writes on the namespaces of shoots.
const OF_SHOOTS: &str = "gardener.cloud/role=shoot";

/// Checks the namespaces and says what was read.
pub(super) async fn read(path: &Path, wanted: &Wanted, sink: &mut Sink<'_, '_>) -> Result<String, Failure> {
    let client = kubeconfig::client(path).await.map_err(|error| {
        Failure::environment(format!(
            "{error}; see that the cluster runs and that the kubeconfig is still valid"
        ))
    })?;
    let namespaces = namespaces(&client, path, wanted).await?;
    let is_mine = |found: &Value| wanted.is_mine(found["metadata"]["name"].as_str().unwrap_or_default());
    let namespaces: Vec<Value> = namespaces.into_iter().filter(is_mine).collect();
    sink.expect(namespaces.len());
    let kinds: Vec<&Resource> = wanted
        .kinds
        .iter()
        .filter_map(|kind| Kinds::gardener().preferred(&kind.group, &kind.kind))
        .filter(|resource| resource.namespaced)
        .collect();
    let read = namespaces.into_iter().map(|namespace| objects(&client, &kinds, namespace));
    let mut read = futures::stream::iter(read).buffered(SIDE_BY_SIDE);
    while let Some(read) = read.next().await {
        let (name, objects) = read?;
        if !sink.take(&name, &objects) {
            break;
        }
    }
    Ok(format!("objects of the cluster of {}", path.display()))
}

/// The namespaces that are named, or those of all shoots.
async fn namespaces(client: &Client, path: &Path, wanted: &Wanted) -> Result<Vec<Value>, Failure> {
    if wanted.namespaces.is_empty() {
        let found = listed(client, "/api/v1/namespaces", &ListParams::default().labels(OF_SHOOTS)).await?;
        if found.is_empty() {
            let text = format!(
                "no namespace of {} is labelled {OF_SHOOTS}; name one with --namespace",
                path.display()
            );
            return Err(Failure { code: 4, text });
        }
        return Ok(found);
    }
    let mut found = Vec::new();
    for name in &wanted.namespaces {
        let request = Request::new("/api/v1/namespaces").get(name, &kube::api::GetParams::default());
        let request = request.map_err(|error| failed("namespaces", &error.to_string()))?;
        match client.request::<Value>(request).await {
            Ok(namespace) => found.push(namespace),
            Err(kube::Error::Api(status)) if status.code == 404 => {
                let text = format!(
                    "there is no namespace {name:?} in the cluster of {}; `kubectl get namespaces -l {OF_SHOOTS}` names those \
                     of shoots",
                    path.display()
                );
                return Err(Failure::usage(text));
            }
            Err(error) => return Err(failed("namespaces", &error.to_string())),
        }
    }
    Ok(found)
}

/// Everything in a namespace that clauses speak of, and the namespace.
async fn objects(
    client: &Client,
    kinds: &[&Resource],
    mut namespace: Value,
) -> Result<(String, Vec<Read>), Failure> {
    let name = namespace["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    typed(&mut namespace, "v1", "Namespace");
    let read = |object: Value| Read { object: object.into(), origin: String::new() };
    let mut found = vec![read(namespace)];
    for kind in kinds {
        let root = if kind.group.is_empty() { "/api" } else { "/apis" };
        let url = format!("{root}/{}/namespaces/{name}/{}", kind.api_version(), kind.plural);
        for mut object in listed(client, &url, &ListParams::default()).await? {
            typed(&mut object, &kind.api_version(), &kind.kind);
            found.push(read(object));
        }
    }
    Ok((name, found))
}

/// Objects of a list leave out what the list says.
fn typed(object: &mut Value, api_version: &str, kind: &str) {
    if object.is_object() {
        object["apiVersion"] = Value::from(api_version);
        object["kind"] = Value::from(kind);
    }
}

/// All objects of a kind, page by page; none of one that is not served.
async fn listed(client: &Client, url: &str, params: &ListParams) -> Result<Vec<Value>, Failure> {
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
        "failed to list {what}: {why}; the kubeconfig's user must be allowed to list it"
    ))
}
