//! `schedule`: which Seed Shoots get and why, as text, JSON and page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gardener_scheduler::decision::Filter;
use serde_json::{Value, json};

use crate::program::{CallResult, call, program, result_of};

const API: &str = "core.gardener.cloud/v1beta1";

fn seed(name: &str, region: &str, limit: &str) -> Value {
    json!({
        "apiVersion": API, "kind": "Seed", "metadata": {"name": name},
        "spec": {"provider": {"type": "local", "region": region}, "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"}},
        "status": {
            "lastOperation": {"state": "Succeeded"}, "allocatable": {"shoots": limit},
            "conditions": [{"type": "GardenletReady", "status": "True"}],
        },
    })
}

/// A Shoot that was created at this second of a day.
fn shoot(name: &str, second: u32, seed: Option<&str>) -> Value {
    json!({
        "apiVersion": API, "kind": "Shoot",
        "metadata": {"name": name, "namespace": "garden-dev", "creationTimestamp": format!("2024-01-01T00:00:{second:02}Z")},
        "spec": {"cloudProfileName": "local", "region": "eu-1", "provider": {"type": "local"}, "seedName": seed},
        "status": {"seedName": seed},
    })
}

/// Two Seeds in the region, of which one is full, one that is not ready, and one elsewhere; three Shoots with a Seed,
/// one without, and one that is being deleted.
fn landscape(folder: &Path) {
    let mut unready = seed("c-unready", "eu-1", "9");
    unready["status"]["conditions"] = json!([]);
    let mut deleted = shoot("gone", 9, Some("a-full"));
    deleted["metadata"]["deletionTimestamp"] = "2024-02-01T00:00:00Z".into();
    let items = [
        json!({"apiVersion": API, "kind": "CloudProfile", "metadata": {"name": "local"}}),
        seed("a-full", "eu-1", "2"),
        seed("b-free", "eu-1", "2"),
        unready,
        seed("d-far", "us-1", "9"),
        shoot("one", 1, Some("a-full")),
        shoot("two", 2, Some("d-far")),
        shoot("three", 3, Some("d-far")),
        shoot("new", 4, None),
        deleted,
    ];
    write(folder, "landscape.yaml", &json!({"apiVersion": "v1", "kind": "List", "items": items}));
    write(folder, "new.yaml", &shoot("new", 4, None));
}

fn write(folder: &Path, name: &str, object: &Value) {
    fs::write(folder.join(name), object.to_string()).unwrap();
}

fn schedule(folder: &Path, arguments: &[&str]) -> CallResult {
    let mut command = program(folder);
    command.env("COLUMNS", "80").arg("schedule").args(arguments).args(["--objects", "landscape.yaml"]);
    result_of(&command.output().unwrap())
}

fn assert_fits(result: &CallResult) {
    let too_wide = result.out.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None, "wider than 80");
}

#[test]
fn each_seed_is_explained_with_the_clause_that_excludes_it() {
    let folder = tempfile::tempdir().unwrap();
    landscape(folder.path());
    let result = schedule(folder.path(), &["explain", "--shoot", "new.yaml"]);
    assert_eq!(result.code, 0, "{}{}", result.out, result.err);
    assert_fits(&result);
    insta::assert_snapshot!(result.out);

    let result = schedule(folder.path(), &["explain", "--shoot", "new.yaml", "-o", "json"]);
    let found: Value = serde_json::from_str(&result.out).unwrap();
    let first = &found["shoots"][0];
    assert_eq!((&first["name"], &first["seed"]), (&json!("garden-dev/new"), &json!("b-free")));
    let want = json!({
        "seed": "c-unready", "filter": "gardenlet", "reason": "its gardenlet is not ready", "clause": "SCH-USE-005",
    });
    assert_eq!(first["excluded"][0], want);
}

#[test]
fn a_shoot_without_a_seed_has_the_schedulers_reason_and_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    landscape(folder.path());
    let without = ["explain", "--shoot", "new.yaml", "--without-seed", "b-free"];
    schedule(folder.path(), &without).assert_exit(
        1,
        &[
            "shoot garden-dev/new: no seed",
            "no matching seed candidate found for Configuration",
            "(SCH-STR-003)",
            "exit 1: 1 shoot gets no seed",
        ],
    );
    let near = [&without[..], &["--strategy", "MinimalDistance"]].concat();
    schedule(folder.path(), &near).assert_exit(0, &["shoot garden-dev/new → seed d-far"]);
}

