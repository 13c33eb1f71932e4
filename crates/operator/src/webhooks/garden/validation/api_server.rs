//! kube-apiserver of a virtual cluster, and what gardener-apiserver has in common with it.

use std::collections::BTreeSet;

use api::garden::Duration;
use api::garden::shoot::api_server::{
    ApiServerLogging, ApiServerRequests, AuditConfig, ServiceAccountConfig, WatchCacheSizes,
};
use api::operator::kube_apiserver::VirtualApiServerConfig;
use controller::config::checks::not_negative;
use formats::duration::GoDuration;
use webhook::field::{Error, Path, Shown};

use super::kubernetes::Release;
use super::{FieldErrors, admission_plugins, feature_gates, oidc};

const HOUR: i64 = 3600;

/// Errors of kube-apiserver, in the original's order. OPR-KAS-006 to -010.
pub(super) fn kubernetes(server: &VirtualApiServerConfig, release: &Release<'_>, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    if let Some(oidc) = &server.oidc_config {
        errors.extend(oidc::errors(oidc, &at.child("oidcConfig")));
    }
    errors.extend(admission_plugins::errors(
        &server.admission_plugins,
        release,
        &at.child("admissionPlugins"),
    ));
    audit(server.audit_config.as_ref(), &at.child("auditConfig"), &mut errors);
    watch_caches(server.watch_cache_sizes.as_ref(), &at.child("watchCacheSizes"), &mut errors);
    logging(server.logging.as_ref(), &at.child("logging"), &mut errors);
    let tolerations = [
        ("defaultNotReadyTolerationSeconds", server.default_not_ready_toleration_seconds),
        ("defaultUnreachableTolerationSeconds", server.default_unreachable_toleration_seconds),
    ];
    for (field, seconds) in tolerations {
        not_negative(seconds.unwrap_or_default(), &at.child(field), &mut errors);
    }
    requests(server.requests.as_ref(), &at.child("requests"), &mut errors);
    if let Some(tokens) = &server.service_account_config {
        service_accounts(tokens, &at.child("serviceAccountConfig"), &mut errors);
    }
    event_ttl(server.event_ttl.as_ref(), &at.child("eventTTL"), &mut errors);
    errors.extend(feature_gates::kubernetes(&server.feature_gates, release, &at.child("featureGates")));
    errors
}

/// The ConfigMap with the audit policy has a name.
pub(super) fn audit(config: Option<&AuditConfig>, at: &Path, errors: &mut FieldErrors) {
    let reference = config.and_then(|config| config.audit_policy.as_ref()?.config_map_ref.as_ref());
    if reference.is_some_and(|reference| reference.name.as_deref().unwrap_or_default().is_empty()) {
        let name = at.child("auditPolicy").child("configMapRef").child("name");
        errors.push(Error::required(&name, "must provide a name"));
    }
}

/// Sizes of watch caches are not negative, and are those of a resource.
pub(super) fn watch_caches(sizes: Option<&WatchCacheSizes>, at: &Path, errors: &mut FieldErrors) {
    let Some(sizes) = sizes else { return };
    not_negative(sizes.default.unwrap_or_default().into(), &at.child("default"), errors);
    let resources = at.child("resources");
    for (index, size) in sizes.resources.iter().enumerate() {
        let at = resources.index(index);
        if size.resource.is_empty() {
            errors.push(Error::required(&at.child("resource"), "must not be empty"));
        }
        not_negative(size.size.into(), &at.child("size"), errors);
    }
}

/// Verbosity is not negative.
pub(super) fn logging(logging: Option<&ApiServerLogging>, at: &Path, errors: &mut FieldErrors) {
    let Some(logging) = logging else { return };
    not_negative(logging.verbosity.unwrap_or_default().into(), &at.child("verbosity"), errors);
    let verbosity = logging.http_access_verbosity.unwrap_or_default();
    not_negative(verbosity.into(), &at.child("httpAccessVerbosity"), errors);
}

/// Limits of requests are not negative, and not too high.
pub(super) fn requests(requests: Option<&ApiServerRequests>, at: &Path, errors: &mut FieldErrors) {
    let Some(requests) = requests else { return };
    let limits = [
        ("maxNonMutatingInflight", requests.max_non_mutating_inflight, 800),
        ("maxMutatingInflight", requests.max_mutating_inflight, 400),
    ];
    for (field, limit, highest) in limits {
        let (limit, at) = (i64::from(limit.unwrap_or_default()), at.child(field));
        not_negative(limit, &at, errors);
        if limit > highest {
            errors.push(Error::invalid(&at, limit, &format!("cannot set higher than {highest}")));
        }
    }
}

fn service_accounts(tokens: &ServiceAccountConfig, at: &Path, errors: &mut FieldErrors) {
    if let Some(longest) = read(tokens.max_token_expiration.as_ref()) {
        let at = at.child("maxTokenExpiration");
        if longest.nanos() < 0 {
            errors.push(Error::invalid(&at, Shown::verbatim(longest), "can not be negative"));
        }
        if longest.nanos() > 0 && longest < GoDuration::from_seconds(720 * HOUR) {
            errors.push(Error::forbidden(&at, "must be at least 720h (30d)"));
        }
        if longest > GoDuration::from_seconds(2160 * HOUR) {
            errors.push(Error::forbidden(&at, "must be at most 2160h (90d)"));
        }
    }
    let issuers = at.child("acceptedIssuers");
    let mut seen: BTreeSet<&String> = tokens.issuer.iter().collect();
    for (index, issuer) in tokens.accepted_issuers.iter().enumerate() {
        let at = issuers.index(index);
        if seen.insert(issuer) {
            continue;
        }
        errors.push(if tokens.issuer.as_ref() == Some(issuer) {
            let text = format!("acceptedIssuers cannot contains the issuer field value: {issuer}");
            Error::invalid(&at, issuer, &text)
        } else {
            Error::duplicate(&at, issuer)
        });
    }
}

fn event_ttl(ttl: Option<&Duration>, at: &Path, errors: &mut FieldErrors) {
    let Some(ttl) = read(ttl) else { return };
    if ttl.nanos() < 0 {
        errors.push(Error::invalid(at, Shown::verbatim(ttl), "can not be negative"));
    }
    if ttl > GoDuration::from_seconds(7 * 24 * HOUR) {
        errors.push(Error::invalid(at, Shown::verbatim(ttl), "can not be longer than 7d"));
    }
}

/// A duration, which was well-formed when the Garden was read.
fn read(duration: Option<&Duration>) -> Option<GoDuration> {
    GoDuration::parse(&duration?.0).ok()
}
