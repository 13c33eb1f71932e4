//! Checksum of a signing authority as the original computes it: of Go's structure of the certificate and its key, part by part,
//! as Go 1.21 reads them. Go's big numbers have no exported fields and count with the name of their type alone, which is why the
//! key's numbers are not needed.
//!
//! Not told apart, so that the checksum of a certificate that was issued with the original differs: signatures with PSS, and
//! authorities of people with name constraints, policies, CRL distribution points, URIs or information access. As far as the
//! original made the authority, none of these occur.

use formats::x509::Certificate;
use x509_parser::prelude::{FromDer as _, X509Certificate, X509Extension, X509Name};
use x509_parser::public_key::PublicKey;

use crate::checksum::{self, StructChecksum};

/// `2.5.29`, the arc of certificate extensions.
const EXTENSION_ARC: [u8; 2] = [0x55, 0x1d];
/// `2.5.4`, the arc of attributes of names.
const ATTRIBUTE_ARC: [u8; 2] = [0x55, 0x04];
/// `1.3.6.1.5.5.7.3`, the arc of extended key usages.
const USAGE_ARC: [u8; 7] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03];
/// The extensions of `2.5.29` that Go 1.21 handles whatever they hold.
const HANDLED: [u8; 8] = [14, 15, 19, 30, 31, 32, 35, 37];
/// Alternative names, which Go handles if it knows one of them.
const ALTERNATIVE_NAMES: u8 = 17;
/// `1.3.6.1.5.5.7.1.1`
const AUTHORITY_INFORMATION: [u8; 8] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01];
/// Algorithms of signatures, and Go's number of each.
const SIGNATURES: [(&[u8], i64); 8] = [
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05], 3),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], 4),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0c], 5),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d], 6),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01], 9),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02], 10),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03], 11),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04], 12),
];
/// Extended key usages outside of [`USAGE_ARC`], and Go's number of each.
const OTHER_USAGES: [(&[u8], i64); 5] = [
    (&[0x55, 0x1d, 0x25, 0x00], 0),
    (&[0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x0a, 0x03, 0x03], 10),
    (&[0x60, 0x86, 0x48, 0x01, 0x86, 0xf8, 0x42, 0x04, 0x01], 11),
    (&[0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x01, 0x16], 12),
    (&[0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x3d, 0x01, 0x01], 13),
];
/// Go's number of RSA among the algorithms of public keys.
const RSA: i64 = 1;

/// Checksum of an authority with an RSA key of two primes; `None` if its certificate is none that Go reads so.
pub(crate) fn authority(
    name: &str,
    key_pem: &[u8],
    certificate_pem: &[u8],
    read: &Certificate,
) -> Option<u64> {
    let (_, parsed) = X509Certificate::from_der(&read.der).ok()?;
    let PublicKey::RSA(key) = parsed.tbs_certificate.subject_pki.parsed().ok()? else { return None };
    let exponent = i64::try_from(key.try_exponent().ok()?).ok()?;
    let structure = StructChecksum::new("Certificate")
        .text("Name", name)
        .field("PrivateKey", private_key(exponent))
        .bytes("PrivateKeyPEM", key_pem)
        .field("Certificate", certificate(read, &parsed, exponent)?)
        .bytes("CertificatePEM", certificate_pem);
    Some(structure.value())
}

fn big_number() -> u64 {
    StructChecksum::new("Int").value()
}

fn public_key(exponent: i64) -> u64 {
    StructChecksum::new("PublicKey").field("N", big_number()).integer("E", exponent).value()
}

fn private_key(exponent: i64) -> u64 {
    let computed = StructChecksum::new("PrecomputedValues")
        .field("Dp", big_number())
        .field("Dq", big_number())
        .field("Qinv", big_number())
        // Empty, but not nil: a key of two primes.
        .field("CRTValues", checksum::list([]));
    StructChecksum::new("PrivateKey")
        .field("PublicKey", public_key(exponent))
        .field("D", big_number())
        .list("Primes", &[big_number(), big_number()])
        .field("Precomputed", computed.value())
        .value()
}

