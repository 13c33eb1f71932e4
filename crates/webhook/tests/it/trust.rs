//! Case 21: which servers a bundle trusts. The results are those of Go's `crypto/x509`.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, GeneralSubtree,
    IsCa, KeyPair, KeyUsagePurpose, NameConstraints, date_time_ymd,
};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use webhook::trust::{Authorities, TrustError};

type Issuer = CertifiedIssuer<'static, KeyPair>;
type Change = fn(&mut CertificateParams);

/// In December 2026.
const NOW: i64 = 1_796_083_200;

fn params(name: &str, is_ca: IsCa) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = is_ca;
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2036, 1, 1));
    params
}

/// A self-signed authority with changed parameters.
fn authority(change: impl FnOnce(&mut CertificateParams)) -> Issuer {
    let mut params = params("ca", IsCa::Ca(BasicConstraints::Unconstrained));
    change(&mut params);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn leaf() -> CertificateParams {
    let mut params = params("leaf", IsCa::ExplicitNoCa);
    params.subject_alt_names =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().subject_alt_names;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params
}

/// A server certificate with changed parameters, signed by `issuer`.
fn signed(issuer: &Issuer, change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
    let mut params = leaf();
    change(&mut params);
    params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap().der().to_vec()
}

fn self_signed(is_ca: IsCa) -> (Vec<u8>, String) {
    let mut params = leaf();
    params.is_ca = is_ca;
    let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
    (certificate.der().to_vec(), certificate.pem())
}

fn verify(chain: &[&[u8]], bundle: &str) -> Result<(), TrustError> {
    let algorithms = default_provider().signature_verification_algorithms;
    let authorities = Authorities::from_pem(bundle.as_bytes()).unwrap();
    authorities.verify(chain, &ServerName::try_from("localhost").unwrap(), NOW, &algorithms)
}

fn pem(der: &[u8]) -> String {
    formats::x509::pem::encode("CERTIFICATE", der)
}

/// The first certificate of a text.
fn der(pem: &str) -> Vec<u8> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
}

/// The reason an authority was not accepted.
fn hint(result: Result<(), TrustError>) -> String {
    match result {
        Err(TrustError::UnknownAuthority { hint: Some(hint) }) => hint,
        other => format!("{other:?}"),
    }
}

#[test]
fn case_21_certificates_in_the_bundle_are_trusted_themselves() {
    for is_ca in [IsCa::ExplicitNoCa, IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let (leaf, pem) = self_signed(is_ca);
        assert_eq!(verify(&[&leaf], &pem), Ok(()));
    }
    let ca = authority(|_| {});
    let of_ca = signed(&ca, |_| {});
    assert_eq!(verify(&[&of_ca], &pem(&of_ca)), Ok(()), "also if its issuer is not in the bundle");
    let is_ca = signed(&ca, |leaf| leaf.is_ca = IsCa::Ca(BasicConstraints::Unconstrained));
    assert_eq!(verify(&[&is_ca], &ca.pem()), Ok(()), "an authority may be a server");
    let expired = signed(&ca, |leaf| leaf.not_after = date_time_ymd(2026, 2, 1));
    assert_eq!(verify(&[&expired], &pem(&expired)), Err(TrustError::Expired("leaf".to_owned())));
    let other = signed(&ca, |leaf| leaf.subject_alt_names = Vec::new());
    let named = TrustError::Name { valid: "no name".to_owned(), name: "localhost".to_owned() };
    assert_eq!(verify(&[&other], &pem(&other)), Err(named), "a common name does not count");
    let client = signed(&ca, |leaf| leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]);
    assert_eq!(verify(&[&client], &pem(&client)), Err(TrustError::Usage));
}

#[test]
fn case_21_anything_else_in_a_bundle_is_ignored() {
    let ca = authority(|_| {});
    let leaf = signed(&ca, |_| {});
    let (good, junk) =
        (ca.pem(), "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUAAAA\n-----END CERTIFICATE-----\n");
    let key = KeyPair::generate().unwrap().serialize_pem();
    let bundles = [
        good.clone(),
        format!("{good}{junk}"),
        format!("{junk}{good}"),
        format!("{key}{good}"),
        format!("# our CA\nSubject: x\n\n{}\n\ntrailing", good.replace('\n', "\r\n")),
        format!("{good}-----BEGIN CERTIFICATE-----\nMIIB"),
    ];
    for bundle in bundles {
        assert_eq!(verify(&[&leaf], &bundle), Ok(()), "{bundle}");
    }
    assert!(Authorities::from_pem(junk.as_bytes()).is_err());
    let error = Authorities::from_pem(b"").unwrap_err();
    assert_eq!(error.to_string(), "failed to read certificate authorities: no certificate found");
}

