//! The registration of the admission controller. Pods are created without it, too.

use api::gardener::REMEDIATION_EXCLUDE;
use serde_json::{Value, json};

use super::{WEBHOOK_SERVICE, WEBHOOK_SERVICE_PORT};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::generated::CA_RUNTIME;
use crate::components::objects::{cluster_metadata, entries};
use crate::components::values::GardenValues;

/// The configuration.
pub(super) fn configuration(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let authority = values.secrets.bundle_base64(CA_RUNTIME)?;
    let service = json!({"name": WEBHOOK_SERVICE, "namespace": NAMESPACE, "port": WEBHOOK_SERVICE_PORT});
    let webhook = json!({
        "name": "vpa.k8s.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service, "caBundle": authority},
        "failurePolicy": "Ignore",
        "matchPolicy": "Exact",
        "reinvocationPolicy": "Never",
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "rules": [
            rule("", "v1", "pods", &["CREATE"]),
            rule("autoscaling.k8s.io", "*", "verticalpodautoscalers", &["CREATE", "UPDATE"]),
        ],
    });
    Ok(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": cluster_metadata("vpa-webhook-config-source", &entries([(REMEDIATION_EXCLUDE, "true")])),
        "webhooks": [webhook],
    }))
}

fn rule(group: &str, version: &str, resource: &str, operations: &[&str]) -> Value {
    json!({
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "operations": operations,
        "scope": "*",
    })
}
