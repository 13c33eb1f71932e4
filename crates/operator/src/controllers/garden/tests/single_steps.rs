//! What single steps of components do on the embedded API server.

use api::operator::Garden;
use controller::clock::Clock;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use secrets::SystemMaterial;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::super::component_table::UnwrittenComponent;
use super::super::error::StepError;
use super::super::removal::Remover;
use super::super::secret_store::SecretStore;
use super::super::{authorities, direct, lifecycles, managed, objects, observation};
use super::world::{World, create};
use super::{deployed, etcds};
use crate::components::fixture::Fixture;
use crate::components::lifecycle::{RemovalStep, RequiredAbsence};
use crate::components::rendering::{ObjectAnnotation, ObjectName};
use crate::components::{DirectStep, Lifecycle, ManagedObjects, generic_token_kubeconfig, references};

async fn runtime_cluster() -> World {
    let world = World::without(&[]).await;
    create::<Namespace>(&world.client, "", json!({"metadata": {"name": "garden"}})).await;
    world
}

/// A secrets manager that was asked for nothing.
async fn store(world: &World) -> Mutex<SecretStore> {
    let setup = authorities::setup(&Garden::default());
    let open = SecretStore::open(&world.client, setup, Box::new(SystemMaterial), clock(world));
    Mutex::new(open.await.unwrap())
}

fn clock(world: &World) -> Clock {
    Clock::starting_at(world.server.now())
}

async fn remove(
    world: &World,
    store: &Mutex<SecretStore>,
    removal: Vec<RemovalStep>,
) -> Result<(), StepError> {
    let remover = Remover { client: &world.client, store, clock: clock(world) };
    remover.take_down(&Lifecycle { removal, ..Lifecycle::default() }).await
}

async fn read(world: &World, name: &ObjectName) -> Value {
    objects::read(&world.client, name).await.unwrap().unwrap_or_default()
}

fn count_writes(world: &World) -> usize {
    world.server.requests().iter().filter(|request| request.is_write()).count()
}

