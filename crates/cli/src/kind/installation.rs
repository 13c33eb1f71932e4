//! Steps of the installation of components in a kind cluster.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use component::Component;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::envtest::{self, EnvtestError};
use substrate::identity::Identity;
use substrate::kind::{Kind, KindError};

use super::PATIENCE;

/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(250);

/// The tag of our images.
const TAG: &str = "local";

/// Why a component could not be installed.
#[derive(Debug, thiserror::Error)]
pub(super) enum InstallError {
    #[error("{0}")]
    Cluster(#[from] KindError),
    #[error("{0}")]
    Request(#[from] ClusterError),
    #[error("{0}")]
    Crds(#[from] EnvtestError),
    #[error("failed to create its certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("failed to check whether the API server reaches its webhooks: it refuses the {what}: {answer}")]
    ProbeRefused { what: String, answer: String },
    #[error("failed to read its configuration: {0}")]
    Configuration(String),
    #[error("failed to write manifests: {0}")]
    Write(#[from] std::io::Error),
    #[error("failed to write manifests: {0}")]
    Yaml(#[from] serde_json::Error),
    #[error(
        "the cluster has webhooks that would change the requests of cases: {names}; delete them, or start a cluster without \
        --install"
    )]
    ForeignWebhooks { names: String },
    #[error("failed to list {path}: {answer}")]
    List { path: String, answer: String },
    #[error("not ready after {} s: {answer}", PATIENCE.as_secs())]
    NotReady { answer: String },
}

/// The host names of a Service.
pub(super) fn service_names(service: &str, namespace: &str) -> [String; 3] {
    [service.to_owned(), format!("{service}.{namespace}"), format!("{service}.{namespace}.svc")]
}

/// The kustomize entry that replaces the image in the manifests by ours.
pub(super) fn image_override(component: &Component) -> Value {
    json!({"name": component.program, "newName": component.image(), "newTag": TAG})
}

/// Loads the components' images into a cluster and installs Gardener's CRDs.
pub(super) async fn prepare(
    kind: &Kind,
    components: impl Iterator<Item = &'static Component>,
) -> Result<(), InstallError> {
    let images: Vec<String> = components.map(|component| format!("{}:{TAG}", component.image())).collect();
    let crds: Vec<Value> = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    let (loaded, defined) = tokio::join!(kind.load(&images), envtest::install(kind.client(), &crds));
    loaded?;
    Ok(defined?)
}

/// The Secret with a component's certificate.
pub(super) fn certificate_secret(component: &Component, identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": format!("{}-server", component.program)},
        "stringData": {"tls.crt": identity.certificate, "tls.key": identity.key},
    })
}

/// Writes a kustomization; adds `apiVersion` and `kind`.
pub(super) fn write_kustomization(folder: &Path, mut kustomization: Value) -> Result<(), InstallError> {
    kustomization["apiVersion"] = json!("kustomize.config.k8s.io/v1beta1");
    kustomization["kind"] = json!("Kustomization");
    write(folder, "kustomization.yaml", &formats::yaml::to_string(&kustomization)?)
}

/// Writes objects as the YAML documents of a file.
pub(super) fn write_objects(folder: &Path, path: &str, objects: &[Value]) -> Result<(), InstallError> {
    let documents = objects.iter().map(formats::yaml::to_string).collect::<Result<Vec<_>, _>>()?;
    write(folder, path, &documents.join("---\n"))
}

/// Writes a file and creates its folders.
pub(super) fn write(folder: &Path, path: &str, text: &str) -> Result<(), InstallError> {
    let file = folder.join(path);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(file, text)?)
}

/// Describes the status of a Deployment, unless it has rolled out.
pub(super) async fn missing_of_rollout(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<Option<String>, ClusterError> {
    let metadata = json!({"name": name, "namespace": namespace});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata});
    let found = cluster.get(&deployment).await?;
    let (wanted, status) = (&found.body["spec"]["replicas"], &found.body["status"]);
    let is_current = status["observedGeneration"] == found.body["metadata"]["generation"];
    let is_available =
        ["updatedReplicas", "availableReplicas", "replicas"].iter().all(|count| status[*count] == *wanted);
    Ok((!is_current || !is_available).then(|| format!("the Deployment {name} has the status {status}")))
}

/// Calls `missing` until it returns `None`.
///
/// # Errors
/// The error of `missing`; after [`PATIENCE`] what is still missing.
pub(super) async fn wait_until_none_missing<M, E>(missing: impl Fn() -> M) -> Result<(), InstallError>
where
    M: Future<Output = Result<Option<String>, E>>,
    InstallError: From<E>,
{
    let begun = Instant::now();
    while let Some(answer) = missing().await? {
        if begun.elapsed() > PATIENCE {
            return Err(InstallError::NotReady { answer });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
