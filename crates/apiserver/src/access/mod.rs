//! Authentication and authorization: tokens, users, RBAC, and the reviews that query them.

pub(crate) mod attributes;
pub(crate) mod authentication;
pub(crate) mod authorization;
pub(crate) mod identity;
pub(crate) mod reviews;
pub(crate) mod tokens;

pub use authentication::{Authentication, ClientAuthority, RequestHeaders};
pub use tokens::{SigningKey, TokenKeyError, VerifyingKey};
