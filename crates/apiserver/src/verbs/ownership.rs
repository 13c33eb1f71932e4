//! Field owners and owner references: recorded before webhooks are called, and repaired afterwards.

use serde_json::Value;

use crate::admission::{self, Review};
use crate::apply::{self, Lens};
use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::type_meta;
use crate::state::ServerState;

/// Records in `new` who owns its fields after this request; `old` is absent for a new object. As in kube-apiserver, an
/// object that claims to be of another kind gets no owners.
pub(crate) fn record(shared: &ServerState, call: &Call, old: Option<&Value>, new: &mut Value) {
    if type_meta::is_foreign(call, new) {
        meta::of_mut(new).remove("managedFields");
        return;
    }
    let served = shared.registry.served();
    let lens = Lens::new(&served, &call.target, &call.path.subresource);
    let defaulted = job_labels(call, new).filter(|_| old.is_none());
    if let Some(labels) = &defaulted {
        meta::set(new, "labels", labels.clone());
    }
    apply::record(&lens, old, new, &apply::manager(call), shared.clock.now());
    if defaulted.is_some() {
        meta::of_mut(new).remove("labels");
    }
}

/// The labels that defaulting gives to a job without labels. The job itself gets them with those that its pods get later.
fn job_labels(call: &Call, job: &Value) -> Option<Value> {
    let has_none = call.target.table == "jobs.batch" && meta::of(job).get("labels").is_none();
    job.pointer("/spec/template/metadata/labels").filter(|_| has_none).cloned()
}

/// Removes duplicate owner references, with a warning.
pub(crate) fn deduplicate_owners(object: &mut Value, notes: &mut Notes, admitted: bool) {
    let metadata = object.get_mut("metadata").and_then(|metadata| metadata.get_mut("ownerReferences"));
    let Some(owners) = metadata.and_then(Value::as_array_mut) else { return };
    let mut kept: Vec<Value> = Vec::new();
    let mut duplicates: Vec<String> = Vec::new();
    for owner in std::mem::take(owners) {
        if kept.contains(&owner) {
            duplicates.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    if !duplicates.is_empty() {
        let when = if admitted { " after mutating admission happens" } else { "" };
        notes.warn([format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and \
             may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            duplicates.join(", ")
        )]);
    }
}

/// Calls the mutating webhooks, and restores `managedFields` if they made them invalid.
pub(crate) async fn mutate(shared: &ServerState, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    if !admission::has_mutating_webhooks(shared) {
        // Nothing else changes an object here.
        if let Some(object) = review.object.as_mut() {
            deduplicate_owners(object, &mut review.notes, true);
        }
        return Ok(());
    }
    let entries = |review: &Review<'_>| {
        review.object.as_ref().and_then(|object| meta::of(object).get("managedFields").cloned())
    };
    let before = entries(review);
    admission::mutate(shared, call, review).await?;
    let Some(object) = review.object.as_mut() else { return Ok(()) };
    deduplicate_owners(object, &mut review.notes, true);
    let Some(why) = apply::managed_fields_error(object) else { return Ok(()) };
    match before {
        Some(entries) => meta::set(object, "managedFields", entries),
        None => {
            meta::of_mut(object).remove("managedFields");
        }
    }
    review.notes.warn([format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating \
         admission controller; please fix your requests: {why}"
    )]);
    Ok(())
}
