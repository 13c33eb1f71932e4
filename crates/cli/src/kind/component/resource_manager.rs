//! Our gardener-resource-manager: in a cluster that it serves it is a seed's.

use conformance::rollouts::Combining;
use gardener_resource_manager::config::ResourceManagerConfiguration;
use gardener_resource_manager::config::file;
use gardener_resource_manager::registrations::{self, Instance};
use gardener_resource_manager::webhooks;
use serde_json::{Value, json};

use super::{Alone, Component, Manifest, Probe, Suite, Webhooks, manifest, read};
use crate::kind::installation::InstallError;

pub(super) const COMPONENT: Component = Component {
    name: "gardener-resource-manager",
    base: &[
        manifest!("resource-manager", "base/deployment.yaml"),
        manifest!("resource-manager", "base/kustomization.yaml"),
        manifest!("resource-manager", "base/poddisruptionbudget.yaml"),
        manifest!("resource-manager", "base/service.yaml"),
        manifest!("resource-manager", "base/serviceaccount.yaml"),
    ],
    alone: Alone {
        namespace: NAMESPACE,
        manifests: &[
            CONFIG,
            manifest!("resource-manager", "runtime/garden/deployment.yaml"),
            manifest!("resource-manager", "runtime/garden/kustomization.yaml"),
            manifest!("resource-manager", "runtime/garden/rbac.yaml"),
            manifest!("resource-manager", "runtime/kustomization.yaml"),
            manifest!("resource-manager", "runtime/namespaces.yaml"),
        ],
        webhooks: Some(Webhooks { service: "gardener-resource-manager", objects: registered, probe }),
    },
    suite: Some(Suite {
        answers: &["resource-manager"],
        combining: Combining::Sections,
        manifests: &[("rbac.yaml", manifest!("resource-manager", "suite/rbac.yaml").1)],
        file: |config| whole(config).map(Some),
        registrations: |config, instance| {
            let config = file::from_partial(config).map_err(|error| error.to_string())?;
            let instance = if instance == "shoot" { Instance::Shoot } else { Instance::Seed };
            Ok(registrations::registrations(&config, instance, None))
        },
        paths: webhooks::paths,
    }),
};
const NAMESPACE: &str = "garden";
const CONFIG: Manifest = manifest!("resource-manager", "runtime/garden/config.yaml");
/// What every rollout has beside the configuration that its cases need.
const ROLLOUT: Manifest = manifest!("resource-manager", "suite/config.yaml");

fn registered(authority: &str) -> Result<Vec<Value>, InstallError> {
    let config = configuration(CONFIG.1)?;
    Ok(registrations::objects(&config, Instance::Seed, Some(authority)))
}

fn configuration(text: &str) -> Result<ResourceManagerConfiguration, InstallError> {
    let read = file::from_value(&read(text)?).map(|(config, _)| config);
    read.map_err(|error| InstallError::Configuration(error.to_string()))
}

/// A pod of its own namespace.
fn probe() -> Probe {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "probe-", "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "probe", "image": "probe"}]},
    });
    Probe { around: Vec::new(), object }
}

/// The configuration as a file has it: sections of cases over those that every rollout has.
fn whole(config: &Value) -> Result<Value, InstallError> {
    let mut whole = read(ROLLOUT.1)?;
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

    #[test]
    fn its_configuration_is_understood_and_registers_webhooks_of_both_kinds() {
        let (config, warnings) = file::from_value(&read(CONFIG.1).unwrap()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let objects = registrations::objects(&config, Instance::Seed, None);
        let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);
    }

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
    fn it_starts_with_every_configuration_that_all_contracts_together_are_given() {
        let contracts = contracts::all().unwrap();
        for config in InCluster::of(&contracts).configs_of(COMPONENT.name) {
            let whole = whole(config).unwrap();
            let read = file::from_value(&whole);
            assert!(read.is_ok(), "{:?}\n{whole:#}", read.err());
        }
    }
}
