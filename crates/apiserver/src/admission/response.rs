//! Verifies a webhook's response as kube-apiserver does.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};
use webhook::registration::Phase;
use webhook::review::ReviewVersion;

use crate::http::status::Status;

/// A verified response.
#[derive(Clone, Debug, Default)]
pub(super) struct AdmissionResult {
    /// Whether the request may proceed.
    pub(super) allowed: bool,
    /// The JSON patch; empty if there is none.
    pub(super) patch: Vec<u8>,
    /// `JSONPatch`, if there is a patch.
    pub(super) patch_type: String,
    /// The `Status` of a denial.
    pub(super) status: Map<String, Value>,
    /// Warnings for the user.
    pub(super) warnings: Vec<String>,
    /// Audit annotations.
    pub(super) annotations: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename = "Review", rename_all = "camelCase", default)]
struct AdmissionReview {
    api_version: String,
    kind: String,
    response: Option<AdmissionResponse>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename = "Response", rename_all = "camelCase", default)]
struct AdmissionResponse {
    uid: String,
    allowed: bool,
    status: Option<Map<String, Value>>,
    patch: Option<EncodedPatch>,
    patch_type: Option<String>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

/// A patch as base64, or as a list of bytes, which Go accepts too.
#[derive(Debug, Deserialize)]
#[serde(rename = "Patch", untagged)]
enum EncodedPatch {
    Text(String),
    Bytes(Vec<u8>),
}

/// Verifies that a body responds to the review with this version and uid.
pub(super) fn verify(
    body: &str,
    version: ReviewVersion,
    uid: &str,
    phase: Phase,
) -> Result<AdmissionResult, String> {
    let review: AdmissionReview = serde_json::from_str(body)
        .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    if review.kind.is_empty() {
        return Err(format!("Object 'Kind' is missing in '{body}'"));
    }
    let response = review.response.ok_or("webhook response was absent")?;
    if version == ReviewVersion::V1 {
        check_identity(&review.api_version, &review.kind, &response.uid, uid)?;
        check_patch(&response, phase)?;
    }
    let patch = match response.patch {
        Some(EncodedPatch::Text(text)) => STANDARD
            .decode(text)
            .map_err(|error| format!("illegal base64 data in response.patch: {error}"))?,
        Some(EncodedPatch::Bytes(bytes)) => bytes,
        None => Vec::new(),
    };
    let patch = if phase == Phase::Mutating { patch } else { Vec::new() };
    // v1beta1 has no patch type: it allows only JSON patches.
    let patch_type = match version {
        ReviewVersion::V1 => response.patch_type.unwrap_or_default(),
        ReviewVersion::V1beta1 => "JSONPatch".to_owned(),
    };
    Ok(AdmissionResult {
        allowed: response.allowed,
        patch,
        patch_type,
        status: response.status.unwrap_or_default(),
        warnings: response.warnings.unwrap_or_default(),
        annotations: response.audit_annotations.unwrap_or_default(),
    })
}

/// The error for a denied request, worded as kube-apiserver does.
pub(super) fn denial(webhook: &str, result: &Map<String, Value>) -> Status {
    let text = |field: &str| result.get(field).and_then(Value::as_str).unwrap_or_default();
    let denied = format!("admission webhook {webhook:?} denied the request");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let code = result.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| *code >= 400).unwrap_or(400);
    let details = result.get("details").and_then(Value::as_object).cloned().unwrap_or_default();
    Status { details, ..Status::plain(code, text("reason"), message) }
}

fn check_identity(api_version: &str, kind: &str, found: &str, sent: &str) -> Result<(), String> {
    if found != sent {
        return Err(format!("expected response.uid={sent:?}, got {found:?}"));
    }
    if (api_version, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
        return Err(format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {api_version}, Kind={kind}"
        ));
    }
    Ok(())
}

fn check_patch(response: &AdmissionResponse, phase: Phase) -> Result<(), String> {
    let patch = match &response.patch {
        Some(EncodedPatch::Text(text)) => !text.is_empty(),
        Some(EncodedPatch::Bytes(bytes)) => !bytes.is_empty(),
        None => false,
    };
    let wrong = match (phase, patch, response.patch_type.as_deref()) {
        (Phase::Mutating, true, None) => "webhook returned response.patch but not response.patchType",
        (Phase::Mutating, false, Some(_)) => "webhook returned response.patchType but not response.patch",
        (Phase::Mutating, true, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (Phase::Validating, true, _) => "validating webhook may not return response.patch",
        (Phase::Validating, false, Some(_)) => "validating webhook may not return response.patchType",
        _ => return Ok(()),
    };
    Err(wrong.to_owned())
}
