//! What the system makes.

use rstest::rstest;

use super::*;
use crate::fixture::{self, PLAIN_CERTIFICATE, PLAIN_KEY, RICH_CERTIFICATE, RICH_KEY};

#[test]
fn texts_have_their_length_and_all_letters() {
    let text = SystemMaterial.text(2000, "abc").unwrap();
    assert_eq!(text.len(), 2000);
    for letter in ["a", "b", "c"] {
        assert!(text.matches(letter).count() > 500, "{letter}");
    }
    assert_ne!(text, SystemMaterial.text(2000, "abc").unwrap());
    assert_eq!(SystemMaterial.text(1, ""), Err(MaterialError::Random));
}

#[test]
fn keys_have_the_sizes_that_are_made() {
    let key = SystemMaterial.rsa_key(2048).unwrap();
    assert_ne!(key.pkcs1, key.pkcs8);
    assert_eq!(SystemMaterial.rsa_key(1024), Err(MaterialError::KeySize(1024)));
}

fn template(kind: CertificateKind) -> CertificateTemplate {
    CertificateTemplate {
        common_name: "name".to_owned(),
        organizations: vec!["group".to_owned()],
        dns_names: vec!["*.example.com".to_owned()],
        ip_addresses: vec![[10, 0, 0, 1].into()],
        kind,
        begin: Timestamp::from_second(1_700_000_000).unwrap(),
        end: Timestamp::from_second(1_800_000_000).unwrap(),
    }
}

#[rstest]
#[case(CertificateKind::Server, 0b101, &[1])]
#[case(CertificateKind::Client, 0b101, &[2])]
#[case(CertificateKind::ServerAndClient, 0b101, &[1, 2])]
#[case(CertificateKind::Authority, 0b110_0101, &[])]
fn a_signed_certificate_says_what_it_is_for(
    #[case] kind: CertificateKind,
    #[case] key_usage: u16,
    #[case] usages: &[u8],
) {
    let signer = fixture::authority(PLAIN_KEY, PLAIN_CERTIFICATE);
    let key = generate(2048).unwrap();
    let der = sign(&template(kind), &key, &[1, 2, 3], Some(&signer)).unwrap();
    let read = Certificate::from_der(&der).unwrap();
    assert_eq!(
        (read.subject.common_name.as_str(), read.subject.organizations.as_slice()),
        ("name", &["group".to_owned()][..])
    );
    assert_eq!(read.issuer.common_name, "ca-f6032ea0");
    assert_eq!((read.not_before, read.not_after), (1_700_000_000, 1_800_000_000));
    assert_eq!(read.extensions.names.dns, ["*.example.com"]);
    assert_eq!(read.extensions.key_usage, key_usage);
    let last: Vec<u8> = read.extensions.usages.iter().filter_map(|id| id.last().copied()).collect();
    assert_eq!(last, usages);
    assert_eq!(read.extensions.authority.unwrap().is_authority, kind == CertificateKind::Authority);
    assert_eq!(read.extensions.authority_key, signer.certificate.extensions.subject_key);
}

#[test]
fn an_authority_that_signs_itself_can_sign() {
    let key = generate(2048).unwrap();
    let der = sign(&template(CertificateKind::Authority), &key, &[1], None).unwrap();
    let read = Certificate::from_der(&der).unwrap();
    assert!(read.may_sign());
    assert_eq!(read.extensions.subject_key.len(), 20);
    assert_eq!(read.extensions.authority_key, Vec::<u8>::new());
}

#[test]
fn several_organizations_are_refused() {
    let several = CertificateTemplate {
        organizations: vec!["a".to_owned(), "b".to_owned()],
        ..template(CertificateKind::Client)
    };
    let key = generate(2048).unwrap();
    assert_eq!(sign(&several, &key, &[1], None), Err(MaterialError::Organizations("name".to_owned())));
}

/// Its subject has two organizations.
#[test]
fn an_authority_whose_name_would_be_lost_is_refused() {
    let signer = fixture::authority(RICH_KEY, RICH_CERTIFICATE);
    let key = generate(2048).unwrap();
    let made = sign(&template(CertificateKind::Client), &key, &[1], Some(&signer));
    assert!(matches!(made, Err(MaterialError::Signing { .. })), "{made:?}");
}
