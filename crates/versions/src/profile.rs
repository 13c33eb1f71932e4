//! Finds problems of a profile before they affect shoots.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use api::garden::CloudProfile;
use api::garden::cloud_profile::{Classification, ExpirableVersion, MachineImage};
use api::garden::shoot::ShootSpec;
use formats::version::Version;
use jiff::Timestamp;

use crate::offer::Offered;
use crate::{image, kubernetes};

/// A problem of a profile; prints one sentence with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The version: `kubernetes 1.27.4`, `machine image gardenlinux 934.8.0`.
    pub subject: String,
    /// The problem.
    pub problem: Problem,
}

/// A problem of a version of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is not a valid version.
    Unreadable,
    /// When it expires, maintenance has no version to update to.
    NoPath(Timestamp),
    /// It is the highest version that is not a preview, and it expires.
    HighestExpires(Timestamp),
    /// Another patch of its minor is supported as well.
    TwoSupported(String),
    /// It is deprecated and never expires.
    DeprecatedForever,
    /// It names no container runtime interface.
    NoRuntime,
    /// This number of shoots has it, but the profile does not.
    RemovedInUse(usize),
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = &self.subject;
        match &self.problem {
            Problem::Unreadable => {
                write!(formatter, "{subject} is not a valid version; write it as major.minor.patch")
            }
            Problem::NoPath(at) => write!(
                formatter,
                "{subject} expires at {at}, and there is no version to which its shoots could be updated; add a later \
                 version that is neither preview nor expired, or set a later expiration date"
            ),
            Problem::HighestExpires(at) => write!(
                formatter,
                "{subject} is the highest version that is not a preview, and expires at {at}; add a successor before, or remove \
                 the expiration date"
            ),
            Problem::TwoSupported(other) => write!(
                formatter,
                "{subject} is supported, and so is the later patch {other}; deprecate the earlier one, so that shoots leave it"
            ),
            Problem::DeprecatedForever => write!(
                formatter,
                "{subject} is deprecated and never expires, so that no shoot has to leave it; set an expiration date"
            ),
            Problem::NoRuntime => write!(
                formatter,
                "{subject} names no container runtime interface and therefore fits only docker; add cri with containerd"
            ),
            Problem::RemovedInUse(shoots) => write!(
                formatter,
                "{subject} is not in the profile, but {shoots} {} it; the next maintenance forces them to another version, so add it \
                 again with an expiration date",
                if *shoots == 1 { "shoot has" } else { "shoots have" }
            ),
        }
    }
}

/// The problems of a profile, and of versions that the shoots use.
#[must_use]
pub fn findings(profile: &CloudProfile, shoots: &[&ShootSpec]) -> Vec<Finding> {
    let versions = &profile.spec.kubernetes.versions;
    let mut findings = version_findings(
        versions,
        |known| format!("kubernetes {}", known.version),
        |known, at| kubernetes::target(&known.version, false, versions, at).is_err(),
    );
    findings.extend(two_supported(versions));
    findings.extend(profile.spec.machine_images.iter().flat_map(of_image));
    findings.extend(removed(profile, shoots));
    findings
}

/// Problems of versions of Kubernetes as well as of images. `is_stuck` returns whether a version has no successor at a time.
fn version_findings<T: Offered>(
    versions: &[T],
    subject: impl Fn(&T) -> String,
    is_stuck: impl Fn(&T, Timestamp) -> bool,
) -> Vec<Finding> {
    let read: Vec<(Option<Version>, &T)> =
        versions.iter().map(|known| (Version::parse(known.version()).ok(), known)).collect();
    let usable = read.iter().filter(|(_, known)| !known.is_preview());
    let highest = usable.filter_map(|(version, _)| version.as_ref()).max();
    let mut findings = Vec::new();
    for (version, known) in &read {
        let mut found = |problem| findings.push(Finding { subject: subject(known), problem });
        let Some(version) = version else {
            found(Problem::Unreadable);
            continue;
        };
        let is_highest = Some(version) == highest && !known.is_preview();
        match known.expires() {
            Some(at) if is_highest => found(Problem::HighestExpires(at)),
            Some(at) if is_stuck(known, at) => found(Problem::NoPath(at)),
            None if known.is_deprecated() => found(Problem::DeprecatedForever),
            _ => {}
        }
    }
    findings
}

