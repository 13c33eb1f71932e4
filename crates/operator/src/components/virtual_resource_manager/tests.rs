//! Tests of the resource-manager of the virtual cluster: whole objects, and when it bootstraps.

mod when_to_bootstrap;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, referenced};

/// The configuration, from the description of the original.
const CONFIGURATION: &str = include_str!("tests/config.yaml");
const CONFIG_MAP: &str = "virtual-garden-gardener-resource-manager-361bbff4";
const DEPLOYMENT: &str = "Deployment/virtual-garden-gardener-resource-manager";

fn fixture(fields: &Value) -> Fixture {
    let mut fixture = Fixture::with(fields);
    fixture.config.log_level = "info".to_owned();
    fixture.config.log_format = "json".to_owned();
    fixture
}

fn object(version: &str, kind: &str, further: &Value) -> Value {
    let mut object = json!({
        "apiVersion": version, "kind": kind,
        "metadata": {
            "name": "virtual-garden-gardener-resource-manager", "namespace": "garden",
            "labels": {"app": "virtual-garden-gardener-resource-manager", "gardener.cloud/role": "controlplane"},
        },
    });
    for (key, value) in further.as_object().unwrap() {
        object[key] = value.clone();
    }
    object
}

fn selector() -> Value {
    json!({"matchLabels": {"app": "virtual-garden-gardener-resource-manager"}})
}

/// What is written for every Garden.
fn expected() -> Vec<Value> {
    let name = "virtual-garden-gardener-resource-manager";
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name});
    let subjects = json!([{"kind": "ServiceAccount", "name": name, "namespace": "garden"}]);
    let labels = json!({"app": name, "gardener.cloud/role": "controlplane"});
    let budget = json!({"spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}}});
    vec![
        access_secret_object(),
        object("v1", "ServiceAccount", &json!({"automountServiceAccountToken": false})),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
            "metadata": {
                "name": CONFIG_MAP, "namespace": "garden",
                "labels": {"resources.gardener.cloud/garbage-collectable-reference": "true"},
            },
            "data": {"config.yaml": CONFIGURATION},
        }),
        object("rbac.authorization.k8s.io/v1", "Role", &json!({"rules": rules()})),
        object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            &json!({"roleRef": role_ref, "subjects": subjects}),
        ),
        service_object(),
        deployment(),
        object("policy/v1", "PodDisruptionBudget", &budget),
        autoscaler(),
    ]
}

fn service_object() -> Value {
    let port = |name: &str, port: u16, target: u16| json!({"name": name, "protocol": "TCP", "port": port, "targetPort": target});
    let ports = [port("metrics", 8080, 8080), port("health", 8081, 8081), port("server", 443, 10250)];
    let selector = json!({"app": "virtual-garden-gardener-resource-manager"});
    let spec = json!({"type": "ClusterIP", "selector": selector, "ports": ports});
    let mut service = object("v1", "Service", &json!({"spec": spec}));
    service["metadata"]["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-scrape-targets-allowed-ports": r#"[{"protocol":"TCP","port":8080}]"#,
        "networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports": r#"[{"protocol":"TCP","port":10250}]"#,
    });
    service
}

fn autoscaler() -> Value {
    let policy = json!({
        "containerName": "*", "controlledValues": "RequestsOnly",
        "minAllowed": {"memory": "30Mi"}, "maxAllowed": {"cpu": "4", "memory": "10G"},
    });
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "virtual-garden-gardener-resource-manager"});
    let mut vpa = object(
        "autoscaling.k8s.io/v1",
        "VerticalPodAutoscaler",
        &json!({"spec": {
            "targetRef": target, "updatePolicy": {"updateMode": "Auto"},
            "resourcePolicy": {"containerPolicies": [policy]},
        }}),
    );
    vpa["metadata"]["name"] = "gardener-resource-manager-vpa".into();
    vpa
}

fn access_secret_object() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": "shoot-access-gardener-resource-manager", "namespace": "garden",
            "labels": {
                "resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot",
            },
            "annotations": {
                "serviceaccount.resources.gardener.cloud/name": "gardener-resource-manager",
                "serviceaccount.resources.gardener.cloud/namespace": "kube-system",
                "serviceaccount.resources.gardener.cloud/token-expiration-duration": "24h",
            },
        },
    })
}

fn rules() -> Value {
    let name = "virtual-garden-gardener-resource-manager";
    let verbs = ["get", "list", "watch", "update", "patch"];
    json!([
        {
            "apiGroups": ["resources.gardener.cloud"], "resources": ["managedresources", "managedresources/status"],
            "verbs": verbs,
        },
        {"apiGroups": [""], "resources": ["secrets"], "verbs": verbs},
        {"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["create"]},
        {
            "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name],
            "verbs": ["get", "watch", "update", "patch"],
        },
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": [name],
            "verbs": ["get", "watch", "update"],
        },
        {"apiGroups": ["machine.sapcloud.io"], "resources": ["machines"], "verbs": ["get", "list", "watch"]},
    ])
}

