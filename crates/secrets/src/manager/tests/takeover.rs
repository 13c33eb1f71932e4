//! Secrets of the original are used as they are; data of others is taken over where a label says so.

use super::*;
use crate::fixture::{PLAIN_CERTIFICATE, PLAIN_KEY};

/// When the authority's certificate begins and ends.
const LIFETIME: [i64; 2] = [1_698_840_000, 2_014_459_200];
/// First digits of the checksum of the authority's data; see /tests/authorities.
const AUTHORITY: &str = "45e3b4b4e06842d7e5dcfd621f9a1b7a6993a856d9ac40f3cfd92da1340141a";

/// A Secret as the original leaves it: name and checksum from Go 1.21.3 with hashstructure v2.0.2.
fn of_the_original(
    request: &str,
    name: &str,
    checksum: &str,
    more: &[(&str, &str)],
    data: SecretData,
) -> ManagedSecret {
    let mut all = vec![
        (labels::NAME, request),
        (labels::MANAGED_BY, "secrets-manager"),
        (labels::IDENTITY, IDENTITY),
        (labels::CHECKSUM_OF_CONFIG, checksum),
        (labels::ROTATION, ""),
    ];
    all.extend(more);
    ManagedSecret { data, ..secret(name, &all) }
}

fn originals() -> Vec<ManagedSecret> {
    let [begin, end] = LIFETIME.map(|time| time.to_string());
    let lifetime = [(labels::ISSUED_AT, begin.as_str()), (labels::VALID_UNTIL, end.as_str())];
    let signed = [lifetime[0], lifetime[1], (labels::CHECKSUM_OF_AUTHORITY, AUTHORITY)];
    let issued = (labels::ISSUED_AT, "1700000000");
    let authority = SecretData::from([("ca.crt", PLAIN_CERTIFICATE), ("ca.key", PLAIN_KEY)]);
    let bundle = SecretData::from([("bundle.crt", PLAIN_CERTIFICATE)]);
    // Any certificate does: what is signed is not looked into.
    let server = SecretData::from([("tls.crt", PLAIN_CERTIFICATE), ("tls.key", PLAIN_KEY)]);
    let password = SecretData::from([("username", "admin"), ("password", "p"), ("auth", "a")]);
    let key = SecretData::from([("key", "key1"), ("secret", "s")]);
    vec![
        of_the_original("ca", "ca-f6032ea0", "12627284116289067259", &lifetime, authority),
        of_the_original(
            "ca-bundle",
            "ca-bundle-f0dc13a1",
            "666673811956543658",
            &[(labels::BUNDLE_FOR, "ca"), issued],
            bundle,
        ),
        of_the_original("kube-apiserver", "kube-apiserver-b9c93364", "15746487255498475823", &signed, server),
        of_the_original(
            "observability-ingress",
            "observability-ingress-0da36eb1",
            "11858292764484506667",
            &[(labels::PERSIST, "true"), issued],
            password,
        ),
        of_the_original(
            "kube-apiserver-etcd-encryption-key",
            "kube-apiserver-etcd-encryption-key-80f230d7",
            "11260462008266272260",
            &[(labels::PERSIST, "true"), issued],
            key,
        ),
    ]
}

/// What a gardener-operator asks for, as far as [`originals`] goes.
fn requests() -> Vec<(SecretRequest, GenerateOptions)> {
    let authority = CertificateContent {
        common_name: "kubernetes".to_owned(),
        ..CertificateContent::new(CertificateKind::Authority)
    };
    let server = CertificateContent {
        common_name: "kube-apiserver".to_owned(),
        dns_names: vec!["api.example.com".to_owned(), "gardener.example.com".to_owned()],
        ip_addresses: Some(vec![[127, 0, 0, 1].into()]),
        without_authority: true,
        with_chain: true,
        ..CertificateContent::new(CertificateKind::Server)
    };
    let password = Content::BasicAuth { user: "admin".to_owned(), password_length: 32 };
    let key = Content::EtcdEncryptionKey { length: 32 };
    let persisted = |options: GenerateOptions| GenerateOptions { persist: true, ..options };
    vec![
        (SecretRequest::new("ca", Content::Certificate(authority)), keep_old()),
        (
            SecretRequest::new("kube-apiserver", Content::Certificate(server)),
            signed_by("ca", AuthorityChoice::ByKind),
        ),
        (SecretRequest::new("observability-ingress", password), persisted(GenerateOptions::default())),
        (SecretRequest::new("kube-apiserver-etcd-encryption-key", key), persisted(keep_old())),
    ]
}

