//! Tests of nginx-ingress: whole objects for several Gardens.

use rstest::rstest;
use serde_json::Value;

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, referenced};

const CONFIG_MAP: &str = "nginx-ingress-controller-a88ab1f3";

fn with_configuration(configuration: &Value) -> Fixture {
    let ingress = json!({"controller": {"providerConfig": configuration}});
    Fixture::with(&json!({"spec": {"runtimeCluster": {"ingress": ingress}}}))
}

fn defaults() -> Value {
    json!({
        "allow-snippet-annotations": "false", "enable-vts-status": "false",
        "server-name-hash-bucket-size": "256", "use-proxy-protocol": "false", "worker-processes": "2",
    })
}

fn labels(component: &str) -> Value {
    json!({"app": "nginx-ingress", "component": component})
}

fn named(name: &str, component: &str) -> Value {
    json!({"name": name, "namespace": "garden", "labels": labels(component)})
}

/// What is written with this ConfigMap.
fn expected(config_map: &str, data: &Value) -> Vec<Value> {
    let controller = "nginx-ingress-controller";
    let mut config_map_labels = labels("controller");
    config_map_labels["resources.gardener.cloud/garbage-collectable-reference"] = "true".into();
    let mut objects = vec![
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": data,
            "metadata": {"name": config_map, "namespace": "garden", "labels": config_map_labels},
        }),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false,
            "metadata": {"name": "nginx-ingress", "namespace": "garden", "labels": {"app": "nginx-ingress"}},
        }),
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named(controller, "controller"),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": labels("controller")}},
        }),
        json!({
            "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
            "metadata": {"name": controller, "namespace": "garden"},
            "spec": {
                "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": controller},
                "updatePolicy": {"updateMode": "Auto"},
                "resourcePolicy": {"containerPolicies": [
                    {"containerName": "*", "minAllowed": {"memory": "100Mi"}},
                ]},
            },
        }),
        json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "IngressClass",
            "metadata": {"name": "nginx-ingress-gardener", "labels": labels("controller")},
            "spec": {"controller": "k8s.io/nginx-ingress-gardener"},
        }),
        controller_deployment(config_map),
        backend_deployment_object(),
    ];
    objects.extend(services());
    objects.extend(roles());
    objects
}

fn services() -> [Value; 2] {
    let port =
        |name: &str, port: u16| json!({"name": name, "protocol": "TCP", "port": port, "targetPort": port});
    let mut metadata = named("nginx-ingress-controller", "controller");
    metadata["annotations"] = json!({
        "networking.resources.gardener.cloud/from-world-to-ports":
            r#"[{"protocol":"TCP","port":80},{"protocol":"TCP","port":443}]"#,
    });
    let backend = "nginx-ingress-k8s-backend";
    [
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {
                "type": "LoadBalancer", "selector": labels("controller"),
                "ports": [port("http", 80), port("https", 443)],
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": named(backend, backend),
            "spec": {
                "type": "ClusterIP", "selector": labels(backend), "ports": [{"port": 80, "targetPort": 8080}],
            },
        }),
    ]
}

