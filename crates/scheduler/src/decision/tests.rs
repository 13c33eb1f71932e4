//! Decisions as rows, and laws that hold for all of them.

use serde_json::{Value, json};

use super::*;

fn seeds(seeds: &[Value]) -> Vec<Arc<Seed>> {
    seeds.iter().map(|seed| Arc::new(formats::yaml::from_str(&seed.to_string()).unwrap())).collect()
}

/// A ready Seed of the provider `local`.
fn seed(name: &str, region: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"provider": {"type": "local", "region": region}, "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"}},
        "status": {"lastOperation": {}, "conditions": [{"type": "GardenletReady", "status": "True"}]},
    })
}

fn shoot(spec: &Value) -> Shoot {
    let mut whole = json!({"cloudProfileName": "local", "region": "eu-1", "provider": {"type": "local"}});
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    formats::yaml::from_str(&json!({"spec": whole}).to_string()).unwrap()
}

fn profile() -> CloudProfile {
    formats::yaml::from_str("{metadata: {name: local}}").unwrap()
}

/// The chosen Seed or the error, and the other Seeds with their filters.
fn run(seeds: &[Arc<Seed>], shoot: &Shoot, usage: &Usage) -> (Result<String, String>, Vec<(String, Filter)>) {
    let profile = profile();
    let decision = decide(&Inputs {
        shoot,
        seeds,
        usage,
        cloud_profile: Some(&profile),
        region_configs: &[],
        strategy: Strategy::SameRegion,
    });
    let excluded = decision.excluded.iter().map(|exclusion| (exclusion.seed.to_owned(), exclusion.filter));
    let seed = decision.seed.map(|seed| name(seed).to_owned()).map_err(|error| error.to_string());
    (seed, excluded.collect())
}

#[test]
fn each_seed_that_is_not_chosen_is_named_with_the_filter_that_excluded_it() {
    let mut unready = seed("a-unready", "eu-1");
    unready["status"]["conditions"] = json!([]);
    let mut foreign = seed("b-foreign", "eu-1");
    foreign["spec"]["provider"]["type"] = "other".into();
    let mut tainted = seed("c-tainted", "eu-1");
    tainted["spec"]["taints"] = json!([{"key": "a"}]);
    let mut full = seed("d-full", "eu-1");
    full["status"]["allocatable"] = json!({"shoots": "0"});
    let mut overlapping = seed("e-overlapping", "eu-1");
    overlapping["spec"]["networks"]["nodes"] = "10.9.0.0/16".into();
    let all = seeds(&[
        unready,
        foreign,
        tainted,
        full,
        overlapping,
        seed("f-far", "eu-2"),
        seed("g-used", "eu-1"),
        seed("h-best", "eu-1"),
    ]);
    let mut usage = Usage::default();
    usage.observe(("garden-dev", "other"), Some("g-used"), None);
    let app = shoot(
        &json!({"networking": {"nodes": "10.9.0.0/24", "services": "10.4.0.0/16", "pods": "10.3.0.0/16"}}),
    );
    let want = [
        ("a-unready", Filter::Gardenlet),
        ("b-foreign", Filter::Provider),
        ("c-tainted", Filter::Taints),
        ("d-full", Filter::Capacity),
        ("e-overlapping", Filter::Networks),
        ("f-far", Filter::SameRegion),
        ("g-used", Filter::LeastUsed),
    ];
    let want = want.map(|(name, filter)| (name.to_owned(), filter)).to_vec();
    assert_eq!(run(&all, &app, &usage), (Ok("h-best".to_owned()), want));
}

#[test]
fn a_missing_cloud_profile_is_reported_before_any_seed_is_looked_at() {
    let (app, usage) = (shoot(&json!({})), Usage::default());
    let decision = decide(&Inputs {
        shoot: &app,
        seeds: &[],
        usage: &usage,
        cloud_profile: None,
        region_configs: &[],
        strategy: Strategy::SameRegion,
    });
    let error = decision.seed.unwrap_err().to_string();
    assert_eq!(error, "CloudProfile.core.gardener.cloud \"local\" not found");
}

#[test]
fn without_the_chosen_seed_one_of_the_other_candidates_is_chosen() {
    let mut all = seeds(&["c", "a", "b"].map(|name| seed(name, "eu-1")));
    let (app, mut usage) = (shoot(&json!({})), Usage::default());
    usage.observe(("garden-dev", "other"), Some("c"), None);
    let mut chosen = Vec::new();
    while !all.is_empty() {
        let (seed, _) = run(&all, &app, &usage);
        let seed = seed.unwrap();
        all.retain(|other| name(other) != seed);
        chosen.push(seed);
    }
    assert_eq!(chosen, ["a", "b", "c"]);
    let (none, _) = run(&all, &app, &usage);
    let want = "none of the 0 seeds is valid for scheduling (not deleting, visible and ready)";
    assert_eq!(none, Err(want.to_owned()));
}

#[test]
fn seeds_that_cannot_take_the_shoot_are_listed_with_their_first_reason() {
    let mut tainted = seed("a", "eu-1");
    tainted["spec"]["taints"] = json!([{"key": "a"}]);
    tainted["status"]["allocatable"] = json!({"shoots": "0"});
    let mut full = seed("b", "eu-1");
    full["status"]["allocatable"] = json!({"shoots": "0"});
    let (seed, _) = run(&seeds(&[tainted, full]), &shoot(&json!({})), &Usage::default());
    let want = "0/2 seed cluster candidate(s) are eligible for scheduling: {a => shoot does not tolerate the seed's \
                taints, b => seed does not have available capacity for shoots}";
    assert_eq!(seed, Err(want.to_owned()));
}

#[test]
fn a_limit_in_fractions_admits_as_many_as_its_next_whole_number() {
    let table = [
        ("1500m", 1, true),
        ("1500m", 2, false),
        ("2", 1, true),
        ("2", 2, false),
        ("1k", 999, true),
        ("-1", 0, false),
    ];
    for (limit, used, want) in table {
        let mut limited = seed("a", "eu-1");
        limited["status"]["allocatable"] = json!({"shoots": limit});
        let mut usage = Usage::default();
        for number in 0..used {
            usage.observe(("garden-dev", &number.to_string()), Some("a"), None);
        }
        let (seed, _) = run(&seeds(&[limited]), &shoot(&json!({})), &usage);
        assert_eq!(seed.is_ok(), want, "{used} of {limit}");
    }
}
