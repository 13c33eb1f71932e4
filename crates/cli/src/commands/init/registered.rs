//! What a registration tells of a webhook: paths, address, authority.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conformance::route;
use conformance::target::provider::selected;
use webhook::registration::{Registration, WebhookConfiguration};

use crate::targets;
use crate::terminal::Failure;

/// A registration that was read.
#[derive(Debug, Default)]
pub(super) struct Registered {
    /// Its webhooks.
    pub(super) webhooks: Vec<Registration>,
    /// What is written there, where it was read from a cluster.
    pub(super) content: Option<String>,
    /// `https://HOST:PORT`, where it names an address.
    pub(super) url: Option<String>,
    /// PEM of the authority, where it names an address.
    pub(super) authority: Option<String>,
    /// The providers whose namespaces it selects.
    pub(super) selected: BTreeSet<String>,
    /// Name and port of the Service, where it names one.
    pub(super) service: (String, u16),
}

impl Registered {
    /// Reads a file.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let configurations = targets::registered(file)?;
        let found = Self::of(&configurations);
        if found.webhooks.is_empty() {
            return Err(Failure::usage(format!("{} registers no webhook", file.display())));
        }
        Ok(found)
    }

    /// What configurations tell.
    pub(super) fn of(configurations: &[WebhookConfiguration]) -> Self {
        let webhooks: Vec<Registration> =
            configurations.iter().flat_map(|configuration| configuration.webhooks.clone()).collect();
        let addressed = webhooks.iter().find(|webhook| webhook.client_config.url.is_some());
        let service = webhooks.iter().find_map(|webhook| webhook.client_config.service.clone());
        let service = service.map(|service| (service.name, service.port.unwrap_or(443)));
        Self {
            url: addressed.and_then(|webhook| base(webhook.client_config.url.as_deref()?)),
            authority: addressed.and_then(|webhook| decoded(webhook.client_config.ca_bundle.as_deref()?)),
            service: service.unwrap_or_default(),
            content: None,
            selected: selected(configurations),
            webhooks,
        }
    }

    /// Where each webhook that contracts speak of may be.
    pub(super) fn paths(&self) -> BTreeMap<String, Vec<String>> {
        known(&self.webhooks)
    }
}

/// Where each webhook that contracts speak of may be: first where it is registered, then where it is by default.
pub(super) fn known(webhooks: &[Registration]) -> BTreeMap<String, Vec<String>> {
    let default = gardener_controlplane::webhooks::paths();
    let paths = default.into_iter().map(|(name, path)| {
        let is_it = |webhook: &&Registration| {
            webhook.name.split('.').next() == Some(name)
                || route::path(webhook).rsplit('/').next() == Some(name)
        };
        let mut paths: Vec<String> = webhooks.iter().filter(is_it).map(route::path).collect();
        paths.push(path);
        paths.dedup();
        (name.to_owned(), paths)
    });
    paths.collect()
}

fn base(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?']).next()?;
    Some(format!("{scheme}://{host}"))
}

fn decoded(bundle: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(bundle).ok()?).ok().filter(|pem| !pem.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn webhooks_are_known_by_name_or_path_and_asked_first_where_they_are_registered() {
        let webhooks: Vec<Registration> = serde_json::from_value(json!([
            {"name": "controlplane.aws.extensions.gardener.cloud", "clientConfig": {"service": {"path": "/webhooks/cp"}}},
            {"name": "other", "clientConfig": {"url": "https://a:1/webhooks/controlplaneexposure?x"}},
            {"name": "network", "clientConfig": {"service": {"path": "/network"}}},
        ]))
        .unwrap();
        let paths = known(&webhooks);
        assert_eq!(paths["controlplane"], ["/webhooks/cp", "/controlplane"]);
        assert_eq!(
            paths["controlplaneexposure"],
            ["/webhooks/controlplaneexposure", "/controlplaneexposure"]
        );
        assert_eq!(paths["controlplanebackup"], ["/controlplanebackup"]);
    }
}
