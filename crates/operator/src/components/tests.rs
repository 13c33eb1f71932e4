//! What holds for all components.

use rstest::rstest;
use schema::{Kinds, Shape, Type};
use serde_json::{Value, json};

use super::fixture::Fixture;
use super::lifecycle::{ManagedWait, ObjectWait, RemovalStep};
use super::*;

fn everything() -> Fixture {
    let fields = json!({"spec": {
        "runtimeCluster": {"provider": {"zones": ["a", "b"]}, "settings": {
            "topologyAwareRouting": {"enabled": true}, "verticalPodAutoscaler": {"enabled": true},
        }},
        "virtualCluster": {
            "controlPlane": {"highAvailability": {}},
            "gardener": {"gardenerAdmissionController": {"resourceAdmissionConfiguration": {
                "limits": [{"resources": ["secrets"], "size": "1Mi"}],
            }}},
        },
    }});
    Fixture::with(&fields).with_hvpa().with_seed_authorizer().with_service("gardener-apiserver", "10.2.0.7")
}

/// Whether an object is in a namespace. Of kinds that the data about kinds does not have, those called Cluster… are not.
fn is_namespaced(object: &Value) -> bool {
    let text = |field: &str| object[field].as_str().unwrap();
    let resource = Kinds::gardener().of_object(text("apiVersion"), text("kind"));
    resource.map_or_else(|| !text("kind").starts_with("Cluster"), |resource| resource.namespaced)
}

/// Whether an object is where those of its component are: Istio's have namespaces of their own. OPC-001.
fn is_in_place(component: GardenComponent, object: &Value) -> bool {
    let metadata = &object["metadata"];
    let is_namespace = object["kind"] == "Namespace";
    if !is_namespace && !is_namespaced(object) {
        return metadata.get("namespace").is_none();
    }
    if component != GardenComponent::Istio {
        return metadata["namespace"] == "garden";
    }
    let namespace = if is_namespace { &metadata["name"] } else { &metadata["namespace"] };
    namespace == "istio-system" || namespace == "virtual-garden-istio-ingress"
}

/// Objects of the runtime cluster are in the namespaces of their components, and each can be written; the same values give the same
/// objects.
#[rstest]
#[case::minimal(Fixture::default())]
#[case::everything(everything())]
fn objects_can_be_written(#[case] fixture: Fixture) {
    for component in GardenComponent::ALL {
        let rendering = component.render(&fixture.values()).unwrap();
        assert_eq!(component.render(&fixture.values()).unwrap(), rendering);
        for object in rendering.steps.iter().filter_map(DirectStep::object) {
            assert!(is_in_place(component, object), "{object}");
        }
        for managed in &rendering.managed {
            let data = managed.data().unwrap();
            assert_eq!(data.0.len(), managed.objects.len(), "{component:?}");
            let [secret, resource] = managed.written().unwrap();
            assert_eq!(resource["spec"]["secretRefs"][0]["name"], secret["metadata"]["name"]);
            if managed.target == ManagedTarget::Virtual {
                continue;
            }
            for object in &managed.objects {
                assert!(is_in_place(component, object), "{object}");
            }
        }
    }
}

/// A server would drop what a kind does not declare.
#[rstest]
#[case::minimal(Fixture::default().with_service("gardener-apiserver", "10.2.0.7"))]
#[case::everything(everything())]
fn every_field_is_one_of_its_kind(#[case] fixture: Fixture) {
    for component in GardenComponent::ALL {
        let rendering = component.render(&fixture.values()).unwrap();
        let steps = rendering.steps.iter().filter_map(DirectStep::object);
        let managed = rendering.managed.iter().flat_map(|managed| &managed.objects);
        let written = rendering.managed.iter().flat_map(|managed| managed.written().unwrap());
        let objects: Vec<Value> = steps.chain(managed).cloned().chain(written).collect();
        let undeclared: Vec<String> = objects.iter().flat_map(undeclared).collect();
        assert_eq!(undeclared, Vec::<String>::new(), "{component:?}");
    }
}

/// Fields of an object that its kind does not declare, or declares with another type.
fn undeclared(object: &Value) -> Vec<String> {
    let text = |field: &str| object[field].as_str().unwrap();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let unknown = ["networking.istio.io", "security.istio.io", "fluentbit.fluent.io"];
    if unknown.contains(&group) || kind == "CustomResourceDefinition" {
        // The data about kinds has none of these groups, and the definitions that are written come from it.
        return Vec::new();
    }
    let Some(declared) = Kinds::gardener().type_of(group, version, kind) else {
        return vec![format!("{api_version} {kind}")];
    };
    let mut found = Vec::new();
    compare(&declared, object, kind, &mut found);
    found
}

