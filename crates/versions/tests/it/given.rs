//! Builds profiles and shoots from short texts.

use api::garden::cloud_profile::{ExpirableVersion, MachineImage, MachineImageVersion};
use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use api::garden::{CloudProfile, Shoot};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The time of the tests.
pub(crate) const NOW: &str = "2024-06-01T00:00:00Z";

pub(crate) fn now() -> Timestamp {
    NOW.parse().expect("given by the test")
}

/// A version in words: `1.27.4`, `1.27.4 preview`, `1.27.4 deprecated expired`, `1.27.4 expires` (later), `1.27.4 now`.
pub(crate) fn version(words: &str) -> ExpirableVersion {
    read(parse_words(words))
}

pub(crate) fn versions(words: &[&str]) -> Vec<ExpirableVersion> {
    words.iter().map(|words| version(words)).collect()
}

/// A version of an image in words, and its other fields; by default it fits amd64 and docker.
pub(crate) fn image_version(words: &str, fits: Value) -> MachineImageVersion {
    let mut version = parse_words(words);
    version["architectures"] = json!(["amd64"]);
    version["cri"] = json!([{"name": "docker"}]);
    for (key, value) in fits.as_object().expect("given by the test") {
        version[key] = value.clone();
    }
    read(version)
}

pub(crate) fn image(name: &str, versions: Vec<MachineImageVersion>) -> MachineImage {
    MachineImage { name: name.to_owned(), versions, ..MachineImage::default() }
}

pub(crate) fn profile(versions: &[&str], images: Vec<MachineImage>) -> CloudProfile {
    let mut profile = CloudProfile::default();
    profile.metadata.name = Some("local".to_owned());
    profile.spec.kubernetes.versions = self::versions(versions);
    profile.spec.machine_images = images;
    profile
}

pub(crate) fn shoot(spec: Value) -> ShootSpec {
    read::<Shoot>(json!({"spec": spec})).spec
}

pub(crate) fn pool(pool: Value) -> Worker {
    read(pool)
}

fn parse_words(words: &str) -> Value {
    let mut words = words.split(' ');
    let mut version = json!({"version": words.next().expect("given by the test")});
    for word in words {
        let (key, value) = match word {
            "expired" => ("expirationDate", "2024-05-31T23:59:59Z"),
            "now" => ("expirationDate", NOW),
            "expires" => ("expirationDate", "2024-06-01T00:00:01Z"),
            state => ("classification", state),
        };
        version[key] = json!(value);
    }
    version
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("given by the test")
}
