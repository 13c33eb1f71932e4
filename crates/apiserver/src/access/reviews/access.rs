//! SubjectAccessReviews and SelfSubjectRulesReviews.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::access::authorization::{AccessRequest, AccessTarget, user_rules};
use crate::call::{Call, User};
use crate::http::status::Status;
use crate::object::meta;
use crate::state::{Authorization, ServerState};

/// SelfSubjectAccessReview.
pub(super) fn self_access_review(
    shared: &ServerState,
    call: &Call,
    object: &mut Value,
) -> Result<(), Status> {
    let request =
        AccessRequest { user: call.user.clone(), ..requested_access(object, &attribute_errors(object))? };
    decide(shared, &request, object);
    Ok(())
}

/// SubjectAccessReview.
pub(super) fn subject_access_review(
    shared: &ServerState,
    _: &Call,
    object: &mut Value,
) -> Result<(), Status> {
    let request = requested_access(object, &subject_errors(object))?;
    decide(shared, &request, object);
    Ok(())
}

/// LocalSubjectAccessReview: about access in the namespace of the request.
pub(super) fn local_subject_access_review(
    shared: &ServerState,
    _: &Call,
    object: &mut Value,
) -> Result<(), Status> {
    let mut errors = subject_errors(object);
    let requested =
        object.pointer("/spec/resourceAttributes/namespace").and_then(Value::as_str).unwrap_or_default();
    if object.pointer("/spec/resourceAttributes").is_some() && requested != meta::namespace(object) {
        let at = Path::new("spec").child("resourceAttributes").child("namespace");
        errors.push(Error::invalid(&at, requested, "must match metadata.namespace"));
    }
    if object.pointer("/spec/nonResourceAttributes").is_some() {
        let at = Path::new("spec").child("nonResourceAttributes");
        let why = "disallowed on this kind of request";
        errors.push(Error::invalid(&at, go_path_attributes(object), why));
    }
    let request = requested_access(object, &errors)?;
    decide(shared, &request, object);
    Ok(())
}

/// SelfSubjectRulesReview.
pub(super) fn self_rules_review(shared: &ServerState, call: &Call, object: &mut Value) -> Result<(), Status> {
    let namespace = object.pointer("/spec/namespace").and_then(Value::as_str).unwrap_or_default().to_owned();
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let all = json!(["*"]);
    let (mut resources, mut others) = (Vec::new(), Vec::new());
    let mut missing = Vec::new();
    if shared.switches.authorization == Authorization::AlwaysAllow {
        resources.push(json!({"verbs": all, "apiGroups": all, "resources": all}));
        others.push(json!({"verbs": all, "nonResourceURLs": all}));
    } else {
        let granted = user_rules(shared, &call.user, &namespace);
        for (_, rule) in &granted.rules {
            let of_paths = !rule.non_resource_urls.is_empty();
            let value = serde_json::to_value(rule).unwrap_or_default();
            if of_paths { others.push(value) } else { resources.push(value) }
        }
        missing.clone_from(&granted.missing);
    }
    object["spec"] = json!({});
    object["status"] =
        json!({"resourceRules": resources, "nonResourceRules": others, "incomplete": !missing.is_empty()});
    if !missing.is_empty() {
        object["status"]["evaluationError"] = missing.join(", ").into();
    }
    Ok(())
}

fn decide(shared: &ServerState, request: &AccessRequest, object: &mut Value) {
    let decision = request.decide(shared);
    object["status"] = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        object["status"]["reason"] = decision.reason.into();
    }
}

/// The access that a review asks about, if the review is valid.
fn requested_access(object: &Value, errors: &[Error]) -> Result<AccessRequest, Status> {
    if !errors.is_empty() {
        return Err(Status::invalid("authorization.k8s.io", "", "", errors));
    }
    let spec = &object["spec"];
    let text =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let extra = spec.get("extra").and_then(Value::as_object).into_iter().flatten();
    let extra: BTreeMap<String, Vec<String>> =
        extra.map(|(key, values)| (key.to_lowercase(), texts(values))).collect();
    let user =
        User { name: text(spec, "user"), uid: text(spec, "uid"), groups: texts(&spec["groups"]), extra };
    let (attributes, target) = match spec.get("resourceAttributes") {
        Some(attributes) => {
            let target = AccessTarget::Resource {
                group: text(attributes, "group"),
                resource: text(attributes, "resource"),
                subresource: text(attributes, "subresource"),
                namespace: text(attributes, "namespace"),
                name: text(attributes, "name"),
            };
            (attributes, target)
        }
        None => {
            (&spec["nonResourceAttributes"], AccessTarget::Path(text(&spec["nonResourceAttributes"], "path")))
        }
    };
    Ok(AccessRequest { user, verb: text(attributes, "verb"), target })
}

fn attribute_errors(object: &Value) -> Vec<Error> {
    let spec = Path::new("spec");
    let has = |field: &str| object.pointer(field).is_some_and(|value| !value.is_null());
    match (has("/spec/resourceAttributes"), has("/spec/nonResourceAttributes")) {
        (true, true) => {
            let why = "cannot be specified in combination with resourceAttributes";
            vec![Error::invalid(&spec.child("nonResourceAttributes"), go_path_attributes(object), why)]
        }
        (false, false) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            vec![Error::invalid(&spec.child("resourceAttributes"), Shown::verbatim("null"), why)]
        }
        _ => Vec::new(),
    }
}

fn subject_errors(object: &Value) -> Vec<Error> {
    let mut errors = attribute_errors(object);
    let user = object.pointer("/spec/user").and_then(Value::as_str).unwrap_or_default();
    let groups = object.pointer("/spec/groups").and_then(Value::as_array);
    if user.is_empty() && groups.is_none_or(Vec::is_empty) {
        let why = "at least one of user or group must be specified";
        errors.push(Error::invalid(&Path::new("spec").child("user"), "", why));
    }
    errors
}

/// The non-resource attributes as Go prints them in messages: under the names of Go's fields.
fn go_path_attributes(object: &Value) -> Shown {
    let text = |field: &str| object["spec"]["nonResourceAttributes"][field].as_str().unwrap_or_default();
    Shown::verbatim(json!({"Path": text("path"), "Verb": text("verb")}))
}