#[test]
fn what_the_original_left_stays_as_it_is() {
    let mut namespace = Namespace { renews_authorities: true, ..Namespace::default() };
    for secret in originals() {
        namespace.put(secret);
    }
    let before = namespace.secrets.clone();
    let run = namespace.run(NOW + DAY, &requests());
    assert_eq!(run.writes, NOTHING);
    assert_eq!(run.deleted, Vec::<String>::new());
    assert_eq!(namespace.secrets, before);
}

#[test]
fn data_is_taken_over_when_a_secret_has_to_be_made() {
    let mut namespace = Namespace::default();
    let given = SecretData::from([("password", "own")]);
    let label = [(labels::USE_DATA_FOR, "config")];
    namespace.put(ManagedSecret { data: given.clone(), ..secret("mine", &label) });
    let name = namespace.run(NOW, &[(password(), GenerateOptions::default())]).names["config"].clone();
    assert_eq!(namespace.secrets[&name].data, given);
    assert_eq!(namespace.secrets["mine"].labels.len(), 1, "it stays as it is");

    let other = SecretData::from([("password", "other")]);
    namespace.put(ManagedSecret { data: other.clone(), ..secret("mine", &label) });
    assert_eq!(
        namespace.run(NOW, &[(password(), GenerateOptions::default())]).writes,
        NOTHING,
        "the Secret exists"
    );
    namespace.rotate("config", NOW + 1);
    let name = namespace.run(NOW + 1, &[(password(), GenerateOptions::default())]).names["config"].clone();
    assert_eq!(namespace.secrets[&name].data, other, "it acts on rotations, too");
}

#[test]
fn an_authority_is_taken_over_with_its_bundle() {
    let mut namespace = Namespace::default();
    let given = SecretData::from([("ca.crt", PLAIN_CERTIFICATE), ("ca.key", PLAIN_KEY)]);
    namespace.put(ManagedSecret { data: given, ..secret("mine", &[(labels::USE_DATA_FOR, "ca")]) });
    let run = namespace.run(NOW, &chain(keep_old(), AuthorityChoice::ByKind));
    let bundle = run.manager.get("ca", None).unwrap();
    assert_eq!(bundle.data.get("bundle.crt"), PLAIN_CERTIFICATE);
    let current = run.manager.get("ca", Some(SecretClass::Current)).unwrap();
    assert_eq!(current.label(labels::VALID_UNTIL), LIFETIME[1].to_string());
    let server = run.manager.get("server", None).unwrap();
    assert_eq!(server.label(labels::CHECKSUM_OF_AUTHORITY), AUTHORITY);
}

#[test]
fn data_of_several_is_refused() {
    let mut namespace = Namespace::default();
    for name in ["one", "two"] {
        namespace.put(secret(name, &[(labels::USE_DATA_FOR, "config")]));
    }
    let mut manager = namespace.manager(NOW);
    let made = manager.generate(&password(), &GenerateOptions::default(), at(NOW), &mut FixedMaterial::new());
    let shown = chain_of(&made.unwrap_err());
    let want = "for config config: failed taking over data from existing secret when needed: found more than one \
                existing secret with \"secrets-manager-use-data-for-name\" label for config \"config\"";
    assert!(shown.starts_with("failed generating and creating new secret garden/config-"), "{shown}");
    assert!(shown.ends_with(want), "{shown}");
}

/// Somebody else made the Secret first.
#[test]
fn a_secret_that_exists_is_used_once_it_is_known() {
    let mut manager = Namespace::default().manager(NOW);
    let generate = |manager: &mut SecretsManager| {
        manager
            .generate(&password(), &GenerateOptions::default(), at(NOW), &mut FixedMaterial::new())
            .unwrap()
    };
    let planned = generate(&mut manager).secret;
    let other = ManagedSecret { data: SecretData::from([("password", "other")]), ..planned };
    manager.observe(other.clone());
    let again = generate(&mut manager);
    assert_eq!((again.secret, again.writes), (other, Vec::new()));
}
