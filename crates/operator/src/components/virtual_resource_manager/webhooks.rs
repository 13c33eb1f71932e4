//! The webhooks that the resource-manager of the virtual cluster serves, and three that it does not serve: no namespace of the virtual
//! cluster has the label that they select. The original registers them nevertheless.

use api::gardener::{PURPOSE, PURPOSE_KUBE_SYSTEM, PURPOSE_KUBERNETES_DASHBOARD};
use api::resources::{
    HA_CONSIDER, HA_SKIP, MANAGED_BY, MANAGED_BY_GARDENER, PROJECTED_TOKEN_SKIP, PURPOSE as SECRET_PURPOSE,
    PURPOSE_TOKEN_INVALIDATOR, SYSTEM_COMPONENTS_SKIP,
};
use serde_json::{Value, json};

use super::{CA_RUNTIME, NAME, app};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::objects::metadata;
use crate::components::values::GardenValues;

const CREATE: &[&str] = &["CREATE"];
const CREATE_AND_UPDATE: &[&str] = &["CREATE", "UPDATE"];

/// A webhook.
struct ServedWebhook<'a> {
    name: &'a str,
    path: &'a str,
    rules: Vec<Value>,
    namespaces: Value,
    objects: Value,
    match_policy: &'a str,
}

/// The configuration. It has a namespace, although its kind has none: the original does so, and the key in the ManagedResource tells.
pub(super) fn configuration(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let authority = values.secrets.bundle_base64(CA_RUNTIME)?;
    let served = [
        token_invalidator(),
        projected_token_mount(),
        high_availability_config(),
        system_components_config(),
    ];
    let webhooks: Vec<Value> = served.iter().map(|webhook| webhook.registration(&authority)).collect();
    Ok(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": metadata(&format!("{NAME}-shoot"), &app()),
        "webhooks": webhooks,
    }))
}

impl ServedWebhook<'_> {
    fn registration(&self, authority: &str) -> Value {
        json!({
            "name": format!("{}.resources.gardener.cloud", self.name),
            "rules": self.rules,
            "namespaceSelector": self.namespaces,
            "objectSelector": self.objects,
            "clientConfig": {
                "url": format!("https://{NAME}.{NAMESPACE}:443/webhooks/{}", self.path),
                "caBundle": authority,
            },
            "admissionReviewVersions": ["v1beta1", "v1"],
            "failurePolicy": "Fail",
            "matchPolicy": self.match_policy,
            "sideEffects": "None",
            "timeoutSeconds": 10,
        })
    }
}

fn token_invalidator() -> ServedWebhook<'static> {
    ServedWebhook {
        name: "token-invalidator",
        path: "invalidate-service-account-token-secret",
        rules: vec![rule("", &["v1"], &["secrets"], CREATE_AND_UPDATE)],
        namespaces: json!({ "matchExpressions": [purposes()] }),
        objects: json!({ "matchLabels": { SECRET_PURPOSE: PURPOSE_TOKEN_INVALIDATOR } }),
        match_policy: "Exact",
    }
}

fn projected_token_mount() -> ServedWebhook<'static> {
    let others = json!({ "key": "app", "operator": "NotIn", "values": [NAME] });
    ServedWebhook {
        name: "projected-token-mount",
        path: "mount-projected-service-account-token",
        rules: vec![rule("", &["v1"], &["pods"], CREATE)],
        namespaces: json!({ "matchExpressions": [purposes()] }),
        objects: json!({ "matchExpressions": [without(PROJECTED_TOKEN_SKIP), others] }),
        match_policy: "Exact",
    }
}

fn high_availability_config() -> ServedWebhook<'static> {
    ServedWebhook {
        name: "high-availability-config",
        path: "high-availability-config",
        rules: vec![
            rule("apps", &["v1"], &["deployments", "statefulsets"], CREATE_AND_UPDATE),
            rule("autoscaling", &["v2beta1", "v2"], &["horizontalpodautoscalers"], CREATE_AND_UPDATE),
            rule("autoscaling.k8s.io", &["v1alpha1"], &["hvpas"], CREATE_AND_UPDATE),
        ],
        namespaces: json!({ "matchLabels": { HA_CONSIDER: "true" }, "matchExpressions": [purposes()] }),
        objects: managed_without(HA_SKIP),
        match_policy: "Equivalent",
    }
}

fn system_components_config() -> ServedWebhook<'static> {
    ServedWebhook {
        name: "system-components-config",
        path: "system-components-config",
        rules: vec![rule("", &["v1"], &["pods"], CREATE)],
        namespaces: json!({ "matchExpressions": [purposes()] }),
        objects: managed_without(SYSTEM_COMPONENTS_SKIP),
        match_policy: "Exact",
    }
}

fn rule(group: &str, versions: &[&str], resources: &[&str], operations: &[&str]) -> Value {
    json!({
        "apiGroups": [group],
        "apiVersions": versions,
        "resources": resources,
        "operations": operations,
    })
}

/// Selects namespaces of system components.
fn purposes() -> Value {
    let purposes = [PURPOSE_KUBE_SYSTEM, PURPOSE_KUBERNETES_DASHBOARD];
    json!({ "key": PURPOSE, "operator": "In", "values": purposes })
}

fn without(key: &str) -> Value {
    json!({ "key": key, "operator": "DoesNotExist" })
}

fn managed_without(key: &str) -> Value {
    json!({
        "matchLabels": { MANAGED_BY: MANAGED_BY_GARDENER },
        "matchExpressions": [without(key)],
    })
}
