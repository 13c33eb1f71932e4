//! Case 22: certificate requests are parsed as by Go's `x509.ParseCertificateRequest`.

use formats::x509::request::{CertificateRequest, RequestError};
use formats::x509::{AlternativeNames, X509Error};

const GOOD: &str = "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBETCBuAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KAmMCQGCSqGSIb3DQEJDjEXMBUwEwYDVR0RBAwwCoICbjGHBAoAAAEw
CgYIKoZIzj0EAwIDSAAwRQIgKWJg2WtR+BRIiFNbhgsGMnzZlbHalr42meOhf4o/
PEYCIQCNdceK8QXdSBZdGDmmuuubZIAHvAAbs4BcxaBiuECF2Q==
-----END CERTIFICATE REQUEST-----
";

const COMMON_NAME_OF_TWO_BYTES: &str = "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBIDCBxgIBADA+MRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxJTAjBgNVBAMeHABz
AHkAcwB0AGUAbQA6AG4AbwBkAGUAOgBuADEwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAAS3LKbqBdCfawGJdEhc0jTBNVkBkSTiEuyv0hHSmIHUgdI8ugZ/vNo/HPgH
1gkIQ6mr5W9AHJL0F5elbHplDOvQoCYwJAYJKoZIhvcNAQkOMRcwFTATBgNVHREE
DDAKggJuMYcECgAAATAKBggqhkjOPQQDAgNJADBGAiEA88Y53qK0gyWYP6UWELiM
AK26tZagojifpcLwSLRN0TYCIQCmlPtLFRJFhSTmxPef5//EMz1kbGy4PM1I9WNW
9Vlafw==
-----END CERTIFICATE REQUEST-----
";

const TWO_ATTRIBUTES: &str = "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBQDCB6AIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KBWMCQGCSqGSIb3DQEJDjEXMBUwEwYDVR0RBAwwCoICbjGHBAoAAAEw
LgYJKoZIhvcNAQkOMSEwHzAdBgNVHREEFjAUghJrdWJlcm5ldGVzLmRlZmF1bHQw
CgYIKoZIzj0EAwIDRwAwRAIgL/nPgtmdquq/Kt9Wzm1GCSMVlHck99WPaGxsW1/V
NvICIGr6bWZzWV70pyhiyQrRpmc3sBHBpLWQxVfQriwZAPsS
-----END CERTIFICATE REQUEST-----
";

const TWO_EXTENSIONS: &str = "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBNzCB3QIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KBLMEkGCSqGSIb3DQEJDjE8MDowEwYDVR0RBAwwCoICbjGHBAoAAAEw
IwYDVR0RBBwwGoISa3ViZXJuZXRlcy5kZWZhdWx0hwQKAAABMAoGCCqGSM49BAMC
A0kAMEYCIQDcyBclX508N91S8K9Y7DYhppEP8i7zrDWZMfQwGrSXGwIhANr5nXdy
Q93p/vp3O+9dhRWjKEQL4RgGCHDWPlLcxQb6
-----END CERTIFICATE REQUEST-----
";

const ADDRESS_OF_EIGHT_BYTES: &str = "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBFTCBvAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KAqMCgGCSqGSIb3DQEJDjEbMBkwFwYDVR0RBBAwDoICbjGHCAoAAAH/
////MAoGCCqGSM49BAMCA0gAMEUCIQDsntA2P5mBzk4IW7/pakKDnSahpI1qWuJa
KF59EAOHCQIgdv8E8lzt6w/fQmvvDKdhGiSQ8zuX2XNbROEi52ly4rQ=
-----END CERTIFICATE REQUEST-----
";

fn read(pem: &str) -> Result<CertificateRequest, RequestError> {
    CertificateRequest::from_pem(pem.as_bytes())
}

fn are_those_of_the_node(names: &AlternativeNames) -> bool {
    names.dns == ["n1"] && names.ip.iter().map(ToString::to_string).eq(["10.0.0.1"])
}

#[test]
fn case_22_a_good_request_is_read() {
    for pem in [GOOD, COMMON_NAME_OF_TWO_BYTES] {
        let request = read(pem).unwrap();
        assert_eq!(request.subject.common_name, "system:node:n1");
        assert_eq!(request.subject.organizations, ["system:nodes"]);
        assert!(are_those_of_the_node(&request.names), "{:?}", request.names);
    }
}