fn certificate(read: &Certificate, parsed: &X509Certificate<'_>, exponent: i64) -> Option<u64> {
    let all: Vec<u64> = parsed.extensions().iter().map(extension).collect();
    let has_known_name = !read.extensions.names.is_empty();
    let unhandled: Vec<u64> = parsed
        .extensions()
        .iter()
        .filter(|extension| extension.critical && !is_handled(extension.oid.as_bytes(), has_known_name))
        .map(|extension| object_id(extension.oid.as_bytes()))
        .collect();
    let structure = StructChecksum::new("Certificate")
        .bytes("Raw", &read.der)
        .bytes("RawTBSCertificate", &read.signed)
        .bytes("RawSubjectPublicKeyInfo", parsed.tbs_certificate.subject_pki.raw)
        .bytes("RawSubject", &read.raw_subject)
        .bytes("RawIssuer", &read.raw_issuer)
        .bytes("Signature", &read.signature)
        .integer("SignatureAlgorithm", signature_algorithm(parsed.signature_algorithm.algorithm.as_bytes()))
        .integer("PublicKeyAlgorithm", RSA)
        .field("PublicKey", public_key(exponent))
        .integer("Version", read.version)
        .field("SerialNumber", big_number())
        .optional("Issuer", names(&parsed.tbs_certificate.issuer)?.checksum())
        .optional("Subject", names(&parsed.tbs_certificate.subject)?.checksum())
        .field("NotBefore", checksum::time(read.not_before))
        .field("NotAfter", checksum::time(read.not_after))
        .integer("KeyUsage", i64::from(read.extensions.key_usage))
        .list("Extensions", &all)
        .list("UnhandledCriticalExtensions", &unhandled);
    Some(meaning_of_extensions(structure, read).value())
}

/// Adds the fields that Go sets from extensions.
fn meaning_of_extensions(structure: StructChecksum, read: &Certificate) -> StructChecksum {
    let extensions = &read.extensions;
    let usages = |known: bool| -> Vec<u64> {
        let usages = extensions.usages.iter().map(|id| (id, usage(id)));
        let chosen = usages.filter(|(_, usage)| usage.is_some() == known);
        chosen.map(|(id, usage)| usage.map_or_else(|| object_id(id), checksum::integer)).collect()
    };
    let longest_path = extensions.authority.map_or(0, |authority| {
        authority.longest_path.map_or(-1, |length| i64::try_from(length).unwrap_or(i64::MAX))
    });
    let addresses: Vec<u64> = extensions
        .names
        .ip
        .iter()
        .map(|address| match address {
            std::net::IpAddr::V4(address) => checksum::bytes(&address.octets()),
            std::net::IpAddr::V6(address) => checksum::bytes(&address.octets()),
        })
        .collect();
    structure
        .list("ExtKeyUsage", &usages(true))
        .list("UnknownExtKeyUsage", &usages(false))
        .flag("BasicConstraintsValid", extensions.authority.is_some())
        .flag("IsCA", extensions.authority.is_some_and(|authority| authority.is_authority))
        .integer("MaxPathLen", longest_path)
        .flag("MaxPathLenZero", extensions.authority.is_some() && longest_path == 0)
        .bytes("SubjectKeyId", &extensions.subject_key)
        .bytes("AuthorityKeyId", &extensions.authority_key)
        .texts("DNSNames", &extensions.names.dns)
        .texts("EmailAddresses", &extensions.names.email)
        .list("IPAddresses", &addresses)
}

fn extension(extension: &X509Extension<'_>) -> u64 {
    StructChecksum::new("Extension")
        .field("Id", object_id(extension.oid.as_bytes()))
        .flag("Critical", extension.critical)
        .field("Value", checksum::bytes(extension.value))
        .value()
}

fn is_handled(id: &[u8], has_known_name: bool) -> bool {
    match id {
        [first, second, ALTERNATIVE_NAMES] if [*first, *second] == EXTENSION_ARC => has_known_name,
        [first, second, number] if [*first, *second] == EXTENSION_ARC => HANDLED.contains(number),
        _ => id == AUTHORITY_INFORMATION,
    }
}

