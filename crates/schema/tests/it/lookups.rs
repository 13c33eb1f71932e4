//! Lookups of kinds: built-in ones, those that come with the project, and those of a CRD added at run time.

use schema::{Crd, CrdError, Kinds, Resource, Shape, Subresource};
use serde_json::{Value, json};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn names(found: &[&Resource]) -> Vec<String> {
    found.iter().map(|resource| format!("{} {}", resource.api_version(), resource.plural)).collect()
}

fn widget(versions: &Value) -> Crd {
    let names = json!({"kind": "Widget", "plural": "widgets", "shortNames": ["wd"]});
    let spec = json!({"group": "example.com", "scope": "Cluster", "names": names, "versions": versions});
    let kind = "CustomResourceDefinition";
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": kind, "spec": spec});
    Crd::from_value(crd).expect("a complete CRD")
}

#[test]
fn a_resource_has_the_data_of_discovery() {
    let subresource = |name: &str, group: &str, kind: &str, verbs: &[&str]| Subresource {
        name: name.to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        verbs: strings(verbs),
    };
    let wanted = Resource {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: "Deployment".to_owned(),
        plural: "deployments".to_owned(),
        singular: "deployment".to_owned(),
        namespaced: true,
        verbs: strings(&["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]),
        short_names: strings(&["deploy"]),
        categories: strings(&["all"]),
        subresources: vec![
            subresource("scale", "autoscaling", "Scale", &["get", "patch", "update"]),
            subresource("status", "apps", "Deployment", &["get", "patch", "update"]),
        ],
        storage: true,
    };
    assert_eq!(Kinds::kubernetes().resource("apps", "v1", "deployments"), Some(&wanted));
    assert_eq!(Kinds::kubernetes().kind("apps", "v1", "Deployment"), Some(&wanted));
    assert_eq!(Kinds::kubernetes().of_object("apps/v1", "Deployment"), Some(&wanted));
    assert_eq!(wanted.list_kind(), "DeploymentList");
    assert!(wanted.serves("deletecollection") && wanted.has_status());
}

#[test]
fn subresources_have_the_kinds_of_their_objects() {
    let pods = Kinds::kubernetes().resource("", "v1", "pods").expect("built in");
    let subresources: Vec<String> = pods
        .subresources
        .iter()
        .map(|below| {
            format!(
                "{} {}/{} {} {}",
                below.name,
                below.group,
                below.version,
                below.kind,
                below.verbs.join(",")
            )
        })
        .collect();
    assert_eq!(
        subresources,
        [
            "attach /v1 PodAttachOptions create,get",
            "binding /v1 Binding create",
            "ephemeralcontainers /v1 Pod get,patch,update",
            "eviction policy/v1 Eviction create",
            "exec /v1 PodExecOptions create,get",
            "log /v1 Pod get",
            "portforward /v1 PodPortForwardOptions create,get",
            "proxy /v1 PodProxyOptions create,delete,get,patch,update",
            "resize /v1 Pod get,patch,update",
            "status /v1 Pod get,patch,update",
        ]
    );
}

#[test]
fn resources_are_found_by_the_names_that_kubectl_accepts() {
    let found = |name: &str| names(&Kinds::gardener().named(name));
    assert_eq!(found("Pod"), ["v1 pods"]);
    assert_eq!(found("po"), ["v1 pods"]);
    assert_eq!(found("deploy"), ["apps/v1 deployments"]);
    assert_eq!(found("horizontalpodautoscaler"), ["autoscaling/v2 horizontalpodautoscalers"]);
    assert_eq!(found("events"), ["v1 events", "events.k8s.io/v1 events"]);
    assert_eq!(found("events.events.k8s.io"), ["events.k8s.io/v1 events"]);
    assert_eq!(found("infra"), ["extensions.gardener.cloud/v1alpha1 infrastructures"]);
    assert_eq!(found("nothing"), [""; 0]);
}

#[test]
fn the_preferred_version_replaces_one_that_is_no_longer_served() {
    let preferred =
        |group: &str, name: &str| Kinds::gardener().preferred(group, name).map(Resource::api_version);
    assert_eq!(Kinds::gardener().resource("autoscaling", "v2beta1", "horizontalpodautoscalers"), None);
    assert_eq!(preferred("autoscaling", "horizontalpodautoscalers"), Some("autoscaling/v2".to_owned()));
    assert_eq!(preferred("autoscaling", "HorizontalPodAutoscaler"), Some("autoscaling/v2".to_owned()));
    assert_eq!(
        preferred("apiextensions.k8s.io", "customresourcedefinitions"),
        Some("apiextensions.k8s.io/v1".to_owned())
    );
    assert_eq!(preferred("autoscaling", "pods"), None);
}

#[test]
fn groups_come_in_the_order_of_discovery() {
    let groups: Vec<&str> = Kinds::gardener().groups().iter().map(|group| group.name.as_str()).collect();
    assert_eq!(groups[..4], ["", "apiregistration.k8s.io", "apps", "events.k8s.io"]);
    assert_eq!(
        groups[groups.len() - 11..],
        [
            "flowcontrol.apiserver.k8s.io",
            "autoscaling.k8s.io",
            "core.gardener.cloud",
            "druid.gardener.cloud",
            "extensions.gardener.cloud",
            "machine.sapcloud.io",
            "operations.gardener.cloud",
            "operator.gardener.cloud",
            "resources.gardener.cloud",
            "seedmanagement.gardener.cloud",
            "settings.gardener.cloud",
        ]
    );
    let autoscaling = Kinds::kubernetes().group("autoscaling").expect("built in");
    let versions: Vec<&str> = autoscaling.versions.iter().map(|served| served.version.as_str()).collect();
    assert_eq!((autoscaling.preferred_version(), versions), (Some("v2"), vec!["v2", "v1"]));
    let stored: Vec<&str> = Kinds::kubernetes()
        .resources()
        .filter(|resource| !resource.storage)
        .map(|resource| resource.version.as_str())
        .collect();
    assert_eq!(stored, ["v1"], "only HorizontalPodAutoscaler is served in two versions");
}

#[test]
fn the_built_in_kinds_do_not_include_those_of_gardener() {
    assert_eq!(Kinds::kubernetes().kind("extensions.gardener.cloud", "v1alpha1", "Worker"), None);
    assert!(Kinds::kubernetes().type_of("extensions.gardener.cloud", "v1alpha1", "Worker").is_none());
    assert!(Kinds::gardener().kind("extensions.gardener.cloud", "v1alpha1", "Worker").is_some());
}

#[test]
fn a_crd_adds_its_versions_by_priority_and_replaces_its_predecessor() {
    let version = |name: &str, served: bool, storage: bool| {
        let fields = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer"}}}}});
        json!({"name": name, "served": served, "storage": storage, "subresources": {"scale": {}, "status": {}},
            "schema": {"openAPIV3Schema": fields}, "selectableFields": [{"jsonPath": ".spec.size"}]})
    };
    let versions = [version("v1beta1", true, false), version("v2", true, true), version("v1", false, false)];
    let kinds = Kinds::kubernetes().with([widget(&json!(versions))]);
    assert_eq!(names(&kinds.named("wd")), ["example.com/v2 widgets"]);
    let group = kinds.group("example.com").expect("added");
    let served: Vec<&str> = group.versions.iter().map(|served| served.version.as_str()).collect();
    assert_eq!(served, ["v2", "v1beta1"]);

    let resource = kinds.resource("example.com", "v1beta1", "widgets").expect("served").clone();
    let below: Vec<&str> = resource.subresources.iter().map(|below| below.name.as_str()).collect();
    assert_eq!(
        (resource.singular.as_str(), resource.storage, below),
        ("widget", false, vec!["scale", "status"])
    );
    assert_eq!(kinds.selectable_fields(&resource), ["metadata.name", "spec.size"]);
    let size = kinds.type_of("example.com", "v2", "Widget").and_then(|widget| widget.at("spec.size"));
    assert!(matches!(size.map(|size| size.shape()), Some(Shape::Integer(_))));

    let replaced = kinds.with([widget(&json!([version("v3", true, true)]))]);
    assert_eq!(names(&replaced.named("widgets")), ["example.com/v3 widgets"]);
    assert!(replaced.type_of("example.com", "v2", "Widget").is_none());
    assert_eq!(replaced.without("example.com", "widgets").groups(), Kinds::kubernetes().groups());
}

#[test]
fn built_in_resources_cannot_be_removed() {
    assert_eq!(Kinds::kubernetes().without("", "pods").groups(), Kinds::kubernetes().groups());
}

#[test]
fn an_object_that_is_not_a_crd_is_an_error() {
    let pod = Crd::from_value(json!({"apiVersion": "v1", "kind": "Pod"})).expect_err("a pod");
    let wanted = "expected apiextensions.k8s.io/v1 CustomResourceDefinition, got v1 Pod";
    assert_eq!(pod.to_string(), wanted);
    let bare = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"});
    assert!(matches!(Crd::from_value(bare), Err(CrdError::Spec(_))));
}

#[test]
fn field_selectors_are_those_of_kubernetes() {
    let fields = |group: &str, plural: &str| {
        let found = Kinds::gardener().named(&format!("{plural}.{group}"));
        Kinds::gardener().selectable_fields(found[0])
    };
    assert_eq!(fields("", "secrets"), ["metadata.name", "metadata.namespace", "type"]);
    assert_eq!(fields("", "nodes"), ["metadata.name", "spec.unschedulable"]);
    assert_eq!(fields("apps", "deployments"), ["metadata.name", "metadata.namespace"]);
    assert_eq!(fields("rbac.authorization.k8s.io", "clusterroles"), ["metadata.name", "metadata.namespace"]);
    assert_eq!(fields("extensions.gardener.cloud", "backupbuckets"), ["metadata.name"]);
    assert_eq!(fields("extensions.gardener.cloud", "workers"), ["metadata.name", "metadata.namespace"]);
    assert!(fields("", "pods").contains(&"spec.nodeName".to_owned()));
}
