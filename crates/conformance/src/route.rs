//! Finds the path of a target for a request: by its registration, as kube-apiserver does, or by name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schema::Kinds;
use webhook::registration::{Attributes, Phase, Registration, WebhookConfiguration, matches};
use webhook::review::GroupVersionResource;

use crate::exchange::Subject;
use crate::target::Running;

/// kube-apiserver's default timeout.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// One webhook for a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Path to post to.
    pub path: String,
    /// Declared timeout.
    pub timeout: Duration,
    /// Whether it supports v1.
    pub v1: bool,
    /// Whether it supports v1beta1.
    pub beta: bool,
}

/// The destination of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Routing {
    /// By the registration: to these, in order; possibly to none.
    Registered(Vec<Route>),
    /// Without a known registration: to this path.
    Named(Route),
    /// The webhook expects the object in another version, to which only a server can convert it.
    Converted(GroupVersionResource),
    /// No path is known for the webhook.
    Unknown,
}

/// The destination of a request about a subject.
#[must_use]
pub fn route(
    running: &dyn Running,
    webhook: &str,
    subject: &Subject,
    namespace_labels: &BTreeMap<String, String>,
) -> Routing {
    let Some(found) = registered(running, webhook) else { return named(running, webhook, subject, None) };
    let resource = &subject.resource;
    let equivalents = equivalents(resource);
    let attributes = Attributes {
        group: &resource.group,
        version: &resource.version,
        resource: &resource.resource,
        subresource: "",
        namespace: &subject.namespace,
        equivalents: &equivalents,
        operation: Some(subject.operation),
    };
    let mut routes = Vec::new();
    for registration in found {
        let matched = matches(
            registration,
            &attributes,
            namespace_labels,
            subject.object.as_ref(),
            subject.old_object.as_ref(),
        );
        match matched {
            Some(matched_resource) if matched_resource != *resource => {
                return Routing::Converted(matched_resource);
            }
            Some(_) => routes.push(of(registration)),
            None => {}
        }
    }
    Routing::Registered(routes)
}

/// The path of a webhook by name only, for requests that no server would send. A webhook of both phases has one path for each.
#[must_use]
pub fn named(running: &dyn Running, webhook: &str, subject: &Subject, phase: Option<Phase>) -> Routing {
    let paths = paths_of_phase(running, webhook, phase);
    // Webhooks with a path per kind end in the kind's name.
    let kind = format!("-{}", subject.kind.kind.to_lowercase());
    let path = paths.iter().find(|path| paths.len() > 1 && path.ends_with(&kind)).or(paths.first());
    let Some(path) = path else { return Routing::Unknown };
    let declared = registered(running, webhook)
        .and_then(|found| found.into_iter().map(of).find(|route| route.path == *path));
    let plain = Route { path: path.clone(), timeout: DEFAULT_TIMEOUT, v1: true, beta: true };
    Routing::Named(declared.unwrap_or(plain))
}

/// The paths of a webhook that are registered for a phase; all of them if none is, or the registration is unknown.
fn paths_of_phase(running: &dyn Running, webhook: &str, phase: Option<Phase>) -> Vec<String> {
    let all = running.paths(webhook);
    let configurations = running.registrations().unwrap_or_default().iter();
    let of_phase: BTreeSet<String> = configurations
        .filter(|configuration| Some(configuration.phase) == phase)
        .flat_map(|configuration| configuration.webhooks.iter().map(path))
        .collect();
    let chosen: Vec<String> = all.iter().filter(|path| of_phase.contains(*path)).cloned().collect();
    if chosen.is_empty() { all } else { chosen }
}

/// The registered webhooks of this name; `None` if the registration is unknown.
#[must_use]
pub fn registered<'a>(running: &'a dyn Running, webhook: &str) -> Option<Vec<&'a Registration>> {
    let paths = running.paths(webhook);
    let all = running.registrations()?.iter().flat_map(|configuration| &configuration.webhooks);
    Some(all.filter(|registration| paths.contains(&path(registration))).collect())
}

