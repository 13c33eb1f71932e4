//! Stores: their content, their events, and broken connections.

use std::time::Duration;

use apiserver::{Effect, Fault, Matching, Verb};
use controller::limit::RequestLimit;
use controller::{CacheOptions, Event, Selection};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::{Api, ResourceExt as _};
use serde_json::json;
use tokio::time::Instant;

use crate::world::{SeenRequests, World, config_map, run_pending_tasks};

fn names<K: kube::Resource>(objects: &[std::sync::Arc<K>]) -> Vec<String> {
    objects.iter().map(|object| object.name_any()).collect()
}

#[tokio::test(start_paused = true)]
async fn equal_selections_share_a_store() {
    let world = World::new();
    world.create("a").await;
    let cluster = world.cluster(CacheOptions::default());
    world.server.forget_requests();
    let stores = [cluster.store::<ConfigMap>(Selection::all()), cluster.store::<ConfigMap>(Selection::all())];
    let metadata = cluster.store::<PartialObjectMeta<ConfigMap>>(Selection::all());
    let labelled = cluster.store::<ConfigMap>(Selection::all().labels("app=b"));
    cluster.wait_until_synced().await;
    assert!(cluster.is_synced());
    run_pending_tasks().await;
    let lists =
        world.server.requests().iter().filter(|request| request.verb == apiserver::Verb::List).count();
    assert_eq!(lists, 3);
    assert_eq!(stores.map(|store| store.list().len()), [1, 1]);
    assert_eq!(metadata.get("default", "a").unwrap().labels()["app"], "a");
    assert_eq!(labelled.list().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_store_keeps_what_is_selected_and_no_more_of_it_than_is_read() {
    let world = World::new();
    let all: Api<ConfigMap> = Api::namespaced(world.client.clone(), "kube-system");
    all.create(&PostParams::default(), &config_map("far")).await.unwrap();
    let mut managed = config_map("near");
    managed.metadata.managed_fields = Some(vec![serde_json::from_value(json!({"manager": "me"})).unwrap()]);
    managed.data = Some([("big".to_owned(), "data".to_owned())].into());
    world.config_maps().create(&PostParams::default(), &managed).await.unwrap();
    let options = CacheOptions { namespaces: vec!["default".to_owned()], resync: None };
    let cluster = world.cluster(options);
    let reduced =
        cluster.store::<ConfigMap>(Selection::all().reduced("no data", |object| object.data = None));
    let elsewhere = cluster.store::<ConfigMap>(Selection::all().namespaces(["kube-system", "default"]));
    let field = cluster.store::<ConfigMap>(Selection::all().namespaces([""; 0]).fields("metadata.name=far"));
    let nodes = cluster.store::<Node>(Selection::all());
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Namespace"));
    let namespaces = cluster.dynamic_store::<DynamicObject>(&resource, Selection::all().cluster_scoped());
    cluster.wait_until_synced().await;
    assert_eq!(names(&reduced.list()), ["near"]);
    let near = reduced.get("default", "near").unwrap();
    assert_eq!((near.data.clone(), near.metadata.managed_fields.clone()), (None, None));
    assert_eq!(names(&elsewhere.list()), ["near", "far"]);
    assert_eq!(names(&elsewhere.list_in("kube-system")), ["far"]);
    assert_eq!(names(&field.list()), ["far"]);
    assert_eq!(names(&nodes.list()), [""; 0]);
    assert!(namespaces.get("", "kube-system").is_some());
    let error = reduced.try_get("kube-system", "far").unwrap_err().to_string();
    assert_eq!(error, "unable to get: kube-system/far because of unknown namespace for the cache");
    assert_eq!(reduced.try_get("default", "none"), Ok(None));
}

#[tokio::test(start_paused = true)]
async fn an_index_follows_every_change() {
    let world = World::new();
    world.create("a").await;
    world.create("b").await;
    let cluster = world.cluster(CacheOptions::default());
    let store = cluster.store::<ConfigMap>(Selection::all());
    let value = |object: &ConfigMap| object.data.iter().flatten().map(|(_, value)| value.clone()).collect();
    let early = store.index(value);
    cluster.wait_until_synced().await;
    world.write("a", "x").await;
    world.write("b", "x").await;
    run_pending_tasks().await;
    let late = store.index(value);
    assert_eq!(
        (names(&early.get("x")), names(&late.get("x"))),
        (vec!["a".into(), "b".into()], vec!["a".into(), "b".into()])
    );
    world.write("a", "y").await;
    world.delete("b").await;
    run_pending_tasks().await;
    assert_eq!((names(&early.get("x")), names(&early.get("y"))), (vec![], vec!["a".to_owned()]));
    assert_eq!((names(&late.get("x")), names(&late.get("y"))), (vec![], vec!["a".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_resync_announces_every_object_again() {
    let world = World::new();
    world.create("a").await;
    let options = CacheOptions { namespaces: Vec::new(), resync: Some(Duration::from_hours(10)) };
    let cluster = world.cluster(options);
    let store = cluster.store::<ConfigMap>(Selection::all());
    let seen = SeenRequests::default();
    let recorded = seen.clone();
    let begin = Instant::now();
    store.subscribe(move |event| {
        let same = event.old().is_some_and(|old| old.resource_version() == event.object().resource_version());
        recorded.push(format!("{} {same}", event.object().name_any()));
    });
    tokio::time::sleep(Duration::from_hours(23)).await;
    assert_eq!(seen.names(), ["a false", "a true", "a true"]);
    let hour = |millis: &u128| *millis / 3_600_000;
    let hours: Vec<u128> = seen.times(begin).iter().map(hour).collect();
    assert!((9..11).contains(&hours[1]) && (18..22).contains(&hours[2]), "{hours:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_breaks_loses_no_event() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name).await;
    }
    let (client, connection) = world.cuttable_client();
    let cluster = world.cluster_on(client, CacheOptions::default());
    let store = cluster.store::<ConfigMap>(Selection::all());
    let seen = SeenRequests::default();
    let recorded = seen.clone();
    store.subscribe(move |event| {
        let what = match event {
            Event::Create(_) => "create",
            Event::Update { .. } => "update",
            Event::Delete(_) => "delete",
            Event::Generic(_) => "generic",
        };
        recorded.push(format!("{what} {}", event.object().name_any()));
    });
    cluster.wait_until_synced().await;
    seen.clear();
    // The connection breaks, objects change, and the server no longer has the events when the connection is back.
    connection.cut();
    world.write("a", "1").await;
    world.delete("b").await;
    world.create("d").await;
    world.server.compact();
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert_eq!(seen.names(), [""; 0]);
    connection.mend();
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert_eq!(seen.names(), ["update a", "create d", "delete b"]);
    assert_eq!(names(&store.list()), ["a", "c", "d"]);
    seen.clear();
    // It breaks again, and this time the server has the events.
    connection.cut();
    world.write("c", "1").await;
    world.delete("d").await;
    connection.mend();
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert_eq!(seen.names(), ["update c", "delete d"]);
}

#[tokio::test(start_paused = true)]
async fn who_writes_can_wait_until_the_store_shows_it() {
    const LAG: Duration = Duration::from_millis(500);
    let world = World::new();
    world.create("a").await;
    let watches = Matching { verbs: vec![Verb::Watch], ..Matching::default() };
    world.server.faults().add(Fault::new(watches, Effect::LagWatch(LAG)));
    let cluster = world.cluster(CacheOptions { namespaces: vec!["default".to_owned()], resync: None });
    let store = cluster.store::<PartialObjectMeta<ConfigMap>>(Selection::all());
    cluster.wait_until_synced().await;
    // A change.
    let begin = Instant::now();
    let patch = Patch::Merge(json!({"metadata": {"labels": {"app": "changed"}}}));
    let written = world.config_maps().patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(store.get("default", "a").unwrap().labels()["app"], "a");
    store.wait_until_shows(&written).await;
    assert_eq!(store.get("default", "a").unwrap().labels()["app"], "changed");
    assert_eq!(begin.elapsed().as_millis() / 100, 5);
    store.wait_until_shows(&written).await;
    assert_eq!(begin.elapsed().as_millis() / 100, 5);
    // A creation.
    let created = world.config_maps().create(&PostParams::default(), &config_map("b")).await.unwrap();
    store.wait_until_shows(&created).await;
    assert_eq!(names(&store.list()), ["a", "b"]);
    // A removal, which also ends the waiting for what was removed.
    let known = store.get("default", "b").unwrap();
    world.delete("b").await;
    store.wait_until_gone(&known).await;
    assert_eq!(names(&store.list()), ["a"]);
    let created = world.config_maps().create(&PostParams::default(), &config_map("c")).await.unwrap();
    world.delete("c").await;
    let begin = Instant::now();
    store.wait_until_shows(&created).await;
    assert_eq!(begin.elapsed().as_millis() / 100, 5);
    // A namespace that is not watched.
    let begin = Instant::now();
    let elsewhere: Api<ConfigMap> = Api::namespaced(world.client.clone(), "kube-system");
    let written = elsewhere.create(&PostParams::default(), &config_map("far")).await.unwrap();
    store.wait_until_shows(&written).await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_broken_watch_does_not_hold_up_who_writes_for_ever() {
    let world = World::new();
    world.create("a").await;
    let (client, connection) = world.cuttable_client();
    let cluster = world.cluster_on(client, CacheOptions::default());
    let store = cluster.store::<ConfigMap>(Selection::all());
    cluster.wait_until_synced().await;
    connection.cut();
    let written = world.config_maps().create(&PostParams::default(), &config_map("b")).await.unwrap();
    let begin = Instant::now();
    store.wait_until_shows(&written).await;
    assert_eq!((begin.elapsed().as_secs(), names(&store.list())), (10, vec!["a".to_owned()]));
    // The watch restarts with a list.
    world.server.compact();
    connection.mend();
    tokio::time::sleep(Duration::from_mins(1)).await;
    let begin = Instant::now();
    store.wait_until_shows(&written).await;
    assert_eq!(
        (begin.elapsed(), names(&store.list())),
        (Duration::ZERO, vec!["a".to_owned(), "b".to_owned()])
    );
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_may_be_absent_counts_as_empty_until_it_comes() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let store = cluster.dynamic_store::<DynamicObject>(&resource, Selection::all().may_be_absent());
    cluster.wait_until_synced().await;
    assert_eq!(store.list().len(), 0);
    let required = cluster.dynamic_store::<PartialObjectMeta<DynamicObject>>(&resource, Selection::all());
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(!required.is_synced());
    assert_eq!(cluster.unsynced(), ["metadata of Widget"]);
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let definition = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
    ));
    let definitions: Api<DynamicObject> = Api::all_with(world.client.clone(), &definition);
    definitions.create(&PostParams::default(), &serde_json::from_value(crd).unwrap()).await.unwrap();
    let widgets: Api<DynamicObject> = Api::namespaced_with(world.client.clone(), "default", &resource);
    widgets.create(&PostParams::default(), &DynamicObject::new("w", &resource)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!((names(&store.list()), names(&required.list())), (vec!["w".to_owned()], vec!["w".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_added_later_is_filled_too() {
    let world = World::new();
    let cluster = world.cluster(CacheOptions::default());
    cluster.store::<ConfigMap>(Selection::all()).wait_until_synced().await;
    let secrets = cluster.store::<Secret>(Selection::all());
    assert!(!cluster.is_synced());
    secrets.wait_until_synced().await;
    assert!(cluster.is_synced());
}

#[tokio::test(start_paused = true)]
async fn a_limited_client_keeps_the_rate_and_watches_are_not_limited() {
    let world = World::new();
    let client = RequestLimit::new(10.0, 5).wrap_client(&world.client);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let begin = Instant::now();
    for number in 0..25 {
        maps.create(&PostParams::default(), &config_map(&format!("m{number}"))).await.unwrap();
    }
    assert_eq!(begin.elapsed().as_millis(), 2000);
    let cluster = world.cluster_on(client, CacheOptions::default());
    let store = cluster.store::<ConfigMap>(Selection::all());
    cluster.wait_until_synced().await;
    run_pending_tasks().await;
    // The list took a token, the watch none.
    assert_eq!((store.list().len(), begin.elapsed().as_millis()), (25, 2101));
    world.write("m0", "1").await;
    run_pending_tasks().await;
    assert!(store.get("default", "m0").unwrap().data.is_some());
}
