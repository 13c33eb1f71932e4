//! gardener-apiserver of several Gardens, object by object, as the original renders it.

use rstest::rstest;
use secrets::{
    AuthorityChoice, CertificateContent, CertificateKind, Content, GenerateOptions, RotationStrategy,
    SecretRequest, Signer,
};
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, referenced};

const AUDIT_LOG: [&str; 3] =
    ["--audit-log-path=/tmp/audit/audit.log", "--audit-log-maxsize=100", "--audit-log-maxbackup=5"];

/// All arguments, with those that a Garden changes.
fn arguments(level: &str, settings: &[&str], audit: &[&str], plugins: &[&str]) -> Value {
    let kubeconfig = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig";
    let suites = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,\
                  TLS_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,\
                  TLS_CHACHA20_POLY1305_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305";
    let mut all = vec![
        "--authorization-always-allow-paths=/healthz".to_owned(),
        "--cluster-identity=identity".to_owned(),
        format!("--authentication-kubeconfig={kubeconfig}"),
        format!("--authorization-kubeconfig={kubeconfig}"),
        format!("--kubeconfig={kubeconfig}"),
        format!("--log-level={level}"),
        "--log-format=json".to_owned(),
        "--secure-port=8443".to_owned(),
        "--http2-max-streams-per-connection=1000".to_owned(),
        "--etcd-cafile=/srv/kubernetes/etcd/ca/bundle.crt".to_owned(),
        "--etcd-certfile=/srv/kubernetes/etcd/client/tls.crt".to_owned(),
        "--etcd-keyfile=/srv/kubernetes/etcd/client/tls.key".to_owned(),
        "--etcd-servers=https://virtual-garden-etcd-main-client:2379".to_owned(),
        "--livez-grace-period=1m".to_owned(),
        "--profiling=false".to_owned(),
        "--shutdown-delay-duration=15s".to_owned(),
        "--tls-cert-file=/srv/kubernetes/apiserver/tls.crt".to_owned(),
        "--tls-private-key-file=/srv/kubernetes/apiserver/tls.key".to_owned(),
        format!("--tls-cipher-suites={suites}"),
    ];
    let file = ["--audit-policy-file=/etc/kubernetes/audit/audit-policy.yaml"];
    let last = [
        "--admission-control-config-file=/etc/kubernetes/admission/admission-configuration.yaml",
        "--encryption-provider-config=/etc/kubernetes/etcd-encryption-secret/encryption-configuration.yaml",
    ];
    let rest = settings.iter().chain(&file).chain(audit).chain(plugins).chain(&last);
    all.extend(rest.map(|argument| (*argument).to_owned()));
    json!(all)
}

/// Names of the ConfigMaps and Secrets that the smallest Garden has.
const CONFIG_MAPS: [&str; 2] =
    ["gardener-apiserver-audit-policy-config-f5b578b4", "gardener-apiserver-admission-config-e38ff146"];
const SECRETS: [&str; 7] = [
    "ca-etcd-bundle",
    "etcd-client-current",
    "gardener-apiserver-current",
    "gardener-apiserver-admission-kubeconfigs-e3b0c442",
    "gardener-apiserver-etcd-encryption-configuration-67f06dd7",
    "generic-token-kubeconfig-current",
    "shoot-access-gardener-apiserver",
];

fn probe(path: &str) -> Value {
    json!({
        "httpGet": {"path": path, "port": 8443, "scheme": "HTTPS"},
        "successThreshold": 1, "failureThreshold": 3, "initialDelaySeconds": 15, "periodSeconds": 10,
        "timeoutSeconds": 15,
    })
}

