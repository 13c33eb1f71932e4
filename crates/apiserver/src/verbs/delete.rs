//! Deletes objects and collections.

use std::borrow::Cow;
use std::sync::Arc;

use schema::Message;
use serde_json::{Value, json};
use webhook::review::Operation;

use crate::admission::{self, Review};
use crate::call::Call;
use crate::convert;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::{GroupResource, Status};
use crate::object::decode;
use crate::object::effects;
use crate::object::fields::blank;
use crate::object::meta;
use crate::object::removal::{self, DeleteOptions, DeletionEffect, Preconditions};
use crate::object::strategy;
use crate::render;
use crate::selection::Selection;
use crate::state::ServerState;
use crate::store::{Expect, Object};
use crate::typed;
use crate::verbs::create::success_status;
use crate::verbs::{list, update};
use crate::versions;

/// The outcome of a deletion.
struct Deletion {
    object: Value,
    gone: bool,
    /// Whether the answer is the object even if it is gone.
    returns_object: bool,
    notes: Notes,
}

/// Deletes one object.
pub(crate) async fn delete(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let (options, raw) = options(call)?;
    let name = call.path.name.as_str();
    let mut notes = Notes::default();
    notes.warn(warning(call, &options));
    let deleted = delete_object(shared, call, name, (&options, Some((name, &raw)))).await;
    let mut deleted = deleted.map_err(|status| status.with_notes(&notes))?;
    notes.extend(std::mem::take(&mut deleted.notes));
    // With `orphanDependents=false`, 202 says that the dependents are still being deleted.
    let code = if !deleted.gone && options.orphan_dependents == Some(false) { 202 } else { 200 };
    let answer = if deleted.gone && !deleted.returns_object {
        let status = success_status(call, name, meta::text(&deleted.object, "uid"));
        render::encode(&status, call.accept.yaml)
    } else {
        let target = &call.target;
        let converted = versions::convert(shared, target, deleted.object, &target.resource).await?;
        render::value(call, &converted)
    };
    Ok(Reply { notes, ..Reply::json(code, answer) })
}

/// Deletes an object without calling webhooks.
pub(super) async fn delete_without_webhooks(
    shared: &ServerState,
    call: &Call,
    options: Value,
) -> Result<(), Status> {
    let (options, _) = parse_options(options)?;
    delete_object(shared, call, &call.path.name, (&options, None)).await.map(|_| ())
}

/// An object without any values.
fn empty_object(call: &Call) -> Value {
    let storage = &call.target.storage;
    let message =
        Message::of_kind(&storage.group, &storage.version, &storage.kind).filter(|_| !call.target.custom);
    let mut object = message.map_or_else(|| json!({}), blank);
    object["apiVersion"] = storage.api_version().into();
    object["kind"] = storage.kind.as_str().into();
    object
}

/// Deletes all selected objects; the reviews that webhooks receive have no object name.
pub(crate) async fn delete_collection(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    call.query.integer("limit")?;
    Selection::read(call)?.check(&call.target, &shared.registry.served())?;
    let (options, raw) = options(call)?;
    let page = list::page(shared, call).await?;
    let mut notes = Notes::default();
    notes.warn(warning(call, &options));
    for object in &page.objects {
        let name = meta::name(object.value());
        match delete_object(shared, call, name, (&options, Some(("", &raw)))).await {
            Ok(deleted) => notes.extend(deleted.notes),
            Err(status) if status.reason == "NotFound" => {}
            Err(status) => return Err(status.with_notes(&notes)),
        }
    }
    let objects = page.objects.iter().map(|object| &**object);
    Ok(Reply { notes, ..Reply::json(200, render::list(call, objects, &page.meta)) })
}

/// The warning for deletions of jobs without a propagation policy.
fn warning(call: &Call, options: &DeleteOptions) -> Option<String> {
    let has_no_policy = options.propagation_policy.is_none() && options.orphan_dependents.is_none();
    (has_no_policy && call.target.table == "jobs.batch").then(|| {
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set \
         propagationPolicy=Orphan to suppress this warning"
            .to_owned()
    })
}

/// Deletes an object; webhooks receive the name and options in `review_options`, or are not called if there are none.
async fn delete_object(
    shared: &ServerState,
    call: &Call,
    name: &str,
    (options, review_options): (&DeleteOptions, Option<(&str, &Value)>),
) -> Result<Deletion, Status> {
    let dry_run = !options.dry_run.is_empty();
    let key = call.key(name);
    effects::admit_deletion(call, name)?;
    loop {
        let current = shared.store.get(&call.target.table, &key);
        let current = current.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
        check(call, current.value(), options.preconditions.as_ref())?;
        let notes = match review_options {
            Some(review_options) => admit(shared, call, &current, (dry_run, review_options)).await?,
            None => Notes::default(),
        };
        let effect = removal::effect(&call.target, current.value(), options, shared.clock.now());
        if dry_run {
            return Ok(dry_run_outcome(call, current.value(), effect, notes));
        }
        check_freed_precondition(call, current.value(), (&effect, options))?;
        let returns_object = strategy::returns_deleted(&call.target);
        let deleted = |object: Value, gone: bool| Ok(Deletion { object, gone, returns_object, notes });
        let expect = Expect::Revision(current.revision());
        match effect {
            DeletionEffect::Unchanged => return deleted(current.value().clone(), false),
            DeletionEffect::MarkAndRemove(value) => {
                if let Some(object) = effects::remove_gracefully(shared, (&call.target, &key), expect, value)
                {
                    return deleted(object.value().clone(), true);
                }
            }
            DeletionEffect::Mark(value) => {
                if let Ok(object) = shared.store.put(&call.target.table, &key, expect, value) {
                    effects::after_write(shared, &call.target, &object);
                    return deleted(object.value().clone(), false);
                }
            }
            DeletionEffect::Remove(value) | DeletionEffect::RemoveReleased(value) => {
                if let Ok(object) = shared.store.remove(&call.target.table, &key, expect, value) {
                    effects::after_removal(shared, &call.target, &object);
                    return deleted(object.value().clone(), true);
                }
            }
        }
    }
}

