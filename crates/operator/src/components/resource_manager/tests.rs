//! Tests of the resource-manager of the runtime cluster: whole objects for several Gardens and configurations.

mod webhooks;

use rstest::rstest;
use secrets::AuthorityChoice;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, referenced};
use crate::components::references;
use crate::config::NodeToleration;

const DEPLOYMENT: &str = "Deployment/gardener-resource-manager";
const SERVICE: &str = "Service/gardener-resource-manager";
const MUTATING: &str = "MutatingWebhookConfiguration/gardener-resource-manager";
/// Configurations, from the description of the original, and their ConfigMaps.
const SMALL: [&str; 2] = ["gardener-resource-manager-730ceaba", include_str!("tests/small.yaml")];
const EVERYTHING: [&str; 2] = ["gardener-resource-manager-bedf92ed", include_str!("tests/everything.yaml")];

fn fixture(fields: &Value) -> Fixture {
    let mut fixture = Fixture::with(fields);
    fixture.config.log_level = "info".to_owned();
    fixture.config.log_format = "json".to_owned();
    fixture
}

fn with_zones(zones: &[&str]) -> Value {
    json!({"spec": {"runtimeCluster": {"provider": {"zones": zones}}}})
}

/// Everything that its configuration takes from the Garden and the operator's configuration.
fn everything() -> Fixture {
    let mut fixture = fixture(&json!({"spec": {"runtimeCluster": {
        "provider": {"zones": ["a", "b", "c"]},
        "settings": {"topologyAwareRouting": {"enabled": true}},
    }}}))
    .with_gate("DefaultSeccompProfile");
    fixture.config.node_toleration = Some(NodeToleration {
        default_not_ready_toleration_seconds: Some(60),
        default_unreachable_toleration_seconds: Some(120),
    });
    let selector = serde_json::from_value(json!({"matchLabels": {"a": "b"}})).unwrap();
    fixture.config.controllers.network_policy.additional_namespace_selectors = vec![selector];
    fixture
}

fn object(version: &str, kind: &str, further: &Value) -> Value {
    let mut object = json!({
        "apiVersion": version, "kind": kind,
        "metadata": {
            "name": "gardener-resource-manager", "namespace": "garden",
            "labels": {"app": "gardener-resource-manager"},
        },
    });
    for (key, value) in further.as_object().unwrap() {
        object[key] = value.clone();
    }
    object
}

/// What is written for a small Garden with this configuration; the template has this checksum. The CustomResourceDefinition has a test
/// of its own.
fn expected([config_map, configuration]: [&str; 2], checksum: &str) -> Vec<Value> {
    let name = "gardener-resource-manager";
    let labels = json!({"app": name, "gardener.cloud/role": "seed"});
    let budget = json!({"spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}}});
    vec![
        object("v1", "ServiceAccount", &json!({"automountServiceAccountToken": false})),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
            "metadata": {
                "name": config_map, "namespace": "garden",
                "labels": {"resources.gardener.cloud/garbage-collectable-reference": "true"},
            },
            "data": {"config.yaml": configuration},
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "gardener-resource-manager-seed", "labels": {"app": name}},
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "gardener-resource-manager-seed", "labels": {"app": name}},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                "name": "gardener-resource-manager-seed",
            },
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "garden"}],
        }),
        service_object(),
        deployment_object(config_map, checksum),
        object("policy/v1", "PodDisruptionBudget", &budget),
        autoscaler(),
        webhooks::configuration("MutatingWebhookConfiguration", &webhooks::mutating()),
        webhooks::configuration("ValidatingWebhookConfiguration", &webhooks::validating()),
    ]
}

fn service_object() -> Value {
    let port = |name: &str, port: u16, target: u16| json!({"name": name, "protocol": "TCP", "port": port, "targetPort": target});
    let ports = [port("metrics", 8080, 8080), port("health", 8081, 8081), port("server", 443, 10250)];
    let selector = json!({"app": "gardener-resource-manager"});
    let spec = json!({"type": "ClusterIP", "selector": selector, "ports": ports});
    let mut service = object("v1", "Service", &json!({"spec": spec}));
    service["metadata"]["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports": r#"[{"protocol":"TCP","port":8080}]"#,
        "networking.resources.gardener.cloud/from-world-to-ports": r#"[{"protocol":"TCP","port":10250}]"#,
    });
    service
}

fn autoscaler() -> Value {
    let policy = json!({
        "containerName": "*", "controlledValues": "RequestsOnly",
        "minAllowed": {"memory": "64Mi"}, "maxAllowed": {"cpu": "4", "memory": "10G"},
    });
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "gardener-resource-manager"});
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

fn annotations(config_map: &str) -> Value {
    referenced(&["kube-root-ca.crt", config_map], &["gardener-resource-manager-server-current"])
}