#[test]
fn case_21_the_constraints_of_an_authority_apply() {
    let refused = "parent certificate cannot sign this kind of certificate";
    let past = "certificate of \"ca\" has expired or is not yet valid";
    let table: [(&str, Change); 5] = [
        (past, |ca| ca.not_after = date_time_ymd(2026, 2, 1)),
        (past, |ca| ca.not_before = date_time_ymd(2027, 2, 1)),
        (refused, |ca| ca.is_ca = IsCa::ExplicitNoCa),
        (refused, |ca| {
            ca.is_ca = IsCa::NoCa;
            // An extension makes it version 3.
            ca.extended_key_usages = vec![ExtendedKeyUsagePurpose::Any];
        }),
        (refused, |ca| ca.key_usages = vec![KeyUsagePurpose::DigitalSignature]),
    ];
    for (why, change) in table {
        let ca = authority(change);
        let leaf = signed(&ca, |_| {});
        assert_eq!(hint(verify(&[&leaf], &ca.pem())), format!("authority \"ca\": {why}"));
    }
    let clients = authority(|ca| ca.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]);
    assert_eq!(verify(&[&signed(&clients, |_| {})], &clients.pem()), Err(TrustError::Usage));
    let elsewhere = authority(|ca| {
        let permitted_subtrees = vec![GeneralSubtree::DnsName("example.com".to_owned())];
        ca.name_constraints = Some(NameConstraints { permitted_subtrees, excluded_subtrees: Vec::new() });
    });
    assert_eq!(verify(&[&signed(&elsewhere, |_| {})], &elsewhere.pem()), Err(TrustError::NotForThisName));
    let stranger = authority(|ca| ca.distinguished_name.push(DnType::CommonName, "stranger"));
    let unknown = Err(TrustError::UnknownAuthority { hint: None });
    assert_eq!(verify(&[&signed(&stranger, |_| {})], &authority(|_| {}).pem()), unknown);
    let same_name = authority(|_| {});
    let unsigned = hint(verify(&[&signed(&same_name, |_| {})], &authority(|_| {}).pem()));
    assert!(unsigned.contains("the signature does not match its key"), "{unsigned}");
}

#[test]
fn case_21_the_constraints_of_intermediates_apply() {
    let intermediate = |root: &Issuer, change: Change| {
        let mut params = params("between", IsCa::Ca(BasicConstraints::Unconstrained));
        change(&mut params);
        CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), root).unwrap()
    };
    let root = authority(|_| {});
    let middle = intermediate(&root, |_| {});
    let leaf = signed(&middle, |_| {});
    assert_eq!(verify(&[&leaf, middle.der()], &root.pem()), Ok(()));
    assert_eq!(verify(&[&leaf], &middle.pem()), Ok(()), "an intermediate may be a root itself");
    assert!(
        verify(&[&leaf], &root.pem()).is_err(),
        "a server that does not send its intermediate is not trusted"
    );
    let no_ca = intermediate(&root, |middle| middle.is_ca = IsCa::ExplicitNoCa);
    let leaf = signed(&no_ca, |_| {});
    assert!(verify(&[&leaf, no_ca.der()], &root.pem()).is_err());
    let short = authority(|ca| ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0)));
    let middle = intermediate(&short, |_| {});
    let leaf = signed(&middle, |_| {});
    let too_long = hint(verify(&[&leaf, middle.der()], &short.pem()));
    assert_eq!(too_long, "authority \"ca\": too many intermediates for path length constraint");
}

