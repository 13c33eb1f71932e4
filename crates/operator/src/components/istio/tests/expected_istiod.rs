//! The objects of istiod; files of its ConfigMap are parsed.

use serde_json::{Value, json};

pub(super) fn objects() -> Vec<Value> {
    [vec![config_map(), deployment()], others(), mesh_defaults(), roles()].concat()
}

fn metadata(name: &str) -> Value {
    json!({"name": name, "namespace": "istio-system", "labels": {"app": "istiod", "istio": "pilot"}})
}

fn cluster_metadata(name: &str) -> Value {
    json!({"name": name, "labels": {"app": "istiod", "istio": "pilot"}})
}

fn config_map() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("istio"),
        "data": {
            "meshNetworks": {"networks": {}},
            "mesh": {
                "connectTimeout": "10s", "enableTracing": false, "accessLogFile": "", "accessLogFormat": "",
                "accessLogEncoding": "TEXT", "enableEnvoyAccessLogService": false,
                "protocolDetectionTimeout": "100ms", "ingressService": "istio-ingressgateway",
                "ingressControllerMode": "OFF", "ingressClass": "istio", "trustDomain": "cluster.local",
                "enableAutoMtls": true, "outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"},
                "localityLbSetting": {"enabled": true}, "certificates": [], "defaultServiceExportTo": ["-"],
                "defaultVirtualServiceExportTo": ["-"], "defaultDestinationRuleExportTo": ["-"],
                "defaultConfig": {
                    "configPath": "/etc/istio/proxy", "serviceCluster": "istio-proxy", "drainDuration": "45s",
                    "parentShutdownDuration": "1m0s", "proxyAdminPort": 15000, "concurrency": 2,
                    "controlPlaneAuthPolicy": "NONE", "discoveryAddress": "istiod.istio-system.svc:15012",
                },
                "rootNamespace": "istio-system", "enablePrometheusMerge": true,
            },
        },
    })
}

fn deployment() -> Value {
    let labels = json!({
        "app": "istiod", "istio": "pilot", "networking.gardener.cloud/to-dns": "allowed",
        "networking.gardener.cloud/to-runtime-apiserver": "allowed",
    });
    let expression = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("istiod"),
        "spec": {
            "replicas": 2, "revisionHistoryLimit": 1,
            "strategy": {"rollingUpdate": {"maxSurge": "100%", "maxUnavailable": "25%"}},
            "selector": {"matchLabels": {"app": "istiod", "istio": "pilot"}},
            "template": {
                "metadata": {
                    "labels": labels,
                    "annotations": {"sidecar.istio.io/inject": "false", "checksum/istio-config": "checksum"},
                },
                "spec": {
                    "serviceAccountName": "istiod", "securityContext": {"fsGroup": 1337},
                    "priorityClassName": "gardener-garden-system-critical",
                    "containers": [container()], "volumes": volumes(),
                    "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
                        "weight": 100,
                        "podAffinityTerm": {
                            "labelSelector": {
                                "matchExpressions": [expression("app", "istiod"), expression("istio", "pilot")],
                            },
                            "topologyKey": "kubernetes.io/hostname",
                        },
                    }]}},
                },
            },
        },
    })
}

fn container() -> Value {
    json!({
        "name": "discovery", "image": "gcr.io/istio-release/pilot:1.17.1-distroless",
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "discovery", "--monitoringAddr=:15014", "--grpcAddr=", "--httpsAddr=:10250",
            "--log_output_level=all:warn,ads:error", "--domain", "cluster.local",
            "--keepaliveMaxServerConnectionAge", "30m",
        ],
        "ports": [
            {"containerPort": 15012, "protocol": "TCP"}, {"containerPort": 10250, "protocol": "TCP"},
            {"containerPort": 8080, "protocol": "TCP"},
        ],
        "readinessProbe": {
            "httpGet": {"path": "/ready", "port": 8080}, "initialDelaySeconds": 1, "periodSeconds": 3,
            "timeoutSeconds": 5,
        },
        "env": environment(),
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsUser": 1337,
            "runAsGroup": 1337, "runAsNonRoot": true, "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "config-volume", "mountPath": "/etc/istio/config"},
            {"name": "istio-token", "mountPath": "/var/run/secrets/tokens", "readOnly": true},
            {"name": "local-certs", "mountPath": "/var/run/secrets/istio-dns"},
            {"name": "cacerts", "mountPath": "/etc/cacerts", "readOnly": true},
            {"name": "istio-kubeconfig", "mountPath": "/var/run/secrets/remote", "readOnly": true},
            {"name": "istio-csr-dns-cert", "mountPath": "/var/run/secrets/istiod/tls", "readOnly": true},
            {"name": "istio-csr-ca-configmap", "mountPath": "/var/run/secrets/istiod/ca", "readOnly": true},
        ],
    })
}