fn roles() -> [Value; 4] {
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let (read, rbac) = (["get", "list", "watch"], "rbac.authorization.k8s.io/v1");
    let name = "gardener.cloud:seed:nginx-ingress";
    let (own_role, binding) = (format!("{name}:role"), format!("{name}:role-binding"));
    let of_cluster = json!({"name": name, "labels": {"app": "nginx-ingress"}});
    let of_namespace =
        |name: &str| json!({"name": name, "namespace": "garden", "labels": {"app": "nginx-ingress"}});
    let role_ref =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let subjects = json!([{"kind": "ServiceAccount", "name": "nginx-ingress", "namespace": "garden"}]);
    let mut lease = rule("coordination.k8s.io", &["leases"], &["get", "update"]);
    lease["resourceNames"] = json!(["ingress-controller-seed-leader"]);
    [
        json!({"apiVersion": rbac, "kind": "ClusterRole", "metadata": of_cluster, "rules": [
            rule("", &["endpoints", "nodes", "pods", "secrets"], &["list", "watch"]),
            rule("", &["nodes"], &["get"]),
            rule("", &["services", "configmaps"], &["get", "list", "update", "watch"]),
            rule("networking.k8s.io", &["ingresses"], &read),
            rule("", &["events"], &["create", "patch"]),
            rule("networking.k8s.io", &["ingresses/status"], &["update"]),
            rule("networking.k8s.io", &["ingressclasses"], &read),
            rule("coordination.k8s.io", &["leases"], &["list", "watch"]),
            rule("discovery.k8s.io", &["endpointslices"], &read),
        ]}),
        json!({
            "apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": of_cluster,
            "roleRef": role_ref("ClusterRole", name), "subjects": subjects,
        }),
        json!({"apiVersion": rbac, "kind": "Role", "metadata": of_namespace(&own_role), "rules": [
            rule("", &["configmaps", "namespaces", "pods", "secrets"], &["get"]),
            rule("", &["endpoints"], &["create", "get", "update"]),
            lease,
            rule("coordination.k8s.io", &["leases"], &["create"]),
            rule("discovery.k8s.io", &["endpointslices"], &read),
        ]}),
        json!({
            "apiVersion": rbac, "kind": "RoleBinding", "metadata": of_namespace(&binding),
            "roleRef": role_ref("Role", &own_role), "subjects": subjects,
        }),
    ]
}

fn controller_deployment(config_map: &str) -> Value {
    let annotations = referenced(&[config_map], &[]);
    let mut metadata = named("nginx-ingress-controller", "controller");
    metadata["annotations"] = annotations.clone();
    let selector = json!({"app": "nginx-ingress", "component": "controller", "release": "addons"});
    let pod_labels = json!({
        "app": "nginx-ingress", "component": "controller", "release": "addons",
        "networking.gardener.cloud/to-dns": "allowed",
        "networking.gardener.cloud/to-runtime-apiserver": "allowed",
        "networking.resources.gardener.cloud/to-nginx-ingress-k8s-backend-tcp-8080": "allowed",
        "seccompprofile.resources.gardener.cloud/skip": "true",
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
        "spec": {
            "replicas": 2, "revisionHistoryLimit": 2, "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": pod_labels, "annotations": annotations},
                "spec": {
                    "priorityClassName": "gardener-garden-system-300", "serviceAccountName": "nginx-ingress",
                    "terminationGracePeriodSeconds": 60, "containers": [controller_container(config_map)],
                },
            },
        },
    })
}

fn controller_container(config_map: &str) -> Value {
    let probe = json!({
        "httpGet": {"path": "/healthz", "port": 10254, "scheme": "HTTP"}, "initialDelaySeconds": 40,
        "periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3,
    });
    let variable =
        |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    json!({
        "name": "nginx-ingress-controller", "imagePullPolicy": "IfNotPresent",
        "image": "registry.k8s.io/ingress-nginx/controller-chroot:v1.9.3",
        "args": [
            "/nginx-ingress-controller", "--default-backend-service=garden/nginx-ingress-k8s-backend",
            "--enable-ssl-passthrough=true", "--publish-service=garden/nginx-ingress-controller",
            "--election-id=ingress-controller-seed-leader", "--update-status=true",
            "--annotations-prefix=nginx.ingress.kubernetes.io", format!("--configmap=garden/{config_map}"),
            "--ingress-class=nginx-ingress-gardener", "--controller-class=k8s.io/nginx-ingress-gardener",
            "--enable-annotation-validation=true",
        ],
        "securityContext": {
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE", "SYS_CHROOT"]}, "runAsUser": 101,
            "allowPrivilegeEscalation": true, "seccompProfile": {"type": "Unconfined"},
        },
        "env": [variable("POD_NAME", "metadata.name"), variable("POD_NAMESPACE", "metadata.namespace")],
        "livenessProbe": probe, "readinessProbe": probe,
        "ports": [
            {"name": "http", "containerPort": 80, "protocol": "TCP"},
            {"name": "https", "containerPort": 443, "protocol": "TCP"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "375Mi"}, "limits": {"memory": "1500Mi"}},
    })
}

