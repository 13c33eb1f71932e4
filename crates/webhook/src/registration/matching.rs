//! Decides whether a request is sent to a webhook.

use std::collections::BTreeMap;

use formats::selector::LabelSelector;
use serde_json::Value;

use super::{Attributes, MatchPolicy, Registration, Rule};
use crate::object;
use crate::review::{GroupVersionResource, Operation};

/// Resources of `admissionregistration.k8s.io` that no webhook receives, so that no webhook can prevent its own removal.
const EXEMPT: [&str; 6] = [
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
];

/// The resource under which the webhook receives the request, or `None` if it does not receive it.
///
/// This is the request's own resource or, under match policy `Equivalent`, the one of `attributes.equivalents` that a rule
/// matches; the object is converted to it before it is sent. `namespace_labels` are those of the request's Namespace; for a
/// Namespace that is created or updated, its own labels count. `object` is `None` for DELETE, `old_object` for CREATE.
#[must_use]
pub fn matches(
    registration: &Registration,
    attributes: &Attributes<'_>,
    namespace_labels: &BTreeMap<String, String>,
    object: Option<&Value>,
    old_object: Option<&Value>,
) -> Option<GroupVersionResource> {
    if attributes.group == "admissionregistration.k8s.io" && EXEMPT.contains(&attributes.resource) {
        return None;
    }
    let resource = matching_resource(registration, attributes)?;
    let selected =
        selects_namespace(registration.namespace_selector.as_ref(), attributes, namespace_labels, object)
            && selects_object(registration.object_selector.as_ref(), attributes, object, old_object);
    selected.then_some(resource)
}

fn matching_resource(
    registration: &Registration,
    attributes: &Attributes<'_>,
) -> Option<GroupVersionResource> {
    let own = (attributes.group, attributes.version, attributes.resource);
    let rules = &registration.rules;
    let named = |(group, version, resource): (&str, &str, &str)| GroupVersionResource {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: resource.to_owned(),
    };
    if rules.iter().any(|rule| rule_matches(rule, attributes, own)) {
        return Some(named(own));
    }
    if registration.match_policy.unwrap_or_default() == MatchPolicy::Exact {
        return None;
    }
    let equivalents = || attributes.equivalents.iter().map(|(g, v, r)| (g.as_str(), v.as_str(), r.as_str()));
    // The order of rules has precedence over that of equivalents.
    rules
        .iter()
        .find_map(|rule| equivalents().find(|other| *other != own && rule_matches(rule, attributes, *other)))
        .map(named)
}

fn rule_matches(
    rule: &Rule,
    attributes: &Attributes<'_>,
    (group, version, resource): (&str, &str, &str),
) -> bool {
    let operation = attributes.operation.map(|operation| operation.to_string()).unwrap_or_default();
    in_scope(rule, attributes, (group, version, resource))
        && includes(&rule.operations, &operation)
        && includes(&rule.api_groups, group)
        && includes(&rule.api_versions, version)
        && rule.resources.iter().any(|pattern| {
            let (name, subresource) = pattern.split_once('/').unwrap_or((pattern, ""));
            (name == "*" || name == resource) && (subresource == "*" || subresource == attributes.subresource)
        })
}

fn in_scope(rule: &Rule, attributes: &Attributes<'_>, resource: (&str, &str, &str)) -> bool {
    // A request for a Namespace carries its name as namespace, yet Namespaces are cluster-scoped.
    let in_cluster = attributes.namespace.is_empty() || resource == ("", "v1", "namespaces");
    match rule.scope.as_deref() {
        None | Some("*") => true,
        Some("Cluster") => in_cluster,
        Some("Namespaced") => !in_cluster,
        Some(_) => false,
    }
}

fn includes(patterns: &[String], value: &str) -> bool {
    patterns.iter().any(|pattern| pattern == "*" || pattern == value)
}

fn selects_namespace(
    selector: Option<&LabelSelector>,
    attributes: &Attributes<'_>,
    labels: &BTreeMap<String, String>,
    object: Option<&Value>,
) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return true };
    let about_namespaces = attributes.resource == "namespaces";
    if attributes.namespace.is_empty() && !about_namespaces {
        return true;
    }
    let own = about_namespaces
        && attributes.subresource.is_empty()
        && matches!(attributes.operation, Some(Operation::Create | Operation::Update));
    match object.filter(|_| own) {
        Some(namespace) => selects(selector, namespace),
        None => selector.matches(labels),
    }
}

