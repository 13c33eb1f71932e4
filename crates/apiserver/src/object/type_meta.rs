//! Whether `apiVersion` and `kind` of an object are those of its resource.

use schema::{Kinds, Resource};
use serde_json::Value;
use webhook::field::{Error, Path};

use crate::call::Call;
use crate::object::body_kind::BodyKind;
use crate::object::group_version::GroupVersion;

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

/// Sets apiVersion and kind of a patched scale of a custom resource if they are missing, and checks them. The real server decodes
/// it in a scheme of its own, which has Scales of older versions, but converts none of them.
///
/// # Errors
/// If it is no Scale of `autoscaling/v1`, with Go's message.
pub(crate) fn complete_custom_scale(scale: &mut Value) -> Result<(), String> {
    let text = |field: &str| scale[field].as_str().unwrap_or_default();
    let version =
        GroupVersion::read(text("apiVersion"))?.or(GroupVersion { group: "autoscaling", version: "v1" });
    let kind = if text("kind").is_empty() { "Scale" } else { text("kind") };
    let is_known = match (version.group, version.version, kind) {
        ("autoscaling", "v1", "Scale") => {
            scale["apiVersion"] = "autoscaling/v1".into();
            scale["kind"] = "Scale".into();
            return Ok(());
        }
        (_, "", _) => return Err(format!("Object 'apiVersion' is missing in '{scale}'")),
        ("autoscaling", "v1", kind) => Kinds::kubernetes().type_of("autoscaling", "v1", kind).is_some(),
        ("apps", "v1beta1" | "v1beta2", "Scale") | ("extensions", "v1beta1", "Scale") => true,
        _ => false,
    };
    Err(if is_known {
        format!("converting ({}.{kind}) to (v1.Scale): unknown conversion", version.version)
    } else {
        version.unregistered(kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patched_scale_of_a_custom_resource_is_of_autoscaling_v1() {
        let unregistered = |what: &str| format!("no kind {what} in scheme \"pkg/runtime/scheme.go:111\"");
        let unknown = |what: &str| format!("converting ({what}) to (v1.Scale): unknown conversion");
        let table = [
            (json!({}), None),
            (json!({"apiVersion": "autoscaling/"}), None),
            (json!({"apiVersion": "extensions/v1beta1"}), Some(unknown("v1beta1.Scale"))),
            (json!({"kind": "HorizontalPodAutoscaler"}), Some(unknown("v1.HorizontalPodAutoscaler"))),
            (
                json!({"kind": "Other"}),
                Some(unregistered(r#""Other" is registered for version "autoscaling/v1""#)),
            ),
            (
                json!({"apiVersion": "apps/v1", "kind": "Deployment"}),
                Some(unregistered(r#""Deployment" is registered for version "apps/v1""#)),
            ),
        ];
        for (mut scale, want) in table {
            assert_eq!(complete_custom_scale(&mut scale).err(), want, "{scale}");
        }
    }
}
