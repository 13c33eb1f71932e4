//! Objects of a garden that users give in files, or that a garden cluster has.

use std::fs;
use std::path::{Path, PathBuf};

use contract::load::Errors;
use contract::manifest::{self, UnknownField};
use contract::source;
use formats::yaml::{self, Node};
use kube::api::ListParams;
use kube::core::Request;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::kubeconfig::cluster_client;
use crate::terminal::Failure;

/// Extensions of the files that are read.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];
/// Objects per page of a list.
const PAGE: u32 = 500;

/// The YAML and JSON files below a folder, sorted; or the file itself.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = source::files_below(path, &EXTENSIONS).map_err(|error| Failure::from_cause(2, error))?;
    if found.errors.is_empty() { Ok(found.paths) } else { Err(Failure::diagnostic(Errors(found.errors))) }
}

/// The objects of a file; of a list, its items.
pub(crate) fn of_file(path: &Path) -> Result<Vec<Node>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("failed to read {}: {error}", path.display())))?;
    let mut objects = Vec::new();
    for document in yaml::parse(&text).map_err(|error| yaml_failure(path, &error))? {
        match document.get("items").and_then(Node::items) {
            Some(items) => objects.extend_from_slice(items),
            None if document.is_null() => {}
            None => objects.push(document),
        }
    }
    Ok(objects)
}

/// The `apiVersion` and the `kind` of an object; empty where it has none.
pub(crate) fn kind(node: &Node) -> (&str, &str) {
    let text = |field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default();
    (text("apiVersion"), text("kind"))
}

/// The object of a file as its type.
pub(crate) fn read<T: DeserializeOwned>(node: &Node, path: &Path) -> Result<T, Failure> {
    node.read().map_err(|error| yaml_failure(path, &error))
}

/// Warnings about fields that the kind of an object does not have: they are ignored.
pub(crate) fn unknown_fields(node: &Node, path: &Path) -> Vec<String> {
    let Ok(object) = node.read::<Value>() else { return Vec::new() };
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let warning = |(field, count): (UnknownField, usize)| {
        let place = field.position(node).map(|mark| format!(":{}:{}", mark.line, mark.column));
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        format!(
            "warning: {}{}: a {kind} has no field {}{times}, which is ignored; {}",
            path.display(),
            place.unwrap_or_default(),
            field.path,
            field.remedy
        )
    };
    manifest::by_place(manifest::unknown_fields(&object)).into_iter().map(warning).collect()
}

fn yaml_failure(path: &Path, error: &yaml::Error) -> Failure {
    let mark = error.mark;
    Failure::usage(format!("{}:{}:{}: {}", path.display(), mark.line, mark.column, error.message))
}

/// Calls `read` with a client for the cluster of a kubeconfig.
pub(crate) fn on_cluster(
    kubeconfig: &Path,
    read: impl AsyncFnOnce(kube::Client) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    runtime.block_on(async { read(cluster_client(kubeconfig).await?).await })
}

/// Lists all objects of a kind with these labels, page by page. The group and version are `v1` or `<group>/<version>`.
pub(crate) async fn list_all<T: DeserializeOwned>(
    client: &kube::Client,
    api_version: &str,
    plural: &str,
    labels: &str,
) -> Result<Vec<T>, Failure> {
    let wrong = |why: String| Failure::environment(format!("failed to list {plural}: {why}"));
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    let mut params = ListParams::default().limit(PAGE).labels(labels);
    let mut found = Vec::new();
    loop {
        let request = Request::new(format!("{root}/{api_version}/{plural}")).list(&params);
        let request = request.map_err(|error| wrong(error.to_string()))?;
        let mut page: Value = client.request(request).await.map_err(|error| wrong(error.to_string()))?;
        for item in page["items"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let object = serde_json::from_value(item);
            found.push(object.map_err(|error| wrong(format!("failed to read {name}: {error}")))?);
        }
        match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(token),
            None => return Ok(found),
        }
    }
}
