//! Tests of kube-apiserver: whole objects for a small Garden, and what each field changes.

mod expected;
mod fields;

use rstest::rstest;
use secrets::{CertificateKind, Content, RotationStrategy};
use serde_json::{Value, json};

use self::expected::{ARGUMENTS, RUNTIME_CONFIG};
use super::*;
use crate::components::fixture::{Fixture, assert_objects, generated, merge};
use crate::components::rendering::name_of;

/// A Garden as the webhook defaults it, with these fields of `spec.virtualCluster` and of kube-apiserver.
fn fixture(cluster: &Value, server: &Value) -> Fixture {
    let defaults = json!({"spec": {"virtualCluster": {"kubernetes": {"kubeAPIServer": {
        "enableAnonymousAuthentication": false,
        "eventTTL": "1h",
        "logging": {"verbosity": 2},
        "requests": {"maxNonMutatingInflight": 400, "maxMutatingInflight": 200},
    }}}}});
    let mut all = defaults;
    merge(&mut all["spec"]["virtualCluster"], cluster);
    merge(&mut all["spec"]["virtualCluster"]["kubernetes"]["kubeAPIServer"], server);
    Fixture::with(&all)
}

fn with_deployment(mut fixture: Fixture, deployment: Value) -> Fixture {
    let name = ObjectName::in_garden("apps/v1", "Deployment", NAME);
    fixture.observed.existing.0.insert(name, deployment);
    fixture
}

fn rendered(fixture: &Fixture) -> Rendering {
    render(&fixture.values()).unwrap()
}

fn deployment(rendering: &Rendering) -> &Value {
    rendering
        .steps
        .iter()
        .filter_map(DirectStep::object)
        .find(|object| object["kind"] == "Deployment")
        .unwrap()
}

fn container(rendering: &Rendering) -> &Value {
    &deployment(rendering)["spec"]["template"]["spec"]["containers"][0]
}

/// The arguments of the small Garden, some of them replaced: a map from an argument to a list.
fn arguments(replaced: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let each = ARGUMENTS.iter().flat_map(|argument| match replaced[*argument].as_array() {
        None => vec![(*argument).to_owned()],
        Some(others) => others.iter().map(text).collect(),
    });
    each.collect()
}

/// How each step names its object.
fn summary(rendering: &Rendering) -> Vec<String> {
    let of = |verb: &str, object: &Value| {
        format!("{verb} {}/{}", object["kind"].as_str().unwrap(), name_of(object))
    };
    let each = rendering.steps.iter().map(|step| match step {
        DirectStep::Create(object) => of("create", object),
        DirectStep::CreateOrLabel(object) => of("label", object),
        DirectStep::Patch(object) => of("patch", object),
        DirectStep::Delete(name) => format!("delete {}/{}", name.kind, name.name),
        other => panic!("{other:?}"),
    });
    each.collect()
}

#[test]
fn a_small_garden_is_rendered_whole() {
    let rendering = rendered(&fixture(&json!({}), &json!({})));
    assert_objects("small", rendering.steps.iter().filter_map(DirectStep::object), &expected::objects(), &[]);
    assert!(rendering.managed.is_empty());
    let want = [
        "patch PodDisruptionBudget/virtual-garden-kube-apiserver",
        "patch HorizontalPodAutoscaler/virtual-garden-kube-apiserver",
        "patch VerticalPodAutoscaler/virtual-garden-kube-apiserver-vpa",
        "delete Hvpa/virtual-garden-kube-apiserver",
        "label Secret/kube-apiserver-etcd-encryption-configuration-196933e0",
        "create ConfigMap/kube-apiserver-admission-config-e38ff146",
        "create Secret/kube-apiserver-admission-kubeconfigs-e3b0c442",
        "create ConfigMap/audit-policy-config-f5b578b4",
        "delete ServiceAccount/virtual-garden-kube-apiserver",
        "delete Role/kube-apiserver-vpn-client-init",
        "delete RoleBinding/kube-apiserver-vpn-client-init",
        "patch Deployment/virtual-garden-kube-apiserver",
    ];
    assert_eq!(summary(&rendering), want);
}

