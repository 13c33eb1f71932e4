//! What presets say of OpenID Connect.

use std::collections::BTreeSet;

use api::garden::open_id_connect_preset::{
    KubeApiServerOpenIdConnect, OpenIdConnectClientAuthentication, OpenIdConnectPresetSpec,
};
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, required};
use super::{certificates, label_selector, shoot_oidc};

const ALGORITHMS: [&str; 9] =
    ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"];
/// What a kubeconfig gets from elsewhere.
const RESERVED: [&str; 7] = [
    "client-id",
    "client-secret",
    "id-token",
    "idp-certificate-authority",
    "idp-certificate-authority-data",
    "idp-issuer-url",
    "refresh-token",
];
const EMPTY: &str = "must not be empty";

/// Shoots, weight, server and client: GDN-OIP-002 to -009.
pub(super) fn validate(spec: &OpenIdConnectPresetSpec, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if let Some(shoots) = &spec.shoot_selector {
        let at = at.child("shootSelector");
        errors.extend(label_selector::validate(&shoots.match_labels, &shoots.match_expressions, &at));
    }
    if !(1..=100).contains(&spec.weight) {
        let weight = i64::from(spec.weight);
        errors.push(Error::invalid(&at.child("weight"), weight, "must be in the range 1-100"));
    }
    errors.extend(validate_server(&spec.server, &at.child("server")));
    if let Some(client) = &spec.client {
        errors.extend(validate_client(client, &at.child("client")));
    }
    errors
}

fn validate_server(server: &KubeApiServerOpenIdConnect, at: &Path) -> FieldErrors {
    let at_issuer = at.child("issuerURL");
    let mut errors = FieldErrors::new();
    if server.issuer_url.is_empty() {
        errors.push(Error::required(&at_issuer, EMPTY));
    } else {
        errors.extend(shoot_oidc::issuer_url(&server.issuer_url, &at_issuer, "must be a valid URL"));
    }
    errors.extend(required(&at.child("clientID"), &server.client_id, EMPTY));
    let why = "must be a valid PEM-encoded certificate";
    errors.extend(certificates::bundle(&at.child("caBundle"), server.ca_bundle.as_ref(), why));
    errors.extend(empty(&at.child("groupsClaim"), server.groups_claim.as_ref()));
    errors.extend(empty(&at.child("groupsPrefix"), server.groups_prefix.as_ref()));
    let mut seen = BTreeSet::new();
    for (index, algorithm) in server.signing_algs.iter().enumerate() {
        let at = at.child("signingAlgs").index(index);
        if !ALGORITHMS.contains(&algorithm.as_str()) {
            let why = format!("must be one of: [{}]", ALGORITHMS.join(" "));
            errors.push(Error::invalid(&at, algorithm, &why));
        }
        if !seen.insert(algorithm) {
            errors.push(Error::duplicate(&at, algorithm));
        }
    }
    errors.extend(empty(&at.child("usernameClaim"), server.username_claim.as_ref()));
    errors.extend(empty(&at.child("usernamePrefix"), server.username_prefix.as_ref()));
    errors
}

fn validate_client(client: &OpenIdConnectClientAuthentication, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = empty(&at.child("secret"), client.secret.as_ref()).into_iter().collect();
    for (key, value) in &client.extra_config {
        let at = at.child("extraConfig").key(key);
        errors.extend(empty(&at, Some(value)));
        if RESERVED.contains(&key.as_str()) {
            errors.push(Error::forbidden(&at, &format!("cannot be any of [{}]", RESERVED.join(" "))));
        }
    }
    errors
}

/// The error of a text that is there and empty.
fn empty(at: &Path, text: Option<&String>) -> Option<Error> {
    text.filter(|text| text.is_empty()).map(|text| Error::invalid(at, text, EMPTY))
}