fn signature_algorithm(id: &[u8]) -> i64 {
    SIGNATURES.iter().find(|(known, _)| *known == id).map_or(0, |(_, number)| *number)
}

/// Go's number of an extended key usage; `None` if it has none.
fn usage(id: &[u8]) -> Option<i64> {
    match id.strip_prefix(&USAGE_ARC) {
        Some([number @ 1..=9]) => Some(i64::from(*number)),
        _ => OTHER_USAGES.iter().find(|(known, _)| *known == id).map(|(_, number)| *number),
    }
}

/// The attributes of a name: kinds and texts.
struct NameAttributes<'a>(Vec<(&'a [u8], String)>);

/// The attributes of a name; `None` if one is no text.
fn names<'a>(name: &'a X509Name<'_>) -> Option<NameAttributes<'a>> {
    let mut attributes = Vec::new();
    for relative in name.iter() {
        for attribute in relative.iter() {
            attributes.push((attribute.attr_type().as_bytes(), attribute.as_str().ok()?.to_owned()));
        }
    }
    Some(NameAttributes(attributes))
}

impl NameAttributes<'_> {
    /// Checksum of the name; `None` if it is empty.
    fn checksum(&self) -> Option<u64> {
        let each = |(kind, text): &(&[u8], String)| {
            StructChecksum::new("AttributeTypeAndValue")
                .field("Type", object_id(kind))
                .field("Value", checksum::text(text))
                .value()
        };
        let all: Vec<u64> = self.0.iter().map(each).collect();
        let structure = StructChecksum::new("Name")
            .texts("Country", &self.of_kind(6))
            .texts("Organization", &self.of_kind(10))
            .texts("OrganizationalUnit", &self.of_kind(11))
            .texts("Locality", &self.of_kind(7))
            .texts("Province", &self.of_kind(8))
            .texts("StreetAddress", &self.of_kind(9))
            .texts("PostalCode", &self.of_kind(17))
            .text("SerialNumber", &self.last(5))
            .text("CommonName", &self.last(3))
            .list("Names", &all);
        (!all.is_empty()).then(|| structure.value())
    }

    fn of_kind(&self, number: u8) -> Vec<String> {
        let is_meant = |kind: &[u8]| kind.strip_prefix(&ATTRIBUTE_ARC) == Some(&[number]);
        self.0.iter().filter(|(kind, _)| is_meant(kind)).map(|(_, text)| text.clone()).collect()
    }

    fn last(&self, number: u8) -> String {
        self.of_kind(number).pop().unwrap_or_default()
    }
}

/// Checksum of an object identifier: a list of numbers.
fn object_id(bytes: &[u8]) -> u64 {
    let mut numbers: Vec<i64> = Vec::new();
    let mut number: i64 = 0;
    for byte in bytes {
        number = (number << 7) | i64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        if numbers.is_empty() {
            let first = (number / 40).min(2);
            numbers.extend([first, number - first * 40]);
        } else {
            numbers.push(number);
        }
        number = 0;
    }
    checksum::list(numbers.into_iter().map(checksum::integer))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::fixture::{PLAIN_CERTIFICATE, PLAIN_KEY, RICH_CERTIFICATE, RICH_KEY};

    /// From Go 1.21.3 with hashstructure v2.0.2.
    #[rstest]
    #[case::as_the_original_makes_it(PLAIN_KEY, PLAIN_CERTIFICATE, 4_300_135_421_807_187_234)]
    #[case::with_much_that_a_persons_may_have(RICH_KEY, RICH_CERTIFICATE, 6_710_906_320_591_476_725)]
    fn authorities_have_the_original_s_checksum(#[case] key: &[u8], #[case] pem: &[u8], #[case] want: u64) {
        let certificate = Certificate::bundle(pem).remove(0);
        assert_eq!(authority("ca", key, pem, &certificate), Some(want));
        assert_ne!(authority("ca-client", key, pem, &certificate), Some(want));
    }
}
