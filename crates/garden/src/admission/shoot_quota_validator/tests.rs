//! Tests of Quotas.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::shoot_testing::{Stored, merged, outcome};

const PROFILES: &str = "cloudprofiles.core.gardener.cloud";
const BINDINGS: &str = "secretbindings.core.gardener.cloud";
const QUOTAS_RESOURCE: &str = "quotas.core.gardener.cloud";

fn quota(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "garden-dev"}, "spec": spec})
}

fn of_project(change: &Value) -> Value {
    let metrics = json!({
        "cpu": "2", "gpu": "0", "memory": "5Gi", "storage.standard": "30Gi", "storage.premium": "0Gi",
            "loadbalancer": "2",
    });
    let scope = json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project"});
    let spec = json!({"scope": scope, "clusterLifetimeDays": 1, "metrics": metrics});
    quota("project", &merged(&spec, change))
}

/// A garden with a Quota of a Project and one of a Secret: GPL-V-08.
fn stored() -> Stored {
    let metrics = json!({"cpu": "4", "memory": "10Gi", "storage.standard": "60Gi", "loadbalancer": "4"});
    let scope = json!({"apiVersion": "v1", "kind": "Secret"});
    let of_secret = quota("secret", &json!({"scope": scope, "clusterLifetimeDays": 7, "metrics": metrics}));
    let profile = json!({"metadata": {"name": "local"}, "spec": {
        "machineTypes": [
            {"name": "small", "cpu": "2", "gpu": "0", "memory": "5Gi"},
            {"name": "stored", "cpu": "2", "memory": "5Gi", "storage": {"class": "standard", "type": "x",
                "size": "20Gi"}},
            {"name": "sized", "cpu": "2", "memory": "5Gi", "storage": {"class": "standard", "type": "x",
                "minSize": "20Gi"}},
        ],
        "volumeTypes": [
            {"name": "slow", "class": "standard"}, {"name": "fast", "class": "premium"}, {"name": "odd",
                "class": "odd"},
        ],
    }});
    let reference = |name: &str| json!({"name": name, "namespace": "garden-dev"});
    let binding = json!({
        "metadata": {"name": "b", "namespace": "garden-dev"}, "quotas": [reference("project"), reference("secret")],
    });
    Stored::default()
        .with(PROFILES, profile)
        .with(BINDINGS, binding)
        .with(QUOTAS_RESOURCE, of_project(&json!({})))
        .with(QUOTAS_RESOURCE, of_secret)
}

fn pool(change: &Value) -> Value {
    let complete = json!({
        "name": "cpu", "machine": {"type": "small"}, "maximum": 1, "minimum": 1, "volume": {"type": "slow",
            "size": "30Gi"},
    });
    merged(&complete, change)
}

fn shoot(change: &Value) -> Value {
    let base = json!({
        "metadata": {"name": "app", "namespace": "garden-dev", "creationTimestamp": "2024-05-01T00:00:00Z"},
        "spec": {
            "cloudProfileName": "local", "secretBindingName": "b", "addons": {"nginxIngress": {"enabled": true}},
            "provider": {"workers": [pool(&json!({}))]},
        },
    });
    merged(&base, change)
}

fn with_pools(pools: &[Value]) -> Value {
    shoot(&json!({"spec": {"provider": {"workers": pools}}}))
}

fn created(stored: &Stored, object: &Value) -> (u16, String) {
    outcome(validate(&stored.attributes(Operation::Create), Some(object)))
}

fn updated(stored: &Stored, old: &Value, new: &Value) -> (u16, String) {
    let attributes = Attributes { old: Some(old), ..stored.attributes(Operation::Update) };
    outcome(validate(&attributes, Some(new)))
}

fn exceeded_text(metrics: &str) -> (u16, String) {
    let text = format!("quota limits exceeded. Unable to allocate further {metrics}");
    (403, format!("shoots.core.gardener.cloud \"app\" is forbidden: {text}"))
}

fn internal_error(text: &str) -> (u16, String) {
    (500, format!("Internal error occurred: {text}"))
}

#[rstest]
#[case::equal(&[pool(&json!({}))], "")]
#[case::maximum(&[pool(&json!({"maximum": 2}))], "cpu memory storage.standard ")]
#[case::pools(&[pool(&json!({})), pool(&json!({"name": "b"}))], "cpu memory storage.standard ")]
#[case::class(&[pool(&json!({"volume": {"type": "fast"}}))], "storage.premium ")]
#[case::none(&[pool(&json!({"maximum": 0}))], "")]
#[case::negative(&[pool(&json!({"maximum": -1}))], "")]
#[case::workerless(&[], "")]
#[case::of_machine(&[pool(&json!({"machine": {"type": "stored"}, "volume": null}))], "")]
#[case::of_machine_and_own(&[pool(&json!({"machine": {"type": "stored"}, "volume": {"type": "fast",
    "size": "31Gi"}}))], "storage.standard ")]