#[test]
fn case_22_an_extension_requested_twice_is_an_error() {
    for pem in [TWO_ATTRIBUTES, TWO_EXTENSIONS] {
        assert_eq!(read(pem), Err(RequestError::Request(X509Error::DuplicateRequested)));
    }
    let error = read(ADDRESS_OF_EIGHT_BYTES).unwrap_err();
    assert_eq!(error.to_string(), "x509: cannot parse IP address of length 8");
}

/// Encodes tag, length and content.
fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    let head = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
    [head, content.to_vec()].concat()
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(0x30, &parts.concat())
}

/// A request by an Ed25519 key with these attributes.
fn request(subject: Vec<u8>, attributes: &[Vec<u8>]) -> Vec<u8> {
    let algorithm = sequence(&[tagged(0x06, &[0x2b, 0x65, 0x70])]);
    let key = sequence(&[algorithm.clone(), tagged(0x03, &[0; 33])]);
    let info = sequence(&[tagged(0x02, &[0]), subject, key, tagged(0xa0, &attributes.concat())]);
    sequence(&[info, algorithm, tagged(0x03, &[0; 65])])
}

fn attribute(kind: &[u8], values: &[Vec<u8>]) -> Vec<u8> {
    sequence(&[tagged(0x06, kind), tagged(0x31, &values.concat())])
}

fn extension(name: &[u8]) -> Vec<u8> {
    let names = sequence(&[tagged(0x82, name)]);
    sequence(&[tagged(0x06, &[0x55, 0x1d, 0x11]), tagged(0x04, &names)])
}

const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const CHALLENGE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x07];

#[test]
fn case_22_attributes_and_their_values_are_read_as_in_go() {
    let no_subject = || sequence(&[]);
    let requesting = |extensions: &[Vec<u8>]| attribute(EXTENSION_REQUEST, &[sequence(extensions)]);
    let names = |attributes: &[Vec<u8>]| {
        CertificateRequest::from_der(&request(no_subject(), attributes)).map(|request| request.names.dns)
    };
    let (a, b) = (extension(b"a"), extension(b"b"));
    let usage = sequence(&[tagged(0x06, &[0x55, 0x1d, 0x0f]), tagged(0x04, &[])]);
    let duplicate = Err(X509Error::DuplicateRequested);
    // Two attributes may request different extensions.
    assert_eq!(
        names(&[requesting(std::slice::from_ref(&usage)), requesting(std::slice::from_ref(&a))]),
        Ok(vec!["a".to_owned()])
    );
    assert_eq!(names(&[requesting(&[usage.clone(), a.clone()]), requesting(&[usage])]), duplicate);
    assert_eq!(
        names(&[requesting(std::slice::from_ref(&a)), requesting(std::slice::from_ref(&a))]),
        duplicate
    );
    // Go takes the first of several values of an attribute and ignores the others.
    let two_values = attribute(EXTENSION_REQUEST, &[sequence(std::slice::from_ref(&a)), sequence(&[b])]);
    assert_eq!(names(&[two_values]), Ok(vec!["a".to_owned()]));
    // Attributes other than extension requests are ignored.
    assert_eq!(names(&[attribute(CHALLENGE, &[tagged(0x0c, b"x")]), tagged(0x04, b"x")]), Ok(vec![]));
    let broken = attribute(EXTENSION_REQUEST, &[tagged(0x0c, b"x")]);
    assert_eq!(names(&[broken]), Err(X509Error::Malformed("requested extensions")));
    let der = [request(no_subject(), &[]), vec![0]].concat();
    assert_eq!(CertificateRequest::from_der(&der), Err(X509Error::Trailing));
}

#[test]
fn another_pem_block_is_an_error() {
    let other = GOOD.replace("CERTIFICATE REQUEST", "CERTIFICATE");
    for text in ["", "a", &other, &format!("{other}{GOOD}")] {
        assert_eq!(read(text), Err(RequestError::Block), "{text}");
    }
    assert!(read(&format!("a text before\n{GOOD}")).is_ok());
}
