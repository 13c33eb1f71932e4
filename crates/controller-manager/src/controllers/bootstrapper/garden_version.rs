//! Which versions of Kubernetes a garden may have.

use formats::version::{Version, VersionError};
use kube::Client;

/// Why a garden cannot be worked with.
#[derive(Debug, thiserror::Error)]
pub enum GardenVersionError {
    /// It does not say its version.
    #[error("failed discovering garden cluster kubernetes version")]
    Discover(#[source] kube::Error),
    /// What it says is no version.
    #[error(transparent)]
    Malformed(#[from] VersionError),
    /// Its version is too low.
    #[error("the Kubernetes version of the Garden cluster must be at least 1.24")]
    TooLow,
}

/// Asks the garden for its version, and checks it.
///
/// # Errors
/// When it does not answer, or has no version that is high enough.
pub(super) async fn check(client: &Client) -> Result<(), GardenVersionError> {
    let answer = client.apiserver_version().await.map_err(GardenVersionError::Discover)?;
    check_version(&answer.git_version)
}

/// At least 1.24; what follows `-` or `+` does not count.
fn check_version(text: &str) -> Result<(), GardenVersionError> {
    let text = text.replace('v', "");
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    if Version::parse(numbers)?.is_below(1, 24) { Err(GardenVersionError::TooLow) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TOO_LOW: &str = "the Kubernetes version of the Garden cluster must be at least 1.24";
    const MALFORMED: &str = "Invalid Semantic Version";

    #[rstest]
    #[case("v1.24.0", None)]
    #[case("1.24", None)]
    #[case("v1.27.3", None)]
    #[case("v1.24.0-rc.1", None)]
    #[case("v1.24.17-gke.200+abc", None)]
    #[case("v1.25.3+k3s1", None)]
    #[case("2.0.0", None)]
    #[case("vv1.24.0", None)]
    #[case("1.22.5", Some(TOO_LOW))]
    #[case("v1.23.99", Some(TOO_LOW))]
    #[case("v1.23.17-eks-1", Some(TOO_LOW))]
    #[case("1", Some(TOO_LOW))]
    #[case("0.30.1", Some(TOO_LOW))]
    #[case("", Some(MALFORMED))]
    #[case("v", Some(MALFORMED))]
    #[case("unknown", Some(MALFORMED))]
    #[case("1.24.x", Some(MALFORMED))]
    #[case("1.24.0.1", Some(MALFORMED))]
    #[case("-1.24.0", Some(MALFORMED))]
    fn a_garden_has_at_least_1_24(#[case] version: &str, #[case] error: Option<&str>) {
        let refused = check_version(version).err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), error);
    }
}
