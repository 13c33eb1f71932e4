//! Who comes through the front door: by client certificate, or by bearer token.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::AUTHORIZATION;
use http::{Request, Response};
use hyper::body::Incoming;
use sha2::{Digest, Sha256};
use tower::Service;
use webhook::server::Peer;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::access::identity::bearer_token;
use crate::call::User;
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;
use crate::server::ApiServer;

/// The server for those who say who they are.
#[derive(Clone, Debug)]
pub(super) struct Door {
    server: ApiServer,
}

impl Door {
    /// Lets in holders of certificates as who these say they are, whoever holds a token that the server knows, and those
    /// who say nothing as [`User::anonymous`]: what these may do is for roles to say. Where there are none and everybody
    /// may do everything, they are shown health and version alone, as kube-apiserver takes nobody for anonymous then.
    pub(super) fn new(server: ApiServer) -> Self {
        Self { server }
    }

    /// Who asks; nobody who may be let in, if what he shows is not known here.
    fn user(&self, request: &Request<Incoming>) -> Option<User> {
        let peer = request.extensions().get::<Peer>();
        if let Some(certificate) = peer.and_then(|peer| peer.certificates.first()) {
            return named_by(certificate);
        }
        let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(token) = authorization.and_then(bearer_token) {
            return self.server.holder(token);
        }
        let open = matches!(request.uri().path(), "/healthz" | "/livez" | "/readyz" | "/version");
        (open || self.server.judges()).then(User::anonymous)
    }
}

impl Service<Request<Incoming>> for Door {
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

/// The user of a certificate: common name and organizations of its subject.
fn named_by(der: &[u8]) -> Option<User> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
    let groups = subject.iter_organization().filter_map(|group| group.as_str().ok()).map(str::to_owned);
    let groups = groups.chain(["system:authenticated".to_owned()]).collect();
    let digest = Sha256::digest(der);
    let credential =
        ("authentication.kubernetes.io/credential-id".to_owned(), vec![format!("X509SHA256={digest:x}")]);
    Some(User { name, groups, extra: BTreeMap::from([credential]), ..User::default() })
}
