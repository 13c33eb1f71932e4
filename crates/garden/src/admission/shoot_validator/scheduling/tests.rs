//! Tests of the rules of scheduling.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::shoot_testing::{Stored, merged, outcome};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// The seeds `a` and `b`, whose fields differ as this says.
fn stored(seed: &Value) -> Stored {
    let complete = json!({"spec": {"provider": {"type": "local", "zones": ["x", "y", "z"]}, "backup": {}}});
    let named = |name: &str| merged(&complete, &json!({"metadata": {"name": name}}));
    let seeds = "seeds.core.gardener.cloud";
    Stored::default().with(seeds, named("a")).with(seeds, merged(&named("b"), seed))
}

fn shoot(value: &Value) -> Value {
    let base = json!({"metadata": {"name": "app", "namespace": "garden-dev"}, "spec": {"cloudProfileName": "local"}});
    merged(&base, value)
}

/// What a request about a Shoot gives, where its Seed is one of those stored.
#[expect(clippy::needless_pass_by_value, reason = "rows are written where they are passed")]
fn checked(
    stored: &Stored,
    subresource: &str,
    old: Option<Value>,
    new: Value,
    profile: &Value,
) -> (u16, String) {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let attributes = Attributes { subresource, ..stored.attributes(operation) };
    let new: Shoot = read(shoot(&new));
    let seed = new.spec.seed_name.as_ref().map(|name| SEEDS.get(stored, "", name).unwrap());
    let context = ValidationContext {
        attributes: &attributes,
        profile: read(merged(&json!({"metadata": {"name": "local"}}), profile)),
        project: read(json!({})),
        seed,
        binding: None,
        shoot: new,
        old: old.map(|old| read(shoot(&old))).unwrap_or_default(),
    };
    outcome(check(&context))
}

fn on(seed: &str) -> Value {
    json!({"spec": {"seedName": seed}})
}

fn result(want: &str) -> (u16, String) {
    (if want.is_empty() { 0 } else { 403 }, want.to_owned())
}

#[test]
fn a_shoot_is_created_on_a_seed_by_those_who_may_bind_it() {
    let garden = stored(&json!({}));
    assert_eq!(checked(&garden, "", None, on("b"), &json!({})), result(""));
    let garden = garden.denying("update shoots.core.gardener.cloud/binding garden-dev/app");
    let want = "user \"alice\" is not allowed to set .spec.seedName for \"shoots\"";
    assert_eq!(checked(&garden, "", None, on("b"), &json!({})), result(want));
    assert_eq!(checked(&garden, "", None, json!({}), &json!({})), result(""));
    assert_eq!(checked(&garden, "binding", Some(json!({})), on("b"), &json!({})), result(""));
}

#[rstest]
#[case::another_field("", json!({}), json!({"spec": {"purpose": "x"}}), "")]
#[case::by_update("", json!({}), on("b"), "spec.seedName cannot be changed by patching the shoot, please use the \
    shoots/binding subresource")]
#[case::first("binding", json!({}), json!({"spec": {"seedName": "b", "purpose": "x"}}), "")]
#[case::unset("binding", on("a"), json!({}), "spec.seedName cannot be set to nil")]
#[case::moved("binding", on("a"), on("b"), "")]
#[case::moved_and_changed(
    "binding",
    on("a"),
    json!({"spec": {"seedName": "b", "purpose": "x"}}),
    "only spec.seedName can be changed using the binding subresource when the shoot is being rescheduled to a new seed",
)]
fn the_seed_is_changed_by_binding(
    #[case] subresource: &str,
    #[case] old: Value,
    #[case] new: Value,
    #[case] want: &str,
) {
    let garden = stored(&json!({}));
    assert_eq!(checked(&garden, subresource, Some(old), new, &json!({})), result(want));
}

