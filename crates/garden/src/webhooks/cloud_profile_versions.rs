//! The Kubernetes versions of a CloudProfile: format, uniqueness and expiration.

use std::collections::BTreeSet;

use api::garden::cloud_profile::{Classification, CloudProfileSpec, ExpirableVersion};
use formats::version::Version;
use jiff::Timestamp;
use versions::offer::Offered;
use webhook::field::{Error, Path, Shown};

use super::field_errors::FieldErrors;

const CLASSIFICATIONS: [&str; 3] = ["deprecated", "preview", "supported"];
const FORM: &str = r"all Kubernetes versions must match the regex ^([0-9]+\.){2}[0-9]+$";

/// The errors of the Kubernetes versions.
///
/// GDN-CPV-001 to -006.
#[must_use]
pub fn validate(offered: &[ExpirableVersion]) -> FieldErrors {
    let settings = Path::new("spec").child("kubernetes");
    let at = settings.child("versions");
    let mut errors = Vec::new();
    if offered.is_empty() {
        errors.push(Error::required(&at, "must provide at least one Kubernetes version"));
    }
    match latest(offered) {
        None => {
            let text = "failed to determine the latest kubernetes version from the cloud profile";
            errors.push(Error::invalid(&at, "", text));
        }
        Some(latest) => {
            if let Some(expires) = latest.expires() {
                let text = format!(
                    "expiration date of latest kubernetes version ('{}') must not be set",
                    latest.version
                );
                let at = settings.child("versions[]").child("expirationDate");
                errors.push(Error::invalid(&at, date(expires), &text));
            }
        }
    }
    let mut found = BTreeSet::new();
    for (index, version) in offered.iter().enumerate() {
        let at = at.index(index);
        if !is_plain(&version.version) {
            errors.push(Error::invalid(&at, go_value(version), FORM));
        } else if !found.insert(&version.version) {
            errors.push(Error::duplicate(&at.child("version"), &version.version));
        }
        errors.extend(classification(version, offered, &at));
    }
    errors
}

/// A new version must not be expired; an existing one may expire at any time: GDN-CPV-007 to -009.
#[must_use]
pub fn validate_dates(
    spec: &CloudProfileSpec,
    old: Option<&CloudProfileSpec>,
    now: Timestamp,
) -> FieldErrors {
    let of_kubernetes = old.map(|old| texts(&old.kubernetes.versions));
    let at = Path::new("spec").child("kubernetes").child("versions");
    let mut errors = dates(&spec.kubernetes.versions, of_kubernetes.as_ref(), now, &at);
    for (index, image) in spec.machine_images.iter().enumerate() {
        let before = old.map(|old| old.machine_images.iter().find(|before| before.name == image.name));
        let before = match before {
            // Versions of a new image are not checked.
            Some(None) => continue,
            Some(Some(before)) => Some(texts(&before.versions)),
            None => None,
        };
        let at = Path::new("spec").child("machineImages").index(index).child("versions");
        errors.extend(dates(&image.versions, before.as_ref(), now, &at));
    }
    errors
}

/// The classification is one of three, and each minor has one supported patch: GDN-CPV-005, GDN-CPV-006, GDN-CPI-005.
pub(super) fn classification<T: Offered>(version: &T, all: &[T], at: &Path) -> FieldErrors {
    match version.classification() {
        Some(Classification::Other(text)) => {
            vec![Error::not_supported(&at.child("classification"), text, &CLASSIFICATIONS)]
        }
        Some(Classification::Supported) if has_sibling(version, all) => {
            let text = format!(
                "unable to add version {:?} with classification \"supported\". Only one \"supported\" version is allowed \
                 per minor version",
                version.version()
            );
            vec![Error::forbidden(at, &text)]
        }
        _ => Vec::new(),
    }
}

/// Whether another version of the same minor is supported; false if one of them cannot be parsed.
fn has_sibling<T: Offered>(version: &T, all: &[T]) -> bool {
    let Ok(own) = Version::parse(version.version()) else { return false };
    let supported = all.iter().filter(|other| other.classification() == Some(&Classification::Supported));
    let others: Result<Vec<Version>, _> = supported.map(|other| Version::parse(other.version())).collect();
    others.is_ok_and(|others| others.iter().any(|other| *other != own && other.is_same_minor(&own)))
}

/// The highest version, including previews; `None` if there is none, or one cannot be parsed.
fn latest(offered: &[ExpirableVersion]) -> Option<&ExpirableVersion> {
    let mut latest: Option<(Version, &ExpirableVersion)> = None;
    for known in offered {
        let version = Version::parse(&known.version).ok()?;
        if latest.as_ref().is_none_or(|(highest, _)| version > *highest) {
            latest = Some((version, known));
        }
    }
    latest.map(|(_, known)| known)
}

fn dates<T: Offered>(
    offered: &[T],
    before: Option<&BTreeSet<String>>,
    now: Timestamp,
    at: &Path,
) -> FieldErrors {
    let is_new = |version: &T| before.is_none_or(|before| !before.contains(version.version()));
    let added = offered.iter().enumerate().filter(|(_, version)| is_new(version) && version.is_over(now));
    let refused = added.map(|(index, version)| {
        let text = format!(
            "unable to create version {:?}. Creating a version with expiration date in the past is not allowed",
            version.version()
        );
        Error::forbidden(&at.index(index), &text)
    });
    refused.collect()
}

fn texts<T: Offered>(offered: &[T]) -> BTreeSet<String> {
    offered.iter().map(|version| version.version().to_owned()).collect()
}

/// Three numbers with dots between them.
fn is_plain(version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_number)
}

/// A time as Go prints it.
fn date(time: Timestamp) -> Shown {
    Shown::verbatim(time.strftime("%Y-%m-%d %H:%M:%S +0000 UTC"))
}

/// A version as Go prints it, in the garden's time zone: its date as the call that constructs it. For a pointer to a
/// classification Go prints the address.
fn go_value(version: &ExpirableVersion) -> Shown {
    let date = version.expires().map_or_else(
        || "<nil>".to_owned(),
        |time| time.strftime("time.Date(%Y, time.%B, %-d, %-H, %-M, %-S, 0, time.Local)").to_string(),
    );
    let state = if version.classification.is_some() { "…" } else { "nil" };
    Shown::verbatim(format!(
        "core.ExpirableVersion{{Version:{:?}, ExpirationDate:{date}, \
         Classification:(*core.VersionClassification)({state})}}",
        version.version,
    ))
}
