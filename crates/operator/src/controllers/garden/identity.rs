//! Who the operator is, as the status of a Garden names it: the container that it runs in.

use std::{fs, io};

use api::garden::condition::Gardener;
use controller::Entropy;
use controller::entropy::SecretError;

const HOST_NAME: &str = "/proc/sys/kernel/hostname";
const CONTROL_GROUPS: &str = "/proc/self/cgroup";
/// Begin of the line of version 2 of control groups, and of the one that counts of version 1.
const VERSION_2: &str = "0::";
const VERSION_1: &str = "1:name=systemd";
/// Digits of the id of a container.
const DIGITS: usize = 64;

/// Why it is not known who the operator is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The host has no name.
    #[error("unable to get hostname: {0}")]
    HostName(#[source] io::Error),
    /// Without a container the id is random, and the system has no random numbers.
    #[error("unable to generate id: {0}")]
    Random(#[from] SecretError),
}

/// The identity of this process.
///
/// # Errors
/// If the host has no name, or there is no id.
pub fn of_process(version: &str, entropy: &Entropy) -> Result<Gardener, IdentityError> {
    let name = fs::read_to_string(HOST_NAME).map_err(IdentityError::HostName)?.trim().to_owned();
    let groups = fs::read_to_string(CONTROL_GROUPS).unwrap_or_default();
    let id = match container_id(&groups) {
        Some(id) => id.to_owned(),
        None => entropy.secret(DIGITS)?,
    };
    Ok(Gardener { id, name, version: version.to_owned(), ..Gardener::default() })
}

/// The id of the container whose control groups these are; `None` outside of a container.
fn container_id(groups: &str) -> Option<&str> {
    let line = |begin: &str| groups.lines().find(|line| line.starts_with(begin)).map(last_part);
    let second = line(VERSION_2).filter(|id| has_id(id));
    second.or_else(|| line(VERSION_1)).filter(|id| !id.is_empty())
}

/// The last part of a path, without what systemd and Docker put around it.
fn last_part(line: &str) -> &str {
    let part = line.rsplit('/').next().unwrap_or_default().trim();
    let part = part.strip_suffix(".scope").unwrap_or(part);
    part.strip_prefix("docker-").unwrap_or(part)
}

/// Whether a text contains an id.
fn has_id(text: &str) -> bool {
    let mut length = 0;
    text.chars().any(|digit| {
        length = if digit.is_ascii_digit() || ('a'..='f').contains(&digit) { length + 1 } else { 0 };
        length == DIGITS
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[rstest]
    #[case::version_2(&format!("0::/system.slice/docker-{ID}.scope\n"), Some(ID))]
    #[case::version_1(&format!("2:cpu:/a\n1:name=systemd:/kubepods/{ID}\n"), Some(ID))]
    #[case::both(&format!("1:name=systemd:/other\n0::/{ID}\n"), Some(ID))]
    #[case::version_2_without_container(&format!("0::/init.scope\n1:name=systemd:/{ID}\n"), Some(ID))]
    #[case::no_container("0::/user.slice\n", None)]
    #[case::nothing("", None)]
    fn a_container_has_an_id(#[case] groups: &str, #[case] want: Option<&str>) {
        assert_eq!(container_id(groups), want);
    }

    #[test]
    fn a_process_has_a_name_and_an_id() {
        let identity = of_process("v1.82.0", &Entropy::seeded(1)).unwrap();
        assert_eq!(identity.version, "v1.82.0");
        assert!(!identity.name.is_empty() && !identity.id.is_empty(), "{identity:?}");
    }
}
