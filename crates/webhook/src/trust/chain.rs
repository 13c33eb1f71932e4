//! Builds and checks chains from a server's certificate to an authority of the bundle.

use formats::x509::Certificate;
use rustls::crypto::WebPkiSupportedAlgorithms;

use super::TrustError;

/// `1.3.6.1.5.5.7.3.1`
pub(super) const SERVERS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
/// `1.3.6.1.5.5.7.3.2`
pub(super) const CLIENTS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
/// `2.5.29.37.0`
const ANY_USAGE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
/// Maximum number of signature checks; Go's limit.
const MAX_CHECKS: usize = 100;

/// Input of the search for chains.
pub(super) struct Search<'a> {
    pub(super) roots: &'a [Certificate],
    pub(super) intermediates: &'a [Certificate],
    pub(super) now: i64,
    /// The extended key usage that the leaf must have.
    pub(super) usage: &'a [u8],
    pub(super) algorithms: &'a WebPkiSupportedAlgorithms,
}

/// Result of the search for chains.
#[derive(Default)]
struct Chains<'a> {
    complete: Vec<Vec<&'a Certificate>>,
    checks: usize,
    /// Reason the first candidate for a signer was rejected.
    hint: Option<String>,
}

/// Checks that a certificate is valid now and has no unknown critical extension.
pub(super) fn check_validity(certificate: &Certificate, now: i64) -> Result<(), TrustError> {
    let subject = || certificate.subject.common_name.clone();
    if certificate.extensions.unknown_critical {
        return Err(TrustError::UnknownExtension(subject()));
    }
    let within = certificate.not_before <= now && now <= certificate.not_after;
    if within { Ok(()) } else { Err(TrustError::Expired(subject())) }
}

/// Checks that a chain leads from the leaf to a root and fulfils all constraints.
pub(super) fn verify(leaf: &Certificate, search: &Search<'_>) -> Result<(), TrustError> {
    let mut chains = Chains::default();
    let result = find_chains(&[leaf], search, &mut chains);
    if chains.complete.is_empty() {
        result?;
        return Err(TrustError::UnknownAuthority { hint: chains.hint });
    }
    let mut result = Ok(());
    for chain in &chains.complete {
        result = check_constraints(chain, search.usage);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Checks that all certificates of a chain, its leaf first, allow the leaf's usage and names.
pub(super) fn check_constraints(chain: &[&Certificate], usage: &[u8]) -> Result<(), TrustError> {
    let allows = |certificate: &&Certificate| {
        let usages = &certificate.extensions.usages;
        usages.is_empty() || usages.iter().any(|allowed| [usage, ANY_USAGE].contains(&allowed.as_slice()))
    };
    if !chain.iter().all(allows) {
        return Err(TrustError::Usage);
    }
    // The policies of the root are not checked, because it is trusted explicitly.
    if chain[..chain.len() - 1].iter().any(|certificate| certificate.extensions.requires_policies) {
        return Err(TrustError::Policies);
    }
    for (at, signer) in chain.iter().enumerate() {
        let Some(constraints) = &signer.extensions.name_constraints else { continue };
        let signed = chain[..at].iter().filter(|signed| signed.extensions.raw_names.is_some());
        if !signed.map(|signed| &signed.extensions.names).all(|names| constraints.allow(names)) {
            return Err(TrustError::NotForThisName);
        }
    }
    Ok(())
}

/// Extends a chain by all certificates that may have signed its last one, roots first.
fn find_chains<'a>(
    chain: &[&'a Certificate],
    search: &Search<'a>,
    chains: &mut Chains<'a>,
) -> Result<(), TrustError> {
    let Some(last) = chain.last() else { return Ok(()) };
    for (is_root, pool) in [(true, search.roots), (false, search.intermediates)] {
        for signer in signers(last, pool) {
            chains.checks += 1;
            if chains.checks > MAX_CHECKS {
                return Err(TrustError::TooManyChecks);
            }
            if !signer.key.known || chain.iter().any(|member| is_same(member, signer)) {
                continue;
            }
            if let Err(reason) = check_signer(signer, last, chain.len(), is_root, search) {
                let signer = &signer.subject.common_name;
                chains.hint.get_or_insert_with(|| format!("authority {signer:?}: {reason}"));
                continue;
            }
            let longer = [chain, &[signer]].concat();
            if is_root {
                chains.complete.push(longer);
            } else {
                find_chains(&longer, search, chains)?;
            }
        }
    }
    Ok(())
}

/// The certificates with the issuer's name; those with the matching authority key identifier are first.
fn signers<'a>(certificate: &Certificate, pool: &'a [Certificate]) -> Vec<&'a Certificate> {
    let mut named: Vec<&Certificate> =
        pool.iter().filter(|signer| signer.raw_subject == certificate.raw_issuer).collect();
    let wanted = &certificate.extensions.authority_key;
    named.sort_by_key(|signer| {
        let key = &signer.extensions.subject_key;
        if key == wanted {
            0
        } else if key.is_empty() != wanted.is_empty() {
            1
        } else {
            2
        }
    });
    named
}

/// Whether two certificates have the same subject, key and alternative names.
fn is_same(one: &Certificate, other: &Certificate) -> bool {
    one.raw_subject == other.raw_subject
        && one.key == other.key
        && one.extensions.raw_names == other.extensions.raw_names
}

/// Checks that `signer` signed `certificate` and was allowed to; the chain already has `below` certificates.
fn check_signer(
    signer: &Certificate,
    certificate: &Certificate,
    below: usize,
    is_root: bool,
    search: &Search<'_>,
) -> Result<(), String> {
    if !signer.may_sign() {
        return Err("parent certificate cannot sign this kind of certificate".to_owned());
    }
    check_signature(signer, certificate, search.algorithms)?;
    check_validity(signer, search.now).map_err(|error| error.to_string())?;
    let constraints = signer.extensions.authority;
    if !is_root && !constraints.is_some_and(|constraints| constraints.is_authority) {
        return Err("certificate is not authorized to sign other certificates".to_owned());
    }
    let longest = constraints.and_then(|constraints| constraints.longest_path);
    if longest.is_some_and(|longest| u64::try_from(below - 1).is_ok_and(|between| between > longest)) {
        return Err("too many intermediates for path length constraint".to_owned());
    }
    Ok(())
}

/// Verifies a signature with the algorithms of rustls, which exclude SHA-1 and RSA keys of fewer than 2048 bits.
fn check_signature(
    signer: &Certificate,
    certificate: &Certificate,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<(), String> {
    let mut fitting = algorithms
        .all
        .iter()
        .filter(|algorithm| *algorithm.signature_alg_id() == *certificate.signature_algorithm)
        .filter(|algorithm| *algorithm.public_key_alg_id() == *signer.key.algorithm)
        .peekable();
    if fitting.peek().is_none() {
        return Err("the algorithm of the signature is not supported".to_owned());
    }
    let (key, content) = (&signer.key.bits, &certificate.signed);
    let is_valid =
        fitting.any(|algorithm| algorithm.verify_signature(key, content, &certificate.signature).is_ok());
    if is_valid {
        Ok(())
    } else {
        Err("the signature does not match its key, or the RSA key has fewer than 2048 bits".to_owned())
    }
}