fn volume_mounts() -> Value {
    json!([
        {"name": "ca-etcd", "mountPath": "/srv/kubernetes/etcd/ca"},
        {"name": "etcd-client", "mountPath": "/srv/kubernetes/etcd/client"},
        {"name": "server", "mountPath": "/srv/kubernetes/apiserver"},
        {"name": "audit-policy-config", "mountPath": "/etc/kubernetes/audit"},
        {"name": "admission-config", "mountPath": "/etc/kubernetes/admission"},
        {
            "name": "admission-kubeconfigs",
            "mountPath": "/etc/kubernetes/admission-kubeconfigs",
        },
        {
            "name": "etcd-encryption-secret", "readOnly": true,
            "mountPath": "/etc/kubernetes/etcd-encryption-secret",
        },
        {
            "name": "kubeconfig", "readOnly": true,
            "mountPath": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig",
        },
    ])
}

fn projected(name: &str, key: &str) -> Value {
    json!({"secret": {"name": name, "optional": false, "items": [{"key": key, "path": key}]}})
}

fn volumes() -> Value {
    json!([
        {"name": "ca-etcd", "secret": {"secretName": SECRETS[0]}},
        {"name": "etcd-client", "secret": {"secretName": SECRETS[1]}},
        {"name": "server", "secret": {"secretName": SECRETS[2]}},
        {"name": "audit-policy-config", "configMap": {"name": CONFIG_MAPS[0]}},
        {"name": "admission-config", "configMap": {"name": CONFIG_MAPS[1]}},
        {"name": "admission-kubeconfigs", "secret": {"secretName": SECRETS[3]}},
        {"name": "etcd-encryption-secret", "secret": {"secretName": SECRETS[4]}},
        {"name": "kubeconfig", "projected": {
            "defaultMode": 420,
            "sources": [projected(SECRETS[5], "kubeconfig"), projected(SECRETS[6], "token")],
        }},
    ])
}

fn deployment() -> Value {
    let allowed = "allowed";
    let annotations = referenced(&CONFIG_MAPS, &SECRETS);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "gardener-apiserver", "namespace": "garden", "annotations": annotations,
            "labels": {
                "app": "gardener", "role": "apiserver",
                "high-availability-config.resources.gardener.cloud/type": "server",
            },
        },
        "spec": {
            "minReadySeconds": 30, "revisionHistoryLimit": 2,
            "selector": {"matchLabels": {"app": "gardener", "role": "apiserver"}},
            "strategy": {
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0},
            },
            "template": {
                "metadata": {
                    "annotations": annotations,
                    "labels": {
                        "app": "gardener", "role": "apiserver",
                        "networking.gardener.cloud/to-dns": allowed,
                        "networking.gardener.cloud/to-public-networks": allowed,
                        "networking.gardener.cloud/to-private-networks": allowed,
                        "networking.resources.gardener.cloud/to-all-webhook-targets": allowed,
                        "networking.resources.gardener.cloud/to-virtual-garden-etcd-main-client-tcp-2379": allowed,
                        "networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443": allowed,
                    },
                },
                "spec": {
                    "automountServiceAccountToken": false,
                    "priorityClassName": "gardener-garden-system-500",
                    "containers": [{
                        "name": "gardener-apiserver", "imagePullPolicy": "IfNotPresent",
                        "image": "eu.gcr.io/gardener-project/gardener/apiserver:v1.82.0",
                        "args": arguments("info", &[], &AUDIT_LOG, &[]),
                        "ports": [{"name": "https", "containerPort": 8443, "protocol": "TCP"}],
                        "resources": {"requests": {"cpu": "600m", "memory": "512Mi"}},
                        "livenessProbe": probe("/livez"), "readinessProbe": probe("/readyz"),
                        "volumeMounts": volume_mounts(),
                    }],
                    "volumes": volumes(),
                },
            },
        },
    })
}

fn labelled(name: &str) -> Value {
    json!({"name": name, "namespace": "garden", "labels": {"app": "gardener", "role": "apiserver"}})
}

