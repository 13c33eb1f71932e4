//! Whole reconciliations and deletions on the embedded API server, with small components.

mod single_steps;
mod world;

use std::time::Duration;

use api::operator::Garden;
use api::resources::ManagedResource;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use self::world::{World, create};
use super::component_table::{ComponentFunctions, ComponentTable, FlowComponent, UnwrittenComponent};
use super::error::StepError;
use super::{direct, encryption, managed, renewal};
use crate::components::rendering::ObjectName;
use crate::components::{
    DirectStep, GardenComponent, GardenValues, ManagedObjects, RenderError, Rendering, access,
};

/// Label of an object: the Secret with whose key it is encrypted.
const KEY_NAME: &str = "credentials.gardener.cloud/key-name";

/// Renders a component.
type Render = fn(&GardenValues<'_>) -> Result<Rendering, RenderError>;

/// Components that are deployed as they are; of the others there is what is waited for, and nothing else.
const WHOLE: [FlowComponent; 2] = [
    FlowComponent::Written(GardenComponent::GenericTokenKubeconfig),
    FlowComponent::Written(GardenComponent::VirtualResourceManager),
];

fn functions(component: FlowComponent) -> ComponentFunctions {
    let render: Render = match component {
        FlowComponent::Unwritten(_) => |_: &GardenValues<'_>| Ok(Rendering::default()),
        FlowComponent::Written(component) => of_written(component),
    };
    ComponentFunctions { requests: |_, _, _| Ok(Vec::new()), render }
}

fn of_written(component: GardenComponent) -> Render {
    match component {
        GardenComponent::ResourceManager => |_| Ok(deployed("gardener-resource-manager")),
        GardenComponent::EtcdDruid => |_| Ok(managed(&["etcd-druid"])),
        GardenComponent::Istio => |_| Ok(in_istio()),
        GardenComponent::Etcd => |_| Ok(etcds()),
        GardenComponent::KubeApiServer => |_| Ok(deployed("virtual-garden-kube-apiserver")),
        GardenComponent::KubeControllerManager => |_| Ok(deployed("virtual-garden-kube-controller-manager")),
        GardenComponent::GardenerApiServer => |values| Ok(gardener_apiserver(values)),
        GardenComponent::GardenerAdmissionController => |_| {
            let names = ["gardener-admission-controller-runtime", "gardener-admission-controller-virtual"];
            let steps = deployed("gardener-admission-controller").steps;
            Ok(Rendering { steps, ..managed(&names) })
        },
        GardenComponent::GardenerControllerManager => {
            |_| Ok(managed(&["gardener-controller-manager-runtime", "gardener-controller-manager-virtual"]))
        }
        GardenComponent::GardenerScheduler => {
            |_| Ok(managed(&["gardener-scheduler-runtime", "gardener-scheduler-virtual"]))
        }
        GardenComponent::GardenerAccess => |_| Ok(managed(&["shoot-core-gardeneraccess"])),
        _ => |_| Ok(Rendering::default()),
    }
}

fn table(is_there: impl Fn(FlowComponent) -> bool) -> ComponentTable {
    let all = FlowComponent::all().filter(|component| !WHOLE.contains(component) && is_there(*component));
    ComponentTable::new(all.map(|component| (component, functions(component))))
}

fn deployed(name: &str) -> Rendering {
    let labels = json!({"app": name});
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "garden"},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}},
        },
    });
    Rendering { steps: vec![DirectStep::Patch(object)], ..Rendering::default() }
}

fn managed(names: &[&str]) -> Rendering {
    let managed = names.iter().map(|name| ManagedObjects::in_runtime(name, Vec::new()));
    Rendering { managed: managed.collect(), ..Rendering::default() }
}

fn in_istio() -> Rendering {
    let resource = |name| ManagedObjects::in_runtime(name, Vec::new()).in_namespace("istio-system");
    let managed = ["istio-system", "virtual-garden-istio"].map(resource);
    Rendering { managed: managed.to_vec(), ..Rendering::default() }
}

fn etcds() -> Rendering {
    let etcd = |name: &str| {
        DirectStep::Patch(json!({
            "apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd",
            "metadata": {
                "name": name, "namespace": "garden", "annotations": {"gardener.cloud/operation": "reconcile"},
            },
            "spec": {
                "selector": {"matchLabels": {"app": name}}, "labels": {"app": name}, "replicas": 1, "etcd": {},
                "backup": {},
            },
        }))
    };
    let steps = ["virtual-garden-etcd-main", "virtual-garden-etcd-events"].map(etcd);
    Rendering { steps: steps.to_vec(), ..Rendering::default() }
}

