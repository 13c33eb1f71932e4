//! What a client of a seed may do: a pure function over a question and the graph.
//!
//! It allows, or has no opinion, so that the authorizers after it (RBAC) decide; it never denies.

mod exceptions;
mod rules;
#[cfg(test)]
mod tests;

use std::fmt;

use jiff::Timestamp;

use self::rules::{Rule, rule};
use crate::graph::{Graph, Vertex, VertexKind};
use crate::seed_identity::{SeedClient, identify};

/// A question about a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessQuestion {
    /// The user's name.
    pub user: String,
    /// The user's groups.
    pub groups: Vec<String>,
    /// What the user wants to do with which object; `None` for requests that are about no object.
    pub attributes: Option<ResourceAttributes>,
}

/// What a user wants to do with which object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceAttributes {
    /// API group; empty for the core group.
    pub group: String,
    /// Plural resource name.
    pub resource: String,
    /// Empty, or a name such as `status`.
    pub subresource: String,
    /// `get`, `list`, …
    pub verb: String,
    /// Empty for cluster-scoped objects, and for requests about all namespaces.
    pub namespace: String,
    /// Empty for requests about several objects.
    pub name: String,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessDecision {
    /// The user may.
    Allow,
    /// Others decide; the text is the reason why this authorizer does not allow it, and empty if it does not apply.
    NoOpinion(String),
}

/// What may be deleted without a path to the client's seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownDeletions {
    /// Objects that the graph does not know, as in the original: they exist nowhere, or nothing refers to them.
    #[default]
    Allowed,
    /// Nothing.
    Refused,
}

/// The graph as a question sees it.
pub trait Paths {
    /// Whether the object exists, or one that exists refers to it.
    fn has(&self, vertex: &Vertex) -> bool;
    /// Whether a path leads from one object to the other.
    fn reaches(&self, from: &Vertex, to: &Vertex) -> bool;
}

/// The graph at a time.
#[derive(Clone, Copy, Debug)]
pub struct GraphAt<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The time.
    pub now: Timestamp,
}

impl Paths for GraphAt<'_> {
    fn has(&self, vertex: &Vertex) -> bool {
        self.graph.has(vertex, self.now)
    }

    fn reaches(&self, from: &Vertex, to: &Vertex) -> bool {
        self.graph.reaches(from, to, self.now)
    }
}

/// Answers a question. ADM-AUT-002 to -007.
#[must_use]
pub fn decide(question: &AccessQuestion, paths: &dyn Paths, unknown: UnknownDeletions) -> AccessDecision {
    let not_asked = || AccessDecision::NoOpinion(String::new());
    let Some(client) = identify(&question.user, &question.groups) else { return not_asked() };
    let Some(attributes) = &question.attributes else { return not_asked() };
    if let Some(decision) = exceptions::decide(&client, attributes) {
        return decision;
    }
    let Some(rule) = rule(&attributes.group, &attributes.resource, client.kind) else {
        tracing::info!(
            seed = client.seed,
            group = attributes.group,
            resource = attributes.resource,
            verb = attributes.verb,
            "Unhandled resource request"
        );
        return not_asked();
    };
    by_rule(rule, &client, attributes, paths, unknown)
}

fn by_rule(
    rule: &Rule,
    client: &SeedClient,
    attributes: &ResourceAttributes,
    paths: &dyn Paths,
    unknown: UnknownDeletions,
) -> AccessDecision {
    let verb = attributes.verb.as_str();
    let wrong_subresource =
        !attributes.subresource.is_empty() && !rule.subresources.contains(&attributes.subresource.as_str());
    let subresources = || {
        only(format_args!("subresources are allowed for this resource type: {}", List(&[rule.subresources])))
    };
    let verbs = || {
        only(format_args!("verbs are allowed for this resource type: {}", List(&[rule.always, rule.path])))
    };
    let Some(kind) = rule.vertex else {
        // Events: the verb is checked first.
        return match (rule.always.contains(&verb), wrong_subresource) {
            (false, _) => verbs(),
            (true, true) => subresources(),
            (true, false) => AccessDecision::Allow,
        };
    };
    if wrong_subresource {
        return subresources();
    }
    if rule.always.contains(&verb) {
        return AccessDecision::Allow;
    }
    if !rule.path.contains(&verb) {
        return verbs();
    }
    by_path(kind, client, attributes, paths, unknown)
}

fn by_path(
    kind: VertexKind,
    client: &SeedClient,
    attributes: &ResourceAttributes,
    paths: &dyn Paths,
    unknown: UnknownDeletions,
) -> AccessDecision {
    if attributes.name.is_empty() {
        return AccessDecision::NoOpinion("No Object name found".to_owned());
    }
    // Requests about a Namespace carry it as their namespace, too.
    let namespace = if kind == VertexKind::Namespace { "" } else { &attributes.namespace };
    let vertex = kind.in_namespace(namespace, &attributes.name);
    let may_be_unknown = unknown == UnknownDeletions::Allowed && attributes.verb == "delete";
    if may_be_unknown && !paths.has(&vertex) {
        return AccessDecision::Allow;
    }
    if paths.reaches(&vertex, &VertexKind::Seed.named(&client.seed)) {
        return AccessDecision::Allow;
    }
    let seed = &client.seed;
    AccessDecision::NoOpinion(format!("no relationship found between seed '{seed}' and this object"))
}

fn only(what: fmt::Arguments<'_>) -> AccessDecision {
    AccessDecision::NoOpinion(format!("only the following {what}"))
}

/// Several lists as Go prints one.
struct List<'a>(&'a [&'a [&'a str]]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.0.concat().join(" "))
    }
}
