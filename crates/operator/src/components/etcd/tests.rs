//! Tests of the Etcds: whole objects for a small Garden, and what each field changes.

use formats::duration::GoDuration;
use jiff::Timestamp;
use rstest::rstest;
use secrets::CertificateKind;
use serde_json::Value;

use super::*;
use crate::components::fixture::{Fixture, assert_objects};
use crate::config::{BackupLeaderElection, EtcdConfig};

const TIME: &str = "2023-11-14T12:34:56.789Z";
const MAIN: &str = "Etcd/virtual-garden-etcd-main";
const EVENTS: &str = "Etcd/virtual-garden-etcd-events";

fn fixture(cluster: &Value) -> Fixture {
    complete(Fixture::with(&json!({"spec": {"virtualCluster": cluster}})))
}

fn complete(mut fixture: Fixture) -> Fixture {
    fixture.observed.time = Some(TIME.parse::<Timestamp>().unwrap());
    fixture
}

fn with_existing(mut fixture: Fixture, version: &str, kind: &str, object: Value) -> Fixture {
    let name = ObjectName::in_garden(version, kind, object["metadata"]["name"].as_str().unwrap());
    fixture.observed.existing.0.insert(name, object);
    fixture
}

fn reference(name: &str) -> Value {
    json!({"name": name, "namespace": "garden"})
}

fn authority(name: &str) -> Value {
    json!({"name": name, "namespace": "garden", "dataKey": "bundle.crt"})
}

/// What both Etcds of a small Garden have in common.
fn etcd(role: &str) -> Value {
    let tls = json!({
        "tlsCASecretRef": authority("ca-etcd-bundle"),
        "serverTLSSecretRef": reference(&format!("etcd-server-{role}-current")),
        "clientTLSSecretRef": reference("etcd-client-current"),
    });
    json!({
        "apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd",
        "metadata": {
            "name": format!("virtual-garden-etcd-{role}"), "namespace": "garden",
            "labels": {"role": role, "gardener.cloud/role": "controlplane"},
            "annotations": {"gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": TIME},
        },
        "spec": {
            "replicas": 1, "priorityClassName": "gardener-garden-system-500",
            "labels": {
                "gardener.cloud/role": "controlplane", "role": role, "app": "etcd-statefulset",
                "networking.gardener.cloud/to-dns": "allowed",
                "networking.gardener.cloud/to-public-networks": "allowed",
                "networking.gardener.cloud/to-private-networks": "allowed",
                "networking.gardener.cloud/to-runtime-apiserver": "allowed",
            },
            "selector": {"matchLabels": {
                "gardener.cloud/role": "controlplane", "role": role, "app": "etcd-statefulset",
            }},
            "etcd": {
                "resources": {"requests": {"cpu": "300m", "memory": "1G"}},
                "clientPort": 2379, "serverPort": 2380, "quota": "8Gi",
                "clientUrlTls": tls,
                "clientService": {"annotations": {
                    "networking.resources.gardener.cloud/from-all-scrape-targets-allowed-ports":
                        r#"[{"protocol":"TCP","port":2379},{"protocol":"TCP","port":8080}]"#,
                    "networking.resources.gardener.cloud/namespace-selectors":
                        r#"[{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]"#,
                    "networking.resources.gardener.cloud/pod-label-selector-namespace-alias": "all-shoots",
                }},
            },
            "backup": {
                "port": 8080, "tls": tls,
                "resources": {"requests": {"cpu": "23m", "memory": "128Mi"}},
                "garbageCollectionPolicy": "Exponential", "garbageCollectionPeriod": "12h0m0s",
                "compression": {"enabled": true, "policy": "gzip"},
            },
        },
    })
}

/// Both Etcds of a small Garden.
fn expected() -> [Value; 2] {
    let (mut main, mut events) = (etcd("main"), etcd("events"));
    main["spec"]["annotations"] = json!({"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"});
    for (etcd, metrics, schedule, capacity, claim) in [
        (&mut main, "extensive", "0 21 * * *", "25Gi", "main-virtual-garden-etcd"),
        (&mut events, "basic", "0 21 */3 * *", "10Gi", "virtual-garden-etcd-events"),
    ] {
        etcd["spec"]["etcd"]["metrics"] = metrics.into();
        etcd["spec"]["etcd"]["defragmentationSchedule"] = schedule.into();
        etcd["spec"]["storageCapacity"] = capacity.into();
        etcd["spec"]["volumeClaimTemplate"] = claim.into();
    }
    [main, events]
}

