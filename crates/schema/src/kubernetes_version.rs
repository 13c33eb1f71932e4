//! Versions of Kubernetes: which minors the project supports, and the release that represents each.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The newest known minor. Its data is that of a real server; older ones are described by what differs.
pub(crate) const NEWEST: u8 = 36;

/// A version of Kubernetes with a known minor: `1.28.4`. `1.28` is the last known patch release of the minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    pub(crate) minor: u8,
    patch: u32,
}

/// Reason why a version is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KubernetesVersionError {
    /// The text is not a version.
    #[error("{0:?} is not a version of Kubernetes: write 1.28 or 1.28.4")]
    Malformed(String),
    /// The minor is not known.
    #[error("the API of Kubernetes {0} is not known: known are {list}", list = known_minors())]
    Unknown(String),
}

/// A line of data/releases.json, which `cargo xtask kinds --releases` writes.
#[derive(Debug, Deserialize)]
struct Release {
    minor: u8,
    patch: u32,
    go: String,
    date: String,
}

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/releases.json")).expect("the generated file is read by a test")
});

impl KubernetesVersion {
    /// The version that is served by default.
    pub const DEFAULT: Self = Self { minor: NEWEST, patch: 3 };

    /// The last known patch release of each known minor, oldest first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        RELEASES.iter().map(|release| Self { minor: release.minor, patch: release.patch }).collect()
    }

    /// The last known patch release of `1.minor`; absent if the minor is not known.
    #[must_use]
    pub fn of_minor(minor: u32) -> Option<Self> {
        Self::all().into_iter().find(|version| u32::from(version.minor) == minor)
    }

    /// 28 of `1.28.4`.
    #[must_use]
    pub fn minor(self) -> u32 {
        self.minor.into()
    }

    /// The version of Go that the minor's last release was built with: `go1.22.8`.
    #[must_use]
    pub fn go_version(self) -> &'static str {
        self.release().map_or("", |release| release.go.as_str())
    }

    /// When the minor's last release was tagged: `2024-10-22T20:26:26Z`.
    #[must_use]
    pub fn release_date(self) -> &'static str {
        self.release().map_or("", |release| release.date.as_str())
    }

    fn release(self) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.minor == self.minor)
    }
}

impl Default for KubernetesVersion {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// `1.28.4`, without the `v` of a git tag.
impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}.{}", self.minor, self.patch)
    }
}

impl FromStr for KubernetesVersion {
    type Err = KubernetesVersionError;

    /// Reads `1.28`, `1.28.4` and `v1.28.4`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || KubernetesVersionError::Malformed(text.to_owned());
        let numbers: Option<Vec<u32>> =
            text.strip_prefix('v').unwrap_or(text).split('.').map(number).collect();
        let (major, minor, patch) = match numbers.as_deref() {
            Some([major, minor]) => (*major, *minor, None),
            Some([major, minor, patch]) => (*major, *minor, Some(*patch)),
            _ => return Err(malformed()),
        };
        let known = Some(minor).filter(|_| major == 1).and_then(Self::of_minor);
        let known = known.ok_or_else(|| KubernetesVersionError::Unknown(text.to_owned()))?;
        Ok(Self { patch: patch.unwrap_or(known.patch), ..known })
    }
}

impl Serialize for KubernetesVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KubernetesVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VersionVisitor)
    }
}

/// Reads a version also where YAML takes it for a number.
struct VersionVisitor;

impl Visitor<'_> for VersionVisitor {
    type Value = KubernetesVersion;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version of Kubernetes such as 1.28 or 1.28.4")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        // The number has lost the zero of 1.30. All known minors have two digits.
        let padded = format!("{number:.2}");
        let is_same = padded.parse::<f64>() == Ok(number);
        let version = padded.parse().ok().filter(|_| is_same);
        version.map_or_else(|| self.visit_str(&number.to_string()), Ok)
    }
}

/// Digits only: Rust also reads a sign.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// `1.24, 1.25, … 1.36`.
fn known_minors() -> String {
    let minors = KubernetesVersion::all();
    minors.iter().map(|version| format!("1.{}", version.minor)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_with_or_without_v_and_patch() {
        let read = |text: &str| text.parse::<KubernetesVersion>().map(|version| version.to_string());
        assert_eq!(read("1.28.4"), Ok("1.28.4".to_owned()));
        assert_eq!(read("v1.28.4"), Ok("1.28.4".to_owned()));
        assert_eq!(read("1.28"), Ok("1.28.15".to_owned()));
        assert_eq!(read("v1.36"), Ok(KubernetesVersion::DEFAULT.to_string()));
        assert_eq!(read("1.24.0"), Ok("1.24.0".to_owned()));
    }

    #[test]
    fn other_texts_and_minors_are_refused() {
        for text in
            ["", "1", "1.28.4.1", "1.28.x", "latest", "1.+28", "v", "1.28.", "1.28.4-rc.1", "1.99999999999"]
        {
            let error = text.parse::<KubernetesVersion>().expect_err(text);
            assert_eq!(error, KubernetesVersionError::Malformed(text.to_owned()));
        }
        for text in ["1.23.17", "1.37", "2.28.0", "0.28", "1.284"] {
            let error = text.parse::<KubernetesVersion>().expect_err(text);
            let list = "1.24, 1.25, 1.26, 1.27, 1.28, 1.29, 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36";
            let wanted = format!("the API of Kubernetes {text} is not known: known are {list}");
            assert_eq!(error.to_string(), wanted);
        }
    }

    #[test]
    fn a_number_is_a_version_too() {
        let read =
            |json: &str| serde_json::from_str::<KubernetesVersion>(json).map_err(|error| error.to_string());
        assert_eq!(read("1.28"), Ok("1.28".parse().expect("known")));
        assert_eq!(read("1.30"), Ok("1.30".parse().expect("known")));
        assert_eq!(read("\"1.28.4\""), Ok("1.28.4".parse().expect("known")));
        assert!(
            read("1.284").is_err_and(|error| error.starts_with("the API of Kubernetes 1.284 is not known"))
        );
        assert!(read("1.2").is_err_and(|error| error.starts_with("the API of Kubernetes 1.2 is not known")));
        assert!(read("28").is_err_and(|error| error.contains("expected a version of Kubernetes")));
    }

    #[test]
    fn the_default_is_the_version_of_the_data() {
        let data: serde_json::Value = serde_json::from_str(include_str!("../data/kinds.json")).expect("JSON");
        assert_eq!(data["kubernetes"], format!("v{}", KubernetesVersion::DEFAULT));
        assert_eq!(KubernetesVersion::all().last(), Some(&KubernetesVersion::DEFAULT));
    }

    #[test]
    fn every_release_names_go_and_a_date() {
        for version in KubernetesVersion::all() {
            assert!(version.go_version().starts_with("go1."), "{version}");
            assert!(version.release_date().ends_with('Z'), "{version}");
        }
    }
}
