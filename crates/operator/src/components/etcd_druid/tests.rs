//! Tests of etcd-druid: whole objects, and its command for several configurations.

use rstest::rstest;
use serde_json::Value;

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, referenced};
use crate::config::EtcdConfig;

const DEPLOYMENT: &str = "Deployment/etcd-druid";
const CONTAINER: &str = "/spec/template/spec/containers/0";

fn labelled(further: &Value) -> Value {
    let mut metadata = json!({
        "name": "etcd-druid", "namespace": "garden", "labels": {"gardener.cloud/role": "etcd-druid"},
    });
    for (key, value) in further.as_object().unwrap() {
        metadata[key] = value.clone();
    }
    metadata
}

fn expected() -> Vec<Value> {
    let role = "gardener.cloud:system:etcd-druid";
    let of_cluster = json!({"name": role, "labels": {"gardener.cloud/role": "etcd-druid"}});
    let selector = json!({"matchLabels": {"gardener.cloud/role": "etcd-druid"}});
    vec![
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": labelled(&json!({})),
            "automountServiceAccountToken": false,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": of_cluster,
            "rules": expected_rules(),
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": of_cluster,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "etcd-druid", "namespace": "garden"}],
        }),
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": labelled(&json!({})),
            "spec": {"maxUnavailable": 1, "selector": selector},
        }),
        json!({
            "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
            "metadata": labelled(&json!({"name": "etcd-druid-vpa"})),
            "spec": {
                "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "etcd-druid"},
                "updatePolicy": {"updateMode": "Auto"},
                "resourcePolicy": {"containerPolicies": [
                    {"containerName": "*", "minAllowed": {"memory": "100M"}},
                ]},
            },
        }),
        expected_service(),
        expected_deployment(),
    ]
}

fn available_labels() -> Value {
    json!({
        "gardener.cloud/role": "etcd-druid",
        "high-availability-config.resources.gardener.cloud/type": "controller",
    })
}

fn expected_rules() -> Value {
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let all = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let all_collections = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
    let own = ["get", "list", "patch", "update", "watch", "create", "delete"];
    json!([
        rule("", &["pods"], &["get", "list", "watch", "delete", "deletecollection"]),
        rule("", &["secrets", "endpoints"], &["get", "list", "patch", "update", "watch"]),
        rule("", &["events"], &["create", "get", "list", "watch", "patch", "update"]),
        rule("", &["serviceaccounts"], &all),
        rule("rbac.authorization.k8s.io", &["roles", "rolebindings"], &all),
        rule("", &["services", "configmaps"], &own),
        rule("apps", &["statefulsets"], &own),
        rule("batch", &["jobs"], &all),
        rule("druid.gardener.cloud", &["etcds", "etcdcopybackupstasks"], &all),
        rule(
            "druid.gardener.cloud",
            &[
                "etcds/status",
                "etcds/finalizers",
                "etcdcopybackupstasks/status",
                "etcdcopybackupstasks/finalizers"
            ],
            &["get", "update", "patch", "create"],
        ),
        rule("coordination.k8s.io", &["leases"], &all_collections),
        rule("", &["persistentvolumeclaims"], &["get", "list", "watch"]),
        rule("policy", &["poddisruptionbudgets"], &all),
    ])
}

fn expected_service() -> Value {
    let metadata = labelled(&json!({
        "labels": available_labels(),
        "annotations": {
            "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports": r#"[{"protocol":"TCP","port":8080}]"#,
        },
    }));
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata,
        "spec": {
            "type": "ClusterIP", "selector": {"gardener.cloud/role": "etcd-druid"},
            "ports": [{"name": "metrics", "protocol": "TCP", "port": 8080, "targetPort": 8080}],
        },
    })
}

fn expected_deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": labelled(&json!({"labels": available_labels()})),
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 1,
            "selector": {"matchLabels": {"gardener.cloud/role": "etcd-druid"}},
            "template": {
                "metadata": {"labels": {
                    "gardener.cloud/role": "etcd-druid", "networking.gardener.cloud/to-dns": "allowed",
                    "networking.gardener.cloud/to-runtime-apiserver": "allowed",
                }},
                "spec": {
                    "priorityClassName": "gardener-garden-system-300", "serviceAccountName": "etcd-druid",
                    "containers": [{
                        "name": "etcd-druid", "imagePullPolicy": "IfNotPresent",
                        "image": "eu.gcr.io/gardener-project/gardener/etcd-druid:v0.20.2",
                        "command": expected_command(["50", "10", "3", "false", "1000000"], &["--metrics-scrape-wait-duration=1m0s"]),
                        "resources": {
                            "requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"},
                        },
                        "ports": [{"containerPort": 8080}],
                    }],
                },
            },
        },
    })
}