/// All objects of the runtime cluster but the autoscaler.
fn runtime() -> Vec<Value> {
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": labelled("gardener-apiserver"),
        "spec": {
            "type": "ClusterIP", "selector": {"app": "gardener", "role": "apiserver"},
            "ports": [{"protocol": "TCP", "port": 443, "targetPort": 8443}],
        },
    });
    service["metadata"]["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports":
            r#"[{"protocol":"TCP","port":8443}]"#,
    });
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": labelled("gardener-apiserver"),
        "spec": {
            "maxUnavailable": 1, "selector": {"matchLabels": {"app": "gardener", "role": "apiserver"}},
        },
    });
    vec![budget, service, deployment()]
}

fn vpa() -> Value {
    json!({
        "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
        "metadata": labelled("gardener-apiserver-vpa"),
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "gardener-apiserver"},
            "updatePolicy": {"updateMode": "Auto"},
            "resourcePolicy": {"containerPolicies": [
                {"containerName": "*", "minAllowed": {"memory": "256Mi"}},
            ]},
        },
    })
}

fn hvpa() -> Value {
    let mut metadata = labelled("gardener-apiserver-hvpa");
    metadata["labels"]["high-availability-config.resources.gardener.cloud/type"] = "server".into();
    let metric =
        |name: &str| json!({"type": "Resource", "resource": {"name": name, "targetAverageUtilization": 80}});
    let auto = json!({"updatePolicy": {"updateMode": "Auto"}});
    let change = |cpu: &str, memory: &str, percentage: i32| {
        json!({
            "cpu": {"value": cpu, "percentage": percentage}, "memory": {"value": memory, "percentage": percentage},
        })
    };
    let scale = |duration: &str, min: Value| {
        json!({
            "updatePolicy": {"updateMode": "Auto"}, "stabilizationDuration": duration, "minChange": min,
        })
    };
    json!({
        "apiVersion": "autoscaling.k8s.io/v1alpha1", "kind": "Hvpa", "metadata": metadata,
        "spec": {
            "replicas": 1,
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "gardener-apiserver"},
            "weightBasedScalingIntervals": [{"startReplicaCount": 1, "lastReplicaCount": 3}],
            "hpa": {
                "deploy": true, "scaleUp": auto, "scaleDown": auto,
                "selector": {"matchLabels": {"role": "gardener-apiserver-hpa"}},
                "template": {
                    "metadata": {"labels": {"role": "gardener-apiserver-hpa"}},
                    "spec": {
                        "minReplicas": 1, "maxReplicas": 4, "metrics": [metric("cpu"), metric("memory")],
                    },
                },
            },
            "vpa": {
                "deploy": true,
                "selector": {"matchLabels": {"role": "gardener-apiserver-vpa"}},
                "scaleUp": scale("3m", change("300m", "200M", 80)),
                "scaleDown": scale("15m", change("600m", "600M", 80)),
                "limitsRequestsGapScaleParams": change("1", "1G", 70),
                "template": {
                    "metadata": {"labels": {"role": "gardener-apiserver-vpa"}},
                    "spec": {"resourcePolicy": {"containerPolicies": [{
                        "containerName": "gardener-apiserver", "minAllowed": {"memory": "400M"},
                        "maxAllowed": {"cpu": "4", "memory": "25G"},
                    }]}},
                },
            },
        },
    })
}

fn highly_available() -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": {"controlPlane": {"highAvailability": {}}}}}))
}

fn with_routing() -> Fixture {
    Fixture::with(
        &json!({"spec": {"runtimeCluster": {"settings": {"topologyAwareRouting": {"enabled": true}}}}}),
    )
}

