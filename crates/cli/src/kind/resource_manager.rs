//! Our gardener-resource-manager in a cluster, as kind/manifests installs it for the cluster that it runs in.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gardener_resource_manager::config::file::{self, FileError};
use gardener_resource_manager::registrations::{self, Instance};
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::kind::{Kind, KindError};

use super::{PATIENCE, certificate};

const IMAGE: &str = "gardener-conformance/gardener-resource-manager";
const TAG: &str = "local";
const NAME: &str = "gardener-resource-manager";
const NAMESPACE: &str = "garden";
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// A manifest and its path in kind/manifests/resource-manager.
macro_rules! manifest {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../kind/manifests/resource-manager/", $path)))
    };
}

const MANIFESTS: [(&str, &str); 11] = [
    manifest!("base/deployment.yaml"),
    manifest!("base/kustomization.yaml"),
    manifest!("base/poddisruptionbudget.yaml"),
    manifest!("base/service.yaml"),
    manifest!("base/serviceaccount.yaml"),
    CONFIG,
    manifest!("runtime/garden/deployment.yaml"),
    manifest!("runtime/garden/kustomization.yaml"),
    manifest!("runtime/garden/rbac.yaml"),
    manifest!("runtime/kustomization.yaml"),
    manifest!("runtime/namespaces.yaml"),
];
const CONFIG: (&str, &str) = manifest!("runtime/garden/config.yaml");

/// Why it is not installed.
#[derive(Debug, thiserror::Error)]
pub(super) enum InstallError {
    #[error("{0}")]
    Cluster(#[from] KindError),
    #[error("{0}")]
    Ask(#[from] ClusterError),
    #[error("failed to make its certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("failed to read its configuration: {0}")]
    Configuration(String),
    #[error("failed to write manifests: {0}")]
    Write(#[from] std::io::Error),
    #[error("failed to write manifests: {0}")]
    Yaml(#[from] serde_json::Error),
    #[error("it is not ready after {} s: {answer}", PATIENCE.as_secs())]
    NotReady { answer: String },
}

/// Installs it, waits until it runs, registers its webhooks, and waits until the API server reaches them.
pub(super) async fn install(kind: &Kind) -> Result<(), InstallError> {
    kind.load(&format!("{IMAGE}:{TAG}")).await?;
    let certificate = certificate::of_service(NAME, NAMESPACE)?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": "gardener-resource-manager-server", "namespace": NAMESPACE},
        "stringData": {"tls.crt": certificate.certificate, "tls.key": certificate.key},
    });
    let crds: Vec<Value> = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    let component = tempfile::tempdir()?;
    for (path, text) in MANIFESTS {
        write(component.path(), path, text)?;
    }
    let image = json!({"name": NAME, "newName": IMAGE, "newTag": TAG});
    customize(component.path(), &[("crds", &crds)], &["runtime"], &[("secret", &[secret])], &[image])?;
    kind.apply(component.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    until(|| rolled_out(&cluster)).await?;
    let authority = STANDARD.encode(certificate.authority);
    let webhooks = registrations::objects(&configuration()?, Instance::Seed, Some(&authority));
    let registration = tempfile::tempdir()?;
    customize(registration.path(), &[("webhooks", &webhooks)], &[], &[], &[])?;
    kind.apply(registration.path()).await?;
    until(|| reached(&cluster)).await
}

fn configuration() -> Result<gardener_resource_manager::config::ResourceManagerConfiguration, InstallError> {
    let wrong = |error: &dyn std::fmt::Display| InstallError::Configuration(error.to_string());
    let value: Value = formats::yaml::from_str(CONFIG.1).map_err(|error| wrong(&error))?;
    let (config, _) = file::from_value(&value).map_err(|error: FileError| wrong(&error))?;
    Ok(config)
}

/// Writes a kustomization of files with objects before and after folders.
fn customize(
    folder: &Path,
    before: &[(&str, &[Value])],
    folders: &[&str],
    after: &[(&str, &[Value])],
    images: &[Value],
) -> Result<(), InstallError> {
    for (name, objects) in before.iter().chain(after) {
        let documents = objects.iter().map(formats::yaml::to_string).collect::<Result<Vec<_>, _>>()?;
        write(folder, &format!("{name}.yaml"), &documents.join("---\n"))?;
    }
    let file = |(name, _): &(&str, &[Value])| format!("{name}.yaml");
    let folders = folders.iter().map(|&folder| folder.to_owned());
    let resources: Vec<String> =
        before.iter().map(file).chain(folders).chain(after.iter().map(file)).collect();
    let kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": resources, "images": images,
    });
    write(folder, "kustomization.yaml", &formats::yaml::to_string(&kustomization)?)
}

fn write(folder: &Path, path: &str, text: &str) -> Result<(), InstallError> {
    let file = folder.join(path);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(file, text)?)
}

async fn rolled_out(cluster: &Cluster) -> Result<Option<String>, ClusterError> {
    let name = json!({"name": NAME, "namespace": NAMESPACE});
    let found =
        cluster.get(&json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": name})).await?;
    let (wanted, status) = (&found.body["spec"]["replicas"], &found.body["status"]);
    let is_current = status["observedGeneration"] == found.body["metadata"]["generation"];
    let is_there =
        ["updatedReplicas", "availableReplicas", "replicas"].iter().all(|count| status[*count] == *wanted);
    Ok((!is_current || !is_there).then(|| format!("of the Deployment {status}")))
}

/// A Service is programmed a moment after its Pods are ready: the first webhook calls may fail.
async fn reached(cluster: &Cluster) -> Result<Option<String>, ClusterError> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "probe-", "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "probe", "image": "probe"}]},
    });
    let reply = cluster.create(&pod, "dryRun=All").await?;
    Ok((!reply.is_success()).then(|| reply.message()))
}

/// Looks until nothing is missing.
async fn until<L>(look: impl Fn() -> L) -> Result<(), InstallError>
where
    L: Future<Output = Result<Option<String>, ClusterError>>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_kustomization_names_is_among_the_manifests() {
        let exists = |wanted: &str| MANIFESTS.iter().any(|(path, _)| *path == wanted);
        for (path, text) in MANIFESTS.iter().filter(|(path, _)| path.ends_with("kustomization.yaml")) {
            let folder = path.trim_end_matches("/kustomization.yaml");
            let kustomization: Value = formats::yaml::from_str(text).unwrap();
            let named = kustomization["resources"].as_array().unwrap().iter().filter_map(Value::as_str);
            for name in named {
                let wanted = format!("{folder}/{name}").replace("runtime/garden/../../", "");
                assert!(exists(&wanted) || exists(&format!("{wanted}/kustomization.yaml")), "{wanted}");
            }
        }
    }

    #[test]
    fn its_configuration_is_understood_and_registers_webhooks_of_both_kinds() {
        let value: Value = formats::yaml::from_str(CONFIG.1).unwrap();
        let (_, warnings) = file::from_value(&value).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let objects = registrations::objects(&configuration().unwrap(), Instance::Seed, None);
        let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);
    }

    #[test]
    fn its_certificate_is_for_its_service() {
        let service = json!({"name": NAME, "namespace": NAMESPACE});
        let objects = registrations::objects(&configuration().unwrap(), Instance::Seed, None);
        let asked = &objects[0]["webhooks"][0]["clientConfig"]["service"];
        assert_eq!(json!({"name": asked["name"], "namespace": asked["namespace"]}), service);
    }
}
