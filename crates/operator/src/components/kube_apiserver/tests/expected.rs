//! What is expected for a small Garden that the webhook has defaulted, from the description of the original.

use serde_json::{Value, json};

/// The arguments.
pub(super) const ARGUMENTS: &[&str] = &[
    "--anonymous-auth=false",
    "--api-audiences=kubernetes,gardener",
    "--client-ca-file=/srv/kubernetes/ca-client/bundle.crt",
    "--enable-aggregator-routing=true",
    "--enable-bootstrap-token-auth=true",
    "--etcd-servers-overrides=/events#https://virtual-garden-etcd-events-client:2379",
    "--external-hostname=api.virtual.example.com",
    "--event-ttl=1h0m0s",
    "--proxy-client-cert-file=/srv/kubernetes/aggregator/tls.crt",
    "--proxy-client-key-file=/srv/kubernetes/aggregator/tls.key",
    "--requestheader-client-ca-file=/srv/kubernetes/ca-front-proxy/bundle.crt",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    RUNTIME_CONFIG,
    "--service-account-issuer=https://api.virtual.example.com",
    "--service-cluster-ip-range=10.3.0.0/16",
    "--secure-port=443",
    "--token-auth-file=/srv/kubernetes/token/static_tokens.csv",
    "--http2-max-streams-per-connection=1000",
    "--etcd-cafile=/srv/kubernetes/etcd/ca/bundle.crt",
    "--etcd-certfile=/srv/kubernetes/etcd/client/tls.crt",
    "--etcd-keyfile=/srv/kubernetes/etcd/client/tls.key",
    "--etcd-servers=https://virtual-garden-etcd-main-client:2379",
    "--livez-grace-period=1m",
    "--profiling=false",
    "--shutdown-delay-duration=15s",
    "--tls-cert-file=/srv/kubernetes/apiserver/tls.crt",
    "--tls-private-key-file=/srv/kubernetes/apiserver/tls.key",
    "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,\
     TLS_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,\
     TLS_CHACHA20_POLY1305_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "--max-requests-inflight=400",
    "--max-mutating-requests-inflight=200",
    "--v=2",
    "--audit-policy-file=/etc/kubernetes/audit/audit-policy.yaml",
    "--audit-log-path=/tmp/audit/audit.log",
    "--audit-log-maxsize=100",
    "--audit-log-maxbackup=5",
    PLUGINS,
    "--admission-control-config-file=/etc/kubernetes/admission/admission-configuration.yaml",
    "--encryption-provider-config=/etc/kubernetes/etcd-encryption-secret/encryption-configuration.yaml",
    "--service-account-signing-key-file=/srv/kubernetes/service-account-key/id_rsa",
    "--service-account-key-file=/srv/kubernetes/service-account-key-bundle/bundle.key",
    "--authorization-mode=RBAC",
];
pub(super) const RUNTIME_CONFIG: &str = "--runtime-config=apps/v1=false,autoscaling/v2=false,batch/v1=false,\
     policy/v1/poddisruptionbudgets=false,storage.k8s.io/v1/csidrivers=false,storage.k8s.io/v1/csinodes=false";
pub(super) const PLUGINS: &str = "--enable-admission-plugins=Priority,NamespaceLifecycle,LimitRanger,PodSecurity,ServiceAccount,\
     NodeRestriction,DefaultStorageClass,DefaultTolerationSeconds,ResourceQuota,StorageObjectInUseProtection,\
     MutatingAdmissionWebhook,ValidatingAdmissionWebhook";