fn peers(role: &str) -> Value {
    json!({
        "tlsCASecretRef": authority("ca-etcd-peer-bundle"),
        "serverTLSSecretRef": reference(&format!("etcd-peer-server-{role}-current")),
        "clientTLSSecretRef": {},
    })
}

fn store(container: &str, prefix: &str) -> Value {
    json!({"secretRef": {"name": "backup"}, "provider": "local", "container": container, "prefix": prefix})
}

fn bucket(name: &str) -> Value {
    json!({"etcd": {"main": {"backup": {"provider": "local", "bucketName": name, "secretRef": {"name": "backup"}}}}})
}

#[rstest]
#[case::small(fixture(&json!({})), &[])]
#[case::highly_available(
    fixture(&json!({"controlPlane": {"highAvailability": {}}})),
    &[
        (MAIN, "/spec/replicas", json!(3)),
        (MAIN, "/spec/etcd/peerUrlTls", peers("main")),
        (MAIN, "/spec/labels/networking.resources.gardener.cloud~1to-virtual-garden-etcd-main-client-tcp-2379", json!("allowed")),
        (MAIN, "/spec/labels/networking.resources.gardener.cloud~1to-virtual-garden-etcd-main-client-tcp-8080", json!("allowed")),
        (MAIN, "/spec/labels/networking.resources.gardener.cloud~1to-virtual-garden-etcd-main-client-tcp-2380", json!("allowed")),
        (EVENTS, "/spec/replicas", json!(3)),
        (EVENTS, "/spec/etcd/peerUrlTls", peers("events")),
        (EVENTS, "/spec/labels/networking.resources.gardener.cloud~1to-virtual-garden-etcd-events-client-tcp-2379", json!("allowed")),
        (EVENTS, "/spec/labels/networking.resources.gardener.cloud~1to-virtual-garden-etcd-events-client-tcp-8080", json!("allowed")),
        (EVENTS, "/spec/labels/networking.resources.gardener.cloud~1to-virtual-garden-etcd-events-client-tcp-2380", json!("allowed")),
    ]
)]
#[case::storage(
    fixture(&json!({"etcd": {
        "main": {"storage": {"capacity": "10240Mi", "className": "fast"}}, "events": {"storage": {"className": "slow"}},
    }})),
    &[
        (MAIN, "/spec/storageCapacity", json!("10Gi")),
        (MAIN, "/spec/storageClass", json!("fast")),
        (EVENTS, "/spec/storageClass", json!("slow")),
    ]
)]
#[case::backup(
    fixture(&bucket("bucket")),
    &[
        (MAIN, "/spec/backup/store", store("bucket", "virtual-garden-etcd-main/etcd-main")),
        (MAIN, "/spec/backup/fullSnapshotSchedule", json!("45 19 * * *")),
        (MAIN, "/spec/backup/deltaSnapshotPeriod", json!("5m0s")),
        (MAIN, "/spec/backup/deltaSnapshotMemoryLimit", json!("100Mi")),
    ]
)]
#[case::topology_aware_routing(
    complete(Fixture::with(&json!({"spec": {"runtimeCluster": {"settings": {"topologyAwareRouting": {"enabled": true}}}}}))),
    &[
        (MAIN, "/spec/etcd/clientService/labels", json!({"endpoint-slice-hints.resources.gardener.cloud/consider": "true"})),
        (MAIN, "/spec/etcd/clientService/annotations/service.kubernetes.io~1topology-mode", json!("auto")),
        (EVENTS, "/spec/etcd/clientService/labels", json!({"endpoint-slice-hints.resources.gardener.cloud/consider": "true"})),
        (EVENTS, "/spec/etcd/clientService/annotations/service.kubernetes.io~1topology-mode", json!("auto")),
    ]
)]
#[case::schedules_stay(
    with_existing(
        with_existing(fixture(&bucket("bucket")), "druid.gardener.cloud/v1alpha1", "Etcd", json!({
            "metadata": {"name": "virtual-garden-etcd-main"},
            "spec": {"etcd": {"defragmentationSchedule": "1 2 * * *"}, "backup": {"fullSnapshotSchedule": "3 4 * * *"}},
        })),
        "druid.gardener.cloud/v1alpha1",
        "Etcd",
        json!({"metadata": {"name": "virtual-garden-etcd-events"}, "spec": {"etcd": {"defragmentationSchedule": "5 6 * * *"}}})
    ),
    &[
        (MAIN, "/spec/etcd/defragmentationSchedule", json!("1 2 * * *")),
        (MAIN, "/spec/backup/store", store("bucket", "virtual-garden-etcd-main/etcd-main")),
        (MAIN, "/spec/backup/fullSnapshotSchedule", json!("3 4 * * *")),
        (MAIN, "/spec/backup/deltaSnapshotPeriod", json!("5m0s")),
        (MAIN, "/spec/backup/deltaSnapshotMemoryLimit", json!("100Mi")),
        (EVENTS, "/spec/etcd/defragmentationSchedule", json!("5 6 * * *")),
    ]
)]
fn both_etcds_are_rendered_whole(#[case] fixture: Fixture, #[case] changes: &[(&str, &str, Value)]) {
    let rendering = render(&fixture.values()).unwrap();
    let objects = rendering.steps.iter().filter_map(DirectStep::object);
    assert_objects("etcds", objects, &expected(), changes);
    let hvpa = |name| DirectStep::Delete(ObjectName::in_garden("autoscaling.k8s.io/v1alpha1", "Hvpa", name));
    assert_eq!(rendering.steps[1], hvpa("virtual-garden-etcd-main"));
    assert_eq!(rendering.steps[3], hvpa("virtual-garden-etcd-events"));
}

