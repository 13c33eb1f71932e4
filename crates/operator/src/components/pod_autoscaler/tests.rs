//! Tests of the vertical pod autoscaler: whole objects if it is wanted, none if not.

use rstest::rstest;
use serde_json::Value;

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed};

fn wanted(enabled: &Value) -> Fixture {
    Fixture::with(&json!({"spec": {"runtimeCluster": {"settings": {"verticalPodAutoscaler": enabled}}}}))
}

fn labels() -> Value {
    json!({"gardener.cloud/role": "vpa"})
}

fn expected() -> Vec<Value> {
    let mut objects = vec![webhook_configuration(), budget()];
    objects.extend(["vpa-admission-controller", "vpa-recommender", "vpa-updater"].map(|name| {
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false,
            "metadata": {"name": name, "namespace": "garden", "labels": labels()},
        })
    }));
    objects.extend(roles());
    objects.extend(services());
    objects.extend([("vpa-admission-controller", "100Mi"), ("vpa-updater", "50Mi")].map(own_autoscaler));
    objects.extend([admission_controller(), recommender(), updater()]);
    objects
}

fn own_autoscaler((name, memory): (&str, &str)) -> Value {
    json!({
        "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
        "metadata": {"name": name, "namespace": "garden"},
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "updatePolicy": {"updateMode": "Auto"},
            "resourcePolicy": {"containerPolicies": [
                {"containerName": "*", "controlledValues": "RequestsOnly", "minAllowed": {"memory": memory}},
            ]},
        },
    })
}

fn budget() -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "vpa-admission-controller", "namespace": "garden", "labels": labels()},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "vpa-admission-controller"}}},
    })
}

fn services() -> [Value; 2] {
    [
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "vpa-webhook", "namespace": "garden",
                "annotations": {
                    "networking.resources.gardener.cloud/from-world-to-ports": r#"[{"protocol":"TCP","port":10250}]"#,
                },
            },
            "spec": {
                "selector": {"app": "vpa-admission-controller"}, "ports": [{"port": 443, "targetPort": 10250}],
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "vpa-recommender", "namespace": "garden",
                "annotations": {
                    "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports": r#"[{"protocol":"TCP","port":8942}]"#,
                },
            },
            "spec": {"selector": {"app": "vpa-recommender"}, "ports": [{"port": 8942, "targetPort": 8942}]},
        }),
    ]
}

fn webhook_configuration() -> Value {
    let rule = |group: &str, version: &str, resource: &str, operations: &[&str]| {
        json!({
            "apiGroups": [group], "apiVersions": [version], "resources": [resource], "scope": "*",
            "operations": operations,
        })
    };
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {
            "name": "vpa-webhook-config-source",
            "labels": {"remediation.webhook.shoot.gardener.cloud/exclude": "true"},
        },
        "webhooks": [{
            "name": "vpa.k8s.io", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
            "matchPolicy": "Exact", "reinvocationPolicy": "Never", "sideEffects": "None", "timeoutSeconds": 10,
            "clientConfig": {
                "service": {"name": "vpa-webhook", "namespace": "garden", "port": 443},
                "caBundle": "Y2EtZ2FyZGVuLXJ1bnRpbWUgYnVuZGxl",
            },
            "rules": [
                rule("", "v1", "pods", &["CREATE"]),
                rule("autoscaling.k8s.io", "*", "verticalpodautoscalers", &["CREATE", "UPDATE"]),
            ],
        }],
    })
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

const READ: &[&str] = &["get", "list", "watch"];
const AUTOSCALERS: &[&str] = &["verticalpodautoscalers"];
const GROUPS: [&str; 2] = ["poc.autoscaling.k8s.io", "autoscaling.k8s.io"];
const ALL: [&str; 3] = ["vpa-admission-controller", "vpa-recommender", "vpa-updater"];

fn roles() -> Vec<Value> {
    let [former, current] = GROUPS;
    let checkpoints = &["verticalpodautoscalercheckpoints"];
    let keep = &["get", "list", "watch", "create", "patch", "delete"];
    let metrics = json!([rule(&["metrics.k8s.io"], &["pods"], &["get", "list"])]);
    let checkpoints = json!([
        rule(&[former], checkpoints, keep),
        rule(&[current], checkpoints, keep),
        rule(&[""], &["namespaces"], &["get", "list"]),
    ]);
    let evictions = json!([
        rule(&["apps", "extensions"], &["replicasets"], &["get"]),
        rule(&[""], &["pods/eviction"], &["create"]),
    ]);
    [
        granted("actor", &ALL[1..], &actor_rules()),
        granted("target-reader", &ALL, &target_rules()),
        granted("admission-controller", &ALL[..1], &admission_rules()),
        granted("metrics-reader", &ALL[1..2], &metrics),
        granted("checkpoint-actor", &ALL[1..2], &checkpoints),
        granted("evictioner", &ALL[2..], &evictions),
    ]
    .concat()
}