/// The command with these values of the flags that are always there, and further flags.
fn expected_command(
    [etcds, custodian, compaction, enabled, threshold]: [&str; 5],
    further: &[&str],
) -> Value {
    let mut command = vec![
        "/etcd-druid".to_owned(),
        "--enable-leader-election=true".to_owned(),
        "--ignore-operation-annotation=false".to_owned(),
        "--disable-etcd-serviceaccount-automount=true".to_owned(),
        format!("--workers={etcds}"),
        format!("--custodian-workers={custodian}"),
        format!("--compaction-workers={compaction}"),
        format!("--enable-backup-compaction={enabled}"),
        format!("--etcd-events-threshold={threshold}"),
    ];
    command.extend(further.iter().map(|flag| (*flag).to_owned()));
    json!(command)
}

fn objects(fixture: &Fixture) -> Vec<Value> {
    let rendering = render(&fixture.values()).unwrap();
    assert!(rendering.steps.is_empty());
    managed(&rendering, "etcd-druid").objects.clone()
}

#[rstest]
#[case::small(Fixture::default())]
#[case::highly_available(Fixture::with(&json!({"spec": {"virtualCluster": {"controlPlane": {"highAvailability": {}}}}})))]
#[case::hvpa(Fixture::default().with_hvpa())]
#[case::the_oldest_runtime(Fixture::default().on_runtime("1.24.17"))]
#[case::the_newest_runtime(Fixture::default().on_runtime("1.28.2"))]
fn every_garden_has_the_same_objects(#[case] fixture: Fixture) {
    assert_objects("same", &objects(&fixture), &expected(), &[]);
}

#[rstest]
#[case::nothing(json!({}), ["50", "10", "3", "false", "1000000"], &[])]
#[case::numbers_alone(
    json!({"etcdController": {"workers": 1}, "custodianController": {"workers": 2}}),
    ["1", "2", "3", "false", "1000000"],
    &[]
)]
#[case::everything(
    json!({
        "etcdController": {"workers": 1}, "custodianController": {"workers": 2},
        "backupCompactionController": {
            "workers": 4, "enableBackupCompaction": true, "eventsThreshold": 5,
            "activeDeadlineDuration": "3h", "metricsScrapeWaitDuration": "90s",
        },
        "featureGates": {"UseEtcdWrapper": true, "Another": false},
    }),
    ["1", "2", "4", "true", "5"],
    &[
        "--metrics-scrape-wait-duration=1m30s", "--active-deadline-duration=3h0m0s",
        "--feature-gates=Another=false,UseEtcdWrapper=true",
    ]
)]
fn its_command_follows_the_configuration(
    #[case] settings: Value,
    #[case] numbers: [&str; 5],
    #[case] further: &[&str],
) {
    let mut fixture = Fixture::default();
    let settings: EtcdConfig = serde_json::from_value(settings).unwrap();
    fixture.config.controllers.garden.etcd_config = Some(settings);
    let command = expected_command(numbers, further);
    let changes = [(DEPLOYMENT, "/spec/template/spec/containers/0/command", command)];
    assert_objects("command", &objects(&fixture), &expected(), &changes);
}

#[test]
fn an_image_vector_of_its_own_is_mounted() {
    let mut fixture = Fixture::default();
    fixture.component_images.insert("etcd-druid".to_owned(), "images: []\n".to_owned());
    fixture.component_images.insert("another".to_owned(), "images: []\n".to_owned());
    let name = "etcd-druid-imagevector-overwrite-c77a9926";
    let mut want = expected();
    want.push(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
        "metadata": {
            "name": name, "namespace": "garden",
            "labels": {
                "gardener.cloud/role": "etcd-druid",
                "resources.gardener.cloud/garbage-collectable-reference": "true",
            },
        },
        "data": {"images_overwrite.yaml": "images: []\n"},
    }));
    let annotations = referenced(&[name], &[]);
    let (env, mounts) = (format!("{CONTAINER}/env"), format!("{CONTAINER}/volumeMounts"));
    let changes = [
        (DEPLOYMENT, "/metadata/annotations", annotations.clone()),
        (DEPLOYMENT, "/spec/template/metadata/annotations", annotations),
        (
            DEPLOYMENT,
            "/spec/template/spec/volumes",
            json!([{"name": "imagevector-overwrite", "configMap": {"name": name}}]),
        ),
        (
            DEPLOYMENT,
            env.as_str(),
            json!([{"name": "IMAGEVECTOR_OVERWRITE", "value": "/charts_overwrite/images_overwrite.yaml"}]),
        ),
        (
            DEPLOYMENT,
            mounts.as_str(),
            json!([{"name": "imagevector-overwrite", "mountPath": "/charts_overwrite", "readOnly": true}]),
        ),
    ];
    assert_objects("image vector", &objects(&fixture), &want, &changes);
}

/// The messages are the original's.
#[test]
fn it_stays_while_there_is_something_to_do() {
    let removal = lifecycle().removal;
    let refusals = removal.iter().filter_map(|step| match step {
        RemovalStep::RequireNone(absence) => Some(absence.refusal),
        _ => None,
    });
    let want = ["Etcd", "EtcdCopyBackupsTask"].map(|kind| {
        format!("cannot debootstrap etcd-druid because there are still druidv1alpha1.{kind} resources left in the cluster")
    });
    assert_eq!(refusals.collect::<Vec<_>>(), want);
    assert_eq!(removal.last(), Some(&RemovalStep::Managed("etcd-druid".to_owned())));
}