/// Each optional field is set.
fn configured() -> Fixture {
    let config = json!({
        "featureGates": {"B": false, "A": true},
        "requests": {"maxNonMutatingInflight": 1, "maxMutatingInflight": 2},
        "logging": {"verbosity": 3, "httpAccessVerbosity": 4},
        "watchCacheSizes": {"default": 5, "resources": [{"apiGroup": "a.b", "resource": "c", "size": 6}]},
        "auditConfig": {"auditPolicy": {"configMapRef": {"name": "policy"}}},
        "auditWebhook": {"kubeconfigSecretName": "audit", "batchMaxSize": 7, "version": "audit.k8s.io/v1"},
        "admissionPlugins": [
            {"name": "ShootDNS", "config": {"a": 1}, "kubeconfigSecretName": "plugin"},
            {"name": "ShootDomain", "disabled": true},
        ],
    });
    Fixture::with(&json!({"spec": {"virtualCluster": {"gardener": {"gardenerAPIServer": config}}}}))
        .with_config_map("policy", "policy", "policy text")
        .with_secret("audit", [("kubeconfig", "audit kubeconfig")])
        .with_secret("plugin", [("kubeconfig", "plugin kubeconfig")])
}

#[rstest]
#[case::minimal("minimal", Fixture::default(), None)]
#[case::highly_available("highly available", highly_available(), None)]
#[case::routing("routing", with_routing(), Some("service.kubernetes.io/topology-mode"))]
#[case::routing_before_1_27(
    "routing before 1.27",
    with_routing().on_runtime("1.26.0"),
    Some("service.kubernetes.io/topology-aware-hints")
)]
#[case::hvpa("HVPA", Fixture::default().with_hvpa(), None)]
fn objects_of_the_runtime_cluster(
    #[case] case: &str,
    #[case] fixture: Fixture,
    #[case] annotation: Option<&str>,
) {
    let rendering = render(&fixture.values()).unwrap();
    let mut want = runtime();
    want.push(if fixture.values().has_hvpa() { hvpa() } else { vpa() });
    if let Some(annotation) = annotation {
        want[1]["metadata"]["annotations"][annotation] = "auto".into();
        want[1]["metadata"]["labels"]["endpoint-slice-hints.resources.gardener.cloud/consider"] =
            "true".into();
    }
    assert_objects(case, &managed(&rendering, "gardener-apiserver-runtime").objects, &want, &[]);
    assert_eq!(rendering.awaited_service, Some("gardener-apiserver"));
    assert_eq!(rendering.managed.len(), 1);
}

#[test]
fn every_field_of_the_garden_arrives() {
    let fixture = configured();
    let rendering = render(&fixture.values()).unwrap();
    let settings = [
        "--feature-gates=A=true,B=false",
        "--max-requests-inflight=1",
        "--max-mutating-requests-inflight=2",
        "--vmodule=httplog=4",
        "--v=3",
        "--default-watch-cache-size=5",
        "--watch-cache-sizes=c.a.b#6",
    ];
    let audit = [
        "--audit-webhook-config-file=/etc/kubernetes/webhook/audit/kubeconfig.yaml",
        "--audit-webhook-batch-max-size=7",
        "--audit-webhook-version=audit.k8s.io/v1",
    ];
    let plugins = ["--enable-admission-plugins=ShootDNS", "--disable-admission-plugins=ShootDomain"];
    let [policy, admission] =
        ["gardener-apiserver-audit-policy-config-5fd2835f", "gardener-apiserver-admission-config-765e47ec"];
    let [webhook, kubeconfigs] = [
        "gardener-apiserver-audit-webhook-kubeconfig-d04b706f",
        "gardener-apiserver-admission-kubeconfigs-62e0f52a",
    ];
    let mut used = SECRETS.to_vec();
    used[3] = kubeconfigs;
    used.push(webhook);
    let annotations = referenced(&[policy, admission], &used);
    let mut want = deployment();
    want["metadata"]["annotations"] = annotations.clone();
    want["spec"]["template"]["metadata"]["annotations"] = annotations;
    let pod = &mut want["spec"]["template"]["spec"];
    pod["containers"][0]["args"] = arguments("debug", &settings, &audit, &plugins);
    let mounts = pod["containers"][0]["volumeMounts"].as_array_mut().unwrap();
    let path = "/etc/kubernetes/webhook/audit";
    mounts.insert(4, json!({"name": "audit-webhook-kubeconfig", "mountPath": path, "readOnly": true}));
    let volumes = pod["volumes"].as_array_mut().unwrap();
    volumes[3]["configMap"]["name"] = policy.into();
    volumes[4]["configMap"]["name"] = admission.into();
    volumes[5]["secret"]["secretName"] = kubeconfigs.into();
    volumes.insert(4, json!({"name": "audit-webhook-kubeconfig", "secret": {"secretName": webhook}}));
    let [budget, service, _]: [Value; 3] = runtime().try_into().unwrap();
    let objects = &managed(&rendering, "gardener-apiserver-runtime").objects;
    assert_objects("configured", objects, &[budget, service, want, vpa()], &[]);
}

