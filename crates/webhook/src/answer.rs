//! The answer of a webhook, and its encoding in both versions of AdmissionReview.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::rejection::Rejection;

/// The answer of a webhook, independent of the version of AdmissionReview.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether the request may proceed.
    pub allowed: bool,
    /// Patch operations; empty if nothing changes.
    pub patch: json_patch::Patch,
    /// The status: `code`, and optionally `message`, `reason` and `details`.
    pub status: Map<String, Value>,
    /// Warnings shown to the user.
    pub warnings: Vec<String>,
}

impl Answer {
    /// The request may proceed unchanged; an empty `message` is omitted. Code 200.
    #[must_use]
    pub fn allowed(message: &str) -> Self {
        let mut status = status(200, message);
        status.retain(|name, value| name != "message" || value != "");
        Self { allowed: true, patch: json_patch::Patch::default(), status, warnings: Vec::new() }
    }

    /// The request may proceed with these changes. Code 200.
    #[must_use]
    pub fn patched(patch: json_patch::Patch) -> Self {
        Self { patch, ..Self::allowed("") }
    }

    /// The webhook denies the request. Code 403, reason `Forbidden`.
    #[must_use]
    pub fn denied(message: &str) -> Self {
        Rejection::forbidden(message).into()
    }

    /// The webhook failed to decide: `code` is an HTTP status such as 400 or 500, without a reason.
    #[must_use]
    pub fn errored(code: u16, message: &str) -> Self {
        Self {
            allowed: false,
            patch: json_patch::Patch::default(),
            status: status(code, message),
            warnings: Vec::new(),
        }
    }

    /// The HTTP-like code of the status.
    #[must_use]
    pub fn code(&self) -> u64 {
        self.status.get("code").and_then(Value::as_u64).unwrap_or_default()
    }

    /// The message of the status, empty if it has none.
    #[must_use]
    pub fn message(&self) -> &str {
        self.status.get("message").and_then(Value::as_str).unwrap_or_default()
    }

    /// Adds warnings for the user.
    #[must_use]
    pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

impl From<Rejection> for Answer {
    fn from(rejection: Rejection) -> Self {
        let mut answer = Self::errored(rejection.code, &rejection.message);
        if !rejection.reason.is_empty() {
            answer.status.insert("reason".to_owned(), json!(rejection.reason));
        }
        if let Some(details) = rejection.details {
            answer.status.insert("status".to_owned(), json!("Failure"));
            answer.status.insert("details".to_owned(), Value::Object(details));
        }
        answer
    }
}

/// Head of the review that carries an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// `apiVersion` of the request's review; omitted if empty.
    pub api_version: &'a str,
    /// `kind` of the request's review; omitted if empty.
    pub kind: &'a str,
    /// `uid` of the request; empty if the request could not be read.
    pub uid: &'a str,
}

/// Writes the review that carries `answer` byte for byte as Go's encoder does, newline included.
#[must_use]
pub fn encode(envelope: Envelope<'_>, answer: &Answer) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.push(b'{');
    for (name, value) in [("kind", envelope.kind), ("apiVersion", envelope.api_version)] {
        if !value.is_empty() {
            write_member(&mut out, name, &value);
        }
    }
    out.extend_from_slice(b"\"response\":{");
    write_member(&mut out, "uid", &envelope.uid);
    write_member(&mut out, "allowed", &answer.allowed);
    write_status(&mut out, &answer.status);
    if !answer.patch.is_empty() {
        write_patch(&mut out, &answer.patch);
    }
    if !answer.warnings.is_empty() {
        out.push(b',');
        write_member(&mut out, "warnings", &answer.warnings);
        out.pop();
    }
    out.extend_from_slice(b"}}\n");
    out
}

/// Members of a Status in the order in which Go writes them.
const STATUS_ORDER: [&str; 8] =
    ["kind", "apiVersion", "metadata", "status", "message", "reason", "details", "code"];

fn write_status(out: &mut Vec<u8>, status: &Map<String, Value>) {
    out.extend_from_slice(b"\"status\":{");
    for name in STATUS_ORDER {
        match status.get(name) {
            Some(Value::Object(details)) if name == "details" => {
                out.extend_from_slice(b"\"details\":");
                write_ordered(out, details, &["name", "group", "kind", "uid", "causes", "retryAfterSeconds"]);
                out.push(b',');
            }
            Some(value) => write_member(out, name, value),
            None if name == "metadata" => out.extend_from_slice(b"\"metadata\":{},"),
            None => {}
        }
    }
    out.pop();
    out.push(b'}');
}

fn write_ordered(out: &mut Vec<u8>, fields: &Map<String, Value>, order: &[&str]) {
    out.push(b'{');
    let before = out.len();
    for name in order {
        match fields.get(*name) {
            Some(Value::Array(causes)) if *name == "causes" => {
                out.extend_from_slice(b"\"causes\":[");
                for cause in causes {
                    if let Value::Object(cause) = cause {
                        write_ordered(out, cause, &["reason", "message", "field"]);
                        out.push(b',');
                    }
                }
                if !causes.is_empty() {
                    out.pop();
                }
                out.extend_from_slice(b"],");
            }
            Some(value) => write_member(out, name, value),
            None => {}
        }
    }
    if out.len() > before {
        out.pop();
    }
    out.push(b'}');
}

fn write_patch(out: &mut Vec<u8>, patch: &json_patch::Patch) {
    out.extend_from_slice(b",\"patch\":\"");
    let operations = serde_json::to_vec(patch).expect("a patch holds only JSON");
    let start = out.len();
    let length = base64::encoded_len(operations.len(), true).expect("a patch is far smaller than memory");
    out.resize(start + length, 0);
    STANDARD.encode_slice(&operations, &mut out[start..]).expect("the slice was made to fit");
    out.extend_from_slice(b"\",\"patchType\":\"JSONPatch\"");
}

/// Writes `"name":value,`, escaping what Go escapes for HTML.
fn write_member(out: &mut Vec<u8>, name: &str, value: &impl serde::Serialize) {
    let text = serde_json::to_string(value).expect("a status holds only JSON");
    write!(out, "\"{name}\":").expect("writing to memory does not fail");
    if text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        for character in text.chars() {
            match character {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => write!(out, "\\u{:04x}", u32::from(character)),
                other => write!(out, "{other}"),
            }
            .expect("writing to memory does not fail");
        }
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b',');
}

