//! The Kubernetes version of the target cluster, read once when the controllers start.

use kube::Client;

/// A version of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    /// 1.
    pub major: u32,
    /// Grows every four months.
    pub minor: u32,
}

/// Why the version is unknown.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// The request failed.
    #[error("failed to read the target's version")]
    Ask(#[source] kube::Error),
    /// The answer is not a version.
    #[error("Invalid Semantic Version: {0}")]
    Malformed(String),
}

/// Reads the version of the target.
///
/// # Errors
/// When the request fails, or the answer is not a version.
pub async fn determine(target: &Client) -> Result<KubernetesVersion, VersionError> {
    let info = target.apiserver_version().await.map_err(VersionError::Ask)?;
    parse(&info.git_version).ok_or(VersionError::Malformed(info.git_version))
}

/// Reads `v1.24.3-gke.100`; a minor version is enough.
fn parse(text: &str) -> Option<KubernetesVersion> {
    let mut numbers = text.strip_prefix('v').unwrap_or(text).split(['.', '-', '+']);
    let mut next = || numbers.next()?.parse::<u32>().ok();
    Some(KubernetesVersion { major: next()?, minor: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_vendors_are_read() {
        let version = |major, minor| Some(KubernetesVersion { major, minor });
        let table = [
            ("v1.36.3", version(1, 36)),
            ("1.24", version(1, 24)),
            ("v1.24.3-gke.100", version(1, 24)),
            ("v1.25.0+k3s1", version(1, 25)),
            ("v1.25-alpha", version(1, 25)),
            ("", None),
            ("v1", None),
            ("v1.x", None),
        ];
        for (text, want) in table {
            assert_eq!(parse(text), want, "{text}");
        }
        assert!(version(1, 24) < version(1, 25) && version(1, 36) < version(2, 0));
    }
}
