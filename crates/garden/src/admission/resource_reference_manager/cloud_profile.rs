//! CloudProfiles: versions that Shoots use are not removed.

use std::collections::{BTreeMap, BTreeSet};

use api::garden::{CloudProfile, Shoot};
use serde_json::Value;
use webhook::field::quote;
use webhook::rejection::Rejection;

use crate::admission::lookup::{SHOOTS, is_terminating};
use crate::admission::{Attributes, messages};
use crate::webhooks::reading;

const KIND: &str = "CloudProfile";

/// The versions that an update removes.
struct Removed {
    kubernetes: BTreeSet<String>,
    images: BTreeMap<String, BTreeSet<String>>,
}

/// All uses are listed, by Shoot; the original's order is random. As in the original, a pool's own version of Kubernetes does
/// not count: GPL-RRM-070 to -073.
pub(super) fn check(
    attributes: &Attributes<'_>,
    old: Option<&Value>,
    profile: &Value,
) -> Result<(), Rejection> {
    let Some(old) = old else { return Ok(()) };
    let new: CloudProfile = reading::read(KIND, profile)?;
    let removed = Removed::between(&reading::read(KIND, old)?, &new);
    let mut errors = Vec::new();
    for object in attributes.objects.list(SHOOTS) {
        let shoot: Shoot = reading::read("Shoot", &object)?;
        if Some(&shoot.spec.cloud_profile_name) == new.metadata.name.as_ref() && !is_terminating(&object) {
            errors.extend(removed.uses(&shoot));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(messages::plain(messages::listed(&errors))) }
}

impl Removed {
    fn between(old: &CloudProfile, new: &CloudProfile) -> Self {
        let versions = |profile: &CloudProfile| -> BTreeSet<String> {
            profile.spec.kubernetes.versions.iter().map(|version| version.version.clone()).collect()
        };
        // Of several images of one name, the last one counts.
        let of_image = |profile: &CloudProfile| -> BTreeMap<String, BTreeSet<String>> {
            let images = profile.spec.machine_images.iter();
            let versions = images.map(|image| {
                let versions = image.versions.iter().map(|version| version.version.clone());
                (image.name.clone(), versions.collect())
            });
            versions.collect()
        };
        let kept = of_image(new);
        let mut images = BTreeMap::<String, BTreeSet<String>>::new();
        for image in &old.spec.machine_images {
            let before: BTreeSet<String> =
                image.versions.iter().map(|version| version.version.clone()).collect();
            match kept.get(&image.name) {
                Some(kept) => drop(images.insert(image.name.clone(), &before - kept)),
                None => images.entry(image.name.clone()).or_default().extend(before),
            }
        }
        Self { kubernetes: &versions(old) - &versions(new), images }
    }

    /// What a Shoot uses of the removed versions: Kubernetes first, then images, by pool.
    fn uses(&self, shoot: &Shoot) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (namespace, name) = (text(&shoot.metadata.namespace), text(&shoot.metadata.name));
        let profile = quote(&shoot.spec.cloud_profile_name);
        let used =
            format!("from CloudProfile {profile} - version is still in use by shoot '{namespace}/{name}'");
        let mut found = Vec::new();
        let version = text(&shoot.spec.kubernetes.version);
        if self.kubernetes.contains(&version) {
            found.push(format!("unable to delete Kubernetes version {} {used}", quote(&version)));
        }
        for worker in &shoot.spec.provider.workers {
            let Some(image) = &worker.machine.image else { continue };
            let version = text(&image.version);
            if self.images.get(&image.name).is_some_and(|removed| removed.contains(&version)) {
                let (image, worker) = (&image.name, quote(&worker.name));
                found.push(format!(
                    "unable to delete Machine image version '{image}/{version}' {used} by worker {worker}"
                ));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;
    use webhook::review::Operation;

    use super::super::admit;
    use super::*;
    use crate::admission::testing::{TestGarden, merge};

    fn profile(kubernetes: &[&str], images: &[(&str, &[&str])]) -> Value {
        let versions = |versions: &[&str]| -> Vec<Value> {
            versions.iter().map(|version| json!({"version": version})).collect()
        };
        let images: Vec<Value> =
            images.iter().map(|(name, of)| json!({"name": name, "versions": versions(of)})).collect();
        let spec = json!({"kubernetes": {"versions": versions(kubernetes)}, "machineImages": images});
        json!({"metadata": {"name": "p"}, "spec": spec})
    }

    fn shoot(change: &Value) -> Value {
        let image = |name: &str, image: &str, version: &str| {
            let image = json!({"name": image, "version": version});
            json!({"name": name, "machine": {"image": image}})
        };
        let mut shoot = json!({
            "metadata": {"name": "app", "namespace": "n"},
            "spec": {
                "cloudProfileName": "p", "kubernetes": {"version": "1.27.1"},
                "provider": {"workers": [image("a", "linux", "1"), image("b", "linux", "2"), {"name": "c"},
                    image("d", "foreign", "1")]},
            },
        });
        merge(&mut shoot, change);
        shoot
    }

    fn refusal(shoot: Value, new: &Value) -> Option<String> {
        let garden = TestGarden::default().with(SHOOTS, shoot);
        let old = profile(&["1.27.1", "1.26.1"], &[("linux", &["1", "2", "3"]), ("unused", &["1"])]);
        let mut object = new.clone();
        let attributes = Attributes { old: Some(&old), ..garden.attributes(Operation::Update, KIND, new) };
        admit(&attributes, Some(&mut object)).err().map(|rejection| rejection.message)
    }

    const KUBERNETES: &str = "unable to delete Kubernetes version \"1.27.1\" from CloudProfile \"p\" - version is still in use by \
                              shoot 'n/app'";
    const IMAGE_1: &str = "unable to delete Machine image version 'linux/1' from CloudProfile \"p\" - version is still in use by \
                           shoot 'n/app' by worker \"a\"";
    const IMAGE_2: &str = "unable to delete Machine image version 'linux/2' from CloudProfile \"p\" - version is still in use by \
                           shoot 'n/app' by worker \"b\"";

    #[rstest]
    #[case::unused_ones(profile(&["1.27.1"], &[("linux", &["1", "2"])]), &[])]
    #[case::kubernetes(profile(&["1.26.1"], &[("linux", &["1", "2"])]), &[KUBERNETES])]
    #[case::one_version(profile(&["1.27.1"], &[("linux", &["2"])]), &[IMAGE_1])]
    #[case::the_last_of_a_name_counts(profile(&["1.27.1"], &[("linux", &["1"]), ("linux", &["2"])]), &[IMAGE_1])]
    #[case::a_whole_image(profile(&["1.27.1"], &[]), &[IMAGE_1, IMAGE_2])]
    #[case::all(profile(&[], &[]), &[KUBERNETES, IMAGE_1, IMAGE_2])]
    fn used_versions_stay(#[case] new: Value, #[case] want: &[&str]) {
        let errors: Vec<String> = want.iter().map(ToString::to_string).collect();
        let message =
            format!("cloudprofiles.core.gardener.cloud \"p\" is forbidden: {}", messages::listed(&errors));
        assert_eq!(refusal(shoot(&json!({})), &new), (!want.is_empty()).then_some(message));
        assert_eq!(refusal(shoot(&json!({"spec": {"cloudProfileName": "other"}})), &new), None);
        assert_eq!(
            refusal(shoot(&json!({"metadata": {"deletionTimestamp": "2024-06-01T00:00:00Z"}})), &new),
            None
        );
        let mut terminating = new.clone();
        terminating["metadata"]["deletionTimestamp"] = json!("t");
        assert_eq!(refusal(shoot(&json!({})), &terminating), None);
    }

    #[test]
    fn a_pool_s_own_version_does_not_count() {
        let pool = json!({"name": "a", "kubernetes": {"version": "1.26.1"}});
        let shoot = shoot(&json!({"spec": {"provider": {"workers": [pool]}}}));
        assert_eq!(refusal(shoot, &profile(&["1.27.1"], &[])), None);
    }
}
