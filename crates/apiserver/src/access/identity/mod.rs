//! Authentication: bearer tokens and impersonation.

mod bearer;
mod bound;
mod impersonation;

use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::call::User;
use crate::http::status::Status;
use crate::state::ServerState;

pub(crate) use bearer::{AuthenticatedUser, InvalidToken, authenticate};
pub(crate) use bound::{BoundObjects, bound_object};
pub(crate) use impersonation::requested_impersonation;

/// The user that the TLS front end authenticated, or the user of the bearer token; without either, the administrator.
pub(crate) fn authenticate_request(shared: &ServerState, parts: &Parts) -> Result<User, Status> {
    if let Some(user) = parts.extensions.get::<User>() {
        return Ok(user.clone());
    }
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = header.and_then(bearer_token) else { return Ok(User::admin()) };
    token_user(shared, token).ok_or_else(|| Status::plain(401, "Unauthorized", "Unauthorized"))
}

/// The user of a bearer token that is valid for this server.
pub(crate) fn token_user(shared: &ServerState, token: &str) -> Option<User> {
    authenticate(shared, token, &[]).ok().map(|authenticated| authenticated.user)
}

/// The token of an `Authorization` header.
pub(crate) fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