fn environment() -> Value {
    let field = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}});
    json!([
        {"name": "JWT_POLICY", "value": "third-party-jwt"},
        {"name": "PILOT_CERT_PROVIDER", "value": "istiod"},
        field("POD_NAME", "metadata.name"),
        field("POD_NAMESPACE", "metadata.namespace"),
        field("SERVICE_ACCOUNT", "spec.serviceAccountName"),
        {"name": "PILOT_TRACE_SAMPLING", "value": "0.1"},
        {"name": "PILOT_ENABLE_PROTOCOL_SNIFFING_FOR_OUTBOUND", "value": "false"},
        {"name": "PILOT_ENABLE_PROTOCOL_SNIFFING_FOR_INBOUND", "value": "false"},
        {"name": "INJECTION_WEBHOOK_CONFIG_NAME", "value": "istio-sidecar-injector"},
        {"name": "ISTIOD_ADDR", "value": "istiod.istio-system.svc:15012"},
        {"name": "VALIDATION_WEBHOOK_CONFIG_NAME", "value": "istiod"},
        {"name": "PILOT_EXTERNAL_GALLEY", "value": "false"},
        {"name": "CLUSTER_ID", "value": "Kubernetes"},
        {"name": "EXTERNAL_ISTIOD", "value": "false"},
        {"name": "PILOT_ENDPOINT_TELEMETRY_LABEL", "value": "true"},
    ])
}

fn volumes() -> Value {
    json!([
        {"name": "local-certs", "emptyDir": {"medium": "Memory"}},
        {"name": "istio-token", "projected": {"sources": [{"serviceAccountToken": {
            "audience": "istio-ca", "expirationSeconds": 43200, "path": "istio-token",
        }}]}},
        {"name": "cacerts", "secret": {"secretName": "cacerts", "optional": true}},
        {"name": "istio-kubeconfig", "secret": {"secretName": "istio-kubeconfig", "optional": true}},
        {"name": "config-volume", "configMap": {"name": "istio"}},
        {"name": "istio-csr-dns-cert", "secret": {"secretName": "istiod-tls", "optional": true}},
        {"name": "istio-csr-ca-configmap", "configMap": {
            "name": "istio-ca-root-cert", "defaultMode": 420, "optional": true,
        }},
    ])
}

fn others() -> Vec<Value> {
    let mut webhook_metadata = cluster_metadata("istiod");
    webhook_metadata["labels"]["istio.io/rev"] = "".into();
    vec![
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata("istiod"),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "istiod", "istio": "pilot"}}},
        }),
        json!({
            "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": metadata("istiod"),
            "spec": {
                "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "istiod"},
                "updatePolicy": {"updateMode": "Auto"},
                "resourcePolicy": {"containerPolicies": [{
                    "containerName": "discovery", "minAllowed": {"memory": "128Mi"},
                }]},
            },
        }),
        service(),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("istiod"),
            "automountServiceAccountToken": false,
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": webhook_metadata,
            "webhooks": [{
                "name": "validation.istio.io", "admissionReviewVersions": ["v1", "v1beta1"], "timeoutSeconds": 10,
                "clientConfig": {
                    "service": {"name": "istiod", "namespace": "istio-system", "path": "/validate"}, "caBundle": "",
                },
                "rules": [{
                    "operations": ["CREATE", "UPDATE"], "apiVersions": ["*"], "resources": ["*"],
                    "apiGroups": [
                        "config.istio.io", "rbac.istio.io", "security.istio.io", "authentication.istio.io",
                        "networking.istio.io",
                    ],
                }],
                "failurePolicy": "Ignore", "matchPolicy": "Exact", "sideEffects": "None",
            }],
        }),
    ]
}

