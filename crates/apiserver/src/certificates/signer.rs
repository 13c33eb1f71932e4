//! The signers of kube-controller-manager: the requests that each accepts, and the certificate that it issues.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formats::x509::CertificateRequest;
use formats::x509::request::{RequestError, der};
use jiff::Timestamp;
use rcgen::{CertificateSigningRequestParams, ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose};
use serde_json::Value;

use super::conditions;
use crate::authority::Authority;

/// How much a certificate is backdated, in seconds.
const BACKDATE_SECONDS: i64 = 300;
/// The longest validity of a certificate, in seconds: a year.
const MAX_SECONDS: i64 = 365 * 24 * 3600;

/// Reason why an approved request is not signed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SigningError {
    /// It violates the rules of its signer.
    #[error("{0}")]
    Unfit(&'static str),
    /// It cannot be parsed.
    #[error("failed to read the request: {0}")]
    Unreadable(#[from] RequestError),
    /// Signing failed.
    #[error("failed to sign")]
    Signing(#[from] rcgen::Error),
}

/// Signs a request; the certificate is PEM. Absent if the signer is not one of these, or the request is not approved,
/// has failed, or has a certificate.
pub(crate) fn sign(
    authority: &Authority,
    request: &Value,
    now: Timestamp,
) -> Result<Option<String>, SigningError> {
    let spec = &request["spec"];
    let done = !request["status"]["certificate"].as_str().unwrap_or_default().is_empty();
    let signer = spec["signerName"].as_str().unwrap_or_default();
    let Some(check) = check_for_signer(signer) else { return Ok(None) };
    if done || conditions::decision(request) != Some("Approved") || conditions::has(request, "Failed") {
        return Ok(None);
    }
    let pem = STANDARD.decode(spec["request"].as_str().unwrap_or_default()).unwrap_or_default();
    // Parse and sign the same DER block: PEM parsers differ in which block they take first.
    let der = der(&pem)?;
    let parsed = CertificateRequest::from_der(&der).map_err(RequestError::from)?;
    let usages: Vec<&str> =
        spec["usages"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    check(&parsed, &usages).map_err(SigningError::Unfit)?;
    let mut signable = CertificateSigningRequestParams::from_der(&der.into())?;
    let life = spec["expirationSeconds"].as_i64().unwrap_or(MAX_SECONDS).min(MAX_SECONDS);
    let params = &mut signable.params;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = usages.iter().filter_map(|usage| key_usage(usage)).collect();
    params.extended_key_usages = usages.iter().filter_map(|usage| extended_usage(usage)).collect();
    let start = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = start + seconds(now.as_second() - BACKDATE_SECONDS);
    params.not_after = start + seconds(now.as_second() + life);
    params.serial_number = None;
    Ok(Some(signable.signed_by(authority.issuer())?.pem()))
}

type SignerCheck = fn(&CertificateRequest, &[&str]) -> Result<(), &'static str>;

fn check_for_signer(signer: &str) -> Option<SignerCheck> {
    match signer {
        "kubernetes.io/kube-apiserver-client" => Some(check_client),
        "kubernetes.io/kube-apiserver-client-kubelet" => Some(check_kubelet_client),
        "kubernetes.io/kubelet-serving" => Some(check_kubelet_serving),
        _ => None,
    }
}

fn check_client(_: &CertificateRequest, usages: &[&str]) -> Result<(), &'static str> {
    check_usages(usages, "client auth")
}

fn check_kubelet_client(request: &CertificateRequest, usages: &[&str]) -> Result<(), &'static str> {
    check_node_subject(request)?;
    let names = &request.names;
    let forbidden = [
        (names.dns.is_empty(), "DNS subjectAltNames are not allowed"),
        (names.email.is_empty(), "Email subjectAltNames are not allowed"),
        (names.ip.is_empty(), "IP subjectAltNames are not allowed"),
        (names.uri.is_empty(), "URI subjectAltNames are not allowed"),
    ];
    match forbidden.into_iter().find(|(absent, _)| !absent) {
        Some((_, why)) => Err(why),
        None => check_usages(usages, "client auth"),
    }
}

fn check_kubelet_serving(request: &CertificateRequest, usages: &[&str]) -> Result<(), &'static str> {
    check_node_subject(request)?;
    let names = &request.names;
    if names.dns.is_empty() && names.ip.is_empty() {
        return Err("DNS or IP subjectAltName is required");
    }
    if !names.email.is_empty() {
        return Err("Email subjectAltNames are not allowed");
    }
    if !names.uri.is_empty() {
        return Err("URI subjectAltNames are not allowed");
    }
    check_usages(usages, "server auth")
}

fn check_node_subject(request: &CertificateRequest) -> Result<(), &'static str> {
    let subject = &request.subject;
    if subject.organizations != ["system:nodes"] {
        return Err("subject organization is not system:nodes");
    }
    if !subject.common_name.starts_with("system:node:") {
        return Err("subject common name does not begin with system:node:");
    }
    Ok(())
}

/// Checks that the usages include `purpose`, and no others than signing and encipherment.
fn check_usages(usages: &[&str], purpose: &str) -> Result<(), &'static str> {
    let is_allowed =
        |usage: &&str| *usage == purpose || matches!(*usage, "digital signature" | "key encipherment");
    if usages.iter().all(is_allowed) && usages.contains(&purpose) {
        Ok(())
    } else {
        Err("usages did not match those of the signer")
    }
}

fn key_usage(usage: &str) -> Option<KeyUsagePurpose> {
    match usage {
        "signing" | "digital signature" => Some(KeyUsagePurpose::DigitalSignature),
        "key encipherment" => Some(KeyUsagePurpose::KeyEncipherment),
        _ => None,
    }
}

fn extended_usage(usage: &str) -> Option<ExtendedKeyUsagePurpose> {
    match usage {
        "client auth" => Some(ExtendedKeyUsagePurpose::ClientAuth),
        "server auth" => Some(ExtendedKeyUsagePurpose::ServerAuth),
        _ => None,
    }
}

fn seconds(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}
