//! Whether `apiVersion` and `kind` of an object are those of its resource.

use schema::Resource;
use serde_json::Value;
use webhook::field::{Error, Path};

use crate::call::Call;
use crate::object::body_kind::BodyKind;

/// Whether a custom resource has another kind or apiVersion than its resource.
pub(crate) fn is_foreign(call: &Call, object: &Value) -> bool {
    let resource = &call.target.resource;
    let custom = call.target.custom && BodyKind::of(call).kind == resource.kind;
    custom && (object["kind"] != resource.kind.as_str() || object["apiVersion"] != resource.api_version())
}

/// The errors if apiVersion or kind of a custom resource is not that of its resource.
pub(crate) fn type_meta_errors(resource: &Resource, api_version: &str, kind: &str) -> Vec<Error> {
    let check = |field: &str, found: &str, wanted: &str| {
        (found != wanted).then(|| Error::invalid(&Path::new(field), found, &format!("must be {wanted}")))
    };
    let errors =
        [check("kind", kind, &resource.kind), check("apiVersion", api_version, &resource.api_version())];
    errors.into_iter().flatten().collect()
}