fn compare(declared: &Type, value: &Value, path: &str, found: &mut Vec<String>) {
    match (declared.shape(), value) {
        (Shape::Any, _)
        | (Shape::Integer(_) | Shape::Number, Value::Number(_))
        | (Shape::IntOrString, Value::Number(_) | Value::String(_))
        | (Shape::Boolean, Value::Bool(_))
        | (
            Shape::String | Shape::Quantity | Shape::Time | Shape::MicroTime | Shape::Duration | Shape::Bytes,
            Value::String(_),
        ) => {}
        (Shape::Object, Value::Object(fields)) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                match declared.field(name) {
                    Some(field) => compare(&field.ty, value, &path, found),
                    None if declared.is_open() => {}
                    None => found.push(path),
                }
            }
        }
        (Shape::Map, Value::Object(entries)) => {
            let values = declared.values().unwrap();
            for (key, value) in entries {
                compare(&values, value, &format!("{path}[{key}]"), found);
            }
        }
        (Shape::List, Value::Array(items)) => {
            let item = declared.items().unwrap();
            for value in items {
                compare(&item, value, &format!("{path}[]"), found);
            }
        }
        (shape, value) => found.push(format!("{path} is {value}, not {shape:?}")),
    }
}

/// What a component asks for is what it reads.
#[test]
fn without_its_secrets_a_component_is_not_rendered() {
    for component in GardenComponent::ALL {
        let fixture = Fixture::default();
        let requests = component.requests(&fixture.garden, &fixture.secrets, &fixture.observed).unwrap();
        for RequestedSecret { request, .. } in requests {
            let mut fixture = fixture.clone();
            fixture.secrets.0.remove(&request.name);
            let error = component.render(&fixture.values()).unwrap_err().to_string();
            assert_eq!(error, format!("secret {:?} not found", request.name));
        }
    }
}

