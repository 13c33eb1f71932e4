//! The keywords of the language: every key of contract files, and every word that is a value of a key.

use crate::case::Review;
use crate::gardener::decision::RunsOn;
use crate::model::{Binds, Form, Law, Level};
use crate::process::{ProcessSignal, Protocol, Server};
use crate::scenario::{Fault, Refusal};

pub(crate) const ROOT: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
pub(crate) const METADATA: [&str; 2] = ["name", "labels"];
pub(crate) const SPEC: [&str; 12] = [
    "form",
    "source",
    "target",
    "onlyTouches",
    "elsewhere",
    "unordered",
    "listKeys",
    "exempt",
    "config",
    "parameters",
    "fixtures",
    "clauses",
];
/// Keys of a contract in the form versions, which apply to all its clauses.
pub(crate) const SPEC_VERSIONS: [&str; 7] =
    ["now", "cloudProfile", "machineImages", "shoot", "runsOn", "when", "then"];
/// Keys of a clause in the form versions.
pub(crate) const CLAUSE_VERSIONS: [&str; 7] =
    ["now", "cloudProfile", "machineImages", "shoot", "old", "runsOn", "why"];
/// Keys of the form flags.
pub(crate) const SPEC_FLAGS: [&str; 2] = ["flags", "given"];
/// Columns of a table of flags.
pub(crate) const FLAGS_COLUMNS: [&str; 6] = ["id", "flag", "emits", "webhook", "level", "needs"];
/// Keys of a clause in `clauses`, which add to the rows of the table.
pub(crate) const FLAGS_CLAUSE: [&str; 6] = ["id", "text", "versions", "presupposes", "differs", "source"];
/// Keys of a contract in the form objects.
pub(crate) const SPEC_OBJECTS: [&str; 1] = ["namespaces"];
/// Keys of a clause in the form objects.
pub(crate) const CLAUSE_OBJECTS: [&str; 7] =
    ["object", "where", "beside", "without", "emits", "webhook", "breaks"];
/// Values of `webhook` in the form objects.
pub(crate) const WEBHOOK: [(&str, bool); 1] = [("may add", true)];
/// Keys of a namespace in the form objects.
pub(crate) const NAMESPACE: [&str; 5] = ["gardener", "like", "objects", "change", "vary"];
/// Keys of a file of variations.
pub(crate) const VARIATIONS: [&str; 3] = ["axes", "change", "listKeys"];
/// Keys of an element of `breaks`.
pub(crate) const BREAK: [&str; 3] = ["case", "namespace", "change"];
pub(crate) const TARGET: [&str; 6] = ["webhook", "controller", "handles", "instance", "container", "unit"];
/// Keys of a target that name its command line.
pub(crate) const TARGET_FLAGS: [&str; 2] = ["container", "unit"];
pub(crate) const SOURCE: [&str; 5] = ["document", "code", "version", "section", "sentence"];
pub(crate) const CLAUSE: [&str; 20] = [
    "id",
    "text",
    "level",
    "strict",
    "binds",
    "versions",
    "needs",
    "presupposes",
    "covers",
    "differs",
    "notOn",
    "source",
    "instance",
    "config",
    "table",
    "given",
    "when",
    "then",
    "steps",
    "faults",
];
pub(crate) const GIVEN: [&str; 4] = ["cluster", "namespace", "old", "object"];
/// Keys of `given` in the form process.
pub(crate) const GIVEN_PROCESS: [&str; 1] = ["cluster"];
pub(crate) const WHEN: [&str; 6] =
    ["admission", "deleteCollection", "request", "direct", "review", "registration"];
/// Keys of `when` in the form versions.
pub(crate) const WHEN_VERSIONS: [&str; 7] =
    ["decide", "admission", "admitted", "additional", "gardener", "cluster", "version"];
