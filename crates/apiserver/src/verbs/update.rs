//! Updates objects, and the steps of every change: read, edit, admit, validate, write.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::review::Operation;

use crate::access::authorization;
use crate::admission::{self, Review};
use crate::apply;
use crate::call::Call;
use crate::certificates;
use crate::convert;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::allocation::{self, pool::Reservation};
use crate::object::decode;
use crate::object::effects;
use crate::object::fields;
use crate::object::meta;
use crate::object::plugins;
use crate::object::strategy;
use crate::object::validation;
use crate::object::warnings;
use crate::render;
use crate::state::ServerState;
use crate::store::{Changed, Expect, Object};
use crate::typed;
use crate::verbs::revision::check_readable;
use crate::verbs::{create, ownership};
use crate::versions;

/// An edit of an existing object.
pub(crate) trait Edit: Sync {
    /// Computes the object after the request from the current one in the request's version; records the owners of its
    /// fields.
    fn apply(&self, shared: &ServerState, current: &Value, notes: &mut Notes) -> Result<Value, Status>;
    /// The kind of the request's options in reviews.
    fn options(&self) -> &'static str {
        "UpdateOptions"
    }
}

struct Replacement<'a> {
    call: &'a Call,
    object: Value,
    notes: Notes,
}

/// Replaces an object with the one in the request's body.
pub(crate) async fn update(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    apply::check(call, "UpdateOptions", None)?;
    let object = decode::object(shared, call, &mut notes)?;
    replace(shared, call, object, &mut notes).await.map_err(|status| status.with_notes(&notes))
}

async fn replace(
    shared: &ServerState,
    call: &Call,
    mut object: Value,
    notes: &mut Notes,
) -> Result<Reply, Status> {
    decode::set_namespace(call, &mut object)?;
    check_name(call, &object)?;
    ownership::deduplicate_owners(&mut object, notes, false);
    let current = shared.store.get(&call.target.table, &call.key(&call.path.name));
    let Some(current) = current else {
        if strategy::allows_create_on_update(&call.target, &call.path.subresource) {
            check_uid(call, &object, &Value::Null)?;
            ownership::record(shared, call, None, &mut object);
            return create::create_object(shared, call, (object, notes.clone())).await;
        }
        return Err(Status::not_found(call.group_resource(), &call.path.name));
    };
    check_uid(call, &object, current.value())?;
    change(shared, call, &Replacement { call, object, notes: notes.clone() }).await
}

/// Changes an object.
pub(crate) async fn change(shared: &ServerState, call: &Call, edit: &dyn Edit) -> Result<Reply, Status> {
    let (body, notes) = change_and_render(shared, call, edit).await?;
    Ok(Reply { notes, ..Reply::json(200, body) })
}

/// Changes an object and renders it in the requested representation.
pub(crate) async fn change_and_render(
    shared: &ServerState,
    call: &Call,
    edit: &dyn Edit,
) -> Result<(bytes::Bytes, Notes), Status> {
    let dry_run = call.query.dry_run();
    let name = &call.path.name;
    let options = admission::options(call, edit.options());
    loop {
        let current = shared.store.get(&call.target.table, &call.key(name));
        let current = current.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
        let read = versions::read(shared, &call.target, &current).await?;
        let converted = convert::to_version(read.value(), &call.target.resource);
        let mut review = Review::new(call, Operation::Update, name, dry_run, options.clone());
        let edited = edit.apply(shared, &converted, &mut review.notes);
        let mut edited = edited.map_err(|status| status.with_notes(&review.notes))?;
        effects::admit_change(shared, call).map_err(|status| status.with_notes(&review.notes))?;
        plugins::keep(call, &mut edited, &converted);
        review.object = Some(edited);
        review.old = Some(Cow::Borrowed(&*converted));
        typed::admit(shared, call, &mut review).map_err(|status| status.with_notes(&review.notes))?;
        ownership::mutate(shared, call, &mut review).await?;
        let mutated = review.object.take().expect("mutation keeps the object of an update");
        let (mut prepared, reserved) =
            prepare(shared, call, mutated, &converted).map_err(|status| status.with_notes(&review.notes))?;
        if review.notes.empty_collections && call.path.subresource.is_empty() {
            meta::set(&mut prepared, "generation", meta::generation(&converted) + 1);
        }
        review.notes.warn(effects::compare_with_others(shared, &call.target, &mut prepared));
        review.notes.warn(warnings::of(call, &prepared, Some(&converted)));
        review.notes.warn(typed::warnings(shared, call, Some(&converted), &prepared));
        review.object = Some(prepared);
        typed::validate(shared, call, &review).map_err(|status| status.with_notes(&review.notes))?;
        admission::validate(shared, call, &mut review).await?;
        let object = review.object.take().expect("validation keeps the object");
        let mut notes = std::mem::take(&mut review.notes);
        drop(review);
        // Unknown fields of an applied configuration count as a change, but are not stored.
        let object = decode::pruned(call, object);
        let stored = versions::convert(shared, &call.target, object, &call.target.storage).await?;
        let persisted = persist(shared, call, &current, (stored, notes.non_canonical), dry_run);
        drop(reserved);
        // A concurrent request changed the object: repeat the edit on the current one.
        if let Ok(object) = persisted {
            notes.unchanged = Arc::ptr_eq(&object, &current);
            let converted = versions::read(shared, &call.target, &object).await?;
            return Ok((render::object(call, &converted), notes));
        }
    }
}