/// Its part of the virtual cluster has the address of the Service in the runtime cluster.
fn gardener_apiserver(values: &GardenValues<'_>) -> Rendering {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "gardener-apiserver", "namespace": "garden"},
        "spec": {"ports": [{"port": 443}]},
    });
    let mut rendering = managed(&["gardener-apiserver-runtime"]);
    rendering.steps = deployed("gardener-apiserver").steps;
    rendering.steps.push(DirectStep::Patch(service));
    match values.observed.service_addresses.get("gardener-apiserver") {
        None => rendering.awaited_service = Some("gardener-apiserver"),
        Some(address) => {
            let endpoints = json!({
                "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "a", "namespace": "kube-system"},
                "subsets": [{"addresses": [{"ip": address}]}],
            });
            rendering.managed.push(ManagedObjects::in_virtual("gardener-apiserver-virtual", vec![endpoints]));
        }
    }
    rendering
}

fn has_state(state: &'static str) -> impl Fn(&Value) -> bool {
    move |garden: &Value| garden["status"]["lastOperation"]["state"] == state
}

#[tokio::test(start_paused = true)]
async fn a_garden_is_reconciled_and_its_authorities_are_rotated() {
    let mut world = World::without(&[]).await;
    world.start(table(|_| true));
    world.act();
    world.create_garden("garden", &json!({})).await;
    let garden = world.garden_that(has_state("Succeeded")).await;
    let operation = &garden["status"]["lastOperation"];
    assert_eq!(operation["type"], "Reconcile");
    assert_eq!(operation["progress"], 100);
    assert_eq!(operation["description"], "Garden cluster has been successfully reconciled.");
    assert_eq!(garden["status"]["gardener"]["version"], "v1.82.0");
    assert_eq!(garden["status"]["observedGeneration"], garden["metadata"]["generation"]);
    assert_eq!(garden["metadata"]["finalizers"], json!(["gardener.cloud/operator"]));
    let secrets = world.secrets().await;
    let kubeconfig =
        &garden["metadata"]["annotations"]["generic-token-kubeconfig.secret.gardener.cloud/name"];
    assert!(secrets.iter().any(|name| kubeconfig == name), "{kubeconfig} is among {secrets:?}");
    assert!(secrets.contains(&"ca-f6032ea0".to_owned()), "{secrets:?}");
    assert!(!secrets.iter().any(|name| name.contains("-bootstrap")), "{secrets:?}");
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let namespace = json!(namespaces.get("garden").await.unwrap());
    let zones = "high-availability-config.resources.gardener.cloud/zones";
    assert_eq!(namespace["metadata"]["annotations"][zones], "a");

    request(&world, "rotate-ca-start").await;
    let in_phase = |phase: &'static str| {
        move |garden: &Value| {
            let rotation = &garden["status"]["credentials"]["rotation"]["certificateAuthorities"];
            rotation["phase"] == phase && has_state("Succeeded")(garden)
        }
    };
    let garden = world.garden_that(in_phase("Prepared")).await;
    assert_eq!(garden["metadata"]["annotations"]["gardener.cloud/operation"], Value::Null);
    let authorities =
        |secrets: &[String]| secrets.iter().filter(|name| name.starts_with("ca-f6032ea0")).count();
    assert_eq!(authorities(&world.secrets().await), 2);

    request(&world, "rotate-ca-complete").await;
    world.garden_that(in_phase("Completed")).await;
    let secrets = world.secrets().await;
    assert_eq!(authorities(&secrets), 1);
    assert!(!secrets.contains(&"ca-f6032ea0".to_owned()), "{secrets:?}");
}

