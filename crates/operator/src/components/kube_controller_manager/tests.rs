//! Tests of kube-controller-manager: whole objects for a small Garden, and what each field changes.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed};
use crate::components::rendering::ObjectName;

const DEPLOYMENT: &str = "Deployment/virtual-garden-kube-controller-manager";
const KUBECONFIG: &str = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig";

fn fixture(cluster: &Value) -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": cluster}}))
}

/// The command with a duration and the flags after the quota's period.
fn command(duration: &str, further: &[&str]) -> Vec<String> {
    let before = [
        "/usr/local/bin/kube-controller-manager",
        "--authentication-kubeconfig=/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig",
        "--authorization-kubeconfig=/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig",
        "--kubeconfig=/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig",
        "--controllers=namespace,serviceaccount,clusterrole-aggregation,garbagecollector,csrapproving,csrcleaner,csrsigning,\
         bootstrapsigner,tokencleaner,resourcequota",
        "--cluster-name=garden",
        "--cluster-signing-kube-apiserver-client-cert-file=/srv/kubernetes/ca-client/ca.crt",
        "--cluster-signing-kube-apiserver-client-key-file=/srv/kubernetes/ca-client/ca.key",
        "--cluster-signing-legacy-unknown-cert-file=/srv/kubernetes/ca-client/ca.crt",
        "--cluster-signing-legacy-unknown-key-file=/srv/kubernetes/ca-client/ca.key",
    ];
    let middle = [
        "--concurrent-endpoint-syncs=15",
        "--concurrent-gc-syncs=250",
        "--concurrent-service-endpoint-syncs=15",
        "--concurrent-namespace-syncs=100",
        "--concurrent-resource-quota-syncs=100",
        "--resource-quota-sync-period=1m0s",
    ];
    let after = [
        "--root-ca-file=/srv/kubernetes/ca/bundle.crt",
        "--service-account-private-key-file=/srv/kubernetes/service-account-key/id_rsa",
        "--secure-port=10257",
        "--service-cluster-ip-range=10.3.0.0/16",
        "--profiling=false",
        "--tls-cert-file=/var/lib/kube-controller-manager-server/tls.crt",
        "--tls-private-key-file=/var/lib/kube-controller-manager-server/tls.key",
        "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,\
         TLS_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,\
         TLS_CHACHA20_POLY1305_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        "--use-service-account-credentials=true",
        "--v=2",
    ];
    let duration = format!("--cluster-signing-duration={duration}");
    [&before[..], &[duration.as_str()], &middle, further, &after]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn labels_and(others: &Value) -> Value {
    let mut labels = json!({"app": "kubernetes", "role": "controller-manager"});
    for (key, value) in others.as_object().unwrap() {
        labels[key] = value.clone();
    }
    labels
}

fn object(version: &str, kind: &str, name: &str, labels: &Value, spec: &Value) -> Value {
    let mut metadata = json!({"name": name, "namespace": "garden", "labels": labels});
    if labels.is_null() {
        metadata.as_object_mut().unwrap().remove("labels");
    }
    json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
}

fn policy() -> Value {
    json!({
        "containerName": "kube-controller-manager", "controlledValues": "RequestsOnly",
        "minAllowed": {"memory": "100Mi"}, "maxAllowed": {"cpu": "4", "memory": "10G"},
    })
}

/// What is written for a small Garden.
fn expected() -> Vec<Value> {
    let (plain, name) = (labels_and(&json!({})), "virtual-garden-kube-controller-manager");
    let ports = json!([{"name": "metrics", "protocol": "TCP", "port": 10257, "targetPort": 10257}]);
    let service = json!({"type": "ClusterIP", "clusterIP": "None", "selector": plain, "ports": ports});
    let mut service = object("v1", "Service", name, &plain, &service);
    service["metadata"]["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-scrape-targets-allowed-ports": r#"[{"protocol":"TCP","port":10257}]"#,
    });
    let access = access::secret("kube-controller-manager").object().unwrap().clone();
    let budget = json!({"maxUnavailable": 1, "selector": {"matchLabels": plain}});
    let vpa = json!({
        "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        "updatePolicy": {"updateMode": "Auto"},
        "resourcePolicy": {"containerPolicies": [policy()]},
    });
    vec![
        service,
        access,
        deployment(),
        object("policy/v1", "PodDisruptionBudget", name, &plain, &budget),
        object(
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            "virtual-garden-kube-controller-manager-vpa",
            &Value::Null,
            &vpa,
        ),
    ]
}

