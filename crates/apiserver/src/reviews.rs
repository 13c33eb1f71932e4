//! Resources that are asked and never stored: who am I, may I.

use serde_json::{Value, json};

use crate::call::{Call, User};
use crate::decode;
use crate::notes::Notes;
use crate::render;
use crate::reply::Reply;
use crate::state::Shared;
use crate::status::Status;

/// The answer to a question; absent if the resource is none of these.
///
/// Whoever is let in may do everything, so every question about access is answered with yes.
pub(crate) fn answer(shared: &Shared, call: &Call) -> Option<Result<Reply, Status>> {
    let resource = &call.target.resource;
    let status: fn(&User) -> Value = match (resource.group.as_str(), resource.plural.as_str()) {
        ("authentication.k8s.io", "selfsubjectreviews") => {
            |user| json!({"userInfo": {"username": user.name, "groups": user.groups}})
        }
        ("authentication.k8s.io", "tokenreviews") => {
            |_| json!({"user": {}, "error": "this server does not review tokens"})
        }
        ("authorization.k8s.io", "selfsubjectrulesreviews") => |_| {
            json!({
                "incomplete": false,
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            })
        },
        ("authorization.k8s.io", _) => |_| json!({"allowed": true}),
        _ => return None,
    };
    let mut notes = Notes::default();
    Some(decode::object(shared, call, &mut notes).map(|mut object| {
        object["status"] = status(&call.user);
        Reply { notes, ..Reply::json(201, render::written(&object, call.accept.yaml)) }
    }))
}
