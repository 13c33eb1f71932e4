//! Authenticates client certificates: of users, and of front proxies, which name another user.

use std::collections::BTreeMap;
use std::time::Duration;

use formats::x509::{Certificate, X509Error};
use http::HeaderMap;
use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use webhook::server::Peer;
use webhook::trust::{Authorities, NoAuthority, TrustError};

use super::ServeError;
use crate::access::authentication::{Authentication, ClientAuthority, RequestHeaders};
use crate::authority::Authority;
use crate::call::User;

/// How long the result for a certificate chain is cached.
const CACHE_TIME: Duration = Duration::from_secs(10);
/// Maximum number of cached chains.
const CACHE_SIZE: usize = 1024;

/// Verifies client certificates.
#[derive(Debug)]
pub(super) struct ClientCertificates {
    /// The authorities of users.
    users: Option<Authorities>,
    /// Front proxies, and their authorities.
    proxies: Option<(RequestHeaders, Authorities)>,
    /// Cached results by the address of a connection's chain: verification costs as much as a whole request.
    results: Mutex<BTreeMap<usize, CachedResult>>,
}

/// A result for the chain of a connection.
#[derive(Debug)]
struct CachedResult {
    since: Instant,
    identity: ChainIdentity,
    /// Keeps the chain, so that no other one gets its address.
    _peer: Peer,
}

/// What a certificate chain authenticates.
#[derive(Clone, Debug)]
struct ChainIdentity {
    /// Whether it is the chain of a front proxy.
    proxy: bool,
    /// Its user; absent if it has no common name, or users have no authority.
    user: Result<Option<User>, ChainError>,
}

/// Reason a certificate chain is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ChainError {
    #[error("no front proxy may have the name {0:?}")]
    ProxyName(String),
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    #[error(transparent)]
    Malformed(#[from] X509Error),
}

impl ClientCertificates {
    /// Reads the authorities of `authentication`; `own` is the server's own authority.
    pub(super) fn new(authentication: &Authentication, own: &Authority) -> Result<Self, ServeError> {
        let read = |of, pem: &str| {
            let failed = |source: NoAuthority| ServeError::Authorities { of, source };
            Authorities::from_pem(pem.as_bytes()).map_err(failed)
        };
        let users = match &authentication.clients {
            ClientAuthority::Own => Some(read("client certificates", &own.pem())?),
            ClientAuthority::None => None,
            ClientAuthority::Bundle(pem) => Some(read("client certificates", pem)?),
        };
        let proxies = authentication.request_headers.clone();
        let proxies = proxies.map(|headers| {
            let authorities = read("front proxies", &headers.authorities)?;
            Ok::<_, ServeError>((headers, authorities))
        });
        Ok(Self { users, proxies: proxies.transpose()?, results: Mutex::default() })
    }

    /// The authorities whose certificates the server requests from clients.
    pub(super) fn authorities(&self) -> Vec<Authorities> {
        let proxies = self.proxies.as_ref().map(|(_, authorities)| authorities);
        self.users.iter().chain(proxies).cloned().collect()
    }

    /// The user of a request with this client certificate; removes the headers of a front proxy. Absent without a
    /// certificate, or if it identifies no user.
    pub(super) fn user(
        &self,
        peer: &Peer,
        headers: &mut HeaderMap,
        now: Timestamp,
    ) -> Result<Option<User>, ChainError> {
        if peer.certificates.is_empty() {
            return Ok(None);
        }
        let chain = self.cached_identity(peer, now);
        if let (true, Some((proxies, _))) = (chain.proxy, &self.proxies)
            && let Some(user) = proxies.take_user(headers)
        {
            return Ok(Some(user));
        }
        chain.user
    }

    fn cached_identity(&self, peer: &Peer, now: Timestamp) -> ChainIdentity {
        let key = peer.certificates.as_ptr().addr();
        let mut results = self.results.lock();
        if let Some(cached) = results.get(&key)
            && cached.since.elapsed() < CACHE_TIME
        {
            return cached.identity.clone();
        }
        if results.len() >= CACHE_SIZE {
            results.clear();
        }
        let identity = self.verify(peer, now.as_second());
        let result = CachedResult { since: Instant::now(), identity: identity.clone(), _peer: peer.clone() };
        results.insert(key, result);
        identity
    }

    fn verify(&self, peer: &Peer, now: i64) -> ChainIdentity {
        let sent: Vec<&[u8]> = peer.certificates.iter().map(AsRef::as_ref).collect();
        let proxy = self.proxies.as_ref().map(|(headers, authorities)| -> Result<(), ChainError> {
            authorities.verify_client(&sent, now)?;
            let name = Certificate::from_der(sent[0])?.subject.common_name;
            if headers.allows(&name) { Ok(()) } else { Err(ChainError::ProxyName(name)) }
        });
        let user = match (&self.users, &proxy) {
            (Some(authorities), _) => match authorities.verify_client(&sent, now) {
                Ok(()) => certificate_user(sent[0]).map_err(ChainError::from),
                Err(error) => Err(error.into()),
            },
            (None, Some(Err(error))) => Err(error.clone()),
            (None, _) => Ok(None),
        };
        ChainIdentity { proxy: proxy.is_some_and(|proxy| proxy.is_ok()), user }
    }
}

/// The user of a certificate: common name and organizations of its subject. Absent without a common name.
fn certificate_user(der: &[u8]) -> Result<Option<User>, X509Error> {
    let subject = Certificate::from_der(der)?.subject;
    if subject.common_name.is_empty() {
        return Ok(None);
    }
    let groups = subject.organizations.into_iter().chain(["system:authenticated".to_owned()]).collect();
    let digest = Sha256::digest(der);
    let credential =
        ("authentication.kubernetes.io/credential-id".to_owned(), vec![format!("X509SHA256={digest:x}")]);
    let extra = BTreeMap::from([credential]);
    Ok(Some(User { name: subject.common_name, groups, extra, ..User::default() }))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

    use super::*;

    #[test]
    fn a_certificates_subject_is_read_as_in_go() {
        let again = |last: u64| DnType::CustomDnType(vec![2, 5, 4, last]);
        let named = |subject: &[(DnType, &str)]| {
            let mut params = CertificateParams::default();
            params.distinguished_name = DistinguishedName::new();
            for (kind, text) in subject {
                params.distinguished_name.push(kind.clone(), *text);
            }
            let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            certificate_user(certificate.der()).map(|user| user.map(|user| (user.name, user.groups)))
        };
        let groups = |groups: &[&str]| groups.iter().map(|group| (*group).to_owned()).collect::<Vec<_>>();
        let table = [
            (named(&[(DnType::OrganizationName, "o")]), None),
            (
                named(&[(DnType::CommonName, "first"), (again(3), "last")]),
                Some(("last".to_owned(), groups(&["system:authenticated"]))),
            ),
            (
                named(&[(DnType::CommonName, "n"), (DnType::OrganizationName, "a"), (again(10), "b")]),
                Some(("n".to_owned(), groups(&["a", "b", "system:authenticated"]))),
            ),
        ];
        for (found, want) in table {
            assert_eq!(found, Ok(want));
        }
        assert!(certificate_user(b"x").is_err());
    }
}
