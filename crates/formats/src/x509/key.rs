//! Public keys: their algorithm, and whether they are well-formed.

use super::X509Error;
use super::der::{DerReader, INTEGER, OBJECT_ID, SEQUENCE, integer_value};

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const DSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const X25519: &[u8] = &[0x2b, 0x65, 0x6e];
const P224: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x21];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];

/// A subject's public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// Content of the AlgorithmIdentifier.
    pub algorithm: Vec<u8>,
    /// The key itself.
    pub bits: Vec<u8>,
    /// Whether Go knows the algorithm.
    pub known: bool,
}

/// Parses the content of a SubjectPublicKeyInfo. Whether a point is on its curve is checked when a signature is verified.
pub(super) fn read(mut info: DerReader<'_>) -> Result<PublicKey, X509Error> {
    let malformed = X509Error::Malformed("public key");
    let algorithm = info.element(SEQUENCE).ok_or_else(|| malformed.clone())?.content;
    let mut parts = DerReader::new(algorithm);
    let id = parts.object_id().ok_or_else(|| malformed.clone())?;
    let parameters =
        if parts.is_empty() { None } else { Some(parts.any().ok_or_else(|| malformed.clone())?.whole) };
    let bits = info.bits().ok_or_else(|| malformed.clone())?.into_owned();
    let known =
        is_well_formed(id, parameters, &bits).map(|good| if good { Ok(true) } else { Err(malformed) });
    Ok(PublicKey { algorithm: algorithm.to_owned(), bits, known: known.unwrap_or(Ok(false))? })
}

/// Whether a key fits its algorithm; `None` if the algorithm is unknown.
fn is_well_formed(id: &[u8], parameters: Option<&[u8]>, bits: &[u8]) -> Option<bool> {
    Some(match id {
        RSA => parameters == Some(&[0x05, 0x00]) && check_rsa(bits).is_some(),
        EC => check_point(parameters, bits).is_some(),
        ED25519 | X25519 => parameters.is_none() && bits.len() == 32,
        DSA => parameters.is_some_and(|parameters| check_dsa(parameters, bits).is_some()),
        _ => return None,
    })
}

fn check_rsa(bits: &[u8]) -> Option<()> {
    let mut numbers = DerReader::new(bits).within(SEQUENCE)?;
    check_positive(&mut numbers)?;
    let exponent = numbers.element(INTEGER)?;
    let exponent = DerReader::new(exponent.whole).integer()?;
    integer_value(exponent).filter(|exponent| *exponent > 0).map(drop)
}

fn check_point(parameters: Option<&[u8]>, bits: &[u8]) -> Option<()> {
    let curve = DerReader::new(parameters?).element(OBJECT_ID)?.content;
    let size = match curve {
        P224 => 28,
        P256 => 32,
        P384 => 48,
        P521 => 66,
        _ => return None,
    };
    (bits.first() == Some(&4) && bits.len() == 1 + 2 * size).then_some(())
}

fn check_dsa(parameters: &[u8], bits: &[u8]) -> Option<()> {
    check_positive(&mut DerReader::new(bits))?;
    let mut numbers = DerReader::new(parameters).within(SEQUENCE)?;
    (0..3).try_for_each(|_| check_positive(&mut numbers))
}

fn check_positive(numbers: &mut DerReader<'_>) -> Option<()> {
    let number = numbers.integer()?;
    (number[0] & 0x80 == 0 && number != [0]).then_some(())
}
