//! The objects of the gateway, except filters; files of its ConfigMap are parsed.

use serde_json::{Value, json};

pub(super) fn objects(least: u32, most: u32) -> Vec<Value> {
    let config = json!({"layered_runtime": {"layers": [{
        "name": "static_layer_0",
        "static_layer": {"overload": {"global_downstream_max_connections": 750_000}},
    }]}});
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("istio-custom-bootstrap-config"),
        "data": {"custom_bootstrap.yaml": config},
    });
    let mut objects = vec![config_map, deployment(least), autoscaler(least, most), service()];
    objects.extend(others());
    objects
}

fn labels() -> Value {
    json!({"app": "istio-ingressgateway", "istio": "ingressgateway"})
}

fn metadata(name: &str) -> Value {
    json!({"name": name, "namespace": "virtual-garden-istio-ingress", "labels": labels()})
}

fn versioned() -> Value {
    let mut metadata = metadata("istio-ingressgateway");
    metadata["labels"]["app.kubernetes.io/version"] = "1.17.1".into();
    metadata
}

fn deployment(replicas: u32) -> Value {
    let mut pod_labels = labels();
    for (key, value) in [
        ("networking.gardener.cloud/to-dns", "allowed"),
        ("networking.resources.gardener.cloud/to-istio-system-istiod-tcp-15012", "allowed"),
        ("networking.resources.gardener.cloud/to-garden-virtual-garden-kube-apiserver-tcp-443", "allowed"),
        ("service.istio.io/canonical-name", "istio-ingressgateway"),
        ("service.istio.io/canonical-revision", "1.7"),
    ] {
        pod_labels[key] = value.into();
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": versioned(),
        "spec": {
            "replicas": replicas, "revisionHistoryLimit": 1, "selector": {"matchLabels": labels()},
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {
                "metadata": {
                    "labels": pod_labels,
                    "annotations": {
                        "sidecar.istio.io/inject": "false",
                        "checksum/configmap-bootstrap-config-override": "checksum",
                    },
                },
                "spec": pod(),
            },
        },
    })
}

fn pod() -> Value {
    let expression = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    json!({
        "serviceAccountName": "istio-ingressgateway", "priorityClassName": "gardener-garden-system-critical",
        "securityContext": {
            "sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}],
            "fsGroup": 1337, "runAsGroup": 1337, "runAsNonRoot": true, "runAsUser": 1337,
        },
        "containers": [container()], "volumes": volumes(),
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100,
            "podAffinityTerm": {
                "labelSelector": {"matchExpressions": [
                    expression("app", "istio-ingressgateway"), expression("istio", "ingressgateway"),
                ]},
                "topologyKey": "kubernetes.io/hostname",
            },
        }]}},
    })
}

fn container() -> Value {
    json!({
        "name": "istio-proxy", "image": "gcr.io/istio-release/proxyv2:1.17.1-distroless",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": false, "privileged": false,
            "readOnlyRootFilesystem": true, "runAsUser": 1337, "runAsGroup": 1337, "runAsNonRoot": true,
        },
        "ports": [{"containerPort": 9443, "protocol": "TCP"}],
        "args": [
            "proxy", "router", "--domain=virtual-garden-istio-ingress.svc.cluster.local",
            "--proxyLogLevel=warning", "--proxyComponentLogLevel=misc:error",
            "--log_output_level=all:warn,ads:error", "--serviceCluster=istio-ingressgateway", "--concurrency=4",
        ],
        "readinessProbe": {
            "failureThreshold": 30, "httpGet": {"path": "/healthz/ready", "port": 15021, "scheme": "HTTP"},
            "initialDelaySeconds": 1, "periodSeconds": 2, "successThreshold": 1, "timeoutSeconds": 1,
        },
        "resources": {"requests": {"cpu": "1000m", "memory": "2Gi"}, "limits": {"memory": "8Gi"}},
        "env": environment(),
        "volumeMounts": [
            {"name": "workload-socket", "mountPath": "/var/run/secrets/workload-spiffe-uds"},
            {"name": "credential-socket", "mountPath": "/var/run/secrets/credential-uds"},
            {"name": "workload-certs", "mountPath": "/var/run/secrets/workload-spiffe-credentials"},
            {"name": "istio-envoy", "mountPath": "/etc/istio/proxy"},
            {"name": "istiod-ca-cert", "mountPath": "/var/run/secrets/istio"},
            {"name": "custom-bootstrap-volume", "mountPath": "/etc/istio/custom-bootstrap", "readOnly": true},
            {"name": "istio-token", "mountPath": "/var/run/secrets/tokens", "readOnly": true},
            {"name": "istio-data", "mountPath": "/var/lib/istio/data"},
            {"name": "podinfo", "mountPath": "/etc/istio/pod"},
        ],
    })
}