#[tokio::test(start_paused = true)]
async fn an_annotation_is_set_and_others_stay() {
    let world = runtime_cluster().await;
    let metadata = json!({"name": "a", "annotations": {"own": "stays"}});
    create::<ConfigMap>(&world.client, "garden", json!({ "metadata": metadata })).await;
    let annotation = |name: &str, value: &str| {
        let (object, value) = (ObjectName::in_garden("v1", "ConfigMap", name), value.to_owned());
        DirectStep::Annotate(ObjectAnnotation { object, key: "key", value })
    };
    for value in ["one", "two"] {
        direct::perform(&world.client, &annotation("a", value)).await.unwrap();
    }
    let live = read(&world, &ObjectName::in_garden("v1", "ConfigMap", "a")).await;
    assert_eq!(live["metadata"]["annotations"], json!({"own": "stays", "key": "two"}));
    world.server.forget_requests();
    direct::perform(&world.client, &annotation("a", "two")).await.unwrap();
    assert_eq!(count_writes(&world), 0);
    assert!(direct::perform(&world.client, &annotation("absent", "one")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn managed_resources_are_deleted_with_their_secrets() {
    let world = runtime_cluster().await;
    let (here, elsewhere) = (ManagedObjects::in_runtime("m", Vec::new()), "istio-system");
    managed::write(&world.client, &here).await.unwrap();
    let step = DirectStep::DeleteManaged("m".to_owned());
    for _ in 0..2 {
        direct::perform(&world.client, &step).await.unwrap();
    }
    assert_eq!(read(&world, &managed::resource_name("garden", "m")).await, Value::Null);
    assert_eq!(world.secrets().await, Vec::<String>::new());

    managed::write(&world.client, &here).await.unwrap();
    managed::write(&world.client, &here.in_namespace(elsewhere)).await.unwrap();
    let step = RemovalStep::ManagedIn { namespace: elsewhere.to_owned(), name: "m".to_owned() };
    remove(&world, &store(&world).await, vec![step]).await.unwrap();
    assert_eq!(read(&world, &managed::resource_name(elsewhere, "m")).await, Value::Null);
    assert_ne!(read(&world, &managed::resource_name("garden", "m")).await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_workload_names_only_what_it_uses() {
    let world = runtime_cluster().await;
    let workload = |secret: &str| {
        let DirectStep::Patch(mut object) = deployed("workload").steps.remove(0) else {
            panic!("Deployments are patched")
        };
        let volume = json!({"name": "v", "secret": {"secretName": secret}});
        object["spec"]["template"]["spec"]["volumes"] = json!([volume]);
        references::annotate(&mut object);
        DirectStep::Patch(object)
    };
    for secret in ["a", "b"] {
        direct::perform(&world.client, &workload(secret)).await.unwrap();
    }
    let live = read(&world, &ObjectName::in_garden("apps/v1", "Deployment", "workload")).await;
    let want = [(references::annotation_key("secret", "b"), json!("b"))];
    let want: Value = want.into_iter().collect();
    assert_eq!(live["metadata"]["annotations"], want);
    assert_eq!(live["spec"]["template"]["metadata"]["annotations"], want);
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_deleted_that_was_requested() {
    let world = runtime_cluster().await;
    let generated = || vec![RemovalStep::Generated("generic-token-kubeconfig".to_owned())];
    let requesting = store(&world).await;
    for requested in generic_token_kubeconfig::requests(&Fixture::default().secrets).unwrap() {
        requesting.lock().await.generate(&requested).await.unwrap();
    }
    remove(&world, &store(&world).await, generated()).await.unwrap();
    assert_eq!(world.secrets().await.len(), 1, "nobody else has requested it");
    for _ in 0..2 {
        remove(&world, &requesting, generated()).await.unwrap();
    }
    assert_eq!(world.secrets().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_removed_while_there_are_objects_of_a_kind() {
    let world = runtime_cluster().await;
    let store = store(&world).await;
    let absence = |api_version, kind| {
        vec![RemovalStep::RequireNone(RequiredAbsence { api_version, kind, refusal: "there are some" })]
    };
    remove(&world, &store, absence("apps/v1", "Deployment")).await.unwrap();
    remove(&world, &store, absence("example.com/v1", "Unserved")).await.unwrap();
    for step in deployed("workload").steps.into_iter().chain(etcds().steps) {
        direct::perform(&world.client, &step).await.unwrap();
    }
    let refused = remove(&world, &store, absence("apps/v1", "Deployment")).await;
    assert_eq!(refused.unwrap_err().text(), "there are some");
    let definitions = lifecycles::of(UnwrittenComponent::EtcdDefinitions).removal;
    let want =
        "cannot delete etcd CRDs because there are still druidv1alpha1.Etcd resources left in the cluster";
    assert_eq!(remove(&world, &store, definitions).await.unwrap_err().text(), want);
}

#[tokio::test(start_paused = true)]
async fn the_certificate_for_all_hosts_and_dashboards_of_extensions_are_observed() {
    let world = runtime_cluster().await;
    let observe = || observation::observe(&world.client, world.server.now(), false);
    assert_eq!(observe().await.unwrap().wildcard_certificate, None);
    let certificate = |name: &str| json!({"metadata": {"name": name, "labels": {"gardener.cloud/role": "controlplane-cert"}}});
    create::<Secret>(&world.client, "garden", certificate("wildcard")).await;
    let monitoring = json!({"extensions.gardener.cloud/configuration": "monitoring"});
    for (name, labels, key) in [
        ("of-an-extension", &monitoring, "dashboard_operators"),
        ("for-users", &monitoring, "dashboard_users"),
        ("of-others", &json!({}), "dashboard_operators"),
    ] {
        let config_map = json!({"metadata": {"name": name, "labels": labels}, "data": {key: "dashboards"}});
        create::<ConfigMap>(&world.client, "garden", config_map).await;
    }
    let observed = observe().await.unwrap();
    assert_eq!(observed.wildcard_certificate.as_deref(), Some("wildcard"));
    let dashboards: Vec<(&str, &str)> =
        observed.extension_dashboards.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(dashboards, [("of-an-extension", "dashboards")]);

    create::<Secret>(&world.client, "garden", certificate("another")).await;
    let want = "misconfigured cluster: not possible to provide more than one secret with annotation \
                controlplane-cert";
    assert_eq!(observe().await.unwrap_err().text(), want);
}