fn service() -> Value {
    let mut metadata = metadata("istiod");
    metadata["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports":
            r#"[{"port":15014,"protocol":"TCP"}]"#,
        "networking.resources.gardener.cloud/from-world-to-ports": r#"[{"port":10250,"protocol":"TCP"}]"#,
        "networking.resources.gardener.cloud/namespace-selectors": concat!(
            r#"[{"matchLabels":{"gardener.cloud/role":"istio-ingress"}},"#,
            r#"{"matchExpressions":[{"key":"handler.exposureclass.gardener.cloud/name","operator":"Exists"}]},"#,
            r#"{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]"#
        ),
    });
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata,
        "spec": {
            "type": "ClusterIP", "selector": {"app": "istiod", "istio": "pilot"},
            "ports": [
                {"name": "https-sds", "port": 15012, "protocol": "TCP"},
                {"name": "https-webhook", "port": 443, "protocol": "TCP", "targetPort": 10250},
                {"name": "metrics", "port": 15014, "protocol": "TCP", "targetPort": 15014},
            ],
        },
    })
}

fn mesh_defaults() -> Vec<Value> {
    let unlabelled = json!({"name": "default", "namespace": "istio-system"});
    vec![
        json!({
            "apiVersion": "networking.istio.io/v1beta1", "kind": "DestinationRule", "metadata": unlabelled,
            "spec": {"host": "*", "exportTo": ["*"], "trafficPolicy": {"tls": {"mode": "ISTIO_MUTUAL"}}},
        }),
        json!({
            "apiVersion": "security.istio.io/v1beta1", "kind": "PeerAuthentication", "metadata": unlabelled,
            "spec": {"mtls": {"mode": "STRICT"}},
        }),
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "Sidecar", "metadata": metadata("default"),
            "spec": {"egress": [{"hosts": ["*/*"]}], "outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"}},
        }),
    ]
}

fn roles() -> Vec<Value> {
    let api_version = "rbac.authorization.k8s.io/v1";
    let write = ["get", "watch", "list", "update", "patch", "create", "delete"];
    let reference =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let account = json!({"kind": "ServiceAccount", "name": "istiod", "namespace": "istio-system"});
    let binding = |name: &str| {
        json!({
            "apiVersion": api_version, "kind": "ClusterRoleBinding", "metadata": cluster_metadata(name),
            "roleRef": reference("ClusterRole", name), "subjects": [account],
        })
    };
    vec![
        json!({
            "apiVersion": api_version, "kind": "ClusterRole", "metadata": cluster_metadata("istiod"),
            "rules": super::expected_istiod_rules::cluster_rules(),
        }),
        json!({
            "apiVersion": api_version, "kind": "ClusterRole",
            "metadata": cluster_metadata("istiod-gateway-controller"),
            "rules": [
                {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": write},
                {"apiGroups": [""], "resources": ["services"], "verbs": write},
                {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": write},
            ],
        }),
        binding("istiod"),
        binding("istiod-gateway-controller"),
        json!({
            "apiVersion": api_version, "kind": "Role", "metadata": metadata("istiod"),
            "rules": [
                {"apiGroups": ["networking.istio.io"], "resources": ["gateways"], "verbs": ["create"]},
                {
                    "apiGroups": [""], "resources": ["secrets"],
                    "verbs": ["create", "get", "watch", "list", "update", "delete"],
                },
                {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["get", "watch", "list"]},
                {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]},
            ],
        }),
        json!({
            "apiVersion": api_version, "kind": "RoleBinding", "metadata": metadata("istiod"),
            "roleRef": reference("Role", "istiod"), "subjects": [{"kind": "ServiceAccount", "name": "istiod"}],
        }),
    ]
}