/// The volumes: name, kind, source, path, whether the mount says that it is only read.
pub(super) const VOLUMES: &[(&str, &str, &str, &str, bool)] = &[
    ("ca", "secret", "ca-bundle", "/srv/kubernetes/ca", false),
    ("ca-client", "secret", "ca-client-bundle", "/srv/kubernetes/ca-client", false),
    ("ca-front-proxy", "secret", "ca-front-proxy-bundle", "/srv/kubernetes/ca-front-proxy", false),
    (
        "service-account-key",
        "secret",
        "service-account-key-current",
        "/srv/kubernetes/service-account-key",
        false,
    ),
    (
        "service-account-key-bundle",
        "secret",
        "service-account-key-bundle",
        "/srv/kubernetes/service-account-key-bundle",
        false,
    ),
    ("static-token", "secret", "kube-apiserver-static-token-current", "/srv/kubernetes/token", false),
    ("kube-aggregator", "secret", "kube-aggregator-current", "/srv/kubernetes/aggregator", false),
    ("ca-etcd", "secret", "ca-etcd-bundle", "/srv/kubernetes/etcd/ca", false),
    ("etcd-client", "secret", "etcd-client-current", "/srv/kubernetes/etcd/client", false),
    ("server", "secret", "kube-apiserver-current", "/srv/kubernetes/apiserver", false),
    ("audit-policy-config", "configMap", "audit-policy-config-f5b578b4", "/etc/kubernetes/audit", false),
    (
        "admission-config",
        "configMap",
        "kube-apiserver-admission-config-e38ff146",
        "/etc/kubernetes/admission",
        false,
    ),
    (
        "admission-kubeconfigs",
        "secret",
        "kube-apiserver-admission-kubeconfigs-e3b0c442",
        "/etc/kubernetes/admission-kubeconfigs",
        false,
    ),
    (
        "etcd-encryption-secret",
        "secret",
        "kube-apiserver-etcd-encryption-configuration-196933e0",
        "/etc/kubernetes/etcd-encryption-secret",
        true,
    ),
];

/// All objects that are written.
pub(super) fn objects() -> Vec<Value> {
    vec![
        disruption_budget(),
        horizontal(),
        recommendations(),
        encryption(),
        admission(),
        kubeconfigs(),
        audit(),
        deployment(),
    ]
}

pub(super) fn disruption_budget() -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {
            "name": "virtual-garden-kube-apiserver", "namespace": "garden",
            "labels": {"app": "kubernetes", "role": "apiserver"},
        },
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": {"app": "kubernetes", "role": "apiserver"}},
        },
    })
}

pub(super) fn horizontal() -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "virtual-garden-kube-apiserver", "namespace": "garden"},
        "spec": {
            "minReplicas": 2, "maxReplicas": 6,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "virtual-garden-kube-apiserver"},
            "metrics": [
                {"type": "Resource", "resource": {
                    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
                }},
                {"type": "Resource", "resource": {
                    "name": "memory", "target": {"type": "Utilization", "averageUtilization": 80},
                }},
            ],
        },
    })
}

pub(super) fn recommendations() -> Value {
    json!({
        "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
        "metadata": {"name": "virtual-garden-kube-apiserver-vpa", "namespace": "garden"},
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "virtual-garden-kube-apiserver"},
            "updatePolicy": {"updateMode": "Off"},
            "resourcePolicy": {"containerPolicies": [{"containerName": "*", "controlledValues": "RequestsOnly"}]},
        },
    })
}

/// An object with a checksum in its name.
fn unique(kind: &str, name: &str, labels: &Value, data: &Value) -> Value {
    let mut labels = labels.clone();
    labels["resources.gardener.cloud/garbage-collectable-reference"] = "true".into();
    let mut object = json!({
        "apiVersion": "v1", "kind": kind, "immutable": true,
        "metadata": {"name": name, "namespace": "garden", "labels": labels},
        "data": data,
    });
    if kind == "Secret" {
        object["type"] = "Opaque".into();
    }
    object
}

