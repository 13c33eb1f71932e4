//! Who comes through the front door: by client certificate, or by bearer token.

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

/// The server for those who say who they are.
#[derive(Clone, Debug)]
pub(super) struct Door {
    server: ApiServer,
    certificates: Arc<ClientCertificates>,
}

impl Door {
    /// Accepts front proxies as those whom they speak for, holders of certificates, holders of tokens that the server
    /// knows, in this order as kube-apiserver does, and those who say nothing as [`User::anonymous`]: what these may do is
    /// for roles to say. Where there are none and everybody may do everything, they are shown health and version alone, as
    /// kube-apiserver takes nobody for anonymous then.
    pub(super) fn new(server: ApiServer, certificates: Arc<ClientCertificates>) -> Self {
        Self { server, certificates }
    }

    /// Who asks; nobody who may be let in, if what he shows is not known here.
    fn user(&self, request: &mut Request<Incoming>) -> Option<User> {
        let peer = request.extensions().get::<Peer>().cloned();
        let now = self.server.now();
        let named = peer.map(|peer| self.certificates.user(&peer, request.headers_mut(), now));
        let refused = match named {
            Some(Ok(Some(user))) => return Some(user),
            // It names nobody: a token may.
            None | Some(Ok(None)) => false,
            Some(Err(error)) => {
                tracing::debug!(%error, "refused a client certificate");
                true
            }
        };
        let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(token) = authorization.and_then(bearer_token) {
            return self.server.holder(token);
        }
        if refused || !self.server.authentication().anonymous {
            return None;
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
        let Some(user) = self.user(&mut request) else {
            let refusal = Reply::from(Status::plain(401, "Unauthorized", "Unauthorized")).into_http();
            return Box::pin(std::future::ready(Ok(refusal)));
        };
        request.extensions_mut().insert(user);
        self.server.call(request)
    }
}
