//! Certificate signing requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::Found;
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] = &[
    ("certificate-request", certificate_request),
    ("signer-name", signer_name),
    ("expiration", expiration),
    ("immutable-request", immutable_request),
];

fn certificate_request(found: &Found<'_>) -> Vec<Error> {
    let shown = || found.value.map_or_else(|| Shown::verbatim("null"), |_| found.shown());
    let text = STANDARD.decode(found.text()).unwrap_or_default();
    let block = String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE REQUEST-----");
    when(!block, || found.invalid_as(shown(), "PEM block type must be CERTIFICATE REQUEST"))
}

fn signer_name(found: &Found<'_>) -> Vec<Error> {
    if found.is_empty() {
        return vec![found.required("")];
    }
    let parts = found.text().split_once('/');
    let wrong = parts.is_none_or(|(domain, path)| !domain.contains('.') || path.is_empty());
    let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    when(wrong, || found.invalid(why))
}

fn expiration(found: &Found<'_>) -> Vec<Error> {
    when(found.value.is_some() && found.number() < 600, || {
        found.invalid("may not specify a duration less than 600 seconds (10 minutes)")
    })
}

fn immutable_request(spec: &Found<'_>) -> Vec<Error> {
    let of = |value: Option<&Value>| value.cloned().unwrap_or_default();
    when(of(spec.value) != of(spec.old), || spec.invalid("field is immutable"))
}
