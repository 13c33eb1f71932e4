//! Whom a client certificate names: a user, or the user whom a front proxy speaks for.

use std::collections::BTreeMap;
use std::time::Duration;

use formats::x509::{Certificate, X509Error};
use http::HeaderMap;
use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use webhook::server::Peer;
use webhook::trust::{Authorities, Distrust, NoAuthority};

use super::ServeError;
use crate::access::authentication::{Authentication, ClientAuthority, RequestHeaders};
use crate::authority::Authority;
use crate::call::User;

/// How long the result for a chain of certificates is kept.
const KEPT: Duration = Duration::from_secs(10);
/// How many chains are kept.
const MOST: usize = 1024;

/// Verifies client certificates.
#[derive(Debug)]
pub(super) struct ClientCertificates {
    /// The authorities whose certificates name users.
    users: Option<Authorities>,
    /// The authorities of front proxies.
    proxies: Option<(RequestHeaders, Authorities)>,
    /// Results by chain: verification costs as much as a whole request.
    results: Mutex<BTreeMap<Vec<u8>, (Instant, Chain)>>,
}

/// What a chain of certificates is good for.
#[derive(Clone, Debug)]
struct Chain {
    /// Whether it is a front proxy's.
    proxy: bool,
    /// The user whom it names; absent if it names none, or certificates name nobody here.
    user: Result<Option<User>, ChainError>,
}

/// Reason a chain of certificates names nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ChainError {
    #[error("no front proxy may have the name {0:?}")]
    ProxyName(String),
    #[error(transparent)]
    Distrust(#[from] Distrust),
    #[error(transparent)]
    Malformed(#[from] X509Error),
}

impl ClientCertificates {
    /// Verifies as `authentication` says; `own` is the server's own authority.
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

    /// The authorities whose certificates clients are requested to show.
    pub(super) fn authorities(&self) -> Vec<Authorities> {
        let proxies = self.proxies.as_ref().map(|(_, authorities)| authorities);
        self.users.iter().chain(proxies).cloned().collect()
    }

    /// The user of a request, from its client certificate; takes the headers of a front proxy out of it. Absent if the
    /// certificate names nobody, or there is none.
    pub(super) fn user(
        &self,
        peer: &Peer,
        headers: &mut HeaderMap,
        now: Timestamp,
    ) -> Result<Option<User>, ChainError> {
        if peer.certificates.is_empty() {
            return Ok(None);
        }
        let chain = self.chain(peer, now);
        if let (true, Some((proxies, _))) = (chain.proxy, &self.proxies)
            && let Some(user) = proxies.take_user(headers)
        {
            return Ok(Some(user));
        }
        chain.user
    }

    fn chain(&self, peer: &Peer, now: Timestamp) -> Chain {
        let key: Vec<u8> = peer.certificates.iter().flat_map(|der| der.iter().copied()).collect();
        let mut results = self.results.lock();
        if let Some((since, chain)) = results.get(&key)
            && since.elapsed() < KEPT
        {
            return chain.clone();
        }
        if results.len() >= MOST {
            results.clear();
        }
        let chain = self.verify(peer, now.as_second());
        results.insert(key, (Instant::now(), chain.clone()));
        chain
    }

    fn verify(&self, peer: &Peer, now: i64) -> Chain {
        let shown: Vec<&[u8]> = peer.certificates.iter().map(AsRef::as_ref).collect();
        let proxy = self.proxies.as_ref().map(|(headers, authorities)| -> Result<(), ChainError> {
            authorities.verify_client(&shown, now)?;
            let name = Certificate::from_der(shown[0])?.subject.common_name;
            if headers.allows(&name) { Ok(()) } else { Err(ChainError::ProxyName(name)) }
        });
        let user = match (&self.users, &proxy) {
            (Some(authorities), _) => match authorities.verify_client(&shown, now) {
                Ok(()) => named_by(shown[0]).map_err(ChainError::from),
                Err(error) => Err(error.into()),
            },
            (None, Some(Err(error))) => Err(error.clone()),
            (None, _) => Ok(None),
        };
        Chain { proxy: proxy.is_some_and(|proxy| proxy.is_ok()), user }
    }
}

/// The user of a certificate: common name and organizations of its subject. Nobody without a common name.
fn named_by(der: &[u8]) -> Result<Option<User>, X509Error> {
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
    fn a_certificate_names_whom_go_reads_in_it() {
        let again = |last: u64| DnType::CustomDnType(vec![2, 5, 4, last]);
        let named = |subject: &[(DnType, &str)]| {
            let mut params = CertificateParams::default();
            params.distinguished_name = DistinguishedName::new();
            for (kind, text) in subject {
                params.distinguished_name.push(kind.clone(), *text);
            }
            let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            named_by(certificate.der()).map(|user| user.map(|user| (user.name, user.groups)))
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
        assert!(named_by(b"x").is_err());
    }
}