fn environment() -> Value {
    let field = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}});
    json!([
        field("NODE_NAME", "spec.nodeName"),
        field("POD_NAME", "metadata.name"),
        field("POD_NAMESPACE", "metadata.namespace"),
        field("INSTANCE_IP", "status.podIP"),
        field("HOST_IP", "status.hostIP"),
        field("SERVICE_ACCOUNT", "spec.serviceAccountName"),
        field("ISTIO_META_POD_NAME", "metadata.name"),
        field("ISTIO_META_CONFIG_NAMESPACE", "metadata.namespace"),
        {"name": "JWT_POLICY", "value": "third-party-jwt"},
        {"name": "PILOT_CERT_PROVIDER", "value": "istiod"},
        {"name": "ISTIO_META_USER_SDS", "value": "true"},
        {"name": "CA_ADDR", "value": "istiod.istio-system.svc:15012"},
        {"name": "ISTIO_META_WORKLOAD_NAME", "value": "istio-ingressgateway"},
        {
            "name": "ISTIO_META_OWNER",
            "value": "kubernetes://apis/apps/v1/namespaces/virtual-garden-istio-ingress/deployments/istio-ingressgateway",
        },
        {"name": "ISTIO_AUTO_MTLS_ENABLED", "value": "true"},
        {"name": "ISTIO_META_ROUTER_MODE", "value": "standard"},
        {"name": "ISTIO_META_CLUSTER_ID", "value": "Kubernetes"},
        {"name": "ISTIO_META_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "ISTIO_BOOTSTRAP_OVERRIDE", "value": "/etc/istio/custom-bootstrap/custom_bootstrap.yaml"},
    ])
}

fn volumes() -> Value {
    json!([
        {"name": "workload-socket", "emptyDir": {}},
        {"name": "credential-socket", "emptyDir": {}},
        {"name": "workload-certs", "emptyDir": {}},
        {"name": "istiod-ca-cert", "configMap": {"name": "istio-ca-root-cert"}},
        {"name": "custom-bootstrap-volume", "configMap": {"name": "istio-custom-bootstrap-config"}},
        {"name": "podinfo", "downwardAPI": {"items": [
            {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
            {"path": "annotations", "fieldRef": {"fieldPath": "metadata.annotations"}},
        ]}},
        {"name": "istio-envoy", "emptyDir": {}},
        {"name": "istio-data", "emptyDir": {}},
        {"name": "istio-token", "projected": {"sources": [{"serviceAccountToken": {
            "path": "istio-token", "expirationSeconds": 43200, "audience": "istio-ca",
        }}]}},
    ])
}

fn autoscaler(least: u32, most: u32) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": versioned(),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "istio-ingressgateway"},
            "minReplicas": least, "maxReplicas": most,
            "metrics": [{"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
            }}],
        },
    })
}

fn service() -> Value {
    let mut metadata = versioned();
    metadata["annotations"] = json!({
        "networking.resources.gardener.cloud/from-world-to-ports": concat!(
            r#"[{"port":8132,"protocol":"TCP"},{"port":8443,"protocol":"TCP"},"#,
            r#"{"port":9443,"protocol":"TCP"}]"#
        ),
        "networking.resources.gardener.cloud/namespace-selectors": concat!(
            r#"[{"matchLabels":{"gardener.cloud/role":"shoot"}},"#,
            r#"{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]"#
        ),
        "networking.resources.gardener.cloud/pod-label-selector-namespace-alias": "all-istio-ingresses",
        "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports":
            r#"[{"port":15020,"protocol":"TCP"}]"#,
    });
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata,
        "spec": {
            "type": "LoadBalancer", "selector": labels(),
            "ports": [{"name": "tcp", "port": 443, "targetPort": 9443}],
        },
    })
}

fn others() -> [Value; 4] {
    let sds = "istio-ingressgateway-sds";
    [
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata("istio-ingressgateway"),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": labels()}},
        }),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": versioned(),
            "automountServiceAccountToken": false,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata(sds),
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "watch", "list"]}],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata(sds),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": sds},
            "subjects": [{"kind": "ServiceAccount", "name": "istio-ingressgateway"}],
        }),
    ]
}
