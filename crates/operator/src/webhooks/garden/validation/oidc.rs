//! The OpenID Connect provider of a virtual cluster.

use api::garden::shoot::api_server::OidcConfig;
use formats::x509::certificate::Certificate;
use formats::x509::pem;
use webhook::field::{Error, Path, Shown};
use webhook::url::Url;

use super::FieldErrors;

/// Accepted signing algorithms, in alphabetical order.
const ALGORITHMS: [&str; 10] =
    ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512", "none"];

/// OPR-KAS-001 to -003.
pub(super) fn errors(oidc: &OidcConfig, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    let (client, url) = (oidc.client_id.as_ref(), oidc.issuer_url.as_ref());
    pair(("clientID", client), ("issuerURL", url), at, &mut errors);
    pair(("issuerURL", url), ("clientID", client), at, &mut errors);
    issuer(oidc.issuer_url.as_deref().unwrap_or_default(), &at.child("issuerURL"), &mut errors);
    if let Some(bundle) = oidc.ca_bundle.as_ref().filter(|bundle| !is_certificate(bundle)) {
        let text = "caBundle is not a valid PEM-encoded certificate";
        errors.push(Error::invalid(&at.child("caBundle"), bundle, text));
    }
    filled("groupsClaim", oidc.groups_claim.as_ref(), at, &mut errors);
    filled("groupsPrefix", oidc.groups_prefix.as_ref(), at, &mut errors);
    for (index, algorithm) in oidc.signing_algs.iter().enumerate() {
        if !ALGORITHMS.contains(&algorithm.as_str()) {
            let at = at.child("signingAlgs").index(index);
            errors.push(Error::not_supported(&at, algorithm, &ALGORITHMS));
        }
    }
    filled("usernameClaim", oidc.username_claim.as_ref(), at, &mut errors);
    filled("usernamePrefix", oidc.username_prefix.as_ref(), at, &mut errors);
    errors
}

/// A field is not empty, and is there with the other.
fn pair(
    (field, value): (&str, Option<&String>),
    (other, with): (&str, Option<&String>),
    at: &Path,
    errors: &mut FieldErrors,
) {
    let is_set = |value: Option<&String>| value.is_some_and(|text| !text.is_empty());
    if is_set(value) {
        return;
    }
    let at = at.child(field);
    filled_at(field, value, &at, errors);
    if is_set(with) {
        let shown = value.map_or_else(|| Shown::from("null"), Shown::from);
        errors.push(Error::invalid(&at, shown, &format!("{field} must be set when {other} is provided")));
    }
}

fn issuer(issuer: &str, at: &Path, errors: &mut FieldErrors) {
    if issuer.is_empty() {
        return;
    }
    let url = Url::parse(issuer).ok();
    if url.as_ref().is_none_or(|url| url.host.is_empty()) {
        errors.push(Error::invalid(at, issuer, "must be a valid URL and have https scheme"));
    }
    if url.is_some_and(|url| url.scheme != "https") {
        errors.push(Error::invalid(at, issuer, "must have https scheme"));
    }
}

fn is_certificate(text: &str) -> bool {
    let first = pem::blocks(text.as_bytes()).next().filter(|block| block.label == "CERTIFICATE");
    first.is_some_and(|block| Certificate::from_der(&block.content).is_ok())
}

fn filled(field: &str, value: Option<&String>, at: &Path, errors: &mut FieldErrors) {
    filled_at(field, value, &at.child(field), errors);
}

fn filled_at(field: &str, value: Option<&String>, at: &Path, errors: &mut FieldErrors) {
    if let Some(value) = value.filter(|value| value.is_empty()) {
        errors.push(Error::invalid(at, value, &format!("{field} cannot be empty when key is provided")));
    }
}
