//! What the target sent: writes by verb and object, from the servers' logs.

use std::collections::BTreeMap;

use apiserver::{Request, Verb};
use contract::scenario::{Never, ObjectRef, Requests};
use schema::Kinds;
use substrate::cluster::SPEAKER;
use substrate::embedded::Embedded;

use super::clusters::{Clusters, OTHER_USER};
use crate::report::Check;

/// What the users of controllers beside the API server are called.
const SYSTEM_USERS: &str = "system:serviceaccount:kube-system:";

/// One write of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    /// Which of the servers.
    pub(super) server: usize,
    pub(super) verb: &'static str,
    pub(super) object: ObjectRef,
}

/// How many requests each server had answered.
#[derive(Clone, Debug)]
pub(super) struct Mark(Vec<usize>);

/// Marks the present.
pub(super) fn mark(clusters: &Clusters) -> Mark {
    Mark(clusters.servers().map(Embedded::request_count).collect())
}

/// The target's writes since the mark, server by server, in order.
pub(super) fn writes_since(clusters: &Clusters, mark: &Mark) -> Vec<Write> {
    let mut found = Vec::new();
    for (at, (server, from)) in clusters.servers().zip(&mark.0).enumerate() {
        found.extend(server.requests_since(*from).iter().filter_map(|request| write(at, request)));
    }
    found
}

/// Events and leases are about the target, not its work; the servers' own controllers are not the target.
fn write(server: usize, request: &Request) -> Option<Write> {
    let aside = matches!(request.resource.as_str(), "events" | "leases");
    let spoken_for = request.user_agent == SPEAKER;
    let other = spoken_for || request.user == OTHER_USER || request.user.starts_with(SYSTEM_USERS);
    if other || !request.is_write() || request.dry_run || aside {
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
    Some(Write { server, verb, object })
}

/// What the step says of requests and was not so.
pub(super) fn judge(step: &str, wanted: &Requests, writes: &[Write]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |path: &str, want: String, got: String| {
        let path = format!("{step}: {path}");
        checks.push(Check { part: "requests".to_owned(), path, want, got });
    };
    let counted: Vec<Write> = writes.iter().filter(|write| counts(wanted, &write.object)).cloned().collect();
    if let Some(want) = wanted.writes.filter(|want| *want != counted.len()) {
        check("writes", want.to_string(), format!("{}: {}", counted.len(), list(&counted)));
    }
    if let Some(most) = wanted.per_object {
        for (object, count) in by_object(writes).into_iter().filter(|(_, count)| *count > most) {
            check(&object.to_string(), format!("at most {most} writes"), count.to_string());
        }
    }
    let mut left = writes.iter();
    for (verb, object) in &wanted.order {
        if !left.any(|write| same(write, verb, object)) {
            let want = format!("{verb} {object}, after those before it");
            check("order", want, list(writes));
            break;
        }
    }
    checks
}

/// Whether writes of the object are counted.
fn counts(wanted: &Requests, object: &ObjectRef) -> bool {
    wanted.of.is_empty() || wanted.of.iter().any(|counted| names(counted, object))
}

/// The forbidden writes that happened.
pub(super) fn forbidden(step: &str, never: &Never, writes: &[Write]) -> Vec<Check> {
    let forbidden =
        writes.iter().filter(|write| never.writes.iter().any(|object| names(object, &write.object)));
    forbidden
        .map(|write| Check {
            part: "never".to_owned(),
            path: format!("{step}: {}", write.object),
            want: "no write".to_owned(),
            got: format!("{} {}", write.verb, write.object),
        })
        .collect()
}

/// Whether it is this write.
pub(super) fn same(write: &Write, verb: &str, object: &ObjectRef) -> bool {
    write.verb == verb && names(object, &write.object)
}

/// Whatever version it was sent in.
fn names(wanted: &ObjectRef, written: &ObjectRef) -> bool {
    (&wanted.kind, &wanted.namespace, &wanted.name) == (&written.kind, &written.namespace, &written.name)
}

fn by_object(writes: &[Write]) -> BTreeMap<&ObjectRef, usize> {
    let mut counted = BTreeMap::new();
    for write in writes {
        *counted.entry(&write.object).or_default() += 1;
    }
    counted
}

fn list(writes: &[Write]) -> String {
    let words: Vec<String> = writes.iter().map(|write| format!("{} {}", write.verb, write.object)).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
