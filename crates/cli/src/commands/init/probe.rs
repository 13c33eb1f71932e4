//! Finds out which paths serve webhooks: sends each a dry run about a ConfigMap, which no webhook of a control plane changes.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use webhook::dial::{DialError, Dialer, HttpAnswer};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Versions of reviews, the newest first.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];
/// How many characters of an answer that is not a review are printed.
const EXCERPT: usize = 80;

/// A path and its answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProbedPath {
    /// The webhook's name in contracts.
    pub(super) name: String,
    pub(super) path: String,
    pub(super) answer: ProbeAnswer,
}

/// The answer of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProbeAnswer {
    /// 404.
    NotServed,
    /// Reviews of these versions.
    Reviews(Vec<&'static str>),
    /// Something else, described.
    Unexpected(String),
}

impl ProbedPath {
    /// The path and its versions if it serves a webhook: `/controlplane (v1, v1beta1)`.
    pub(super) fn describe_served(&self) -> Option<String> {
        match &self.answer {
            ProbeAnswer::Reviews(versions) => Some(format!("{} ({})", self.path, versions.join(", "))),
            ProbeAnswer::NotServed | ProbeAnswer::Unexpected(_) => None,
        }
    }

    /// The path and its answer if that is not a review.
    pub(super) fn describe_unexpected(&self) -> Option<String> {
        match &self.answer {
            ProbeAnswer::Unexpected(description) => Some(format!("{} {description}", self.path)),
            ProbeAnswer::NotServed | ProbeAnswer::Reviews(_) => None,
        }
    }
}

/// Tries the paths of each webhook until one serves it.
pub(super) async fn probe_all(
    dialer: &dyn Dialer,
    paths: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<ProbedPath>, DialError> {
    let mut probed = Vec::new();
    for (name, paths) in paths {
        let mut best: Option<ProbedPath> = None;
        for path in paths {
            let answer = probe(dialer, path).await?;
            let is_served = matches!(answer, ProbeAnswer::Reviews(_));
            if is_served || best.is_none() {
                best = Some(ProbedPath { name: name.clone(), path: path.clone(), answer });
            }
            if is_served {
                break;
            }
        }
        probed.extend(best);
    }
    Ok(probed)
}

async fn probe(dialer: &dyn Dialer, path: &str) -> Result<ProbeAnswer, DialError> {
    let (mut versions, mut unexpected) = (Vec::new(), None);
    for version in VERSIONS {
        let answer = match dialer.post(path, Bytes::from(review(version)), PATIENCE).await {
            // A server that closes the connection has probably panicked: this is an answer, not a failure of the environment.
            Err(DialError::Exchange { source_text, .. }) => {
                unexpected.get_or_insert_with(|| format!("closed the connection: {source_text}"));
                continue;
            }
            answer => answer?,
        };
        if answer.status == 404 {
            return Ok(ProbeAnswer::NotServed);
        }
        match check_review(&answer, version) {
            Ok(()) => versions.push(version),
            Err(description) => {
                unexpected.get_or_insert(description);
            }
        }
    }
    Ok(match (versions.is_empty(), unexpected) {
        (true, Some(description)) => ProbeAnswer::Unexpected(description),
        _ => ProbeAnswer::Reviews(versions),
    })
}

/// Checks that an answer is a review with our uid.
fn check_review(answer: &HttpAnswer, version: &str) -> Result<(), String> {
    let body = formats::json::document(&answer.body).unwrap_or_default();
    let is_review = body["kind"] == "AdmissionReview" && body["response"]["uid"] == uid(version);
    if is_review && body["apiVersion"] == format!("admission.k8s.io/{version}") {
        return Ok(());
    }
    let text: String = String::from_utf8_lossy(&answer.body).chars().take(EXCERPT).collect();
    Err(format!(
        "answers with HTTP status {} and without an AdmissionReview of {version}: {}",
        answer.status,
        text.trim().replace('\n', " ")
    ))
}

fn uid(version: &str) -> String {
    format!("conformance-init-{version}")
}

fn review(version: &str) -> Vec<u8> {
    let meta = |name: &str| json!({"group": "", "version": "v1", "kind": name});
    let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conformance-init", "namespace": "default"},
    });
    let review = json!({
        "apiVersion": format!("admission.k8s.io/{version}"),
        "kind": "AdmissionReview",
        "request": {
            "uid": uid(version), "kind": meta("ConfigMap"), "requestKind": meta("ConfigMap"), "resource": resource,
            "requestResource": resource, "name": "conformance-init", "namespace": "default", "operation": "CREATE",
            "userInfo": {"username": "gardener-conformance"}, "object": object, "oldObject": null, "dryRun": true,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
        },
    });
    review.to_string().into_bytes()
}
