//! Kinds of an aggregated API server, which this one serves as that server does: decoded as Go types, and prepared and
//! validated by the strategy that the builder was given.

mod plugins;
mod posting;
mod rules;
mod validation;

use std::sync::Arc;

use schema::{Type, TypedKind};
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::strategy::{Generation, ObjectReader, Situation, Strategy};

use crate::admission::Review;
use crate::call::{Call, key};
use crate::http::status::Status;
use crate::object::meta;
use crate::object::strategy::keep_field;
use crate::state::ServerState;

pub(crate) use plugins::validate;
pub(crate) use posting::{answer_status, posted, prepare_answer};
pub use rules::TypedRules;
use validation::{validate_changed, validate_new};

/// A kind and its strategy.
#[derive(Clone, Debug)]
pub(crate) struct TypedResource {
    /// The kind.
    pub(crate) kind: TypedKind,
    /// The type of its objects.
    pub(crate) ty: Type,
    /// Its strategy.
    pub(crate) strategy: &'static Strategy,
}

impl TypedResource {
    /// A kind with a strategy.
    pub(crate) fn new(kind: TypedKind, strategy: &'static Strategy) -> Arc<Self> {
        Arc::new(Self { ty: kind.ty(), kind, strategy })
    }
}

/// The objects of a server, which informers of the real one would have.
struct StoredObjects<'a>(&'a ServerState);

impl ObjectReader for StoredObjects<'_> {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let stored = self.0.store.get(resource, &key(!namespace.is_empty(), namespace, name))?;
        Some(stored.tree().into_owned())
    }

    fn list(&self, resource: &str) -> Vec<Value> {
        let snapshot = self.0.store.snapshot(resource);
        snapshot.objects.values().map(|object| object.tree().into_owned()).collect()
    }
}

/// Sets the defaults of a decoded object.
///
/// # Errors
/// The strategy's rejection. An object that was stored before is not refused.
pub(crate) fn default(call: &Call, typed: &TypedResource, object: &mut Value) -> Result<(), Rejection> {
    match call.rules {
        TypedRules::All | TypedRules::Changes => (typed.strategy.default)(object),
        TypedRules::Stored => {
            let mut completed = object.clone();
            if (typed.strategy.default)(&mut completed).is_ok() {
                *object = completed;
            }
            Ok(())
        }
        TypedRules::None => Ok(()),
    }
}

/// Asks the admission plugins of the mutating phase, then lets the strategy fill in and refuse what depends on other objects.
/// What this changes in the old object of a deletion is of no effect.
///
/// # Errors
/// The rejection of a plugin or of the strategy.
pub(crate) fn admit(shared: &ServerState, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let Some(typed) = call.target.typed.as_ref().filter(|_| call.rules.judge()) else {
        return Ok(());
    };
    plugins::admit(shared, call, review)?;
    let Review { object, old, .. } = review;
    let Some(object) = object else { return Ok(()) };
    let admitted =
        with_situation(shared, call, |situation| (typed.strategy.admit)(situation, old.as_deref(), object));
    admitted.map_err(|rejection| status(call, object, rejection))
}

/// Prepares a new object for storage and validates it.
///
/// # Errors
/// If it is invalid.
pub(crate) fn prepare_new(
    shared: &ServerState,
    call: &Call,
    typed: &TypedResource,
    object: &mut Value,
) -> Result<(), Status> {
    let strategy = typed.strategy;
    if !strategy.keeps_new_status
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    if strategy.has_generation {
        meta::set(object, "generation", 1);
    }
    if !call.rules.judge() {
        validate_new(call, object, Ok(()))?;
        return default(call, typed, object).map_err(|rejection| status(call, object, rejection));
    }
    let prepared = with_situation(shared, call, |situation| {
        (strategy.prepare_new)(situation, object)?;
        Ok::<_, Rejection>((strategy.validate)(situation, None, object))
    });
    let validated = prepared.map_err(|rejection| status(call, object, rejection))?;
    validate_new(call, object, validated)?;
    to_stored_form(call, strategy, object)
}

