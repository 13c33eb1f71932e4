//! Annotations and labels of objects that control how they are managed.

use formats::duration::{DurationError, GoDuration};
use serde_json::Value;

use super::unstructured::{annotation, api_version, kind, label};
use crate::strconv;

/// Value of [`api::resources::DESCRIPTION`].
pub const DESCRIPTION: &str = "DO NOT EDIT - This resource is managed by gardener-resource-manager.\n\
    Any modifications are discarded and the resource is returned to the original state.";

/// GRM-MR-083: whether the object of a manifest is created once and then never changed.
#[must_use]
pub fn is_ignored(manifest: &Value) -> bool {
    is_true(annotation(manifest, api::resources::IGNORE))
}

/// GRM-MR-085: whether the object of a manifest is not (or no longer) managed.
#[must_use]
pub fn has_mode_ignore(manifest: &Value) -> bool {
    annotation(manifest, api::resources::MODE) == Some(api::resources::MODE_IGNORE)
}

/// GRM-MR-042 and GRM-MR-062: whether an object stays when it is no longer wanted.
#[must_use]
pub fn keeps_object(live: &Value) -> bool {
    is_true(annotation(live, api::resources::KEEP_OBJECT))
}

/// Whether an object is deleted and recreated when an update of it is invalid.
#[must_use]
pub fn is_deleted_on_invalid_update(merged: &Value) -> bool {
    is_true(annotation(merged, api::resources::DELETE_ON_INVALID_UPDATE))
}

/// Whether an object is a ConfigMap or Secret, which can be declared immutable.
#[must_use]
pub fn is_config_map_or_secret(object: &Value) -> bool {
    api_version(object) == "v1" && matches!(kind(object), "ConfigMap" | "Secret")
}

/// Whether the garbage collector deletes an object that is no longer wanted.
#[must_use]
pub fn is_garbage_collectable(live: &Value) -> bool {
    is_true(label(live, api::resources::GARBAGE_COLLECTABLE)) && is_config_map_or_secret(live)
}

/// How long after its deletion the finalizers of an object are removed; `None` or zero: never.
///
/// # Errors
/// When the annotation is not a duration.
pub fn finalize_deletion_after(live: &Value) -> Result<Option<GoDuration>, FinalizeError> {
    let Some(text) = annotation(live, api::resources::FINALIZE_DELETION_AFTER) else { return Ok(None) };
    text.parse().map(Some).map_err(|source| FinalizeError { source })
}

/// The annotation `finalize-deletion-after` is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed parsing duration of {} annotation: {source}", api::resources::FINALIZE_DELETION_AFTER)]
pub struct FinalizeError {
    source: DurationError,
}

fn is_true(value: Option<&str>) -> bool {
    value.is_some_and(strconv::is_true)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn annotated(key: &str, value: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"annotations": {key: value}}})
    }

    #[rstest]
    #[case(json!("true"), true)]
    #[case(json!("1"), true)]
    #[case(json!("T"), true)]
    #[case(json!("false"), false)]
    #[case(json!("yes"), false)]
    #[case(json!(""), false)]
    #[case(json!(true), false)]
    fn booleans_are_parsed_as_in_go(#[case] value: Value, #[case] wanted: bool) {
        assert_eq!(is_ignored(&annotated(api::resources::IGNORE, &value)), wanted);
        assert_eq!(keeps_object(&annotated(api::resources::KEEP_OBJECT, &value)), wanted);
        let key = api::resources::DELETE_ON_INVALID_UPDATE;
        assert_eq!(is_deleted_on_invalid_update(&annotated(key, &value)), wanted);
        let mut labelled = annotated("x", &json!("y"));
        labelled["metadata"]["labels"] = json!({api::resources::GARBAGE_COLLECTABLE: value});
        assert_eq!(is_garbage_collectable(&labelled), wanted);
    }

    #[rstest]
    #[case(json!("Ignore"), true)]
    #[case(json!("ignore"), false)]
    #[case(json!("true"), false)]
    fn the_mode_is_compared_exactly(#[case] value: Value, #[case] wanted: bool) {
        assert_eq!(has_mode_ignore(&annotated(api::resources::MODE, &value)), wanted);
    }

    #[rstest]
    #[case("v1", "Secret", true)]
    #[case("v1", "ConfigMap", true)]
    #[case("v1", "Node", false)]
    #[case("example.org/v1", "Secret", false)]
    fn only_config_maps_and_secrets_are_collected(
        #[case] api_version: &str,
        #[case] kind: &str,
        #[case] wanted: bool,
    ) {
        let labels = json!({api::resources::GARBAGE_COLLECTABLE: "true"});
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"labels": labels}});
        assert_eq!(is_garbage_collectable(&object), wanted);
        assert_eq!(is_config_map_or_secret(&object), wanted);
    }

    #[rstest]
    #[case("1h", Ok(Some("1h0m0s")))]
    #[case("0", Ok(Some("0s")))]
    #[case(
        "soon",
        Err(
            "failed parsing duration of resources.gardener.cloud/finalize-deletion-after annotation: time: invalid duration \"soon\""
        )
    )]
    fn deletion_is_finalized_after_a_duration(
        #[case] text: &str,
        #[case] wanted: Result<Option<&str>, &str>,
    ) {
        let object = annotated(api::resources::FINALIZE_DELETION_AFTER, &json!(text));
        let got = finalize_deletion_after(&object);
        let got = got
            .map(|duration| duration.map(|duration| duration.to_string()))
            .map_err(|error| error.to_string());
        assert_eq!(
            got.as_ref().map(Option::as_deref).map_err(String::as_str),
            wanted.as_ref().map(|text| *text).map_err(|text| *text)
        );
    }

    #[test]
    fn deletion_is_not_finalized_without_the_annotation() {
        assert_eq!(finalize_deletion_after(&json!({})), Ok(None));
    }
}