impl Edit for Replacement<'_> {
    fn apply(&self, shared: &ServerState, current: &Value, notes: &mut Notes) -> Result<Value, Status> {
        notes.extend(self.notes.clone());
        let mut object = self.object.clone();
        ownership::record(shared, self.call, Some(current), &mut object);
        Ok(object)
    }
}

/// Refuses an object whose name differs from the request's.
pub(crate) fn check_name(call: &Call, object: &Value) -> Result<(), Status> {
    let (wanted, found) = (&call.path.name, meta::name(object));
    if found.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
        )));
    }
    if found != wanted {
        return Err(Status::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({wanted})"
        )));
    }
    Ok(())
}

/// Checks that the UID and the revision in an object match those of the stored one.
pub(crate) fn check_stored(call: &Call, object: &Value, current: &Value) -> Result<(), Status> {
    check_uid(call, object, current)?;
    let (wanted, found) = (meta::text(object, "resourceVersion"), meta::text(current, "resourceVersion"));
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    let why = format!("ResourceVersion in precondition: {wanted}, ResourceVersion in object meta: {found}");
    Err(precondition_failed(call, meta::name(object), &why, call.query.dry_run()))
}

/// Checks that the UID in an object, if there is one, is that of the stored one.
pub(crate) fn check_uid(call: &Call, object: &Value, current: &Value) -> Result<(), Status> {
    let (wanted, found) = (meta::text(object, "uid"), meta::text(current, "uid"));
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    Err(precondition_failed(
        call,
        meta::name(object),
        &format!("UID in precondition: {wanted}, UID in object meta: {found}"),
        call.query.dry_run(),
    ))
}

/// The storage layer's error for a precondition that is not met.
pub(crate) fn precondition_failed(call: &Call, name: &str, precondition: &str, dry_run: bool) -> Status {
    let key = call.key(name);
    let resource = &call.target.resource;
    let is_definition = matches!(resource.group.as_str(), "apiextensions.k8s.io" | "apiregistration.k8s.io");
    let is_stored_by_group = call.target.custom || call.target.typed.is_some() || is_definition;
    let path = match call.target.table.as_str() {
        "bindings" => "pods".to_owned(),
        "services" => "services/specs".to_owned(),
        "endpoints" => "services/endpoints".to_owned(),
        "replicationcontrollers" => "controllers".to_owned(),
        "nodes" => "minions".to_owned(),
        "ingresses.networking.k8s.io" => "ingress".to_owned(),
        _ if is_stored_by_group => format!("{}/{}", resource.group, resource.plural),
        _ => resource.plural.clone(),
    };
    let stored_at = call.target.typed.as_ref().map_or("/registry", |typed| typed.kind.storage_root());
    let root = if dry_run { "" } else { stored_at };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {root}/{path}/{key}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: {precondition}",
    );
    Status::conflict(call.group_resource(), name, &why)
}