/// Asks plugins and webhooks about the deletion of an object; returns their warnings and annotations.
async fn admit(
    shared: &ServerState,
    call: &Call,
    current: &Arc<Object>,
    (dry_run, (name, options)): (bool, (&str, &Value)),
) -> Result<Notes, Status> {
    let read = versions::read(shared, &call.target, current).await?;
    let converted = convert::to_version(read.value(), &call.target.resource);
    let mut review = Review::new(call, Operation::Delete, name, dry_run, options.clone());
    review.old = Some(Cow::Borrowed(&*converted));
    typed::admit(shared, call, &mut review)?;
    admission::mutate(shared, call, &mut review).await?;
    typed::validate(shared, call, &review).map_err(|status| status.with_notes(&review.notes))?;
    admission::validate(shared, call, &mut review).await?;
    Ok(std::mem::take(&mut review.notes))
}

/// The outcome of a deletion in a dry run.
fn dry_run_outcome(call: &Call, current: &Value, effect: DeletionEffect, notes: Notes) -> Deletion {
    let returns_object = strategy::returns_deleted(&call.target);
    match effect {
        DeletionEffect::Unchanged => Deletion { object: current.clone(), gone: false, returns_object, notes },
        DeletionEffect::Mark(object) => Deletion { object, gone: false, returns_object, notes },
        DeletionEffect::Remove(object) | DeletionEffect::MarkAndRemove(object) => {
            Deletion { object, gone: true, returns_object, notes }
        }
        // As in kube-apiserver, a dry run answers with an empty object when the last finalizer is gone.
        DeletionEffect::RemoveReleased(_) => {
            Deletion { object: empty_object(call), gone: true, returns_object: true, notes }
        }
    }
}

/// As in kube-apiserver, a precondition on the resourceVersion fails when the deletion removes the last finalizer: the
/// storage layer then compares with an empty revision.
fn check_freed_precondition(
    call: &Call,
    current: &Value,
    (effect, options): (&DeletionEffect, &DeleteOptions),
) -> Result<(), Status> {
    let has_revision = options.preconditions.as_ref().is_some_and(|of| of.resource_version.is_some());
    if !has_revision || !matches!(effect, DeletionEffect::RemoveReleased(_)) {
        return Ok(());
    }
    let found = meta::text(current, "resourceVersion");
    let why = format!("ResourceVersion in precondition: , ResourceVersion in object meta: {found}");
    Err(update::precondition_failed(call, meta::name(current), &why, !options.dry_run.is_empty()))
}

/// The options of a deletion: from the body, or else from the query.
fn options(call: &Call) -> Result<(DeleteOptions, Value), Status> {
    if !call.body.is_empty() {
        let mut raw = decode::delete_options(call)?;
        raw["apiVersion"] = "meta.k8s.io/v1".into();
        raw["kind"] = "DeleteOptions".into();
        return parse_options(raw);
    }
    let mut raw = admission::options(call, "DeleteOptions");
    if let Some(seconds) = call.query.integer("gracePeriodSeconds")? {
        raw["gracePeriodSeconds"] = seconds.into();
    }
    if !call.query.text("propagationPolicy").is_empty() {
        raw["propagationPolicy"] = call.query.text("propagationPolicy").into();
    }
    if let Some(orphan) = call.query.optional_flag("orphanDependents") {
        raw["orphanDependents"] = orphan.into();
    }
    parse_options(raw)
}

fn parse_options(raw: Value) -> Result<(DeleteOptions, Value), Status> {
    let bad = |error: serde_json::Error| Status::bad_request(error.to_string());
    let options: DeleteOptions = serde_json::from_value(raw.clone()).map_err(bad)?;
    options.check()?;
    Ok((options, raw))
}

fn check(call: &Call, object: &Value, preconditions: Option<&Preconditions>) -> Result<(), Status> {
    let Some(preconditions) = preconditions else { return Ok(()) };
    let resource = &call.target.resource;
    let of = GroupResource { group: &resource.group, resource: &resource.kind };
    let (uid, revision) = (meta::text(object, "uid"), meta::text(object, "resourceVersion"));
    if let Some(wanted) = preconditions.uid.as_deref().filter(|wanted| *wanted != uid) {
        let why = format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might \
             have been deleted and then recreated"
        );
        return Err(Status::conflict(of, meta::name(object), &why));
    }
    if let Some(wanted) = preconditions.resource_version.as_deref().filter(|wanted| *wanted != revision) {
        let why = format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({revision}). The object might have been modified"
        );
        return Err(Status::conflict(of, meta::name(object), &why));
    }
    Ok(())
}
