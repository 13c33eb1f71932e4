//! Names and labels of Secrets, as far as the request and the rotation decide them.

use std::collections::BTreeMap;

use crate::labels;
use crate::request::{Content, SecretRequest};
use crate::secret::hexadecimal_sha256;

/// Digits of the checksum in a name.
const CHECKSUM_DIGITS: usize = 8;
/// Digits that tell rotations apart in a name.
const ROTATION_DIGITS: usize = 5;
/// Longest value of a label.
const LABEL_LENGTH: usize = 63;

/// What decides the name and the labels of a Secret besides its request.
pub(crate) struct Circumstances<'a> {
    pub(crate) identity: &'a str,
    /// Checksum of the request.
    pub(crate) checksum: u64,
    /// Checksum of the data of the signer's Secret.
    pub(crate) authority_checksum: Option<&'a str>,
    /// When the last rotation began, in seconds since 1970; empty without one.
    pub(crate) rotation: &'a str,
    pub(crate) persist: bool,
    /// Name of the request that this is the bundle for.
    pub(crate) bundle_for: Option<&'a str>,
    /// Whether an authority's name has no checksum.
    pub(crate) keeps_authority_name: bool,
}

/// The name and the labels.
pub(crate) fn name_and_labels(
    request: &SecretRequest,
    circumstances: &Circumstances<'_>,
) -> (String, BTreeMap<String, String>) {
    let mut all = BTreeMap::new();
    let mut set = |key: &str, value: &str| all.insert(key.to_owned(), value.to_owned());
    let checksum = circumstances.checksum.to_string();
    let authority = circumstances.authority_checksum.map(cut);
    set(labels::NAME, &request.name);
    set(labels::MANAGED_BY, labels::MANAGER);
    set(labels::IDENTITY, circumstances.identity);
    set(labels::CHECKSUM_OF_CONFIG, &checksum);
    set(labels::ROTATION, circumstances.rotation);
    if let Some(authority) = authority {
        set(labels::CHECKSUM_OF_AUTHORITY, authority);
    }
    if circumstances.persist {
        set(labels::PERSIST, "true");
    }
    if let Some(origin) = circumstances.bundle_for {
        set(labels::BUNDLE_FOR, origin);
    }
    let mut name = request.name.clone();
    let is_authority = matches!(request.content, Content::Certificate(_)) && authority.is_none();
    if !(is_authority && circumstances.keeps_authority_name) {
        let both = checksum + authority.unwrap_or_default();
        name.push('-');
        name.push_str(&hexadecimal_sha256(both.as_bytes())[..CHECKSUM_DIGITS]);
    }
    if !circumstances.rotation.is_empty() {
        name.push('-');
        name.push_str(&hexadecimal_sha256(circumstances.rotation.as_bytes())[..ROTATION_DIGITS]);
    }
    (name, all)
}

/// Cuts a label's value to the length that is allowed.
fn cut(value: &str) -> &str {
    value.get(..LABEL_LENGTH).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::request::{CertificateContent, CertificateKind};

    fn request() -> SecretRequest {
        let content = CertificateContent::new(CertificateKind::Authority);
        SecretRequest::new("config-name", Content::Certificate(content))
    }

    fn circumstances(checksum: u64, rotation: &str) -> Circumstances<'_> {
        Circumstances {
            identity: "test",
            checksum,
            authority_checksum: None,
            rotation,
            persist: false,
            bundle_for: None,
            keeps_authority_name: false,
        }
    }

    /// The original's unit tests of `ObjectMeta`: a certificate with nothing but a name has this checksum.
    #[rstest]
    #[case::checksum_left_out(true, "", "config-name")]
    #[case::checksum_left_out_and_rotated(true, "1646060228", "config-name-76711")]
    #[case::with_checksum(false, "", "config-name-fd0a3f24")]
    #[case::with_checksum_and_rotated(false, "1646060228", "config-name-fd0a3f24-76711")]
    fn the_name_of_an_authority(#[case] keeps: bool, #[case] rotation: &str, #[case] want: &str) {
        let given = circumstances(1_645_436_262_831_067_767, rotation);
        let (name, all) =
            name_and_labels(&request(), &Circumstances { keeps_authority_name: keeps, ..given });
        assert_eq!(name, want);
        assert_eq!(all.len(), 5);
        assert_eq!(all[labels::ROTATION], rotation);
        assert_eq!(all[labels::CHECKSUM_OF_CONFIG], "1645436262831067767");
    }

    /// The original's unit tests of `ObjectMeta`.
    #[test]
    fn a_signer_is_part_of_the_name() {
        let given = circumstances(17_861_245_496_710_117_091, "1646060228");
        let signed =
            Circumstances { authority_checksum: Some("checksum"), keeps_authority_name: true, ..given };
        assert_eq!(name_and_labels(&request(), &signed).0, "config-name-a11a0b2d-76711");
    }

    #[test]
    fn each_circumstance_has_its_label() {
        let digits = "0".repeat(64);
        let given = Circumstances {
            authority_checksum: Some(&digits),
            persist: true,
            bundle_for: Some("ca"),
            ..circumstances(1, "")
        };
        let (_, all) = name_and_labels(&request(), &given);
        assert_eq!(all[labels::CHECKSUM_OF_AUTHORITY].len(), 63);
        assert_eq!((all[labels::PERSIST].as_str(), all[labels::BUNDLE_FOR].as_str()), ("true", "ca"));
    }
}
