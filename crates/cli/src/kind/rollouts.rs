//! Our gardener-resource-manager with every configuration that cases need, side by side: a Deployment and a Service each.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::envtest;
use substrate::identity::Identity;
use substrate::kind::Kind;

use super::installation::{
    self, BASE, CONFIG_MAP, IMAGE, InstallError, NAME, SERVER_SECRET, TAG, customize, manifest, until, write,
    write_objects,
};

/// Where they run.
pub(super) const NAMESPACE: &str = "gardener-conformance";
/// What tells their pods apart.
const LABEL: &str = "conformance.gardener.cloud/rollout";
const CONFIG: (&str, &str) = manifest!("suite/config.yaml");

/// Name of the Deployment and of the Service of a rollout.
pub(super) fn name(rollout: usize) -> String {
    format!("{NAME}-{rollout}")
}

/// Installs one for each configuration and waits until all run; then no further pod begins. Gives the PEM of the authority
/// that signed their certificate, in base64.
pub(super) async fn install(kind: &Kind, configs: &[Value]) -> Result<String, InstallError> {
    kind.load(&format!("{IMAGE}:{TAG}")).await?;
    let crds: Vec<Value> = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    envtest::install(kind.client(), &crds).await?;
    let names: Vec<String> = (0..configs.len()).map(name).collect();
    let reached_as: Vec<String> =
        names.iter().flat_map(|name| installation::names(name, NAMESPACE)).collect();
    let identity = Identity::made(NAMESPACE, reached_as)?;
    let folder = tempfile::tempdir()?;
    for (path, text) in BASE {
        write(folder.path(), path, text)?;
    }
    write_objects(folder.path(), "around.yaml", &around())?;
    for (number, config) in configs.iter().enumerate() {
        let rollout = folder.path().join(number.to_string());
        write(&rollout, "config.yaml", &formats::yaml::to_string(&whole(config)?)?)?;
        write_objects(&rollout, "secret.yaml", &[secret(&identity)])?;
        customize(&rollout, overlay(number))?;
    }
    let rollouts = (0..configs.len()).map(|number| number.to_string());
    let resources: Vec<String> = std::iter::once("around.yaml".to_owned()).chain(rollouts).collect();
    customize(folder.path(), json!({"resources": resources, "images": [installation::image()]}))?;
    kind.apply(folder.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    for name in &names {
        until(|| installation::rolled_out(&cluster, NAMESPACE, name)).await?;
    }
    kind.cordon().await?;
    Ok(STANDARD.encode(identity.authority))
}

/// What all of them need.
fn around() -> [Value; 2] {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    let accounts = format!("system:serviceaccounts:{NAMESPACE}");
    let binding = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": NAMESPACE},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": accounts}],
    });
    [namespace, binding]
}

fn secret(identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": {"name": SERVER_SECRET},
        "stringData": {"tls.crt": identity.certificate, "tls.key": identity.key},
    })
}

fn overlay(number: usize) -> Value {
    json!({
        "namespace": NAMESPACE,
        "nameSuffix": format!("-{number}"),
        "resources": ["../base", "secret.yaml"],
        "configMapGenerator": [{"name": CONFIG_MAP, "files": ["config.yaml"]}],
        "labels": [{"pairs": {LABEL: number.to_string()}, "includeSelectors": true}],
    })
}

/// The configuration as a file has it: sections of cases over those that every rollout has.
fn whole(config: &Value) -> Result<Value, InstallError> {
    let mut whole: Value =
        formats::yaml::from_str(CONFIG.1).map_err(|error| InstallError::Configuration(error.to_string()))?;
    for (part, value) in config.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(sections) => {
                for (section, value) in sections {
                    whole[part][section] = value.clone();
                }
            }
            None => whole[part] = value.clone(),
        }
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::in_cluster::InCluster;
    use gardener_resource_manager::config::file;

    #[test]
    fn sections_of_cases_stand_beside_those_that_every_rollout_has() {
        let config = json!({"controllers": {"garbageCollector": {"enabled": true}}, "webhooks": {"seccompProfile": {"enabled": true}}});
        let whole = whole(&config).unwrap();
        let (read, warnings) = file::from_value(&whole).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!(read.webhooks.seccomp_profile.enabled);
        assert_eq!(whole["controllers"]["garbageCollector"]["enabled"], true);
        assert_eq!(whole["controllers"]["resourceClass"], "gardener-conformance");
        assert_eq!(whole["server"]["webhooks"]["port"], 10250);
    }

    #[test]
    fn a_resource_manager_starts_with_every_configuration_that_all_contracts_together_are_given() {
        let loaded = contract::load::read(&contract::source::embedded());
        for config in InCluster::of(&loaded.catalog.contracts).configs() {
            let whole = whole(config).unwrap();
            let read = file::from_value(&whole);
            assert!(read.is_ok(), "{:?}\n{whole:#}", read.err());
        }
    }
}
