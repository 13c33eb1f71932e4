//! The HVPA controller, which scales components by their Hvpa objects. Without its feature gate there is none.

use std::collections::BTreeMap;

use api::gardener::ROLE;
use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::{HA_TYPE, HA_TYPE_CONTROLLER};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::error::RenderError;
use super::managed::ManagedObjects;
use super::networks::{AllowedPods, allowed};
use super::objects::{
    annotate, at_least, entries, metadata, pod_disruption_budget, service_account, service_port,
    vertical_pod_autoscaler, with,
};
use super::rbac::{
    cluster_role, cluster_role_binding, named_rule, role, role_binding, rule, runtime_account,
};
use super::rendering::{DirectStep, Rendering};
use super::values::GardenValues;

/// The ManagedResource.
pub const MANAGED: &str = "hvpa";

const NAME: &str = "hvpa-controller";
const CLUSTER_ROLE: &str = "system:hvpa-controller";
const METRICS_PORT: u16 = 9569;

/// Its objects, or the deletion of its ManagedResource. OPC-041.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    if !values.has_hvpa() {
        let steps = vec![DirectStep::DeleteManaged(MANAGED.to_owned())];
        return Ok(Rendering { steps, ..Rendering::default() });
    }
    let (unlabelled, account) = (BTreeMap::new(), [runtime_account(NAME)]);
    let objects = vec![
        service_account(NAME, &marked()),
        cluster_role(CLUSTER_ROLE, &marked(), &cluster_rules()),
        cluster_role_binding("hvpa-controller-rolebinding", &marked(), CLUSTER_ROLE, &account),
        role(NAME, &unlabelled, &rules()),
        role_binding(NAME, NAMESPACE, &unlabelled, NAME, &account),
        metrics_service(),
        deployment(&values.image(NAME)?),
        pod_disruption_budget(NAME, &labels()),
        vertical_pod_autoscaler("hvpa-controller-vpa", NAME, &unlabelled, &at_least("128Mi")),
    ];
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(MANAGED, objects)], ..Rendering::default() })
}

/// The label of most of its objects.
fn marked() -> BTreeMap<String, String> {
    entries([(ROLE, "hvpa")])
}

/// Labels of its Pods, and of what selects them.
fn labels() -> BTreeMap<String, String> {
    with(marked(), app())
}

fn app() -> BTreeMap<String, String> {
    entries([("app", NAME)])
}

fn cluster_rules() -> [Value; 7] {
    let change = ["get", "list", "patch", "update", "watch"];
    let all = ["create", "delete", "get", "list", "patch", "update", "watch"];
    let group = "autoscaling.k8s.io";
    [
        rule(&[""], &["pods", "replicationcontrollers"], &change),
        rule(&["apps"], &["daemonsets", "deployments", "replicasets", "statefulsets"], &change),
        rule(&["autoscaling"], &["horizontalpodautoscalers"], &all),
        rule(&[group], &["hvpas"], &all),
        rule(&[group], &["hvpas/status"], &["get", "patch", "update"]),
        rule(&[group], &["verticalpodautoscalers"], &all),
        rule(&["batch"], &["jobs"], &change),
    ]
}

fn rules() -> [Value; 3] {
    let leases = "coordination.k8s.io";
    [
        rule(&[leases], &["leases"], &["create"]),
        named_rule(leases, "leases", NAME, &["get", "watch", "update"]),
        rule(&[""], &["events"], &["create", "get", "list", "watch", "patch"]),
    ]
}

fn metrics_service() -> Value {
    let mut service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(NAME, &labels()),
        "spec": {
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "selector": app(),
            "ports": [service_port("metrics", METRICS_PORT, METRICS_PORT)],
        },
    });
    annotate(&mut service, AllowedPods::SeedScrapeTargets.annotation(&[METRICS_PORT]));
    service
}

