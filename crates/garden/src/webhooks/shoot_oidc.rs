//! Who signs tokens of OpenID Connect for a Shoot.

use api::garden::shoot::api_server::OidcConfig;
use webhook::field::{Error, Path};
use webhook::url::Url;

use super::certificates;
use super::field_errors::{FieldErrors, supported};

const ALGORITHMS: [&str; 10] =
    ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512", "none"];

/// Client ID and issuer need each other, the issuer is a URL, and existing fields are not empty: GDN-SOI-001 to -004.
pub(super) fn validate(oidc: &OidcConfig, at: &Path) -> FieldErrors {
    let (client, issuer) = (("clientID", &oidc.client_id), ("issuerURL", &oidc.issuer_url));
    let mut errors = unless_together(client, issuer, at);
    errors.extend(unless_together(issuer, client, at));
    if let Some(url) = issuer.1.as_ref().filter(|url| !url.is_empty()) {
        let why = "must be a valid URL and have https scheme";
        errors.extend(issuer_url(url, &at.child("issuerURL"), why));
    }
    errors.extend(certificates::bundle(
        &at.child("caBundle"),
        oidc.ca_bundle.as_ref(),
        certificates::NO_BUNDLE,
    ));
    let empty = |(name, text): (&str, &Option<String>)| {
        let detail = format!("{name} cannot be empty when key is provided");
        text.as_ref()
            .filter(|text| text.is_empty())
            .map(|text| Error::invalid(&at.child(name), text, &detail))
    };
    let groups = [("groupsClaim", &oidc.groups_claim), ("groupsPrefix", &oidc.groups_prefix)];
    errors.extend(groups.into_iter().filter_map(empty));
    for (index, algorithm) in oidc.signing_algs.iter().enumerate() {
        errors.extend(supported(&at.child("signingAlgs").index(index), algorithm, &ALGORITHMS));
    }
    let users = [("usernameClaim", &oidc.username_claim), ("usernamePrefix", &oidc.username_prefix)];
    errors.extend(users.into_iter().filter_map(empty));
    errors
}

/// The errors of a field that is empty, or absent beside the other one.
fn unless_together(
    (name, text): (&str, &Option<String>),
    (other, beside): (&str, &Option<String>),
    at: &Path,
) -> FieldErrors {
    let is_filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let (at, shown) = (at.child(name), text.as_deref().unwrap_or("null"));
    let mut errors = FieldErrors::new();
    if is_filled(text) {
        return errors;
    }
    if text.is_some() {
        let detail = format!("{name} cannot be empty when key is provided");
        errors.push(Error::invalid(&at, shown, &detail));
    }
    if is_filled(beside) {
        errors.push(Error::invalid(&at, shown, &format!("{name} must be set when {other} is provided")));
    }
    errors
}

/// An issuer is a URL of https; `wrong` says why one that is no URL is refused.
pub(super) fn issuer_url(url: &str, at: &Path, wrong: &str) -> FieldErrors {
    let parsed = Url::parse(url).ok();
    let mut errors = FieldErrors::new();
    if parsed.as_ref().is_none_or(|parsed| parsed.host.is_empty()) {
        errors.push(Error::invalid(at, url, wrong));
    }
    if parsed.is_some_and(|parsed| parsed.scheme != "https") {
        errors.push(Error::invalid(at, url, "must have https scheme"));
    }
    errors
}
