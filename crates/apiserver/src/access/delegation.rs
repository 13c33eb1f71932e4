//! Delegation: another API server knows users and permissions, and is asked, as aggregated API servers do.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::attributes::Attributes;
use super::authorization::{self, AccessRequest, Decision};
use crate::call::User;
use crate::http::status::Status;
use crate::state::ServerState;

/// What is answered later.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Knows users and permissions in place of the server.
pub trait Delegate: Send + Sync {
    /// The user of a bearer token; absent if the token is nobody's. The error is the reason why there is no answer.
    fn token_user<'a>(&'a self, token: &'a str) -> Pending<'a, Result<Option<User>, String>>;

    /// Decides whether an access is allowed. The error is the reason why there is no answer.
    fn decide<'a>(&'a self, request: &'a AccessRequest) -> Pending<'a, Result<Decision, String>>;

    /// As [`Self::decide`], for admission plugins, which cannot wait; without an answer the access is denied.
    fn decide_now(&self, request: &AccessRequest) -> Decision;
}

/// The user of a bearer token; absent also if the delegate does not answer.
pub(crate) async fn token_user(delegate: Option<Arc<dyn Delegate>>, token: &str) -> Option<User> {
    match delegate?.token_user(token).await {
        Ok(user) => user.map(User::authenticated),
        Err(error) => {
            tracing::error!(error, "failed to authenticate a request by its token");
            None
        }
    }
}

/// Refuses a request that its user may not send.
pub(crate) async fn check(shared: &ServerState, request: &Attributes) -> Result<(), Status> {
    match &shared.delegate {
        Some(delegate) => ask(delegate.as_ref(), &AccessRequest::of(request)).await,
        None => authorization::check(shared, request),
    }
}

/// Returns the error 403 if the access is not allowed.
pub(crate) async fn check_access(shared: &ServerState, request: &AccessRequest) -> Result<(), Status> {
    match &shared.delegate {
        Some(delegate) => ask(delegate.as_ref(), request).await,
        None => request.check(shared),
    }
}

async fn ask(delegate: &dyn Delegate, request: &AccessRequest) -> Result<(), Status> {
    match delegate.decide(request).await {
        Ok(decision) if decision.allowed => Ok(()),
        Ok(decision) => Err(request.forbidden(&decision.reason)),
        Err(error) => Err(Status::internal(&format!("failed to authorize the request: {error}"))),
    }
}