fn constraint(key: &str, otherwise: &str, checksum: &str) -> Value {
    json!({
        "topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": otherwise,
        "labelSelector": {"matchLabels": {
            "app": "gardener-resource-manager", "gardener.cloud/role": "seed", "checksum/pod-template": checksum,
        }},
    })
}

fn zone_constraint(checksum: &str) -> Value {
    let mut constraint = constraint("topology.kubernetes.io/zone", "DoNotSchedule", checksum);
    constraint["minDomains"] = 2.into();
    constraint
}

fn deployment_object(config_map: &str, checksum: &str) -> Value {
    let name = "gardener-resource-manager";
    let mut deployment = object(
        "apps/v1",
        "Deployment",
        &json!({"spec": {
            "replicas": 2, "revisionHistoryLimit": 2, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"annotations": annotations(config_map), "labels": {
                    "app": name, "gardener.cloud/role": "seed", "checksum/pod-template": checksum,
                    "networking.gardener.cloud/to-dns": "allowed",
                    "networking.gardener.cloud/to-runtime-apiserver": "allowed",
                    "projected-token-mount.resources.gardener.cloud/skip": "true",
                }},
                "spec": {
                    "priorityClassName": "gardener-garden-system-critical", "serviceAccountName": name,
                    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                    "topologySpreadConstraints": [
                        constraint("kubernetes.io/hostname", "ScheduleAnyway", checksum),
                    ],
                    "containers": [container()], "volumes": volumes(config_map),
                },
            },
        }}),
    );
    deployment["metadata"]["annotations"] = annotations(config_map);
    deployment["metadata"]["labels"]["high-availability-config.resources.gardener.cloud/skip"] =
        "true".into();
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
        ],
    })
}