#[rstest]
#[case("bucket", "bucket", "virtual-garden-etcd-main/etcd-main")]
#[case("bucket/", "bucket", "/virtual-garden-etcd-main/etcd-main")]
#[case("bucket/a", "bucket", "a/virtual-garden-etcd-main/etcd-main")]
#[case("bucket/a/b/", "bucket", "a/b/virtual-garden-etcd-main/etcd-main")]
#[case("bucket/a//", "bucket", "a//virtual-garden-etcd-main/etcd-main")]
fn a_bucket_may_have_a_folder(#[case] name: &str, #[case] container: &str, #[case] prefix: &str) {
    let rendering = render(&fixture(&bucket(name)).values()).unwrap();
    assert_eq!(rendering.steps[0].object().unwrap()["spec"]["backup"]["store"], store(container, prefix));
}

#[test]
fn the_configuration_says_how_backups_elect_a_leader() {
    let mut fixture = fixture(&bucket("bucket"));
    let backup = |fixture: &Fixture| {
        let rendering = render(&fixture.values()).unwrap();
        rendering.steps[0].object().unwrap()["spec"]["backup"].clone()
    };
    assert_eq!(backup(&fixture).get("leaderElection"), None);
    let election = BackupLeaderElection {
        reelection_period: Some(GoDuration::from_seconds(5)),
        etcd_connection_timeout: None,
    };
    let config = EtcdConfig { backup_leader_election: Some(election), ..EtcdConfig::default() };
    fixture.config.controllers.garden.etcd_config = Some(config);
    assert_eq!(backup(&fixture)["leaderElection"], json!({"reelectionPeriod": "5s"}));
}

