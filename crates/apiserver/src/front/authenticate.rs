//! Authenticates requests of the TLS front end: by client certificate or bearer token.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::AUTHORIZATION;
use http::{Request, Response};
use hyper::body::Incoming;
use tower::Service;
use webhook::server::Peer;

use super::certificates::ClientCertificates;
use crate::access::identity::bearer_token;
use crate::call::User;
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;
use crate::server::ApiServer;

/// The server behind authentication.
#[derive(Clone, Debug)]
pub(super) struct Authenticator {
    server: ApiServer,
    certificates: Arc<ClientCertificates>,
}

impl Authenticator {
    /// Authenticates, in this order as kube-apiserver does, the users that front proxies name, client certificates, and
    /// registered tokens; others are [`User::anonymous`] if the server authorizes requests. If it does not, anonymous
    /// users may only read health and version, as kube-apiserver disables anonymous access then.
    pub(super) fn new(server: ApiServer, certificates: Arc<ClientCertificates>) -> Self {
        Self { server, certificates }
    }

    /// The user; absent if the credentials are invalid or required.
    fn user(&self, request: &mut Request<Incoming>) -> Option<User> {
        let peer = request.extensions().get::<Peer>().cloned();
        let now = self.server.now();
        let user = peer.map(|peer| self.certificates.user(&peer, request.headers_mut(), now));
        let refused = match user {
            Some(Ok(Some(user))) => return Some(user),
            // The certificate names no user: try the token.
            None | Some(Ok(None)) => false,
            Some(Err(error)) => {
                tracing::debug!(%error, "refused a client certificate");
                true
            }
        };
        let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(token) = authorization.and_then(bearer_token) {
            return self.server.token_user(token);
        }
        if refused || !self.server.authentication().anonymous {
            return None;
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
        let Some(user) = self.user(&mut request) else {
            let refusal = Reply::from(Status::plain(401, "Unauthorized", "Unauthorized")).into_http();
            return Box::pin(std::future::ready(Ok(refusal)));
        };
        request.extensions_mut().insert(user);
        self.server.call(request)
    }
}
