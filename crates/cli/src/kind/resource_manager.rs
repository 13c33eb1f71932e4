//! Our gardener-resource-manager in a cluster, as kind/manifests installs it for the cluster that it runs in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gardener_resource_manager::registrations::{self, Instance};
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::identity::Identity;
use substrate::kind::Kind;

use super::installation::{
    self, BASE, IMAGE, InstallError, NAME, SERVER_SECRET, TAG, customize, manifest, until, write,
    write_objects,
};

const NAMESPACE: &str = "garden";
const CONFIG: (&str, &str) = manifest!("runtime/garden/config.yaml");
const RUNTIME: [(&str, &str); 6] = [
    CONFIG,
    manifest!("runtime/garden/deployment.yaml"),
    manifest!("runtime/garden/kustomization.yaml"),
    manifest!("runtime/garden/rbac.yaml"),
    manifest!("runtime/kustomization.yaml"),
    manifest!("runtime/namespaces.yaml"),
];

/// Installs it, waits until it runs, registers its webhooks, and waits until the API server reaches them.
pub(super) async fn install(kind: &Kind) -> Result<(), InstallError> {
    kind.load(&format!("{IMAGE}:{TAG}")).await?;
    let identity = Identity::made(NAME, installation::names(NAME, NAMESPACE))?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": SERVER_SECRET, "namespace": NAMESPACE},
        "stringData": {"tls.crt": identity.certificate, "tls.key": identity.key},
    });
    let crds: Vec<Value> = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    let component = tempfile::tempdir()?;
    for (path, text) in BASE.into_iter().chain(RUNTIME) {
        write(component.path(), path, text)?;
    }
    write_objects(component.path(), "crds.yaml", &crds)?;
    write_objects(component.path(), "secret.yaml", &[secret])?;
    let resources =
        json!({"resources": ["crds.yaml", "runtime", "secret.yaml"], "images": [installation::image()]});
    customize(component.path(), resources)?;
    kind.apply(component.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    until(|| installation::rolled_out(&cluster, NAMESPACE, NAME)).await?;
    let authority = STANDARD.encode(identity.authority);
    let config = installation::configuration(CONFIG.1)?;
    let registration = tempfile::tempdir()?;
    let webhooks = registrations::objects(&config, Instance::Seed, Some(&authority));
    write_objects(registration.path(), "webhooks.yaml", &webhooks)?;
    customize(registration.path(), json!({"resources": ["webhooks.yaml"]}))?;
    kind.apply(registration.path()).await?;
    until(|| reached(&cluster)).await
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

#[cfg(test)]
mod tests {
    use super::*;
    use gardener_resource_manager::config::file;

    #[test]
    fn every_file_that_a_kustomization_names_is_among_the_manifests() {
        let manifests: Vec<(&str, &str)> = BASE.into_iter().chain(RUNTIME).collect();
        let exists = |wanted: &str| manifests.iter().any(|(path, _)| *path == wanted);
        for (path, text) in manifests.iter().filter(|(path, _)| path.ends_with("kustomization.yaml")) {
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
        let (config, warnings) = file::from_value(&value).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let objects = registrations::objects(&config, Instance::Seed, None);
        let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);
    }

    #[test]
    fn its_certificate_is_for_the_service_that_is_asked() {
        let config = installation::configuration(CONFIG.1).unwrap();
        let objects = registrations::objects(&config, Instance::Seed, None);
        let asked = &objects[0]["webhooks"][0]["clientConfig"]["service"];
        let part = |part: &str| asked[part].as_str().unwrap_or_default();
        let name = format!("{}.{}.svc", part("name"), part("namespace"));
        assert!(installation::names(NAME, NAMESPACE).contains(&name), "{name}");
    }
}
