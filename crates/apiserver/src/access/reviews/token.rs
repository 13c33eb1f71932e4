//! TokenReview: the user and the audiences of a token.

use serde_json::{Value, json};

use crate::access::identity::{AuthenticatedUser, InvalidToken, authenticate};
use crate::call::Call;
use crate::http::status::Status;
use crate::state::ServerState;

pub(super) fn fill(shared: &ServerState, _: &Call, object: &mut Value) -> Result<(), Status> {
    let token = object.pointer("/spec/token").and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err(Status::bad_request("token is required for TokenReview in authentication"));
    }
    let wanted = object.pointer("/spec/audiences").and_then(Value::as_array).into_iter().flatten();
    let wanted: Vec<String> = wanted.filter_map(Value::as_str).map(str::to_owned).collect();
    object["status"] = match authenticate(shared, token, &wanted) {
        Ok(AuthenticatedUser { user, audiences }) => {
            json!({"authenticated": true, "user": user.info(), "audiences": audiences})
        }
        Err(InvalidToken(why)) => json!({"user": {}, "error": why}),
    };
    Ok(())
}
