//! Reads paths, address and CA of a webhook from its registration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conformance::gardener::provider::{named, selected};
use conformance::route;
use webhook::registration::{Phase, Registration, WebhookConfiguration};

use crate::catalog;
use crate::targets::{self, NOTHING_FOR_EXTENSIONS, is_named, not_ours, webhooks_of};
use crate::terminal::Failure;

/// The component of the webhooks of extensions.
const CONTROL_PLANE: &str = "controlplane";

/// What webhook configurations say about a provider's webhooks.
#[derive(Debug, Default)]
pub(super) struct RegistrationInfo {
    /// The webhooks.
    pub(super) webhooks: Vec<Registration>,
    /// The configurations as YAML, if they were read from a cluster.
    pub(super) content: Option<String>,
    /// `https://HOST:PORT`, if a webhook has a URL.
    pub(super) url: Option<String>,
    /// PEM of the CA, if a webhook has a URL.
    pub(super) authority: Option<String>,
    /// The providers whose namespaces the webhooks select.
    pub(super) selected: BTreeSet<String>,
    /// The provider after which the webhooks are named.
    pub(super) named: Option<String>,
    /// Name and port of the Service, if a webhook has one.
    pub(super) service: (String, u16),
    /// The webhooks that no contract is about, described.
    pub(super) not_ours: Vec<String>,
}

impl RegistrationInfo {
    /// Reads a file. One that registers nothing that a contract is about leaves nothing to verify.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let configurations = targets::read_registration(file)?;
        let found = Self::of(&configurations);
        let is_named_so = found.not_ours.len() < found.webhooks.len();
        if is_named_so || may_change_control_planes(&configurations)? {
            return Ok(found);
        }
        let text = match found.not_ours.as_slice() {
            [] => format!("{} registers no webhook: {NOTHING_FOR_EXTENSIONS}", file.display()),
            not_ours => format!(
                "{} registers no webhook that a contract is about, only {}: {NOTHING_FOR_EXTENSIONS}",
                file.display(),
                not_ours.join("; ")
            ),
        };
        Err(Failure { code: 4, text })
    }

    /// Extracts the information from configurations.
    pub(super) fn of(configurations: &[WebhookConfiguration]) -> Self {
        let webhooks: Vec<Registration> =
            configurations.iter().flat_map(|configuration| configuration.webhooks.clone()).collect();
        let addressed = webhooks.iter().find(|webhook| webhook.client_config.url.is_some());
        let service = webhooks.iter().find_map(|webhook| webhook.client_config.service.clone());
        let service = service.map(|service| (service.name, service.port.unwrap_or(443)));
        let not_ours = not_ours(&webhooks, &webhooks_of(&BTreeSet::from([CONTROL_PLANE])));
        Self {
            not_ours,
            url: addressed.and_then(|webhook| base_url(webhook.client_config.url.as_deref()?)),
            authority: addressed.and_then(|webhook| decode_pem(webhook.client_config.ca_bundle.as_deref()?)),
            service: service.unwrap_or_default(),
            content: None,
            selected: selected(configurations),
            named: named(configurations),
            webhooks,
        }
    }

    /// The candidate paths of each webhook that a contract is about.
    pub(super) fn paths(&self) -> BTreeMap<String, Vec<String>> {
        candidate_paths(&self.webhooks)
    }
}

/// The candidate paths of each webhook that a contract is about: first the registered ones, then the default one.
pub(super) fn candidate_paths(webhooks: &[Registration]) -> BTreeMap<String, Vec<String>> {
    let default = gardener_controlplane::webhooks::paths();
    let paths = default.into_iter().map(|(name, path)| {
        let of_name = webhooks.iter().filter(|webhook| is_named(webhook, name));
        let mut paths: Vec<String> = of_name.map(route::path).collect();
        paths.push(path);
        paths.dedup();
        (name.to_owned(), paths)
    });
    paths.collect()
}

/// Whether a mutating webhook receives objects that contracts about control planes are about, whatever it is named. One
/// without rules may.
fn may_change_control_planes(configurations: &[WebhookConfiguration]) -> Result<bool, Failure> {
    let index = catalog::index(None)?;
    let outlines = index.contracts().iter().filter(|outline| outline.component == CONTROL_PLANE);
    let handled: Vec<_> = outlines.flat_map(|outline| &outline.subject.handles).collect();
    let has = |names: &[String], name: &str| names.iter().any(|other| other == "*" || other == name);
    let mutating = configurations.iter().filter(|configuration| configuration.phase == Phase::Mutating);
    Ok(mutating.flat_map(|configuration| &configuration.webhooks).any(|webhook| {
        let mut rules = webhook.rules.iter();
        let receives = rules.any(|rule| {
            let mut handled = handled.iter();
            handled.any(|kind| has(&rule.api_groups, &kind.group) && has(&rule.resources, &kind.resource))
        });
        webhook.rules.is_empty() || receives
    }))
}

fn base_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?']).next()?;
    Some(format!("{scheme}://{host}"))
}

fn decode_pem(bundle: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(bundle).ok()?).ok().filter(|pem| !pem.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn webhooks_are_found_by_name_or_path_and_registered_paths_come_first() {
        let webhooks: Vec<Registration> = serde_json::from_value(json!([
            {"name": "controlplane.aws.extensions.gardener.cloud", "clientConfig": {"service": {"path": "/webhooks/cp"}}},
            {"name": "other", "clientConfig": {"url": "https://a:1/webhooks/controlplaneexposure?x"}},
            {"name": "network", "clientConfig": {"service": {"path": "/network"}}},
        ]))
        .unwrap();
        let paths = candidate_paths(&webhooks);
        assert_eq!(paths["controlplane"], ["/webhooks/cp", "/controlplane"]);
        assert_eq!(
            paths["controlplaneexposure"],
            ["/webhooks/controlplaneexposure", "/controlplaneexposure"]
        );
        assert_eq!(paths["controlplanebackup"], ["/controlplanebackup"]);
    }
}
