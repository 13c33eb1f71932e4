//! Rotation of the webhooks' certificate with its CA, as gardenlet does it: both CAs are trusted until the new certificate serves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use substrate::identity::Identity;

use crate::cluster::{Running, check};
use crate::resource_manager::pod;

/// How long a kubelet and our component may take to load a new certificate.
const PATIENCE: Duration = Duration::from_mins(3);
/// Time between two requests.
const PAUSE: Duration = Duration::from_millis(20);
/// kube-apiserver's error for a webhook that it trusts and that answers 404.
const NOT_SERVED: &str = "the server could not find the requested resource";

pub(crate) fn it_is_rotated_while_requests_run_and_none_fails(running: &Running) -> Result<(), String> {
    let (ends, requests, failed) = (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                let reply = running.try_to_create(&pod("while-it-is-rotated"));
                requests.fetch_add(1, Ordering::Relaxed);
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
    let requests = requests.into_inner();
    eprintln!("rotated in {:.1} s under {requests} requests, {} failed", took.as_secs_f64(), failed.len());
    match failed.first() {
        None if requests > 0 => Ok(()),
        None => Err("no request was sent during the rotation".to_owned()),
        Some(first) => Err(format!("{} of {requests} requests failed, the first: {first}", failed.len())),
    }
}

fn rotate(running: &Running) -> Result<Duration, String> {
    let begun = Instant::now();
    let identity = Identity::made("rotated", ["gardener-resource-manager.garden.svc".to_owned()]);
    let identity = identity.map_err(|error| error.to_string())?;
    let before = trusted_bundle(running)?;
    set_trusted_bundle(running, &[before, identity.authority.clone()].concat())?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "gardener-resource-manager-server", "namespace": "garden"},
    });
    let data = json!({"data": {
        "tls.crt": STANDARD.encode(&identity.certificate), "tls.key": STANDARD.encode(&identity.key),
    }});
    check(&running.patch(&secret, &data)?)?;
    wait_until_served(running, &identity.authority)?;
    set_trusted_bundle(running, &identity.authority)?;
    Ok(begun.elapsed())
}

/// Waits until an API server that trusts only the new CA reaches our component.
fn wait_until_served(running: &Running, authority: &str) -> Result<(), String> {
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
    let config_map = json!({
    "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "probe", "namespace": "default", "labels": {"e2e.example.test/probe": "true"}},
    });
    let begun = Instant::now();
    loop {
        // A kubelet reads Secrets again when the pod changes, else once a minute.
        annotate_pods(running, &begun.elapsed().as_millis().to_string())?;
        let message = running.try_to_create(&config_map)?.message();
        if message.contains(NOT_SERVED) {
            return check(&running.delete(&probe)?);
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("after {PATIENCE:?} the new certificate does not serve: {message}"));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn annotate_pods(running: &Running, mark: &str) -> Result<(), String> {
    let pods =
        running.get_path("/api/v1/namespaces/garden/pods?labelSelector=app%3Dgardener-resource-manager")?;
    for pod in pods["items"].as_array().into_iter().flatten() {
        let head = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"], "namespace": "garden"}});
        check(
            &running.patch(&head, &json!({"metadata": {"annotations": {"e2e.example.test/mark": mark}}}))?,
        )?;
    }
    Ok(())
}

const KINDS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

fn configuration(running: &Running, kind: &str) -> Result<Value, String> {
    let metadata = json!({"name": "gardener-resource-manager"});
    running.get(&json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": metadata}))
}

/// The PEM bundle in the webhook configuration.
fn trusted_bundle(running: &Running) -> Result<String, String> {
    let found = configuration(running, KINDS[0])?;
    let text = found["webhooks"][0]["clientConfig"]["caBundle"].as_str().ok_or("it has no bundle")?;
    let pem = STANDARD.decode(text).map_err(|error| error.to_string())?;
    String::from_utf8(pem).map_err(|error| error.to_string())
}

/// Sets the PEM bundle of the webhook configurations.
fn set_trusted_bundle(running: &Running, pem: &str) -> Result<(), String> {
    for kind in KINDS {
        let found = configuration(running, kind)?;
        let mut webhooks = found["webhooks"].clone();
        for webhook in webhooks.as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]["caBundle"] = json!(STANDARD.encode(pem));
        }
        check(&running.patch(&found, &json!({"webhooks": webhooks}))?)?;
    }
    Ok(())
}