#[rstest]
#[case::fits(json!({}), "")]
#[case::deleted(
    json!({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}}),
    "cannot schedule shoot 'app' on seed 'b' that is already marked for deletion",
)]
#[case::tainted(
    json!({"spec": {"taints": [{"key": "x"}]}}),
    "forbidden to use a seed whose taints are not tolerated by the shoot",
)]
#[case::full(
    json!({"status": {"allocatable": {"shoots": "1"}}}),
    "cannot schedule shoot 'app' on seed 'b' that already has the maximum number of shoots scheduled on it (1)",
)]
#[case::one_free(json!({"status": {"allocatable": {"shoots": "2"}}}), "")]
#[case::no_backup(
    json!({"spec": {"backup": null}}),
    "cannot change seed name because backup is not configured for seed \"b\"",
)]
#[case::other_provider(
    json!({"spec": {"provider": {"type": "aws"}}}),
    "cannot change seed because cloud provider for new seed (aws) is not equal to cloud provider for old seed (local)",
)]
fn a_seed_takes_the_shoots_that_fit(#[case] seed: Value, #[case] want: &str) {
    let other = json!({"metadata": {"name": "x"}, "spec": {"seedName": "a"}, "status": {"seedName": "b"}});
    let garden = stored(&seed).with_shoot(other);
    assert_eq!(checked(&garden, "binding", Some(on("a")), on("b"), &json!({})), result(want));
}

#[test]
fn a_shoot_moves_between_seeds_with_backup() {
    let garden = stored(&json!({})).with("seeds.core.gardener.cloud", json!({"metadata": {"name": "a"}}));
    let want = "cannot change seed name because backup is not configured for old seed \"a\"";
    assert_eq!(checked(&garden, "binding", Some(on("a")), on("b"), &json!({})), result(want));
    let want =
        "Internal error occurred: could not find referenced seed: seed.core.gardener.cloud \"o\" not found";
    let moved = checked(&garden, "binding", Some(on("o")), on("b"), &json!({}));
    assert_eq!(moved, (500, want.to_owned()));
}

#[rstest]
#[case::no_selector(json!({}), 0, "")]
#[case::matches(json!({"matchLabels": {"env": "dev"}, "providerTypes": ["x", "local"]}), 0, "")]
#[case::any_provider(json!({"providerTypes": ["*"]}), 0, "")]
#[case::labels(
    json!({"matchLabels": {"env": "live"}}),
    403,
    "cannot schedule shoot 'app' on seed 'b' because the seed selector of cloud profile 'local' is not matching the \
     labels of the seed",
)]
#[case::providers(
    json!({"providerTypes": ["x"]}),
    403,
    "cannot schedule shoot 'app' on seed 'b' because none of the provider types in the seed selector of cloud profile \
     'local' is matching the provider type of the seed",
)]
#[case::invalid(
    json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "k", "operator": "Foo", "values": ["v"]}]}),
    500,
    "Internal error occurred: label selector conversion failed: {map[a:b] [{k Foo [v]}]} for seedSelector: \"Foo\" is \
     not a valid label selector operator",
)]
fn the_profile_selects_seeds(#[case] selector: Value, #[case] code: u16, #[case] want: &str) {
    let garden = stored(&json!({"metadata": {"labels": {"env": "dev"}}}));
    let selector = if selector == json!({}) { Value::Null } else { selector };
    let profile = json!({"spec": {"seedSelector": selector}});
    assert_eq!(checked(&garden, "binding", Some(json!({})), on("b"), &profile), (code, want.to_owned()));
}

const RESCHEDULED: &str = "shoot spec cannot be changed because shoot has been rescheduled to a new seed";

/// GPL-V-03.
#[rstest]
#[case::rescheduled(json!("a"), "Reconcile", "Succeeded", RESCHEDULED)]
#[case::leaves(json!("a"), "Migrate", "Processing", "cannot change shoot spec during Migrate operation that is in \
    state Processing")]
#[case::left(
    Value::Null,
    "Migrate",
    "Succeeded",
    "cannot change shoot spec during Migrate operation that is in state Succeeded"
)]
#[case::arrives(
    Value::Null,
    "Restore",
    "Pending",
    "cannot change shoot spec during Restore operation that is in state Pending"
)]
#[case::arrives_again(json!("b"), "Restore", "Error", "cannot change shoot spec during Restore operation that is in \
    state Error")]