/// Values of `decide`.
pub(crate) const DECIDED: [&str; 4] = ["maintenance", "window", "rolling", "support"];
/// Types of clusters.
pub(crate) const CLUSTERS: [&str; 3] = ["garden", "seed", "shoot"];
/// Operations of `admission` in the form versions.
pub(crate) const DECIDED_OPERATIONS: [&str; 2] = ["CREATE", "UPDATE"];
/// Columns of a table with versions of Kubernetes.
pub(crate) const OFFERED: [&str; 3] = ["version", "classification", "expires"];
/// Columns of a table with versions of images.
pub(crate) const OFFERED_IMAGES: [&str; 7] =
    ["name", "version", "classification", "expires", "architectures", "cri", "kubelet"];
pub(crate) const CLASSIFICATIONS: [&str; 3] = ["preview", "supported", "deprecated"];
/// Keys of `when` whose value may be a list, with a case for each element.
pub(crate) const MULTIPLIED: [&str; 2] = ["admission", "registration"];
pub(crate) const INSTANCES: [&str; 2] = ["seed", "shoot"];
pub(crate) const REVIEWS: [(&str, Review); 2] = [("v1", Review::V1), ("v1beta1", Review::V1beta1)];
pub(crate) const OPERATIONS: [&str; 4] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];
/// Fields of an AdmissionRequest.
pub(crate) const REQUEST: [&str; 15] = [
    "uid",
    "kind",
    "resource",
    "subResource",
    "requestKind",
    "requestResource",
    "requestSubResource",
    "name",
    "namespace",
    "operation",
    "userInfo",
    "object",
    "oldObject",
    "dryRun",
    "options",
];
/// Keys of `then` about an answer.
pub(crate) const THEN_ANSWER: [&str; 9] =
    ["object", "allowed", "code", "reason", "message", "causes", "called", "warnings", "review"];
pub(crate) const THEN_REGISTRATION: [&str; 1] = ["registration"];
pub(crate) const THEN_CONFIGURATION: [&str; 5] = ["starts", "message", "causes", "warnings", "effective"];
/// Keys of `then` about a decision; the fields of its result are keys too.
pub(crate) const THEN_DECISION: [&str; 4] = ["decision", "allowed", "message", "causes"];
/// Keys of `when` in the form process.
pub(crate) const WHEN_PROCESS: [&str; 3] = ["run", "request", "signal"];
/// Keys of a request to a server of the program.
pub(crate) const WHEN_PROCESS_REQUEST: [&str; 7] =
    ["server", "method", "path", "headers", "body", "protocol", "tls"];
/// Keys of `then` in the form process.
pub(crate) const THEN_PROCESS: [&str; 3] = ["exitCode", "output", "response"];
pub(crate) const SERVERS: [(&str, Server); 3] =
    [("webhooks", Server::Webhooks), ("probes", Server::Probes), ("metrics", Server::Metrics)];
pub(crate) const METHODS: [(&str, &str); 7] = [
    ("GET", "GET"),
    ("HEAD", "HEAD"),
    ("POST", "POST"),
    ("PUT", "PUT"),
    ("PATCH", "PATCH"),
    ("DELETE", "DELETE"),
    ("OPTIONS", "OPTIONS"),
];
pub(crate) const PROTOCOLS: [(&str, Protocol); 2] =
    [("HTTP/1.1", Protocol::Http1), ("HTTP/2", Protocol::Http2)];
pub(crate) const SIGNALS: [(&str, ProcessSignal); 2] =
    [("SIGTERM", ProcessSignal::Term), ("SIGINT", ProcessSignal::Int)];
/// Keys of a step that do something; the others are assertions.
pub(crate) const CAUSES: [&str; 3] = ["name", "advance", "do"];
pub(crate) const STEP: [&str; 8] =
    ["name", "advance", "do", "witness", "eventually", "history", "never", "requests"];
