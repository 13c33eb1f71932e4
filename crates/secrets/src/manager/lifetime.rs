//! Labels that say when data was made, and how long it is valid.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::{seconds, store};
use crate::authority::read_certificate;
use crate::error::GenerateCause;
use crate::labels;
use crate::request::{CertificateKind, Content, SecretRequest};
use crate::secret::ManagedSecret;

/// Sets the labels: the times of the certificate or, for other data, those that the Secret has and the validity requires.
pub(super) fn set(
    desired: &mut BTreeMap<String, String>,
    request: &SecretRequest,
    secret: &ManagedSecret,
    validity: Option<Duration>,
    now: Timestamp,
) -> Result<(), GenerateCause> {
    if let Some(key) = certificate_key(request) {
        let certificate = read_certificate(secret.data.get(&key));
        let certificate = certificate.map_err(|source| GenerateCause::Certificate { key, source })?;
        desired.insert(labels::ISSUED_AT.to_owned(), certificate.not_before.to_string());
        desired.insert(labels::VALID_UNTIL.to_owned(), certificate.not_after.to_string());
        return Ok(());
    }
    let label = secret.label(labels::ISSUED_AT);
    let issued = if label.is_empty() { seconds(now).to_string() } else { label.to_owned() };
    desired.insert(labels::ISSUED_AT.to_owned(), issued);
    if let Some(validity) = validity.filter(|validity| !validity.is_zero()) {
        // The validity may have changed since the data was made, so it counts from then.
        let begin = match store::time(secret, labels::VALID_UNTIL)? {
            Some(_) => store::time(secret, labels::ISSUED_AT)?.unwrap_or_else(|| seconds(now)),
            None => seconds(now),
        };
        let validity = i64::try_from(validity.as_secs()).map_err(|_| GenerateCause::Validity)?;
        let until = begin.checked_add(validity).ok_or(GenerateCause::Validity)?;
        desired.insert(labels::VALID_UNTIL.to_owned(), until.to_string());
    }
    Ok(())
}

/// The key of the data that holds the certificate of a request.
fn certificate_key(request: &SecretRequest) -> Option<String> {
    match &request.content {
        Content::Certificate(content) if content.kind == CertificateKind::Authority => {
            Some("ca.crt".to_owned())
        }
        Content::Certificate(_) => Some("tls.crt".to_owned()),
        Content::ControlPlane(content) if content.certificate.is_some() => {
            Some(format!("{}.crt", request.name))
        }
        _ => None,
    }
}