pub(super) fn encryption() -> Value {
    let file = "YXBpVmVyc2lvbjogYXBpc2VydmVyLmNvbmZpZy5rOHMuaW8vdjEKa2luZDogRW5jcnlwdGlvbkNvbmZpZ3VyYXRpb24KcmVzb3VyY2VzOgotIHByb3ZpZG\
                VyczoKICAtIGFlc2NiYzoKICAgICAga2V5czoKICAgICAgLSBuYW1lOiBrZXkxCiAgICAgICAgc2VjcmV0OiBzZWNyZXQxCiAgLSBpZGVudGl0eToge30KICByZX\
                NvdXJjZXM6CiAgLSBzZWNyZXRzCg==";
    unique(
        "Secret",
        "kube-apiserver-etcd-encryption-configuration-196933e0",
        &json!({"role": "kube-apiserver-etcd-encryption-configuration"}),
        &json!({"encryption-configuration.yaml": file}),
    )
}

fn admission() -> Value {
    let list = "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins: null\n";
    let data = json!({"admission-configuration.yaml": list});
    unique("ConfigMap", "kube-apiserver-admission-config-e38ff146", &json!({}), &data)
}

fn kubeconfigs() -> Value {
    unique("Secret", "kube-apiserver-admission-kubeconfigs-e3b0c442", &json!({}), &json!({}))
}

fn audit() -> Value {
    let policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata:\n  creationTimestamp: null\nrules:\n- level: None\n";
    unique("ConfigMap", "audit-policy-config-f5b578b4", &json!({}), &json!({"audit-policy.yaml": policy}))
}

pub(super) fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "virtual-garden-kube-apiserver", "namespace": "garden",
            "labels": {
                "app": "kubernetes", "role": "apiserver", "gardener.cloud/role": "controlplane",
                "high-availability-config.resources.gardener.cloud/type": "server",
            },
            "annotations": annotations(),
        },
        "spec": {
            "minReadySeconds": 30, "revisionHistoryLimit": 2, "replicas": 2,
            "selector": {"matchLabels": {"app": "kubernetes", "role": "apiserver"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0}},
            "template": {
                "metadata": {"annotations": annotations(), "labels": {
                    "app": "kubernetes", "role": "apiserver", "gardener.cloud/role": "controlplane",
                    "networking.gardener.cloud/to-dns": "allowed",
                    "networking.gardener.cloud/to-public-networks": "allowed",
                    "networking.gardener.cloud/to-private-networks": "allowed",
                    "networking.resources.gardener.cloud/to-all-webhook-targets": "allowed",
                    "networking.resources.gardener.cloud/to-extensions-all-webhook-targets": "allowed",
                    "networking.resources.gardener.cloud/to-virtual-garden-etcd-main-client-tcp-2379": "allowed",
                    "networking.resources.gardener.cloud/to-virtual-garden-etcd-events-client-tcp-2379": "allowed",
                }},
                "spec": {
                    "automountServiceAccountToken": false, "priorityClassName": "gardener-garden-system-500",
                    "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                    "terminationGracePeriodSeconds": 30,
                    "containers": [container()],
                    "volumes": VOLUMES.iter().map(|(name, kind, source, _, _)| {
                        let key = if *kind == "secret" { "secretName" } else { "name" };
                        json!({"name": name, *kind: {key: source}})
                    }).collect::<Vec<_>>(),
                },
            },
        },
    })
}

fn container() -> Value {
    let probe = |path: &str, initial: u32| {
        json!({
            "httpGet": {
                "path": path, "port": 443, "scheme": "HTTPS",
                "httpHeaders": [{"name": "Authorization", "value": "Bearer token1"}],
            },
            "initialDelaySeconds": initial, "periodSeconds": 10, "timeoutSeconds": 15,
            "failureThreshold": 3, "successThreshold": 1,
        })
    };
    let mounts: Vec<Value> = VOLUMES
        .iter()
        .map(|(name, _, _, path, read_only)| {
            let mut mount = json!({"name": name, "mountPath": path});
            if *read_only {
                mount["readOnly"] = true.into();
            }
            mount
        })
        .collect();
    json!({
        "name": "kube-apiserver", "image": "registry.k8s.io/kube-apiserver:v1.27.3",
        "imagePullPolicy": "IfNotPresent", "command": ["/usr/local/bin/kube-apiserver"],
        "args": ARGUMENTS,
        "ports": [{"name": "https", "containerPort": 443, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "600m", "memory": "512Mi"}},
        "livenessProbe": probe("/livez", 15), "readinessProbe": probe("/readyz", 10),
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "volumeMounts": mounts,
    })
}