fn actor_rules() -> Value {
    let [former, current] = GROUPS;
    json!([
        rule(&[""], &["pods", "nodes", "limitranges"], READ),
        rule(&[""], &["events"], &["get", "list", "watch", "create"]),
        rule(&[former], AUTOSCALERS, &["get", "list", "watch", "patch"]),
        rule(&[current], AUTOSCALERS, &["get", "list", "watch", "patch"]),
        rule(&["coordination.k8s.io"], &["leases"], READ),
    ])
}

fn target_rules() -> Value {
    json!([
        rule(&["*"], &["*/scale"], &["get", "watch"]),
        rule(&[""], &["replicationcontrollers"], READ),
        rule(&["apps"], &["daemonsets", "deployments", "replicasets", "statefulsets"], READ),
        rule(&["batch"], &["jobs", "cronjobs"], READ),
        rule(&["druid.gardener.cloud"], &["etcds", "etcds/scale"], READ),
    ])
}

fn admission_rules() -> Value {
    let [former, current] = GROUPS;
    let registrations = &["mutatingwebhookconfigurations"];
    json!([
        rule(&[""], &["pods", "configmaps", "nodes", "limitranges"], READ),
        rule(&["admissionregistration.k8s.io"], registrations, &["create", "delete", "get", "list"]),
        rule(&[former], AUTOSCALERS, READ),
        rule(&[current], AUTOSCALERS, READ),
        rule(&["coordination.k8s.io"], &["leases"], &["create", "update", "get", "list", "watch"]),
    ])
}

/// A ClusterRole, and its binding to ServiceAccounts.
fn granted(name: &str, accounts: &[&str], rules: &Value) -> [Value; 2] {
    let name = format!("gardener.cloud:vpa:source:{name}");
    let subjects: Vec<Value> = accounts
        .iter()
        .map(|account| json!({"kind": "ServiceAccount", "name": account, "namespace": "garden"}))
        .collect();
    let annotations = json!({"resources.gardener.cloud/delete-on-invalid-update": "true"});
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels()}, "rules": rules,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": name, "labels": labels(), "annotations": annotations},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": subjects,
        }),
    ]
}

/// A Deployment with this priority and container, to which what all have in common is added.
fn deployment(name: &str, priority: u32, container: &Value) -> Value {
    let labels = json!({"app": name, "gardener.cloud/role": "vpa"});
    let mut pod_labels = labels.clone();
    pod_labels["networking.gardener.cloud/to-dns"] = "allowed".into();
    pod_labels["networking.gardener.cloud/to-runtime-apiserver"] = "allowed".into();
    let mut container = container.clone();
    container["imagePullPolicy"] = "IfNotPresent".into();
    container["livenessProbe"] = json!({
        "httpGet": {"path": "/health-check", "port": "metrics", "scheme": "HTTP"},
        "initialDelaySeconds": 120, "periodSeconds": 60, "timeoutSeconds": 30, "successThreshold": 1,
        "failureThreshold": 3,
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "garden", "labels": labels},
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": pod_labels},
                "spec": {
                    "serviceAccountName": name,
                    "priorityClassName": format!("gardener-garden-system-{priority}"),
                    "containers": [container],
                },
            },
        },
    })
}

