//! Authorization: AlwaysAllow or RBAC.

mod access_request;
mod bootstrap;
mod cache;
mod escalation;
mod rbac;
mod rules;

use crate::access::attributes::Attributes;
use crate::call::User;
use crate::http::status::Status;
use crate::state::{Authorization, ServerState};

pub use access_request::{AccessRequest, AccessTarget};
pub(crate) use bootstrap::bootstrap;
pub(crate) use cache::RulesCache;
pub(crate) use escalation::check as check_escalation;
pub(crate) use rbac::user_rules;

/// The group that may do everything.
const MASTERS: &str = "system:masters";

/// The authorizer's decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Whether the access is allowed.
    pub allowed: bool,
    /// `RBAC: allowed by …`; empty if there is no reason to report.
    pub reason: String,
}

/// Refuses a request that its user may not send.
pub(crate) fn check(shared: &ServerState, request: &Attributes) -> Result<(), Status> {
    if is_unrestricted(shared, &request.user) { Ok(()) } else { AccessRequest::of(request).check(shared) }
}

/// Whether a user may do everything.
fn is_unrestricted(shared: &ServerState, user: &User) -> bool {
    shared.switches.authorization == Authorization::AlwaysAllow
        || user.groups.iter().any(|group| group == MASTERS)
}

impl AccessRequest {
    /// Decides whether the access is allowed.
    pub(crate) fn decide(&self, shared: &ServerState) -> Decision {
        if let Some(delegate) = &shared.delegate {
            return delegate.decide_now(self);
        }
        if is_unrestricted(shared, &self.user) {
            return Decision { allowed: true, reason: String::new() };
        }
        rbac::decide(shared, self)
    }

    /// Returns the error 403 if the access is not allowed.
    pub(crate) fn check(&self, shared: &ServerState) -> Result<(), Status> {
        let decision = self.decide(shared);
        if decision.allowed { Ok(()) } else { Err(self.forbidden(&decision.reason)) }
    }
}