fn selects_object(
    selector: Option<&LabelSelector>,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
    old_object: Option<&Value>,
) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return true };
    // CONNECT carries options, which have no labels to select by.
    attributes.operation != Some(Operation::Connect)
        && [object, old_object].into_iter().flatten().any(|object| selects(selector, object))
}

fn selects(selector: &LabelSelector, object: &Value) -> bool {
    selector.matches_by(|key| object::label(object, key).ok().flatten())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn registration(text: &Value) -> Registration {
        serde_json::from_value(text.clone()).unwrap()
    }

    fn named(group: &str, version: &str, resource: &str) -> GroupVersionResource {
        GroupVersionResource {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
        }
    }

    fn received_as(webhook: &Value, attributes: &Attributes<'_>) -> Option<GroupVersionResource> {
        matches(&registration(webhook), attributes, &BTreeMap::new(), Some(&json!({"metadata": {}})), None)
    }

    fn create<'a>(
        group: &'a str,
        version: &'a str,
        resource: &'a str,
        subresource: &'a str,
    ) -> Attributes<'a> {
        let operation = Some(Operation::Create);
        Attributes { group, version, resource, subresource, namespace: "ns", operation, ..Default::default() }
    }

    #[test]
    fn rules_match_operations_groups_versions_and_resources() {
        let table = [
            // operation, group, version, resource of the rule; request; whether the rule matches
            (["CREATE", "apps", "v1", "deployments"], create("apps", "v1", "deployments", ""), true),
            (["*", "*", "*", "*"], create("apps", "v1", "deployments", ""), true),
            (["*", "*", "*", "*/*"], create("apps", "v1", "deployments", "scale"), true),
            (["UPDATE", "apps", "v1", "deployments"], create("apps", "v1", "deployments", ""), false),
            (["CREATE", "", "v1", "deployments"], create("apps", "v1", "deployments", ""), false),
            (["CREATE", "apps", "v1beta1", "deployments"], create("apps", "v1", "deployments", ""), false),
            (["CREATE", "", "v1", "pods"], create("", "v1", "pods", "status"), false),
            (["CREATE", "", "v1", "*"], create("", "v1", "pods", "status"), false),
            (["CREATE", "", "v1", "pods/status"], create("", "v1", "pods", "status"), true),
            (["CREATE", "", "v1", "pods/*"], create("", "v1", "pods", "status"), true),
            // A wildcard of subresources also matches the resource itself.
            (["CREATE", "", "v1", "pods/*"], create("", "v1", "pods", ""), true),
            (["CREATE", "", "v1", "*/status"], create("", "v1", "pods", "status"), true),
            (["CREATE", "", "v1", "*/status"], create("", "v1", "pods", ""), false),
        ];
        for ([operation, group, version, resource], attributes, covered) in table {
            let rule = json!({"operations": [operation], "apiGroups": [group], "apiVersions": [version],
                "resources": [resource]});
            let want = covered.then(|| named(attributes.group, attributes.version, attributes.resource));
            assert_eq!(received_as(&json!({"rules": [rule]}), &attributes), want, "{rule} {attributes:?}");
        }
    }

    #[test]
    fn namespaces_are_cluster_scoped() {
        let table = [
            ("pods", "ns", json!("Namespaced"), true),
            ("pods", "ns", json!("Cluster"), false),
            ("pods", "ns", json!("*"), true),
            ("pods", "ns", json!("Other"), false),
            ("nodes", "", json!("Cluster"), true),
            ("nodes", "", json!("Namespaced"), false),
            ("namespaces", "ns", json!("Cluster"), true),
            ("namespaces", "ns", json!("Namespaced"), false),
        ];
        for (resource, namespace, scope, covered) in table {
            let rule = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
                "scope": scope});
            let attributes = Attributes { namespace, ..create("", "v1", resource, "") };
            let got = received_as(&json!({"rules": [rule]}), &attributes).is_some();
            assert_eq!(got, covered, "{resource} {scope}");
        }
    }

    #[test]
    fn equivalent_resources_match_the_earlier_rule_and_only_if_the_policy_allows() {
        let rule = |group: &str, version: &str| json!({"operations": ["*"], "apiGroups": [group], "apiVersions": [version], "resources": ["deployments"]});
        let equivalents = [
            ("apps".to_owned(), "v1".to_owned(), "deployments".to_owned()),
            ("extensions".to_owned(), "v1beta1".to_owned(), "deployments".to_owned()),
        ];
        let attributes =
            Attributes { equivalents: &equivalents, ..create("apps", "v1beta1", "deployments", "") };
        let table = [
            (json!({"rules": [rule("apps", "v1")]}), Some(named("apps", "v1", "deployments"))),
            (json!({"rules": [rule("apps", "v1")], "matchPolicy": "Exact"}), None),
            (
                json!({"rules": [rule("apps", "v1"), rule("apps", "v1beta1")]}),
                Some(named("apps", "v1beta1", "deployments")),
            ),
            (
                json!({"rules": [rule("extensions", "v1beta1"), rule("apps", "v1")], "matchPolicy": "Equivalent"}),
                Some(named("extensions", "v1beta1", "deployments")),
            ),
            (json!({"rules": [rule("batch", "v1")]}), None),
        ];
        for (webhook, want) in table {
            assert_eq!(received_as(&webhook, &attributes), want, "{webhook}");
        }
    }

    fn everything(selectors: &Value) -> Registration {
        let mut webhook = json!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["*/*"]}]});
        webhook.as_object_mut().unwrap().extend(selectors.as_object().unwrap().clone());
        registration(&webhook)
    }

    #[test]
    fn the_namespace_selector_uses_the_labels_of_the_right_namespace() {
        let webhook = everything(&json!({"namespaceSelector": {"matchLabels": {"team": "a"}}}));
        let none = everything(&json!({"namespaceSelector": {}}));
        let (a, b) =
            (json!({"metadata": {"labels": {"team": "a"}}}), json!({"metadata": {"labels": {"team": "b"}}}));
        let labels = |team: &str| BTreeMap::from([("team".to_owned(), team.to_owned())]);
        let request = |resource, namespace, operation| Attributes {
            namespace,
            operation: Some(operation),
            ..create("", "v1", resource, "")
        };
        let table = [
            (request("pods", "ns", Operation::Create), "a", Some(&b), true),
            (request("pods", "ns", Operation::Create), "b", Some(&a), false),
            // The selector does not exclude cluster-scoped objects.
            (request("nodes", "", Operation::Create), "b", Some(&b), true),
            // A Namespace has its new labels, on deletion its current ones.
            (request("namespaces", "ns", Operation::Create), "b", Some(&a), true),
            (request("namespaces", "ns", Operation::Update), "a", Some(&b), false),
            (request("namespaces", "ns", Operation::Delete), "a", None, true),
            (request("namespaces", "ns", Operation::Delete), "b", None, false),
            (
                Attributes { subresource: "status", ..request("namespaces", "ns", Operation::Update) },
                "a",
                Some(&b),
                true,
            ),
        ];
        for (attributes, team, object, selected) in table {
            let got = matches(&webhook, &attributes, &labels(team), object, None).is_some();
            assert_eq!(got, selected, "{attributes:?} in {team}");
            assert!(matches(&none, &attributes, &labels(team), object, None).is_some());
        }
    }

    #[test]
    fn the_object_selector_matches_the_new_or_the_old_object() {
        let webhook = everything(&json!({"objectSelector": {"matchLabels": {"a": "b"}}}));
        let negative = everything(
            &json!({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": null}]}}),
        );
        let (with, without) = (json!({"metadata": {"labels": {"a": "b"}}}), json!({"metadata": {}}));
        let table = [
            // operation, new, old, selected by a=b, selected by !a
            (Operation::Create, Some(&with), None, true, false),
            (Operation::Create, Some(&without), None, false, true),
            (Operation::Update, Some(&without), Some(&with), true, true),
            (Operation::Update, Some(&with), Some(&with), true, false),
            (Operation::Delete, None, Some(&with), true, false),
            (Operation::Delete, None, None, false, false),
            (Operation::Connect, Some(&without), None, false, false),
        ];
        for (operation, object, old, positive, absent) in table {
            let attributes = Attributes { operation: Some(operation), ..create("", "v1", "pods", "") };
            let receives = |webhook| matches(webhook, &attributes, &BTreeMap::new(), object, old).is_some();
            assert_eq!(
                (receives(&webhook), receives(&negative)),
                (positive, absent),
                "{operation} {object:?} {old:?}"
            );
        }
    }

    #[test]
    fn webhook_configurations_are_never_sent_to_webhooks() {
        let webhook = everything(&json!({}));
        let table = [
            ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", false),
            ("admissionregistration.k8s.io", "validatingadmissionpolicybindings", false),
            ("example.com", "mutatingwebhookconfigurations", true),
        ];
        for (group, resource, sent) in table {
            let attributes = Attributes { namespace: "", ..create(group, "v1", resource, "") };
            let got = matches(&webhook, &attributes, &BTreeMap::new(), Some(&json!({})), None);
            assert_eq!(got.is_some(), sent, "{group} {resource}");
        }
    }
}
