//! Authenticates requests of the TLS front end: by client certificate or bearer token.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use formats::x509::{Certificate, X509Error};
use http::header::AUTHORIZATION;
use http::{Request, Response};
use hyper::body::Incoming;
use sha2::{Digest, Sha256};
use tower::Service;
use webhook::server::Peer;

use crate::access::identity::bearer_token;
use crate::call::User;
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;
use crate::server::ApiServer;

/// The server behind authentication.
#[derive(Clone, Debug)]
pub(super) struct Authenticator {
    server: ApiServer,
}

impl Authenticator {
    /// Authenticates client certificates and registered tokens; others are [`User::anonymous`] if the server authorizes
    /// requests. If it does not, anonymous users may only read health and version, as kube-apiserver disables anonymous
    /// access then.
    pub(super) fn new(server: ApiServer) -> Self {
        Self { server }
    }

    /// The user; absent if the credentials are invalid or required.
    fn user(&self, request: &Request<Incoming>) -> Option<User> {
        let peer = request.extensions().get::<Peer>();
        if let Some(certificate) = peer.and_then(|peer| peer.certificates.first()) {
            match certificate_user(certificate) {
                Ok(Some(user)) => return Some(user),
                // It has no common name: try the token.
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "refused a client certificate");
                    return None;
                }
            }
        }
        let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(token) = authorization.and_then(bearer_token) {
            return self.server.token_user(token);
        }
        let open = matches!(request.uri().path(), "/healthz" | "/livez" | "/readyz" | "/version");
        (open || self.server.has_authorization()).then(User::anonymous)
    }
}

impl Service<Request<Incoming>> for Authenticator {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        let Some(user) = self.user(&request) else {
            let refusal = Reply::from(Status::plain(401, "Unauthorized", "Unauthorized")).into_http();
            return Box::pin(std::future::ready(Ok(refusal)));
        };
        request.extensions_mut().insert(user);
        self.server.call(request)
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
