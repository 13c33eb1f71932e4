//! Validates objects of typed kinds: by their strategy, and by the rules that hold for the metadata of every kind, in the
//! order of Kubernetes' library for API servers.

use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::status;
use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::validation::{immutable_errors, metadata, path_segment};

/// The answer about a new object, of which `validated` is the strategy's result: metadata that only the library checks is
/// checked if the strategy has no objection.
pub(super) fn validate_new(
    call: &Call,
    object: &Value,
    validated: Result<(), Rejection>,
) -> Result<(), Status> {
    let own = errors_of(call, object, validated)?;
    let errors = with_metadata(own, new_metadata_errors(object));
    check(call, object, &errors)?;
    let name = meta::name(object);
    let segment = path_segment(name);
    let at = Path::new("metadata").child("name");
    check(call, object, &segment.iter().map(|why| Error::invalid(&at, name, why)).collect::<Vec<_>>())
}

/// The same about an update. As in the library, errors of the metadata occur once for each check that finds them.
pub(super) fn validate_changed(
    call: &Call,
    (old, object): (&Value, &Value),
    validated: Result<(), Rejection>,
) -> Result<(), Status> {
    let own = errors_of(call, object, validated)?;
    let changes = || {
        let mut errors = immutable_errors(object, old);
        errors.extend(metadata::label_and_annotation_errors("metadata", &object["metadata"]));
        errors.extend(metadata::owner_errors_of("metadata", &object["metadata"]));
        errors
    };
    let mut errors = metadata_errors(object);
    errors.extend(changes());
    errors.extend(changes());
    let is_status = call.path.subresource == "status";
    errors.extend(with_metadata(own, if is_status { Vec::new() } else { metadata_errors(object) }));
    check(call, old, &errors)
}

/// The field errors of a rejection.
///
/// # Errors
/// If the rejection is about something else than fields.
fn errors_of(call: &Call, object: &Value, validated: Result<(), Rejection>) -> Result<Vec<Error>, Status> {
    match validated {
        Ok(()) => Ok(Vec::new()),
        Err(rejection) if !rejection.errors.is_empty() => Ok(rejection.errors),
        Err(rejection) => Err(status(call, object, rejection)),
    }
}

/// The strategy's errors, with those of the metadata behind those of the name: it checks the name alone, by the kind's rule.
fn with_metadata(own: Vec<Error>, metadata: Vec<Error>) -> Vec<Error> {
    let is_of_name =
        |error: &Error| matches!(error.field.as_str(), "metadata.name" | "metadata.generateName");
    let behind = own.iter().rposition(is_of_name).map_or(0, |last| last + 1);
    let mut own = own;
    let rest = own.split_off(behind);
    own.into_iter().chain(metadata).chain(rest).collect()
}

fn new_metadata_errors(object: &Value) -> Vec<Error> {
    let generation = meta::generation(object);
    let negative = (generation < 0).then(|| {
        let at = Path::new("metadata").child("generation");
        Error::invalid(&at, generation, "must be greater than or equal to 0")
    });
    negative.into_iter().chain(metadata_errors(object)).collect()
}

fn metadata_errors(object: &Value) -> Vec<Error> {
    let mut errors = metadata::label_and_annotation_errors("metadata", &object["metadata"]);
    errors.extend(metadata::owner_and_finalizer_errors("metadata", &object["metadata"]));
    errors.extend(metadata::conflicting_finalizers(&object["metadata"]));
    errors
}

fn check(call: &Call, named: &Value, errors: &[Error]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let resource = &call.target.resource;
    Err(Status::invalid(&resource.group, &resource.kind, meta::name(named), errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_metadata_follow_those_of_the_name() {
        let error = |field: &str| Error::required(&Path::new(field), "");
        let fields = |own: &[&str]| {
            let own = own.iter().map(|field| error(field)).collect();
            let all = with_metadata(own, vec![error("metadata.labels")]);
            all.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(&["metadata.name", "spec"]), ["metadata.name", "metadata.labels", "spec"]);
        assert_eq!(fields(&["spec"]), ["metadata.labels", "spec"]);
        assert_eq!(fields(&[]), ["metadata.labels"]);
    }
}