/// The first digits of the SHA-256 of each name, and the name.
fn annotations() -> Value {
    json!({
        "reference.resources.gardener.cloud/secret-d4ea5348": "ca-bundle",
        "reference.resources.gardener.cloud/secret-df04dbd8": "ca-client-bundle",
        "reference.resources.gardener.cloud/secret-5db89453": "ca-front-proxy-bundle",
        "reference.resources.gardener.cloud/secret-bf69cf45": "service-account-key-current",
        "reference.resources.gardener.cloud/secret-ad29e1cc": "service-account-key-bundle",
        "reference.resources.gardener.cloud/secret-82b52894": "kube-apiserver-static-token-current",
        "reference.resources.gardener.cloud/secret-169318bc": "kube-aggregator-current",
        "reference.resources.gardener.cloud/secret-9eda8bc9": "ca-etcd-bundle",
        "reference.resources.gardener.cloud/secret-9a0293a3": "etcd-client-current",
        "reference.resources.gardener.cloud/secret-401f2c99": "kube-apiserver-current",
        "reference.resources.gardener.cloud/secret-5613e39f": "kube-apiserver-admission-kubeconfigs-e3b0c442",
        "reference.resources.gardener.cloud/secret-5f927364": "kube-apiserver-etcd-encryption-configuration-196933e0",
        "reference.resources.gardener.cloud/configmap-d4419cd4": "audit-policy-config-f5b578b4",
        "reference.resources.gardener.cloud/configmap-130aa219": "kube-apiserver-admission-config-e38ff146",
    })
}

/// The Hvpa that replaces both autoscalers.
pub(super) fn hvpa() -> Value {
    let change = |value: &str, percentage: u32| json!({"value": value, "percentage": percentage});
    let scale = |after: &str| {
        json!({
            "updatePolicy": {"updateMode": "Auto"}, "stabilizationDuration": after,
            "minChange": {"cpu": change("300m", 80), "memory": change("200M", 80)},
        })
    };
    json!({
        "apiVersion": "autoscaling.k8s.io/v1alpha1", "kind": "Hvpa",
        "metadata": {
            "name": "virtual-garden-kube-apiserver", "namespace": "garden",
            "labels": {"high-availability-config.resources.gardener.cloud/type": "server"},
        },
        "spec": {
            "replicas": 1,
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "virtual-garden-kube-apiserver"},
            "hpa": {
                "selector": {"matchLabels": {"role": "apiserver-hpa"}}, "deploy": true,
                "scaleUp": {"updatePolicy": {"updateMode": "Auto"}},
                "scaleDown": {"updatePolicy": {"updateMode": "Auto"}},
                "template": {
                    "metadata": {"labels": {"role": "apiserver-hpa"}},
                    "spec": {"minReplicas": 2, "maxReplicas": 6, "metrics": [
                        {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 80}},
                        {"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 80}},
                    ]},
                },
            },
            "vpa": {
                "selector": {"matchLabels": {"role": "apiserver-vpa"}}, "deploy": true,
                "scaleUp": scale("3m"), "scaleDown": scale("15m"),
                "limitsRequestsGapScaleParams": {"cpu": change("1", 70), "memory": change("1G", 70)},
                "template": {
                    "metadata": {"labels": {"role": "apiserver-vpa"}},
                    "spec": {"resourcePolicy": {"containerPolicies": [{
                        "containerName": "kube-apiserver", "controlledValues": "RequestsOnly",
                        "minAllowed": {"memory": "400M"}, "maxAllowed": {"cpu": "8", "memory": "25G"},
                    }]}},
                },
            },
            "weightBasedScalingIntervals": [
                {"vpaWeight": 100, "startReplicaCount": 6, "lastReplicaCount": 6},
                {"startReplicaCount": 2, "lastReplicaCount": 5},
            ],
        },
    })
}
