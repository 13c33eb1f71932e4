//! Creates objects.

use std::sync::Arc;

use serde_json::{Value, json};
use webhook::review::Operation;

use crate::access::authorization;
use crate::admission::{self, Review};
use crate::apply;
use crate::call::{Call, Verb};
use crate::certificates;
use crate::clock::rfc3339;
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
use crate::store::{Expect, Object};
use crate::typed;
use crate::verbs::ownership;
use crate::verbs::revision::check_readable;
use crate::versions;

/// How many names the server generates before it gives up.
const ATTEMPTS: u32 = 8;

/// Creates the object in the request's body.
pub(crate) async fn create(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    decode::check_media_type(call)?;
    apply::check(call, "CreateOptions", None)?;
    let mut object = decode::object(shared, call, &mut notes)?;
    clear_server_fields(&mut object);
    ownership::deduplicate_owners(&mut object, &mut notes, false);
    ownership::record(shared, call, None, &mut object);
    create_object(shared, call, (object, notes)).await
}

/// Creates an object whose field owners are recorded already. Notes are sent with an error, too.
pub(crate) async fn create_object(
    shared: &ServerState,
    call: &Call,
    (object, notes): (Value, Notes),
) -> Result<Reply, Status> {
    let before = notes.clone();
    admit_and_store(shared, call, (object, notes)).await.map_err(|status| status.with_notes(&before))
}

async fn admit_and_store(
    shared: &ServerState,
    call: &Call,
    (mut object, notes): (Value, Notes),
) -> Result<Reply, Status> {
    decode::set_namespace(call, &mut object)?;
    let name = meta::name(&object).to_owned();
    let dry_run = call.query.dry_run();
    let mut review =
        Review::new(call, Operation::Create, &name, dry_run, admission::options(call, "CreateOptions"));
    review.notes = notes;
    effects::admit_to_namespace(shared, call, &name)?;
    plugins::admit(shared, call, &mut object)?;
    review.object = Some(object);
    typed::admit(shared, call, &mut review).map_err(|status| status.with_notes(&review.notes))?;
    ownership::mutate(shared, call, &mut review).await?;
    let mut mutated = review.object.take().expect("mutation keeps the object of a create request");
    if call.verb != Verb::Create {
        // As in kube-apiserver, an update or patch that creates reads the revision once webhooks have seen it.
        check_readable(meta::text(&mutated, "resourceVersion"))
            .map_err(|status| status.with_notes(&review.notes))?;
    }
    let attempts = if meta::name(&mutated).is_empty() { ATTEMPTS } else { 1 };
    for attempt in 1..=attempts {
        let object = if attempt < attempts { mutated.clone() } else { mutated.take() };
        let (mut object, reserved) =
            prepare(shared, call, object).map_err(|status| status.with_notes(&review.notes))?;
        let texts = effects::compare_with_others(shared, &call.target, &mut object);
        let name = meta::name(&object).to_owned();
        review.name.clone_from(&name);
        review.notes.warn(texts);
        review.notes.warn(warnings::of(call, &object, None));
        review.notes.warn(typed::warnings(shared, call, None, &object));
        review.object = Some(object);
        typed::validate(shared, call, &review).map_err(|status| status.with_notes(&review.notes))?;
        admission::validate(shared, call, &mut review).await?;
        let object = review.object.take().expect("validation keeps the object");
        // Unknown fields of an applied configuration count as a change, but are not stored.
        let object = decode::pruned(call, object);
        let stored = versions::convert(shared, &call.target, object, &call.target.storage).await?;
        let persisted = persist(shared, call, (stored, review.notes.non_canonical), dry_run);
        drop(reserved);
        match persisted {
            Ok(object) => {
                let notes = std::mem::take(&mut review.notes);
                let converted = versions::read(shared, &call.target, &object).await?;
                let body = render::object(call, &converted);
                return Ok(Reply { notes, name: Some(name), ..Reply::json(201, body) });
            }
            Err(status) if attempt < attempts && status.reason == "AlreadyExists" => {}
            Err(status) => return Err(status.with_notes(&review.notes)),
        }
    }
    Err(Status::internal("no attempt to create the object was made"))
}

