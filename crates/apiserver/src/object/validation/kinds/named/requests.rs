//! Certificate signing requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::{FieldValue, NamedCheck, when};

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("certificate-request", certificate_request),
    ("signer-name", signer_name),
    ("expiration", expiration),
    ("immutable-request", immutable_request),
];

fn certificate_request(field: &FieldValue<'_>) -> Vec<Error> {
    let shown = || field.value.map_or_else(|| Shown::verbatim("null"), |_| field.formatted());
    let text = STANDARD.decode(field.text()).unwrap_or_default();
    let block = String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE REQUEST-----");
    when(!block, || field.invalid_as(shown(), "PEM block type must be CERTIFICATE REQUEST"))
}

fn signer_name(field: &FieldValue<'_>) -> Vec<Error> {
    if field.is_empty() {
        return vec![field.required("")];
    }
    let parts = field.text().split_once('/');
    let wrong = parts.is_none_or(|(domain, path)| !domain.contains('.') || path.is_empty());
    let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    when(wrong, || field.invalid(why))
}

fn expiration(field: &FieldValue<'_>) -> Vec<Error> {
    when(field.value.is_some() && field.number() < 600, || {
        field.invalid("may not specify a duration less than 600 seconds (10 minutes)")
    })
}

fn immutable_request(spec: &FieldValue<'_>) -> Vec<Error> {
    let of = |value: Option<&Value>| value.cloned().unwrap_or_default();
    when(of(spec.value) != of(spec.old), || spec.invalid("field is immutable"))
}
