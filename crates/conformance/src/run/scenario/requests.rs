//! The target's writes by verb and object, from the servers' request logs.

use std::collections::BTreeMap;

use apiserver::{Matching, Request, Verb};
use contract::scenario::{Never, ObjectRef, Requests};
use schema::Kinds;
use substrate::cluster::SPEAKER;
use substrate::embedded::Embedded;
use tokio::time::Instant;

use super::clusters::{Clusters, OTHER_USER};
use super::generated;
use crate::report::Check;

/// Prefix of the users of Kubernetes' own controllers.
const SYSTEM_USERS: &str = "system:serviceaccount:kube-system:";

/// One write of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObservedWrite {
    /// Index of the server.
    pub(crate) server: usize,
    /// `create`, `update`, `patch` or `delete`.
    pub(crate) verb: &'static str,
    /// The object; a deletion of a collection names none.
    pub(crate) object: ObjectRef,
    /// Whether it left the object unchanged; unknown, and false, on a real API server.
    pub(crate) unchanged: bool,
    /// Whether the answer was an error.
    pub(crate) refused: bool,
}

/// When a write was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteMoment {
    /// The revision of its server's store after it.
    pub(crate) revision: u64,
    /// The time.
    pub(crate) at: Instant,
}

impl ObservedWrite {
    /// Server, API version and kind of the object.
    pub(super) fn kind(&self) -> (usize, &str, &str) {
        (self.server, &self.object.api_version, &self.object.kind)
    }

    /// Whether its path and verb are those of another write: the path of a creation does not contain the name.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let collection = |write: &Self| {
            let ObjectRef { api_version, kind, namespace, .. } = &write.object;
            (write.server, write.verb, api_version.clone(), kind.clone(), namespace.clone())
        };
        collection(self) == collection(other)
            && (self.verb == "create" || self.object.name == other.object.name)
    }
}

/// The requests of a user with the verb and the path of a write.
pub(super) fn requests_like(write: &ObservedWrite, user: &str) -> Option<Matching> {
    let object = &write.object;
    let resource = Kinds::gardener().of_object(&object.api_version, &object.kind)?;
    // The path of a creation does not contain the name.
    let (verbs, name) = match write.verb {
        "create" => (vec![Verb::Create], None),
        "update" => (vec![Verb::Update], Some(object.name.clone())),
        "patch" => (vec![Verb::Patch], Some(object.name.clone())),
        _ => (vec![Verb::Delete, Verb::DeleteCollection], Some(object.name.clone())),
    };
    Some(Matching {
        user: Some(user.to_owned()),
        group: Some(resource.group.clone()),
        resource: Some(resource.plural.clone()),
        namespace: Some(object.namespace.clone()),
        name,
        verbs,
        ..Matching::default()
    })
}

/// Number of requests that each server had answered.
#[derive(Clone, Debug)]
pub(super) struct LogPosition(Vec<usize>);

/// The current position in the servers' logs.
pub(super) fn current_position(clusters: &Clusters) -> LogPosition {
    LogPosition(clusters.servers().map(Embedded::request_count).collect())
}

/// The target's writes since a position, server by server, in order.
pub(super) fn writes_since(clusters: &Clusters, position: &LogPosition) -> Vec<ObservedWrite> {
    timed_writes_since(clusters, position).into_iter().map(|(write, _)| write).collect()
}

/// The target's writes since a position, server by server, in order, and when each was answered.
pub(super) fn timed_writes_since(
    clusters: &Clusters,
    position: &LogPosition,
) -> Vec<(ObservedWrite, WriteMoment)> {
    let mut found = Vec::new();
    for (at, (server, from)) in clusters.servers().zip(&position.0).enumerate() {
        let requests = server.requests_since(*from);
        found.extend(requests.iter().filter_map(|request| {
            Some((write(at, request)?, WriteMoment { revision: request.revision, at: request.at }))
        }));
    }
    found
}

/// The write of a request. Leaves out events and leases, the requests of others than the target, and those to a subresource
/// that the API server does not serve, as it has nothing to write.
pub(super) fn write(server: usize, request: &Request) -> Option<ObservedWrite> {
    let is_ignored = matches!(request.resource.as_str(), "events" | "leases");
    let is_of_harness = request.user_agent == SPEAKER;
    let is_other = is_of_harness || request.user == OTHER_USER || request.user.starts_with(SYSTEM_USERS);
    let is_unserved = !request.subresource.is_empty() && matches!(request.code, 404 | 405);
    if is_other || !request.is_write() || request.dry_run || is_ignored || is_unserved {
        return None;
    }
    let verb = match request.verb {
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Patch => "patch",
        Verb::Delete | Verb::DeleteCollection => "delete",
        Verb::Get | Verb::List | Verb::Watch => return None,
    };
    let resource = Kinds::gardener().resource(&request.group, &request.version, &request.resource)?;
    let object = ObjectRef {
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        namespace: request.namespace.clone(),
        name: request.name.clone(),
    };
    Some(ObservedWrite { server, verb, object, unchanged: request.unchanged, refused: request.code >= 400 })
}