#[case::arrived(json!("b"), "Restore", "Succeeded", "")]
fn a_shoot_on_its_way_keeps_its_spec(
    #[case] seed: Value,
    #[case] type_: &str,
    #[case] state: &str,
    #[case] want: &str,
) {
    let last = json!({"type": type_, "state": state});
    let status = json!({"status": {"seedName": seed, "lastOperation": last}});
    let old = on("b");
    let new = merged(&merged(&old, &json!({"spec": {"purpose": "x"}})), &status);
    let garden = stored(&json!({}));
    assert_eq!(checked(&garden, "", Some(old.clone()), new, &json!({})), result(want));
    let unchanged = merged(&old, &status);
    assert_eq!(checked(&garden, "", Some(old), unchanged, &json!({})), result(""));
}

#[rstest]
#[case::two("node", json!(["x"]), "")]
#[case::three("zone", json!(["x", "y", "z"]), "")]
#[case::less(
    "zone",
    json!(["x", "y"]),
    "cannot schedule shoot 'app' with failure tolerance of zone on seed 'b' with only 2 zones, at least 3 zones are \
        required",
)]
fn a_zone_may_fail_where_there_are_three(#[case] tolerance: &str, #[case] zones: Value, #[case] want: &str) {
    let garden = stored(&json!({"spec": {"provider": {"zones": zones}}}));
    let availability = json!({"failureTolerance": {"type": tolerance}});
    let shoot = json!({"spec": {"seedName": "b", "controlPlane": {"highAvailability": availability}}});
    assert_eq!(checked(&garden, "", Some(shoot.clone()), shoot, &json!({})), result(want));
}

const ANNOTATIONS: &str = "cannot update annotations of shoot 'app' on seed 'b' already marked for deletion: only the \
                           'confirmation.gardener.cloud/deletion' annotation can be changed";

#[rstest]
#[case::labels(json!({"metadata": {"labels": {"a": "b"}}}), "")]
#[case::confirmed(json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "true"}}}), "")]
#[case::annotated(json!({"metadata": {"annotations": {"x": "z"}}}), ANNOTATIONS)]
#[case::unconfirmed(json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": null}}}), ANNOTATIONS)]
#[case::spec(json!({"spec": {"purpose": "x"}}), "cannot update spec of shoot 'app' on seed 'b' already marked for \
    deletion")]
fn on_a_seed_that_is_being_deleted_a_shoot_only_goes(#[case] change: Value, #[case] want: &str) {
    let garden = stored(&json!({"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}}));
    let annotations = json!({"x": "y", "confirmation.gardener.cloud/deletion": "false"});
    let old = json!({"metadata": {"annotations": annotations}, "spec": {"seedName": "b"}});
    let new = merged(&old, &change);
    assert_eq!(checked(&garden, "", Some(old), new, &json!({})), result(want));
}

#[rstest]
#[case::none(json!([]), json!([]), true)]
#[case::any_value(json!([{"key": "a"}]), json!([{"key": "a", "value": "x"}]), true)]
#[case::same_value(json!([{"key": "a", "value": "x"}]), json!([{"key": "a", "value": "x"}]), true)]
#[case::other_value(json!([{"key": "a", "value": "x"}]), json!([{"key": "a"}]), false)]
#[case::other_key(json!([{"key": "a"}]), json!([{"key": "b"}]), false)]
#[case::less(json!([{"key": "a"}, {"key": "a"}]), json!([{"key": "a"}]), false)]
fn taints_are_tolerated(#[case] taints: Value, #[case] tolerations: Value, #[case] want: bool) {
    let seed: Seed = read(json!({"spec": {"taints": taints}}));
    let shoot: Shoot = read(json!({"spec": {"tolerations": tolerations}}));
    assert_eq!(are_tolerated(&seed, &shoot), want);
}