pub(crate) const SIDES: [&str; 3] = ["cluster", "sourceCluster", "targetCluster"];
pub(crate) const ADVANCE: [&str; 3] = ["to", "by", "after"];
pub(crate) const DO: [&str; 6] = ["create", "patch", "patchStatus", "delete", "touch", "refuse"];
/// Verbs of requests; `any` is allowed too.
pub(crate) const REQUEST_VERBS: [&str; 7] = ["create", "update", "patch", "delete", "get", "list", "watch"];
pub(crate) const REFUSALS: [(&str, Refusal); 13] = [
    ("forbidden", Refusal::Forbidden),
    ("overQuota", Refusal::OverQuota),
    ("namespaceTerminating", Refusal::NamespaceTerminating),
    ("notFound", Refusal::NotFound),
    ("alreadyExists", Refusal::AlreadyExists),
    ("conflict", Refusal::Conflict),
    ("invalid", Refusal::Invalid),
    ("tooManyRequests", Refusal::TooManyRequests),
    ("internalError", Refusal::InternalError),
    ("unavailable", Refusal::Unavailable),
    ("timeout", Refusal::Timeout),
    ("lostAnswer", Refusal::LostAnswer),
    ("unanswered", Refusal::Unanswered),
];
pub(crate) const NEVER: [&str; 5] = ["writes", "for", "cluster", "sourceCluster", "targetCluster"];
pub(crate) const REQUESTS: [&str; 4] = ["writes", "of", "order", "perObject"];
pub(crate) const VERBS: [&str; 4] = ["create", "update", "patch", "delete"];
pub(crate) const CAUSE: [&str; 3] = ["field", "reason", "message"];

pub(crate) const FORMS: [(&str, Form); 8] = [
    ("mutation", Form::Mutation),
    ("validation", Form::Validation),
    ("flags", Form::Flags),
    ("objects", Form::Objects),
    ("versions", Form::Versions),
    ("scenario", Form::Scenario),
    ("configuration", Form::Configuration),
    ("process", Form::Process),
];
pub(crate) const FAULTS: [(&str, Fault); 7] = [
    ("watchDrop", Fault::WatchDrop),
    ("watchLag", Fault::WatchLag),
    ("conflictOnce", Fault::ConflictOnce),
    ("throttle", Fault::Throttle),
    ("serverError", Fault::ServerError),
    ("refusedOnce", Fault::RefusedOnce),
    ("crashAfterWrite", Fault::CrashAfterWrite),
];
pub(crate) const RUNS_ON: [(&str, RunsOn); 3] =
    [("decision", RunsOn::Decision), ("admission", RunsOn::Admission), ("reconcile", RunsOn::Reconcile)];
pub(crate) const LEVELS: [(&str, Level); 3] =
    [("MUST", Level::Must), ("SHOULD", Level::Should), ("MAY", Level::May)];
pub(crate) const BINDS: [(&str, Binds); 3] =
    [("gardener", Binds::Gardener), ("extension", Binds::Extension), ("both", Binds::Both)];
pub(crate) const LAWS: [(&str, Law); 9] = [
    ("idempotent", Law::Idempotent),
    ("deterministic", Law::Deterministic),
    ("updateKeepsMutation", Law::UpdateKeepsMutation),
    ("unrelatedUntouched", Law::UnrelatedUntouched),
    ("withinTimeout", Law::WithinTimeout),
    ("dryRunHasNoEffect", Law::DryRunHasNoEffect),
    ("uidEchoed", Law::UidEchoed),
    ("patchTypeDeclared", Law::PatchTypeDeclared),
    ("keysUnique", Law::KeysUnique),
];

/// The names of all laws.
pub(crate) fn laws() -> impl Iterator<Item = &'static str> {
    LAWS.iter().map(|(name, _)| *name)
}
pub(crate) const EXPLANATIONS: [&str; 4] = ["apiVersion", "kind", "target", "explanations"];
pub(crate) const EXPLAINED: [&str; 2] = ["name", "version"];
pub(crate) const EXPLANATION: [&str; 9] =
    ["webhooks", "controllers", "at", "input", "ours", "theirs", "given", "clause", "reason"];
