//! Builds certificate requests (PKCS #10) in PEM.
//!
//! The key is fixed and its signature (Ed25519) deterministic: the same names give the same request.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

/// The key of every request; it is public and only for tests.
const SEED: [u8; 32] = *b"a key that is no secret at all!!";

const LABEL: &str = "CERTIFICATE REQUEST";

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OCTETS: u8 = 0x04;
const BITS: u8 = 0x03;
const UTF8: u8 = 0x0c;
const OBJECT_ID: u8 = 0x06;
const ATTRIBUTES: u8 = 0xa0;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// The names that a request contains.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RequestedNames {
    common_name: Option<String>,
    organizations: Vec<String>,
    dns_names: Vec<String>,
    ip_addresses: Vec<std::net::IpAddr>,
    emails: Vec<String>,
    uris: Vec<String>,
}

/// The request in PEM; `None` if a field is unknown or an IP address is invalid.
pub(crate) fn pem(requested: &Value) -> Option<String> {
    let requested: RequestedNames = serde_json::from_value(requested.clone()).ok()?;
    let key = Ed25519KeyPair::from_seed_unchecked(&SEED).ok()?;
    let info = info(&requested, key.public_key().as_ref());
    let signature = bits(key.sign(&info).as_ref());
    let request = sequence(&[info, algorithm(), signature]);
    let text = STANDARD.encode(request);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    Some(format!("-----BEGIN {LABEL}-----\n{}\n-----END {LABEL}-----\n", lines.join("\n")))
}

/// CertificationRequestInfo: version 0, subject, key, attributes.
fn info(requested: &RequestedNames, key: &[u8]) -> Vec<u8> {
    let version = tagged(0x02, &[0]);
    let key = sequence(&[algorithm(), bits(key)]);
    sequence(&[version, subject(requested), key, tagged(ATTRIBUTES, &extensions(requested))])
}

fn subject(requested: &RequestedNames) -> Vec<u8> {
    let organizations = requested.organizations.iter().map(|name| (ORGANIZATION, name));
    let all = organizations.chain(requested.common_name.iter().map(|name| (COMMON_NAME, name)));
    let parts = all.map(|(kind, text)| {
        tagged(SET, &sequence(&[tagged(OBJECT_ID, kind), tagged(UTF8, text.as_bytes())]))
    });
    sequence(&parts.collect::<Vec<_>>())
}

/// The attribute with subject alternative names; empty if there are none.
fn extensions(requested: &RequestedNames) -> Vec<u8> {
    let text = |tag: u8| move |name: &String| tagged(tag, name.as_bytes());
    let mut names: Vec<Vec<u8>> = requested.emails.iter().map(text(0x81)).collect();
    names.extend(requested.dns_names.iter().map(text(0x82)));
    names.extend(requested.uris.iter().map(text(0x86)));
    names.extend(requested.ip_addresses.iter().map(|address| match address {
        std::net::IpAddr::V4(address) => tagged(0x87, &address.octets()),
        std::net::IpAddr::V6(address) => tagged(0x87, &address.octets()),
    }));
    if names.is_empty() {
        return Vec::new();
    }
    let names = tagged(OCTETS, &sequence(&names));
    let extension = sequence(&[tagged(OBJECT_ID, SUBJECT_ALTERNATIVE_NAME), names]);
    sequence(&[tagged(OBJECT_ID, EXTENSION_REQUEST), tagged(SET, &sequence(&[extension]))])
}

fn algorithm() -> Vec<u8> {
    sequence(&[tagged(OBJECT_ID, ED25519)])
}

fn bits(content: &[u8]) -> Vec<u8> {
    tagged(BITS, &[&[0], content].concat())
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(SEQUENCE, &parts.concat())
}

/// Tag, length and content, as DER has them.
fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let bytes = length.to_be_bytes();
    let bytes = &bytes[bytes.iter().take_while(|byte| **byte == 0).count().min(bytes.len() - 1)..];
    let mut der = vec![tag];
    if length >= 0x80 {
        der.push(0x80 | u8::try_from(bytes.len()).expect("a length has eight bytes at most"));
    }
    der.extend_from_slice(bytes);
    der.extend_from_slice(content);
    der
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use x509_parser::certification_request::X509CertificationRequest;
    use x509_parser::prelude::FromDer as _;

    use super::*;

    fn read(requested: &Value) -> (String, Vec<String>) {
        let text = pem(requested).unwrap();
        let (_, block) = x509_parser::pem::parse_x509_pem(text.as_bytes()).unwrap();
        let (rest, request) = X509CertificationRequest::from_der(&block.contents).unwrap();
        assert!(rest.is_empty());
        request.verify_signature().unwrap();
        let names = request.requested_extensions().into_iter().flatten().map(|found| format!("{found:?}"));
        (request.certification_request_info.subject.to_string(), names.collect())
    }

    #[test]
    fn a_request_contains_the_names_and_is_signed() {
        let requested = json!({
            "commonName": "system:node:a", "organizations": ["system:nodes", "others"],
            "dnsNames": ["a", "b.example.com"], "ipAddresses": ["10.0.0.1", "2001:db8::1"],
            "emails": ["a@example.com"], "uris": ["spiffe://a"],
        });
        let (subject, names) = read(&requested);
        assert_eq!(subject, "O=system:nodes, O=others, CN=system:node:a");
        let wanted = "[SubjectAlternativeName(SubjectAlternativeName { general_names: [RFC822Name(\"a@example.com\"), \
                      DNSName(\"a\"), DNSName(\"b.example.com\"), URI(\"spiffe://a\"), IPAddress([10, 0, 0, 1]), \
                      IPAddress([32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])] })]";
        assert_eq!(format!("[{}]", names.join(", ")), wanted);
        assert_eq!(pem(&requested), pem(&requested));
    }

    #[test]
    fn a_request_may_be_empty() {
        assert_eq!(read(&json!({})), (String::new(), Vec::new()));
    }

    #[test]
    fn invalid_fields_give_no_request() {
        for none in [json!("a"), json!({"commonNames": "a"}), json!({"ipAddresses": ["a"]})] {
            assert_eq!(pem(&none), None, "{none}");
        }
    }

    #[test]
    fn long_contents_have_long_lengths() {
        assert_eq!(tagged(4, &[7; 127])[..3], [4, 127, 7]);
        assert_eq!(tagged(4, &[7; 128])[..4], [4, 0x81, 128, 7]);
        assert_eq!(tagged(4, &[7; 300])[..5], [4, 0x82, 1, 44, 7]);
        assert_eq!(tagged(4, &[]), [4, 0]);
    }
}
