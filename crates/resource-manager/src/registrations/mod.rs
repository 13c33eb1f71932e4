//! Webhook configurations in gardenlet's form, for the webhooks that this instance serves.

mod mutating;
mod selectors;
mod validating;

use std::collections::BTreeMap;

use serde_json::Value;
use webhook::registration::{
    ClientConfig, FailurePolicy, MatchPolicy, Phase, Registration, Rule, ServiceReference,
    WebhookConfiguration,
};

use self::selectors::Selectors;
use crate::config::ResourceManagerConfiguration;

/// Which cluster an instance serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instance {
    /// It serves the cluster that it runs in: a seed.
    Seed,
    /// It runs in a seed and serves the cluster of a shoot.
    Shoot,
}

/// Name of the Service of an instance without prefix.
const SERVICE: &str = "gardener-resource-manager";
/// Namespace of a seed's instance.
const GARDEN: &str = "garden";

/// The address of the webhooks.
struct Address<'a> {
    instance: Instance,
    /// Name of the Service and value of the label `app`, prefix included.
    name: &'a str,
    namespace: &'a str,
    ca_bundle: Option<&'a str>,
}

impl Address<'_> {
    /// A shoot's API server reaches the instance by URL, a seed's by its Service: GRM-TIV-012, GRM-PTM-028, GRM-HAC-081,
    /// GRM-PSN-009, GRM-SEC-015, GRM-KSH-012, GRM-SCC-026, GRM-ESH-011, GRM-TSC-013.
    fn client_config(&self, path: &str) -> ClientConfig {
        let ca_bundle = self.ca_bundle.map(ToOwned::to_owned);
        let Address { name, namespace, .. } = self;
        match self.instance {
            Instance::Shoot => {
                let url = Some(format!("https://{name}.{namespace}:443{path}"));
                ClientConfig { url, service: None, ca_bundle }
            }
            Instance::Seed => {
                let path = Some(path.to_owned());
                let (name, namespace) = ((*name).to_owned(), (*namespace).to_owned());
                ClientConfig {
                    url: None,
                    service: Some(ServiceReference { namespace, name, path, port: None }),
                    ca_bundle,
                }
            }
        }
    }

    /// The common part of all registrations; it selects objects with any namespace and labels. GRM-CDP-022,
    /// GRM-EXV-320.
    fn registration(&self, name: String, path: &str, rules: Vec<Rule>) -> Registration {
        Registration {
            name,
            client_config: self.client_config(path),
            rules,
            failure_policy: Some(FailurePolicy::Fail),
            match_policy: Some(MatchPolicy::Exact),
            side_effects: Some("None".to_owned()),
            timeout_seconds: Some(10),
            admission_review_versions: vec!["v1beta1".to_owned(), "v1".to_owned()],
            ..Registration::default()
        }
    }
}

/// The webhook configurations for the enabled webhooks, the mutating one first; a configuration without webhooks is
/// omitted.
///
/// Name and namespace of the Service are those of the leader election, as gardenlet sets them.
/// `ca_bundle` is a PEM bundle in base64.
#[must_use]
pub fn registrations(
    config: &ResourceManagerConfiguration,
    instance: Instance,
    ca_bundle: Option<&str>,
) -> Vec<WebhookConfiguration> {
    let address = address(config, instance, ca_bundle);
    let mut labels = BTreeMap::from([(api::kubernetes::APP.to_owned(), address.name.to_owned())]);
    if instance == Instance::Seed {
        labels.insert(api::gardener::REMEDIATION_EXCLUDE.to_owned(), "true".to_owned());
    }
    let selectors = Selectors { instance, app: address.name };
    let suffix = match instance {
        Instance::Seed => "",
        Instance::Shoot => "-shoot",
    };
    let mutating = WebhookConfiguration {
        phase: Phase::Mutating,
        name: format!("{}{suffix}", address.name),
        labels: labels.clone(),
        webhooks: mutating::webhooks(&config.webhooks, &address, &selectors),
    };
    let validating = WebhookConfiguration {
        phase: Phase::Validating,
        name: address.name.to_owned(),
        labels,
        webhooks: validating::webhooks(&config.webhooks, &address),
    };
    [mutating, validating].into_iter().filter(|configuration| !configuration.webhooks.is_empty()).collect()
}

/// The webhook configurations as API objects, labels included.
///
/// A seed's configurations are excluded from the shoot care controller: a seed may be a shoot itself.
#[must_use]
pub fn objects(
    config: &ResourceManagerConfiguration,
    instance: Instance,
    ca_bundle: Option<&str>,
) -> Vec<Value> {
    registrations(config, instance, ca_bundle).iter().map(WebhookConfiguration::to_object).collect()
}

fn address<'a>(
    config: &'a ResourceManagerConfiguration,
    instance: Instance,
    ca_bundle: Option<&'a str>,
) -> Address<'a> {
    let or = |text: &'a str, otherwise| if text.is_empty() { otherwise } else { text };
    Address {
        instance,
        name: or(&config.leader_election.resource_name, SERVICE),
        namespace: or(&config.leader_election.resource_namespace, GARDEN),
        ca_bundle,
    }
}

/// A rule for resources of one group.
fn rule(group: &str, versions: &[&str], resources: &[&str], operations: &[&str]) -> Rule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rule {
        operations: owned(operations),
        api_groups: owned(&[group]),
        api_versions: owned(versions),
        resources: owned(resources),
        scope: None,
    }
}

#[cfg(test)]
mod tests;
