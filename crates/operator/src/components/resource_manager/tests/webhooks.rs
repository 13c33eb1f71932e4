//! The webhooks that are expected, from the description of the original.

use serde_json::{Value, json};

/// Plural names of kinds of extensions.
const EXTENSIONS: [&str; 11] = [
    "backupbuckets",
    "backupentries",
    "bastions",
    "containerruntimes",
    "controlplanes",
    "dnsrecords",
    "extensions",
    "infrastructures",
    "networks",
    "operatingsystemconfigs",
    "workers",
];

/// A configuration, which stays as it is when Shoots are cared for.
pub(super) fn configuration(kind: &str, webhooks: &[Value]) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
        "metadata": {
            "name": "gardener-resource-manager",
            "labels": {
                "app": "gardener-resource-manager", "remediation.webhook.shoot.gardener.cloud/exclude": "true",
            },
        },
        "webhooks": webhooks,
    })
}

/// Those of a small Garden.
pub(super) fn mutating() -> Vec<Value> {
    let both = &["CREATE", "UPDATE"];
    let workloads = json!([
        rule("apps", &["v1"], &["deployments", "statefulsets"], both),
        rule("autoscaling", &["v2beta1", "v2"], &["horizontalpodautoscalers"], both),
        rule("autoscaling.k8s.io", &["v1alpha1"], &["hvpas"], both),
    ]);
    let mut considered = namespaces();
    considered["matchLabels"] = json!({"high-availability-config.resources.gardener.cloud/consider": "true"});
    let mut high_availability = webhook(
        ["high-availability-config", "/webhooks/high-availability-config"],
        &workloads,
        &considered,
        Some(&json!({"matchExpressions": [
            absent("high-availability-config.resources.gardener.cloud/skip"),
        ]})),
    );
    high_availability["matchPolicy"] = "Equivalent".into();
    vec![
        webhook(
            ["token-invalidator", "/webhooks/invalidate-service-account-token-secret"],
            &json!([rule("", &["v1"], &["secrets"], both)]),
            &namespaces(),
            Some(&json!({"matchLabels": {"resources.gardener.cloud/purpose": "token-invalidator"}})),
        ),
        webhook(
            ["projected-token-mount", "/webhooks/mount-projected-service-account-token"],
            &pods(),
            &namespaces(),
            Some(&json!({"matchExpressions": [
                absent("projected-token-mount.resources.gardener.cloud/skip"), others(),
            ]})),
        ),
        high_availability,
        pod_topology_spread_constraints(),
    ]
}

pub(super) fn pod_topology_spread_constraints() -> Value {
    webhook(
        ["pod-topology-spread-constraints", "/webhooks/pod-topology-spread-constraints"],
        &pods(),
        &namespaces(),
        Some(&json!({"matchExpressions": [
            others(), absent("topology-spread-constraints.resources.gardener.cloud/skip"),
        ]})),
    )
}

pub(super) fn seccomp_profile() -> Value {
    webhook(
        ["seccomp-profile", "/webhooks/seccomp-profile"],
        &pods(),
        &namespaces(),
        Some(&json!({"matchExpressions": [
            absent("seccompprofile.resources.gardener.cloud/skip"), others(),
        ]})),
    )
}

pub(super) fn endpoint_slice_hints() -> Value {
    let mut hints = webhook(
        ["endpoint-slice-hints", "/webhooks/endpoint-slice-hints"],
        &json!([rule("discovery.k8s.io", &["v1"], &["endpointslices"], &["CREATE", "UPDATE"])]),
        &namespaces(),
        Some(&json!({"matchLabels": {"endpoint-slice-hints.resources.gardener.cloud/consider": "true"}})),
    );
    hints["matchPolicy"] = "Equivalent".into();
    hints
}

/// Those of every Garden.
pub(super) fn validating() -> Vec<Value> {
    let definitions =
        rule("apiextensions.k8s.io", &["v1beta1", "v1"], &["customresourcedefinitions"], &["DELETE"]);
    let protected = json!([
        rule("druid.gardener.cloud", &["v1alpha1"], &["etcds"], &["DELETE"]),
        rule("extensions.gardener.cloud", &["v1alpha1"], &EXTENSIONS, &["DELETE"]),
    ]);
    let path = "/webhooks/validate-crd-deletion";
    let mut all = vec![
        webhook(
            ["crd-deletion-protection", path],
            &json!([definitions]),
            &json!({}),
            Some(&json!({"matchLabels": {"gardener.cloud/deletion-protected": "true"}})),
        ),
        webhook(["cr-deletion-protection", path], &protected, &json!({}), None),
    ];
    let validated = [
        ("backupbuckets", "extensions", "backupbucket"),
        ("backupentries", "extensions", "backupentry"),
        ("bastions", "extensions", "bastion"),
        ("containerruntimes", "extensions", "containerruntime"),
        ("controlplanes", "extensions", "controlplane"),
        ("dnsrecords", "extensions", "dnsrecord"),
        ("etcds", "druid", "etcd"),
        ("extensions", "extensions", "extension"),
        ("infrastructures", "extensions", "infrastructure"),
        ("networks", "extensions", "network"),
        ("operatingsystemconfigs", "extensions", "operatingsystemconfig"),
        ("workers", "extensions", "worker"),
    ];
    all.extend(validated.map(|(plural, group, singular)| {
        let path = format!("/validate-{group}-gardener-cloud-v1alpha1-{singular}");
        let group = format!("{group}.gardener.cloud");
        let rules = json!([rule(&group, &["v1alpha1"], &[plural], &["CREATE", "UPDATE"])]);
        webhook([&format!("validation.extensions.{plural}"), &path], &rules, &json!({}), None)
    }));
    all
}

fn webhook([name, path]: [&str; 2], rules: &Value, namespaces: &Value, objects: Option<&Value>) -> Value {
    let mut webhook = json!({
        "name": format!("{name}.resources.gardener.cloud"), "rules": rules, "namespaceSelector": namespaces,
        "clientConfig": {
            "service": {"name": "gardener-resource-manager", "namespace": "garden", "path": path},
            "caBundle": "Y2EtZ2FyZGVuLXJ1bnRpbWUgYnVuZGxl",
        },
        "admissionReviewVersions": ["v1beta1", "v1"], "failurePolicy": "Fail", "matchPolicy": "Exact",
        "sideEffects": "None", "timeoutSeconds": 10,
    });
    if let Some(objects) = objects {
        webhook["objectSelector"] = objects.clone();
    }
    webhook
}

fn rule(group: &str, versions: &[&str], resources: &[&str], operations: &[&str]) -> Value {
    json!({"apiGroups": [group], "apiVersions": versions, "resources": resources, "operations": operations})
}

fn pods() -> Value {
    json!([rule("", &["v1"], &["pods"], &["CREATE"])])
}

fn namespaces() -> Value {
    let values = ["kube-system", "kubernetes-dashboard"];
    json!({"matchExpressions": [{"key": "gardener.cloud/purpose", "operator": "NotIn", "values": values}]})
}

fn absent(key: &str) -> Value {
    json!({"key": key, "operator": "DoesNotExist"})
}

fn others() -> Value {
    json!({"key": "app", "operator": "NotIn", "values": ["gardener-resource-manager"]})
}