fn annotations(kubeconfigs: &[&str]) -> Value {
    let secrets = ["virtual-garden-gardener-resource-manager-server-current", "ca-bundle"];
    referenced(&["kube-root-ca.crt", CONFIG_MAP], &[&secrets[..], kubeconfigs].concat())
}

fn deployment() -> Value {
    let name = "virtual-garden-gardener-resource-manager";
    let annotations =
        annotations(&["generic-token-kubeconfig-current", "shoot-access-gardener-resource-manager"]);
    let mut deployment = object(
        "apps/v1",
        "Deployment",
        &json!({"spec": {
            "replicas": 2, "revisionHistoryLimit": 2, "selector": selector(),
            "template": {
                "metadata": {"annotations": annotations, "labels": {
                    "app": name, "gardener.cloud/role": "controlplane",
                    "networking.gardener.cloud/to-dns": "allowed",
                    "networking.gardener.cloud/to-runtime-apiserver": "allowed",
                    "networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443": "allowed",
                    "projected-token-mount.resources.gardener.cloud/skip": "true",
                }},
                "spec": {
                    "priorityClassName": "gardener-garden-system-400", "serviceAccountName": name,
                    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                    "containers": [container()], "volumes": volumes(),
                },
            },
        }}),
    );
    deployment["metadata"]["annotations"] = annotations;
    deployment["metadata"]["labels"]["high-availability-config.resources.gardener.cloud/type"] =
        "server".into();
    deployment
}

fn container() -> Value {
    let get = |path: &str| json!({"path": path, "port": 8081, "scheme": "HTTP"});
    let mount = |name: &str, path: &str| json!({"name": name, "mountPath": path, "readOnly": true});
    json!({
        "name": "gardener-resource-manager",
        "image": "eu.gcr.io/gardener-project/gardener/resource-manager:v1.82.0",
        "imagePullPolicy": "IfNotPresent",
        "args": ["--config=/etc/gardener-resource-manager-config/config.yaml"],
        "ports": [
            {"name": "metrics", "containerPort": 8080, "protocol": "TCP"},
            {"name": "health", "containerPort": 8081, "protocol": "TCP"},
        ],
        "resources": {"requests": {"cpu": "23m", "memory": "47Mi"}},
        "livenessProbe": {
            "httpGet": get("/healthz"), "initialDelaySeconds": 30, "failureThreshold": 5, "periodSeconds": 10,
            "successThreshold": 1, "timeoutSeconds": 5,
        },
        "readinessProbe": {"httpGet": get("/readyz"), "initialDelaySeconds": 10},
        "volumeMounts": [
            mount("kube-api-access-gardener", "/var/run/secrets/kubernetes.io/serviceaccount"),
            mount("tls", "/etc/gardener-resource-manager-tls"),
            mount("config", "/etc/gardener-resource-manager-config"),
            mount("root-ca", "/etc/gardener-resource-manager-root-ca"),
            mount("kubeconfig", "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig"),
        ],
    })
}

fn volumes() -> Value {
    let secret = |name: &str, secret: &str| json!({"name": name, "secret": {"secretName": secret, "defaultMode": 420}});
    let source = |name: &str, key: &str| json!({"secret": {"name": name, "items": [{"key": key, "path": key}], "optional": false}});
    json!([
        {"name": "kube-api-access-gardener", "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 43200, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{
                "path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]}},
        secret("tls", "virtual-garden-gardener-resource-manager-server-current"),
        {"name": "config", "configMap": {"name": CONFIG_MAP}},
        secret("root-ca", "ca-bundle"),
        {"name": "kubeconfig", "projected": {"defaultMode": 420, "sources": [
            source("generic-token-kubeconfig-current", "kubeconfig"),
            source("shoot-access-gardener-resource-manager", "token"),
        ]}},
    ])
}

#[rstest]
#[case::small(fixture(&json!({})))]
#[case::highly_available(fixture(&json!({"spec": {"virtualCluster": {"controlPlane": {"highAvailability": {}}}}})))]
#[case::topology_aware_routing(
    fixture(&json!({"spec": {"runtimeCluster": {"settings": {"topologyAwareRouting": {"enabled": true}}}}}))
)]
#[case::hvpa(fixture(&json!({})).with_hvpa())]
fn every_garden_has_the_same_objects(#[case] fixture: Fixture) {
    let rendering = render(&fixture.values()).unwrap();
    assert_objects("whole", rendering.steps.iter().filter_map(DirectStep::object), &expected(), &[]);
    let is_locked = |step: &DirectStep| matches!(step, DirectStep::PatchLocked(_));
    assert!(is_locked(&rendering.steps[0]), "{:?}", rendering.steps[0]);
    assert_eq!(rendering.steps[2], DirectStep::Create(expected().remove(2)));
}

