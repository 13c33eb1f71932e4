//! Types of fields, keys of lists, strategies of patches.

use schema::{IntegerWidth, Kinds, ListKind, Patch, PatchStrategy, Shape, Type};
use serde_json::json;

fn kind(group: &str, version: &str, kind: &str) -> Type {
    Kinds::kubernetes().type_of(group, version, kind).expect("built in")
}

fn pod(path: &str) -> Option<Type> {
    kind("", "v1", "Pod").at(path)
}

fn key(group: &str, version: &str, kind: &str, path: &str) -> Option<Vec<String>> {
    Kinds::kubernetes().list_key(group, version, kind, path)
}

#[test]
fn lists_have_the_keys_of_the_schema() {
    let pod = |path: &str| key("", "v1", "Pod", path).map(|keys| keys.join(","));
    for (path, wanted) in [
        ("spec.containers", Some("name")),
        ("spec.initContainers", Some("name")),
        ("spec.containers[].env", Some("name")),
        ("spec.containers[].envFrom", None),
        ("spec.containers[].ports", Some("containerPort,protocol")),
        ("spec.containers[].volumeMounts", Some("mountPath")),
        ("spec.volumes", Some("name")),
        ("spec.volumes[].projected.sources", None),
        ("spec.topologySpreadConstraints", Some("topologyKey,whenUnsatisfiable")),
        ("spec.tolerations", None),
        ("spec.imagePullSecrets", Some("name")),
        ("spec.hostAliases", Some("ip")),
        ("metadata.ownerReferences", Some("uid")),
        ("metadata.finalizers", None),
        ("status.conditions", Some("type")),
        ("spec.nodeName", None),
        ("spec.nothing", None),
    ] {
        assert_eq!(pod(path).as_deref(), wanted, "{path}");
    }
    assert_eq!(key("", "v1", "Node", "spec.taints"), None);
    assert_eq!(key("", "v1", "Service", "spec.ports"), Some(vec!["port".to_owned(), "protocol".to_owned()]));
    let constraints = "spec.template.spec.topologySpreadConstraints";
    let keys = Some(vec!["topologyKey".to_owned(), "whenUnsatisfiable".to_owned()]);
    assert_eq!(key("apps", "v1", "Deployment", constraints), keys);
    let webhooks = key("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "webhooks");
    assert_eq!(webhooks, Some(vec!["name".to_owned()]));
}

#[test]
fn lists_without_keys_are_sets_or_atomic() {
    assert_eq!(pod("spec.tolerations").and_then(|list| list.list_kind()), Some(ListKind::Atomic));
    assert_eq!(pod("metadata.finalizers").and_then(|list| list.list_kind()), Some(ListKind::Set));
    assert_eq!(pod("spec").and_then(|object| object.list_kind()), None);
}

#[test]
fn fields_have_shapes() {
    for (path, shape) in [
        ("spec.containers[].resources.limits[cpu]", Shape::Quantity),
        ("spec.containers[0].resources.requests.memory", Shape::Quantity),
        ("spec.overhead", Shape::Map),
        ("metadata.labels[app.kubernetes.io/name]", Shape::String),
        ("metadata.creationTimestamp", Shape::Time),
        ("metadata.generation", Shape::Integer(IntegerWidth::Int64)),
        ("metadata.managedFields[].fieldsV1.any", Shape::Any),
        ("spec.containers[].livenessProbe.httpGet.port", Shape::IntOrString),
        ("spec.priority", Shape::Integer(IntegerWidth::Int32)),
        ("spec.automountServiceAccountToken", Shape::Boolean),
        ("spec.containers", Shape::List),
        ("spec", Shape::Object),
        ("", Shape::Object),
    ] {
        assert_eq!(pod(path).map(|ty| ty.shape()), Some(shape), "{path}");
    }
    let at = |group: &str, name: &str, path: &str| kind(group, "v1", name).at(path).map(|ty| ty.shape());
    assert_eq!(at("", "Secret", "data[token]"), Some(Shape::Bytes));
    assert_eq!(at("", "Secret", "stringData[token]"), Some(Shape::String));
    assert_eq!(at("coordination.k8s.io", "Lease", "spec.renewTime"), Some(Shape::MicroTime));
    assert_eq!(at("apps", "Deployment", "spec.strategy.rollingUpdate.maxSurge"), Some(Shape::IntOrString));
}

#[test]
fn an_undeclared_field_has_no_type() {
    assert!(pod("spec.contaniers").is_none());
    assert!(pod("spec.containers.name").is_none());
    assert!(pod("spec.containers[].name.x").is_none());
    assert!(pod("spec..containers").is_none());
    assert!(kind("", "v1", "Pod").field("spce").is_none());
    assert!(!kind("", "v1", "Pod").is_open());
}

#[test]
fn fields_have_required_and_default() {
    let container = pod("spec.containers[]").expect("declared");
    assert!(container.field("name").expect("declared").required);
    assert!(!container.field("image").expect("declared").required);
    let protocol = container.at("ports[]").and_then(|port| port.field("protocol")).expect("declared");
    assert_eq!(protocol.default(), Some(&json!("TCP")));
    assert_eq!(container.field("image").expect("declared").default(), None);
    let structs: Vec<String> = container.structs().into_iter().map(|(name, _)| name).collect();
    assert_eq!(structs, ["resources"]);
    let fields: Vec<String> =
        kind("", "v1", "ConfigMap").fields().into_iter().map(|field| field.name).collect();
    assert_eq!(fields, ["apiVersion", "binaryData", "data", "immutable", "kind", "metadata"]);
}

#[test]
fn enumerated_values_are_listed() {
    let allowed = |path: &str| pod(path).expect("declared").allowed();
    let constraint = "spec.topologySpreadConstraints[].whenUnsatisfiable";
    assert_eq!(allowed(constraint), [json!("DoNotSchedule"), json!("ScheduleAnyway")]);
    assert_eq!(allowed("spec.nodeName"), [json!(null); 0]);
}

#[test]
fn fields_have_merge_keys_and_patch_strategies() {
    let patch = |path: &str| pod(path).expect("declared").patch();
    let (merge, replace) = (PatchStrategy::Merge, PatchStrategy::Replace);
    let expected = |strategy, retain_keys, key: Option<&str>| Patch {
        strategy,
        retain_keys,
        merge_key: key.map(str::to_owned),
    };
    assert_eq!(patch("spec.containers"), expected(merge, false, Some("name")));
    assert_eq!(patch("spec.volumes"), expected(merge, true, Some("name")));
    assert_eq!(patch("spec.topologySpreadConstraints"), expected(merge, false, Some("topologyKey")));
    assert_eq!(patch("spec.tolerations"), expected(replace, false, None));
    assert_eq!(patch("metadata.finalizers"), expected(merge, false, None));
    assert_eq!(patch("spec.containers[].ports"), expected(merge, false, Some("containerPort")));
    assert_eq!(patch("spec.securityContext"), expected(merge, false, None));
    assert_eq!(patch("spec.nodeName"), expected(replace, false, None));
    let strategy = kind("apps", "v1", "Deployment").at("spec.strategy").expect("declared").patch();
    assert_eq!(strategy, expected(merge, true, None));
}

#[test]
fn maps_and_objects_can_be_atomic() {
    assert!(pod("spec.nodeSelector").expect("declared").is_atomic());
    assert!(kind("apps", "v1", "Deployment").at("spec.selector").expect("declared").is_atomic());
    assert!(!pod("metadata.labels").expect("declared").is_atomic());
}

#[test]
fn kinds_without_a_resource_have_types_too() {
    let shape = |group: &str, version: &str, name: &str, path: &str| {
        Kinds::gardener().type_of(group, version, name)?.at(path).map(|ty| ty.shape())
    };
    assert_eq!(shape("", "v1", "PodList", "items[].spec.nodeName"), Some(Shape::String));
    assert_eq!(shape("", "v1", "Status", "details.causes[].field"), Some(Shape::String));
    assert_eq!(
        shape("autoscaling", "v1", "Scale", "spec.replicas"),
        Some(Shape::Integer(IntegerWidth::Int32))
    );
    assert_eq!(shape("", "v1", "DeleteOptions", "dryRun[]"), Some(Shape::String));
    let worker = "extensions.gardener.cloud";
    assert_eq!(shape(worker, "v1alpha1", "WorkerList", "items[].spec.region"), Some(Shape::String));
    assert_eq!(shape(worker, "v1alpha1", "WorkerList", "metadata.resourceVersion"), Some(Shape::String));
    assert_eq!(shape("apps", "v1beta1", "Deployment", "spec"), None);
}

#[test]
fn types_may_be_recursive() {
    let crd = kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let schema =
        crd.at("spec.versions[].schema.openAPIV3Schema.properties[a].properties[b].properties[c].type");
    assert_eq!(schema.map(|ty| ty.shape()), Some(Shape::String));
}