#[rstest]
#[case::highly_available(
    fixture(&json!({"controlPlane": {"highAvailability": {}}}), &json!({})),
    &[
        ("HorizontalPodAutoscaler/virtual-garden-kube-apiserver", "/spec/minReplicas", json!(3)),
        ("Deployment/virtual-garden-kube-apiserver", "/spec/replicas", json!(3)),
    ]
)]
#[case::topology_aware_routing_changes_nothing(
    Fixture::with(&json!({"spec": {"runtimeCluster": {"settings": {"topologyAwareRouting": {"enabled": true}}}}})),
    &[("Deployment/virtual-garden-kube-apiserver", "/spec/template/spec/containers/0/args", json!(bare()))]
)]
#[case::scaled(
    with_deployment(fixture(&json!({}), &json!({})), json!({"spec": {"replicas": 5}})),
    &[("Deployment/virtual-garden-kube-apiserver", "/spec/replicas", json!(5))]
)]
#[case::hibernated(
    with_deployment(fixture(&json!({}), &json!({})), json!({"spec": {"replicas": 0}})),
    &[("Deployment/virtual-garden-kube-apiserver", "/spec/replicas", json!(1))]
)]
#[case::another_version(
    fixture(&json!({"kubernetes": {"version": "1.25.1"}}), &json!({})),
    &[(
        "Deployment/virtual-garden-kube-apiserver",
        "/spec/template/spec/containers/0/image",
        json!("registry.k8s.io/kube-apiserver:v1.25.1")
    )]
)]
#[case::the_newest_version(
    fixture(&json!({"kubernetes": {"version": "1.28.15"}}), &json!({})),
    &[(
        "Deployment/virtual-garden-kube-apiserver",
        "/spec/template/spec/containers/0/image",
        json!("registry.k8s.io/kube-apiserver:v1.28.15")
    )]
)]
fn fields_change_single_places(#[case] fixture: Fixture, #[case] changes: &[(&str, &str, Value)]) {
    let rendering = rendered(&fixture);
    let objects = rendering.steps.iter().filter_map(DirectStep::object);
    assert_objects("changed", objects, &expected::objects(), changes);
}

#[test]
fn what_only_1_24_has_is_removed() {
    let shared = json!({"spec": {"template": {"spec": {"shareProcessNamespace": true}}}});
    let rendering = rendered(&with_deployment(fixture(&json!({}), &json!({})), shared));
    let pod = &deployment(&rendering)["spec"]["template"]["spec"];
    assert_eq!(pod.get("shareProcessNamespace"), Some(&Value::Null));
}

/// Arguments without anything that the webhook defaults.
fn bare() -> Vec<String> {
    let defaulted = ["--event-ttl=", "--max-requests-inflight=", "--max-mutating-requests-inflight=", "--v="];
    let mut arguments = arguments(&json!({}));
    arguments.retain(|argument| !defaulted.iter().any(|prefix| argument.starts_with(prefix)));
    arguments
}

#[rstest]
#[case::small(json!({}), 2)]
#[case::highly_available(json!({"controlPlane": {"highAvailability": {}}}), 3)]
fn an_hvpa_replaces_both_autoscalers(#[case] cluster: Value, #[case] min_replicas: u32) {
    let requests = json!({"cpu": "2", "memory": "3G"});
    let containers =
        json!([{"name": "kube-apiserver", "resources": {"requests": requests, "limits": {"cpu": "4"}}}]);
    let existing =
        json!({"spec": {"replicas": min_replicas, "template": {"spec": {"containers": containers}}}});
    let rendering = rendered(&with_deployment(fixture(&cluster, &json!({})).with_hvpa(), existing.clone()));
    let want = [
        "patch PodDisruptionBudget/virtual-garden-kube-apiserver",
        "delete HorizontalPodAutoscaler/virtual-garden-kube-apiserver",
        "delete VerticalPodAutoscaler/virtual-garden-kube-apiserver-vpa",
        "patch Hvpa/virtual-garden-kube-apiserver",
    ];
    assert_eq!(summary(&rendering)[..4], want);
    let mut hvpa = expected::hvpa();
    hvpa["spec"]["hpa"]["template"]["spec"]["minReplicas"] = min_replicas.into();
    hvpa["spec"]["weightBasedScalingIntervals"][1]["startReplicaCount"] = min_replicas.into();
    assert_eq!(rendering.steps[3], DirectStep::Patch(hvpa));
    assert_eq!(container(&rendering)["resources"], json!({"requests": requests}));
    let without = rendered(&with_deployment(fixture(&cluster, &json!({})), existing));
    assert_eq!(container(&without)["resources"], json!({"requests": {"cpu": "600m", "memory": "512Mi"}}));
}

