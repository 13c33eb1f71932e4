//! SelfSubjectReview: the user of the request.

use serde_json::{Value, json};

use crate::call::Call;
use crate::clock::rfc3339;
use crate::http::status::Status;
use crate::object::meta;
use crate::state::ServerState;

#[expect(clippy::unnecessary_wraps, reason = "one of several answers")]
pub(super) fn fill(shared: &ServerState, call: &Call, object: &mut Value) -> Result<(), Status> {
    meta::set(object, "creationTimestamp", rfc3339(shared.clock.now()));
    object["status"] = json!({"userInfo": call.user.info()});
    Ok(())
}
