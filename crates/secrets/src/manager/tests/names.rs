//! Names of the Secrets that a gardener-operator generates, as Go 1.21.3 computes them with hashstructure v2.0.2.

use super::*;

fn authority(common_name: &str, days: Option<u64>) -> Content {
    Content::Certificate(CertificateContent {
        common_name: common_name.to_owned(),
        validity: days.map(|days| Duration::from_hours(24 * days)),
        ..CertificateContent::new(CertificateKind::Authority)
    })
}

fn health_check() -> Content {
    let name = "health-check".to_owned();
    let user = TokenUser { name: name.clone(), id: name.clone(), groups: Vec::new() };
    Content::StaticTokens(BTreeMap::from([(name, user)]))
}

#[rstest]
#[case("ca-garden-runtime", authority("", Some(30)), "03768586")]
#[case("ca-etcd", authority("etcd", None), "f7594faa")]
#[case("ca-etcd-peer", authority("etcd-peer", None), "23be1f02")]
#[case("ca", authority("kubernetes", None), "f6032ea0")]
#[case("ca-client", authority("kubernetes-client", None), "58f8e9ac")]
#[case("ca-front-proxy", authority("front-proxy", None), "4841e85d")]
#[case("ca-gardener", authority("gardener", None), "39044a95")]
#[case("service-account-key", Content::RsaKey { bits: 4096, for_ssh: false }, "c37a87f6")]
#[case("kube-apiserver-etcd-encryption-key", Content::EtcdEncryptionKey { length: 32 }, "80f230d7")]
#[case("gardener-apiserver-etcd-encryption-key", Content::EtcdEncryptionKey { length: 32 }, "f08d302c")]
#[case("kube-apiserver-static-token", health_check(), "53d619b2")]
#[case(
    "observability-ingress",
    Content::BasicAuth { user: "admin".to_owned(), password_length: 32 },
    "0da36eb1"
)]
fn names_are_those_of_the_original(#[case] request: &str, #[case] content: Content, #[case] end: &str) {
    let requests = [(SecretRequest::new(request, content), GenerateOptions::default())];
    let mut namespace = Namespace::default();
    assert_eq!(namespace.run(NOW, &requests).names[request], format!("{request}-{end}"));
    // From Go, too: the first digits of the hash of this time.
    namespace.rotate(request, 1_700_000_000);
    assert_eq!(namespace.run(NOW, &requests).names[request], format!("{request}-{end}-3f3b4"));
}