/// Prepares an updated object for storage, without its metadata that only the server sets.
///
/// # Errors
/// The strategy's rejection.
pub(crate) fn prepare_changed(
    shared: &ServerState,
    call: &Call,
    typed: &TypedResource,
    (old, object): (&Value, &mut Value),
) -> Result<(), Status> {
    let strategy = typed.strategy;
    let (kept, prepare) = match call.path.subresource.as_str() {
        "status" => ("spec", strategy.prepare_status),
        _ => ("status", strategy.prepare_changed),
    };
    keep_field(object, old, kept);
    meta::keep(object, old, "generation");
    let generation = with_situation(shared, call, |situation| match call.rules {
        TypedRules::All | TypedRules::Changes => prepare(situation, old, object),
        // Of an author whom no rule restricts, the generation is counted all the same.
        TypedRules::Stored => Ok(prepare(situation, old, &mut object.clone()).unwrap_or(Generation::Kept)),
        TypedRules::None => Ok(Generation::Kept),
    });
    if generation.map_err(|rejection| status(call, object, rejection))? == Generation::Raised {
        meta::set(object, "generation", meta::generation(old) + 1);
    }
    Ok(())
}

/// Validates an updated object, and changes it to the form in which it is stored.
///
/// # Errors
/// If it is invalid.
pub(crate) fn validate_and_complete(
    shared: &ServerState,
    call: &Call,
    typed: &TypedResource,
    (old, object): (&Value, &mut Value),
) -> Result<(), Status> {
    let strategy = typed.strategy;
    if !call.rules.judge() {
        validate_changed(call, (old, object), Ok(()))?;
        return default(call, typed, object).map_err(|rejection| status(call, object, rejection));
    }
    let validated = with_situation(shared, call, |situation| {
        let judge = |new: &Value| match situation.subresource {
            "status" => (strategy.validate_status)(situation, old, new),
            _ => (strategy.validate)(situation, Some(old), new),
        };
        call.rules.of_update(judge(object), || judge(old))
    });
    validate_changed(call, (old, object), validated)?;
    to_stored_form(call, strategy, object)
}

/// Warnings about a valid object; only writes of the object itself have any.
pub(crate) fn warnings(
    shared: &ServerState,
    call: &Call,
    old: Option<&Value>,
    object: &Value,
) -> Vec<String> {
    let is_judged = call.path.subresource.is_empty() && call.rules.judge();
    let typed = call.target.typed.as_ref().filter(|_| is_judged);
    typed.map_or_else(Vec::new, |typed| {
        with_situation(shared, call, |situation| (typed.strategy.warnings)(situation, old, object))
    })
}

/// Reading from storage sets defaults again: those that depend on the namespace, which a body may lack.
fn to_stored_form(call: &Call, strategy: &Strategy, object: &mut Value) -> Result<(), Status> {
    let completed = (strategy.canonicalize)(object).and_then(|()| (strategy.default)(object));
    completed.map_err(|rejection| status(call, object, rejection))
}

fn with_situation<T>(shared: &ServerState, call: &Call, ask: impl FnOnce(&Situation<'_>) -> T) -> T {
    let objects = StoredObjects(shared);
    ask(&Situation {
        subresource: &call.path.subresource,
        now: shared.clock.now(),
        has_plugins: shared.plugins.is_some(),
        objects: &objects,
    })
}

/// The answer for a rejection. Admission says of what object it speaks only if the rejection does not.
fn status(call: &Call, object: &Value, rejection: Rejection) -> Status {
    status_of(call, [meta::name(object), meta::text(object, "generateName")], rejection)
}

/// As [`status`]; the first name that is not empty is that of the object.
fn status_of(call: &Call, names: [&str; 2], rejection: Rejection) -> Status {
    let Rejection { code, reason, message, details, .. } = rejection;
    match details {
        None if reason == "Forbidden" => {
            let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown");
            Status::forbidden(call.group_resource(), name, &message)
        }
        details => Status { details: details.unwrap_or_default(), ..Status::plain(code, &reason, message) },
    }
}
