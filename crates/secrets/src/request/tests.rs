//! Checksums beside those that Go 1.21.3 computes with hashstructure v2.0.2 of structures with the original's names.

use rstest::rstest;

use super::*;
use crate::fixture::{self, PLAIN_CERTIFICATE, PLAIN_KEY, RICH_CERTIFICATE, RICH_KEY};

const DAY: Duration = Duration::from_hours(24);

fn certificate(kind: CertificateKind, common_name: &str) -> CertificateContent {
    CertificateContent { common_name: common_name.to_owned(), ..CertificateContent::new(kind) }
}

fn authority(common_name: &str) -> Content {
    Content::Certificate(certificate(CertificateKind::Authority, common_name))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[rstest]
#[case("ca-garden-runtime", runtime_authority(), 16_673_209_851_562_311_609)]
#[case("ca", authority("kubernetes"), 12_627_284_116_289_067_259)]
#[case("ca-etcd", authority("etcd"), 9_822_582_455_512_733_941)]
#[case("ca-etcd-peer", authority("etcd-peer"), 8_044_678_318_645_782_438)]
#[case("ca-client", authority("kubernetes-client"), 17_816_322_903_345_047_093)]
#[case("ca-front-proxy", authority("front-proxy"), 3_085_708_120_036_696_374)]
#[case("ca-gardener", authority("gardener"), 964_580_548_055_477_989)]
#[case("service-account-key", Content::RsaKey { bits: 4096, for_ssh: false }, 4_940_742_756_935_928_387)]
#[case("ssh-keypair", Content::RsaKey { bits: 4096, for_ssh: true }, 9_435_271_927_526_497_399)]
#[case(
    "kube-apiserver-etcd-encryption-key",
    Content::EtcdEncryptionKey { length: 32 },
    11_260_462_008_266_272_260
)]
#[case("observability-ingress", password(), 11_858_292_764_484_506_667)]
#[case("tokens", tokens(), 15_038_642_275_946_325_543)]
#[case("ca-bundle", Content::CertificateBundle(vec![b"new".to_vec(), b"old".to_vec()]), 16_218_237_893_230_464_711)]
#[case("key-bundle", Content::KeyBundle(vec![b"key".to_vec()]), 17_203_256_424_279_901_756)]
#[case("vpn-seed-server-tlsauth", Content::VpnKey, 5_758_844_856_974_590_664)]
#[case("generic-token-kubeconfig", generic_kubeconfig(), 13_922_318_126_327_978_010)]
#[case("user-kubeconfig", user_kubeconfig(), 17_137_503_736_053_300_665)]
fn requests_have_the_original_s_checksum(#[case] name: &str, #[case] content: Content, #[case] want: u64) {
    assert_eq!(SecretRequest::new(name, content).checksum(None), Ok(want));
}

#[rstest]
#[case::server("kube-apiserver", server(), 15_746_487_255_498_475_823, 550_131_345_854_205_757)]
#[case::short("plutono-tls", short_lived(), 14_571_591_018_191_409_756, 9_488_605_463_001_387_519)]
#[case::client("etcd-client", client(), 4_461_594_493_872_568_935, 12_632_466_142_615_878_956)]
#[case::kubeconfig("bootstrap", bootstrap(), 8_868_721_387_388_043_953, 16_039_019_390_137_555_354)]
fn signed_requests_have_the_original_s_checksum(
    #[case] name: &str,
    #[case] content: Content,
    #[case] by_plain: u64,
    #[case] by_rich: u64,
) {
    let request = SecretRequest::new(name, content);
    let plain = fixture::authority(PLAIN_KEY, PLAIN_CERTIFICATE);
    assert_eq!(request.checksum(Some(&plain)), Ok(by_plain));
    let rich = fixture::authority(RICH_KEY, RICH_CERTIFICATE);
    assert_eq!(request.checksum(Some(&rich)), Ok(by_rich));
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?}", SecretRequest::new("user-kubeconfig", user_kubeconfig()));
    assert!(!shown.contains("token"), "{shown}");
}

fn runtime_authority() -> Content {
    let content = CertificateContent::new(CertificateKind::Authority);
    Content::Certificate(CertificateContent { validity: Some(30 * DAY), ..content })
}

fn password() -> Content {
    Content::BasicAuth { user: "admin".to_owned(), password_length: 32 }
}

fn tokens() -> Content {
    let user = |name: &str, id: &str, groups: &[&str]| TokenUser {
        name: name.to_owned(),
        id: id.to_owned(),
        groups: texts(groups),
    };
    Content::StaticTokens(BTreeMap::from([
        ("health-check".to_owned(), user("health-check", "health-check", &[])),
        ("admin".to_owned(), user("a", "b", &["x", "y"])),
    ]))
}

fn generic_kubeconfig() -> Content {
    Content::Kubeconfig(KubeconfigContent {
        context: "garden".to_owned(),
        server: "virtual-garden-kube-apiserver".to_owned(),
        authorities: b"bundle".to_vec(),
        token: String::new(),
        token_file: "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token".to_owned(),
    })
}

fn user_kubeconfig() -> Content {
    Content::Kubeconfig(KubeconfigContent {
        context: "garden".to_owned(),
        server: "s".to_owned(),
        authorities: b"bundle".to_vec(),
        token: "t".to_owned(),
        token_file: String::new(),
    })
}

fn server() -> Content {
    Content::Certificate(CertificateContent {
        dns_names: texts(&["api.example.com", "gardener.example.com"]),
        ip_addresses: Some(vec![IpAddr::from([127, 0, 0, 1])]),
        without_authority: true,
        with_chain: true,
        ..certificate(CertificateKind::Server, "kube-apiserver")
    })
}

fn short_lived() -> Content {
    Content::Certificate(CertificateContent {
        organizations: texts(&["gardener.cloud:monitoring:ingress"]),
        dns_names: texts(&["p"]),
        validity: Some(730 * DAY),
        without_authority: true,
        ..certificate(CertificateKind::Server, "plutono")
    })
}

fn client() -> Content {
    Content::Certificate(CertificateContent {
        ip_addresses: Some(Vec::new()),
        pkcs8: true,
        without_authority: true,
        ..certificate(CertificateKind::Client, "etcd-client")
    })
}

fn bootstrap() -> Content {
    let certificate = CertificateContent {
        organizations: texts(&["system:masters"]),
        validity: Some(Duration::from_mins(10)),
        without_authority: true,
        ..certificate(CertificateKind::Client, "cn")
    };
    Content::ControlPlane(ControlPlaneContent {
        certificate: Some(certificate),
        clusters: vec![KubeconfigCluster {
            name: "garden".to_owned(),
            host: "host".to_owned(),
            authorities: b"ca".to_vec(),
        }],
    })
}
