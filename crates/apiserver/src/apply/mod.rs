//! Field ownership: `metadata.managedFields` of every write, and server-side apply.
//!
//! The rules are those of structured-merge-diff; list keys, sets and atomic fields come from the schema of the kind.

mod compare;
mod conflict;
mod element;
mod fields;
mod last_applied;
mod lens;
mod merge;
mod options;
mod owners;
mod ownership;
mod reset;
mod scale;
mod schema_node;
mod set;
mod valid;

pub(crate) use lens::Lens;
pub(crate) use options::{ApplyOptions, check, manager};
pub(crate) use scale::{from_scale, to_scale};

use jiff::Timestamp;
use serde_json::Value;

use crate::clock::rfc3339;
use crate::http::status::Status;
use crate::object::meta;
use element::Element;
use owners::{Operation, Owned, Owner, Owners};
use set::FieldSet;

/// Largest number of managers with operation Update; beyond it, the oldest entries are merged.
const MAX_UPDATERS: usize = 10;
/// The manager of the merged entries.
const ANCIENT: &str = "ancient-changes";
/// The manager of fields that existed before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Fields that have no owner: they identify the object, or only the server writes them.
const UNOWNED: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// Records in `new` that `manager` owns the fields which this write changed, if `new` and `old` match their schema.
/// For writes other than apply; `old` is `None` for a new object.
pub(crate) fn record(lens: &Lens<'_>, old: Option<&Value>, new: &mut Value, manager: &str, now: Timestamp) {
    let requested = meta::of_mut(new).remove("managedFields");
    if !lens.matches_schema(new) || old.is_some_and(|old| !lens.matches_schema(old)) {
        return;
    }
    let mut owners = owners_before(lens, old, requested.as_ref());
    // As in kube-apiserver: an entry for a version that the custom resource never had stops all tracking.
    let is_invalid = |owned: &Owned| lens.is_custom() && lens.schema_node(&owned.api_version).is_none();
    if (owners.0.is_empty() && old.is_some()) || owners.0.values().any(is_invalid) {
        return;
    }
    let empty;
    let before = if let Some(old) = old {
        old
    } else {
        empty = lens.empty();
        &empty
    };
    record_update(lens, (before, new), &mut owners, manager, now);
    set_owners(new, &owners);
}