fn deployment() -> Value {
    let pod_labels = labels_and(&json!({
        "gardener.cloud/role": "controlplane", "maintenance.gardener.cloud/restart": "true",
        "networking.gardener.cloud/to-dns": "allowed",
        "networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443": "allowed",
    }));
    let source = |name: &str, key: &str| json!({"secret": {"name": name, "items": [{"key": key, "path": key}], "optional": false}});
    let sources = [
        source("generic-token-kubeconfig-current", "kubeconfig"),
        source("shoot-access-kube-controller-manager", "token"),
    ];
    let container = json!({
        "name": "kube-controller-manager", "image": "registry.k8s.io/kube-controller-manager:v1.27.3",
        "imagePullPolicy": "IfNotPresent", "command": command("720h0m0s", &[]),
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": 10257, "scheme": "HTTPS"},
            "initialDelaySeconds": 15, "periodSeconds": 10, "timeoutSeconds": 15, "failureThreshold": 2,
            "successThreshold": 1,
        },
        "ports": [{"name": "metrics", "containerPort": 10257, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [
            {"name": "ca", "mountPath": "/srv/kubernetes/ca"},
            {"name": "ca-client", "mountPath": "/srv/kubernetes/ca-client"},
            {"name": "service-account-key", "mountPath": "/srv/kubernetes/service-account-key"},
            {"name": "server", "mountPath": "/var/lib/kube-controller-manager-server"},
            {"name": "kubeconfig", "mountPath": KUBECONFIG, "readOnly": true},
        ],
    });
    let spec = json!({
        "replicas": 1, "revisionHistoryLimit": 1,
        "selector": {"matchLabels": labels_and(&json!({}))},
        "template": {"metadata": {"labels": pod_labels}, "spec": {
            "automountServiceAccountToken": false, "priorityClassName": "gardener-garden-system-300",
            "containers": [container],
            "volumes": [
                {"name": "ca", "secret": {"secretName": "ca-bundle"}},
                {"name": "ca-client", "secret": {"secretName": "ca-client-current"}},
                {"name": "service-account-key", "secret": {"secretName": "service-account-key-current"}},
                {"name": "server", "secret": {"secretName": "kube-controller-manager-server-current"}},
                {"name": "kubeconfig", "projected": {"defaultMode": 420, "sources": sources}},
            ],
        }},
    });
    let labels = labels_and(&json!({
        "gardener.cloud/role": "controlplane",
        "high-availability-config.resources.gardener.cloud/type": "controller",
    }));
    object("apps/v1", "Deployment", "virtual-garden-kube-controller-manager", &labels, &spec)
}

#[rstest]
#[case::small(json!({}), &[])]
#[case::highly_available(json!({"controlPlane": {"highAvailability": {}}}), &[])]
#[case::defaulted(
    json!({"kubernetes": {"kubeControllerManager": {"certificateSigningDuration": "48h"}}}),
    &[(DEPLOYMENT, "/spec/template/spec/containers/0/command", json!(command("48h0m0s", &[])))]
)]
#[case::feature_gates(
    json!({"kubernetes": {"kubeControllerManager": {
        "featureGates": {"B": true, "A": false}, "podEvictionTimeout": "1m", "nodeCIDRMaskSize": 24,
    }}}),
    &[(DEPLOYMENT, "/spec/template/spec/containers/0/command", json!(command("720h0m0s", &["--feature-gates=A=false,B=true"])))]
)]
#[case::the_network_has_its_base(json!({"networking": {"services": "10.3.4.5/16"}}), &[])]
#[case::another_version(
    json!({"kubernetes": {"version": "1.24.17"}}),
    &[(DEPLOYMENT, "/spec/template/spec/containers/0/image", json!("registry.k8s.io/kube-controller-manager:v1.24.17"))]
)]
fn objects_follow_the_garden(#[case] cluster: Value, #[case] changes: &[(&str, &str, Value)]) {
    let rendering = render(&fixture(&cluster).values()).unwrap();
    assert_objects("changed", rendering.steps.iter().filter_map(DirectStep::object), &expected(), changes);
    let hvpa = ObjectName::in_garden("autoscaling.k8s.io/v1alpha1", "Hvpa", NAME);
    assert_eq!(rendering.steps[4], DirectStep::Delete(hvpa));
}