fn namespace_variable() -> Value {
    json!([{"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}])
}

fn admission_controller() -> Value {
    let container = json!({
        "name": "admission-controller", "command": ["./admission-controller"],
        "image": "registry.k8s.io/autoscaling/vpa-admission-controller:0.14.0",
        "args": [
            "--v=2", "--stderrthreshold=info", "--client-ca-file=/etc/tls-certs/bundle.crt",
            "--tls-cert-file=/etc/tls-certs/tls.crt", "--tls-private-key=/etc/tls-certs/tls.key",
            "--address=:8944", "--port=10250", "--register-webhook=false",
        ],
        "env": namespace_variable(),
        "ports": [{"name": "metrics", "containerPort": 8944}, {"containerPort": 10250}],
        "resources": {"requests": {"cpu": "30m", "memory": "200Mi"}, "limits": {"memory": "3Gi"}},
        "volumeMounts": [{"name": "vpa-tls-certs", "mountPath": "/etc/tls-certs", "readOnly": true}],
    });
    let item = |key: &str| json!({"key": key, "path": key});
    let mut deployment = deployment("vpa-admission-controller", 300, &container);
    deployment["metadata"]["labels"]["high-availability-config.resources.gardener.cloud/type"] =
        "server".into();
    deployment["spec"]["template"]["spec"]["volumes"] = json!([{
        "name": "vpa-tls-certs",
        "projected": {"defaultMode": 420, "sources": [
            {"secret": {"name": "ca-garden-runtime-bundle", "items": [item("bundle.crt")]}},
            {"secret": {
                "name": "vpa-admission-controller-server-current", "items": [item("tls.crt"), item("tls.key")],
            }},
        ]},
    }]);
    deployment
}

fn recommender() -> Value {
    let container = json!({
        "name": "recommender", "command": ["./recommender"],
        "image": "registry.k8s.io/autoscaling/vpa-recommender:0.14.0",
        "args": [
            "--v=3", "--stderrthreshold=info", "--pod-recommendation-min-cpu-millicores=5",
            "--pod-recommendation-min-memory-mb=10", "--recommendation-margin-fraction=0.050000",
            "--recommender-interval=1m0s", "--kube-api-qps=100", "--kube-api-burst=120", "--memory-saver=true",
        ],
        "ports": [{"name": "server", "containerPort": 8080}, {"name": "metrics", "containerPort": 8942}],
        "resources": {"requests": {"cpu": "200m", "memory": "800M"}, "limits": {"memory": "4Gi"}},
    });
    deployment("vpa-recommender", 200, &container)
}

fn updater() -> Value {
    let container = json!({
        "name": "updater", "command": ["./updater"],
        "image": "registry.k8s.io/autoscaling/vpa-updater:0.14.0",
        "args": [
            "--min-replicas=1", "--eviction-tolerance=1.000000", "--eviction-rate-burst=1",
            "--eviction-rate-limit=-1.000000", "--evict-after-oom-threshold=48h0m0s", "--updater-interval=1m0s",
            "--stderrthreshold=info", "--v=2", "--kube-api-qps=100", "--kube-api-burst=120",
        ],
        "env": namespace_variable(),
        "ports": [{"name": "server", "containerPort": 8080}, {"name": "metrics", "containerPort": 8943}],
        "resources": {"requests": {"cpu": "30m", "memory": "200Mi"}, "limits": {"memory": "4Gi"}},
    });
    deployment("vpa-updater", 200, &container)
}

fn objects(fixture: &Fixture) -> Vec<Value> {
    let rendering = render(&fixture.values()).unwrap();
    assert!(rendering.steps.is_empty());
    managed(&rendering, "vpa").objects.clone()
}

#[rstest]
#[case::enabled(wanted(&json!({"enabled": true})))]
#[case::with_hvpa(wanted(&json!({"enabled": true})).with_hvpa())]
#[case::the_oldest_runtime(wanted(&json!({"enabled": true})).on_runtime("1.24.17"))]
#[case::the_newest_runtime(wanted(&json!({"enabled": true})).on_runtime("1.28.2"))]
fn a_garden_that_wants_it_has_all_objects(#[case] fixture: Fixture) {
    assert_objects("wanted", &objects(&fixture), &expected(), &[]);
}

/// Its ManagedResource is there, so that earlier objects go.
#[rstest]
#[case::nothing(Fixture::default())]
#[case::disabled(wanted(&json!({"enabled": false})))]
#[case::not_said(wanted(&json!({})))]
fn a_garden_that_does_not_want_it_has_none(#[case] fixture: Fixture) {
    assert_eq!(objects(&fixture), Vec::<Value>::new());
    let rendering = render(&fixture.values()).unwrap();
    let [secret, _] = managed(&rendering, "vpa").written().unwrap();
    assert_eq!(secret["metadata"]["name"], "managedresource-vpa-e3b0c442");
}

#[test]
fn its_certificate_is_for_the_webhook() {
    let all = requests(&Fixture::default().garden);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].request.name, "vpa-admission-controller-server");
    let certificate = all[0].request.certificate().unwrap();
    assert_eq!(certificate.common_name, "vpa-webhook.garden.svc");
    let names = [
        "vpa-webhook",
        "vpa-webhook.garden",
        "vpa-webhook.garden.svc",
        "vpa-webhook.garden.svc.cluster.local",
    ];
    assert_eq!(certificate.dns_names, names);
    let signer = all[0].options.signer.as_ref().unwrap();
    assert_eq!((signer.authority.as_str(), signer.choice), ("ca-garden-runtime", AuthorityChoice::Current));
}