/// What is awaited after a deployment, deleted, and awaited after that: names that are awaited together are joined by `+`, those that
/// must be rolled out end in `!`, minutes follow; namespaces stand before if they are not `garden`.
#[rstest]
#[case(GardenComponent::GenericTokenKubeconfig, "", "secret of generic-token-kubeconfig", "")]
#[case(
    GardenComponent::ResourceManager,
    "",
    "confirm CustomResourceDefinition/managedresources.resources.gardener.cloud, \
     CustomResourceDefinition/managedresources.resources.gardener.cloud, \
     MutatingWebhookConfiguration/gardener-resource-manager, ValidatingWebhookConfiguration/gardener-resource-manager, \
     ClusterRole/gardener-resource-manager-seed, ClusterRoleBinding/gardener-resource-manager-seed, \
     PodDisruptionBudget/gardener-resource-manager, VerticalPodAutoscaler/gardener-resource-manager-vpa, \
     Deployment/gardener-resource-manager, Service/gardener-resource-manager, ServiceAccount/gardener-resource-manager",
    ""
)]
#[case(GardenComponent::NginxIngress, "", "nginx-ingress", "nginx-ingress 2")]
#[case(GardenComponent::RuntimeSystem, "", "garden-system", "garden-system 2")]
#[case(GardenComponent::VerticalPodAutoscaler, "", "vpa", "vpa 2")]
#[case(GardenComponent::HvpaController, "", "hvpa", "hvpa 2")]
#[case(
    GardenComponent::EtcdDruid,
    "etcd-druid! 2",
    "no druid.gardener.cloud/v1alpha1 Etcd, no druid.gardener.cloud/v1alpha1 EtcdCopyBackupsTask, etcd-druid",
    "etcd-druid 2"
)]
#[case(
    GardenComponent::Istio,
    "istio-system/virtual-garden-istio+istio-system 2",
    "istio-system/virtual-garden-istio, istio-system/istio-system, Namespace/istio-system, \
     Namespace/virtual-garden-istio-ingress",
    "istio-system/virtual-garden-istio+istio-system 2"
)]
#[case(GardenComponent::FluentOperator, "", "fluent-operator", "fluent-operator 2")]
#[case(GardenComponent::FluentBit, "", "fluent-bit", "fluent-bit 2")]
#[case(
    GardenComponent::FluentResources,
    "",
    "fluent-operator-custom-resources-garden",
    "fluent-operator-custom-resources-garden 2"
)]
#[case(
    GardenComponent::Vali,
    "",
    "vali-target, vali, Secret/shoot-access-valitail, Secret/shoot-access-kube-rbac-proxy",
    ""
)]
#[case(GardenComponent::KubeApiServerService, "", "Service/virtual-garden-kube-apiserver", "")]
#[case(
    GardenComponent::KubeApiServerSni,
    "",
    "DestinationRule/virtual-garden-kube-apiserver, EnvoyFilter/garden, Gateway/virtual-garden-kube-apiserver, \
     VirtualService/virtual-garden-kube-apiserver",
    ""
)]
#[case(
    GardenComponent::Etcd,
    "",
    "confirm Etcd/virtual-garden-etcd-main, Hvpa/virtual-garden-etcd-main, Etcd/virtual-garden-etcd-main, \
     confirm Etcd/virtual-garden-etcd-events, Hvpa/virtual-garden-etcd-events, Etcd/virtual-garden-etcd-events",
    ""
)]
#[case(
    GardenComponent::KubeApiServer,
    "",
    "shoot-core-kube-apiserver alone, HorizontalPodAutoscaler/virtual-garden-kube-apiserver, \
     VerticalPodAutoscaler/virtual-garden-kube-apiserver-vpa, Hvpa/virtual-garden-kube-apiserver, \
     PodDisruptionBudget/virtual-garden-kube-apiserver, Deployment/virtual-garden-kube-apiserver, \
     ServiceAccount/virtual-garden-kube-apiserver, Role/kube-apiserver-vpn-client-init, \
     RoleBinding/kube-apiserver-vpn-client-init",
    ""
)]
#[case(
    GardenComponent::KubeControllerManager,
    "",
    "shoot-core-kube-controller-manager alone, VerticalPodAutoscaler/virtual-garden-kube-controller-manager-vpa, \
     Hvpa/virtual-garden-kube-controller-manager, Service/virtual-garden-kube-controller-manager, \
     PodDisruptionBudget/virtual-garden-kube-controller-manager, Deployment/virtual-garden-kube-controller-manager, \
     Secret/shoot-access-kube-controller-manager",
    "shoot-core-kube-controller-manager 3"
)]
#[case(
    GardenComponent::VirtualResourceManager,
    "",
    "shoot-core-gardener-resource-manager, wait shoot-core-gardener-resource-manager 2, \
     PodDisruptionBudget/virtual-garden-gardener-resource-manager, \
     VerticalPodAutoscaler/gardener-resource-manager-vpa, Deployment/virtual-garden-gardener-resource-manager, \
     Service/virtual-garden-gardener-resource-manager, ServiceAccount/virtual-garden-gardener-resource-manager, \
     Secret/shoot-access-gardener-resource-manager, Role/virtual-garden-gardener-resource-manager, \
     RoleBinding/virtual-garden-gardener-resource-manager",
    ""
)]
#[case(GardenComponent::VirtualSystem, "", "garden-system-virtual", "garden-system-virtual 2")]
#[case(
    GardenComponent::GardenerAccess,
    "shoot-core-gardeneraccess 2",
    "Secret/gardener, Secret/gardener-internal, shoot-core-gardeneraccess",
    "shoot-core-gardeneraccess 2"
)]
#[case(GardenComponent::KubeStateMetrics, "", "kube-state-metrics", "kube-state-metrics 2")]
#[case(
    GardenComponent::GardenerApiServer,
    "gardener-apiserver-runtime! 5, gardener-apiserver-virtual 5",
    "gardener-apiserver-virtual, gardener-apiserver-runtime, Secret/shoot-access-gardener-apiserver",
    "gardener-apiserver-virtual 5, gardener-apiserver-runtime 5"
)]
#[case(
    GardenComponent::GardenerAdmissionController,
    "gardener-admission-controller-runtime+gardener-admission-controller-virtual 5",
    "gardener-admission-controller-virtual, gardener-admission-controller-runtime, \
     Secret/shoot-access-gardener-admission-controller",
    "gardener-admission-controller-runtime+gardener-admission-controller-virtual 5"
)]
#[case(
    GardenComponent::GardenerControllerManager,
    "gardener-controller-manager-runtime+gardener-controller-manager-virtual 5",
    "gardener-controller-manager-virtual, gardener-controller-manager-runtime, \
     Secret/shoot-access-gardener-controller-manager",
    "gardener-controller-manager-runtime+gardener-controller-manager-virtual 5"
)]
#[case(
    GardenComponent::GardenerScheduler,
    "gardener-scheduler-runtime+gardener-scheduler-virtual 5",
    "gardener-scheduler-virtual, gardener-scheduler-runtime, Secret/shoot-access-gardener-scheduler",
    "gardener-scheduler-runtime+gardener-scheduler-virtual 5"
)]
#[case(
    GardenComponent::GardenerMetricsExporter,
    "",
    "gardener-metrics-exporter-virtual, gardener-metrics-exporter-runtime, \
     Secret/shoot-access-gardener-metrics-exporter",
    "gardener-metrics-exporter-runtime+gardener-metrics-exporter-virtual 5"
)]
#[case(GardenComponent::Plutono, "", "plutono", "plutono 2")]
fn components_are_awaited_and_taken_down(
    #[case] component: GardenComponent,
    #[case] deployed: &str,
    #[case] removal: &str,
    #[case] removed: &str,
) {
    let waits = |waits: &[ManagedWait]| {
        let each = waits.iter().map(|wait| {
            let before = place(&wait.namespace);
            let mark = if wait.is_rolled_out { "!" } else { "" };
            format!("{before}{}{mark} {}", wait.names.join("+"), wait.within.as_secs() / 60)
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let lifecycle = component.lifecycle();
    let steps = lifecycle.removal.iter().map(|step| match step {
        RemovalStep::Managed(name) => name.clone(),
        RemovalStep::ManagedIn { namespace, name } => format!("{}{name}", place(namespace)),
        RemovalStep::ManagedAlone(name) => format!("{name} alone"),
        RemovalStep::AwaitGone(wait) => format!("wait {}", waits(std::slice::from_ref(wait))),
        RemovalStep::Confirm(object) => format!("confirm {}/{}", object.kind, object.name),
        RemovalStep::Object(object) => format!("{}/{}", object.kind, object.name),
        RemovalStep::Generated(request) => format!("secret of {request}"),
        RemovalStep::RequireNone(absence) => format!("no {} {}", absence.api_version, absence.kind),
    });
    assert_eq!(waits(&lifecycle.deployed), deployed);
    assert_eq!(steps.collect::<Vec<_>>().join(", "), removal);
    assert_eq!(waits(&lifecycle.removed), removed);
}

/// A namespace and a slash; nothing for `garden`.
fn place(namespace: &str) -> String {
    if namespace == "garden" { String::new() } else { format!("{namespace}/") }
}

/// What is awaited of objects after a deployment, and after a removal: state, object, pause and limit in seconds.
#[rstest]
#[case(GardenComponent::ResourceManager, "Healthy garden/gardener-resource-manager 5 300", "")]
#[case(GardenComponent::EtcdDruid, "", "")]
#[case(
    GardenComponent::KubeApiServerService,
    "LoadBalancer virtual-garden-istio-ingress/istio-ingressgateway 5 600",
    "Gone garden/virtual-garden-kube-apiserver 2 -"
)]
#[case(GardenComponent::KubeApiServerSni, "", "")]
#[case(
    GardenComponent::Etcd,
    "EtcdReady garden/virtual-garden-etcd-main 5 300, EtcdReady garden/virtual-garden-etcd-events 5 300",
    ""
)]
#[case(
    GardenComponent::KubeApiServer,
    "RolledOutOrLogs(10) garden/virtual-garden-kube-apiserver 5 300",
    "Gone garden/virtual-garden-kube-apiserver 5 300"
)]
#[case(
    GardenComponent::KubeControllerManager,
    "RolledOut garden/virtual-garden-kube-controller-manager 5 180",
    ""
)]
#[case(
    GardenComponent::VirtualResourceManager,
    "Healthy garden/virtual-garden-gardener-resource-manager 5 300",
    ""
)]
#[case(GardenComponent::GardenerScheduler, "", "")]
fn objects_are_awaited(#[case] component: GardenComponent, #[case] ready: &str, #[case] gone: &str) {
    let waits = |waits: &[ObjectWait]| {
        let each = waits.iter().map(|wait| {
            let within = wait.within.map_or_else(|| "-".to_owned(), |within| within.as_secs().to_string());
            let ObjectWait { object, state, every, .. } = wait;
            format!("{state:?} {}/{} {} {within}", object.namespace, object.name, every.as_secs())
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let lifecycle = component.lifecycle();
    assert_eq!(waits(&lifecycle.ready), ready);
    assert_eq!(waits(&lifecycle.gone), gone);
}

/// OPC-139: an image vector may give images of Gardener a tag.
#[test]
fn a_tag_of_the_image_vector_wins_over_the_operators_version() {
    let mut fixture = Fixture::default();
    let text = "images:\n- {name: gardener-scheduler, repository: mirror/scheduler, tag: own}\n";
    fixture.images = fixture.images.overwritten_by(image_vector::ImageVector::parse(text).unwrap());
    let values = fixture.values();
    assert_eq!(values.gardener_image("gardener-scheduler").unwrap(), "mirror/scheduler:own");
    let apiserver = values.gardener_image("gardener-apiserver").unwrap();
    assert_eq!(apiserver, "eu.gcr.io/gardener-project/gardener/apiserver:v1.82.0");
    let virtual_apiserver = values.target_image("kube-apiserver").unwrap();
    assert_eq!(virtual_apiserver, "registry.k8s.io/kube-apiserver:v1.27.3");
    assert_eq!(values.runtime_image("kube-apiserver").unwrap(), "registry.k8s.io/kube-apiserver:v1.27.1");
}