/// Checks the writes against the step's expectation; returns failed checks.
pub(super) fn judge(step: &str, wanted: &Requests, writes: &[ObservedWrite]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |path: &str, want: String, got: String| {
        let path = format!("{step}: {path}");
        checks.push(Check { part: "requests".to_owned(), path, want, got, ..Check::default() });
    };
    let counted: Vec<ObservedWrite> =
        writes.iter().filter(|write| counts(wanted, &write.object)).cloned().collect();
    if let Some(want) = wanted.writes.filter(|want| *want != counted.len()) {
        check("writes", want.to_string(), format!("{}: {}", counted.len(), describe(&counted)));
    }
    if let Some(most) = wanted.per_object {
        for (object, count) in by_object(writes).into_iter().filter(|(_, count)| *count > most) {
            check(&object.to_string(), format!("at most {most} writes"), count.to_string());
        }
    }
    let mut left = writes.iter();
    for (verb, object) in &wanted.order {
        if !left.any(|write| is_write_of(write, verb, object)) {
            let want = format!("{verb} {object}, after those before it");
            check("order", want, describe(writes));
            break;
        }
    }
    checks
}

/// The writes that left their objects as they were: a component that compares before it writes sends none. A write that
/// follows another one of the same object does not count, because the component's cache may not have seen that yet; nor does
/// one that the step requires.
pub(super) fn needless(writes: &[ObservedWrite], wanted: Option<&Requests>) -> Option<Check> {
    let follows = |at: usize| writes[..at].iter().any(|earlier| earlier.object == writes[at].object);
    let is_required = |write: &ObservedWrite| {
        let mut order = wanted.iter().flat_map(|wanted| &wanted.order);
        order.any(|(verb, object)| is_write_of(write, verb, object))
    };
    let needless: Vec<ObservedWrite> = (0..writes.len())
        .filter(|at| writes[*at].unchanged && !follows(*at) && !is_required(&writes[*at]))
        .map(|at| writes[at].clone())
        .collect();
    (!needless.is_empty()).then(|| Check {
        part: "requests".to_owned(),
        path: "writes that change nothing".to_owned(),
        want: "none".to_owned(),
        got: format!("{}: {}", needless.len(), describe(&needless)),
        ..Check::default()
    })
}

/// Whether writes of the object are counted.
fn counts(wanted: &Requests, object: &ObjectRef) -> bool {
    wanted.of.is_empty() || wanted.of.iter().any(|counted| is_same_object(counted, object))
}

/// The forbidden writes that happened.
pub(super) fn forbidden(step: &str, never: &Never, writes: &[ObservedWrite]) -> Vec<Check> {
    let forbidden =
        writes.iter().filter(|write| never.writes.iter().any(|object| is_same_object(object, &write.object)));
    forbidden
        .map(|write| Check {
            part: "never".to_owned(),
            path: format!("{step}: {}", write.object),
            want: "no write".to_owned(),
            got: format!("{} {}", write.verb, write.object),
            ..Check::default()
        })
        .collect()
}

/// Whether the write has this verb and object.
pub(super) fn is_write_of(write: &ObservedWrite, verb: &str, object: &ObjectRef) -> bool {
    write.verb == verb && is_same_object(object, &write.object)
}

/// Whether it is the same object, in any version.
fn is_same_object(wanted: &ObjectRef, written: &ObjectRef) -> bool {
    (&wanted.kind, &wanted.namespace) == (&written.kind, &written.namespace)
        && generated::is_name(wanted, &written.name)
}

fn by_object(writes: &[ObservedWrite]) -> BTreeMap<&ObjectRef, usize> {
    let mut counted = BTreeMap::new();
    for write in writes {
        *counted.entry(&write.object).or_default() += 1;
    }
    counted
}

fn describe(writes: &[ObservedWrite]) -> String {
    let descriptions: Vec<String> =
        writes.iter().map(|write| format!("{} {}", write.verb, write.object)).collect();
    if descriptions.is_empty() { "none".to_owned() } else { descriptions.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_to_a_subresource_that_is_not_served_is_no_write() {
        let request = |subresource: &str, code: u16| Request {
            user: "scheduler".to_owned(),
            user_agent: String::new(),
            verb: Verb::Update,
            group: "core.gardener.cloud".to_owned(),
            version: "v1beta1".to_owned(),
            resource: "shoots".to_owned(),
            subresource: subresource.to_owned(),
            namespace: "garden-dev".to_owned(),
            name: "app".to_owned(),
            dry_run: false,
            code,
            annotations: BTreeMap::new(),
            unchanged: false,
            revision: 7,
            at: Instant::now(),
        };
        for (subresource, code, want) in [
            ("binding", 404, None),
            ("binding", 405, None),
            ("binding", 409, Some(true)),
            ("binding", 200, Some(false)),
            ("", 404, Some(true)),
        ] {
            let refused = write(0, &request(subresource, code)).map(|write| write.refused);
            assert_eq!(refused, want, "{subresource} {code}");
        }
    }
}
