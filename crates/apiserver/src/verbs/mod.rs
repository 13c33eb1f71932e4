//! What requests for objects do, one verb per file.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod patch;
pub(crate) mod scale;
pub(crate) mod update;
pub(crate) mod watch;

use crate::call::{Call, Verb};
use crate::render;
use crate::reply::Reply;
use crate::server::Shared;
use crate::status::Status;

/// Reads one object.
pub(crate) fn get(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let name = &call.path.name;
    let object = shared.store.get(&call.target.table, &call.key(name));
    let object = object.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
    Ok(Reply::json(200, render::object(call, &object)))
}

/// Reads or changes one side of an object.
pub(crate) async fn subresource(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let name = call.path.subresource.as_str();
    let verbs = call.target.resource.subresource(name).map(|subresource| subresource.verbs.as_slice());
    if !verbs.unwrap_or_default().iter().any(|verb| verb == call.verb.as_str()) {
        return Err(Status::method_not_supported(call.group_resource(), call.verb.as_str()));
    }
    match (name, call.verb) {
        ("scale", Verb::Get) => scale::get(shared, call),
        ("scale", Verb::Update) => scale::write(shared, call, false).await,
        ("scale", Verb::Patch) => scale::write(shared, call, true).await,
        (_, Verb::Get) => get(shared, call),
        (_, Verb::Update) => update::update(shared, call).await,
        (_, Verb::Patch) => patch::patch(shared, call).await,
        _ => Err(Status::method_not_supported(call.group_resource(), call.verb.as_str())),
    }
}