/// Removes metadata that only the server sets. As in kube-apiserver, only a create request needs this.
pub(super) fn clear_server_fields(object: &mut Value) {
    let metadata = meta::of_mut(object);
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(field);
    }
}

/// Prepares the object for storage, in the version of the request; returns also the addresses that are reserved for it
/// until it is written.
fn prepare<'a>(
    shared: &'a ServerState,
    call: &Call,
    mut object: Value,
) -> Result<(Value, Option<Reservation<'a>>), Status> {
    let prefix = meta::text(&object, "generateName").to_owned();
    if meta::name(&object).is_empty() && !prefix.is_empty() {
        meta::set(&mut object, "name", shared.ids.name(&prefix));
    }
    decode::check_version(call, &object)?;
    decode::set_namespace(call, &mut object)?;
    if !call.target.custom {
        fields::apply_storage_form(&call.target.resource, &mut object);
    }
    meta::set(&mut object, "uid", shared.ids.uid());
    meta::set(&mut object, "creationTimestamp", rfc3339(shared.clock.now()));
    if let Some(typed) = &call.target.typed {
        typed::prepare_new(shared, call, typed, &mut object)?;
        return Ok((object, None));
    }
    strategy::prepare_for_create(&call.target, &mut object);
    if !call.target.custom {
        fields::drop_newer_fields(&shared.registry.served().kinds, &call.target.resource, &mut object);
    }
    certificates::prepare_for_create(call, &mut object)?;
    // As in kube-apiserver, an object that an update of its status creates gets no address.
    let reserved = if call.path.subresource.is_empty() {
        allocation::allocate(shared, call, &mut object, None)?
    } else {
        None
    };
    validation::new_object(call, &object)?;
    effects::prepare(&call.target, &mut object, shared.clock.now())?;
    authorization::check_escalation(shared, call, &object, None)?;
    Ok((object, reserved))
}

/// Stores a new object, which must be in its storage version.
fn persist(
    shared: &ServerState,
    call: &Call,
    (mut object, non_canonical): (Value, bool),
    dry_run: bool,
) -> Result<Arc<Object>, Status> {
    let name = meta::name(&object).to_owned();
    let key = call.key(&name);
    let generated = !meta::text(&object, "generateName").is_empty();
    let exists = || already_exists(shared, call, &name, generated);
    // An unparsable revision counts as none.
    let has_revision = meta::text(&object, "resourceVersion").parse().is_ok_and(|revision: u64| revision > 0);
    // The storage refuses it, which a dry run does not reach.
    if has_revision && call.verb == Verb::Create && !dry_run {
        return Err(Status::plain(500, "", "resourceVersion should not be set on objects to be created"));
    }
    formats::json::reread(&mut object);
    if dry_run {
        let exists_already = shared.store.get(&call.target.table, &key).is_some();
        return if exists_already { Err(exists()) } else { Ok(Arc::new(Object::unstored(object, 0))) };
    }
    // Only the storage removes the link that an update has kept.
    meta::of_mut(&mut object).remove("selfLink");
    let object = shared
        .store
        .put_non_canonical(&call.target.table, &key, Expect::Absent, (object, non_canonical))
        .map_err(|_| exists())?;
    effects::after_write(shared, &call.target, &object);
    Ok(object)
}

/// The error for a name that is in use; it says so if the name was generated.
fn already_exists(shared: &ServerState, call: &Call, name: &str, generated: bool) -> Status {
    let mut status = if generated {
        Status::generate_name_conflict(call.group_resource(), name)
    } else {
        Status::already_exists(call.group_resource(), name)
    };
    let other = shared.store.get(&call.target.table, &call.key(name));
    if other.is_some_and(|other| meta::is_terminating(other.value())) {
        status.message = format!("object is being deleted: {}", status.message);
    }
    status
}

/// The `Status` of success that a request without a resulting object answers.
pub(crate) fn success_status(call: &Call, name: &str, uid: &str) -> Value {
    let mut details = json!({"name": name, "kind": call.target.resource.plural, "uid": uid});
    if !call.target.resource.group.is_empty() {
        details["group"] = call.target.resource.group.as_str().into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}