fn two_supported(versions: &[ExpirableVersion]) -> Vec<Finding> {
    let supported = versions.iter().filter(|known| known.classification == Some(Classification::Supported));
    let mut supported: Vec<(Version, &str)> = supported
        .filter_map(|known| Some((Version::parse(&known.version).ok()?, known.version.as_str())))
        .collect();
    supported.sort_by(|(one, _), (other, _)| one.cmp(other));
    let pairs = supported.windows(2).filter(|pair| pair[0].0.is_same_minor(&pair[1].0));
    pairs
        .map(|pair| Finding {
            subject: format!("kubernetes {}", pair[0].1),
            problem: Problem::TwoSupported(pair[1].1.to_owned()),
        })
        .collect()
}

fn of_image(image: &MachineImage) -> Vec<Finding> {
    let subject = |version: &str| format!("machine image {} {version}", image.name);
    let is_stuck = |known: &str, at: Timestamp| {
        let Ok(current) = Version::parse(known) else { return false };
        let usable = image.versions.iter().filter(|other| !other.is_preview() && !other.is_expired(at));
        !usable.filter_map(|other| Version::parse(&other.version).ok()).any(|other| other > current)
    };
    let mut findings = version_findings(
        &image.versions,
        |known| subject(&known.version),
        |known, at| is_stuck(&known.version, at),
    );
    let bare = image.versions.iter().filter(|known| known.cri.is_empty());
    findings
        .extend(bare.map(|known| Finding { subject: subject(&known.version), problem: Problem::NoRuntime }));
    findings
}

/// Versions that shoots have but the profile does not.
fn removed(profile: &CloudProfile, shoots: &[&ShootSpec]) -> Vec<Finding> {
    let mut missing = BTreeMap::<String, usize>::new();
    for shoot in shoots {
        let gone = versions_of(shoot).into_iter().filter(|(_, is_known)| !is_known(profile));
        for subject in gone.map(|(subject, _)| subject).collect::<BTreeSet<_>>() {
            *missing.entry(subject).or_default() += 1;
        }
    }
    let finding = |(subject, count)| Finding { subject, problem: Problem::RemovedInUse(count) };
    missing.into_iter().map(finding).collect()
}

/// Whether a profile has a version.
type KnownIn<'a> = Box<dyn Fn(&CloudProfile) -> bool + 'a>;