fn status(code: u16, message: &str) -> Map<String, Value> {
    Map::from_iter([("code".to_owned(), json!(code)), ("message".to_owned(), json!(message))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field;

    const V1: Envelope<'_> =
        Envelope { api_version: "admission.k8s.io/v1", kind: "AdmissionReview", uid: "u" };

    fn written(envelope: Envelope<'_>, answer: &Answer) -> String {
        String::from_utf8(encode(envelope, answer)).unwrap()
    }

    #[test]
    fn answers_are_written_byte_for_byte_as_go_writes_them() {
        let patch: json_patch::Patch =
            serde_json::from_value(json!([{"op": "add", "path": "/spec/a", "value": 1}])).unwrap();
        let head = r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","#;
        let table = [
            (Answer::allowed(""), r#""allowed":true,"status":{"metadata":{},"code":200}}}"#),
            (
                Answer::allowed("operation is not DELETE"),
                r#""allowed":true,"status":{"metadata":{},"message":"operation is not DELETE","code":200}}}"#,
            ),
            (
                Answer::denied("no <b>"),
                r#""allowed":false,"status":{"metadata":{},"message":"no \u003cb\u003e","reason":"Forbidden","code":403}}}"#,
            ),
            (
                Answer::errored(500, "a & b"),
                r#""allowed":false,"status":{"metadata":{},"message":"a \u0026 b","code":500}}}"#,
            ),
            (
                Answer::patched(patch),
                r#""allowed":true,"status":{"metadata":{},"code":200},"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvYSIsInZhbHVlIjoxfV0=","patchType":"JSONPatch"}}"#,
            ),
            (
                Answer::allowed("").with_warnings(["old".to_owned(), "<".to_owned()]),
                r#""allowed":true,"status":{"metadata":{},"code":200},"warnings":["old","\u003c"]}}"#,
            ),
        ];
        for (answer, tail) in table {
            assert_eq!(written(V1, &answer), format!("{head}{tail}\n"));
        }
    }

    #[test]
    fn an_invalid_object_has_a_complete_status() {
        let at = field::Path::new("spec").child("type");
        let rejection =
            Rejection::invalid("x.io", "Worker", "w", &[field::Error::required(&at, "field is required")]);
        assert_eq!(
            written(V1, &rejection.into()),
            concat!(
                r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":false,"#,
                r#""status":{"metadata":{},"status":"Failure","message":"Worker.x.io \"w\" is invalid: spec.type: "#,
                r#"Required value: field is required","reason":"Invalid","details":{"name":"w","group":"x.io","#,
                r#""kind":"Worker","causes":[{"reason":"FieldValueRequired","message":"Required value: field is "#,
                r#"required","field":"spec.type"}]},"code":422}}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_answer_to_an_unreadable_request_has_no_head() {
        assert_eq!(
            written(Envelope::default(), &Answer::errored(400, "bad")),
            "{\"response\":{\"uid\":\"\",\"allowed\":false,\"status\":{\"metadata\":{},\"message\":\"bad\",\"code\":400}}}\n"
        );
    }
}
