//! Data keys and values of each kind of request.

use rstest::rstest;

use super::*;
use crate::fixture::{self, FixedMaterial, PLAIN_CERTIFICATE, PLAIN_KEY};
use crate::request::KubeconfigCluster;

const NOW: i64 = 1_700_000_000;

fn made(content: Content, signer: Option<&SigningAuthority>) -> SecretData {
    let now = Timestamp::from_second(NOW).unwrap();
    make(&SecretRequest::new("a", content), "a-1", signer, now, &mut FixedMaterial::new()).unwrap()
}

fn text(data: &SecretData, key: &str) -> String {
    String::from_utf8(data.get(key).to_vec()).unwrap()
}

#[rstest]
#[case(Content::BasicAuth { user: "admin".to_owned(), password_length: 2 }, &["auth", "password", "username"])]
#[case(Content::RsaKey { bits: 2048, for_ssh: false }, &["id_rsa"])]
#[case(Content::RsaKey { bits: 2048, for_ssh: true }, &["id_rsa", "id_rsa.pub"])]
#[case(Content::EtcdEncryptionKey { length: 32 }, &["key", "secret"])]
#[case(Content::VpnKey, &["vpn.tlsauth"])]
#[case(Content::CertificateBundle(vec![b"a".to_vec()]), &["bundle.crt"])]
#[case(Content::KeyBundle(vec![b"a".to_vec()]), &["bundle.key"])]
#[case(Content::Certificate(CertificateContent::new(CertificateKind::Authority)), &["ca.crt", "ca.key"])]
#[case(Content::ControlPlane(ControlPlaneContent::default()), &[])]
fn each_kind_has_its_keys(#[case] content: Content, #[case] want: &[&str]) {
    let data = made(content, None);
    assert_eq!(data.0.keys().collect::<Vec<_>>(), want);
}

#[test]
fn a_server_s_certificate_has_its_authority_as_far_as_asked() {
    let signer = fixture::authority(PLAIN_KEY, PLAIN_CERTIFICATE);
    let content = CertificateContent::new(CertificateKind::Server);
    let with = made(Content::Certificate(content.clone()), Some(&signer));
    assert_eq!(with.0.keys().collect::<Vec<_>>(), ["ca.crt", "tls.crt", "tls.key"]);
    assert_eq!(with.get("ca.crt"), PLAIN_CERTIFICATE);
    let chained = CertificateContent { with_chain: true, without_authority: true, ..content };
    let chained = made(Content::Certificate(chained), Some(&signer));
    assert_eq!(chained.0.keys().collect::<Vec<_>>(), ["tls.crt", "tls.key"]);
    assert!(chained.get("tls.crt").ends_with(PLAIN_CERTIFICATE));
    assert!(text(&chained, "tls.key").starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
}

#[test]
fn an_authority_is_called_like_its_secret_and_lives_ten_years() {
    let content = CertificateContent {
        common_name: "x".to_owned(),
        ..CertificateContent::new(CertificateKind::Authority)
    };
    let data = made(Content::Certificate(content), None);
    let read = crate::authority::read_certificate(data.get("ca.crt")).unwrap();
    assert_eq!(read.subject.common_name, "a-1");
    assert!(read.may_sign());
    assert_eq!(read.not_before, NOW);
    // 14 November 2033, 22:13:20.
    assert_eq!(read.not_after, 2_015_619_200);
}

#[test]
fn a_control_plane_has_files_of_its_name() {
    let signer = fixture::authority(PLAIN_KEY, PLAIN_CERTIFICATE);
    let clusters =
        vec![KubeconfigCluster { name: "garden".to_owned(), host: "h".to_owned(), authorities: Vec::new() }];
    let certificate = Some(CertificateContent::new(CertificateKind::Client));
    let data = made(Content::ControlPlane(ControlPlaneContent { certificate, clusters }), Some(&signer));
    assert_eq!(data.0.keys().collect::<Vec<_>>(), ["a.crt", "a.key", "ca.crt", "kubeconfig"]);
}

#[test]
fn passwords_are_hashed_and_keys_are_named_by_time() {
    let data = made(Content::BasicAuth { user: "admin".to_owned(), password_length: 3 }, None);
    assert_eq!(text(&data, "password"), "111");
    assert_eq!(text(&data, "auth"), "admin:{SHA}Yhb4p1/Vuz1fIrb5lYze3j/AhsI=");
    let data = made(Content::EtcdEncryptionKey { length: 3 }, None);
    assert_eq!((text(&data, "key"), text(&data, "secret")), ("key1700000000".to_owned(), "111".to_owned()));
}

#[test]
fn several_groups_are_quoted() {
    let user = |name: &str, groups: &[&str]| {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        (name.to_owned(), TokenUser { name: name.to_owned(), id: "i".to_owned(), groups })
    };
    let users = BTreeMap::from([user("a", &[]), user("b", &["x"]), user("c", &["x", "y"])]);
    let lines = text(&made(Content::StaticTokens(users), None), "static_tokens.csv");
    let ends: Vec<&str> = lines.lines().map(|line| &line[TOKEN_LENGTH..]).collect();
    assert_eq!(ends, [",a,i,", ",b,i,x", r#",c,i,"x,y""#]);
}

#[test]
fn a_leap_day_ends_on_the_first_of_march() {
    let begin: Timestamp = "2024-02-29T12:00:00Z".parse().unwrap();
    let content = CertificateContent::new(CertificateKind::Server);
    let want: Timestamp = "2034-03-01T12:00:00Z".parse().unwrap();
    assert_eq!(end(&content, begin), Some(want));
}