/// An authority of version 1, which has no extensions, and a certificate that it signed.
const VERSION_1: (&str, &str) = (
    "\
-----BEGIN CERTIFICATE-----
MIIBFzCBvwIUOcE2RfMbAVR4pJjkchZOSEBzYeIwCgYIKoZIzj0EAwIwDzENMAsG
A1UEAwwEdjFjYTAeFw0yNjExMjUxNjI2MzNaFw0yNzAzMDUxNjI2MzNaMA8xDTAL
BgNVBAMMBHYxY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARgAM2gNz5FhqYc
dJrVm1uDvfW96GR5Z7WMH13UD4LvJHbUSs6RQ3JYls9ZgurqS+x/7GDlNT2fCKxg
kvBUvdjzMAoGCCqGSM49BAMCA0cAMEQCIGaCQu4m+H6zmEj4e/MX+W4wXITPs5k5
Kzuf2M9Z5uOLAiAnMY0W0yhpDtPIPJ+hacIpbFqtcrqpcqUDkT6e+kp9ug==
-----END CERTIFICATE-----
",
    "\
-----BEGIN CERTIFICATE-----
MIIBXjCCAQSgAwIBAgIUZ04bRNCrR2ahuDigUIpAsCL1ayMwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdjFjYTAeFw0yNjExMTUxNjI2MzNaFw0zNTAyMTExNjI2MzNa
MAwxCjAIBgNVBAMMAWwwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR7oRbObx0u
hX0gM7S/OxQyZMV2a3zHfbJNTOKqOMLx4brfVHPM9u4vEZ8hKdK1Wp38kZ83gcMx
vMPJw0V/6yiqo0EwPzAMBgNVHRMBAf8EAjAAMBoGA1UdEQQTMBGCCWxvY2FsaG9z
dIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAKBggqhkjOPQQDAgNIADBFAiAK
lqOow4+25ec0SaXkeNVOI34kVw8AUeHNMKaJ2kJltgIhAP9osl7vqmf9ZKqXcUUl
sDhYxCBqgzByn4k9Qp0ea7Er
-----END CERTIFICATE-----
",
);

/// A server with an RSA key of 1024 bits, and its authority.
const SMALL_RSA: (&str, &str) = (
    "\
-----BEGIN CERTIFICATE-----
MIIBLzCB1aADAgECAhQe7pQbsnrlsGJ0nmidj6aLcJBWqzAKBggqhkjOPQQDAjAN
MQswCQYDVQQDDAJjYTAeFw0yNjExMTUxNjI2MzNaFw0zNTAyMTExNjI2MzNaMA0x
CzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3YBrAvau62we
1fTAPhONkyV0+PCsHH+s+ywh4DJO7HNPJAnR3Z5BfAknaMdLQy/h+qz5WBcg4jBi
l/N1q22Fi6MTMBEwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA
+r7xSKJhRW56IUfJLs0Pj7jn5KJL/N4MMNTodlmLjtQCIQDoyNSr+TAqr9ugGACG
SKZZBX17goaR01J7GzTiVeM9hQ==
-----END CERTIFICATE-----
",
    "\
-----BEGIN CERTIFICATE-----
MIIBqDCCAU+gAwIBAgIUFO4E71OFa2xS+4nsZO77iXRT0A8wCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwHhcNMjYxMTE1MTYyNjMzWhcNMzUwMjExMTYyNjMzWjAS
MRAwDgYDVQQDDAdyc2ExMDI0MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDK
qrXheJAen6Qu17uUTjN1JHVdwgEhzg2yMS/H4FkvTMR5I90m5/UpgO9FxGQg3BJn
YIbsn4KXLO6AgcCBVSHSqcxHQpMNgnphfkZDWtXQQu/0xd1NgawaeyvoT8/tIANI
//3PFs5OfcBlvTyp054Me4UzZKrvXrgUkUU6Dg71vQIDAQABo0EwPzAMBgNVHRMB
Af8EAjAAMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATATBgNVHSUEDDAKBggr
BgEFBQcDATAKBggqhkjOPQQDAgNHADBEAiB3c+DtzYjC/IJwFvRVAPn47B4BEkB4
OGKyuAxG+q8RAwIgHXKrWGuDNlHI5YYqSpCs8Sv78vFLQqahdOsl4kATqK4=
-----END CERTIFICATE-----
",
);

#[test]
fn case_21_an_authority_of_version_1_may_sign() {
    let (authority, leaf) = VERSION_1;
    assert_eq!(verify(&[&der(leaf)], authority), Ok(()));
    let (authority, leaf) = SMALL_RSA;
    assert_eq!(
        verify(&[&der(leaf)], authority),
        Ok(()),
        "its handshake fails, because rustls rejects such a signature"
    );
}

#[test]
fn case_21_a_duplicate_extension_is_an_error() {
    let ca = authority(|_| {});
    let twice = signed(&ca, |leaf| {
        let unknown = || rcgen::CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        leaf.custom_extensions = vec![unknown(), unknown()];
    });
    let error = verify(&[&twice], &ca.pem()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to parse certificate from server: certificate contains duplicate extension with OID \"1.2.3.4\""
    );
    let critical = signed(&ca, |leaf| {
        let mut unknown = rcgen::CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        unknown.set_criticality(true);
        leaf.custom_extensions = vec![unknown];
    });
    assert_eq!(verify(&[&critical], &ca.pem()), Err(TrustError::UnknownExtension("leaf".to_owned())));
}