/// The webhook configurations of a target, reduced to one webhook; `None` if they are unknown.
#[must_use]
pub fn configurations(running: &dyn Running, webhook: &str) -> Option<Vec<WebhookConfiguration>> {
    let paths = running.paths(webhook);
    let reduced = running.registrations()?.iter().map(|configuration| {
        let mut reduced = configuration.clone();
        reduced.webhooks.retain(|registration| paths.contains(&path(registration)));
        reduced
    });
    Some(reduced.filter(|configuration| !configuration.webhooks.is_empty()).collect())
}

/// Merges several configurations into one with all webhooks and labels. A label that differs gets a value that lists the values of
/// all configurations, so that no expected value matches. `None` without configurations.
#[must_use]
pub fn merge_configurations(configurations: Vec<WebhookConfiguration>) -> Option<WebhookConfiguration> {
    let keys: BTreeSet<&String> = configurations.iter().flat_map(|found| found.labels.keys()).collect();
    let labels = keys.into_iter().map(|key| (key.clone(), label(&configurations, key))).collect();
    let whole = configurations.into_iter().reduce(|mut whole, other| {
        whole.webhooks.extend(other.webhooks);
        whole
    });
    whole.map(|whole| WebhookConfiguration { labels, ..whole })
}

/// The common value of a label, or the values of all configurations: `true in a, absent in b`.
fn label(configurations: &[WebhookConfiguration], key: &str) -> String {
    let value = |found: &WebhookConfiguration| found.labels.get(key).cloned();
    let values: BTreeSet<Option<String>> = configurations.iter().map(value).collect();
    if let [Some(value)] = values.iter().collect::<Vec<_>>().as_slice() {
        return value.clone();
    }
    let each = configurations
        .iter()
        .map(|found| format!("{} in {}", value(found).as_deref().unwrap_or("absent"), found.name));
    each.collect::<Vec<_>>().join(", ")
}

/// The path of a registration; `/` if it has no valid address.
#[must_use]
pub fn path(registration: &Registration) -> String {
    registration.client_config.address().map_or_else(|_| "/".to_owned(), |address| address.path)
}

fn of(registration: &Registration) -> Route {
    let versions = &registration.admission_review_versions;
    let timeout =
        registration.timeout_seconds.map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.into()));
    Route {
        path: path(registration),
        timeout,
        v1: versions.is_empty() || versions.iter().any(|version| version == "v1"),
        beta: versions.iter().any(|version| version == "v1beta1"),
    }
}

/// The same object in its other versions.
fn equivalents(resource: &GroupVersionResource) -> Vec<(String, String, String)> {
    let same = |other: &&schema::Resource| {
        other.group == resource.group
            && other.plural == resource.resource
            && other.version != resource.version
    };
    let others = Kinds::gardener().resources().filter(same);
    others.map(|other| (other.group.clone(), other.version.clone(), other.plural.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use webhook::registration::Phase;

    #[test]
    fn different_labels_of_several_configurations_are_listed() {
        let configuration = |name: &str, labels: &[(&str, &str)]| WebhookConfiguration {
            phase: Phase::Mutating,
            name: name.to_owned(),
            labels: labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            webhooks: Vec::new(),
        };
        let labels = |found: &[WebhookConfiguration]| {
            let labels = merge_configurations(found.to_vec()).map(|whole| whole.labels).unwrap_or_default();
            labels.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
        };
        let (a, b) = (configuration("a", &[("x", "true"), ("y", "1")]), configuration("b", &[("x", "true")]));
        let c = configuration("c", &[("x", "false")]);
        assert_eq!(labels(&[]), "");
        assert_eq!(labels(std::slice::from_ref(&a)), "x=true y=1");
        assert_eq!(labels(&[a.clone(), b.clone()]), "x=true y=1 in a, absent in b");
        assert_eq!(
            labels(&[b, c, a]),
            "x=true in b, false in c, true in a y=absent in b, absent in c, 1 in a"
        );
    }
}