#[test]
fn the_watchdog_runs_with_1_24_only() {
    let rendering = rendered(&fixture(&json!({"kubernetes": {"version": "1.24.17"}}), &json!({})));
    let older = RUNTIME_CONFIG.replace(
        "policy/v1/poddisruptionbudgets=false,",
        "policy/v1/poddisruptionbudgets=false,policy/v1beta1/podsecuritypolicies=false,",
    );
    let encryption =
        "--encryption-provider-config=/etc/kubernetes/etcd-encryption-secret/encryption-configuration.yaml";
    let want = arguments(
        &json!({RUNTIME_CONFIG: [older.as_str()], encryption: [encryption, "--shutdown-send-retry-after=true"]}),
    );
    assert_eq!(container(&rendering)["args"], json!(want));
    let pod = &deployment(&rendering)["spec"]["template"]["spec"];
    let script = rendering.steps.iter().rev().nth(1).and_then(DirectStep::object).unwrap();
    assert_eq!(script["metadata"]["labels"]["app"], "kubernetes");
    assert!(script["data"]["watchdog.sh"].as_str().unwrap().starts_with("#!/bin/sh\n"));
    let want = json!({
        "name": "watchdog", "image": "eu.gcr.io/gardener-project/3rd/alpine:3.15.8",
        "command": ["/bin/sh", "/var/watchdog/bin/watchdog.sh", "token1"],
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "volumeMounts": [{"name": "watchdog", "mountPath": "/var/watchdog/bin"}],
    });
    assert_eq!(pod["containers"][1], want);
    let volume = json!({"name": "watchdog", "configMap": {"name": name_of(script), "defaultMode": 500}});
    assert_eq!(pod["volumes"].as_array().unwrap().last(), Some(&volume));
    assert_eq!(pod["shareProcessNamespace"], json!(true));
}

/// Objects and volumes that optional fields add; names have the checksums of `k`, `PEM`, `P` and of the kubeconfig.
#[rstest]
#[case::oidc(json!({"oidcConfig": {"caBundle": "PEM"}}), "Secret/kube-apiserver-oidc-cabundle-1f994b7b", "/srv/kubernetes/oidc")]
#[case::authentication(
    json!({"authentication": {"webhook": {"kubeconfigSecretName": "k"}}}),
    "Secret/kube-apiserver-authentication-webhook-kubeconfig-6e17dff1",
    "/etc/kubernetes/webhook/authentication"
)]
#[case::audit(
    json!({
        "auditConfig": {"auditPolicy": {"configMapRef": {"name": "policy"}}},
        "auditWebhook": {"kubeconfigSecretName": "k"},
    }),
    "Secret/kube-apiserver-audit-webhook-kubeconfig-6e17dff1",
    "/etc/kubernetes/webhook/audit"
)]
#[case::policy(
    json!({"auditConfig": {"auditPolicy": {"configMapRef": {"name": "policy"}}}}),
    "ConfigMap/audit-policy-config-b71ae0a6",
    "/etc/kubernetes/audit"
)]
fn optional_files_are_mounted(#[case] server: Value, #[case] created: &str, #[case] path: &str) {
    let fixture = fixture(&json!({}), &server)
        .with_secret("k", [("kubeconfig", "k")])
        .with_config_map("policy", "policy", "P");
    let rendering = rendered(&fixture);
    let created_as = format!("create {created}");
    assert!(summary(&rendering).contains(&created_as), "{:#?}", summary(&rendering));
    let mounts = container(&rendering)["volumeMounts"].as_array().unwrap();
    let mount = mounts.iter().find(|mount| mount["mountPath"] == path).unwrap();
    let volumes = deployment(&rendering)["spec"]["template"]["spec"]["volumes"].as_array().unwrap();
    let volume = volumes.iter().find(|volume| volume["name"] == mount["name"]).unwrap();
    let (_, name) = created.split_once('/').unwrap();
    assert!(volume.to_string().contains(&format!("\"{name}\"")), "{volume}");
    let annotations = &deployment(&rendering)["metadata"]["annotations"];
    assert!(annotations.as_object().unwrap().values().any(|known| known == name), "{annotations:#}");
}

