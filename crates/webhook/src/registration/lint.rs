//! What an API server would refuse in a webhook configuration, in its words.

use std::collections::BTreeSet;

use formats::name;
use formats::selector::{LabelSelector, ViolationKind};

use super::{ClientConfig, Phase, Registration, Rule, ServiceReference, WebhookConfiguration};
use crate::field::{Error, Path};

/// Every fault of a configuration, in the order in which an API server reports them; empty if it would be accepted.
#[must_use]
pub fn lint(configuration: &WebhookConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    object_name(&configuration.name, &mut errors);
    let mut names = BTreeSet::new();
    for (index, webhook) in configuration.webhooks.iter().enumerate() {
        let at = Path::new("webhooks").index(index);
        registration(configuration.phase, webhook, &at, &mut errors);
        if !webhook.name.is_empty() && !names.insert(&webhook.name) {
            errors.push(Error::duplicate(&at.child("name"), &webhook.name));
        }
    }
    errors
}

fn object_name(name: &str, errors: &mut Vec<Error>) {
    let at = Path::new("metadata").child("name");
    if name.is_empty() {
        errors.push(Error::required(&at, "name or generateName is required"));
        return;
    }
    errors.extend(name::dns1123_subdomain(name).iter().map(|wrong| Error::invalid(&at, name, wrong)));
}

fn registration(phase: Phase, webhook: &Registration, at: &Path, errors: &mut Vec<Error>) {
    qualified_name(&webhook.name, &at.child("name"), errors);
    for (index, rule) in webhook.rules.iter().enumerate() {
        operations(rule, &at.child("rules").index(index), errors);
        groups_and_versions(rule, &at.child("rules").index(index), errors);
        resources(&rule.resources, &at.child("rules").index(index).child("resources"), errors);
        scope(rule, &at.child("rules").index(index).child("scope"), errors);
    }
    side_effects(webhook.side_effects.as_deref(), &at.child("sideEffects"), errors);
    if let Some(seconds) = webhook.timeout_seconds.filter(|seconds| !(1..=30).contains(seconds)) {
        let words = "the timeout value must be between 1 and 30 seconds";
        errors.push(Error::invalid(&at.child("timeoutSeconds"), i64::from(seconds), words));
    }
    selector(webhook.namespace_selector.as_ref(), &at.child("namespaceSelector"), errors);
    selector(webhook.object_selector.as_ref(), &at.child("objectSelector"), errors);
    if phase == Phase::Validating && webhook.reinvocation_policy.is_some() {
        errors.push(Error::forbidden(
            &at.child("reinvocationPolicy"),
            "may be given for mutating webhooks only",
        ));
    }
    client_config(&webhook.client_config, &at.child("clientConfig"), errors);
    review_versions(&webhook.admission_review_versions, &at.child("admissionReviewVersions"), errors);
}

fn qualified_name(name: &str, at: &Path, errors: &mut Vec<Error>) {
    let wrong = name::dns1123_subdomain(name);
    if name.is_empty() {
        errors.push(Error::required(at, ""));
    } else if !wrong.is_empty() {
        errors.push(Error::invalid(at, name, &wrong.join(",")));
    } else if name.split('.').count() < 3 {
        errors.push(Error::invalid(
            at,
            name,
            "should be a domain with at least three segments separated by dots",
        ));
    }
}

fn operations(rule: &Rule, at: &Path, errors: &mut Vec<Error>) {
    let at = at.child("operations");
    alone(&rule.operations, &at, "operations", errors);
    for (index, operation) in rule.operations.iter().enumerate() {
        let known = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
        if !known.contains(&operation.as_str()) {
            errors.push(Error::not_supported(&at.index(index), operation, &known));
        }
    }
}

fn groups_and_versions(rule: &Rule, at: &Path, errors: &mut Vec<Error>) {
    alone(&rule.api_groups, &at.child("apiGroups"), "API groups", errors);
    alone(&rule.api_versions, &at.child("apiVersions"), "API versions", errors);
    for (index, _) in rule.api_versions.iter().enumerate().filter(|(_, version)| version.is_empty()) {
        errors.push(Error::required(&at.child("apiVersions").index(index), ""));
    }
}

/// A list must not be empty, and `*` must stand alone in it.
fn alone(values: &[String], at: &Path, what: &str, errors: &mut Vec<Error>) {
    if values.is_empty() {
        errors.push(Error::required(at, ""));
    }
    if values.len() > 1 && values.iter().any(|value| value == "*") {
        let words = format!("if '*' is present, must not specify other {what}");
        errors.push(Error::invalid(at, values, &words));
    }
}