/// Applies a configuration to an object; `old` is `None` for a new object.
///
/// # Errors
/// 400 if the configuration is not of this kind, 409 for fields that others own, 500 if it does not match the schema.
pub(crate) fn apply(
    lens: &Lens<'_>,
    old: Option<&Value>,
    configuration: &Value,
    options: &ApplyOptions,
    now: Timestamp,
) -> Result<Value, Status> {
    check_kind(lens, configuration)?;
    let mut live = old.cloned().unwrap_or_else(|| lens.empty());
    let entries = meta::of_mut(&mut live).remove("managedFields");
    let owners = Owners::parse(entries.as_ref())
        .map_err(|why| Status::failure(format!("failed to decode managed fields: {why}")))?;
    if owners.0.is_empty() {
        check_existing(lens, &live)?;
    }
    if meta::of(configuration).get("managedFields").is_some_and(|entries| !entries.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    check_fields(lens, &live, configuration)?;
    let attempt = |force: bool| {
        apply_once(lens, (&live, configuration), owners.clone(), (&options.manager, force), now)
    };
    let outcome = match attempt(options.force) {
        Err(conflicts) if options.manager == last_applied::KUBECTL => {
            match last_applied::remaining_conflicts(lens, &live, &conflicts) {
                Some(rest) if rest.is_empty() => attempt(true),
                Some(rest) => Err(rest),
                None => Err(conflicts),
            }
        }
        outcome => outcome,
    };
    let (mut object, owners) = outcome.map_err(|conflicts| conflict::status(&conflicts))?;
    if options.manager == last_applied::KUBECTL {
        last_applied::update_annotation(&mut object, configuration);
    }
    set_owners(&mut object, &owners);
    Ok(object)
}

/// The error of parsing the object's `metadata.managedFields`, if it is invalid.
pub(crate) fn managed_fields_error(object: &Value) -> Option<String> {
    Owners::parse(meta::of(object).get("managedFields")).err()
}

/// Restores the times of the entries if nothing else changed, so that the write is a no-op.
pub(crate) fn keep_times(new: &mut Value, old: &Value) {
    let (Some(own), Some(before)) = (meta::of(new).get("managedFields"), meta::of(old).get("managedFields"))
    else {
        return;
    };
    if own == before || without_times(own) != without_times(before) {
        return;
    }
    let before = before.clone();
    let own = meta::of_mut(new).insert("managedFields".to_owned(), before);
    if new != old
        && let Some(own) = own
    {
        meta::set(new, "managedFields", own);
    }
}

/// The owners before this write: those that the request sends, or else those of the stored object.
fn owners_before(lens: &Lens<'_>, old: Option<&Value>, requested: Option<&Value>) -> Owners {
    let live = || Owners::parse(old.and_then(|old| meta::of(old).get("managedFields"))).unwrap_or_default();
    if !lens.subresource().is_empty() && old.is_some() {
        return live();
    }
    if let Some(Value::Array(entries)) = requested {
        let blank = |entry: &Value| entry.as_object().is_some_and(serde_json::Map::is_empty);
        if (entries.is_empty() && lens.distinguishes_empty_lists())
            || (entries.len() == 1 && blank(&entries[0]))
        {
            return Owners::default();
        }
    }
    match Owners::parse(requested) {
        Ok(owners) if !owners.0.is_empty() => owners,
        _ => live(),
    }
}

/// Makes `manager` the owner of the fields that changed.
fn record_update(
    lens: &Lens<'_>,
    (old, new): (&Value, &Value),
    owners: &mut Owners,
    manager: &str,
    now: Timestamp,
) {
    ownership::reconcile(lens, owners);
    let Ok(change) = ownership::transfer(lens, (old, new), owners, None, true) else { return };
    let taken = change.written().difference(&unowned());
    if !taken.is_empty() {
        let api_version = lens.api_version();
        let owner = Owner::new(manager, Operation::Update, &api_version, lens.subresource());
        let fields = match owners.0.get(&owner) {
            Some(before) => before.fields.union(&taken),
            None => taken,
        };
        owners.0.insert(owner, Owned { api_version, fields, time: Some(rfc3339(now)) });
    }
    merge_oldest_updaters(owners);
}

fn apply_once(
    lens: &Lens<'_>,
    (live, configuration): (&Value, &Value),
    mut owners: Owners,
    (manager, force): (&str, bool),
    now: Timestamp,
) -> Result<(Value, Owners), Vec<conflict::Conflict>> {
    if owners.0.is_empty() {
        record_update(lens, (&lens.empty(), live), &mut owners, BEFORE_FIRST_APPLY, now);
    }
    let owner = Owner::new(manager, Operation::Apply, "", lens.subresource());
    let new = ownership::apply(lens, live, configuration, &mut owners, &owner, force)?;
    if let Some(mut owned) = owners.0.remove(&owner) {
        owned.fields = owned.fields.difference(&unowned());
        if new.is_some() {
            owned.time = Some(rfc3339(now));
        }
        if !owned.fields.is_empty() {
            owners.0.insert(owner, owned);
        }
    }
    Ok((new.unwrap_or_else(|| live.clone()), owners))
}

/// Merges the oldest Update entries, per version, until at most `MAX_UPDATERS` remain.
fn merge_oldest_updaters(owners: &mut Owners) {
    let mut updaters: Vec<(Option<String>, Owner)> = owners
        .0
        .iter()
        .filter(|(owner, _)| owner.operation == Operation::Update)
        .map(|(owner, owned)| (owned.time.clone(), owner.clone()))
        .collect();
    let mut count = updaters.len();
    updaters.sort();
    let mut first: Vec<(String, Owner)> = Vec::new();
    for (time, owner) in updaters {
        if count <= MAX_UPDATERS {
            return;
        }
        let Some(owned) = owners.0.get(&owner).cloned() else { continue };
        let version = owned.api_version.clone();
        let Some((_, eldest)) = first.iter().find(|(known, _)| *known == version) else {
            first.push((version, owner));
            continue;
        };
        let bucket = Owner::new(ANCIENT, Operation::Update, &version, "");
        if !owners.0.contains_key(&bucket)
            && let Some(oldest) = owners.0.remove(eldest)
        {
            owners.0.insert(bucket.clone(), oldest);
        }
        owners.0.remove(&owner);
        if let Some(merged) = owners.0.get_mut(&bucket) {
            merged.fields = merged.fields.union(&owned.fields);
            merged.time = time;
        }
        count -= 1;
    }
}

fn check_kind(lens: &Lens<'_>, configuration: &Value) -> Result<(), Status> {
    let text = |field: &str| configuration.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if (api_version, kind) != (lens.api_version().as_str(), lens.kind()) {
        return Err(Status::bad_request(format!("invalid object type: {}", format_kind(api_version, kind))));
    }
    Ok(())
}

/// Checks an object whose fields have no owner yet: they get one before the configuration is looked at.
fn check_existing(lens: &Lens<'_>, live: &Value) -> Result<(), Status> {
    let Some(node) = lens.schema_node(&lens.api_version()) else { return Ok(()) };
    let errors = valid::errors(&node, live, true);
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::failure(format!(
        "failed to create manager for existing fields: failed to convert new object ({}/{}; {}) to smd typed: {}",
        meta::namespace(live),
        meta::name(live),
        format_kind(&lens.api_version(), lens.kind()),
        valid::join(&errors)
    )))
}

fn check_fields(lens: &Lens<'_>, live: &Value, configuration: &Value) -> Result<(), Status> {
    let Some(node) = lens.schema_node(&lens.api_version()) else { return Ok(()) };
    for (object, what, allow_duplicates) in [(configuration, "patch", false), (live, "live", true)] {
        let errors = valid::errors(&node, object, allow_duplicates);
        if !errors.is_empty() {
            let kind = format_kind(&lens.api_version(), lens.kind());
            let (namespace, name) = (meta::namespace(object), meta::name(object));
            return Err(Status::failure(format!(
                "failed to create typed {what} object ({namespace}/{name}; {kind}): {}",
                valid::join(&errors)
            )));
        }
    }
    Ok(())
}

/// `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`.
fn format_kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

fn set_owners(object: &mut Value, owners: &Owners) {
    match owners.to_json() {
        Some(entries) => meta::set(object, "managedFields", entries),
        None => {
            meta::of_mut(object).remove("managedFields");
        }
    }
}

fn unowned() -> FieldSet {
    UNOWNED.iter().map(|path| path.iter().map(|name| Element::field(name)).collect()).collect()
}

fn without_times(entries: &Value) -> Value {
    let mut entries = entries.clone();
    for entry in entries.as_array_mut().into_iter().flatten() {
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("time");
        }
    }
    entries
}