fn unique(kind: &str, name: &str, labels: &Value, data: &Value) -> Value {
    let mut labels = labels.clone();
    labels["resources.gardener.cloud/garbage-collectable-reference"] = "true".into();
    let mut object = json!({
        "apiVersion": "v1", "kind": kind, "immutable": true, "data": data,
        "metadata": {"name": name, "namespace": "garden", "labels": labels},
    });
    if kind == "Secret" {
        object["type"] = "Opaque".into();
    }
    object
}

#[test]
fn the_operator_writes_files_itself() {
    let steps = render(&Fixture::default().values()).unwrap().steps;
    let DirectStep::CreateOrLabel(encryption) = &steps[1] else { panic!("{:?}", steps[1]) };
    let label = json!({"role": "gardener-apiserver-etcd-encryption-configuration"});
    assert_eq!(*encryption, unique("Secret", SECRETS[4], &label, &encryption["data"]));
    let admission = "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins: null\n";
    let audit = "apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata:\n  creationTimestamp: null\nrules:\n- level: None\n";
    let none = json!({});
    let want = [
        access::secret("gardener-apiserver"),
        DirectStep::CreateOrLabel(encryption.clone()),
        DirectStep::Create(unique(
            "ConfigMap",
            CONFIG_MAPS[1],
            &none,
            &json!({"admission-configuration.yaml": admission}),
        )),
        DirectStep::Create(unique("Secret", SECRETS[3], &none, &json!({}))),
        DirectStep::Create(unique("ConfigMap", CONFIG_MAPS[0], &none, &json!({"audit-policy.yaml": audit}))),
    ];
    assert_eq!(steps, want);
    let configured = render(&configured().values()).unwrap().steps;
    let webhook = unique(
        "Secret",
        "gardener-apiserver-audit-webhook-kubeconfig-d04b706f",
        &none,
        &json!({"kubeconfig.yaml": "YXVkaXQga3ViZWNvbmZpZw=="}),
    );
    assert_eq!(configured.len(), 6);
    assert_eq!(configured[5], DirectStep::Create(webhook));
}

#[rstest]
#[case::both_keys_are_new_to_replicas(Fixture::default().rotating_encryption_key("Preparing"), "df7004ea")]
#[case::replicas_know_the_new_key(
    Fixture::default().rotating_encryption_key("Preparing").with_key_known_to("gardener-apiserver"),
    "2a516742"
)]
#[case::of_another_api_server(
    Fixture::default().rotating_encryption_key("Preparing").with_key_known_to("virtual-garden-kube-apiserver"),
    "df7004ea"
)]
#[case::prepared(Fixture::default().rotating_encryption_key("Prepared"), "2a516742")]
fn keys_are_rotated_in_two_steps(#[case] fixture: Fixture, #[case] suffix: &str) {
    let steps = render(&fixture.values()).unwrap().steps;
    let name = format!("gardener-apiserver-etcd-encryption-configuration-{suffix}");
    assert_eq!(steps[1].object().unwrap()["metadata"]["name"], name);
}

fn own_labels() -> Value {
    json!({"app": "gardener", "role": "apiserver"})
}

