//! `when` and `then` of the form process.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::expectation;
use super::given::ObjectBuilder;
use super::keywords::{
    METHODS, PROTOCOLS, SERVERS, SIGNALS, THEN_PROCESS, WHEN_PROCESS, WHEN_PROCESS_REQUEST,
};
use super::report::{Report, nearest};
use super::then::{boolean, known_keys};
use super::tree::Tree;
use crate::case::{About, Then, When};
use crate::expect::Rules;
use crate::process::{ProcessAction, Protocol, Server, ServerRequest};

const REMEDY: &str =
    "write `when: {run: [--version]}`, `{request: {server: probes, path: /healthz}}` or `{signal: SIGTERM}`";
const PATH_REMEDY: &str = "write `path: /healthz`";

/// What is done; cells are filled in.
pub(super) fn when(tree: &Tree, builder: &ObjectBuilder<'_>) -> Option<When> {
    let report = builder.report;
    known_keys(tree, "when", &WHEN_PROCESS, report)?;
    let parts: Vec<(&str, &Tree)> =
        WHEN_PROCESS.iter().filter_map(|name| Some((*name, tree.get(name)?))).collect();
    let [(name, part)] = parts.as_slice() else {
        report.add("process", tree.span, "`when` must have exactly one of run, request and signal", REMEDY);
        return None;
    };
    let action = match *name {
        "run" => ProcessAction::Run(arguments(part, report)?),
        "request" => ProcessAction::Request(request(part, builder)?),
        _ => ProcessAction::Signal(word("signal", part, &SIGNALS, report)?),
    };
    Some(When::Process(Box::new(action)))
}

/// What must hold of the program's end, its output or the server's response.
pub(super) fn then(tree: &Tree, when: &When, report: &Report<'_>) -> Option<Then> {
    let errors = report.count();
    known_keys(tree, "then", &THEN_PROCESS, report)?;
    let When::Process(action) = when else { return None };
    let is_request = matches!(**action, ProcessAction::Request(_));
    for (key, _) in tree.map().unwrap_or_default() {
        if THEN_PROCESS.contains(&key.name.as_str()) && (key.name == "response") != is_request {
            let message = format!("{} is not allowed here", key.name);
            report.add(
                "process",
                key.span,
                message,
                "a request has a `response`; `run` and `signal` have `exitCode` and `output`",
            );
        }
    }
    if tree.map().is_none_or(<[_]>::is_empty) {
        report.add("nothing-asserted", tree.span, "then asserts nothing", "say what must hold");
    }
    let object = expectation::read(tree, &Rules::unknown(), report);
    let then = Then { about: About::Process, object: Some(object), ..Then::default() };
    (report.count() == errors).then_some(then)
}

fn arguments(tree: &Tree, report: &Report<'_>) -> Option<Vec<String>> {
    let texts = tree.list().and_then(|items| {
        let texts = items.iter().filter(|item| !item.is_null()).map(|item| item.text().map(str::to_owned));
        texts.collect::<Option<Vec<_>>>()
    });
    if texts.is_none() {
        report.add(
            "type",
            tree.span,
            "run must be a list of texts",
            "write `run: [--version]`, and numbers in quotes",
        );
    }
    texts
}

/// The request; all its slips are reported.
fn request(tree: &Tree, builder: &ObjectBuilder<'_>) -> Option<ServerRequest> {
    let report = builder.report;
    known_keys(tree, "request", &WHEN_PROCESS_REQUEST, report)?;
    let part = |name: &str| tree.get(name).filter(|part| !part.is_null());
    let server = match part("server") {
        Some(server) => word::<Server>("server", server, &SERVERS, report),
        None => missing("server", "write `server: webhooks`, `probes` or `metrics`", tree, report),
    };
    let path = match part("path") {
        Some(path) => path_of(path, report),
        None => missing("path", PATH_REMEDY, tree, report),
    };
    let method = part("method").map_or(Some("GET"), |method| word("method", method, &METHODS, report));
    let protocol = match part("protocol") {
        Some(protocol) => word("protocol", protocol, &PROTOCOLS, report),
        None => Some(Protocol::default()),
    };
    let tls = part("tls").map_or(Some(None), |tls| boolean("tls", tls, report).map(Some));
    let headers = part("headers").map_or(Some(BTreeMap::new()), |headers| fields(headers, report));
    Some(ServerRequest {
        server: server?,
        method: method?.to_owned(),
        path: path?,
        headers: headers?,
        body: part("body").map_or_else(String::new, |tree| body(tree, builder)),
        protocol: protocol?,
        tls: tls?,
    })
}

fn missing<T>(name: &str, remedy: &str, tree: &Tree, report: &Report<'_>) -> Option<T> {
    report.add("missing-key", tree.span, format!("the request has no {name}"), remedy);
    None
}

fn path_of(tree: &Tree, report: &Report<'_>) -> Option<String> {
    let written = tree.to_value();
    let path = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
    if path.starts_with('/') {
        return Some(path);
    }
    report.add("process", tree.span, format!("the path {path:?} does not begin with /"), PATH_REMEDY);
    None
}

fn fields(tree: &Tree, report: &Report<'_>) -> Option<BTreeMap<String, String>> {
    let entries = tree.map().and_then(|entries| {
        let entries = entries.iter().filter(|(_, value)| !value.is_null());
        entries.map(|(key, value)| Some((key.name.to_lowercase(), value.text()?.to_owned()))).collect()
    });
    if entries.is_none() {
        report.add(
            "type",
            tree.span,
            "headers must be a map of texts",
            "write `headers: {content-type: application/json}`",
        );
    }
    entries
}

/// A text is sent as it is, a map as the object that it builds, anything else as JSON.
fn body(tree: &Tree, builder: &ObjectBuilder<'_>) -> String {
    if tree.map().is_some() {
        return builder.merge_untyped(Value::Object(Map::new()), tree).to_string();
    }
    match tree.to_value() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn word<T: Copy>(name: &str, tree: &Tree, known: &[(&str, T)], report: &Report<'_>) -> Option<T> {
    let written = tree.to_value();
    let text = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
    let found = known.iter().find(|(word, _)| *word == text).map(|(_, found)| *found);
    if found.is_none() {
        let remedy = nearest(&text, known.iter().map(|(word, _)| *word));
        report.add("process", tree.span, format!("unknown {name} {text:?}"), remedy);
    }
    found
}
