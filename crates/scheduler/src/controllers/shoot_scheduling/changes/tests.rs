//! Rows of changes: which Shoots they make due.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

fn read<K: DeserializeOwned>(object: &Value) -> Arc<K> {
    Arc::new(formats::yaml::from_str(&object.to_string()).unwrap())
}

/// The object with a value at a path, and another revision.
fn with(object: &Value, at: &str, value: Value) -> Value {
    let mut changed = object.clone();
    changed["metadata"]["resourceVersion"] = "2".into();
    let mut place = &mut changed;
    for key in at.split('.').filter(|key| !key.is_empty()) {
        place = &mut place[key];
    }
    if !at.is_empty() {
        *place = value;
    }
    changed
}

fn update<K: DeserializeOwned>(old: &Value, new: &Value) -> Event<K> {
    Event::Update { old: read(old), new: read(new) }
}

fn shoot() -> Value {
    json!({"metadata": {"name": "app", "namespace": "garden-dev", "resourceVersion": "1"}, "spec": {"region": "a"}})
}

#[test]
fn a_shoot_is_pending_without_seed_for_this_scheduler_and_while_it_stays() {
    let table = [
        ("", json!(null), true),
        ("spec.schedulerName", json!("default-scheduler"), true),
        ("spec.schedulerName", json!("other"), false),
        ("spec.schedulerName", json!(""), false),
        ("spec.seedName", json!("a"), false),
        ("spec.seedName", json!(""), false),
        ("metadata.deletionTimestamp", json!("2024-06-01T00:00:00Z"), false),
    ];
    for (at, value, want) in table {
        let changed: Arc<Shoot> = read(&with(&shoot(), at, value.clone()));
        assert_eq!(is_pending(&changed), want, "{at} {value}");
        for event in
            [Event::Create(changed.clone()), Event::Delete(changed.clone()), Event::Generic(changed.clone())]
        {
            assert_eq!(is_due(&event), want, "{at} {value} {event:?}");
        }
    }
}

#[test]
fn every_update_of_a_pending_shoot_counts_but_one_of_its_status() {
    let table = [
        ("spec.region", json!("b"), true),
        ("metadata.labels", json!({"a": "b"}), true),
        ("metadata.annotations", json!({"a": "b"}), true),
        ("metadata.finalizers", json!(["a"]), true),
        ("status.lastOperation", json!({"state": "Pending"}), false),
        ("", json!(null), false),
        ("spec.seedName", json!("a"), false),
    ];
    for (at, value, want) in table {
        assert_eq!(is_due(&update(&shoot(), &with(&shoot(), at, value.clone()))), want, "{at} {value}");
    }
    assert!(is_due(&update(&shoot(), &shoot())), "a resync");
    assert!(is_due(&update(&with(&shoot(), "spec.seedName", json!("a")), &shoot())), "it has lost its seed");
}

#[test]
fn capacity_becomes_free_when_a_scheduled_shoot_goes_or_moves() {
    let on =
        |spec: Value, status: Value| with(&with(&shoot(), "spec.seedName", spec), "status.seedName", status);
    let none = on(json!(null), json!(null));
    let table = [
        (none.clone(), on(json!("a"), json!(null)), false),
        (on(json!("a"), json!(null)), on(json!("a"), json!(null)), false),
        (on(json!("a"), json!("a")), on(json!("b"), json!("a")), true),
        (on(json!("b"), json!("a")), on(json!("b"), json!("b")), true),
        (on(json!("a"), json!(null)), none.clone(), true),
    ];
    for (old, new, want) in table {
        assert_eq!(frees_capacity(&update(&old, &new)), want, "{old} {new}");
    }
    assert!(frees_capacity(&Event::Delete(read(&on(json!("a"), json!(null))))));
    assert!(!frees_capacity(&Event::Delete(read(&none))));
    assert!(!frees_capacity(&Event::Create(read(&on(json!("a"), json!(null))))));
}

#[test]
fn changes_of_seeds_count_but_for_heartbeats() {
    let condition =
        |status: &str, at: &str| json!([{"type": "GardenletReady", "status": status, "lastUpdateTime": at}]);
    let seed = json!({
        "metadata": {"name": "a", "resourceVersion": "1"},
        "status": {
            "conditions": condition("True", "2024-06-01T00:00:00Z"),
            "lastOperation": {"state": "Processing"},
            "allocatable": {"shoots": "5"},
        },
    });
    let table = [
        ("status.conditions", condition("True", "2024-06-01T00:00:10Z"), false),
        ("status.conditions", condition("False", "2024-06-01T00:00:10Z"), true),
        ("status.lastOperation", json!({"state": "Succeeded"}), false),
        ("status.lastOperation", json!(null), true),
        ("status.allocatable", json!({"shoots": "6"}), true),
        ("metadata.labels", json!({"a": "b"}), true),
        ("metadata.annotations", json!({"a": "b"}), false),
        ("metadata.deletionTimestamp", json!("2024-06-01T00:00:00Z"), true),
        ("spec.taints", json!([{"key": "a"}]), true),
    ];
    for (at, value, want) in table {
        let changed = with(&seed, at, value.clone());
        assert_eq!(concerns_scheduling(&update(&seed, &changed)), want, "{at} {value}");
    }
    assert!(concerns_scheduling(&Event::Create(read(&seed))));
    assert!(concerns_scheduling(&Event::Delete(read(&seed))));
}

#[test]
fn changes_of_the_seed_selector_of_a_cloud_profile_count() {
    let profile = json!({"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"type": "local"}});
    let selector = with(&profile, "spec.seedSelector", json!({"matchLabels": {"a": "b"}}));
    assert!(changes_selection(&update(&profile, &selector)));
    assert!(!changes_selection(&update(&profile, &with(&profile, "spec.caBundle", json!("a")))));
    assert!(changes_selection(&Event::Create(read(&profile))));
}

#[test]
fn shoots_that_have_a_seed_are_kept_without_what_nobody_reads() {
    let mut waiting = read::<Shoot>(&shoot()).as_ref().clone();
    let whole = waiting.clone();
    reduce(&mut waiting);
    assert_eq!(waiting, whole);
    let scheduled = with(&with(&shoot(), "spec.seedName", json!("a")), "status.seedName", json!("b"));
    let mut scheduled = read::<Shoot>(&scheduled).as_ref().clone();
    reduce(&mut scheduled);
    assert_eq!(
        (scheduled.spec.seed_name.as_deref(), scheduled.status.seed_name.as_deref()),
        (Some("a"), Some("b"))
    );
    assert_eq!((scheduled.spec.region.as_str(), scheduled.metadata.name.as_deref()), ("", Some("app")));
}
