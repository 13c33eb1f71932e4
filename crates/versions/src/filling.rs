//! Fills in a missing or partial version from the profile.

use api::garden::cloud_profile::{ExpirableVersion, MachineImage, MachineImageVersion};
use api::garden::shoot::machine::ShootMachineImage;
use api::garden::shoot::worker::Worker;
use formats::version::Version;
use jiff::Timestamp;

use crate::Refusal;
use crate::offer::{Offered as _, Unreadable, read};

/// A partial version: `1.27`, `1`, or empty.
struct PartialVersion {
    major: Option<u64>,
    minor: Option<u64>,
}

/// The version that replaces `said`; `None` if `said` is complete (GDN-FIL-001 to -005, GDN-FIL-010).
///
/// It is the highest version that begins with `said` and is neither a preview nor expired.
///
/// # Errors
/// If a part is not a number, or no version begins so.
pub fn kubernetes(
    said: &str,
    offered: &[ExpirableVersion],
    now: Timestamp,
) -> Result<Option<String>, Refusal> {
    let Some(partial) = parse_partial(said)? else { return Ok(None) };
    let candidates = offered.iter().filter(|known| !known.is_over(now) && !known.is_preview());
    let fits = |version: &Version| {
        partial.major.is_none_or(|major| version.major == major)
            && partial.minor.is_none_or(|minor| version.minor == minor)
    };
    match highest(candidates, fits).map_err(|error| Refusal::invalid(said, error))? {
        Some(found) => Ok(Some(found.version.clone())),
        None => Err(Refusal::invalid(said, unsuitable(said))),
    }
}

/// The image of a pool whose image is missing or has no version (GDN-FIL-006 to -009).
///
/// If the name does not change, the old image stays. Otherwise it is the image of that name, or the first that has
/// the pool's architecture, in its highest version with a classification that is not deprecated, else in its highest
/// version that is not a preview.
///
/// # Errors
/// If the profile has no such image, none with this architecture, or only previews.
pub fn image(
    pool: &Worker,
    old: Option<&Worker>,
    images: &[MachineImage],
) -> Result<ShootMachineImage, Refusal> {
    let said = pool.machine.image.as_ref();
    let version = |image: &ShootMachineImage| image.version.as_deref().is_some_and(|text| !text.is_empty());
    if let Some(whole) = said.filter(|image| version(image)) {
        return Ok(whole.clone());
    }
    let before = old.and_then(|old| old.machine.image.as_ref());
    if let Some(before) = before.filter(|before| said.is_none_or(|said| said.name == before.name)) {
        return Ok(before.clone());
    }
    default_image(images, said.map_or("", |image| image.name.as_str()), crate::image::architecture(pool))
}

/// Parses a partial version; `None` if it has three parts.
fn parse_partial(said: &str) -> Result<Option<PartialVersion>, Refusal> {
    let parts: Vec<&str> = said.split('.').collect();
    let number = |text: &str| {
        // Go accepts a sign before a number.
        let number: Result<i64, _> = text.parse();
        number.map(i64::cast_unsigned).map_err(|_| Refusal::invalid(text, "must be a semantic version"))
    };
    let given = |at: usize| parts.get(at).copied().filter(|text| !text.is_empty());
    match parts.len() {
        3 => Ok(None),
        2 => {
            let minor = given(1).map(number).transpose()?;
            Ok(Some(PartialVersion { minor, major: given(0).map(number).transpose()? }))
        }
        _ => Ok(Some(PartialVersion { major: given(0).map(number).transpose()?, minor: None })),
    }
}

fn unsuitable(said: &str) -> String {
    format!(
        "couldn't find a suitable version for {said}. Suitable versions have a non-expired expiration date and are no \
         'preview' versions. 'Preview'-classified versions have to be selected explicitly"
    )
}

/// The highest version for which `fits` holds; the first of equal ones.
fn highest<'a, T: crate::offer::Offered>(
    versions: impl Iterator<Item = &'a T>,
    fits: impl Fn(&Version) -> bool,
) -> Result<Option<&'a T>, Unreadable> {
    let mut highest: Option<(Version, &T)> = None;
    for offered in versions {
        let version = read(offered.version())?;
        if fits(&version) && highest.as_ref().is_none_or(|(other, _)| version > *other) {
            highest = Some((version, offered));
        }
    }
    Ok(highest.map(|(_, offered)| offered))
}

fn default_image(
    images: &[MachineImage],
    name: &str,
    architecture: &str,
) -> Result<ShootMachineImage, Refusal> {
    let refused = |detail: &str| Refusal::invalid(name, detail);
    if images.is_empty() {
        return Err(refused(
            "the cloud profile does not contain any machine image - cannot create shoot cluster",
        ));
    }
    let has = |version: &MachineImageVersion| crate::image::has(version, architecture);
    let image = if name.is_empty() {
        images.iter().find(|image| image.versions.iter().any(has)).ok_or_else(|| {
            refused(&format!("no valid machine image found that support architecture `{architecture}`"))
        })?
    } else {
        let found = images.iter().find(|image| image.name == name);
        found.ok_or_else(|| refused("image is not supported"))?
    };
    let versions: Vec<&MachineImageVersion> = image.versions.iter().filter(|version| has(version)).collect();
    let failed = |error: &dyn std::fmt::Display| {
        refused(&format!("failed to determine latest machine image from cloud profile: {error}"))
    };
    let version = latest_image(&versions).map_err(|error| failed(&error))?;
    let version = version.ok_or_else(|| failed(&"unable to determine latest expirable version"))?;
    Ok(ShootMachineImage {
        name: image.name.clone(),
        version: Some(version.version.clone()),
        ..ShootMachineImage::default()
    })
}

/// The highest version whose classification is neither preview nor deprecated, else the highest that is not a preview.
fn latest_image<'a>(
    versions: &[&'a MachineImageVersion],
) -> Result<Option<&'a MachineImageVersion>, UnreadableImage> {
    for version in versions {
        read(&version.version).map_err(UnreadableImage)?;
    }
    let usable = || versions.iter().copied().filter(|version| !version.is_preview());
    let stated = usable().filter(|version| version.classification.is_some() && !version.is_deprecated());
    let found = highest(stated, |_| true).map_err(UnreadableImage)?;
    match found {
        Some(found) => Ok(Some(found)),
        None => highest(usable(), |_| true).map_err(UnreadableImage),
    }
}

/// An invalid version of an image, with the original's error text.
struct UnreadableImage(Unreadable);

impl std::fmt::Display for UnreadableImage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "error while parsing expirable version '{}': {}", self.0.version, self.0.source)
    }
}
