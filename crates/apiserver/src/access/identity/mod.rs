//! Who asks: bearer tokens and impersonation.

mod bearer;
mod bound;
mod impersonation;

use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::call::User;
use crate::http::status::Status;
use crate::state::Shared;

pub(crate) use bearer::{Identified, Refused, identify};
pub(crate) use bound::{Bound, bound_object};
pub(crate) use impersonation::impersonated;

/// Whoever the front door found, or the holder of the request's bearer token; without either, the administrator.
pub(crate) fn caller(shared: &Shared, parts: &Parts) -> Result<User, Status> {
    if let Some(user) = parts.extensions.get::<User>() {
        return Ok(user.clone());
    }
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = header.and_then(bearer_token) else { return Ok(User::admin()) };
    holder(shared, token).ok_or_else(|| Status::plain(401, "Unauthorized", "Unauthorized"))
}

/// Who holds a bearer token that speaks to this server.
pub(crate) fn holder(shared: &Shared, token: &str) -> Option<User> {
    identify(shared, token, &[]).ok().map(|identified| identified.user)
}

/// The token of an `Authorization` header.
pub(crate) fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
