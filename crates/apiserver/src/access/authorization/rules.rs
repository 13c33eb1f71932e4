//! Rules of roles: what they allow, what they cover, and their text in errors.

use serde::{Deserialize, Serialize};

use super::access_request::{AccessRequest, AccessTarget, with_subresource};

/// A rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PolicyRule {
    /// The allowed verbs; `*` means all.
    pub(crate) verbs: Vec<String>,
    /// The API groups; `*` means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) api_groups: Vec<String>,
    /// The resources: `pods`, `pods/log`, `*`, `*/scale`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resources: Vec<String>,
    /// The names of the objects; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resource_names: Vec<String>,
    /// The non-resource paths; a `*` at the end matches any suffix.
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub(crate) non_resource_urls: Vec<String>,
}

impl PolicyRule {
    /// Whether the rule allows the access.
    pub(super) fn allows(&self, request: &AccessRequest) -> bool {
        if !has(&self.verbs, &request.verb) {
            return false;
        }
        match &request.target {
            AccessTarget::Path(path) => self.non_resource_urls.iter().any(|rule| url_covers(rule, path)),
            AccessTarget::Resource { group, resource, subresource, name, .. } => {
                has(&self.api_groups, group)
                    && self.names_resource(&with_subresource(resource, subresource), subresource)
                    && (self.resource_names.is_empty() || self.resource_names.contains(name))
            }
        }
    }

    /// Splits the rule into rules of one verb, group, resource, name or path each.
    pub(super) fn breakdown(&self) -> Vec<Self> {
        let one = |text: &String| vec![text.clone()];
        let mut parts = Vec::new();
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    let part = Self {
                        verbs: one(verb),
                        api_groups: one(group),
                        resources: one(resource),
                        ..Self::default()
                    };
                    if self.resource_names.is_empty() {
                        parts.push(part.clone());
                    }
                    let named = |name| Self { resource_names: one(name), ..part.clone() };
                    parts.extend(self.resource_names.iter().map(named));
                }
            }
        }
        for url in &self.non_resource_urls {
            let part = |verb| Self { verbs: one(verb), non_resource_urls: one(url), ..Self::default() };
            parts.extend(self.verbs.iter().map(part));
        }
        parts
    }

    /// Whether this rule grants all that a split rule grants.
    pub(super) fn covers(&self, part: &Self) -> bool {
        let verbs = part.verbs.iter().all(|verb| has(&self.verbs, verb));
        let groups = part.api_groups.iter().all(|group| has(&self.api_groups, group));
        let resources = part.resources.iter().all(|resource| {
            let subresource = resource.split_once('/').map_or("", |(_, subresource)| subresource);
            self.names_resource(resource, subresource)
        });
        let names = self.resource_names.is_empty()
            || !part.resource_names.is_empty()
                && part.resource_names.iter().all(|name| self.resource_names.contains(name));
        let urls = part
            .non_resource_urls
            .iter()
            .all(|url| self.non_resource_urls.iter().any(|own| own == url || url_covers(own, url)));
        verbs && groups && resources && names && urls
    }

    /// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
    pub(super) fn format(&self) -> String {
        let lists = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let present = lists.iter().filter(|(_, list)| !list.is_empty());
        let texts: Vec<String> = present.map(|(name, list)| format!("{name}:{}", quoted(list))).collect();
        format!("{{{}}}", texts.join(", "))
    }

    fn names_resource(&self, combined: &str, subresource: &str) -> bool {
        let everywhere = |rule: &String| {
            !subresource.is_empty() && rule.strip_prefix("*/").is_some_and(|rest| rest == subresource)
        };
        self.resources.iter().any(|rule| rule == "*" || rule == combined || everywhere(rule))
    }
}

/// The rules in `wanted` that `granted` does not cover, as sorted texts; rules that differ only in their verbs are
/// merged.
pub(super) fn missing_permissions(granted: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<String> {
    let mut missing: Vec<PolicyRule> = Vec::new();
    let parts = wanted.iter().flat_map(PolicyRule::breakdown);
    for part in parts.filter(|part| !granted.iter().any(|rule| rule.covers(part))) {
        let same = |other: &&mut PolicyRule| {
            other.api_groups == part.api_groups
                && other.resources == part.resources
                && other.resource_names == part.resource_names
                && other.non_resource_urls == part.non_resource_urls
        };
        match missing.iter_mut().find(same) {
            Some(other) => other.verbs.extend(part.verbs),
            None => missing.push(part),
        }
    }
    let mut texts: Vec<String> = missing.iter().map(PolicyRule::format).collect();
    texts.sort();
    texts
}

/// `["a" "b"]`, as Go prints a list of quoted strings.
pub(super) fn quoted(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(" "))
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|found| found == "*" || found == wanted)
}

fn url_covers(rule: &str, path: &str) -> bool {
    rule == "*" || rule == path || rule.strip_suffix('*').is_some_and(|start| path.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::User;
    use serde_json::json;

    fn rule(value: serde_json::Value) -> PolicyRule {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn rules_allow_what_they_name() {
        let access = |verb: &str, group: &str, resource: &str, subresource: &str, name: &str| AccessRequest {
            user: User::default(),
            verb: verb.to_owned(),
            target: AccessTarget::Resource {
                group: group.to_owned(),
                resource: resource.to_owned(),
                subresource: subresource.to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
            },
        };
        let pods = rule(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}));
        let named =
            rule(json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"]}));
        let scale = rule(json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*/scale"]}));
        let table = [
            (&pods, access("get", "", "pods", "", "x"), true),
            (&pods, access("list", "", "pods", "", ""), false),
            (&pods, access("get", "apps", "pods", "", "x"), false),
            (&pods, access("get", "", "pods", "log", "x"), false),
            (&named, access("get", "", "pods", "", "x"), true),
            (&named, access("get", "", "pods", "", "y"), false),
            (&named, access("get", "", "pods", "", ""), false),
            (&scale, access("patch", "apps", "deployments", "scale", "x"), true),
            (&scale, access("patch", "apps", "deployments", "", "x"), false),
        ];
        for (rule, request, want) in table {
            assert_eq!(rule.allows(&request), want, "{rule:?} {request:?}");
        }
        let urls = rule(json!({"verbs": ["get"], "nonResourceURLs": ["/api/*", "/version"]}));
        for (path, want) in [("/api/v1", true), ("/version", true), ("/version/", false), ("/api", false)] {
            let request = AccessRequest {
                user: User::default(),
                verb: "get".to_owned(),
                target: AccessTarget::Path(path.to_owned()),
            };
            assert_eq!(urls.allows(&request), want, "{path}");
        }
    }

    #[test]
    fn missing_permissions_are_listed_rule_by_rule() {
        let granted = [rule(
            json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"]}),
        )];
        let wanted = [
            rule(json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["secrets", "pods"]})),
            rule(
                json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x", "y"]}),
            ),
            rule(json!({"verbs": ["get"], "nonResourceURLs": ["/x"]})),
        ];
        let want = [
            "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"y\"], Verbs:[\"get\"]}",
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}",
            "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}",
            "{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}",
        ];
        assert_eq!(missing_permissions(&granted, &wanted), want);
    }
}
