//! The objects of fluent-operator.

use serde_json::{Value, json};

pub(super) fn objects() -> Vec<Value> {
    let mut objects = vec![
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(),
            "automountServiceAccountToken": false,
        }),
        json!({
            "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
            "metadata": {"name": "fluent-operator", "namespace": "garden"},
            "spec": {
                "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "fluent-operator"},
                "updatePolicy": {"updateMode": "Auto"},
                "resourcePolicy": {"containerPolicies": [
                    {"containerName": "*", "minAllowed": {"memory": "128Mi"}},
                ]},
            },
        }),
        deployment(),
    ];
    objects.extend(cluster_roles());
    objects.extend(roles());
    objects
}

fn labels() -> Value {
    json!({"app": "fluent-operator", "role": "logging", "gardener.cloud/role": "logging"})
}

fn metadata() -> Value {
    json!({"name": "fluent-operator", "namespace": "garden", "labels": labels()})
}

fn deployment() -> Value {
    let (mut metadata, mut pod_labels) = (metadata(), labels());
    metadata["labels"]["high-availability-config.resources.gardener.cloud/type"] = "controller".into();
    pod_labels["networking.gardener.cloud/to-dns"] = "allowed".into();
    pod_labels["networking.gardener.cloud/to-runtime-apiserver"] = "allowed".into();
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": pod_labels},
                "spec": {
                    "serviceAccountName": "fluent-operator", "priorityClassName": "gardener-garden-system-100",
                    "containers": [{
                        "name": "fluent-operator", "imagePullPolicy": "IfNotPresent",
                        "image": "eu.gcr.io/gardener-project/3rd/kubesphere/fluent-operator:v2.3.0",
                        "args": ["--leader-elect=true", "--disable-component-controllers=fluentd"],
                        "env": [{"name": "NAMESPACE", "valueFrom": {"fieldRef": {
                            "apiVersion": "v1", "fieldPath": "metadata.namespace",
                        }}}],
                        "resources": {"requests": {"cpu": "20m", "memory": "50Mi"}},
                        "volumeMounts": [{"name": "env", "mountPath": "/fluent-operator"}],
                    }],
                    "volumes": [{"name": "env", "emptyDir": {}}],
                },
            },
        },
    })
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
}

fn reference(kind: &str) -> Value {
    json!({
        "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "gardener.cloud:logging:fluent-operator",
    })
}

fn subjects() -> Value {
    json!([{"kind": "ServiceAccount", "name": "fluent-operator", "namespace": "garden"}])
}

fn cluster_roles() -> [Value; 2] {
    let (see, change) =
        (["get", "list", "watch"], ["create", "delete", "get", "list", "patch", "update", "watch"]);
    let kinds = [
        "fluentbits",
        "clusterfluentbitconfigs",
        "clusterfilters",
        "clusterinputs",
        "clusteroutputs",
        "clusterparsers",
        "collectors",
        "fluentbitconfigs",
        "filters",
        "outputs",
        "parsers",
    ];
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "gardener.cloud:logging:fluent-operator", "labels": labels()},
            "rules": [
                rule("fluentbit.fluent.io", &kinds, &change),
                rule("", &["secrets", "configmaps", "serviceaccounts", "services"], &see),
                rule("apps", &["daemonsets", "statefulsets"], &see),
                rule(
                    "rbac.authorization.k8s.io",
                    &["clusterrolebindings", "clusterroles"],
                    &["get", "list", "watch", "create"]
                ),
                rule("", &["pods"], &["get"]),
                rule("extensions.gardener.cloud", &["clusters"], &see),
            ],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "fluent-operator", "labels": labels()},
            "roleRef": reference("ClusterRole"), "subjects": subjects(),
        }),
    ]
}

fn roles() -> [Value; 2] {
    let metadata = json!({"name": "gardener.cloud:logging:fluent-operator", "namespace": "garden"});
    let change = ["create", "delete", "get", "list", "patch", "update", "watch"];
    let core = ["secrets", "configmaps", "serviceaccounts", "services", "namespaces"];
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata,
            "rules": [
                rule("coordination.k8s.io", &["leases"], &["create", "get", "watch", "update"]),
                rule("", &["events"], &["create", "get", "list", "watch", "patch"]),
                rule("apps", &["daemonsets", "statefulsets"], &["create", "delete", "patch", "update"]),
                rule("", &core, &change),
            ],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata,
            "roleRef": reference("Role"), "subjects": subjects(),
        }),
    ]
}
