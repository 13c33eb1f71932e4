//! How well an image fits versions.

use formats::version::Version;
use formats::version::constraint::Constraint;

use super::{ImageSource, ImageVersions};

/// The architecture of nodes that name none.
const DEFAULT_ARCHITECTURE: &str = "amd64";

/// How well an entry fits; `None` if it does not.
pub(super) fn score(source: &ImageSource, versions: ImageVersions<'_>) -> Option<usize> {
    let runtime = version_score(source.runtime_version.as_deref(), versions.runtime)?;
    let target = version_score(source.target_version.as_deref(), versions.target)?;
    Some(runtime + target + architecture_score(source.architectures.as_deref())?)
}

/// 0 without a constraint or a version, 1 for a range, 2 for a single version.
fn version_score(constraint: Option<&str>, version: Option<&str>) -> Option<usize> {
    let (Some(text), Some(version)) = (constraint, version) else { return Some(0) };
    let constraint = Constraint::parse(text).ok()?;
    let version = Version::parse(&numbers(version)).ok()?;
    constraint.allows(&version).then_some(if is_exact(text) { 2 } else { 1 })
}

/// A version without `v`, prerelease and metadata.
fn numbers(version: &str) -> String {
    let version = version.replace('v', "");
    version.split(['-', '+']).next().unwrap_or_default().to_owned()
}

/// Whether a constraint begins with `=` or with three numbers.
fn is_exact(constraint: &str) -> bool {
    if constraint.starts_with('=') {
        return true;
    }
    let mut numbers = constraint.strip_prefix('v').unwrap_or(constraint).splitn(3, '.');
    let is_number = |text: Option<&str>| {
        text.is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (major, minor) = (numbers.next(), numbers.next());
    let begins_with_digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    is_number(major) && is_number(minor) && numbers.next().is_some_and(begins_with_digit)
}

/// 1 for an image of several architectures, 2 for one of the default alone.
fn architecture_score(architectures: Option<&[String]>) -> Option<usize> {
    let Some(architectures) = architectures else { return Some(1) };
    let is_included = architectures.iter().any(|known| known == DEFAULT_ARCHITECTURE);
    is_included.then_some(if architectures.len() == 1 { 2 } else { 1 })
}
