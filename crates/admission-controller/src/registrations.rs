//! The webhook configuration for the webhooks that this component serves.

use std::collections::BTreeMap;

use formats::selector::LabelSelector;
use serde_json::{Value, json};
use webhook::registration::{
    ClientConfig, FailurePolicy, MatchPolicy, Phase, Registration, Rule, ServiceReference,
    WebhookConfiguration,
};

use crate::config::AdmissionControllerConfiguration;
use crate::webhooks::{
    admission_plugin_secret, audit_policy, internal_domain, kubeconfig_secret, namespace_deletion,
    resource_size, seed_restriction,
};

/// Name of the Service and of the webhook configuration.
pub const NAME: &str = "gardener-admission-controller";
/// Namespace of the Service.
pub const NAMESPACE: &str = "garden";

const CORE: &str = "core.gardener.cloud";

/// The configuration, whose only phase is validation. `ca_bundle` is a PEM bundle in base64. ADM-ANS-004, ADM-ANS-005.
///
/// Without limits for the size of objects, there is no webhook for them. All of them fail closed: without them, clients
/// of seeds would work with what belongs to others.
#[must_use]
pub fn registrations(
    config: &AdmissionControllerConfiguration,
    ca_bundle: Option<&str>,
) -> Vec<WebhookConfiguration> {
    let entries = [
        Some(namespace_deletions()),
        Some(kubeconfig_secrets()),
        resource_sizes(config),
        Some(seed_restrictions()),
        Some(internal_domains()),
        Some(audit_policies()),
        Some(admission_plugin_secrets()),
    ];
    let webhooks = entries.into_iter().flatten().map(|entry| entry.registration(ca_bundle)).collect();
    vec![WebhookConfiguration {
        phase: Phase::Validating,
        name: NAME.to_owned(),
        labels: BTreeMap::new(),
        webhooks,
    }]
}

/// What differs between the webhooks.
struct Entry {
    name: &'static str,
    path: &'static str,
    rules: Vec<Rule>,
    namespaces: Option<LabelSelector>,
    objects: Option<LabelSelector>,
    matches: Option<MatchPolicy>,
}

impl Entry {
    fn new(name: &'static str, path: &'static str, rules: Vec<Rule>) -> Self {
        Self { name, path, rules, namespaces: None, objects: None, matches: None }
    }

    fn in_namespaces(self, selector: Value) -> Self {
        Self { namespaces: Some(selected(selector)), ..self }
    }

    fn registration(self, ca_bundle: Option<&str>) -> Registration {
        let service = ServiceReference {
            namespace: NAMESPACE.to_owned(),
            name: NAME.to_owned(),
            path: Some(self.path.to_owned()),
            port: None,
        };
        Registration {
            name: format!("{}.gardener.cloud", self.name),
            client_config: ClientConfig {
                url: None,
                service: Some(service),
                ca_bundle: ca_bundle.map(str::to_owned),
            },
            rules: self.rules,
            namespace_selector: self.namespaces,
            object_selector: self.objects,
            failure_policy: Some(FailurePolicy::Fail),
            match_policy: self.matches,
            side_effects: Some("None".to_owned()),
            timeout_seconds: Some(10),
            admission_review_versions: vec!["v1".to_owned(), "v1beta1".to_owned()],
            ..Registration::default()
        }
    }
}

fn namespace_deletions() -> Entry {
    let rules = vec![rule(&["DELETE"], "", "v1", &["namespaces"])];
    Entry::new("validate-namespace-deletion", namespace_deletion::PATH, rules).in_namespaces(projects())
}

fn kubeconfig_secrets() -> Entry {
    let rules = vec![rule(&["CREATE", "UPDATE"], "", "v1", &["secrets"])];
    Entry::new("validate-kubeconfig-secrets", kubeconfig_secret::PATH, rules)
        .in_namespaces(others_in_projects())
}

fn resource_sizes(config: &AdmissionControllerConfiguration) -> Option<Entry> {
    let limits = &config.server.resource_admission_configuration.as_ref()?.limits;
    let rules: Vec<Rule> = limits
        .iter()
        .map(|limit| Rule {
            operations: texts(&["CREATE", "UPDATE"]),
            api_groups: limit.api_groups.clone(),
            api_versions: limit.api_versions.clone(),
            resources: limit.resources.clone(),
            scope: None,
        })
        .collect();
    let entry = Entry::new("validate-resource-size", resource_size::PATH, rules);
    (!entry.rules.is_empty()).then(|| entry.in_namespaces(others_in_projects()))
}

fn seed_restrictions() -> Entry {
    let create = &["CREATE"];
    let rules = vec![
        rule(create, "", "v1", &["secrets", "serviceaccounts"]),
        rule(create, "rbac.authorization.k8s.io", "v1", &["clusterrolebindings"]),
        rule(create, "coordination.k8s.io", "v1", &["leases"]),
        rule(create, "certificates.k8s.io", "v1", &["certificatesigningrequests"]),
        rule(create, CORE, "v1beta1", &["backupentries", "internalsecrets", "shootstates"]),
        rule(create, "operations.gardener.cloud", "v1alpha1", &["bastions"]),
        rule(&["CREATE", "DELETE"], CORE, "v1beta1", &["backupbuckets"]),
        rule(&["CREATE", "UPDATE", "DELETE"], CORE, "v1beta1", &["seeds"]),
    ];
    let entry = Entry::new("seed-restriction", seed_restriction::PATH, rules);
    Entry { matches: Some(MatchPolicy::Equivalent), ..entry }
}