fn volumes(config_map: &str) -> Value {
    let certificate = "gardener-resource-manager-server-current";
    json!([
        {"name": "kube-api-access-gardener", "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 43200, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{
                "path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]}},
        {"name": "tls", "secret": {"secretName": certificate, "defaultMode": 420}},
        {"name": "config", "configMap": {"name": config_map}},
    ])
}

/// The objects without the CustomResourceDefinition, and the checksum of the template, which must be that of the rest of it.
fn rendered(fixture: &Fixture) -> (Vec<Value>, String) {
    let rendering = render(&fixture.values()).unwrap();
    assert!(rendering.managed.is_empty());
    let objects: Vec<Value> = rendering.steps.iter().filter_map(DirectStep::object).cloned().collect();
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").unwrap();
    let mut template = deployment["spec"]["template"].clone();
    let label = template["metadata"]["labels"].as_object_mut().unwrap().remove("checksum/pod-template");
    for constraint in template["spec"]["topologySpreadConstraints"].as_array_mut().unwrap() {
        let labels = constraint["labelSelector"]["matchLabels"].as_object_mut().unwrap();
        assert_eq!(labels.remove("checksum/pod-template"), label);
    }
    let checksum = references::checksum(&template.to_string())[..16].to_owned();
    assert_eq!(label, Some(json!(checksum)));
    (objects[1..].to_vec(), checksum)
}

#[rstest]
#[case::small(fixture(&json!({})))]
#[case::highly_available(fixture(&json!({"spec": {"virtualCluster": {"controlPlane": {"highAvailability": {}}}}})))]
#[case::one_zone(fixture(&with_zones(&["a"])))]
#[case::hvpa(fixture(&json!({})).with_hvpa())]
#[case::the_oldest_runtime(fixture(&json!({})).on_runtime("1.24.17"))]
#[case::the_newest_runtime(fixture(&json!({})).on_runtime("1.28.2"))]
fn most_gardens_have_the_same_objects(#[case] fixture: Fixture) {
    let (objects, checksum) = rendered(&fixture);
    assert_objects("same", &objects, &expected(SMALL, &checksum), &[]);
}

#[test]
fn two_zones_spread_its_pods() {
    let (objects, checksum) = rendered(&fixture(&with_zones(&["a", "b"])));
    let pointer = "/spec/template/spec/topologySpreadConstraints/-";
    let changes = [(DEPLOYMENT, pointer, zone_constraint(&checksum))];
    assert_objects("two zones", &objects, &expected(SMALL, &checksum), &changes);
}

#[test]
fn a_garden_and_a_configuration_with_everything() {
    let (objects, checksum) = rendered(&everything());
    let toleration = |key: &str, seconds: u32| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
    let tolerations = json!([
        toleration("node.kubernetes.io/not-ready", 60),
        toleration("node.kubernetes.io/unreachable", 120),
    ]);
    let changes = [
        (DEPLOYMENT, "/spec/template/spec/tolerations", tolerations),
        (DEPLOYMENT, "/spec/template/spec/topologySpreadConstraints/-", zone_constraint(&checksum)),
        (MUTATING, "/webhooks/3", webhooks::seccomp_profile()),
        (MUTATING, "/webhooks/-", webhooks::endpoint_slice_hints()),
        (MUTATING, "/webhooks/-", webhooks::pod_topology_spread_constraints()),
    ];
    assert_objects("everything", &objects, &expected(EVERYTHING, &checksum), &changes);
}

/// One toleration alone is configured.
#[rstest]
#[case::not_ready(Some(60), None, "node.kubernetes.io/not-ready", "defaultNotReadyTolerationSeconds: 60")]
#[case::unreachable(
    None,
    Some(60),
    "node.kubernetes.io/unreachable",
    "defaultUnreachableTolerationSeconds: 60"
)]
fn each_toleration_is_optional(
    #[case] not_ready: Option<i64>,
    #[case] unreachable: Option<i64>,
    #[case] taint: &str,
    #[case] line: &str,
) {
    let mut fixture = fixture(&json!({}));
    fixture.config.node_toleration = Some(NodeToleration {
        default_not_ready_toleration_seconds: not_ready,
        default_unreachable_toleration_seconds: unreachable,
    });
    let (objects, _) = rendered(&fixture);
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").unwrap();
    let want = json!([{"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]);
    assert_eq!(deployment["spec"]["template"]["spec"]["tolerations"], want);
    let config_map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    let configuration = config_map["data"]["config.yaml"].as_str().unwrap();
    let lines: Vec<&str> = configuration.lines().filter(|line| line.contains("TolerationSeconds")).collect();
    assert_eq!(lines, [format!("    {line}")]);
}

/// What an earlier deployment has set and this one has not is removed; the checksum does not count that.
#[test]
fn what_is_not_configured_any_more_goes() {
    let mut fixture = fixture(&json!({}));
    let with_topology = json!({"metadata": {
        "labels": {"endpoint-slice-hints.resources.gardener.cloud/consider": "true"},
        "annotations": {"service.kubernetes.io/topology-mode": "auto"},
    }});
    let tolerant = json!({"spec": {"template": {"spec": {"tolerations": [{"key": "a"}]}}}});
    fixture.observed.existing.0.extend([
        (ObjectName::in_garden("v1", "Service", NAME), with_topology),
        (ObjectName::in_garden("apps/v1", "Deployment", NAME), tolerant),
    ]);
    let rendering = render(&fixture.values()).unwrap();
    let objects: Vec<&Value> = rendering.steps[1..].iter().filter_map(DirectStep::object).collect();
    let (_, checksum) = rendered(&self::fixture(&json!({})));
    let removed = [
        (DEPLOYMENT, "/spec/template/spec/tolerations"),
        (SERVICE, "/metadata/labels/endpoint-slice-hints.resources.gardener.cloud~1consider"),
        (SERVICE, "/metadata/annotations/service.kubernetes.io~1topology-mode"),
    ];
    let mut want = expected(SMALL, &checksum);
    for (name, pointer) in removed {
        let object = want.iter_mut().find(|object| named(object, name)).unwrap();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[key.replace("~1", "/")] = Value::Null;
    }
    assert_objects("removed", objects, &want, &[]);
}

/// Whether an object is called `Kind/name`.
fn named(object: &Value, name: &str) -> bool {
    let (kind, name) = name.split_once('/').unwrap();
    object["kind"] == kind && object["metadata"]["name"] == name
}

#[test]
fn the_definition_of_managed_resources_comes_first_and_is_protected() {
    let rendering = render(&fixture(&json!({})).values()).unwrap();
    let DirectStep::Patch(definition) = &rendering.steps[0] else { panic!("{:?}", rendering.steps[0]) };
    assert_eq!(definition["kind"], "CustomResourceDefinition");
    let metadata = json!({
        "name": "managedresources.resources.gardener.cloud",
        "labels": {"gardener.cloud/deletion-protected": "true"},
    });
    assert_eq!(definition["metadata"], metadata);
    assert_eq!(definition["spec"]["names"]["kind"], "ManagedResource");
    let config_map = rendering.steps[2].object().unwrap();
    assert_eq!(rendering.steps[2], DirectStep::Create(config_map.clone()));
}

#[test]
fn its_certificate_is_for_the_service() {
    let all = requests(&Fixture::default().garden);
    assert_eq!(all.len(), 1);
    let requested = &all[0];
    assert_eq!(requested.request.name, "gardener-resource-manager-server");
    let certificate = requested.request.certificate().unwrap();
    assert_eq!(certificate.common_name, "gardener-resource-manager");
    let names = [
        "gardener-resource-manager",
        "gardener-resource-manager.garden",
        "gardener-resource-manager.garden.svc",
        "gardener-resource-manager.garden.svc.cluster.local",
    ];
    assert_eq!(certificate.dns_names, names);
    let signer = requested.options.signer.as_ref().unwrap();
    assert_eq!((signer.authority.as_str(), signer.choice), ("ca-garden-runtime", AuthorityChoice::Current));
}
