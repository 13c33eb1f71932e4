//! Reads SubjectAccessReviews as kube-apiserver sends them, and writes the answers of the original, byte for byte.

use serde::Deserialize;
use serde_json::Value;

use crate::authorizer::{AccessDecision, AccessQuestion, ResourceAttributes};

const API_VERSION: &str = "authorization.k8s.io/v1";
const KIND: &str = "SubjectAccessReview";
/// In this version, the groups are in another field.
const BETA_VERSION: &str = "authorization.k8s.io/v1beta1";

/// A review that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessReview {
    /// Its version, which the answer repeats.
    pub api_version: String,
    /// Its kind, which the answer repeats.
    pub kind: String,
    /// The question of the review.
    pub question: AccessQuestion,
}

/// Why there is no decision: a code and a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationError {
    /// An HTTP status, though the response's is always 200.
    pub code: u16,
    /// The reason.
    pub text: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReviewBody {
    api_version: String,
    kind: String,
    spec: ReviewSpec,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReviewSpec {
    user: String,
    groups: Vec<String>,
    group: Vec<String>,
    resource_attributes: Option<ReviewAttributes>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReviewAttributes {
    group: String,
    resource: String,
    subresource: String,
    verb: String,
    namespace: String,
    name: String,
}

/// Reads a review: any version and kind is read by its shape. ADM-AUT-001.
///
/// # Errors
/// 400 if the content type is another than JSON, or the body cannot be read.
pub fn read(content_type: &str, body: &[u8]) -> Result<AccessReview, EvaluationError> {
    if content_type != "application/json" {
        let text = format!("contentType={content_type}, expected application/json");
        return Err(EvaluationError { code: 400, text });
    }
    let undecodable = |text: String| EvaluationError { code: 400, text };
    let document = formats::json::document(body)
        .map_err(|error| undecodable(format!("couldn't get version/kind; json parse error: {error}")))?;
    if !document.is_object() {
        let text = "couldn't get version/kind; json parse error: expected an object";
        return Err(undecodable(text.to_owned()));
    }
    let body: ReviewBody = formats::json::typed(body).map_err(undecodable)?;
    let groups = if (body.api_version.as_str(), body.kind.as_str()) == (BETA_VERSION, KIND) {
        body.spec.group
    } else {
        body.spec.groups
    };
    let has_kind = !body.api_version.is_empty() || !body.kind.is_empty();
    let (api_version, kind) =
        if has_kind { (body.api_version, body.kind) } else { (API_VERSION.to_owned(), KIND.to_owned()) };
    let attributes = body.spec.resource_attributes.map(|of| ResourceAttributes {
        group: of.group,
        resource: of.resource,
        subresource: of.subresource,
        verb: of.verb,
        namespace: of.namespace,
        name: of.name,
    });
    Ok(AccessReview {
        api_version,
        kind,
        question: AccessQuestion { user: body.spec.user, groups, attributes },
    })
}

/// The answer to a review. ADM-AUT-011.
#[must_use]
pub fn encode(review: &AccessReview, decision: &AccessDecision) -> String {
    let status = match decision {
        AccessDecision::Allow => r#""allowed":true"#.to_owned(),
        AccessDecision::NoOpinion(reason) if reason.is_empty() => r#""allowed":false"#.to_owned(),
        AccessDecision::NoOpinion(reason) => format!(r#""allowed":false,"reason":{}"#, text(reason)),
    };
    written(&review.api_version, &review.kind, &status)
}

/// The answer to a review that could not be read or decided.
#[must_use]
pub fn encode_error(error: &EvaluationError) -> String {
    let message = text(&format!("{} {}", error.code, error.text));
    written(API_VERSION, KIND, &format!(r#""allowed":false,"evaluationError":{message}"#))
}

fn written(api_version: &str, kind: &str, status: &str) -> String {
    let head =
        [("kind", kind), ("apiVersion", api_version)].into_iter().filter(|(_, value)| !value.is_empty());
    let head =
        head.map(|(field, value)| format!(r#""{field}":{},"#, text(value))).collect::<Vec<_>>().concat();
    format!("{{{head}\"metadata\":{{\"creationTimestamp\":null}},\"spec\":{{}},\"status\":{{{status}}}}}\n")
}

/// A JSON string, escaping what Go escapes for HTML.
fn text(value: &str) -> String {
    let mut text = Value::from(value).to_string();
    for character in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        if text.contains(character) {
            text = text.replace(character, &format!("\\u{:04x}", u32::from(character)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(content_type: &str, body: &str) -> String {
        match read(content_type, body.as_bytes()) {
            Ok(review) => encode(&review, &AccessDecision::NoOpinion(String::new())),
            Err(error) => encode_error(&error),
        }
    }

    #[test]
    fn answers_are_those_of_the_original_byte_for_byte() {
        let (v1, kind) = ("authorization.k8s.io/v1", "SubjectAccessReview");
        let whole = |version: &str, kind: &str, status: &str| {
            format!(
                "{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",\"metadata\":{{\"creationTimestamp\":null}},\
                 \"spec\":{{}},\"status\":{{{status}}}}}\n"
            )
        };
        let failed =
            |text: &str| whole(v1, kind, &format!("\"allowed\":false,\"evaluationError\":\"400 {text}\""));
        let json = "application/json";
        let end = "couldn't get version/kind; json parse error: unexpected end of JSON input";
        let table = [
            (json, "", failed(end)),
            (json, "{", failed(end)),
            (json, "[]", failed("couldn't get version/kind; json parse error: expected an object")),
            ("application/foo", "{}", failed("contentType=application/foo, expected application/json")),
            (
                "application/json; charset=utf-8",
                "{}",
                failed("contentType=application/json; charset=utf-8, expected application/json"),
            ),
            (json, "{}", whole(v1, kind, "\"allowed\":false")),
            (json, r#"{"kind":"A","apiVersion":"b/v1"}"#, whole("b/v1", "A", "\"allowed\":false")),
            (
                json,
                r#"{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1","spec":{}}"#,
                whole("authorization.k8s.io/v1beta1", kind, "\"allowed\":false"),
            ),
        ];
        for (content_type, body, want) in table {
            assert_eq!(answered(content_type, body), want, "{content_type} {body}");
        }
        let review = read(json, b"{}").unwrap();
        assert_eq!(encode(&review, &AccessDecision::Allow), whole(v1, kind, "\"allowed\":true"));
        let reason = AccessDecision::NoOpinion("a<b".to_owned());
        assert_eq!(encode(&review, &reason), whole(v1, kind, "\"allowed\":false,\"reason\":\"a\\u003cb\""));
        assert!(read(json, br#"{"spec":{"user":5}}"#).unwrap_err().code == 400);
    }

    #[test]
    fn groups_stand_in_another_field_in_v1beta1() {
        let spec = r#""spec":{"user":"u","groups":["new"],"group":["old"],"resourceAttributes":{"group":"g",
            "resource":"r","subresource":"s","verb":"v","namespace":"ns","name":"n","version":"v1"},
            "nonResourceAttributes":{"path":"/","verb":"get"}}"#;
        for (version, kind, groups) in [
            ("authorization.k8s.io/v1", "SubjectAccessReview", "new"),
            ("authorization.k8s.io/v1beta1", "SubjectAccessReview", "old"),
            ("authorization.k8s.io/v1beta1", "Other", "new"),
            ("other/v1beta1", "SubjectAccessReview", "new"),
        ] {
            let body = format!(r#"{{"apiVersion":"{version}","kind":"{kind}",{spec}}}"#);
            let question = read("application/json", body.as_bytes()).unwrap().question;
            let text = str::to_owned;
            let attributes = ResourceAttributes {
                group: text("g"),
                resource: text("r"),
                subresource: text("s"),
                verb: text("v"),
                namespace: text("ns"),
                name: text("n"),
            };
            let want =
                AccessQuestion { user: text("u"), groups: vec![text(groups)], attributes: Some(attributes) };
            assert_eq!(question, want, "{version} {kind}");
        }
    }
}
