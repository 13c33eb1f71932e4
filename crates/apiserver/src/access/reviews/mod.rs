//! Reviews: resources that are answered and not stored.

mod access;
mod subject;
mod token;

use serde_json::Value;

use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::render;
use crate::state::ServerState;

/// Fills in the status of a review.
type FillStatus = fn(&ServerState, &Call, &mut Value) -> Result<(), Status>;

/// Answers a review; absent if the resource is not a review.
pub(crate) fn answer(shared: &ServerState, call: &Call) -> Option<Result<Reply, Status>> {
    let resource = &call.target.resource;
    let fill: FillStatus = match (resource.group.as_str(), resource.plural.as_str()) {
        ("authentication.k8s.io", "selfsubjectreviews") => subject::fill,
        ("authentication.k8s.io", "tokenreviews") => token::fill,
        ("authorization.k8s.io", "selfsubjectrulesreviews") => access::self_rules_review,
        ("authorization.k8s.io", "selfsubjectaccessreviews") => access::self_access_review,
        ("authorization.k8s.io", "subjectaccessreviews") => access::subject_access_review,
        ("authorization.k8s.io", "localsubjectaccessreviews") => access::local_subject_access_review,
        _ => return None,
    };
    Some(run_review(shared, call, fill))
}

fn run_review(shared: &ServerState, call: &Call, fill: FillStatus) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    let mut object = decode::object(shared, call, &mut notes)?;
    decode::set_namespace(call, &mut object)?;
    fill(shared, call, &mut object)?;
    Ok(Reply { notes, ..Reply::json(201, render::encode(&object, call.accept.yaml)) })
}
