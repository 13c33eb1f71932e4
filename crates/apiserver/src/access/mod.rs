//! Authentication and authorization: tokens, users, RBAC, the reviews that query them, and an API server that is asked
//! instead.

pub(crate) mod attributes;
pub(crate) mod authentication;
pub(crate) mod authorization;
pub(crate) mod delegation;
pub(crate) mod identity;
pub(crate) mod reviews;
pub(crate) mod tokens;

pub use authentication::{Authentication, ClientAuthority, RequestHeaders};
pub use authorization::{AccessRequest, AccessTarget, Decision};
pub use delegation::{Delegate, Pending};
pub use tokens::{SigningKey, TokenKeyError, VerifyingKey};