fn a_new_shoot_stays_within_its_quotas(#[case] pools: &[Value], #[case] exceeded: &str) {
    let want = if exceeded.is_empty() { (0, String::new()) } else { exceeded_text(exceeded) };
    assert_eq!(created(&stored(), &with_pools(pools)), want);
}

#[test]
fn other_shoots_of_the_quota_count() {
    let other = shoot(&json!({"metadata": {"name": "other", "deletionTimestamp": "2024-01-01T00:00:00Z"}}));
    let object = shoot(&json!({}));
    let full = exceeded_text("cpu memory storage.standard loadbalancer ");
    assert_eq!(created(&stored().with_shoot(other), &object), full);
    // The Shoot itself, and Shoots of other bindings, do not count.
    let unbound = shoot(&json!({"metadata": {"name": "other"}, "spec": {"secretBindingName": "c"}}));
    let garden = stored().with_shoot(unbound).with_shoot(object.clone());
    assert_eq!(created(&garden, &object), (0, String::new()));
    // Those of other namespaces count for the Quota of a Secret.
    let reference = |name: &str| json!({"name": name, "namespace": "garden-dev"});
    let binding = json!({
        "metadata": {"name": "b", "namespace": "garden-x"}, "quotas": [reference("project"), reference("secret")],
    });
    let elsewhere = shoot(&json!({"metadata": {"namespace": "garden-x"}}));
    let garden = stored().with(BINDINGS, binding.clone()).with_shoot(elsewhere.clone());
    assert_eq!(created(&garden, &object), (0, String::new()));
    // A binding that names a Quota twice counts twice.
    let twice = merged(&binding, &json!({"quotas": [reference("secret"), reference("secret")]}));
    let garden = stored().with(BINDINGS, twice).with_shoot(elsewhere);
    assert_eq!(created(&garden, &object), full);
}

#[rstest]
#[case::machine_type(json!({"machine": {"type": "x"}}), "machineType x not found in CloudProfile local")]
#[case::volume_type(json!({"volume": {"type": "x"}}), "VolumeType small not found in CloudProfile local")]
#[case::no_volume(json!({"volume": null}), "VolumeType small not found in CloudProfile local")]
#[case::no_size(json!({"machine": {"type": "sized"}, "volume": null}), "VolumeType sized not found in CloudProfile \
    local")]
#[case::class(json!({"volume": {"type": "odd"}}), "unknown volumeType class odd")]
#[case::size(
    json!({"volume": {"size": ""}}),
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
)]
fn unknown_resources_are_errors_of_the_server(#[case] change: Value, #[case] want: &str) {
    let wrong = with_pools(&[pool(&change)]);
    assert_eq!(created(&stored(), &wrong), internal_error(want));
    let other = merged(&wrong, &json!({"metadata": {"name": "other"}}));
    assert_eq!(created(&stored().with_shoot(other), &shoot(&json!({}))), internal_error(want));
}

#[test]
fn what_a_shoot_refers_to_exists() {
    let object = shoot(&json!({}));
    let missing = |stored: Stored| [created(&stored, &object), updated(&stored, &object, &object)];
    let text = "Internal error occurred: could not find referenced cloud profile: cloudprofile.core.gardener.cloud \
        \"local\" not found";
    assert_eq!(created(&stored().without(PROFILES), &object), internal_error(text));
    let text = "secretbinding.core.gardener.cloud \"b\" not found";
    assert_eq!(missing(stored().without(BINDINGS)), [internal_error(text), internal_error(text)]);
    let text = "quota.core.gardener.cloud \"project\" not found";
    assert_eq!(missing(stored().without(QUOTAS_RESOURCE)), [internal_error(text), internal_error(text)]);
    let unscoped = stored().with(QUOTAS_RESOURCE, of_project(&json!({"scope": {"kind": "Foo"}})));
    assert_eq!(created(&unscoped, &object), internal_error("unknown quota scope"));
}

