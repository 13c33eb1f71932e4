//! Validates webhook configurations with the error messages of an API server.

use std::collections::BTreeSet;

use formats::name;
use formats::selector::{LabelSelector, ViolationKind};

use super::{ClientConfig, Phase, Registration, Rule, ServiceReference, WebhookConfiguration};
use crate::field::{Error, Path, Shown};
use crate::url::Url;

/// All errors of a configuration, in the order in which an API server reports them; empty if it is valid.
#[must_use]
pub fn lint(configuration: &WebhookConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    check_object_name(&configuration.name, &mut errors);
    let mut names = BTreeSet::new();
    for (index, webhook) in configuration.webhooks.iter().enumerate() {
        let at = Path::new("webhooks").index(index);
        check_registration(configuration.phase, webhook, &at, &mut errors);
        if !webhook.name.is_empty() && !names.insert(&webhook.name) {
            errors.push(Error::duplicate(&at.child("name"), &webhook.name));
        }
    }
    errors
}

fn check_object_name(name: &str, errors: &mut Vec<Error>) {
    let at = Path::new("metadata").child("name");
    if name.is_empty() {
        errors.push(Error::required(&at, "name or generateName is required"));
        return;
    }
    errors.extend(name::dns1123_subdomain(name).iter().map(|message| Error::invalid(&at, name, message)));
}

fn check_registration(phase: Phase, webhook: &Registration, at: &Path, errors: &mut Vec<Error>) {
    check_qualified_name(&webhook.name, &at.child("name"), errors);
    for (index, rule) in webhook.rules.iter().enumerate() {
        check_operations(rule, &at.child("rules").index(index), errors);
        check_groups_and_versions(rule, &at.child("rules").index(index), errors);
        check_resources(&rule.resources, &at.child("rules").index(index).child("resources"), errors);
        check_scope(rule, &at.child("rules").index(index).child("scope"), errors);
    }
    check_side_effects(webhook.side_effects.as_deref(), &at.child("sideEffects"), errors);
    if let Some(seconds) = webhook.timeout_seconds.filter(|seconds| !(1..=30).contains(seconds)) {
        let message = "the timeout value must be between 1 and 30 seconds";
        errors.push(Error::invalid(&at.child("timeoutSeconds"), i64::from(seconds), message));
    }
    check_selector(webhook.namespace_selector.as_ref(), &at.child("namespaceSelector"), errors);
    check_selector(webhook.object_selector.as_ref(), &at.child("objectSelector"), errors);
    if phase == Phase::Validating && webhook.reinvocation_policy.is_some() {
        errors.push(Error::forbidden(
            &at.child("reinvocationPolicy"),
            "may be given for mutating webhooks only",
        ));
    }
    errors.extend(lint_client_config(&webhook.client_config, &at.child("clientConfig")));
    check_review_versions(&webhook.admission_review_versions, &at.child("admissionReviewVersions"), errors);
}

fn check_qualified_name(name: &str, at: &Path, errors: &mut Vec<Error>) {
    let messages = name::dns1123_subdomain(name);
    if name.is_empty() {
        errors.push(Error::required(at, ""));
    } else if !messages.is_empty() {
        errors.push(Error::invalid(at, name, &messages.join(",")));
    } else if name.split('.').count() < 3 {
        errors.push(Error::invalid(
            at,
            name,
            "should be a domain with at least three segments separated by dots",
        ));
    }
}

fn check_operations(rule: &Rule, at: &Path, errors: &mut Vec<Error>) {
    let at = at.child("operations");
    check_wildcard_alone(&rule.operations, &at, "operations", errors);
    for (index, operation) in rule.operations.iter().enumerate() {
        let known = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
        if !known.contains(&operation.as_str()) {
            errors.push(Error::not_supported(&at.index(index), Shown::named(operation), &known));
        }
    }
}

fn check_groups_and_versions(rule: &Rule, at: &Path, errors: &mut Vec<Error>) {
    check_wildcard_alone(&rule.api_groups, &at.child("apiGroups"), "API groups", errors);
    check_wildcard_alone(&rule.api_versions, &at.child("apiVersions"), "API versions", errors);
    for (index, _) in rule.api_versions.iter().enumerate().filter(|(_, version)| version.is_empty()) {
        errors.push(Error::required(&at.child("apiVersions").index(index), ""));
    }
}

