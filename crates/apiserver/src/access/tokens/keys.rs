//! Keys for service account tokens: one signs, several may verify, as in kube-apiserver's flags.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use formats::x509::pem::{self, Block};
use jsonwebtoken::{Algorithm, DecodingKey};
use rcgen::PublicKeyData;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// `1.2.840.10045.3.1.7`
const P256: &str = "1.2.840.10045.3.1.7";
/// `1.3.132.0.34`
const P384: &str = "1.3.132.0.34";

/// Reason a PEM file has no key for tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenKeyError {
    /// No block of the file is such a key.
    #[error("found no {0} key in it")]
    Missing(&'static str),
    /// The key's type is not supported.
    #[error("its key is neither RSA nor ECDSA over P-256 or P-384")]
    Unsupported,
}

/// A private key that signs tokens. Clones share one key.
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<rcgen::KeyPair>,
    public: VerifyingKey,
}

/// A public key that verifies tokens.
#[derive(Clone)]
pub struct VerifyingKey {
    /// The `kid` of tokens and JSON web keys.
    pub(super) id: String,
    pub(super) algorithm: Algorithm,
    pub(super) decoding: DecodingKey,
    parameters: Parameters,
}

/// The numbers of a public key, each as big-endian bytes.
#[derive(Clone)]
enum Parameters {
    Ec { curve: &'static str, point: Vec<u8> },
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
}

impl SigningKey {
    /// A new ECDSA key over P-256.
    pub(super) fn generate() -> Self {
        let pair = rcgen::KeyPair::generate().expect("the system has randomness for a key");
        Self::of(pair).expect("ECDSA over P-256 is supported")
    }

    /// The first private key of a PEM file: PKCS#8, `RSA PRIVATE KEY` or `EC PRIVATE KEY`.
    ///
    /// # Errors
    /// When the file has none, or its type is not supported.
    pub fn from_pem(text: &[u8]) -> Result<Self, TokenKeyError> {
        let mut keys = pem::blocks(text).filter(is_private);
        let block = keys.next().ok_or(TokenKeyError::Missing("private"))?;
        let pair = rcgen::KeyPair::try_from(block.content).map_err(|_| TokenKeyError::Unsupported)?;
        Self::of(pair)
    }

    fn of(pair: rcgen::KeyPair) -> Result<Self, TokenKeyError> {
        let public = VerifyingKey::of(&pair.subject_public_key_info()).ok_or(TokenKeyError::Unsupported)?;
        Ok(Self { pair: Arc::new(pair), public })
    }

    /// The public half.
    pub(super) fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// The signature of a message, in the format of JSON web signatures.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature = rcgen::SigningKey::sign(&*self.pair, message).expect("the key can sign");
        match self.public.algorithm {
            Algorithm::ES256 => fixed_size(&signature, 32),
            Algorithm::ES384 => fixed_size(&signature, 48),
            _ => signature,
        }
    }
}

