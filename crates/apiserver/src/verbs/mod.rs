//! Executes resource requests, one verb per file.

pub(crate) mod binding;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod eviction;
pub(crate) mod list;
pub(crate) mod ownership;
mod past;
pub(crate) mod patch;
mod posting;
mod revision;
pub(crate) mod scale;
pub(crate) mod token;
mod transient;
pub(crate) mod update;
pub(crate) mod watch;

use std::sync::Arc;

use crate::call::{Call, Verb};
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::render;
use crate::state::ServerState;
use crate::store::Object;
use crate::typed;
use crate::versions;

/// Reads one object.
pub(crate) async fn get(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let object = read(shared, call).await?;
    Ok(Reply::json(200, render::object(call, &object)))
}

/// The requested object, in the version of the request, at least as new as the requested revision.
pub(crate) async fn read(shared: &ServerState, call: &Call) -> Result<Arc<Object>, Status> {
    let requested = call.query.text("resourceVersion");
    let latest = shared.store.revision();
    let requested = match list::revision(requested) {
        // kube-apiserver has no error for this, so it reports an internal error.
        Err(error) => return Err(Status::failure(error.to_string())),
        Ok(Some(revision)) if revision > latest => return Err(list::too_large(revision, latest)),
        Ok(requested) => requested,
    };
    let name = &call.path.name;
    let object = past::object(shared, call, requested);
    let object = object.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
    versions::read(shared, &call.target, &object).await
}

/// Reads or changes a subresource.
pub(crate) async fn subresource(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let name = call.path.subresource.as_str();
    let resource = &call.target.resource;
    let refused = || {
        if call.target.custom {
            Status::method_not_supported(call.group_resource(), call.verb.as_str())
        } else {
            Status::method_not_allowed()
        }
    };
    let subresource = resource.subresource(name).ok_or_else(refused)?;
    if !subresource.verbs.iter().any(|verb| verb == call.verb.as_str()) {
        return Err(refused());
    }
    // Logs, exec and proxy would need a node behind the pod.
    let same_kind = (&subresource.group, &subresource.kind) == (&resource.group, &resource.kind);
    match (name, call.verb) {
        ("scale", Verb::Get) => scale::get(shared, call).await,
        ("scale", Verb::Update) => scale::write(shared, call, false).await,
        ("scale", Verb::Patch) => scale::write(shared, call, true).await,
        ("eviction", Verb::Create) => eviction::evict(shared, call).await,
        ("binding", Verb::Create) => binding::bind(shared, call).await,
        ("token", Verb::Create) => token::request(shared, call).await,
        (_, Verb::Create) if typed::posted(call).is_some() => posting::answer(shared, call).await,
        (_, Verb::Get) if same_kind => get(shared, call).await,
        (_, Verb::Update) if same_kind => update::update(shared, call).await,
        (_, Verb::Patch) if same_kind => patch::patch(shared, call).await,
        _ => Err(refused()),
    }
}