#[test]
fn gardenlets_are_authorized_by_a_webhook() {
    let fixture = fixture(&json!({}), &json!({})).with_seed_authorizer();
    let rendering = rendered(&fixture);
    let want = arguments(&json!({"--authorization-mode=RBAC": [
        "--authorization-webhook-config-file=/etc/kubernetes/webhook/authorization/kubeconfig.yaml",
        "--authorization-webhook-cache-authorized-ttl=0s",
        "--authorization-webhook-cache-unauthorized-ttl=0s",
        "--authorization-mode=RBAC,Webhook",
    ]}));
    assert_eq!(container(&rendering)["args"], json!(want));
    let name = "kube-apiserver-authorization-webhook-kubeconfig-aeeb4338";
    assert!(summary(&rendering).contains(&format!("create Secret/{name}")), "{:#?}", summary(&rendering));
    let volume = json!({"name": "authorization-webhook-kubeconfig", "secret": {"secretName": name}});
    let volumes = &deployment(&rendering)["spec"]["template"]["spec"]["volumes"];
    assert_eq!(volumes.as_array().unwrap().last(), Some(&volume));
}

#[rstest]
#[case::not_populated("Preparing", false, "b3e1c6d9")]
#[case::populated("Preparing", true, "7625ad2b")]
#[case::prepared("Prepared", true, "7625ad2b")]
fn the_old_key_encrypts_until_replicas_know_the_new_one(
    #[case] phase: &str,
    #[case] known: bool,
    #[case] checksum: &str,
) {
    let status = json!({"status": {"credentials": {"rotation": {"etcdEncryptionKey": {"phase": phase}}}}});
    let mut fixture = Fixture::with(&status);
    if known {
        fixture.observed.know_new_encryption_key.insert(NAME.to_owned());
    }
    let mut old = generated(ENCRYPTION_KEY, false).current;
    old.data = secrets::SecretData::from([("key", "key0"), ("secret", "secret0")]);
    fixture.secrets.0.get_mut(ENCRYPTION_KEY).unwrap().old = Some(old);
    let name = format!("label Secret/kube-apiserver-etcd-encryption-configuration-{checksum}");
    assert!(summary(&rendered(&fixture)).contains(&name), "{:#?}", summary(&rendered(&fixture)));
}

#[test]
fn secrets_are_requested_as_the_original_does() {
    let status = json!({
        "spec": {"virtualCluster": {"dns": {"domains": ["a.example.com", "b.example.com"]}}},
        "status": {"credentials": {"rotation": {"serviceAccountKey": {"phase": "Completing"}}}},
    });
    let requests = requests(&Fixture::with(&status).garden);
    let names: Vec<&str> = requests.iter().map(|requested| requested.request.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "kube-apiserver-etcd-encryption-key",
            "service-account-key",
            "kube-aggregator",
            "kube-apiserver",
            "kube-apiserver-static-token",
        ]
    );
    let Content::Certificate(server) = &requests[3].request.content else { panic!("{:?}", requests[3]) };
    assert_eq!(
        (server.kind, server.with_chain, server.ip_addresses.clone()),
        (CertificateKind::Server, true, Some(Vec::new()))
    );
    let names = [
        "virtual-garden-kube-apiserver",
        "virtual-garden-kube-apiserver.garden",
        "virtual-garden-kube-apiserver.garden.svc",
        "virtual-garden-kube-apiserver.garden.svc.cluster.local",
        "api.a.example.com",
        "gardener.a.example.com",
        "api.b.example.com",
        "gardener.b.example.com",
    ];
    assert_eq!(server.dns_names, names);
    let kept: Vec<bool> =
        requests.iter().map(|requested| requested.options.rotation == RotationStrategy::KeepOld).collect();
    assert_eq!(kept, [true, true, false, false, false]);
    let persisted: Vec<bool> = requests.iter().map(|requested| requested.options.persist).collect();
    assert_eq!(persisted, [true, true, false, false, true]);
    assert!(requests[1].options.ignore_old && !requests[0].options.ignore_old);
}

#[rstest]
#[case(json!({"authentication": {"webhook": {"kubeconfigSecretName": "none"}}}), "secret garden/none")]
#[case(json!({"auditWebhook": {"kubeconfigSecretName": "none"}}), "secret garden/none")]
#[case(json!({"admissionPlugins": [{"name": "ImagePolicyWebhook", "kubeconfigSecretName": "none"}]}), "secret garden/none")]
#[case(json!({"auditConfig": {"auditPolicy": {"configMapRef": {"name": "none"}}}}), "ConfigMap garden/none")]
fn what_a_garden_refers_to_must_be_there(#[case] server: Value, #[case] text: &str) {
    let error = render(&fixture(&json!({}), &server).values()).unwrap_err().to_string();
    assert!(error.contains(text), "{error}");
}
