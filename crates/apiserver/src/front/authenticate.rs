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
use crate::access::delegation;
use crate::access::identity::bearer_token;
use crate::call::User;
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;
use crate::server::ApiServer;

/// Who a request is from.
#[derive(Debug)]
enum Caller {
    /// This user.
    User(User),
    /// The user of this token, whom another API server knows.
    TokenOfDelegate(String),
    /// Nobody whose requests are answered: credentials are invalid, or required.
    Nobody,
}

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

    fn caller(&self, request: &mut Request<Incoming>) -> Caller {
        let peer = request.extensions().get::<Peer>().cloned();
        let now = self.server.now();
        let user = peer.map(|peer| self.certificates.user(&peer, request.headers_mut(), now));
        let refused = match user {
            Some(Ok(Some(user))) => return Caller::User(user),
            // The certificate names no user: try the token.
            None | Some(Ok(None)) => false,
            Some(Err(error)) => {
                tracing::debug!(%error, "refused a client certificate");
                true
            }
        };
        let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(token) = authorization.and_then(bearer_token) {
            return match self.server.delegate() {
                Some(_) => Caller::TokenOfDelegate(token.to_owned()),
                None => self.server.token_user(token).map_or(Caller::Nobody, Caller::User),
            };
        }
        if refused || !self.server.authentication().anonymous {
            return Caller::Nobody;
        }
        let open = matches!(request.uri().path(), "/healthz" | "/livez" | "/readyz" | "/version");
        if open || self.server.has_authorization() { Caller::User(User::anonymous()) } else { Caller::Nobody }
    }

    /// Serves a request of a user; others are refused.
    fn serve(&mut self, user: Option<User>, mut request: Request<Incoming>) -> FrontAnswer {
        let Some(user) = user else {
            let refusal = Reply::from(Status::plain(401, "Unauthorized", "Unauthorized")).into_http();
            return Box::pin(std::future::ready(Ok(refusal)));
        };
        request.extensions_mut().insert(user);
        self.server.call(request)
    }
}

/// The answer to a request.
type FrontAnswer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

impl Service<Request<Incoming>> for Authenticator {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = FrontAnswer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        let token = match self.caller(&mut request) {
            Caller::User(user) => return self.serve(Some(user), request),
            Caller::Nobody => return self.serve(None, request),
            Caller::TokenOfDelegate(token) => token,
        };
        let mut front = self.clone();
        Box::pin(async move {
            let user = delegation::token_user(front.server.delegate(), &token).await;
            front.serve(user, request).await
        })
    }
}
