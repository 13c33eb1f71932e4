//! `when` and `then` of the form process.

use std::collections::BTreeMap;

use serde_json::Value;

use super::expectation;
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

/// What is done; cells are filled in.
pub(super) fn when(tree: &Tree, report: &Report<'_>) -> Option<When> {
    known_keys(tree, "when", &WHEN_PROCESS, report)?;
    let parts: Vec<(&str, &Tree)> =
        WHEN_PROCESS.iter().filter_map(|name| Some((*name, tree.get(name)?))).collect();
    let [(name, part)] = parts.as_slice() else {
        report.add("process", tree.span, "`when` must have exactly one of run, request and signal", REMEDY);
        return None;
    };
    let action = match *name {
        "run" => ProcessAction::Run(arguments(part, report)?),
        "request" => ProcessAction::Request(request(part, report)?),
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

fn request(tree: &Tree, report: &Report<'_>) -> Option<ServerRequest> {
    known_keys(tree, "request", &WHEN_PROCESS_REQUEST, report)?;
    let part = |name: &str| tree.get(name).filter(|part| !part.is_null());
    let Some(server) = part("server") else {
        report.add(
            "missing-key",
            tree.span,
            "the request has no server",
            "write `server: webhooks`, `probes` or `metrics`",
        );
        return None;
    };
    let server: Server = word("server", server, &SERVERS, report)?;
    let Some(path) = part("path").and_then(Tree::text) else {
        report.add("missing-key", tree.span, "the request has no path", "write `path: /healthz`");
        return None;
    };
    if !path.starts_with('/') {
        report.add(
            "process",
            tree.span,
            format!("the path {path:?} does not begin with /"),
            "write `path: /healthz`",
        );
        return None;
    }
    let method = match part("method") {
        Some(method) => word("method", method, &METHODS, report)?.to_owned(),
        None => "GET".to_owned(),
    };
    let protocol = match part("protocol") {
        Some(protocol) => word("protocol", protocol, &PROTOCOLS, report)?,
        None => Protocol::default(),
    };
    let tls = match part("tls") {
        Some(tls) => Some(boolean("tls", tls, report)?),
        None => None,
    };
    Some(ServerRequest {
        server,
        method,
        path: path.to_owned(),
        headers: part("headers").map_or_else(|| Some(BTreeMap::new()), |headers| fields(headers, report))?,
        body: part("body").map_or_else(String::new, body),
        protocol,
        tls,
    })
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

/// A text is sent as it is, anything else as JSON.
fn body(tree: &Tree) -> String {
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
