//! Flags about the server's certificate and about how clients authenticate, which kube-apiserver and aggregated API servers
//! share.

use webhook::server::{CertificateError, Certificates};
use webhook::trust::Authorities;

use super::{FlagError, GivenFlags, read_file};
use crate::access::RequestHeaders;
use crate::authority::KeyPair;

/// Authorities of users' client certificates.
pub const CLIENTS: &str = "client-ca-file";
/// Authorities of front proxies.
pub const PROXIES: &str = "requestheader-client-ca-file";
/// Common names of front proxies.
pub const PROXY_NAMES: &str = "requestheader-allowed-names";
/// Headers with a user's name.
pub const PROXY_USER: &str = "requestheader-username-headers";
/// Headers with a user's uid.
pub const PROXY_UID: &str = "requestheader-uid-headers";
/// Headers with a user's groups.
pub const PROXY_GROUPS: &str = "requestheader-group-headers";
/// Prefixes of headers with extra attributes.
pub const PROXY_EXTRA: &str = "requestheader-extra-headers-prefix";

/// The front proxies of the flags, if their authorities are given.
///
/// # Errors
/// When the file of authorities cannot be read, or has none.
pub fn front_proxies(given: &GivenFlags) -> Result<Option<RequestHeaders>, FlagError> {
    Ok(bundle(given, PROXIES)?.map(|authorities| RequestHeaders {
        authorities,
        allowed_names: given.list(PROXY_NAMES),
        username: given.list(PROXY_USER),
        uid: given.list(PROXY_UID),
        groups: given.list(PROXY_GROUPS),
        extra_prefixes: given.list(PROXY_EXTRA),
    }))
}

/// The text of the file that a flag names, with at least one certificate.
///
/// # Errors
/// When the file cannot be read, or has no certificate.
pub fn bundle(given: &GivenFlags, flag: &str) -> Result<Option<String>, FlagError> {
    let Some((path, content)) = given.file(flag)? else { return Ok(None) };
    let refused = |reason: String| FlagError::of_value(flag, &path, reason);
    Authorities::from_pem(&content).map_err(|error| refused(error.to_string()))?;
    String::from_utf8(content).map(Some).map_err(|_| refused("is not UTF-8".to_owned()))
}

/// The key pair of two flags, which need each other.
///
/// # Errors
/// When only one is given, or the files are no certificate and its key.
pub fn key_pair(given: &GivenFlags, (certificate, key): (&str, &str)) -> Result<Option<KeyPair>, FlagError> {
    let (certificate_path, key_path) = match (given.last(certificate), given.last(key)) {
        (None, None) => return Ok(None),
        (Some(path), None) => return Err(FlagError::of_value(certificate, path, format!("needs --{key}"))),
        (None, Some(path)) => return Err(FlagError::of_value(key, path, format!("needs --{certificate}"))),
        (Some(certificate), Some(key)) => (certificate, key),
    };
    let text = |flag: &str, path: &str| {
        let content = read_file(flag, path)?;
        String::from_utf8(content).map_err(|_| FlagError::of_value(flag, path, "is not PEM"))
    };
    let pair =
        KeyPair { certificate_pem: text(certificate, certificate_path)?, key_pem: text(key, key_path)? };
    match check(&pair) {
        Ok(()) => Ok(Some(pair)),
        Err(error @ CertificateError::Certificate(_)) => {
            Err(FlagError::of_value(certificate, certificate_path, error.to_string()))
        }
        Err(error) => Err(FlagError::of_value(key, key_path, error.to_string())),
    }
}

/// Checks that a server can use a certificate and its key.
///
/// # Errors
/// When it cannot.
pub fn check(pair: &KeyPair) -> Result<(), CertificateError> {
    Certificates::from_pem(pair.certificate_pem.as_bytes(), pair.key_pem.as_bytes()).map(drop)
}
