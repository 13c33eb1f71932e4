//! An audit policy of kube-apiserver: its kind, its fields and their values.

use serde::Deserialize;
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::rejection::Rejection;

const GROUP: &str = "audit.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];
const POLICY: &str = "Policy";
const OTHER_KINDS: [&str; 3] = ["Event", "EventList", "PolicyList"];
const LEVELS: [&str; 4] = ["None", "Metadata", "Request", "RequestResponse"];
const STAGES: [&str; 4] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuditPolicy {
    rules: Vec<AuditRule>,
    omit_stages: Vec<String>,
    omit_managed_fields: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuditRule {
    level: String,
    users: Vec<String>,
    user_groups: Vec<String>,
    verbs: Vec<String>,
    resources: Vec<AuditResources>,
    namespaces: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    omit_stages: Vec<String>,
    omit_managed_fields: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuditResources {
    group: String,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

/// Judges the text of a policy. ADM-AUD-009 to -012.
pub(super) fn validate(text: &str) -> Result<(), Rejection> {
    let undecodable =
        |error: &str| Rejection::errored(422, format!("failed to decode the provided audit policy: {error}"));
    let document = formats::yaml::first_document(text.as_bytes());
    let document = document
        .map_err(|error| undecodable(&format!("couldn't get version/kind; json parse error: {error}")))?;
    let (version, kind) = version_and_kind(&document).map_err(|error| undecodable(&error))?;
    if kind != POLICY {
        let text = format!("failure to cast to audit Policy type: {GROUP}/{version}, Kind={kind}");
        return Err(Rejection::errored(500, text));
    }
    let policy: AuditPolicy =
        formats::json::typed(document.to_string().as_bytes()).map_err(|error| undecodable(&error))?;
    let errors: Vec<String> = check(&policy).iter().map(ToString::to_string).collect();
    if !errors.is_empty() {
        let text = format!("provided invalid audit policy: [{}]", errors.join(" "));
        return Err(Rejection::errored(422, text));
    }
    if version != VERSIONS[0] {
        let text = format!("audit policy with apiVersion '{version}' is not supported");
        return Err(Rejection::errored(422, text));
    }
    Ok(())
}

/// Version and kind of an object of the group.
fn version_and_kind(document: &Value) -> Result<(&str, &str), String> {
    if !document.is_object() {
        return Err("couldn't get version/kind; json parse error: expected an object".to_owned());
    }
    let text = |field: &str| document[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() {
        return Err(format!("Object 'Kind' is missing in '{document}'"));
    }
    if api_version.is_empty() {
        return Err(format!("Object 'apiVersion' is missing in '{document}'"));
    }
    let version = api_version.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix('/'));
    let version = version.filter(|version| VERSIONS.contains(version));
    version
        .filter(|_| kind == POLICY || OTHER_KINDS.contains(&kind))
        .map(|version| (version, kind))
        .ok_or_else(|| format!("no kind {kind:?} is registered for version {api_version:?}"))
}

fn check(policy: &AuditPolicy) -> Vec<Error> {
    let mut errors = Vec::new();
    check_stages(&policy.omit_stages, &Path::new("omitStages"), &mut errors);
    let rules = Path::new("rules");
    for (index, rule) in policy.rules.iter().enumerate() {
        check_rule(rule, &rules.index(index), &mut errors);
    }
    errors
}

fn check_rule(rule: &AuditRule, at: &Path, errors: &mut Vec<Error>) {
    let (level, urls) = (at.child("level"), at.child("nonResourceURLs"));
    if rule.level.is_empty() {
        errors.push(Error::required(&level, ""));
    } else if !LEVELS.contains(&rule.level.as_str()) {
        errors.push(Error::not_supported(&level, &rule.level, &LEVELS));
    }
    check_urls(&rule.non_resource_urls, &urls, errors);
    check_resources(&rule.resources, &at.child("resources"), errors);
    check_stages(&rule.omit_stages, &at.child("omitStages"), errors);
    let has_resources = !rule.resources.is_empty() || !rule.namespaces.is_empty();
    if !rule.non_resource_urls.is_empty() && has_resources {
        let detail = "rules cannot apply to both regular resources and non-resource URLs";
        errors.push(Error::invalid(&urls, Shown::from(&rule.non_resource_urls), detail));
    }
}

fn check_urls(urls: &[String], at: &Path, errors: &mut Vec<Error>) {
    for (index, url) in urls.iter().enumerate().filter(|(_, url)| *url != "*") {
        let at = at.index(index);
        if !url.starts_with('/') {
            errors.push(Error::invalid(&at, url, "non-resource URL rules must begin with a '/' character"));
        }
        let before_last = url.char_indices().next_back().map_or("", |(last, _)| &url[..last]);
        if before_last.contains('*') {
            let detail = "non-resource URL wildcards '*' must be the final character of the rule";
            errors.push(Error::invalid(&at, url, detail));
        }
    }
}

/// The paths of these errors have no index, as in Kubernetes.
fn check_resources(resources: &[AuditResources], at: &Path, errors: &mut Vec<Error>) {
    for AuditResources { group, resources, resource_names } in resources {
        let wrong = if group.is_empty() { Vec::new() } else { formats::name::dns1123_subdomain(group) };
        if !wrong.is_empty() {
            errors.push(Error::invalid(&at.child("group"), group, &wrong.join(",")));
        }
        if !resource_names.is_empty() && resources.is_empty() {
            let detail = "using resourceNames requires at least one resource";
            errors.push(Error::invalid(&at.child("resourceNames"), Shown::from(resource_names), detail));
        }
    }
}

fn check_stages(stages: &[String], at: &Path, errors: &mut Vec<Error>) {
    for (index, stage) in stages.iter().enumerate().filter(|(_, stage)| !STAGES.contains(&stage.as_str())) {
        let detail = format!("allowed stages are {}", STAGES.join(","));
        errors.push(Error::invalid(&at.index(index), stage, &detail));
    }
}