impl VerifyingKey {
    /// All keys of a PEM file: public keys, certificates, and the public halves of private keys.
    ///
    /// # Errors
    /// When the file has no key, or the type of one is not supported.
    pub fn all_from_pem(text: &[u8]) -> Result<Vec<Self>, TokenKeyError> {
        let keys: Vec<Self> =
            pem::blocks(text).filter_map(|block| Self::from_block(&block)).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err(TokenKeyError::Missing("public")) } else { Ok(keys) }
    }

    /// The key of a PEM block; absent if the block is something else.
    fn from_block(block: &Block) -> Option<Result<Self, TokenKeyError>> {
        let key = match block.label.as_str() {
            "PUBLIC KEY" => Self::of(&block.content),
            "CERTIFICATE" => {
                let (_, certificate) = X509Certificate::from_der(&block.content).ok()?;
                Self::of(certificate.public_key().raw)
            }
            _ if is_private(block) => {
                let pair = rcgen::KeyPair::try_from(block.content.as_slice());
                pair.ok().and_then(|pair| Self::of(&pair.subject_public_key_info()))
            }
            _ => return None,
        };
        Some(key.ok_or(TokenKeyError::Unsupported))
    }

    /// The key of a SubjectPublicKeyInfo in DER; absent if its type is not supported.
    fn of(info: &[u8]) -> Option<Self> {
        let (_, key) = SubjectPublicKeyInfo::from_der(info).ok()?;
        let bits = key.subject_public_key.data.as_ref();
        let curve = key.algorithm.parameters.as_ref().and_then(|parameters| parameters.as_oid().ok());
        let curve = curve.map(|id| id.to_id_string()).unwrap_or_default();
        let (algorithm, parameters) = match (key.parsed().ok()?, curve.as_str()) {
            (PublicKey::RSA(key), _) => {
                let (modulus, exponent) = (unpadded(key.modulus), unpadded(key.exponent));
                (Algorithm::RS256, Parameters::Rsa { modulus, exponent })
            }
            (PublicKey::EC(_), P256) => {
                (Algorithm::ES256, Parameters::Ec { curve: "P-256", point: bits.to_vec() })
            }
            (PublicKey::EC(_), P384) => {
                (Algorithm::ES384, Parameters::Ec { curve: "P-384", point: bits.to_vec() })
            }
            _ => return None,
        };
        let decoding = match parameters {
            Parameters::Rsa { .. } => DecodingKey::from_rsa_der(bits),
            Parameters::Ec { .. } => DecodingKey::from_ec_der(bits),
        };
        // As in Kubernetes, the key id is the digest of the public key.
        Some(Self { id: URL_SAFE_NO_PAD.encode(Sha256::digest(info)), algorithm, decoding, parameters })
    }

    /// `RS256`.
    pub(super) fn algorithm_name(&self) -> &'static str {
        match self.algorithm {
            Algorithm::ES256 => "ES256",
            Algorithm::ES384 => "ES384",
            _ => "RS256",
        }
    }

    /// The JSON web key.
    pub(super) fn to_json(&self) -> Value {
        let mut key = json!({"use": "sig", "kid": self.id, "alg": self.algorithm_name()});
        match &self.parameters {
            Parameters::Ec { curve, point } => {
                // An uncompressed point: the byte 4, then both coordinates.
                let (x, y) = point[1..].split_at((point.len() - 1) / 2);
                key["kty"] = "EC".into();
                key["crv"] = (*curve).into();
                key["x"] = URL_SAFE_NO_PAD.encode(x).into();
                key["y"] = URL_SAFE_NO_PAD.encode(y).into();
            }
            Parameters::Rsa { modulus, exponent } => {
                key["kty"] = "RSA".into();
                key["n"] = URL_SAFE_NO_PAD.encode(modulus).into();
                key["e"] = URL_SAFE_NO_PAD.encode(exponent).into();
            }
        }
        key
    }
}

fn is_private(block: &Block) -> bool {
    matches!(block.label.as_str(), "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY")
}

/// A number without leading zeros.
fn unpadded(number: &[u8]) -> Vec<u8> {
    number.iter().copied().skip_while(|byte| *byte == 0).collect()
}

/// Converts an ECDSA signature from DER to its two numbers of `size` bytes each.
fn fixed_size(signature: &[u8], size: usize) -> Vec<u8> {
    let header = if signature.get(1).is_some_and(|length| *length > 0x80) { 3 } else { 2 };
    let mut rest = signature.get(header..).unwrap_or_default();
    let mut both = Vec::with_capacity(2 * size);
    for _ in 0..2 {
        let length = rest.get(1).map_or(0, |length| usize::from(*length));
        let number = unpadded(rest.get(2..2 + length).unwrap_or_default());
        both.extend(std::iter::repeat_n(0, size.saturating_sub(number.len())));
        both.extend(number);
        rest = rest.get(2 + length..).unwrap_or_default();
    }
    both
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.public.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifyingKey").field("id", &self.id).finish_non_exhaustive()
    }
}