#[test]
fn some_shoots_are_not_judged() {
    let bare = stored().without(BINDINGS);
    for change in [
        json!({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}}),
        json!({"spec": {"secretBindingName": null}}),
    ] {
        assert_eq!(created(&bare, &shoot(&change)), (0, String::new()));
    }
    let status = Attributes { subresource: "status", ..bare.attributes(Operation::Update) };
    assert_eq!(validate(&status, Some(&shoot(&json!({})))), Ok(()));
}

#[rstest]
#[case::version(json!({"spec": {"kubernetes": {"version": "1.27.3"}}}), false)]
#[case::ingress_off(json!({"spec": {"addons": {"nginxIngress": {"enabled": false}}}}), false)]
#[case::pool_gone(json!({"spec": {"provider": {"workers": []}}}), false)]
#[case::minimum(json!({"spec": {"provider": {"workers": [pool(&json!({"minimum": 0, "zones": ["a"],
    "dataVolumes": [{"name": "d"}]}))]}}}), false)]
#[case::pool_added(json!({"spec": {"provider": {"workers": [pool(&json!({"name": "x"}))]}}}), true)]
#[case::machine_type(json!({"spec": {"provider": {"workers": [pool(&json!({"machine": {"type": "stored"}}))]}}}), true)]
#[case::maximum(json!({"spec": {"provider": {"workers": [pool(&json!({"maximum": 0}))]}}}), true)]
#[case::volume(json!({"spec": {"provider": {"workers": [pool(&json!({"volume": {"size": "20Gi"}}))]}}}), true)]
fn an_update_that_uses_more_is_judged(#[case] change: Value, #[case] want: bool) {
    let read = |value: &Value| -> Shoot { serde_json::from_value(value.clone()).unwrap() };
    let (old, new) = (shoot(&json!({})), shoot(&change));
    assert_eq!(uses_more(&read(&new), &read(&old)), want);
    let without = shoot(&json!({"spec": {"addons": null}}));
    assert!(uses_more(&read(&old), &read(&without)));
    let strict = stored().with(QUOTAS_RESOURCE, of_project(&json!({"metrics": {"loadbalancer": "0"}})));
    let expected = if want { exceeded_text("loadbalancer ") } else { (0, String::new()) };
    assert_eq!(updated(&strict, &old, &new), expected);
}

#[rstest]
#[case::without_metrics(json!({"metrics": null}), "")]
#[case::below(json!({"metrics": {"cpu": "1999m"}}), "cpu ")]
fn only_metrics_of_the_quota_count(#[case] change: Value, #[case] exceeded: &str) {
    let garden = stored().with(QUOTAS_RESOURCE, of_project(&change));
    let want = if exceeded.is_empty() { (0, String::new()) } else { exceeded_text(exceeded) };
    assert_eq!(created(&garden, &shoot(&json!({}))), want);
}

fn expiring(at: &str) -> Value {
    shoot(&json!({"metadata": {"annotations": {"shoot.gardener.cloud/expiration-timestamp": at}}}))
}

#[test]
fn a_shoot_lives_as_long_as_its_quotas_allow() {
    let old = shoot(&json!({}));
    let updated = |new: &Value| updated(&stored(), &old, new);
    let text = "requested shoot expiration time is too long. Can only be extended by 1 day(s)";
    let long = (403, format!("shoots.core.gardener.cloud \"app\" is forbidden: {text}"));
    assert_eq!(updated(&expiring("2024-06-02T00:00:00Z")), (0, String::new()));
    assert_eq!(updated(&expiring("2024-06-02T00:00:01Z")), long);
    assert_eq!(updated(&expiring("2024-06-09T00:00:00Z")), long);
    let wrong = "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"";
    assert_eq!(updated(&expiring("x")), internal_error(wrong));
    // As Go prints the time of creation.
    assert_eq!(updated(&expiring("2024-05-01 00:00:00 +0000 UTC")), (0, String::new()));
    assert_eq!(created(&stored(), &expiring("2024-06-09T00:00:00Z")), (0, String::new()));
    let same = expiring("2024-06-09T00:00:00Z");
    assert_eq!(self::updated(&stored(), &same, &same), (0, String::new()));
    assert_eq!(self::updated(&stored(), &same, &old), (0, String::new()));
}

#[test]
fn hours_are_counted_in_32_bits_and_nanoseconds_in_64() {
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(latest(now, 2), i128::from(48 * NANOS_OF_AN_HOUR));
    assert_eq!(latest(now, 178_956_971), i128::from(8 * NANOS_OF_AN_HOUR));
    assert!(latest(now, 106_751) > 0);
    assert!(latest(now, 106_752) < 0);
}