/// The versions of a shoot, as [`Finding::subject`] names them, and whether a profile has them.
fn versions_of(shoot: &ShootSpec) -> Vec<(String, KnownIn<'_>)> {
    let pools = shoot.provider.workers.iter();
    let own = pools.clone().filter_map(|pool| pool.kubernetes.as_ref()?.version.as_deref());
    let kubernetes = own.chain(shoot.kubernetes.version.as_deref()).map(|version| {
        let is_known = move |profile: &CloudProfile| {
            !matches!(kubernetes::known(version, &profile.spec.kubernetes.versions), Ok(None))
        };
        (format!("kubernetes {version}"), Box::new(is_known) as KnownIn<'_>)
    });
    let images = pools.filter_map(|pool| pool.machine.image.as_ref()).map(|named| {
        let version = named.version.as_deref().unwrap_or_default();
        let is_known = move |profile: &CloudProfile| image::known(named, profile).is_some();
        (format!("machine image {} {version}", named.name), Box::new(is_known) as KnownIn<'_>)
    });
    kubernetes.chain(images).collect()
}

impl Finding {
    /// How many of the shoots have the version.
    #[must_use]
    pub fn concerned(&self, shoots: &[&ShootSpec]) -> usize {
        let has =
            |shoot: &&&ShootSpec| versions_of(shoot).iter().any(|(subject, _)| *subject == self.subject);
        shoots.iter().filter(has).count()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn messages(profile: &Value, shoots: &[Value]) -> Vec<String> {
        let profile: CloudProfile = serde_json::from_value(json!({"spec": profile})).unwrap();
        let shoots: Vec<ShootSpec> =
            shoots.iter().map(|spec| serde_json::from_value(spec.clone()).unwrap()).collect();
        let shoots: Vec<&ShootSpec> = shoots.iter().collect();
        findings(&profile, &shoots).iter().map(ToString::to_string).collect()
    }

    #[rstest]
    #[case::nothing(json!([{"version": "1.27.4", "classification": "supported"}]), &[])]
    #[case::no_version(json!([{"version": "x"}]), &["kubernetes x is not a valid version"])]
    #[case::no_path(
        json!([{"version": "1.25.1", "expirationDate": "2024-01-01T00:00:00Z"}, {"version": "1.27.4"}]),
        &["kubernetes 1.25.1 expires at 2024-01-01T00:00:00Z, and there is no version"],
    )]
    #[case::a_path(json!([{"version": "1.26.1", "expirationDate": "2024-01-01T00:00:00Z"}, {"version": "1.27.4"}]), &[])]
    #[case::the_highest(
        json!([{"version": "1.27.4", "expirationDate": "2024-01-01T00:00:00Z"}, {"version": "1.28.0", "classification": "preview"}]),
        &["kubernetes 1.27.4 is the highest version that is not a preview, and expires at 2024-01-01T00:00:00Z"],
    )]
    #[case::two(
        json!([{"version": "1.27.10", "classification": "supported"}, {"version": "1.27.4", "classification": "supported"}]),
        &["kubernetes 1.27.4 is supported, and so is the later patch 1.27.10"],
    )]
    #[case::deprecated(
        json!([{"version": "1.27.3", "classification": "deprecated"}, {"version": "1.27.4"}]),
        &["kubernetes 1.27.3 is deprecated and never expires"],
    )]
    fn versions_of_kubernetes(#[case] versions: Value, #[case] want: &[&str]) {
        let messages = messages(&json!({"kubernetes": {"versions": versions}}), &[]);
        assert_eq!(messages.len(), want.len(), "{messages:?}");
        for (message, want) in messages.iter().zip(want) {
            assert!(message.starts_with(want), "{message}");
        }
    }

    #[test]
    fn images_and_versions_in_use() {
        let image = json!({"name": "linux", "versions": [
            {"version": "1.0.0", "expirationDate": "2024-01-01T00:00:00Z", "cri": [{"name": "containerd"}]},
            {"version": "2.0.0", "classification": "preview"},
            {"version": "1.1.0", "expirationDate": "2023-01-01T00:00:00Z", "cri": [{"name": "containerd"}]},
        ]});
        let shoot = json!({"kubernetes": {"version": "1.26.0"}, "provider": {"workers": [
            {"name": "a", "machine": {"image": {"name": "linux", "version": "0.9.0"}}},
            {"name": "b", "machine": {"image": {"name": "linux", "version": "0.9.0"}}},
        ]}});
        let messages = messages(&json!({"machineImages": [image]}), &[shoot.clone(), shoot]);
        let want = [
            "machine image linux 1.0.0 expires at 2024-01-01T00:00:00Z, and there is no version",
            "machine image linux 1.1.0 is the highest version that is not a preview, and expires at 2023-01-01T00:00:00Z",
            "machine image linux 2.0.0 names no container runtime interface",
            "kubernetes 1.26.0 is not in the profile, but 2 shoots have it",
            "machine image linux 0.9.0 is not in the profile, but 2 shoots have it",
        ];
        assert_eq!(messages.len(), want.len(), "{messages:?}");
        for (message, want) in messages.iter().zip(want) {
            assert!(message.starts_with(want), "{message}");
        }
    }

    #[test]
    fn shoots_with_the_version_of_a_finding_are_counted() {
        let pool = json!({"name": "a", "kubernetes": {"version": "1.25.1"}, "machine": {"image": {"name": "linux", "version": "1.0.0"}}});
        let shoots: Vec<ShootSpec> = [
            json!({"kubernetes": {"version": "1.25.1"}}),
            json!({"kubernetes": {"version": "1.26.1"}, "provider": {"workers": [pool]}}),
            json!({"kubernetes": {"version": "1.26.1"}}),
        ]
        .map(|spec| serde_json::from_value(spec).unwrap())
        .to_vec();
        let shoots: Vec<&ShootSpec> = shoots.iter().collect();
        let count = |subject: &str| {
            Finding { subject: subject.to_owned(), problem: Problem::Unreadable }.concerned(&shoots)
        };
        let subjects = ["kubernetes 1.25.1", "machine image linux 1.0.0", "kubernetes 1.27.0"];
        assert_eq!(subjects.map(count), [2, 1, 0]);
    }
}