/// Checks that a list is not empty, and that `*` is its only element if present.
fn check_wildcard_alone(values: &[String], at: &Path, what: &str, errors: &mut Vec<Error>) {
    if values.is_empty() {
        errors.push(Error::required(at, ""));
    }
    if values.len() > 1 && values.iter().any(|value| value == "*") {
        let message = format!("if '*' is present, must not specify other {what}");
        errors.push(Error::invalid(at, values, &message));
    }
}

fn check_resources(resources: &[String], at: &Path, errors: &mut Vec<Error>) {
    if resources.is_empty() {
        errors.push(Error::required(at, ""));
    }
    let (mut all_subresources, mut all_resources) = (BTreeSet::new(), BTreeSet::new());
    for (index, pattern) in resources.iter().enumerate() {
        if pattern.is_empty() {
            errors.push(Error::required(&at.index(index), ""));
        }
        let Some((resource, subresource)) = pattern.split_once('/') else { continue };
        let mut check_overlap = |overlaps: bool, wildcard: String| {
            if overlaps {
                let message = format!("if '{wildcard}' is present, must not specify {pattern}");
                errors.push(Error::invalid(&at.index(index), pattern, &message));
            }
        };
        check_overlap(all_subresources.contains(resource), format!("{resource}/*"));
        check_overlap(all_resources.contains(subresource), format!("*/{subresource}"));
        if subresource == "*" {
            all_subresources.insert(resource);
        }
        if resource == "*" {
            all_resources.insert(subresource);
        }
    }
    let has = |wanted: &str| resources.iter().any(|pattern| pattern == wanted);
    if resources.len() > 1 && has("*/*") {
        errors.push(Error::invalid(at, resources, "if '*/*' is present, must not specify other resources"));
    }
    if has("*")
        && resources.iter().any(|pattern| !pattern.is_empty() && pattern != "*" && !pattern.contains('/'))
    {
        let message = "if '*' is present, must not specify other resources without subresources";
        errors.push(Error::invalid(at, resources, message));
    }
}

fn check_scope(rule: &Rule, at: &Path, errors: &mut Vec<Error>) {
    let known = ["*", "Cluster", "Namespaced"];
    if let Some(scope) = rule.scope.as_deref().filter(|scope| !known.contains(scope)) {
        errors.push(Error::not_supported(at, Shown::named(scope), &known));
    }
}

fn check_side_effects(side_effects: Option<&str>, at: &Path, errors: &mut Vec<Error>) {
    let known = ["None", "NoneOnDryRun"];
    match side_effects {
        None => {
            errors.push(Error::required(at, &format!("must specify one of {}", known.join(", "))));
        }
        Some(other) if !known.contains(&other) => {
            errors.push(Error::not_supported(at, Shown::named(other), &known));
        }
        Some(_) => {}
    }
}

fn check_selector(selector: Option<&LabelSelector>, at: &Path, errors: &mut Vec<Error>) {
    for violation in selector.map(LabelSelector::validate).unwrap_or_default() {
        let at = at.child(&violation.field);
        errors.push(match violation.kind {
            ViolationKind::Required => Error::required(&at, &violation.message),
            ViolationKind::Forbidden => Error::forbidden(&at, &violation.message),
            ViolationKind::Invalid(value) => Error::invalid(&at, &value, &violation.message),
        });
    }
}

/// All errors of the client configuration at this field, as [`lint`] reports them.
#[must_use]
pub fn lint_client_config(config: &ClientConfig, at: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    match (&config.url, &config.service) {
        (Some(url), None) => check_url(url, &at.child("url"), &mut errors),
        (None, Some(service)) => check_service(service, &at.child("service"), &mut errors),
        _ => errors.push(Error::required(at, "exactly one of url or service is required")),
    }
    errors
}

