//! What installing a component takes: manifests in a folder, and patience.

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

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// The tag of our images.
const TAG: &str = "local";

/// Why a component is not installed.
#[derive(Debug, thiserror::Error)]
pub(super) enum InstallError {
    #[error("{0}")]
    Cluster(#[from] KindError),
    #[error("{0}")]
    Ask(#[from] ClusterError),
    #[error("{0}")]
    Crds(#[from] EnvtestError),
    #[error("failed to make its certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("its webhooks are not reached: the API server refuses {what}: {answer}")]
    Unprobed { what: String, answer: String },
    #[error("failed to read its configuration: {0}")]
    Configuration(String),
    #[error("failed to write manifests: {0}")]
    Write(#[from] std::io::Error),
    #[error("failed to write manifests: {0}")]
    Yaml(#[from] serde_json::Error),
    #[error(
        "webhooks that no run registered would change what cases ask: {names}; delete them, or start a cluster without \
         --install"
    )]
    Foreign { names: String },
    #[error("failed to list {path}: {answer}")]
    Unlisted { path: String, answer: String },
    #[error("it is not ready after {} s: {answer}", PATIENCE.as_secs())]
    NotReady { answer: String },
}

/// The names that a Service is reached as.
pub(super) fn names(service: &str, namespace: &str) -> [String; 3] {
    [service.to_owned(), format!("{service}.{namespace}"), format!("{service}.{namespace}.svc")]
}

/// Our image in the place of the one that manifests name.
pub(super) fn image(component: &Component) -> Value {
    json!({"name": component.program, "newName": component.image(), "newTag": TAG})
}

/// Brings what components need into a cluster: their images, and the kinds that Gardener defines.
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

/// The Secret that a component's certificate is in.
pub(super) fn secret(component: &Component, identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": format!("{}-server", component.program)},
        "stringData": {"tls.crt": identity.certificate, "tls.key": identity.key},
    })
}

/// Writes a kustomization; what it says of itself may be left out.
pub(super) fn customize(folder: &Path, mut kustomization: Value) -> Result<(), InstallError> {
    kustomization["apiVersion"] = json!("kustomize.config.k8s.io/v1beta1");
    kustomization["kind"] = json!("Kustomization");
    write(folder, "kustomization.yaml", &formats::yaml::to_string(&kustomization)?)
}

/// Writes a file of objects.
pub(super) fn write_objects(folder: &Path, path: &str, objects: &[Value]) -> Result<(), InstallError> {
    let documents = objects.iter().map(formats::yaml::to_string).collect::<Result<Vec<_>, _>>()?;
    write(folder, path, &documents.join("---\n"))
}

/// Writes a file and the folders that it lies in.
pub(super) fn write(folder: &Path, path: &str, text: &str) -> Result<(), InstallError> {
    let file = folder.join(path);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(file, text)?)
}

/// What is missing of a rollout, if anything is.
pub(super) async fn rolled_out(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<Option<String>, ClusterError> {
    let metadata = json!({"name": name, "namespace": namespace});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata});
    let found = cluster.get(&deployment).await?;
    let (wanted, status) = (&found.body["spec"]["replicas"], &found.body["status"]);
    let is_current = status["observedGeneration"] == found.body["metadata"]["generation"];
    let is_there =
        ["updatedReplicas", "availableReplicas", "replicas"].iter().all(|count| status[*count] == *wanted);
    Ok((!is_current || !is_there).then(|| format!("of the Deployment {name} {status}")))
}

/// Looks until nothing is missing.
pub(super) async fn until<L, E>(look: impl Fn() -> L) -> Result<(), InstallError>
where
    L: Future<Output = Result<Option<String>, E>>,
    InstallError: From<E>,
{
    let begun = Instant::now();
    while let Some(answer) = look().await? {
        if begun.elapsed() > PATIENCE {
            return Err(InstallError::NotReady { answer });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