#[test]
fn shoots_are_assigned_anew_in_the_order_of_their_creation() {
    let folder = tempfile::tempdir().unwrap();
    landscape(folder.path());
    let result = schedule(folder.path(), &["simulate", "--html", "page.html"]);
    assert_eq!(result.code, 1, "{}{}", result.out, result.err);
    assert_fits(&result);
    insta::assert_snapshot!(result.out);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for text in ["1 without a Seed", "data-state=\"moved\"", "Left alone", "its region is us-1 (SCH-STR-002)"]
    {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn shoots_stay_where_they_are_unless_their_seed_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    landscape(folder.path());
    let result = schedule(folder.path(), &["simulate", "--keep"]);
    result.assert_exit(0, &["1 shoot assigned", "(no seed) → b-free: 1 shoot"]);

    let mut new = seed("e-new", "eu-1", "9");
    new.as_object_mut().unwrap().remove("status");
    new["spec"]["backup"] = json!({"provider": "local"});
    write(folder.path(), "seed.yaml", &new);
    let arguments =
        ["simulate", "--keep", "--without-seed", "d-far", "--with-seed", "seed.yaml", "-o", "json"];
    let result = schedule(folder.path(), &arguments);
    assert_eq!(result.code, 0, "{}{}", result.out, result.err);
    let found: Value = serde_json::from_str(&result.out).unwrap();
    let to: Vec<(&str, &str)> = found["shoots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|shoot| (shoot["name"].as_str().unwrap(), shoot["to"].as_str().unwrap()))
        .collect();
    assert_eq!(
        to,
        [("garden-dev/two", "b-free"), ("garden-dev/three", "e-new"), ("garden-dev/new", "b-free")]
    );
    assert_eq!(found["leftAlone"], json!(["garden-dev/gone"]));
}

#[test]
fn mistakes_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    landscape(folder.path());
    write(
        folder.path(),
        "other.yaml",
        &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
    );
    write(folder.path(), "again.yaml", &seed("a-full", "eu-1", "1"));
    fs::write(
        folder.path().join("slip.yaml"),
        format!("apiVersion: {API}\nkind: Seed\nmetadata: {{name: x}}\nspec: {{provder: {{}}}}\n"),
    )
    .unwrap();
    let table: [(&[&str], &[&str]); 7] = [
        (
            &["simulate", "--without-seed", "x"],
            &["there is no such Seed; there are: a-full, b-free, c-unready, d-far"],
        ),
        (&["simulate", "--objects", "other.yaml"], &["other.yaml contains no Seed, Shoot, CloudProfile"]),
        (
            &["simulate", "--with-seed", "other.yaml"],
            &["other.yaml contains no Seed of core.gardener.cloud/v1beta1"],
        ),
        (&["simulate", "--with-seed", "again.yaml"], &["the garden has a Seed \"a-full\""]),
        (&["simulate", "--objects", "again.yaml"], &["Seed \"a-full\" is in", "name only one of the files"]),
        (
            &["explain", "--shoot", "other.yaml"],
            &["other.yaml contains no Shoot of core.gardener.cloud/v1beta1"],
        ),
        (
            &["simulate", "--strategy", "Nearest"],
            &["there is no such strategy; write SameRegion or MinimalDistance"],
        ),
    ];
    for (arguments, texts) in table {
        let mut result = schedule(folder.path(), arguments);
        result.err = result.err.replace("\n  ", " ");
        result.assert_exit(2, texts);
    }
    let mut result = schedule(folder.path(), &["simulate", "--objects", "slip.yaml"]);
    result.err = result.err.replace("\n  ", " ");
    result.assert_exit(1, &["slip.yaml:4:8: a Seed has no field spec.provder", "did you mean `provider`?"]);
}

#[test]
fn every_clause_that_excludes_a_seed_exists() {
    let folder = tempfile::tempdir().unwrap();
    let listed = call(folder.path(), &["list", "--suite", "scheduler", "-o", "json"]);
    let clauses: BTreeSet<&str> = Filter::ALL.into_iter().map(Filter::clause).collect();
    let missing: Vec<&str> = clauses.into_iter().filter(|clause| !listed.out.contains(clause)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
