//! Public keys in OpenSSH's notation.

use formats::base64;
use x509_parser::prelude::{FromDer as _, SubjectPublicKeyInfo};
use x509_parser::public_key::PublicKey;

const KIND: &str = "ssh-rsa";

/// The line of `authorized_keys` for an RSA key (SubjectPublicKeyInfo in DER), without line break; `None` for another key.
pub(crate) fn authorized_key(public: &[u8]) -> Option<String> {
    let (_, info) = SubjectPublicKeyInfo::from_der(public).ok()?;
    let PublicKey::RSA(key) = info.parsed().ok()? else { return None };
    let mut wire = Vec::new();
    // DER and SSH write positive integers alike: a zero byte before a first bit that is set.
    for part in [KIND.as_bytes(), key.exponent, key.modulus] {
        wire.extend(u32::try_from(part.len()).ok()?.to_be_bytes());
        wire.extend(part);
    }
    Some(format!("{KIND} {}", base64::encode(&wire)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::FixedMaterial;
    use crate::material::Material as _;

    /// From `ssh-keygen -y`.
    #[test]
    fn a_public_key_is_written_as_ssh_keygen_does() {
        let key = FixedMaterial::new().rsa_key(2048).unwrap();
        let want = include_str!("../tests/authorities/plain.pub");
        assert_eq!(authorized_key(&key.public).as_deref(), Some(want));
        assert_eq!(authorized_key(b"no key"), None);
    }
}
