//! Our gardener-controlplane-webhooks: the webhooks of a provider's extension in a seed.

use conformance::rollouts::Combining;
use controlplane_webhooks::config::file;
use controlplane_webhooks::config::{API_VERSION, ControlPlaneWebhooksConfiguration, KIND};
use controlplane_webhooks::registrations::{Address, registration};
use controlplane_webhooks::webhooks;
use serde_json::{Value, json};
use webhook::registration::WebhookConfiguration;

use super::{Alone, Component, Manifest, Probe, Suite, Webhooks, manifest, read};
use crate::kind::installation::InstallError;

pub(super) const COMPONENT: Component = Component {
    name: "gardener-controlplane-webhooks",
    base: &[
        manifest!("controlplane-webhooks", "base/deployment.yaml"),
        manifest!("controlplane-webhooks", "base/kustomization.yaml"),
        manifest!("controlplane-webhooks", "base/poddisruptionbudget.yaml"),
        manifest!("controlplane-webhooks", "base/rbac.yaml"),
        manifest!("controlplane-webhooks", "base/service.yaml"),
        manifest!("controlplane-webhooks", "base/serviceaccount.yaml"),
    ],
    alone: Alone {
        namespace: "extension-provider-local",
        manifests: &[
            CONFIG,
            manifest!("controlplane-webhooks", "runtime/extension/kustomization.yaml"),
            manifest!("controlplane-webhooks", "runtime/kustomization.yaml"),
            manifest!("controlplane-webhooks", "runtime/namespaces.yaml"),
        ],
        webhooks: Some(Webhooks { service: "gardener-extension-provider-local", objects: registered, probe }),
    },
    suite: Some(Suite {
        answers: &["controlplane"],
        // What a provider does not configure its webhooks do not do.
        combining: Combining::Nothing,
        manifests: &[],
        file: |config| whole(config).map(Some),
        registrations: |config, _| {
            let config = configuration(config).map_err(|error| error.to_string())?;
            let address = Address::service_of(&config.provider);
            Ok(registration(&config, &address, None).into_iter().collect())
        },
        paths: webhooks::paths,
    }),
};
const CONFIG: Manifest = manifest!("controlplane-webhooks", "runtime/extension/config.yaml");

fn registered(authority: &str) -> Result<Vec<Value>, InstallError> {
    let config = configuration(&read(CONFIG.1)?)?;
    let address = Address::service_of(&config.provider);
    Ok(registration(&config, &address, Some(authority)).iter().map(WebhookConfiguration::to_object).collect())
}

fn configuration(value: &Value) -> Result<ControlPlaneWebhooksConfiguration, InstallError> {
    let read = file::from_value(value).map(|(config, _)| config);
    read.map_err(|error| InstallError::Configuration(error.to_string()))
}

/// A Service that no hook changes, in the namespace of a control plane.
fn probe() -> Probe {
    let name = "probe-control-plane";
    let labels = json!({"shoot.gardener.cloud/provider": "local", "seed.gardener.cloud/provider": "local"});
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
    let object = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"generateName": "probe-", "namespace": name},
        "spec": {"ports": [{"port": 443}]},
    });
    Probe { around: vec![namespace], object }
}

/// The configuration as a file has it.
fn whole(config: &Value) -> Result<Value, InstallError> {
    let mut whole = json!({"apiVersion": API_VERSION, "kind": KIND});
    let sections =
        config.as_object().ok_or_else(|| InstallError::Configuration("it is no map".to_owned()))?;
    whole.as_object_mut().into_iter().for_each(|whole| whole.extend(sections.clone()));
    configuration(&whole).map(|_| whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::in_cluster::InCluster;

    #[test]
    fn it_starts_with_every_configuration_of_a_case_and_none_is_left_out() {
        let contracts = contracts::all().unwrap();
        let target = InCluster::of(&contracts);
        assert!(target.configs_of(COMPONENT.name).iter().all(|config| whole(config).is_ok()));
        let cases = contracts.iter().filter(|contract| contract.component == "controlplane");
        let cases = cases.flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.cases);
        for case in cases.filter(|case| !matches!(case.when, contract::case::When::Emitted(_))) {
            assert!(target.configs_of(COMPONENT.name).contains(&case.config), "{}", case.config);
        }
    }
}
