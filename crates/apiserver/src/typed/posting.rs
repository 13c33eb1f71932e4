//! Subresources that answer what is posted to them.

use serde_json::Value;
use webhook::posting::{Answering, PostedSubresource, Posting};
use webhook::rejection::Rejection;

use super::{StoredObjects, status_of};
use crate::call::Call;
use crate::http::status::Status;
use crate::state::ServerState;

/// The subresource of the request, if it answers what is posted to it.
pub(crate) fn posted(call: &Call) -> Option<&'static PostedSubresource> {
    let strategy = call.target.typed.as_ref()?.strategy;
    strategy.posted.iter().find(|posted| posted.name == call.path.subresource)
}

/// Validates an admitted body, and reads what its answer depends on.
///
/// # Errors
/// The rejection of the subresource.
pub(crate) fn prepare_answer(
    shared: &ServerState,
    call: &Call,
    posted: &PostedSubresource,
    body: Value,
) -> Result<Answering, Status> {
    let posting = Posting {
        namespace: &call.path.namespace,
        name: &call.path.name,
        user: &call.user.name,
        now: shared.clock.now(),
        max_expiration: shared.switches.max_expiration,
        objects: &StoredObjects(shared),
    };
    (posted.prepare)(&posting, body).map_err(|rejection| answer_status(call, rejection))
}

/// The response for a rejection.
pub(crate) fn answer_status(call: &Call, rejection: Rejection) -> Status {
    status_of(call, [&call.path.name, ""], rejection)
}