fn resources(resources: &[String], at: &Path, errors: &mut Vec<Error>) {
    if resources.is_empty() {
        errors.push(Error::required(at, ""));
    }
    let (mut whole, mut everywhere) = (BTreeSet::new(), BTreeSet::new());
    for (index, pattern) in resources.iter().enumerate() {
        if pattern.is_empty() {
            errors.push(Error::required(&at.index(index), ""));
        }
        let Some((resource, subresource)) = pattern.split_once('/') else { continue };
        let mut twice = |seen: bool, shown: String| {
            if seen {
                let words = format!("if '{shown}' is present, must not specify {pattern}");
                errors.push(Error::invalid(&at.index(index), pattern, &words));
            }
        };
        twice(whole.contains(resource), format!("{resource}/*"));
        twice(everywhere.contains(subresource), format!("*/{subresource}"));
        if subresource == "*" {
            whole.insert(resource);
        }
        if resource == "*" {
            everywhere.insert(subresource);
        }
    }
    let has = |wanted: &str| resources.iter().any(|pattern| pattern == wanted);
    if resources.len() > 1 && has("*/*") {
        errors.push(Error::invalid(at, resources, "if '*/*' is present, must not specify other resources"));
    }
    if has("*")
        && resources.iter().any(|pattern| !pattern.is_empty() && pattern != "*" && !pattern.contains('/'))
    {
        let words = "if '*' is present, must not specify other resources without subresources";
        errors.push(Error::invalid(at, resources, words));
    }
}

fn scope(rule: &Rule, at: &Path, errors: &mut Vec<Error>) {
    let known = ["*", "Cluster", "Namespaced"];
    if let Some(scope) = rule.scope.as_deref().filter(|scope| !known.contains(scope)) {
        errors.push(Error::not_supported(at, scope, &known));
    }
}

fn side_effects(side_effects: Option<&str>, at: &Path, errors: &mut Vec<Error>) {
    let known = ["None", "NoneOnDryRun"];
    match side_effects {
        None => {
            errors.push(Error::required(at, &format!("must specify one of {}", known.join(", "))));
        }
        Some(other) if !known.contains(&other) => errors.push(Error::not_supported(at, other, &known)),
        Some(_) => {}
    }
}

fn selector(selector: Option<&LabelSelector>, at: &Path, errors: &mut Vec<Error>) {
    for violation in selector.map(LabelSelector::validate).unwrap_or_default() {
        let at = at.child(&violation.field);
        errors.push(match violation.kind {
            ViolationKind::Required => Error::required(&at, &violation.message),
            ViolationKind::Forbidden => Error::forbidden(&at, &violation.message),
            ViolationKind::Invalid(value) => Error::invalid(&at, &value, &violation.message),
        });
    }
}

fn client_config(config: &ClientConfig, at: &Path, errors: &mut Vec<Error>) {
    match (&config.url, &config.service) {
        (Some(url), None) => check_url(url, &at.child("url"), errors),
        (None, Some(service)) => check_service(service, &at.child("service"), errors),
        _ => errors.push(Error::required(at, "exactly one of url or service is required")),
    }
}

fn check_url(url: &str, at: &Path, errors: &mut Vec<Error>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = if scheme.is_empty() { "" } else { rest.split('/').next().unwrap_or_default() };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if scheme != "https" {
        let words = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(Error::invalid(at, scheme, &words));
    }
    if host.is_empty() {
        errors.push(Error::invalid(at, host, &format!("host must be specified{FORM}")));
    }
    for (value, words) in [
        (user, "user information is not permitted in the URL"),
        (fragment, "fragments are not permitted in the URL"),
        (query, "query parameters are not permitted in the URL"),
    ] {
        if !value.is_empty() {
            errors.push(Error::invalid(at, value, words));
        }
    }
}

fn check_service(service: &ServiceReference, at: &Path, errors: &mut Vec<Error>) {
    for (name, value) in [("name", &service.name), ("namespace", &service.namespace)] {
        if value.is_empty() {
            errors.push(Error::required(&at.child(name), ""));
        }
    }
    if service.port == Some(0) {
        let words = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(Error::invalid(&at.child("port"), 0, words));
    }
    let Some(path) = service.path.as_deref().filter(|path| !matches!(*path, "" | "/")) else { return };
    let at = at.child("path");
    let mut invalid = |words: &str| errors.push(Error::invalid(&at, path, words));
    if path == "//" {
        return invalid("segment[0] may not be empty");
    }
    if !path.starts_with('/') {
        invalid("must start with a '/'");
    }
    // As the API server does, the first byte goes whatever it is.
    let steps = path.get(1..).unwrap_or_default();
    for (index, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            invalid(&format!("segment[{index}] may not be empty"));
            continue;
        }
        for wrong in name::dns1123_subdomain(step) {
            invalid(&format!("segment[{index}]: {wrong}"));
        }
    }
}

fn review_versions(versions: &[String], at: &Path, errors: &mut Vec<Error>) {
    if versions.is_empty() {
        errors.push(Error::required(at, "must specify one of v1, v1beta1"));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        if !seen.insert(version) {
            errors.push(Error::invalid(&at.index(index), version, "duplicate version"));
            continue;
        }
        for wrong in name::dns1035_label(version) {
            errors.push(Error::invalid(&at.index(index), version, &wrong));
        }
    }
    if !versions.iter().any(|version| matches!(version.as_str(), "v1" | "v1beta1")) {
        errors.push(Error::invalid(at, versions, "must include at least one of v1, v1beta1"));
    }
}
