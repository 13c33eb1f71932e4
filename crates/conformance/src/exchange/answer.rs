//! The answer of a target, read as strictly as kube-apiserver reads it.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::case::Review;
use formats::json_patch;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ReviewRequest;
use crate::report::ExchangeFailure;

/// One field error of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldCause {
    /// Field path.
    pub field: String,
    /// `FieldValueRequired` and so on.
    pub reason: String,
    /// The message.
    pub message: String,
}

/// The answer of a target, with its patch applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Whether the request may proceed.
    pub allowed: bool,
    /// Status code.
    pub code: Option<u16>,
    /// Status reason.
    pub reason: Option<String>,
    /// Status message.
    pub message: Option<String>,
    /// Field errors.
    pub causes: Vec<FieldCause>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Whether there is a patch with at least one operation, or (through a server) the object differs from the input.
    pub patched: bool,
    /// The resulting object; absent if refused, and for a deletion.
    pub object: Option<Value>,
    /// Version of the response's AdmissionReview; `None` through a server.
    pub review: Option<Review>,
}

/// Why no API server would accept an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnswer {
    /// The connection was closed in the middle of the exchange.
    #[error("the connection broke before the answer: {reason}")]
    HungUp {
        /// The HTTP library's error.
        reason: String,
    },
    /// Another HTTP status than 200.
    #[error("HTTP status {status} instead of 200: {body}")]
    Http {
        /// The status.
        status: u16,
        /// Beginning of the body.
        body: String,
    },
    /// The body is not an AdmissionReview.
    #[error("the body is not an AdmissionReview: {reason}: {body}")]
    NotAReview {
        /// What is wrong.
        reason: String,
        /// Beginning of the body.
        body: String,
    },
    /// The review has another version or kind than the request's.
    #[error("the review is {got}, the request was {want}")]
    OtherVersion {
        /// `apiVersion, Kind=kind` sent.
        want: String,
        /// The same as answered.
        got: String,
    },
    /// The review has no response.
    #[error("the review has no response")]
    NoResponse,
    /// The response names another request.
    #[error("the response has uid {got:?}, the request had {want:?}")]
    OtherUid {
        /// Sent.
        want: String,
        /// Answered.
        got: String,
    },
    /// A patch without its type, a type without a patch, or another type than JSONPatch.
    #[error("{0}")]
    PatchType(String),
    /// The patch cannot be read or applied.
    #[error("the patch cannot be applied: {0}")]
    Patch(String),
}