#[test]
fn its_role_stays_in_the_virtual_cluster() {
    let rendering = render(&fixture(&json!({})).values()).unwrap();
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "gardener.cloud:target:kube-controller-manager"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:kube-controller-manager",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "kube-controller-manager", "namespace": "kube-system"}],
    });
    let want =
        ManagedObjects::in_virtual("shoot-core-kube-controller-manager", vec![binding]).keeping_objects();
    assert_eq!(*managed(&rendering, "shoot-core-kube-controller-manager"), want);
}

#[test]
fn an_hvpa_replaces_the_autoscaler_and_requests_stay() {
    let containers = json!([{"name": "kube-controller-manager", "resources": {"requests": {"cpu": "2"}}}]);
    let existing = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    let mut fixture = fixture(&json!({})).with_hvpa();
    fixture.observed.existing.0.insert(ObjectName::in_garden("apps/v1", "Deployment", NAME), existing);
    let rendering = render(&fixture.values()).unwrap();
    let vpa = ObjectName::in_garden(
        "autoscaling.k8s.io/v1",
        "VerticalPodAutoscaler",
        "virtual-garden-kube-controller-manager-vpa",
    );
    assert_eq!(rendering.steps[4], DirectStep::Delete(vpa));
    let (plain, role) = (labels_and(&json!({})), json!({"role": "kube-controller-manager-vpa"}));
    let labels = labels_and(&json!({"high-availability-config.resources.gardener.cloud/type": "controller"}));
    let spec = json!({
        "replicas": 1,
        "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME},
        "hpa": {
            "selector": {"matchLabels": plain},
            "template": {"metadata": {"labels": plain}, "spec": {"minReplicas": 1, "maxReplicas": 1}},
        },
        "vpa": {
            "selector": {"matchLabels": role}, "deploy": true,
            "scaleUp": {"updatePolicy": {"updateMode": "Auto"}}, "scaleDown": {"updatePolicy": {"updateMode": "Auto"}},
            "template": {
                "metadata": {"labels": role},
                "spec": {"resourcePolicy": {"containerPolicies": [policy()]}},
            },
        },
        "weightBasedScalingIntervals": [{"vpaWeight": 100, "startReplicaCount": 1, "lastReplicaCount": 1}],
    });
    let want = object("autoscaling.k8s.io/v1alpha1", "Hvpa", NAME, &labels, &spec);
    assert_eq!(rendering.steps[5], DirectStep::Patch(want));
    let deployment = rendering.steps[2].object().unwrap();
    let resources = &deployment["spec"]["template"]["spec"]["containers"][0]["resources"];
    assert_eq!(*resources, json!({"requests": {"cpu": "2"}}));
}

#[test]
fn its_certificate_has_the_names_of_its_service() {
    let requested = requests(&Fixture::default().garden);
    assert_eq!(requested.len(), 1);
    let certificate = requested[0].request.certificate().unwrap();
    assert_eq!(
        certificate.dns_names.last().unwrap(),
        "virtual-garden-kube-controller-manager.garden.svc.cluster.local"
    );
    assert_eq!(requested[0].options.signer.as_ref().unwrap().authority, "ca");
}

#[test]
fn a_network_that_is_none_is_refused() {
    let error = render(&fixture(&json!({"networking": {"services": "10.3.0.0"}})).values()).unwrap_err();
    assert_eq!(error.to_string(), "cannot parse service network CIDR: invalid CIDR address: 10.3.0.0");
}
