//! Our gardener-garden-admission: the admission of a garden whose Shoots and CloudProfiles are custom resources.

use conformance::rollouts::Combining;
use garden_admission::{registrations, webhooks};
use serde_json::{Value, json};
use webhook::registration::WebhookConfiguration;

use super::{Alone, Component, Probe, Suite, Webhooks, manifest};
use crate::kind::installation::InstallError;

pub(super) const COMPONENT: Component = Component {
    name: registrations::NAME,
    base: &[
        manifest!("garden-admission", "base/deployment.yaml"),
        manifest!("garden-admission", "base/kustomization.yaml"),
        manifest!("garden-admission", "base/poddisruptionbudget.yaml"),
        manifest!("garden-admission", "base/rbac.yaml"),
        manifest!("garden-admission", "base/service.yaml"),
        manifest!("garden-admission", "base/serviceaccount.yaml"),
    ],
    alone: Alone {
        namespace: registrations::NAMESPACE,
        manifests: &[
            manifest!("garden-admission", "runtime/garden/kustomization.yaml"),
            manifest!("garden-admission", "runtime/kustomization.yaml"),
            manifest!("garden-admission", "runtime/namespaces.yaml"),
        ],
        webhooks: Some(Webhooks { service: registrations::NAME, objects: registered, probe }),
    },
    suite: Some(Suite {
        answers: &["garden-admission", "garden"],
        combining: Combining::Nothing,
        manifests: &[],
        file: |_| Ok(None),
        registrations: |_, _| Ok(registrations::registrations(None)),
        paths,
    }),
};

#[expect(clippy::unnecessary_wraps, reason = "others read a configuration")]
fn registered(authority: &str) -> Result<Vec<Value>, InstallError> {
    let configurations = registrations::registrations(Some(authority));
    Ok(configurations.iter().map(WebhookConfiguration::to_object).collect())
}

/// A profile that offers one version.
fn probe() -> Probe {
    let object = json!({
        "apiVersion": api::garden::API_VERSION, "kind": "CloudProfile", "metadata": {"name": "probe"},
        "spec": {
            "type": "local", "kubernetes": {"versions": [{"version": "1.27.3"}]},
            "machineImages": [{"name": "local", "versions": [{"version": "1.0.0", "cri": [{"name": "containerd"}, {"name": "docker"}]}]}],
            "machineTypes": [{"name": "local", "cpu": "1", "gpu": "0", "memory": "1Gi"}],
            "regions": [{"name": "local"}],
        },
    });
    Probe { around: Vec::new(), object }
}

fn paths() -> Vec<(&'static str, String)> {
    let each = webhooks::RESOURCES.iter().flat_map(|resource| {
        [resource.mutating_path, resource.validating_path].map(|path| (resource.name, path.to_owned()))
    });
    each.collect()
}
