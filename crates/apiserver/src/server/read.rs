//! Parses a resource request, or computes the answer for a path that is not served.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::request::Parts;

use crate::call::{Call, User, Verb};
use crate::http::negotiate::{Accept, Representation};
use crate::http::path::ResourcePath;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::status::{GroupResource, Status};
use crate::registry::{ServedKinds, ServedResource};
use crate::state::ServerState;
use crate::table::column::Column;

pub(super) fn read(
    shared: &ServerState,
    parts: &Parts,
    user: User,
    path: ResourcePath,
    body: Bytes,
) -> Result<Call, Box<Reply>> {
    let served = shared.registry.served();
    let target = served.target(&path.group, &path.version, &path.resource);
    let unknown = || Box::new(not_served(&served, target.as_deref(), &path));
    let target = target.clone().ok_or_else(unknown)?;
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let has_subresource =
        path.subresource.is_empty() || target.resource.subresource(&path.subresource).is_some();
    let misplaced = if target.resource.namespaced {
        path.namespace.is_empty() && !path.name.is_empty()
    } else {
        !path.namespace.is_empty()
    };
    if !has_subresource || misplaced {
        return Err(unknown());
    }
    let watch = query.flag("watch");
    let verb = Verb::of(&parts.method, &path, watch).ok_or_else(unknown)?;
    let header = |name| text(&parts.headers, name);
    let collection = matches!(verb, Verb::List | Verb::Watch);
    let not_acceptable = |status| {
        Box::new(Reply::from(if target.custom {
            status
        } else {
            Status::not_acceptable_built_in(collection)
        }))
    };
    let accept = Accept::parse(header(ACCEPT)).map_err(not_acceptable)?;
    Ok(Call {
        user,
        user_agent: header(USER_AGENT).to_owned(),
        verb,
        path,
        columns: columns(shared, accept, &target),
        target,
        query,
        accept,
        clock: shared.clock.clone(),
        rules: parts.extensions.get().copied().unwrap_or(shared.switches.typed_rules),
        content_type: header(CONTENT_TYPE).to_owned(),
        body,
    })
}

/// The answer for a path that is not served: a Status if the group is built in, else plain text.
fn not_served(served: &ServedKinds, target: Option<&ServedResource>, path: &ResourcePath) -> Reply {
    if let Some(target) = target.filter(|target| target.custom) {
        let of = GroupResource { group: &target.resource.group, resource: &target.resource.plural };
        return Status::not_found(of, &path.name).into();
    }
    if !served.is_built_in(&path.group) {
        return Reply::unknown_path();
    }
    let message = "the server could not find the requested resource";
    Reply { unknown: true, ..Status::generic(404, "NotFound", message).into() }
}

fn columns(shared: &ServerState, accept: Accept, target: &ServedResource) -> Vec<Column> {
    if !matches!(accept.representation, Representation::Table(_)) {
        return Vec::new();
    }
    let definition = shared.store.get("customresourcedefinitions.apiextensions.k8s.io", &target.table);
    Column::declared(definition.as_ref().map(|definition| definition.value()), &target.resource.version)
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
