//! From a server's certificate to one of the bundle.

use formats::x509::Certificate;
use rustls::crypto::WebPkiSupportedAlgorithms;

use super::Distrust;

/// `1.3.6.1.5.5.7.3.1`
pub(super) const SERVERS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
/// `1.3.6.1.5.5.7.3.2`
pub(super) const CLIENTS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
/// `2.5.29.37.0`
const ANY_USAGE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
/// So many signatures are checked; Go's limit.
const MOST_CHECKS: usize = 100;

/// Where a chain is looked for.
pub(super) struct Search<'a> {
    pub(super) roots: &'a [Certificate],
    pub(super) intermediates: &'a [Certificate],
    pub(super) now: i64,
    /// The extended key usage that the leaf must have.
    pub(super) usage: &'a [u8],
    pub(super) algorithms: &'a WebPkiSupportedAlgorithms,
}

/// The chains that lead to a root, and what the search for them cost.
#[derive(Default)]
struct Chains<'a> {
    complete: Vec<Vec<&'a Certificate>>,
    checks: usize,
    /// Why the first signer did not count.
    hint: Option<String>,
}

/// Whether a certificate may be looked at at all.
pub(super) fn valid(certificate: &Certificate, now: i64) -> Result<(), Distrust> {
    let subject = || certificate.subject.common_name.clone();
    if certificate.extensions.unknown_critical {
        return Err(Distrust::UnknownExtension(subject()));
    }
    let within = certificate.not_before <= now && now <= certificate.not_after;
    if within { Ok(()) } else { Err(Distrust::Expired(subject())) }
}

/// Whether a chain leads from the leaf to a root, and is acceptable.
pub(super) fn verify(leaf: &Certificate, search: &Search<'_>) -> Result<(), Distrust> {
    let mut chains = Chains::default();
    let searched = build(&[leaf], search, &mut chains);
    if chains.complete.is_empty() {
        searched?;
        return Err(Distrust::UnknownAuthority { hint: chains.hint });
    }
    let mut refusal = Ok(());
    for chain in &chains.complete {
        refusal = acceptable(chain, search.usage);
        if refusal.is_ok() {
            break;
        }
    }
    refusal
}

/// Whether all certificates of a chain, its leaf first, allow what the leaf is used for.
pub(super) fn acceptable(chain: &[&Certificate], usage: &[u8]) -> Result<(), Distrust> {
    let allows = |certificate: &&Certificate| {
        let usages = &certificate.extensions.usages;
        usages.is_empty() || usages.iter().any(|known| [usage, ANY_USAGE].contains(&known.as_slice()))
    };
    if !chain.iter().all(allows) {
        return Err(Distrust::Usage);
    }
    // The last one is trusted by itself.
    if chain[..chain.len() - 1].iter().any(|certificate| certificate.extensions.requires_policies) {
        return Err(Distrust::Policies);
    }
    for (at, signer) in chain.iter().enumerate() {
        let Some(constraints) = &signer.extensions.name_constraints else { continue };
        let signed = chain[..at].iter().filter(|signed| signed.extensions.raw_names.is_some());
        if !signed.map(|signed| &signed.extensions.names).all(|names| constraints.allow(names)) {
            return Err(Distrust::NotForThisName);
        }
    }
    Ok(())
}

/// Goes on from the last certificate of a chain to all that may have signed it, roots first.
fn build<'a>(
    chain: &[&'a Certificate],
    search: &Search<'a>,
    chains: &mut Chains<'a>,
) -> Result<(), Distrust> {
    let Some(last) = chain.last() else { return Ok(()) };
    for (is_root, pool) in [(true, search.roots), (false, search.intermediates)] {
        for signer in signers(last, pool) {
            chains.checks += 1;
            if chains.checks > MOST_CHECKS {
                return Err(Distrust::TooManyChecks);
            }
            if !signer.key.known || chain.iter().any(|known| is_same(known, signer)) {
                continue;
            }
            if let Err(reason) = signs(signer, last, chain.len(), is_root, search) {
                let signer = &signer.subject.common_name;
                chains.hint.get_or_insert_with(|| format!("authority {signer:?}: {reason}"));
                continue;
            }
            let longer = [chain, &[signer]].concat();
            if is_root {
                chains.complete.push(longer);
            } else {
                build(&longer, search, chains)?;
            }
        }
    }
    Ok(())
}

/// Those who have the signer's name; those whose key is the one that the certificate names come first.
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

/// One subject with one key, and the same other names.
fn is_same(one: &Certificate, other: &Certificate) -> bool {
    one.raw_subject == other.raw_subject
        && one.key == other.key
        && one.extensions.raw_names == other.extensions.raw_names
}

/// Whether `signer` signed `certificate` and was allowed to; `below` certificates are in the chain already.
fn signs(
    signer: &Certificate,
    certificate: &Certificate,
    below: usize,
    is_root: bool,
    search: &Search<'_>,
) -> Result<(), String> {
    if !signer.may_sign() {
        return Err("parent certificate cannot sign this kind of certificate".to_owned());
    }
    signature(signer, certificate, search.algorithms)?;
    valid(signer, search.now).map_err(|error| error.to_string())?;
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

/// The algorithms are rustls': no SHA-1, no RSA key of fewer than 2048 bits.
fn signature(
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
        return Err("the signature is of an algorithm that is not supported".to_owned());
    }
    let (key, content) = (&signer.key.bits, &certificate.signed);
    let good =
        fitting.any(|algorithm| algorithm.verify_signature(key, content, &certificate.signature).is_ok());
    if good {
        Ok(())
    } else {
        Err("the signature is not its own, or of an RSA key of fewer than 2048 bits".to_owned())
    }
}
