//! The certificate of our webhooks, rotated with its authority as gardenlet does it: both are trusted until the new one serves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use substrate::identity::Identity;

use crate::cluster::{Running, done};
use crate::resource_manager::pod;

/// How long a kubelet and our component may take to take a new certificate up.
const PATIENCE: Duration = Duration::from_mins(3);
/// Between two requests, which others have work with too.
const PAUSE: Duration = Duration::from_millis(20);
/// kube-apiserver's words for a webhook that is trusted and answers 404.
const NOT_SERVED: &str = "the server could not find the requested resource";

pub(crate) fn it_is_rotated_while_requests_run_and_none_fails(running: &Running) -> Result<(), String> {
    let (ends, asked, failed) = (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                let reply = running.try_to_create(&pod("while-it-is-rotated"));
                asked.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(PAUSE);
                let error = match reply {
                    Ok(reply) if reply.is_success() => continue,
                    Ok(reply) => reply.message(),
                    Err(error) => error,
                };
                failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(error);
            }
        });
        let outcome = rotate(running);
        ends.store(true, Ordering::Relaxed);
        outcome
    });
    let took = outcome?;
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let asked = asked.into_inner();
    eprintln!("rotated in {:.1} s under {asked} requests, {} failed", took.as_secs_f64(), failed.len());
    match failed.first() {
        None if asked > 0 => Ok(()),
        None => Err("nothing was asked meanwhile".to_owned()),
        Some(first) => Err(format!("{} of {asked} requests failed, the first: {first}", failed.len())),
    }
}

fn rotate(running: &Running) -> Result<Duration, String> {
    let begun = Instant::now();
    let made = Identity::made("rotated", ["gardener-resource-manager.garden.svc".to_owned()]);
    let made = made.map_err(|error| error.to_string())?;
    let before = bundle(running)?;
    trust(running, &[before, made.authority.clone()].concat())?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "gardener-resource-manager-server", "namespace": "garden"},
    });
    let data = json!({"data": {
        "tls.crt": STANDARD.encode(&made.certificate), "tls.key": STANDARD.encode(&made.key),
    }});
    done(&running.patch(&secret, &data)?)?;
    until_it_serves(running, &made.authority)?;
    trust(running, &made.authority)?;
    Ok(begun.elapsed())
}

/// Waits until who trusts the new authority alone reaches our component.
fn until_it_serves(running: &Running, authority: &str) -> Result<(), String> {
    let probe = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "new-authority"},
        "webhooks": [{
            "name": "new.e2e.example.test", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {"namespace": "garden", "name": "gardener-resource-manager", "path": "/nowhere"},
                "caBundle": STANDARD.encode(authority),
            },
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
            "objectSelector": {"matchLabels": {"e2e.example.test/probe": "true"}},
        }],
    });
    running.created(&probe)?;
    let asked = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "probe", "namespace": "default", "labels": {"e2e.example.test/probe": "true"}},
    });
    let begun = Instant::now();
    loop {
        // A kubelet looks for new secrets when something of the pod changes, else once a minute.
        nudge(running, &begun.elapsed().as_millis().to_string())?;
        let said = running.try_to_create(&asked)?.message();
        if said.contains(NOT_SERVED) {
            return done(&running.delete(&probe)?);
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("after {PATIENCE:?} the new certificate does not serve: {said}"));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn nudge(running: &Running, mark: &str) -> Result<(), String> {
    let pods = running.ask("/api/v1/namespaces/garden/pods?labelSelector=app%3Dgardener-resource-manager")?;
    for pod in pods["items"].as_array().into_iter().flatten() {
        let head = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"], "namespace": "garden"}});
        done(&running.patch(&head, &json!({"metadata": {"annotations": {"e2e.example.test/mark": mark}}}))?)?;
    }
    Ok(())
}

const KINDS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

fn configuration(running: &Running, kind: &str) -> Result<Value, String> {
    let metadata = json!({"name": "gardener-resource-manager"});
    running.get(&json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": metadata}))
}

/// The PEM that is trusted now.
fn bundle(running: &Running) -> Result<String, String> {
    let found = configuration(running, KINDS[0])?;
    let text = found["webhooks"][0]["clientConfig"]["caBundle"].as_str().ok_or("it has no bundle")?;
    let pem = STANDARD.decode(text).map_err(|error| error.to_string())?;
    String::from_utf8(pem).map_err(|error| error.to_string())
}

/// Makes this PEM the one that is trusted.
fn trust(running: &Running, pem: &str) -> Result<(), String> {
    for kind in KINDS {
        let found = configuration(running, kind)?;
        let mut webhooks = found["webhooks"].clone();
        for webhook in webhooks.as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]["caBundle"] = json!(STANDARD.encode(pem));
        }
        done(&running.patch(&found, &json!({"webhooks": webhooks}))?)?;
    }
    Ok(())
}