#[test]
fn what_a_garden_lost_is_removed() {
    let existing = json!({
        "metadata": {"name": "virtual-garden-etcd-main"},
        "spec": {
            "storageClass": "fast",
            "backup": {"store": {"prefix": "a"}, "fullSnapshotSchedule": "1 2 * * *", "leaderElection": {}},
            "etcd": {"clientService": {
                "labels": {"a": "b"},
                "annotations": {"service.kubernetes.io/topology-mode": "auto"},
            }},
        },
    });
    let fixture = with_existing(fixture(&json!({})), "druid.gardener.cloud/v1alpha1", "Etcd", existing);
    let rendering = render(&fixture.values()).unwrap();
    let mut want = expected()[0].clone();
    want["spec"]["storageClass"] = Value::Null;
    for field in ["store", "fullSnapshotSchedule", "leaderElection"] {
        want["spec"]["backup"][field] = Value::Null;
    }
    want["spec"]["etcd"]["clientService"]["labels"] = Value::Null;
    want["spec"]["etcd"]["clientService"]["annotations"]["service.kubernetes.io/topology-mode"] = Value::Null;
    assert_eq!(rendering.steps[0], DirectStep::Patch(want));
}

fn hvpa(role: &str, min_memory: &str, scale_down: &str, stateful_set: &str, replicas: u32) -> Value {
    let change = |value: &str, percentage: u32| json!({"value": value, "percentage": percentage});
    let scale = |mode: &str, after: &str| {
        json!({
            "updatePolicy": {"updateMode": mode}, "stabilizationDuration": after,
            "minChange": {"cpu": change("1", 80), "memory": change("2G", 80)},
        })
    };
    let (horizontal, vertical) =
        (json!({"role": format!("etcd-hpa-{role}")}), json!({"role": format!("etcd-vpa-{role}")}));
    json!({
        "apiVersion": "autoscaling.k8s.io/v1alpha1", "kind": "Hvpa",
        "metadata": {
            "name": format!("virtual-garden-etcd-{role}"), "namespace": "garden",
            "labels": {"gardener.cloud/role": "controlplane", "role": role, "app": "etcd-statefulset"},
        },
        "spec": {
            "replicas": 1,
            "maintenanceTimeWindow": {"begin": "220000+0100", "end": "230000+0100"},
            "targetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": stateful_set},
            "hpa": {
                "selector": {"matchLabels": horizontal},
                "template": {"metadata": {"labels": horizontal}, "spec": {
                    "minReplicas": replicas, "maxReplicas": replicas, "metrics": [
                        {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 80}},
                        {"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 80}},
                    ],
                }},
            },
            "vpa": {
                "selector": {"matchLabels": vertical}, "deploy": true,
                "scaleUp": scale("Auto", "5m"), "scaleDown": scale(scale_down, "15m"),
                "limitsRequestsGapScaleParams": {"cpu": change("2", 40), "memory": change("5G", 40)},
                "template": {"metadata": {"labels": vertical}, "spec": {"resourcePolicy": {"containerPolicies": [
                    {
                        "containerName": "etcd", "controlledValues": "RequestsOnly",
                        "minAllowed": {"memory": min_memory}, "maxAllowed": {"cpu": "4", "memory": "30G"},
                    },
                    {"containerName": "backup-restore", "mode": "Off", "controlledValues": "RequestsOnly"},
                ]}}},
            },
            "weightBasedScalingIntervals": [
                {"vpaWeight": 100, "startReplicaCount": replicas, "lastReplicaCount": replicas},
            ],
        },
    })
}

#[test]
fn an_hvpa_scales_each_etcd_and_its_requests_stay() {
    let etcd =
        json!({"metadata": {"name": "virtual-garden-etcd-main"}, "status": {"etcd": {"name": "renamed"}}});
    let containers = json!([
        {"name": "etcd", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}},
        {"name": "backup-restore", "resources": {"requests": {"cpu": "3"}}},
    ]);
    let stateful_set =
        json!({"metadata": {"name": "renamed"}, "spec": {"template": {"spec": {"containers": containers}}}});
    let cluster = json!({"controlPlane": {"highAvailability": {}}});
    let fixture = with_existing(fixture(&cluster), "druid.gardener.cloud/v1alpha1", "Etcd", etcd);
    let fixture = with_existing(fixture, "apps/v1", "StatefulSet", stateful_set);
    let without = render(&fixture.values()).unwrap();
    let rendering = render(&fixture.with_hvpa().values()).unwrap();
    assert_eq!(rendering.steps[1], DirectStep::Patch(hvpa("main", "700M", "Off", "renamed", 3)));
    let events = hvpa("events", "200M", "MaintenanceWindow", "virtual-garden-etcd-events", 3);
    assert_eq!(rendering.steps[3], DirectStep::Patch(events));
    let requests = |rendering: &Rendering| {
        let spec = &rendering.steps[0].object().unwrap()["spec"];
        [spec["etcd"]["resources"].clone(), spec["backup"]["resources"].clone()]
    };
    assert_eq!(requests(&rendering), [json!({"requests": {"cpu": "1"}}), json!({"requests": {"cpu": "3"}})]);
    let default = [
        json!({"requests": {"cpu": "300m", "memory": "1G"}}),
        json!({"requests": {"cpu": "23m", "memory": "128Mi"}}),
    ];
    assert_eq!(requests(&without), default);
}