fn backend_deployment_object() -> Value {
    let name = "nginx-ingress-k8s-backend";
    let selector = json!({"app": "nginx-ingress", "component": name, "release": "addons"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": named(name, name),
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": selector}, "spec": {
                "priorityClassName": "gardener-garden-system-300", "terminationGracePeriodSeconds": 60,
                "securityContext": {"runAsUser": 65534, "fsGroup": 65534},
                "containers": [{
                    "name": name, "imagePullPolicy": "IfNotPresent",
                    "image": "eu.gcr.io/gardener-project/gardener/ingress-default-backend:0.17.0",
                    "livenessProbe": {
                        "httpGet": {"path": "/healthy", "port": 8080, "scheme": "HTTP"},
                        "initialDelaySeconds": 30, "timeoutSeconds": 5,
                    },
                    "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                    "resources": {"requests": {"cpu": "20m", "memory": "20Mi"}, "limits": {"memory": "100Mi"}},
                }],
            }},
        },
    })
}

fn objects(fixture: &Fixture) -> Vec<Value> {
    let rendering = render(&fixture.values()).unwrap();
    assert!(rendering.steps.is_empty());
    managed(&rendering, "nginx-ingress").objects.clone()
}

#[rstest]
#[case::small(Fixture::default())]
#[case::highly_available(Fixture::with(&json!({"spec": {"virtualCluster": {"controlPlane": {"highAvailability": {}}}}})))]
#[case::hvpa(Fixture::default().with_hvpa())]
#[case::without_configuration(with_configuration(&Value::Null))]
#[case::an_empty_configuration(with_configuration(&json!({})))]
#[case::the_oldest_runtime(Fixture::default().on_runtime("1.24.17"))]
#[case::the_newest_runtime(Fixture::default().on_runtime("1.28.2"))]
fn most_gardens_have_the_same_objects(#[case] fixture: Fixture) {
    assert_objects("same", &objects(&fixture), &expected(CONFIG_MAP, &defaults()), &[]);
}

/// Integers stay integers, unlike the original's.
#[test]
fn a_configuration_replaces_and_extends_the_defaults() {
    let fixture = with_configuration(&json!({
        "worker-processes": 4, "client-body-buffer-size": 1_048_576, "ratio": 0.5, "use-proxy-protocol": true,
        "nothing": null, "list": [1, "a"], "map": {"b": "x", "a": 1}, "proxy-body-size": "1m",
    }));
    let mut data = defaults();
    for (key, value) in [
        ("worker-processes", "4"),
        ("client-body-buffer-size", "1048576"),
        ("ratio", "0.5"),
        ("use-proxy-protocol", "true"),
        ("nothing", "<nil>"),
        ("list", "[1 a]"),
        ("map", "map[a:1 b:x]"),
        ("proxy-body-size", "1m"),
    ] {
        data[key] = value.into();
    }
    let want = expected("nginx-ingress-controller-be9b876a", &data);
    assert_objects("configured", &objects(&fixture), &want, &[]);
}

#[test]
fn a_configuration_that_is_no_object_is_refused() {
    let error = render(&with_configuration(&json!(["a"])).values()).unwrap_err().to_string();
    assert_eq!(
        error,
        r#"cannot read spec.runtimeCluster.ingress.controller.providerConfig: ["a"] is no object"#
    );
}

#[test]
fn the_load_balancer_has_the_annotations_of_the_garden() {
    let annotations = json!({
        "a": "b", "networking.resources.gardener.cloud/from-world-to-ports": "not this",
    });
    let fixture = Fixture::with(&json!({"spec": {"runtimeCluster": {"settings": {
        "loadBalancerServices": {"annotations": annotations},
    }}}}));
    let changes = [("Service/nginx-ingress-controller", "/metadata/annotations/a", json!("b"))];
    assert_objects("annotated", &objects(&fixture), &expected(CONFIG_MAP, &defaults()), &changes);
}
