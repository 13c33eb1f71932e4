//! Random manifests and existing objects, with few names, so that they collide.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Probability of an optional part, in per cent.
const SOMETIMES: u8 = 25;
const SELDOM: u8 = 12;

/// The objects of manifests; every cluster refuses those of unknown kinds.
pub(super) const OBJECTS: [&str; 21] = [
    "ConfigMap a",
    "ConfigMap b",
    "ConfigMap c",
    "Secret s",
    "Service web",
    "Deployment app",
    "StatefulSet db",
    "DaemonSet agent",
    "Job once",
    "CronJob daily",
    "ServiceAccount acc",
    "Role r",
    "RoleBinding r",
    "ClusterRole wide",
    "NetworkPolicy n",
    "PodDisruptionBudget p",
    "Extension e",
    "PriorityClass high",
    "Namespace zoo",
    "Widget w",
    "HorizontalPodAutoscaler h",
];

/// Texts that are no manifests. None begins with a brace: on such a text, the original loops for ever (GRM-MR-133).
const UNDECODABLE: [&str; 4] = ["a: b: c\n", "text\n", "- a\n- b\n", "apiVersion: v1\n\tkind: ConfigMap\n"];

/// Returns true with this probability, in per cent.
pub(super) fn happens(rng: &mut Rng, often: u8) -> bool {
    rng.u8(..100) < often
}

/// Chooses one element at random.
pub(super) fn choose<'a, T: ?Sized>(rng: &mut Rng, of: &[&'a T]) -> &'a T {
    of[rng.usize(..of.len())]
}

/// A random manifest of an object; sometimes an invalid text.
pub(super) fn manifest(rng: &mut Rng, object: &str) -> Value {
    if happens(rng, 4) {
        return json!(choose(rng, &UNDECODABLE));
    }
    let mut manifest = live(rng, object);
    annotations(rng, &mut manifest);
    manifest
}

/// An object that another user may have written.
pub(super) fn live(rng: &mut Rng, object: &str) -> Value {
    let (kind, name) = object.split_once(' ').unwrap_or((object, ""));
    let (api_version, body) = body(rng, kind);
    let mut object = Map::from_iter([
        ("apiVersion".to_owned(), json!(api_version)),
        ("kind".to_owned(), json!(kind)),
        ("metadata".to_owned(), json!({"name": name})),
    ]);
    object.extend(body.as_object().cloned().unwrap_or_default());
    let mut object = Value::Object(object);
    if !matches!(kind, "ClusterRole" | "PriorityClass" | "Namespace") && happens(rng, 60) {
        object["metadata"]["namespace"] = json!("default");
    }
    if happens(rng, SOMETIMES) {
        object["metadata"]["labels"] = labels(rng);
    }
    if happens(rng, 5) && kind != "Namespace" {
        object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    }
    object
}

/// Random labels.
pub(super) fn labels(rng: &mut Rng) -> Value {
    let mut labels = Map::new();
    for key in ["team", "tier", "resources.gardener.cloud/managed-by"] {
        if happens(rng, 40) {
            labels.insert(key.to_owned(), json!(choose(rng, &["one", "two", ""])));
        }
    }
    Value::Object(labels)
}

/// Sets random annotations that the resource-manager reads.
fn annotations(rng: &mut Rng, manifest: &mut Value) {
    let table: [(&str, u8, &[&str]); 9] = [
        ("resources.gardener.cloud/mode", 6, &["Ignore", "ignore", "Other"]),
        ("resources.gardener.cloud/ignore", 4, &["true", "false"]),
        ("resources.gardener.cloud/delete-on-invalid-update", SELDOM, &["true", "false", "1"]),
        ("resources.gardener.cloud/keep-object", SELDOM, &["true", "T", "false", "yes"]),
        ("resources.gardener.cloud/preserve-replicas", SELDOM, &["true", "false", "1"]),
        ("resources.gardener.cloud/preserve-resources", SELDOM, &["true", "false"]),
        ("resources.gardener.cloud/skip-health-check", 5, &["true"]),
        ("resources.gardener.cloud/finalize-deletion-after", 4, &["1s", "1h", "soon"]),
        ("example.com/note", SOMETIMES, &["one", "two"]),
    ];
    for (key, often, values) in table {
        if happens(rng, often) {
            manifest["metadata"]["annotations"][key] = json!(choose(rng, values));
        }
    }
}

