//! Validation of new CertificateSigningRequests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formats::x509::CertificateRequest;
use formats::x509::request::{RequestError, der};
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;

use super::SIGNERS;
use crate::http::status::Status;
use crate::object::meta;

/// The allowed key usages.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// The shortest `expirationSeconds`.
const MIN_SECONDS: i64 = 600;

/// Validates a new request.
pub(super) fn errors(object: &Value) -> Vec<Error> {
    let at = Path::new("spec");
    let spec = &object["spec"];
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    if let Err(why) = parse_request(text("request")) {
        errors.push(Error::invalid(&at.child("request"), text("request"), &why));
    }
    errors.extend(usage_errors(&at.child("usages"), &spec["usages"]));
    errors.extend(signer_name_error(&at.child("signerName"), text("signerName")));
    if let Some(seconds) = spec["expirationSeconds"].as_i64().filter(|seconds| *seconds < MIN_SECONDS) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(Error::invalid(&at.child("expirationSeconds"), seconds, why));
    }
    errors
}

/// Refuses requests for `system:masters` to the signer of API client certificates.
pub(super) fn check_masters(object: &Value) -> Result<(), Status> {
    if object["spec"]["signerName"] != "kubernetes.io/kube-apiserver-client" {
        return Ok(());
    }
    let request = parse_request(object["spec"]["request"].as_str().unwrap_or_default());
    let masters = request
        .is_ok_and(|request| request.subject.organizations.iter().any(|group| group == "system:masters"));
    if !masters {
        return Ok(());
    }
    let why = "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed";
    Err(Status::forbidden(SIGNERS, meta::name(object), why))
}

/// Parses a request as Go does and verifies its signature; the error says what is wrong.
fn parse_request(base64: &str) -> Result<CertificateRequest, String> {
    let pem = STANDARD.decode(base64).unwrap_or_default();
    let to_text = |error: RequestError| error.to_string();
    let der = der(&pem).map_err(to_text)?;
    let request = CertificateRequest::from_der(&der).map_err(|error| to_text(error.into()))?;
    let signed = X509CertificationRequest::from_der(&der).is_ok_and(|(_, it)| it.verify_signature().is_ok());
    if signed { Ok(request) } else { Err("x509: signature verification failure".to_owned()) }
}

fn usage_errors(at: &Path, usages: &Value) -> Vec<Error> {
    let usages: Vec<&str> =
        usages.as_array().into_iter().flatten().map(|usage| usage.as_str().unwrap_or_default()).collect();
    if usages.is_empty() {
        return vec![Error::required(at, "")];
    }
    let mut errors = Vec::new();
    for (index, usage) in usages.iter().enumerate() {
        if !USAGES.contains(usage) {
            errors.push(Error::not_supported(&at.index(index), Shown::named(usage), &USAGES));
        }
        if usages[..index].contains(usage) {
            errors.push(Error::duplicate(&at.index(index), Shown::named(usage)));
        }
    }
    errors
}

fn signer_name_error(at: &Path, name: &str) -> Option<Error> {
    if name.is_empty() {
        return Some(Error::required(at, ""));
    }
    if name == "kubernetes.io/legacy-unknown" {
        return Some(Error::invalid(at, name, "the legacy signerName is not allowed via this API version"));
    }
    let is_qualified =
        name.split_once('/').is_some_and(|(domain, path)| domain.contains('.') && !path.is_empty());
    let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    (!is_qualified).then(|| Error::invalid(at, name, why))
}
