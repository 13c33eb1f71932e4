//! The errors of plugins, as API statuses with the original's texts.

use std::fmt::Display;

use serde_json::{Map, Value, json};
use webhook::field::{Error, quote};
use webhook::rejection::Rejection;

use super::Attributes;

/// The object of a request, or of its past: 400 with the plugin's text if there is none.
///
/// # Errors
/// 400 without an object.
pub(super) fn given<T>(object: Option<T>, otherwise: &str) -> Result<T, Rejection> {
    object.ok_or_else(|| bad_request(otherwise))
}

/// 400 `BadRequest`.
pub(super) fn bad_request(text: &str) -> Rejection {
    Rejection::status(400, "BadRequest", text, Map::new())
}

/// 403 about the object of the request.
pub(super) fn forbidden(
    attributes: &Attributes<'_>,
    object: Option<&Value>,
    text: impl Display,
) -> Rejection {
    let of_object = |field: &str| {
        object.and_then(|object| object["metadata"][field].as_str()).filter(|text| !text.is_empty())
    };
    let named = Some(attributes.name).filter(|name| !name.is_empty());
    let name = named.or_else(|| of_object("name")).or_else(|| of_object("generateName"));
    forbidden_for(attributes.resource, name.unwrap_or("Unknown"), text)
}

/// 403 about an object of a resource (`seeds.core.gardener.cloud`).
pub(super) fn forbidden_for(resource: &str, name: &str, text: impl Display) -> Rejection {
    let message = format!("{resource} {} is forbidden: {text}", quote(name));
    Rejection::status(403, "Forbidden", message, details(resource, name))
}

/// 403 for an error that another step gave; an error that is a 403 already stays as it is.
pub(super) fn wrapped(attributes: &Attributes<'_>, object: Option<&Value>, error: Rejection) -> Rejection {
    if error.code == 403 && error.reason == "Forbidden" {
        return error;
    }
    forbidden(attributes, object, error.message)
}

/// 404 in the words of a cache (`seed.core.gardener.cloud`) or of a server (`secrets`).
pub(crate) fn not_found(resource: &str, name: &str) -> Rejection {
    let message = format!("{resource} {} not found", quote(name));
    Rejection::status(404, "NotFound", message, details(resource, name))
}

/// 422 with one field error, about an object that may lack a name.
pub(super) fn invalid((group, kind): (&str, &str), object: &Value, errors: &[Error]) -> Rejection {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Rejection::invalid(group, kind, name, errors)
}

/// 500 `InternalError`.
pub(crate) fn internal(text: impl Display) -> Rejection {
    let mut details = Map::new();
    details.insert("causes".to_owned(), json!([{"message": text.to_string()}]));
    Rejection::status(500, "InternalError", format!("Internal error occurred: {text}"), details)
}

/// An error that is no API status: 500 with its text alone.
pub(crate) fn plain(text: impl Into<String>) -> Rejection {
    Rejection::errored(500, text)
}

/// Several errors as one, as Go's `multierror` prints them.
pub(super) fn listed(errors: &[String]) -> String {
    let count = match errors.len() {
        1 => "1 error".to_owned(),
        many => format!("{many} errors"),
    };
    format!("{count} occurred:\n\t* {}\n\n", errors.join("\n\t* "))
}

fn details(resource: &str, name: &str) -> Map<String, Value> {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let fields = [("name", name), ("group", group), ("kind", plural)];
    let given = fields.into_iter().filter(|(_, text)| !text.is_empty());
    given.map(|(field, text)| (field.to_owned(), json!(text))).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use webhook::review::Operation;

    use super::*;
    use crate::admission::testing::TestGarden;

    #[rstest]
    #[case("app", json!({"metadata": {"name": "other"}}), "app")]
    #[case("", json!({"metadata": {"name": "other", "generateName": "x-"}}), "other")]
    #[case("", json!({"metadata": {"generateName": "x-"}}), "x-")]
    #[case("", json!({}), "Unknown")]
    fn a_403_names_the_request_or_the_object(#[case] asked: &str, #[case] object: Value, #[case] want: &str) {
        let garden = TestGarden::default();
        let attributes = Attributes { name: asked, ..garden.attributes(Operation::Create, "Shoot", &object) };
        let rejection = forbidden(&attributes, Some(&object), "no");
        let details = json!({"name": want, "group": "core.gardener.cloud", "kind": "shoots"});
        let message = format!("shoots.core.gardener.cloud \"{want}\" is forbidden: no");
        assert_eq!(
            (rejection.code, rejection.reason.as_str(), rejection.message.clone()),
            (403, "Forbidden", message)
        );
        assert_eq!(rejection.details.clone().map(Value::Object), Some(details));
        assert_eq!(wrapped(&attributes, None, rejection.clone()), rejection);
        let missing = wrapped(&attributes, Some(&object), not_found("secrets", "s"));
        assert_eq!(missing.code, 403);
        assert!(missing.message.ends_with("is forbidden: secrets \"s\" not found"), "{}", missing.message);
    }

    #[test]
    fn other_errors_have_their_prefixes() {
        let internal = internal("could not do it");
        assert_eq!(
            (internal.code, internal.message.as_str()),
            (500, "Internal error occurred: could not do it")
        );
        assert_eq!(
            internal.details.map(Value::Object),
            Some(json!({"causes": [{"message": "could not do it"}]}))
        );
        let plain = plain("raw");
        assert_eq!(
            (plain.code, plain.reason.as_str(), plain.message.as_str(), plain.details),
            (500, "", "raw", None)
        );
        assert_eq!(listed(&["a".to_owned()]), "1 error occurred:\n\t* a\n\n");
        assert_eq!(listed(&["a".to_owned(), "b".to_owned()]), "2 errors occurred:\n\t* a\n\t* b\n\n");
    }
}
