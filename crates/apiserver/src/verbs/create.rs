//! Making an object.

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
use crate::object::allocation::{self, Held};
use crate::object::decode;
use crate::object::effects;
use crate::object::fields;
use crate::object::meta;
use crate::object::plugins;
use crate::object::strategy;
use crate::object::validation;
use crate::object::warnings;
use crate::render;
use crate::state::Shared;
use crate::store::{Expect, Object};
use crate::verbs::written;
use crate::versions;

/// How often a name is made up before giving up.
const ATTEMPTS: u32 = 8;

/// Makes the object of the request's body.
pub(crate) async fn create(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    decode::check_form(call)?;
    apply::check(call, "CreateOptions", None)?;
    let mut object = decode::object(shared, call, &mut notes)?;
    wipe(&mut object);
    written::each_owner_once(&mut object, &mut notes, false);
    written::record(shared, call, None, &mut object);
    create_object(shared, call, (object, notes)).await
}

/// Makes an object, which says already who owns its fields. What was noted of it is told with a refusal as well.
pub(crate) async fn create_object(
    shared: &Shared,
    call: &Call,
    (object, notes): (Value, Notes),
) -> Result<Reply, Status> {
    let before = notes.clone();
    make(shared, call, (object, notes)).await.map_err(|status| status.noting(&before))
}

async fn make(shared: &Shared, call: &Call, (mut object, notes): (Value, Notes)) -> Result<Reply, Status> {
    decode::place(call, &mut object)?;
    let name = meta::name(&object).to_owned();
    let dry_run = call.query.dry_run();
    let mut review =
        Review::new(call, Operation::Create, &name, dry_run, admission::options(call, "CreateOptions"));
    review.notes = notes;
    effects::admit_to_namespace(shared, call, &name)?;
    plugins::admit(shared, call, &mut object)?;
    review.object = Some(object);
    written::mutate(shared, call, &mut review).await?;
    let mutated = review.object.take().expect("mutation keeps the object of a create request");
    let attempts = if meta::name(&mutated).is_empty() { ATTEMPTS } else { 1 };
    for attempt in 1..=attempts {
        let (mut object, held) =
            prepared(shared, call, mutated.clone()).map_err(|status| status.noting(&review.notes))?;
        let told = effects::compare(shared, &call.target, &mut object);
        let name = meta::name(&object).to_owned();
        review.name.clone_from(&name);
        review.notes.warn(told);
        review.notes.warn(warnings::of(call, &object, None));
        review.object = Some(object);
        admission::validate(shared, call, &mut review).await?;
        let object = review.object.take().expect("validation keeps the object");
        // What a configuration says that nobody knows counts as a change, but is not kept.
        let object = decode::pruned(call, object);
        let stored = versions::converted(shared, &call.target, object, &call.target.storage).await?;
        let persisted = persist(shared, call, (stored, review.notes.rough), dry_run);
        drop(held);
        match persisted {
            Ok(object) => {
                let notes = std::mem::take(&mut review.notes);
                let shown = versions::read_one(shared, &call.target, &object).await?;
                let body = render::object(call, &shown);
                return Ok(Reply { notes, name: Some(name), ..Reply::json(201, body) });
            }
            Err(status) if attempt < attempts && status.reason == "AlreadyExists" => {}
            Err(status) => return Err(status.noting(&review.notes)),
        }
    }
    Err(Status::internal("no attempt to create the object was made"))
}

/// What only the server may say of a new object; as kube-apiserver has it, of one that a creation makes.
pub(super) fn wipe(object: &mut Value) {
    let metadata = meta::of_mut(object);
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(field);
    }
}

/// The object as it will be stored, in the version of the request, and what is held for it until then.
fn prepared<'a>(
    shared: &'a Shared,
    call: &Call,
    mut object: Value,
) -> Result<(Value, Option<Held<'a>>), Status> {
    let prefix = meta::text(&object, "generateName").to_owned();
    if meta::name(&object).is_empty() && !prefix.is_empty() {
        meta::set(&mut object, "name", shared.ids.name(&prefix));
    }
    decode::check_version(call, &object)?;
    decode::place(call, &mut object)?;
    if !call.target.custom {
        fields::store(&call.target.resource, &mut object);
    }
    meta::set(&mut object, "uid", shared.ids.uid());
    meta::set(&mut object, "creationTimestamp", rfc3339(shared.clock.now()));
    strategy::prepare_for_create(&call.target, &mut object);
    certificates::prepare_for_create(call, &mut object)?;
    // As kube-apiserver has it, what is made by an update of its status gets no address.
    let held = if call.path.subresource.is_empty() {
        allocation::allocate(shared, call, &mut object, None)?
    } else {
        None
    };
    validation::new_object(call, &object)?;
    effects::prepare(&call.target, &mut object, shared.clock.now())?;
    authorization::check_escalation(shared, call, &object, None)?;
    Ok((object, held))
}

/// Writes a new object, which is in its storage version.
fn persist(
    shared: &Shared,
    call: &Call,
    (mut object, rough): (Value, bool),
    dry_run: bool,
) -> Result<Arc<Object>, Status> {
    let name = meta::name(&object).to_owned();
    let key = call.key(&name);
    let generated = !meta::text(&object, "generateName").is_empty();
    let exists = || already_there(shared, call, &name, generated);
    // What is no revision is none.
    let said = meta::text(&object, "resourceVersion").parse().is_ok_and(|revision: u64| revision > 0);
    // It is storage that refuses it, which a dry run does not reach.
    if said && call.verb == Verb::Create && !dry_run {
        return Err(Status::plain(500, "", "resourceVersion should not be set on objects to be created"));
    }
    meta::of_mut(&mut object).remove("selfLink");
    if dry_run {
        let taken = shared.store.get(&call.target.table, &key).is_some();
        return if taken { Err(exists()) } else { Ok(Arc::new(Object::shown(object, 0))) };
    }
    let object = shared
        .store
        .put_roughly(&call.target.table, &key, Expect::Absent, (object, rough))
        .map_err(|_| exists())?;
    effects::written(shared, &call.target, object.value());
    Ok(object)
}

/// The refusal of an object whose name is taken; one that the server may make names for is told so.
fn already_there(shared: &Shared, call: &Call, name: &str, generated: bool) -> Status {
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

/// The answer to a request that made nothing.
pub(crate) fn success(call: &Call, name: &str, uid: &str) -> Value {
    let mut details = json!({"name": name, "kind": call.target.resource.plural, "uid": uid});
    if !call.target.resource.group.is_empty() {
        details["group"] = call.target.resource.group.as_str().into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}