#[test]
fn the_kubeconfig_of_the_bootstrap_replaces_the_token() {
    let rendering = render_bootstrap(&fixture(&json!({})).values(), "bootstrap").unwrap();
    let volume =
        json!({"name": "kubeconfig-bootstrap", "secret": {"secretName": "bootstrap", "defaultMode": 420}});
    let mount = json!({
        "name": "kubeconfig-bootstrap", "readOnly": true,
        "mountPath": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig",
    });
    let annotations = annotations(&["bootstrap"]);
    let changes = [
        (DEPLOYMENT, "/spec/template/spec/volumes/4", volume),
        (DEPLOYMENT, "/spec/template/spec/containers/0/volumeMounts/4", mount),
        (DEPLOYMENT, "/metadata/annotations", annotations.clone()),
        (DEPLOYMENT, "/spec/template/metadata/annotations", annotations),
    ];
    assert_objects("bootstrap", rendering.steps.iter().filter_map(DirectStep::object), &expected(), &changes);
}

#[test]
fn its_webhooks_and_its_role_are_in_the_virtual_cluster() {
    let rendering = render(&fixture(&json!({})).values()).unwrap();
    let objects = vec![
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {
                "name": "virtual-garden-gardener-resource-manager-shoot", "namespace": "garden",
                "labels": {"app": "virtual-garden-gardener-resource-manager"},
            },
            "webhooks": webhooks(),
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {
                "name": "gardener.cloud:target:resource-manager",
                "annotations": {"resources.gardener.cloud/keep-object": "true"},
            },
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "gardener-resource-manager", "namespace": "kube-system"}],
        }),
    ];
    let want = ManagedObjects::in_virtual("shoot-core-gardener-resource-manager", objects);
    assert_eq!(*managed(&rendering, "shoot-core-gardener-resource-manager"), want);
}

fn rule(group: &str, versions: &[&str], resources: &[&str], operations: &[&str]) -> Value {
    json!({"apiGroups": [group], "apiVersions": versions, "resources": resources, "operations": operations})
}

/// A webhook for namespaces of system components, and further ones if these labels are not null.
fn webhook([name, path, match_policy]: [&str; 3], rules: &[Value], labels: &Value, objects: &Value) -> Value {
    let purposes = json!({"key": "gardener.cloud/purpose", "operator": "In", "values": ["kube-system", "kubernetes-dashboard"]});
    let mut namespaces = json!({"matchExpressions": [purposes]});
    if !labels.is_null() {
        namespaces["matchLabels"] = labels.clone();
    }
    json!({
        "name": format!("{name}.resources.gardener.cloud"), "rules": rules,
        "namespaceSelector": namespaces, "objectSelector": objects,
        "clientConfig": {
            "url": format!("https://virtual-garden-gardener-resource-manager.garden:443/webhooks/{path}"),
            "caBundle": "Y2EtZ2FyZGVuLXJ1bnRpbWUgYnVuZGxl",
        },
        "admissionReviewVersions": ["v1beta1", "v1"], "failurePolicy": "Fail", "matchPolicy": match_policy,
        "sideEffects": "None", "timeoutSeconds": 10,
    })
}

fn webhooks() -> Value {
    let both = &["CREATE", "UPDATE"];
    let pods = [rule("", &["v1"], &["pods"], &["CREATE"])];
    let managed_without = |key: &str| {
        json!({
            "matchLabels": {"resources.gardener.cloud/managed-by": "gardener"},
            "matchExpressions": [{"key": key, "operator": "DoesNotExist"}],
        })
    };
    let workloads = [
        rule("apps", &["v1"], &["deployments", "statefulsets"], both),
        rule("autoscaling", &["v2beta1", "v2"], &["horizontalpodautoscalers"], both),
        rule("autoscaling.k8s.io", &["v1alpha1"], &["hvpas"], both),
    ];
    let considered = json!({"high-availability-config.resources.gardener.cloud/consider": "true"});
    json!([
        webhook(
            ["token-invalidator", "invalidate-service-account-token-secret", "Exact"],
            &[rule("", &["v1"], &["secrets"], both)],
            &Value::Null,
            &json!({"matchLabels": {"resources.gardener.cloud/purpose": "token-invalidator"}}),
        ),
        webhook(
            ["projected-token-mount", "mount-projected-service-account-token", "Exact"],
            &pods,
            &Value::Null,
            &json!({"matchExpressions": [
                {"key": "projected-token-mount.resources.gardener.cloud/skip", "operator": "DoesNotExist"},
                {"key": "app", "operator": "NotIn", "values": ["virtual-garden-gardener-resource-manager"]},
            ]}),
        ),
        webhook(
            ["high-availability-config", "high-availability-config", "Equivalent"],
            &workloads,
            &considered,
            &managed_without("high-availability-config.resources.gardener.cloud/skip"),
        ),
        webhook(
            ["system-components-config", "system-components-config", "Exact"],
            &pods,
            &Value::Null,
            &managed_without("system-components-config.resources.gardener.cloud/skip"),
        ),
    ])
}