#[rstest]
#[case::one_member(json!({}), Some("other"), false)]
#[case::known(json!({"controlPlane": {"highAvailability": {}}}), Some("ca-etcd-peer-bundle"), false)]
#[case::unknown(json!({"controlPlane": {"highAvailability": {}}}), Some("other"), true)]
#[case::no_etcd(json!({"controlPlane": {"highAvailability": {}}}), None, false)]
fn members_trust_the_new_authority_first(
    #[case] cluster: Value,
    #[case] trusted: Option<&str>,
    #[case] is_written: bool,
) {
    let existing = trusted.map(|name| {
        json!({
            "metadata": {"name": "virtual-garden-etcd-events"},
            "spec": {"etcd": {"peerUrlTls": {"tlsCASecretRef": {"name": name, "dataKey": "bundle.crt"}}}},
        })
    });
    let fixture = match existing {
        Some(etcd) => with_existing(fixture(&cluster), "druid.gardener.cloud/v1alpha1", "Etcd", etcd),
        None => fixture(&cluster),
    };
    let rendering = render_peer_authority(&fixture.values()).unwrap();
    let patch = json!({
        "apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd",
        "metadata": {
            "name": "virtual-garden-etcd-events", "namespace": "garden",
            "annotations": {"gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": TIME},
        },
        "spec": {"etcd": {"peerUrlTls": {"tlsCASecretRef": reference("ca-etcd-peer-bundle")}}},
    });
    let want: Vec<DirectStep> = is_written.then_some(DirectStep::Patch(patch)).into_iter().collect();
    assert_eq!(rendering.steps, want);
}

#[rstest]
#[case::small(json!({}), &["etcd-server-main", "etcd-client", "etcd-server-events"])]
#[case::highly_available(
    json!({"controlPlane": {"highAvailability": {}}}),
    &["etcd-server-main", "etcd-client", "etcd-peer-server-main", "etcd-server-events", "etcd-peer-server-events"]
)]
fn secrets_are_requested_as_the_original_does(#[case] cluster: Value, #[case] names: &[&str]) {
    let requested = requests(&fixture(&cluster).garden);
    let got: Vec<&str> = requested.iter().map(|requested| requested.request.name.as_str()).collect();
    assert_eq!(got, names);
    let server = requested[0].request.certificate().unwrap();
    assert_eq!((server.common_name.as_str(), server.kind), ("etcd-server", CertificateKind::ServerAndClient));
    let services = ["virtual-garden-etcd-main-client", "*.virtual-garden-etcd-main-peer"];
    let of_services = services.iter().flat_map(|service| {
        ["", ".garden", ".garden.svc", ".garden.svc.cluster.local"].map(|end| format!("{service}{end}"))
    });
    let want: Vec<String> =
        std::iter::once("virtual-garden-etcd-main-local".to_owned()).chain(of_services).collect();
    assert_eq!(server.dns_names, want);
    if let Some(peer) = requested.iter().find(|requested| requested.request.name == "etcd-peer-server-main") {
        assert_eq!(peer.options.signer, Some(Signer::new("ca-etcd-peer").choosing(AuthorityChoice::Current)));
        let names = &peer.request.certificate().unwrap().dns_names;
        assert_eq!(names[0], "virtual-garden-etcd-main-peer");
        assert_eq!(names[4], "*.virtual-garden-etcd-main-peer");
        assert_eq!(names.len(), 8);
    }
}