/// Prepares the object for storage, in the version of the request; returns also the addresses that are reserved for it
/// until it is written.
fn prepare<'a>(
    shared: &'a ServerState,
    call: &Call,
    mut object: Value,
    old: &Value,
) -> Result<(Value, Option<Reservation<'a>>), Status> {
    check_revision(call, &object, old)?;
    decode::check_version(call, &object)?;
    decode::set_namespace(call, &mut object)?;
    if !call.target.custom {
        fields::apply_storage_form(&call.target.resource, &mut object);
    }
    match (&call.target.typed, call.path.subresource.as_str()) {
        (Some(typed), _) => typed::prepare_changed(shared, call, typed, (old, &mut object))?,
        (None, "status" | "approval") => strategy::prepare_for_status_update(&call.target, &mut object, old),
        (None, "finalize") => strategy::prepare_for_finalize(&mut object, old),
        (None, _) => strategy::prepare_for_update(&call.target, &mut object, old),
    }
    if meta::text(&object, "uid").is_empty() {
        meta::keep(&mut object, old, "uid");
    }
    meta::keep(&mut object, old, "creationTimestamp");
    if meta::is_terminating(old) {
        meta::keep(&mut object, old, "deletionTimestamp");
    }
    if meta::of(&object).get("deletionGracePeriodSeconds").is_none() {
        meta::keep(&mut object, old, "deletionGracePeriodSeconds");
    }
    certificates::prepare_for_update(shared, call, &mut object, old)?;
    let reserved = match call.path.subresource.as_str() {
        "" => allocation::allocate(shared, call, &mut object, Some(old))?,
        _ => None,
    };
    match &call.target.typed {
        Some(typed) => typed::validate_and_complete(shared, call, typed, (old, &mut object))?,
        None => validation::changed_object(call, &object, old)?,
    }
    if call.path.subresource.is_empty() {
        effects::prepare(&call.target, &mut object, shared.clock.now())?;
        authorization::check_escalation(shared, call, &object, Some(old))?;
    }
    meta::keep(&mut object, old, "resourceVersion");
    apply::keep_times(&mut object, old);
    Ok((object, reserved))
}

fn check_revision(call: &Call, object: &Value, old: &Value) -> Result<(), Status> {
    let (found, wanted) = (meta::text(object, "resourceVersion"), meta::text(old, "resourceVersion"));
    let name = &call.path.name;
    check_readable(found)?;
    if found.is_empty() || found == "0" {
        if strategy::allows_unconditional_update(&call.target) {
            return Ok(());
        }
        // The library of aggregated API servers that this server replaces is older: it prints the number's Go syntax.
        let zero = if call.target.typed.is_some() { Shown::verbatim("0x0") } else { Shown::from(0) };
        let at = Path::new("metadata").child("resourceVersion");
        let error = Error::invalid(&at, zero, "must be specified for an update");
        let resource = &call.target.resource;
        return Err(Status::invalid(&resource.group, &resource.plural, name, &[error]));
    }
    if found == wanted { Ok(()) } else { Err(Status::outdated(call.group_resource(), name)) }
}

fn persist(
    shared: &ServerState,
    call: &Call,
    current: &Arc<Object>,
    (mut object, non_canonical): (Value, bool),
    dry_run: bool,
) -> Result<Arc<Object>, Changed> {
    formats::json::reread(&mut object);
    let link = meta::of_mut(&mut object).remove("selfLink");
    // An object that is not stored keeps the link that was sent.
    let unstored = |mut object: Value| {
        if let Some(link) = link {
            meta::set(&mut object, "selfLink", link);
        }
        Arc::new(Object::unstored(object, 0))
    };
    if dry_run {
        return Ok(unstored(object));
    }
    let rewritten = current.is_new() && strategy::is_rewritten_once(&call.target);
    let is_gone = effects::is_gone(&call.target, &object);
    let is_same = &object == current.value() && !rewritten && current.is_non_canonical() == non_canonical;
    if is_same && !is_gone {
        return Ok(Arc::clone(current));
    }
    let (table, key) = (&call.target.table, call.key(&call.path.name));
    let expect = Expect::Revision(current.revision());
    if is_gone {
        // Watches receive the last stored state.
        let removed = shared.store.remove(table, &key, expect, current.value().clone())?;
        effects::after_removal(shared, &call.target, &removed);
        // The answer is the object as sent, at the revision that it replaced.
        return Ok(unstored(object));
    }
    let written = shared.store.put_non_canonical(table, &key, expect, (object, non_canonical))?;
    effects::after_write(shared, &call.target, &written);
    Ok(written)
}