fn body(rng: &mut Rng, kind: &str) -> (&'static str, Value) {
    match kind {
        "ConfigMap" => ("v1", data(rng, "data", &["one", "two", "", "yes", "0644"])),
        "Secret" => ("v1", data(rng, "data", &["b25l", "dHdv", ""])),
        "Service" => ("v1", service(rng)),
        "Deployment" => ("apps/v1", workload(rng, "app", &["replicas"])),
        "StatefulSet" => ("apps/v1", stateful(rng)),
        "DaemonSet" => ("apps/v1", workload(rng, "agent", &[])),
        "Job" => ("batch/v1", json!({"spec": job(rng)})),
        "CronJob" => {
            let schedule = choose(rng, &["@daily", "*/5 * * * *"]);
            ("batch/v1", json!({"spec": {"schedule": schedule, "jobTemplate": {"spec": job(rng)}}}))
        }
        "ServiceAccount" => {
            let automounts = rng.bool();
            ("v1", json!({"automountServiceAccountToken": automounts}))
        }
        "Role" | "ClusterRole" | "RoleBinding" => ("rbac.authorization.k8s.io/v1", rights(rng, kind)),
        "NetworkPolicy" => {
            let types = choose(rng, &[&["Ingress"][..], &["Egress"], &["Ingress", "Egress"]]);
            let spec = json!({"podSelector": {"matchLabels": {"app": "app"}}, "policyTypes": types});
            ("networking.k8s.io/v1", json!({"spec": spec}))
        }
        "PodDisruptionBudget" => {
            let most = choose(rng, &[&json!(1), &json!("50%")]).clone();
            let selector = json!({"matchLabels": {"app": "app"}});
            ("policy/v1", json!({"spec": {"maxUnavailable": most, "selector": selector}}))
        }
        "Extension" => {
            let class = choose(rng, &["shoot-dns", "shoot-cert"]);
            ("extensions.gardener.cloud/v1alpha1", json!({"spec": {"type": class}}))
        }
        "PriorityClass" => {
            let value = choose(rng, &[&7, &8]);
            ("scheduling.k8s.io/v1", json!({"value": value}))
        }
        "HorizontalPodAutoscaler" => {
            let (kind, name) = if rng.bool() { ("Deployment", "app") } else { ("StatefulSet", "db") };
            let target = json!({"apiVersion": "apps/v1", "kind": kind, "name": name});
            (
                "autoscaling/v2",
                json!({"spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9}}),
            )
        }
        "Namespace" => ("v1", json!({})),
        _ => ("example.gardener.cloud/v1alpha1", json!({"spec": {}})),
    }
}

fn rights(rng: &mut Rng, kind: &str) -> Value {
    if kind == "RoleBinding" {
        let role = choose(rng, &["r", "other"]);
        let subjects = json!([{"kind": "ServiceAccount", "name": "acc", "namespace": "default"}]);
        let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role});
        json!({"roleRef": reference, "subjects": subjects})
    } else {
        let verbs = choose(rng, &[&["get"][..], &["get", "list"], &["*"]]);
        json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]})
    }
}

fn data(rng: &mut Rng, field: &str, values: &[&str]) -> Value {
    let mut data = Map::new();
    for key in ["key", "other"] {
        if happens(rng, 70) {
            data.insert(key.to_owned(), json!(choose(rng, values)));
        }
    }
    let mut body = json!({field: data});
    if happens(rng, SELDOM) {
        body["immutable"] = json!(rng.bool());
    }
    body
}

fn service(rng: &mut Rng) -> Value {
    let mut ports = vec![json!({"name": "http", "port": choose(rng, &[&80, &8080]), "protocol": "TCP"})];
    if happens(rng, SOMETIMES) {
        ports.push(
            json!({"name": "more", "port": 443, "targetPort": choose(rng, &[&json!(8443), &json!("https")])}),
        );
    }
    let mut spec = json!({"selector": {"app": choose(rng, &["app", "db"])}, "ports": ports});
    match rng.u8(..10) {
        0 => spec["clusterIP"] = json!("None"),
        1 => spec["type"] = json!("NodePort"),
        2 => spec["type"] = json!("LoadBalancer"),
        3 => spec = json!({"type": "ExternalName", "externalName": "example.com"}),
        4 => spec["type"] = json!("ClusterIP"),
        // Every cluster refuses this port.
        5 if happens(rng, 40) => spec["ports"][0]["port"] = json!(99_999),
        _ => {}
    }
    json!({"spec": spec})
}

fn pod(rng: &mut Rng, app: &str, restarts: Option<&str>) -> Value {
    let mut container = json!({"name": "c", "image": choose(rng, &["registry/one:1", "registry/two"])});
    if happens(rng, 50) {
        let amount = |rng: &mut Rng| {
            let (cpu, memory) = (choose(rng, &["10m", "0.5", "1"]), choose(rng, &["64Mi", "1G"]));
            json!({"cpu": cpu, "memory": memory})
        };
        container["resources"] = json!({"requests": amount(rng)});
    }
    if happens(rng, SOMETIMES) {
        container["env"] = json!([{"name": "ONE", "value": choose(rng, &["1", "true", ""])}]);
    }
    let mut template = json!({"spec": {"containers": [container]}});
    match restarts {
        Some(restarts) => template["spec"]["restartPolicy"] = json!(restarts),
        None => template["metadata"]["labels"] = json!({"app": app}),
    }
    template
}

fn workload(rng: &mut Rng, app: &str, numbers: &[&str]) -> Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": app}}, "template": pod(rng, app, None)});
    for number in numbers {
        if happens(rng, 70) {
            spec[number] = json!(rng.u8(..4));
        }
    }
    json!({"spec": spec})
}

fn stateful(rng: &mut Rng) -> Value {
    let mut object = workload(rng, "db", &["replicas"]);
    object["spec"]["serviceName"] = json!("db");
    if happens(rng, 50) {
        let size = choose(rng, &["1Gi", "2Gi"]);
        let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
        object["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": claim}]);
    }
    object
}

fn job(rng: &mut Rng) -> Value {
    json!({"parallelism": choose(rng, &[&1, &2]), "template": pod(rng, "once", Some("Never"))})
}