fn deployment(image: &str) -> Value {
    let container = json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "./manager",
            "--logtostderr=true",
            "--leader-elect=true",
            "--enable-detailed-metrics=true",
            format!("--metrics-bind-address=:{METRICS_PORT}"),
            "--v=2",
        ],
        "resources": {"requests": {"cpu": "50m", "memory": "500Mi"}},
        "ports": [{"containerPort": METRICS_PORT}],
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &with(labels(), entries([(HA_TYPE, HA_TYPE_CONTROLLER)]))),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": with(labels(), allowed([TO_DNS, TO_RUNTIME_API_SERVER]))},
                "spec": {
                    "priorityClassName": "gardener-garden-system-200",
                    "serviceAccountName": NAME,
                    "containers": [container],
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::{Fixture, assert_objects, managed};

    fn named(labels: &Value) -> Value {
        json!({"name": "hvpa-controller", "namespace": "garden", "labels": labels})
    }

    fn expected() -> Vec<Value> {
        let role = json!({"gardener.cloud/role": "hvpa"});
        let both = json!({"gardener.cloud/role": "hvpa", "app": "hvpa-controller"});
        let mut objects = expected_roles(&role);
        objects.extend([
            json!({
                "apiVersion": "v1", "kind": "ServiceAccount", "metadata": named(&role),
                "automountServiceAccountToken": false,
            }),
            expected_service(&both),
            expected_deployment(&both),
            json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named(&both),
                "spec": {"maxUnavailable": 1, "selector": {"matchLabels": both}},
            }),
            json!({
                "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
                "metadata": {"name": "hvpa-controller-vpa", "namespace": "garden"},
                "spec": {
                    "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "hvpa-controller"},
                    "updatePolicy": {"updateMode": "Auto"},
                    "resourcePolicy": {"containerPolicies": [
                        {"containerName": "*", "minAllowed": {"memory": "128Mi"}},
                    ]},
                },
            }),
        ]);
        objects
    }

    fn expected_roles(labels: &Value) -> Vec<Value> {
        let plain = json!({"name": "hvpa-controller", "namespace": "garden"});
        let subjects = json!([{"kind": "ServiceAccount", "name": "hvpa-controller", "namespace": "garden"}]);
        let role_ref = |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
        let rbac = "rbac.authorization.k8s.io/v1";
        vec![
            json!({
                "apiVersion": rbac, "kind": "ClusterRole", "rules": expected_cluster_rules(),
                "metadata": {"name": "system:hvpa-controller", "labels": labels},
            }),
            json!({
                "apiVersion": rbac, "kind": "ClusterRoleBinding",
                "metadata": {"name": "hvpa-controller-rolebinding", "labels": labels},
                "roleRef": role_ref("ClusterRole", "system:hvpa-controller"), "subjects": subjects,
            }),
            json!({"apiVersion": rbac, "kind": "Role", "metadata": plain, "rules": [
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
                {
                    "apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                    "resourceNames": ["hvpa-controller"], "verbs": ["get", "watch", "update"],
                },
                {
                    "apiGroups": [""], "resources": ["events"],
                    "verbs": ["create", "get", "list", "watch", "patch"],
                },
            ]}),
            json!({
                "apiVersion": rbac, "kind": "RoleBinding", "metadata": plain,
                "roleRef": role_ref("Role", "hvpa-controller"), "subjects": subjects,
            }),
        ]
    }

    fn expected_cluster_rules() -> Value {
        let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
        let change = ["get", "list", "patch", "update", "watch"];
        let all = ["create", "delete", "get", "list", "patch", "update", "watch"];
        json!([
            rule("", &["pods", "replicationcontrollers"], &change),
            rule("apps", &["daemonsets", "deployments", "replicasets", "statefulsets"], &change),
            rule("autoscaling", &["horizontalpodautoscalers"], &all),
            rule("autoscaling.k8s.io", &["hvpas"], &all),
            rule("autoscaling.k8s.io", &["hvpas/status"], &["get", "patch", "update"]),
            rule("autoscaling.k8s.io", &["verticalpodautoscalers"], &all),
            rule("batch", &["jobs"], &change),
        ])
    }

    fn expected_service(labels: &Value) -> Value {
        let mut metadata = named(labels);
        metadata["annotations"] = json!({
            "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports":
                r#"[{"protocol":"TCP","port":9569}]"#,
        });
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {
                "type": "ClusterIP", "sessionAffinity": "None", "selector": {"app": "hvpa-controller"},
                "ports": [{"name": "metrics", "protocol": "TCP", "port": 9569, "targetPort": 9569}],
            },
        })
    }

    fn expected_deployment(labels: &Value) -> Value {
        let (mut metadata, mut pod_labels) = (named(labels), labels.clone());
        metadata["labels"]["high-availability-config.resources.gardener.cloud/type"] = "controller".into();
        pod_labels["networking.gardener.cloud/to-dns"] = "allowed".into();
        pod_labels["networking.gardener.cloud/to-runtime-apiserver"] = "allowed".into();
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": {
                "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": pod_labels}, "spec": {
                    "priorityClassName": "gardener-garden-system-200", "serviceAccountName": "hvpa-controller",
                    "containers": [{
                        "name": "hvpa-controller", "imagePullPolicy": "IfNotPresent",
                        "image": "eu.gcr.io/gardener-project/gardener/hvpa-controller:v0.15.0",
                        "command": [
                            "./manager", "--logtostderr=true", "--leader-elect=true",
                            "--enable-detailed-metrics=true", "--metrics-bind-address=:9569", "--v=2",
                        ],
                        "resources": {"requests": {"cpu": "50m", "memory": "500Mi"}},
                        "ports": [{"containerPort": 9569}],
                    }],
                }},
            },
        })
    }

    #[rstest]
    #[case::enabled(Fixture::default().with_hvpa())]
    #[case::all_alpha_features(Fixture::default().with_gate("AllAlpha"))]
    #[case::the_oldest_runtime(Fixture::default().with_hvpa().on_runtime("1.24.17"))]
    #[case::the_newest_runtime(Fixture::default().with_hvpa().on_runtime("1.28.2"))]
    fn it_has_objects_with_its_feature_gate(#[case] fixture: Fixture) {
        let rendering = render(&fixture.values()).unwrap();
        assert_objects("enabled", &managed(&rendering, "hvpa").objects, &expected(), &[]);
        assert!(rendering.steps.is_empty());
    }

    #[test]
    fn it_is_deleted_without_its_feature_gate() {
        let rendering = render(&Fixture::default().values()).unwrap();
        assert_eq!(rendering.steps, [DirectStep::DeleteManaged("hvpa".to_owned())]);
        assert!(rendering.managed.is_empty());
    }
}
