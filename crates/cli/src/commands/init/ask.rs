//! Which paths serve webhooks: each is asked about a ConfigMap that no webhook of a control plane is about, in a dry run.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use webhook::dial::{DialError, Dialer, HttpAnswer};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Versions of reviews, the newest first.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];
/// What is shown of an answer that is no review.
const SHOWN: usize = 80;

/// A path and what it answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The webhook's name in contracts.
    pub(super) name: String,
    pub(super) path: String,
    pub(super) answer: Answer,
}

/// What a path answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// 404.
    NotServed,
    /// Reviews of these versions.
    Reviews(Vec<&'static str>),
    /// Something else, in words.
    Strange(String),
}

impl Asked {
    /// `/controlplane (v1, v1beta1)`.
    pub(super) fn served(&self) -> Option<String> {
        match &self.answer {
            Answer::Reviews(versions) => Some(format!("{} ({})", self.path, versions.join(", "))),
            Answer::NotServed | Answer::Strange(_) => None,
        }
    }

    /// What is wrong with an answer that is no review.
    pub(super) fn strange(&self) -> Option<String> {
        match &self.answer {
            Answer::Strange(words) => Some(format!("{} {words}", self.path)),
            Answer::NotServed | Answer::Reviews(_) => None,
        }
    }
}

/// Asks the paths of each webhook until one serves it.
pub(super) async fn all(
    dialer: &dyn Dialer,
    paths: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<Asked>, DialError> {
    let mut asked = Vec::new();
    for (name, paths) in paths {
        let mut best: Option<Asked> = None;
        for path in paths {
            let answer = one(dialer, path).await?;
            let is_served = matches!(answer, Answer::Reviews(_));
            if is_served || best.is_none() {
                best = Some(Asked { name: name.clone(), path: path.clone(), answer });
            }
            if is_served {
                break;
            }
        }
        asked.extend(best);
    }
    Ok(asked)
}

async fn one(dialer: &dyn Dialer, path: &str) -> Result<Answer, DialError> {
    let (mut versions, mut strange) = (Vec::new(), None);
    for version in VERSIONS {
        let answer = match dialer.post(path, Bytes::from(review(version)), PATIENCE).await {
            // Who was reached and closes the connection panics: that is an answer, and no fault of the environment.
            Err(DialError::Exchange { source_text, .. }) => {
                strange.get_or_insert_with(|| format!("closed the connection: {source_text}"));
                continue;
            }
            answer => answer?,
        };
        if answer.status == 404 {
            return Ok(Answer::NotServed);
        }
        match understood(&answer, version) {
            Ok(()) => versions.push(version),
            Err(words) => {
                strange.get_or_insert(words);
            }
        }
    }
    Ok(match (versions.is_empty(), strange) {
        (true, Some(words)) => Answer::Strange(words),
        _ => Answer::Reviews(versions),
    })
}

/// Whether an answer is one to our review.
fn understood(answer: &HttpAnswer, version: &str) -> Result<(), String> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is_review = body["kind"] == "AdmissionReview" && body["response"]["uid"] == uid(version);
    if is_review && body["apiVersion"] == format!("admission.k8s.io/{version}") {
        return Ok(());
    }
    let text: String = String::from_utf8_lossy(&answer.body).chars().take(SHOWN).collect();
    Err(format!(
        "answers HTTP {} and no review of {version}: {}",
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