fn check_url(url: &str, at: &Path, errors: &mut Vec<Error>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = match Url::parse(url) {
        Ok(url) => url,
        Err(error) => {
            errors.push(Error::required(at, &format!("url must be a valid URL: {error}{FORM}")));
            return;
        }
    };
    if url.scheme != "https" {
        let message = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(Error::invalid(at, url.scheme.as_str(), &message));
    }
    if url.host.is_empty() {
        errors.push(Error::invalid(at, "", &format!("host must be specified{FORM}")));
    }
    if let Some(user) = &url.user {
        errors.push(Error::invalid(at, user.as_str(), "user information is not permitted in the URL"));
    }
    for (value, message) in [
        (&url.fragment, "fragments are not permitted in the URL"),
        (&url.query, "query parameters are not permitted in the URL"),
    ] {
        if !value.is_empty() {
            errors.push(Error::invalid(at, value.as_str(), message));
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
        let message = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(Error::invalid(&at.child("port"), 0, message));
    }
    let Some(path) = service.path.as_deref().filter(|path| !matches!(*path, "" | "/")) else { return };
    let at = at.child("path");
    let mut invalid = |message: &str| errors.push(Error::invalid(&at, path, message));
    if path == "//" {
        return invalid("segment[0] may not be empty");
    }
    if !path.starts_with('/') {
        invalid("must start with a '/'");
    }
    // Like the API server, drops the first byte whatever it is.
    let steps = path.get(1..).unwrap_or_default();
    for (index, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            invalid(&format!("segment[{index}] may not be empty"));
            continue;
        }
        for message in name::dns1123_subdomain(step) {
            invalid(&format!("segment[{index}]: {message}"));
        }
    }
}