async fn request(world: &World, operation: &str) {
    let gardens: Api<Garden> = Api::all(world.client.clone());
    let patch = json!({"metadata": {"annotations": {"gardener.cloud/operation": operation}}});
    gardens.patch("garden", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_step_is_told_and_the_others_run() {
    let mut world = World::without(&[]).await;
    world.start(table(|component| {
        component != FlowComponent::Unwritten(UnwrittenComponent::FluentDefinitions)
    }));
    world.act();
    world.create_garden("garden", &json!({})).await;
    let garden = world.garden_that(has_state("Error")).await;
    let want = "1 error occurred:\n\t* task \"Deploying custom resource definitions for fluent-operator\" failed: \
                nothing renders the component FluentDefinitions: add it to the table of components\n\n Operation \
                will be retried.";
    let operation = &garden["status"]["lastOperation"];
    assert_eq!(operation["description"], want);
    assert_eq!(operation["type"], "Reconcile");
    assert_ne!(operation["progress"], 0);
    let resources: Api<ManagedResource> = Api::namespaced(world.client.clone(), "garden");
    assert!(
        resources.get_opt("etcd-druid").await.unwrap().is_some(),
        "druid does not wait for fluent-operator"
    );
}

#[tokio::test(start_paused = true)]
async fn the_runtime_cluster_must_serve_the_pod_autoscaler() {
    let mut world = World::without(&["VerticalPodAutoscaler"]).await;
    world.start(table(|_| true));
    world.create_garden("garden", &json!({})).await;
    let garden = world.garden_that(has_state("Error")).await;
    let want = "VPA is required for runtime cluster but CRD is not installed: no matches for kind \
                \"VerticalPodAutoscaler\" in group \"autoscaling.k8s.io\" Operation will be retried.";
    assert_eq!(garden["status"]["lastOperation"]["description"], want);
}

#[tokio::test(start_paused = true)]
async fn a_garden_is_taken_down() {
    let mut world = World::without(&[]).await;
    world.start(table(|_| true));
    world.act();
    world.create_garden("garden", &json!({})).await;
    world.garden_that(has_state("Succeeded")).await;
    let foreign = json!({"metadata": {"name": "foreign"}, "data": {}});
    create::<Secret>(&world.client, "garden", foreign).await;
    let gardens: Api<Garden> = Api::all(world.client.clone());
    gardens.delete("garden", &DeleteParams::default()).await.unwrap();
    world.garden_that(Value::is_null).await;
    let managed: Vec<String> =
        world.secrets().await.into_iter().filter(|name| name.starts_with("ca-")).collect();
    assert_eq!(managed, Vec::<String>::new());
    assert!(world.secrets().await.contains(&"foreign".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn of_two_gardens_none_is_touched() {
    let mut world = World::without(&[]).await;
    for name in ["garden", "other"] {
        world.create_garden(name, &json!({})).await;
    }
    world.server.forget_requests();
    world.start(table(|_| true));
    tokio::time::sleep(Duration::from_mins(10)).await;
    let requests = world.server.requests();
    let written = requests.iter().filter(|request| request.is_write() && request.resource == "gardens");
    assert_eq!(written.count(), 0, "{:#}", world.garden().await.unwrap_or_default());
}

#[tokio::test(start_paused = true)]
async fn what_is_as_it_should_be_is_not_written() {
    let world = World::without(&[]).await;
    create::<Namespace>(&world.client, "", json!({"metadata": {"name": "garden"}})).await;
    let config_map = |value: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "garden"},
            "data": {"key": value},
        })
    };
    let steps = [
        DirectStep::Patch(config_map("one")),
        access::secret("client"),
        deployed("workload").steps.remove(0),
        DirectStep::Delete(ObjectName::in_garden("v1", "Service", "absent")),
    ];
    let resource = ManagedObjects::in_runtime("m", vec![config_map("one")]);
    let write = async |resource: &ManagedObjects| -> Result<(), StepError> {
        for step in &steps {
            direct::perform(&world.client, step).await?;
        }
        managed::write(&world.client, resource).await
    };
    write(&resource).await.unwrap();
    world.server.forget_requests();
    write(&resource).await.unwrap();
    let changed =
        |request: &apiserver::Request| request.is_write() && !request.unchanged && request.code < 300;
    assert_eq!(world.server.requests().iter().filter(|request| changed(request)).count(), 0);

    let name = managed::resource_name("garden", "m");
    let other = ManagedObjects::in_runtime("m", vec![config_map("two")]);
    write(&other).await.unwrap();
    let live = super::objects::read(&world.client, &name).await.unwrap().unwrap();
    assert_eq!(live["spec"]["secretRefs"].as_array().map(Vec::len), Some(1));
    let secrets = world.secrets().await;
    assert_eq!(
        secrets.iter().filter(|name| name.starts_with("managedresource-m-")).count(),
        2,
        "{secrets:?}"
    );
    let config_maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), "garden");
    direct::perform(&world.client, &DirectStep::Patch(config_map("two"))).await.unwrap();
    assert_eq!(config_maps.get("a").await.unwrap().data.unwrap()["key"], "two");
}

#[tokio::test(start_paused = true)]
async fn credentials_are_renewed_by_labels_and_annotations() {
    let world = World::without(&[]).await;
    create::<Namespace>(&world.client, "", json!({"metadata": {"name": "garden"}})).await;
    for step in deployed("virtual-garden-kube-apiserver").steps {
        direct::perform(&world.client, &step).await.unwrap();
    }
    let renewal_time = "serviceaccount.resources.gardener.cloud/token-renew-timestamp";
    let metadata = json!({
        "name": "a", "labels": {"resources.gardener.cloud/purpose": "token-requestor"},
        "annotations": {renewal_time: "2100-01-01T00:00:00Z", "own": "stays"},
    });
    create::<Secret>(&world.client, "garden", json!({ "metadata": metadata })).await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), "garden");
    let annotations = async || json!(secrets.get("a").await.unwrap())["metadata"]["annotations"].clone();
    let key = async || json!(secrets.get("a").await.unwrap())["metadata"]["labels"][KEY_NAME].clone();

    renewal::access_secrets(&world.client).await.unwrap();
    assert_eq!(annotations().await, json!({"own": "stays"}));
    encryption::label(&world.client, "key-2").await.unwrap();
    assert_eq!(key().await, "key-2");
    encryption::unlabel(&world.client, &world.client).await.unwrap();
    assert_eq!(key().await, Value::Null);
    renewal::in_seeds(&world.client, "renew-kubeconfig").await.unwrap();
    renewal::check_seeds(&world.client, "renew-kubeconfig").await.unwrap();
}
