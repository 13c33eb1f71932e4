//! Forecast of a whole garden: 1,000 shoots, 200 versions, 24 months.

use std::hint::black_box;

use api::garden::CloudProfile;
use api::garden::shoot::ShootSpec;
use criterion::{Criterion, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use versions::forecast::forecast;

const SHOOTS: u32 = 1_000;
const MINORS: u32 = 20;
const PATCHES: u32 = 10;

fn from() -> Timestamp {
    "2024-01-01T00:00:00Z".parse().expect("it is a time")
}

/// Two versions expire each week, the oldest first; the last minor does not expire.
fn profile() -> CloudProfile {
    let version = |number: u32| {
        let at = from() + SignedDuration::from_hours(i64::from(number) * 84);
        let expires = (number < (MINORS - 1) * PATCHES).then(|| at.to_string());
        json!({
            "version": format!("1.{}.{}", 20 + number / PATCHES, number % PATCHES),
            "classification": "supported", "expirationDate": expires, "cri": [{"name": "containerd"}],
        })
    };
    let versions: Vec<Value> = (0..MINORS * PATCHES).map(version).collect();
    let profile = json!({"spec": {
        "kubernetes": {"versions": versions}, "machineImages": [{"name": "linux", "versions": versions}],
    }});
    serde_json::from_value(profile).expect("it is a profile")
}

fn shoot(number: u32) -> ShootSpec {
    let version = |number: u32| {
        let number = number % (MINORS * PATCHES / 2);
        format!("1.{}.{}", 20 + number / PATCHES, number % PATCHES)
    };
    let pool = |name: &str, image: u32| {
        json!({
            "name": name, "cri": {"name": "containerd"},
            "machine": {"image": {"name": "linux", "version": version(image)}},
        })
    };
    let wanted = number.is_multiple_of(2);
    let spec = json!({
        "kubernetes": {"version": version(number)},
        "provider": {"workers": [pool("a", number), pool("b", number / 3)]},
        "maintenance": {
            "autoUpdate": {"kubernetesVersion": wanted, "machineImageVersion": wanted},
            "timeWindow": {"begin": "220000+0100", "end": "230000+0100"},
        },
    });
    serde_json::from_value(spec).expect("it is a shoot")
}

fn garden(criterion: &mut Criterion) {
    let profile = profile();
    let shoots: Vec<ShootSpec> = (0..SHOOTS).map(shoot).collect();
    let until = from() + SignedDuration::from_hours(24 * 730);
    let mut group = criterion.benchmark_group("forecast");
    group.sample_size(10);
    group.bench_function("1,000 shoots, 200 versions, 24 months", |bencher| {
        bencher.iter(|| {
            shoots
                .iter()
                .map(|shoot| forecast(black_box(shoot), &profile, from(), until).steps.len())
                .sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, garden);
criterion_main!(benches);
