//! An update of a CloudProfile must not remove versions that Shoots use.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use api::garden::Shoot;
use api::garden::cloud_profile::CloudProfileSpec;
use webhook::rejection::Rejection;

/// Versions that an update removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    kubernetes: BTreeSet<String>,
    /// Versions by image name.
    images: BTreeMap<String, BTreeSet<String>>,
}

impl Removed {
    /// The versions in `old` that are not in `new`.
    #[must_use]
    pub fn between(old: &CloudProfileSpec, new: &CloudProfileSpec) -> Self {
        let kept: BTreeSet<&str> =
            new.kubernetes.versions.iter().map(|version| version.version.as_str()).collect();
        let kubernetes = old.kubernetes.versions.iter().map(|version| version.version.clone());
        let kubernetes = kubernetes.filter(|version| !kept.contains(version.as_str())).collect();
        let mut images: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for image in &old.machine_images {
            let same = new.machine_images.iter().filter(|other| other.name == image.name);
            let kept: BTreeSet<&str> =
                same.flat_map(|other| &other.versions).map(|version| version.version.as_str()).collect();
            let versions = image.versions.iter().map(|version| version.version.clone());
            let removed = versions.filter(|version| !kept.contains(version.as_str()));
            images.entry(image.name.clone()).or_default().extend(removed);
        }
        images.retain(|_, versions| !versions.is_empty());
        Self { kubernetes, images }
    }

    /// Whether the update removes nothing, so that the users of the profile do not matter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kubernetes.is_empty() && self.images.is_empty()
    }
}

/// Refuses to remove a version that one of the profile's Shoots uses: its version of Kubernetes, that of a pool, or
/// that of a pool's image. A Shoot that is being deleted does not count.
///
/// GDN-CPU-001 to -004.
///
/// # Errors
/// 403 with a line for each use.
pub fn validate(removed: &Removed, profile: &str, shoots: &[Shoot]) -> Result<(), Rejection> {
    let living = shoots.iter().filter(|shoot| {
        shoot.spec.cloud_profile_name == profile && shoot.metadata.deletion_timestamp.is_none()
    });
    let uses: Vec<String> = living.flat_map(|shoot| uses(removed, profile, shoot)).collect();
    if uses.is_empty() { Ok(()) } else { Err(Rejection::forbidden(listed(&uses))) }
}

fn uses(removed: &Removed, profile: &str, shoot: &Shoot) -> Vec<String> {
    let metadata = &shoot.metadata;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let by =
        format!("version is still in use by shoot '{}/{}'", text(&metadata.namespace), text(&metadata.name));
    let kubernetes = |version: &str| {
        format!("unable to delete Kubernetes version {version:?} from CloudProfile {profile:?} - {by}")
    };
    let mut uses = Vec::new();
    let own = shoot.spec.kubernetes.version.as_deref().unwrap_or_default();
    if removed.kubernetes.contains(own) {
        uses.push(kubernetes(own));
    }
    for pool in &shoot.spec.provider.workers {
        let version = pool.kubernetes.as_ref().and_then(|own| own.version.as_deref());
        if let Some(version) = version.filter(|version| removed.kubernetes.contains(*version)) {
            uses.push(format!("{} by worker {:?}", kubernetes(version), pool.name));
        }
        let Some(image) = &pool.machine.image else { continue };
        let version = image.version.as_deref().unwrap_or_default();
        if removed.images.get(&image.name).is_some_and(|versions| versions.contains(version)) {
            uses.push(format!(
                "unable to delete Machine image version '{}/{version}' from CloudProfile {profile:?} - {by} by worker {:?}",
                image.name, pool.name
            ));
        }
    }
    uses
}

/// Several errors as one text, in the original's format.
fn listed(errors: &[String]) -> String {
    let mut text = match errors.len() {
        1 => "1 error occurred:".to_owned(),
        number => format!("{number} errors occurred:"),
    };
    for error in errors {
        // Writing to memory does not fail.
        let _ = write!(text, "\n\t* {error}");
    }
    text.push_str("\n\n");
    text
}