fn api_service(group: &str, version: &str) -> Value {
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": format!("{version}.{group}"), "labels": own_labels()},
        "spec": {
            "group": group, "version": version, "groupPriorityMinimum": 10_000, "versionPriority": 20,
            "service": {"name": "gardener-apiserver", "namespace": "kube-system"},
            "caBundle": "Y2EtZ2FyZGVuZXIgYnVuZGxl",
        },
    })
}

fn binding(kind: &str, name: &str, (role_kind, role): (&str, &str)) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
        "metadata": {"name": name, "labels": own_labels()},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "gardener-apiserver", "namespace": "kube-system"}],
    })
}

#[test]
fn objects_of_the_virtual_cluster() {
    let fixture = Fixture::default().with_service("gardener-apiserver", "10.2.0.7");
    let rendering = render(&fixture.values()).unwrap();
    assert_eq!(rendering.awaited_service, None);
    let in_system = json!({"name": "gardener-apiserver", "namespace": "kube-system", "labels": own_labels()});
    let (role, delegator) = ("gardener.cloud:system:apiserver", "gardener.cloud:apiserver:auth-delegator");
    let reader_role = ("Role", "extension-apiserver-authentication-reader");
    let mut reader = binding("RoleBinding", "gardener.cloud:apiserver:auth-reader", reader_role);
    reader["metadata"]["namespace"] = "kube-system".into();
    let want = [
        api_service("core.gardener.cloud", "v1beta1"),
        api_service("seedmanagement.gardener.cloud", "v1alpha1"),
        api_service("operations.gardener.cloud", "v1alpha1"),
        api_service("settings.gardener.cloud", "v1alpha1"),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": in_system,
            "spec": {
                "type": "ClusterIP", "selector": own_labels(),
                "ports": [{"protocol": "TCP", "port": 443, "targetPort": 8443}],
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Endpoints", "metadata": in_system,
            "subsets": [{"addresses": [{"ip": "10.2.0.7"}], "ports": [{"port": 443, "protocol": "TCP"}]}],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": role, "labels": own_labels()},
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
        }),
        binding("ClusterRoleBinding", role, ("ClusterRole", role)),
        binding("ClusterRoleBinding", delegator, ("ClusterRole", "system:auth-delegator")),
        reader,
    ];
    let managed = managed(&rendering, "gardener-apiserver-virtual");
    assert_objects("virtual", &managed.objects, &want, &[]);
    assert!(!managed.keeps_objects);
}

#[test]
fn it_asks_for_a_certificate_and_a_key() {
    let names = [
        "gardener-apiserver",
        "gardener-apiserver.garden",
        "gardener-apiserver.garden.svc",
        "gardener-apiserver.garden.svc.cluster.local",
        "gardener-apiserver",
        "gardener-apiserver.kube-system",
        "gardener-apiserver.kube-system.svc",
        "gardener-apiserver.kube-system.svc.cluster.local",
    ];
    let certificate = CertificateContent {
        common_name: "gardener-apiserver".to_owned(),
        dns_names: names.map(str::to_owned).into(),
        without_authority: true,
        ..CertificateContent::new(CertificateKind::Server)
    };
    let signer = Signer::new("ca-gardener").choosing(AuthorityChoice::ByKind);
    let server = RequestedSecret {
        request: SecretRequest::new("gardener-apiserver", Content::Certificate(certificate)),
        options: GenerateOptions { signer: Some(signer), ..GenerateOptions::default() },
    };
    let key = |ignore_old| RequestedSecret {
        request: SecretRequest::new(
            "gardener-apiserver-etcd-encryption-key",
            Content::EtcdEncryptionKey { length: 32 },
        ),
        options: GenerateOptions {
            rotation: RotationStrategy::KeepOld,
            persist: true,
            ignore_old,
            ..GenerateOptions::default()
        },
    };
    assert_eq!(requests(&Fixture::default().garden), [server.clone(), key(false)]);
    let completing = Fixture::default().rotating_encryption_key("Completing");
    assert_eq!(requests(&completing.garden), [server, key(true)]);
}
