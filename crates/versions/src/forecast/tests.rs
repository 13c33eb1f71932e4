//! Forecasts of examples, and comparison with a maintenance every day.

use api::garden::Shoot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const FROM: &str = "2024-01-01T00:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn profile(versions: &Value, images: &Value) -> CloudProfile {
    serde_json::from_value(json!({"spec": {"kubernetes": {"versions": versions}, "machineImages": images}}))
        .unwrap()
}

fn shoot(spec: &Value) -> ShootSpec {
    serde_json::from_value::<Shoot>(json!({"spec": spec})).unwrap().spec
}

fn describe(forecast: &Forecast) -> Vec<String> {
    let step = |step: &Step| {
        format!("{} {:?} {} {} {}", step.at, step.subject, step.from, step.to, step.rule.clause())
    };
    let stuck =
        |stuck: &Stuck| format!("{} stuck: {}", stuck.at, stuck.why.chars().take(46).collect::<String>());
    forecast.steps.iter().map(step).chain(forecast.stuck.iter().map(stuck)).collect()
}

#[test]
fn a_shoot_is_updated_in_its_windows_when_its_versions_expire_until_there_is_no_successor() {
    let versions = json!([
        {"version": "1.25.1", "expirationDate": "2024-02-01T12:00:00Z"},
        {"version": "1.26.1", "expirationDate": "2024-03-01T00:00:00Z"},
        {"version": "1.26.2", "expirationDate": "2024-04-01T22:30:00Z"},
        {"version": "1.27.1", "expirationDate": "2024-05-01T00:00:00Z"},
    ]);
    let maintenance = json!({
        "autoUpdate": {"kubernetesVersion": false, "machineImageVersion": false},
        "timeWindow": {"begin": "220000+0000", "end": "230000+0000"},
    });
    let shoot = shoot(&json!({"kubernetes": {"version": "1.25.1"}, "maintenance": maintenance}));
    let forecast =
        forecast(&shoot, &profile(&versions, &json!([])), time(FROM), time("2025-01-01T00:00:00Z"));
    let want = [
        "2024-02-01T22:00:00Z ControlPlane 1.25.1 1.26.2 GDN-KUB-005",
        "2024-04-01T22:30:00Z ControlPlane 1.26.2 1.27.1 GDN-KUB-005",
        "2024-05-01T22:00:00Z stuck: failed to maintain the control plane's version",
    ];
    assert_eq!(describe(&forecast), want);
    assert_eq!(forecast.last.kubernetes.version.as_deref(), Some("1.27.1"));
}

#[test]
fn a_postponed_update_happens_in_the_next_window() {
    let versions =
        json!([{"version": "1.24.1", "expirationDate": "2023-01-01T00:00:00Z"}, {"version": "1.25.1"}]);
    let shoot = shoot(&json!({"kubernetes": {"version": "1.24.1", "allowPrivilegedContainers": true}}));
    let forecast =
        forecast(&shoot, &profile(&versions, &json!([])), time(FROM), time("2024-02-01T00:00:00Z"));
    assert_eq!(describe(&forecast), ["2024-01-02T00:00:00Z ControlPlane 1.24.1 1.25.1 GDN-KUB-005"]);
}

#[test]
fn images_are_updated_too_and_an_invalid_version_ends_the_forecast() {
    let versions = json!([{"version": "1.27.1"}]);
    let cri = json!([{"name": "containerd"}]);
    let images = json!([{"name": "linux", "versions": [
        {"version": "1.0.0", "expirationDate": "2024-02-01T00:00:00Z", "cri": cri}, {"version": "1.1.0", "cri": cri},
    ]}]);
    let pool = json!({
        "name": "a", "cri": {"name": "containerd"}, "machine": {"image": {"name": "linux", "version": "1.0.0"}},
    });
    let spec = |kubernetes: &str| {
        shoot(&json!({
            "kubernetes": {"version": kubernetes}, "provider": {"workers": [pool]},
            "maintenance": {"autoUpdate": {"kubernetesVersion": false, "machineImageVersion": false}},
        }))
    };
    let profile = profile(&versions, &images);
    let until = time("2024-06-01T00:00:00Z");
    let moved = forecast(&spec("1.27.1"), &profile, time(FROM), until);
    let image = r#"Image { pool: "a", image: "linux" }"#;
    assert_eq!(describe(&moved), [format!("2024-02-01T00:00:00Z {image} 1.0.0 1.1.0 GDN-IMG-001")]);
    let unread = forecast(&spec("1.27.x"), &profile, time(FROM), until);
    assert_eq!(
        describe(&unread),
        ["2024-01-01T00:00:00Z stuck: failed to read the control plane's version \"1."]
    );
}

/// A shoot maintained in each of its daily windows.
fn each_day(spec: &ShootSpec, profile: &CloudProfile, days: i64) -> ShootSpec {
    let mut spec = spec.clone();
    for day in 0..days {
        let at = time(FROM) + SignedDuration::from_hours(24 * day);
        if maintenance::maintain(&mut spec, profile, at).is_err() {
            break;
        }
    }
    spec
}

fn version() -> impl Strategy<Value = Value> {
    let state =
        prop_oneof![Just(None), Just(Some("preview")), Just(Some("supported")), Just(Some("deprecated"))];
    (24_u8..28, 0_u8..4, state, prop::option::of(0_i64..40)).prop_map(|(minor, patch, state, day)| {
        let expires = day.map(|day| (time(FROM) + SignedDuration::from_hours(24 * day)).to_string());
        json!({"version": format!("1.{minor}.{patch}"), "classification": state, "expirationDate": expires})
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn maintenance_in_skipped_windows_would_change_nothing(
        versions in prop::collection::vec(version(), 1..8),
        current in (24_u8..28, 0_u8..4),
        pool in prop::option::of((24_u8..28, 0_u8..4)),
        auto_update in any::<bool>(),
    ) {
        let written = |(minor, patch): (u8, u8)| format!("1.{minor}.{patch}");
        let pool = pool.map(|own| json!({"version": written(own)}));
        let spec = shoot(&json!({
            "kubernetes": {"version": written(current)},
            "provider": {"workers": [{"name": "a", "kubernetes": pool}]},
            "maintenance": {"autoUpdate": {"kubernetesVersion": auto_update, "machineImageVersion": false}},
        }));
        let profile = profile(&json!(versions), &json!([]));
        let until = time(FROM) + SignedDuration::from_hours(24 * 60);
        let forecast = forecast(&spec, &profile, time(FROM), until);
        prop_assert_eq!(forecast.last, each_day(&spec, &profile, 60));
    }
}
