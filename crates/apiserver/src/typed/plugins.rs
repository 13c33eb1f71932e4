//! The admission plugins of typed kinds, asked with what this server knows: its objects, its time, its authorizer.

use serde_json::Value;
use webhook::admission_plugin::{Action, Attributes, Authorizer, User};
use webhook::rejection::Rejection;

use super::{StoredObjects, status_of};
use crate::access::authorization::{AccessRequest, AccessTarget};
use crate::admission::Review;
use crate::call::{self, Call};
use crate::http::status::Status;
use crate::object::meta;
use crate::state::ServerState;

/// The server's authorizer, in the mode in which it runs.
struct ServerAuthorizer<'a>(&'a ServerState);

impl Authorizer for ServerAuthorizer<'_> {
    fn is_allowed(&self, user: &User, action: &Action<'_>) -> bool {
        let User { name, groups } = user.clone();
        let request = AccessRequest {
            user: call::User { name, groups, ..call::User::default() },
            verb: action.verb.to_owned(),
            target: AccessTarget::Resource {
                group: action.group.to_owned(),
                resource: action.resource.to_owned(),
                subresource: action.subresource.to_owned(),
                namespace: action.namespace.to_owned(),
                name: action.name.to_owned(),
            },
        };
        request.decide(self.0).allowed
    }
}

/// Asks the plugins of the mutating phase.
///
/// # Errors
/// The first rejection.
pub(super) fn admit(shared: &ServerState, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let Some(plugins) = &shared.plugins else { return Ok(()) };
    let mut object = review.object.take();
    let admitted = ask(shared, call, review, |request| plugins.admit(request, object.as_mut()));
    review.object = object;
    admitted.map_err(|rejection| refused(call, review, rejection))
}

/// Asks the plugins of the validating phase.
///
/// # Errors
/// The first rejection.
pub(crate) fn validate(shared: &ServerState, call: &Call, review: &Review<'_>) -> Result<(), Status> {
    let typed = call.target.typed.as_ref().filter(|_| call.rules.judge());
    let (Some(plugins), Some(_)) = (&shared.plugins, typed) else { return Ok(()) };
    let validated = ask(shared, call, review, |request| plugins.validate(request, review.object.as_ref()));
    validated.map_err(|rejection| refused(call, review, rejection))
}

fn ask(
    shared: &ServerState,
    call: &Call,
    review: &Review<'_>,
    question: impl FnOnce(&Attributes<'_>) -> Result<(), Rejection>,
) -> Result<(), Rejection> {
    let user = User { name: call.user.name.clone(), groups: call.user.groups.clone() };
    question(&Attributes {
        operation: review.operation,
        resource: &call.target.table,
        kind: &review.kind.kind,
        subresource: &call.path.subresource,
        namespace: &review.namespace,
        name: &review.name,
        old: review.old.as_deref(),
        user: &user,
        now: shared.clock.now(),
        objects: &StoredObjects(shared),
        authorizer: &ServerAuthorizer(shared),
        random: &|end| shared.ids.number_below(end),
    })
}

/// The answer, which names the request's object or else the one that it would create.
fn refused(call: &Call, review: &Review<'_>, rejection: Rejection) -> Status {
    let object = review.object.as_ref().unwrap_or(&Value::Null);
    let own = [meta::name(object), meta::text(object, "generateName")];
    let own = own.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    status_of(call, [&review.name, own], rejection)
}
