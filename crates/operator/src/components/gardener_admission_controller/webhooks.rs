//! The webhooks of gardener-admission-controller, which the API server of the virtual cluster calls by URL.

use serde_json::{Value, json};

use super::{NAME, settings};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::generated::CA_GARDENER;
use crate::components::values::GardenValues;

const CORE: &str = "core.gardener.cloud";

/// The ValidatingWebhookConfiguration: five webhooks, one for sizes of objects if there are limits, and one for what gardenlets write if
/// the API server asks what they may do. OPC-121, OPC-122.
///
/// # Errors
/// If the authority of Gardener's control plane was not generated.
pub(super) fn configuration(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let bundle = values.secrets.bundle_base64(CA_GARDENER)?;
    let mut webhooks = vec![
        namespace_deletion(),
        kubeconfig_secrets(),
        internal_domain_secret(),
        audit_policies(),
        admission_plugin_secret(),
    ];
    webhooks.extend(resource_size(values));
    webhooks.extend(values.observed.has_seed_authorizer.then(seed_restriction));
    for webhook in &mut webhooks {
        webhook["clientConfig"]["caBundle"] = bundle.as_str().into();
    }
    Ok(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": NAME},
        "webhooks": webhooks,
    }))
}

/// A webhook that fails closed after 10 seconds.
fn webhook(name: &str, path: &str, rules: &[Value]) -> Value {
    json!({
        "name": format!("{name}.gardener.cloud"),
        "admissionReviewVersions": ["v1", "v1beta1"],
        "timeoutSeconds": 10,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "rules": rules,
        "clientConfig": {"url": format!("https://{NAME}.{NAMESPACE}/webhooks/{path}")},
    })
}

fn rule(operations: &[&str], group: &str, version: &str, resources: &[&str]) -> Value {
    json!({
        "operations": operations,
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": resources,
    })
}

fn namespace_deletion() -> Value {
    let rules = [rule(&["DELETE"], "", "v1", &["namespaces"])];
    let name = "validate-namespace-deletion";
    in_projects(webhook(name, name, &rules))
}

fn kubeconfig_secrets() -> Value {
    let rules = [rule(&["CREATE", "UPDATE"], "", "v1", &["secrets"])];
    let name = "validate-kubeconfig-secrets";
    outside_of_gardener(webhook(name, name, &rules))
}

/// Selects another label than such Secrets have, as the original does, so that it is never called.
fn internal_domain_secret() -> Value {
    let rules = [rule(&["CREATE", "UPDATE", "DELETE"], "", "v1", &["secrets"])];
    let mut webhook = webhook("internal-domain-secret", "admission/validate-internal-domain", &rules);
    webhook["objectSelector"] = json!({"matchLabels": {"role": "internal-domain"}});
    webhook
}

fn audit_policies() -> Value {
    let rules = [
        rule(&["CREATE", "UPDATE"], CORE, "v1beta1", &["shoots"]),
        rule(&["UPDATE"], "", "v1", &["configmaps"]),
    ];
    in_projects(webhook("audit-policies", "audit-policies", &rules))
}

fn admission_plugin_secret() -> Value {
    let rules = [rule(&["UPDATE"], "", "v1", &["secrets"])];
    in_projects(webhook("admission-plugin-secret", "validate-admission-plugin-secret", &rules))
}

fn resource_size(values: &GardenValues<'_>) -> Option<Value> {
    let sizes = settings(values)?.resource_admission_configuration.as_ref()?;
    let rules: Vec<Value> = sizes
        .limits
        .iter()
        .map(|limit| {
            json!({
                "operations": ["CREATE", "UPDATE"],
                "apiGroups": limit.api_groups,
                "apiVersions": limit.api_versions,
                "resources": limit.resources,
            })
        })
        .collect();
    let name = "validate-resource-size";
    Some(outside_of_gardener(webhook(name, name, &rules)))
}

fn seed_restriction() -> Value {
    let create = ["CREATE"];
    let rules = [
        rule(&create, "", "v1", &["secrets", "serviceaccounts"]),
        rule(&create, "rbac.authorization.k8s.io", "v1", &["clusterrolebindings"]),
        rule(&create, "coordination.k8s.io", "v1", &["leases"]),
        rule(&create, "certificates.k8s.io", "v1", &["certificatesigningrequests"]),
        rule(&create, CORE, "v1beta1", &["backupentries", "internalsecrets", "shootstates"]),
        rule(&["CREATE", "DELETE"], CORE, "v1beta1", &["backupbuckets"]),
        rule(&["CREATE", "UPDATE", "DELETE"], CORE, "v1beta1", &["seeds"]),
        rule(&create, "operations.gardener.cloud", "v1alpha1", &["bastions"]),
    ];
    let mut webhook = webhook("seed-restriction", "admission/seedrestriction", &rules);
    webhook["matchPolicy"] = "Equivalent".into();
    webhook
}

/// Calls the webhook for objects in namespaces of Projects.
fn in_projects(mut webhook: Value) -> Value {
    webhook["namespaceSelector"] = json!({"matchLabels": {"gardener.cloud/role": "project"}});
    webhook
}

/// The same, but not in the namespace of Gardener itself, which is one of a Project, too.
fn outside_of_gardener(mut webhook: Value) -> Value {
    webhook["namespaceSelector"] = json!({"matchExpressions": [
        {"key": "gardener.cloud/role", "operator": "In", "values": ["project"]},
        {"key": "app", "operator": "NotIn", "values": ["gardener"]},
    ]});
    webhook
}
