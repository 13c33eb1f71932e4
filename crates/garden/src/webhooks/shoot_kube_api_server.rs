//! Settings of the API server of a Shoot.

use std::collections::BTreeSet;

use api::garden::shoot::api_server::{ApiServerRequests, KubeApiServerConfig, ServiceAccountConfig};
use webhook::field::{Error, Path, Shown};

use super::bounds::{non_negative, not_negative, refuse};
use super::field_errors::{FieldErrors, required};
use super::{shoot_admission_plugins, shoot_feature_gates, shoot_oidc};

const HOUR: i64 = 3600 * 1_000_000_000;

/// The errors of the settings, in the original's order: GDN-SKA-001 to -007.
pub(super) fn validate(server: &KubeApiServerConfig, version: &str, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if let Some(oidc) = &server.oidc_config {
        errors.extend(shoot_oidc::validate(oidc, &at.child("oidcConfig")));
    }
    errors.extend(shoot_admission_plugins::validate(
        &server.admission_plugins,
        version,
        &at.child("admissionPlugins"),
    ));
    let policy = server.audit_config.as_ref().and_then(|config| config.audit_policy.as_ref());
    if let Some(reference) = policy.and_then(|policy| policy.config_map_ref.as_ref()) {
        let at = at.child("auditConfig").child("auditPolicy").child("configMapRef").child("name");
        let name = reference.name.as_deref().unwrap_or_default();
        errors.extend(required(&at, name, "must provide a name"));
    }
    errors.extend(watch_caches(server, &at.child("watchCacheSizes")));
    if let Some(logging) = &server.logging {
        let at = at.child("logging");
        errors.extend(non_negative(&at.child("verbosity"), logging.verbosity));
        errors.extend(non_negative(&at.child("httpAccessVerbosity"), logging.http_access_verbosity));
    }
    let seconds = server.default_not_ready_toleration_seconds;
    errors.extend(non_negative(&at.child("defaultNotReadyTolerationSeconds"), seconds));
    let seconds = server.default_unreachable_toleration_seconds;
    errors.extend(non_negative(&at.child("defaultUnreachableTolerationSeconds"), seconds));
    errors.extend(server.requests.iter().flat_map(|requests| inflight(requests, &at.child("requests"))));
    if let Some(accounts) = &server.service_account_config {
        errors.extend(service_accounts(accounts, &at.child("serviceAccountConfig")));
    }
    let (at_events, events) = (at.child("eventTTL"), server.event_ttl.as_ref());
    errors.extend(not_negative(&at_events, events));
    let is_too_long = |events: formats::duration::GoDuration| events.nanos() > 7 * 24 * HOUR;
    errors.extend(refuse(&at_events, events, is_too_long, "can not be longer than 7d"));
    errors.extend(shoot_feature_gates::validate(&server.feature_gates, version, &at.child("featureGates")));
    errors
}

fn watch_caches(server: &KubeApiServerConfig, at: &Path) -> FieldErrors {
    let Some(sizes) = &server.watch_cache_sizes else { return FieldErrors::new() };
    let mut errors: FieldErrors = non_negative(&at.child("default"), sizes.default).into_iter().collect();
    for (index, of) in sizes.resources.iter().enumerate() {
        let at = at.child("resources").index(index);
        errors.extend(required(&at.child("resource"), &of.resource, "must not be empty"));
        errors.extend(non_negative(&at.child("size"), Some(of.size)));
    }
    errors
}

fn inflight(requests: &ApiServerRequests, at: &Path) -> FieldErrors {
    let limits = [
        ("maxNonMutatingInflight", requests.max_non_mutating_inflight, 800),
        ("maxMutatingInflight", requests.max_mutating_inflight, 400),
    ];
    let mut errors = FieldErrors::new();
    for (name, number, most) in limits {
        let at = at.child(name);
        errors.extend(non_negative(&at, number));
        if let Some(number) = number.filter(|number| *number > most) {
            let detail = format!("cannot set higher than {most}");
            errors.push(Error::invalid(&at, Shown::verbatim(number), &detail));
        }
    }
    errors
}

fn service_accounts(accounts: &ServiceAccountConfig, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    let (at_expiration, expiration) = (at.child("maxTokenExpiration"), &accounts.max_token_expiration);
    errors.extend(not_negative(&at_expiration, expiration.as_ref()));
    let nanos = super::bounds::duration(expiration.as_ref()).map_or(0, formats::duration::GoDuration::nanos);
    if nanos > 0 && nanos < 720 * HOUR {
        errors.push(Error::forbidden(&at_expiration, "must be at least 720h (30d)"));
    }
    if nanos > 2160 * HOUR {
        errors.push(Error::forbidden(&at_expiration, "must be at most 2160h (90d)"));
    }
    let mut seen: BTreeSet<&String> = accounts.issuer.iter().collect();
    for (index, issuer) in accounts.accepted_issuers.iter().enumerate() {
        let at = at.child("acceptedIssuers").index(index);
        if Some(issuer) == accounts.issuer.as_ref() {
            let detail = format!("acceptedIssuers cannot contains the issuer field value: {issuer}");
            errors.push(Error::invalid(&at, issuer, &detail));
        } else if !seen.insert(issuer) {
            errors.push(Error::duplicate(&at, issuer));
        }
    }
    errors
}