fn check_review_versions(versions: &[String], at: &Path, errors: &mut Vec<Error>) {
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
        for message in name::dns1035_label(version) {
            errors.push(Error::invalid(&at.index(index), version, &message));
        }
    }
    if !versions.iter().any(|version| matches!(version.as_str(), "v1" | "v1beta1")) {
        errors.push(Error::invalid(at, versions, "must include at least one of v1, v1beta1"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn good() -> Value {
        json!({
            "name": "a.b.c", "sideEffects": "None", "timeoutSeconds": 10, "admissionReviewVersions": ["v1", "v1beta1"],
            "clientConfig": {"service": {"namespace": "n", "name": "s", "path": "/webhooks/x"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        })
    }

    fn errors(phase: Phase, webhooks: Vec<Value>) -> Vec<String> {
        let webhooks = webhooks.into_iter().map(|webhook| serde_json::from_value(webhook).unwrap()).collect();
        let configuration = WebhookConfiguration {
            phase,
            name: "x".to_owned(),
            labels: std::collections::BTreeMap::new(),
            webhooks,
        };
        lint(&configuration).iter().map(ToString::to_string).collect()
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of all errors")]
    fn every_error_has_kubernetes_message() {
        let rule = |field: &str, value: Value| {
            let mut webhook = good();
            webhook["rules"][0][field] = value;
            webhook
        };
        let with = |field: &str, value: Value| {
            let mut webhook = good();
            webhook[field] = value;
            webhook
        };
        let url = |url: &str| with("clientConfig", json!({"url": url}));
        let service = |field: &str, value: Value| {
            let mut webhook = good();
            webhook["clientConfig"]["service"][field] = value;
            webhook
        };
        let table: Vec<(Value, &[&str])> = vec![
            (good(), &[]),
            (url("https://h.ns:443/x"), &[]),
            (with("name", json!("")), &["name: Required value"]),
            (
                with("name", json!("a.b")),
                &[
                    r#"name: Invalid value: "a.b": should be a domain with at least three segments separated by dots"#,
                ],
            ),
            (
                with("sideEffects", json!(null)),
                &["sideEffects: Required value: must specify one of None, NoneOnDryRun"],
            ),
            (
                with("sideEffects", json!("Some")),
                &[r#"sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun""#],
            ),
            (
                with("timeoutSeconds", json!(31)),
                &["timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
            ),
            (
                with("timeoutSeconds", json!(0)),
                &["timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"],
            ),
            (
                with("admissionReviewVersions", json!([])),
                &["admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
            ),
            (
                with("admissionReviewVersions", json!(["v2", "v2"])),
                &[
                    r#"admissionReviewVersions[1]: Invalid value: "v2": duplicate version"#,
                    r#"admissionReviewVersions: Invalid value: []string{"v2", "v2"}: must include at least one of v1, v1beta1"#,
                ],
            ),
            (
                with("clientConfig", json!({})),
                &["clientConfig: Required value: exactly one of url or service is required"],
            ),
            (
                url("http://h"),
                &[
                    r#"clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]"#,
                ],
            ),
            (
                url("https://u:p@h/a?b=c#d"),
                &[
                    r#"clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL"#,
                    r#"clientConfig.url: Invalid value: "d": fragments are not permitted in the URL"#,
                    r#"clientConfig.url: Invalid value: "b=c": query parameters are not permitted in the URL"#,
                ],
            ),
            (
                url("https://"),
                &[
                    r#"clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]"#,
                ],
            ),
            (url("HTTPS://127.0.0.1:9943/"), &[]),
            (
                url("https://@h"),
                &[r#"clientConfig.url: Invalid value: "": user information is not permitted in the URL"#],
            ),
            (
                url("https://127.0.0.1:abc/"),
                &[
                    r#"clientConfig.url: Required value: url must be a valid URL: parse "https://127.0.0.1:abc/": invalid port ":abc" after host; desired format: https://host[/path]"#,
                ],
            ),
            (service("name", json!("")), &["clientConfig.service.name: Required value"]),
            (
                service("port", json!(0)),
                &[
                    "clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
                ],
            ),
            (
                service("path", json!("a//b")),
                &[
                    r#"clientConfig.service.path: Invalid value: "a//b": must start with a '/'"#,
                    r#"clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty"#,
                    r#"clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty"#,
                ],
            ),
            (
                service("path", json!("//")),
                &[r#"clientConfig.service.path: Invalid value: "//": segment[0] may not be empty"#],
            ),
            (service("path", json!("/")), &[]),
            (rule("operations", json!([])), &["rules[0].operations: Required value"]),
            (
                rule("operations", json!(["*", "EAT"])),
                &[
                    r#"rules[0].operations: Invalid value: []string{"*", "EAT"}: if '*' is present, must not specify other operations"#,
                    r#"rules[0].operations[1]: Unsupported value: "EAT": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE""#,
                ],
            ),
            (
                rule("apiGroups", json!(["", "*"])),
                &[
                    r#"rules[0].apiGroups: Invalid value: []string{"", "*"}: if '*' is present, must not specify other API groups"#,
                ],
            ),
            (rule("apiVersions", json!([""])), &["rules[0].apiVersions[0]: Required value"]),
            (rule("resources", json!([])), &["rules[0].resources: Required value"]),
            (rule("resources", json!([""])), &["rules[0].resources[0]: Required value"]),
            (
                rule("resources", json!(["pods/*", "pods/status"])),
                &[
                    r#"rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status"#,
                ],
            ),
            (
                rule("resources", json!(["*/status", "pods/status"])),
                &[
                    r#"rules[0].resources[1]: Invalid value: "pods/status": if '*/status' is present, must not specify pods/status"#,
                ],
            ),
            (
                rule("resources", json!(["*", "pods"])),
                &[
                    r#"rules[0].resources: Invalid value: []string{"*", "pods"}: if '*' is present, must not specify other resources without subresources"#,
                ],
            ),
            (
                rule("resources", json!(["*/*", "pods"])),
                &[
                    r#"rules[0].resources: Invalid value: []string{"*/*", "pods"}: if '*/*' is present, must not specify other resources"#,
                ],
            ),
            (
                rule("scope", json!("Here")),
                &[
                    r#"rules[0].scope: Unsupported value: "Here": supported values: "*", "Cluster", "Namespaced""#,
                ],
            ),
            (
                with("namespaceSelector", json!({"matchExpressions": [{"key": "a", "operator": "In"}]})),
                &[
                    "namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
                ],
            ),
            (
                with(
                    "objectSelector",
                    json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}),
                ),
                &[
                    "objectSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ],
            ),
        ];
        for (webhook, want) in table {
            let want: Vec<String> = want.iter().map(|text| format!("webhooks[0].{text}")).collect();
            assert_eq!(errors(Phase::Mutating, vec![webhook.clone()]), want, "{webhook}");
        }
    }

    #[test]
    fn names_are_unique_and_policies_belong_to_their_phase() {
        let twice = vec![good(), good()];
        assert_eq!(errors(Phase::Mutating, twice), [r#"webhooks[1].name: Duplicate value: "a.b.c""#]);
        let mut again = good();
        again["reinvocationPolicy"] = json!("IfNeeded");
        assert_eq!(errors(Phase::Mutating, vec![again.clone()]), Vec::<String>::new());
        assert_eq!(
            errors(Phase::Validating, vec![again]),
            ["webhooks[0].reinvocationPolicy: Forbidden: may be given for mutating webhooks only"]
        );
        for (name, fault) in
            [("", "metadata.name: Required value: "), ("A", "metadata.name: Invalid value: \"A\": ")]
        {
            let empty = WebhookConfiguration {
                phase: Phase::Mutating,
                name: name.to_owned(),
                labels: std::collections::BTreeMap::new(),
                webhooks: Vec::new(),
            };
            let faults = lint(&empty);
            assert!(faults.len() == 1 && faults[0].to_string().starts_with(fault), "{faults:?}");
        }
    }
}