fn internal_domains() -> Entry {
    let rules = vec![rule(&["CREATE", "UPDATE", "DELETE"], "", "v1", &["secrets"])];
    let role = selected(json!({"matchLabels": {"gardener.cloud/role": "internal-domain"}}));
    let entry = Entry::new("internal-domain-secret", internal_domain::PATH, rules);
    Entry { objects: Some(role), ..entry }
}

fn audit_policies() -> Entry {
    let rules = vec![
        rule(&["CREATE", "UPDATE"], CORE, "*", &["shoots"]),
        rule(&["UPDATE"], "", "v1", &["configmaps"]),
    ];
    Entry::new("audit-policies", audit_policy::PATH, rules).in_namespaces(projects())
}

fn admission_plugin_secrets() -> Entry {
    let rules = vec![rule(&["UPDATE"], "", "v1", &["secrets"])];
    Entry::new("admission-plugin-secret", admission_plugin_secret::PATH, rules).in_namespaces(projects())
}

/// Namespaces of Projects.
fn projects() -> Value {
    json!({"matchLabels": {"gardener.cloud/role": "project"}})
}

/// Namespaces of Projects, without that of Gardener itself.
fn others_in_projects() -> Value {
    json!({"matchExpressions": [
        {"key": "gardener.cloud/role", "operator": "In", "values": ["project"]},
        {"key": "app", "operator": "NotIn", "values": ["gardener"]},
    ]})
}

fn selected(selector: Value) -> LabelSelector {
    serde_json::from_value(selector).expect("it is a selector")
}

fn rule(operations: &[&str], group: &str, version: &str, resources: &[&str]) -> Rule {
    Rule {
        operations: texts(operations),
        api_groups: texts(&[group]),
        api_versions: texts(&[version]),
        resources: texts(resources),
        scope: None,
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use controller::config::Configuration as _;

    use super::*;

    fn names(config: &Value) -> Vec<String> {
        let config = AdmissionControllerConfiguration::from_partial(config).unwrap();
        let made = registrations(&config, None);
        made.iter().flat_map(|made| &made.webhooks).map(|webhook| webhook.name.clone()).collect()
    }

    #[test]
    fn sizes_have_a_webhook_if_they_are_limited() {
        let limit = |resource: &str| json!({"apiGroups": ["*"], "apiVersions": ["*"], "resources": [resource], "size": "1k"});
        let config = json!({"server": {"resourceAdmissionConfiguration": {"limits": [limit("shoots"), limit("secrets")]}}});
        assert_eq!(
            names(&config),
            [
                "validate-namespace-deletion.gardener.cloud",
                "validate-kubeconfig-secrets.gardener.cloud",
                "validate-resource-size.gardener.cloud",
                "seed-restriction.gardener.cloud",
                "internal-domain-secret.gardener.cloud",
                "audit-policies.gardener.cloud",
                "admission-plugin-secret.gardener.cloud",
            ]
        );
        assert!(!names(&json!({})).contains(&"validate-resource-size.gardener.cloud".to_owned()));
        let config = AdmissionControllerConfiguration::from_partial(&config).unwrap();
        let made = registrations(&config, Some("Y2E="));
        let sizes = made[0].webhooks.iter().find(|webhook| webhook.name.contains("size")).unwrap();
        let resources: Vec<_> = sizes.rules.iter().map(|rule| rule.resources.clone()).collect();
        assert_eq!(resources, [["shoots"], ["secrets"]]);
        assert_eq!(sizes.client_config.ca_bundle.as_deref(), Some("Y2E="));
    }

    #[test]
    fn what_belongs_to_a_seed_is_judged_in_every_namespace() {
        let config = AdmissionControllerConfiguration::from_partial(&json!({})).unwrap();
        let made = registrations(&config, None);
        let restriction = made[0].webhooks.iter().find(|of| of.name.starts_with("seed-restriction")).unwrap();
        assert_eq!((&restriction.namespace_selector, &restriction.object_selector), (&None, &None));
        assert_eq!(restriction.match_policy, Some(MatchPolicy::Equivalent));
        let of = |operations: &[&str]| -> Vec<String> {
            let rules = restriction.rules.iter().filter(|rule| rule.operations == texts(operations));
            rules.flat_map(|rule| rule.resources.clone()).collect()
        };
        assert_eq!(of(&["CREATE", "UPDATE", "DELETE"]), ["seeds"]);
        assert_eq!(of(&["CREATE", "DELETE"]), ["backupbuckets"]);
        assert_eq!(
            of(&["CREATE"]),
            [
                "secrets",
                "serviceaccounts",
                "clusterrolebindings",
                "leases",
                "certificatesigningrequests",
                "backupentries",
                "internalsecrets",
                "shootstates",
                "bastions",
            ]
        );
    }
}
