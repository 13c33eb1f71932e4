//! istiod: it configures gateways, and validates Istio's objects.

use std::collections::BTreeMap;

use api::networking::NAMESPACE_SELECTORS;
use serde_json::{Value, json};

use super::{FILTER_API_VERSION, ISTIO_SYSTEM, ISTIOD_PORT, account, budget, checksum, placed};
use super::{istiod_deployment, istiod_roles, mesh};
use crate::components::error::RenderError;
use crate::components::objects::{cluster_metadata, entries, with};

/// The name of most of its objects.
pub(super) const NAME: &str = "istiod";
/// Where it serves webhooks.
pub(super) const WEBHOOK_PORT: u16 = 10250;
/// Where it serves metrics.
pub(super) const METRICS_PORT: u16 = 15014;

/// Annotations of its Service, whose ports are written in another order of fields than elsewhere.
const FROM_SCRAPERS: (&str, &str) = (
    "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports",
    r#"[{"port":15014,"protocol":"TCP"}]"#,
);
const FROM_WORLD: (&str, &str) =
    (api::networking::FROM_WORLD_TO_PORTS, r#"[{"port":10250,"protocol":"TCP"}]"#);
/// Namespaces whose Pods may connect: those of gateways, also of exposure classes, and `garden`.
const CLIENT_NAMESPACES: &str = r#"[{"matchLabels":{"gardener.cloud/role":"istio-ingress"}},{"matchExpressions":[{"key":"handler.exposureclass.gardener.cloud/name","operator":"Exists"}]},{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]"#;
/// The groups of objects that it validates.
const VALIDATED: [&str; 5] = [
    "config.istio.io",
    "rbac.istio.io",
    "security.istio.io",
    "authentication.istio.io",
    "networking.istio.io",
];

/// All its objects.
pub(super) fn objects(image: &str) -> Result<Vec<Value>, RenderError> {
    let config_map = mesh::config_map()?;
    let deployment = istiod_deployment::deployment(image, &checksum(&config_map)?);
    let mut objects = vec![
        config_map,
        deployment,
        budget(NAME, ISTIO_SYSTEM, &labels()),
        autoscaler(),
        service(),
        account(NAME, ISTIO_SYSTEM, &labels()),
        validating_webhook(),
    ];
    objects.extend(istiod_roles::objects());
    objects.extend(mesh_defaults());
    Ok(objects)
}

/// Labels of its objects and Pods.
pub(super) fn labels() -> BTreeMap<String, String> {
    entries([("app", NAME), ("istio", "pilot")])
}

fn autoscaler() -> Value {
    let policy =
        json!({ "containerName": istiod_deployment::CONTAINER, "minAllowed": { "memory": "128Mi" } });
    json!({
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": placed(NAME, ISTIO_SYSTEM, &labels()),
        "spec": {
            "targetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": NAME },
            "updatePolicy": { "updateMode": "Auto" },
            "resourcePolicy": { "containerPolicies": [policy] },
        },
    })
}

fn service() -> Value {
    let mut metadata = placed(NAME, ISTIO_SYSTEM, &labels());
    metadata["annotations"] =
        json!(entries([FROM_SCRAPERS, FROM_WORLD, (NAMESPACE_SELECTORS, CLIENT_NAMESPACES)]));
    let port = |name: &str, port: u16, target: Option<u16>| {
        let mut written = json!({ "name": name, "port": port, "protocol": "TCP" });
        if let Some(target) = target {
            written["targetPort"] = target.into();
        }
        written
    };
    let ports = [
        port("https-sds", ISTIOD_PORT, None),
        port("https-webhook", 443, Some(WEBHOOK_PORT)),
        port("metrics", METRICS_PORT, Some(METRICS_PORT)),
    ];
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": { "type": "ClusterIP", "selector": labels(), "ports": ports },
    })
}

/// Objects that nobody overrides: connections in the mesh are encrypted, and go where the mesh knows the way.
fn mesh_defaults() -> [Value; 3] {
    let object = |api_version: &str, kind: &str, labels: &BTreeMap<String, String>, spec: Value| {
        let metadata = placed("default", ISTIO_SYSTEM, labels);
        json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec })
    };
    let none = BTreeMap::new();
    let destination = json!({
        "host": "*",
        "exportTo": ["*"],
        "trafficPolicy": { "tls": { "mode": "ISTIO_MUTUAL" } },
    });
    let sidecar = json!({
        "egress": [{ "hosts": ["*/*"] }],
        "outboundTrafficPolicy": { "mode": "REGISTRY_ONLY" },
    });
    [
        object("networking.istio.io/v1beta1", "DestinationRule", &none, destination),
        object(
            "security.istio.io/v1beta1",
            "PeerAuthentication",
            &none,
            json!({ "mtls": { "mode": "STRICT" } }),
        ),
        object(FILTER_API_VERSION, "Sidecar", &labels(), sidecar),
    ]
}

/// istiod fills in the authority when it is ready, and finds the object by the label with its revision, which has none.
fn validating_webhook() -> Value {
    let all_labels = with(labels(), entries([("istio.io/rev", "")]));
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": cluster_metadata(NAME, &all_labels),
        "webhooks": [{
            "name": "validation.istio.io",
            "admissionReviewVersions": ["v1", "v1beta1"],
            "timeoutSeconds": 10,
            "clientConfig": {
                "service": { "name": NAME, "namespace": ISTIO_SYSTEM, "path": "/validate" },
                "caBundle": "",
            },
            "rules": [{
                "operations": ["CREATE", "UPDATE"],
                "apiGroups": VALIDATED,
                "apiVersions": ["*"],
                "resources": ["*"],
            }],
            "failurePolicy": "Ignore",
            "matchPolicy": "Exact",
            "sideEffects": "None",
        }],
    })
}