impl BadAnswer {
    /// What happened to the exchange.
    #[must_use]
    pub fn failure(&self) -> ExchangeFailure {
        match self {
            Self::HungUp { .. } => ExchangeFailure::Closed,
            Self::Http { .. } => ExchangeFailure::HttpStatus,
            Self::NotAReview { .. } => ExchangeFailure::NoReview,
            Self::OtherVersion { .. } | Self::NoResponse | Self::OtherUid { .. } => {
                ExchangeFailure::OtherReview
            }
            Self::PatchType(_) | Self::Patch(_) => ExchangeFailure::Patch,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    response: Option<ReviewResponse>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewResponse {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    allowed: bool,
    status: Option<ResponseStatus>,
    patch: Option<String>,
    patch_type: Option<String>,
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResponseStatus {
    code: Option<u16>,
    reason: Option<String>,
    message: Option<String>,
    details: Option<ResponseDetails>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResponseDetails {
    causes: Option<Vec<FieldCause>>,
}

/// A text without memory addresses: Go programs sometimes print pointers instead of values.
pub(crate) fn without_addresses(text: &str) -> String {
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b0x[0-9a-f]+\b").expect("a constant expression"));
    ADDRESS.replace_all(text, "0x…").into_owned()
}

/// Reads the body of the answer to a request and applies its patch.
///
/// # Errors
/// If kube-apiserver would refuse it; the uid and the patch type of v1beta1 must follow the rules of v1.
pub fn read(body: &[u8], question: &ReviewRequest<'_>) -> Result<Answer, BadAnswer> {
    let review: Envelope =
        formats::json::typed(body).map_err(|reason| BadAnswer::NotAReview { reason, body: excerpt(body) })?;
    let want = format!("{}, Kind=AdmissionReview", question.api_version());
    let got = format!("{}, Kind={}", review.api_version, review.kind);
    if want != got {
        return Err(BadAnswer::OtherVersion { want, got });
    }
    let response = review.response.ok_or(BadAnswer::NoResponse)?;
    let uid = question.sent_uid();
    if response.uid != uid {
        return Err(BadAnswer::OtherUid { want: uid, got: response.uid });
    }
    let patch = operations(&response)?;
    let mut object = question.sent_object().filter(|object| response.allowed && !object.is_null());
    if let (Some(object), true) = (&mut object, response.allowed) {
        json_patch::apply(object, &patch).map_err(|error| BadAnswer::Patch(error.to_string()))?;
    }
    let status = response.status.unwrap_or_default();
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    Ok(Answer {
        allowed: response.allowed,
        code: status.code.filter(|code| *code != 0),
        reason: text(status.reason),
        message: text(status.message),
        causes: status.details.and_then(|details| details.causes).unwrap_or_default(),
        warnings: response.warnings.unwrap_or_default(),
        patched: !patch.is_empty(),
        object,
        review: Some(question.review()),
    })
}

/// The beginning of a body, on one line.
pub(super) fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "(empty body)".to_owned(),
        None => line,
    }
}

fn operations(response: &ReviewResponse) -> Result<Vec<Value>, BadAnswer> {
    let patch = response.patch.as_deref().filter(|patch| !patch.is_empty());
    match (patch, response.patch_type.as_deref()) {
        (None, None) => Ok(Vec::new()),
        (None, Some(kind)) => {
            Err(BadAnswer::PatchType(format!("patchType is {kind:?}, but there is no patch")))
        }
        (Some(_), None) => Err(BadAnswer::PatchType("there is a patch without patchType".to_owned())),
        (Some(text), Some("JSONPatch")) => {
            let bytes = STANDARD.decode(text).map_err(|error| BadAnswer::Patch(error.to_string()))?;
            json_patch::read(&bytes).map_err(BadAnswer::Patch)
        }
        (Some(_), Some(kind)) => {
            Err(BadAnswer::PatchType(format!("patchType is {kind:?}, want \"JSONPatch\"")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Subject, question};
    use serde_json::json;
    use webhook::review::{GroupVersionKind, GroupVersionResource, Operation, ReviewVersion};

    fn subject() -> Subject {
        Subject {
            kind: GroupVersionKind::default(),
            resource: GroupVersionResource::default(),
            namespaced: true,
            name: String::new(),
            namespace: String::new(),
            operation: Operation::Create,
            object: Some(json!({"spec": {}})),
            old_object: None,
        }
    }

    fn answer(response: &Value) -> Result<Answer, BadAnswer> {
        let body =
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
        read(&serde_json::to_vec(&body).unwrap(), &question(&subject(), ReviewVersion::V1, "u"))
    }

    fn patch(operations: &Value) -> String {
        STANDARD.encode(operations.to_string())
    }

    #[test]
    fn a_patch_is_applied() {
        let patch = patch(&json!([{"op": "add", "path": "/spec/replicas", "value": 2}]));
        let got = answer(&json!({"uid": "u", "allowed": true, "patch": patch, "patchType": "JSONPatch",
            "status": {"code": 200}, "warnings": ["w"]}));
        let want = Answer {
            allowed: true,
            code: Some(200),
            warnings: vec!["w".to_owned()],
            patched: true,
            object: Some(json!({"spec": {"replicas": 2}})),
            review: Some(Review::V1),
            ..Answer::default()
        };
        assert_eq!(got, Ok(want));
    }

    #[test]
    fn a_refusal_has_its_status() {
        let got = answer(&json!({"uid": "u", "allowed": false, "status": {"code": 422, "reason": "Invalid",
            "message": "no", "details": {"causes": [{"field": "spec", "reason": "FieldValueInvalid", "message": "m"}]}}}));
        let cause = FieldCause {
            field: "spec".to_owned(),
            reason: "FieldValueInvalid".to_owned(),
            message: "m".to_owned(),
        };
        let want = Answer {
            code: Some(422),
            reason: Some("Invalid".to_owned()),
            message: Some("no".to_owned()),
            causes: vec![cause],
            review: Some(Review::V1),
            ..Answer::default()
        };
        assert_eq!(got, Ok(want));
    }

    #[test]
    fn answers_that_no_api_server_accepts_are_errors() {
        let good = patch(&json!([]));
        let away = patch(&json!([{"op": "remove", "path": "/nowhere"}]));
        let table = [
            (json!({"uid": "x", "allowed": true}), "the response has uid \"x\", the request had \"u\""),
            (json!({"uid": "u", "allowed": true, "patch": good}), "there is a patch without patchType"),
            (
                json!({"uid": "u", "allowed": true, "patchType": "JSONPatch"}),
                "patchType is \"JSONPatch\", but there is no patch",
            ),
            (
                json!({"uid": "u", "allowed": true, "patch": good, "patchType": "X"}),
                "patchType is \"X\", want \"JSONPatch\"",
            ),
            (
                json!({"uid": "u", "allowed": true, "patch": away, "patchType": "JSONPatch"}),
                "the patch cannot be applied",
            ),
            (Value::Null, "the review has no response"),
        ];
        for (response, want) in table {
            let got = answer(&response).unwrap_err().to_string();
            assert!(got.starts_with(want), "{response}: {got}");
        }
        let question_of = subject();
        let question = question(&question_of, ReviewVersion::V1, "u");
        assert_eq!(
            read(b"<html>\n oops", &question).unwrap_err().to_string(),
            "the body is not an AdmissionReview: invalid character '<' looking for beginning of value: <html> oops"
        );
    }
}
