//! `diff-run`: compares our component with itself, and with a webhook that changes nothing.

use std::convert::Infallible;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::program::{CallResult, call};
use crate::strange_targets::{certificate, served};

fn diff_run(folder: &Path, more: &[&str]) -> CallResult {
    let webhook = ["diff-run", "--webhook", "pod-scheduler-name", "--objects", "60", "--settle", "100ms"];
    call(folder, &[&webhook[..], more].concat())
}

/// Allows everything and changes nothing.
async fn idle(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    let response = json!({"uid": review["request"]["uid"], "allowed": true, "status": {"code": 200}});
    let answer = json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
    Ok(Response::new(Full::new(Bytes::from(answer.to_string()))))
}

#[test]
fn a_target_does_not_differ_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    let result = diff_run(folder.path(), &["--b", "built-in"]);
    result.assert_exit(0, &["pod-scheduler-name", "60 inputs, 0 differ", "every difference is explained"]);
}

#[test]
fn a_webhook_that_does_nothing_differs_unless_an_explanation_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder.path());
    let url = runtime.block_on(served(certificates, idle));
    let cluster = runtime.block_on(substrate::embedded::Embedded::start(true, None)).unwrap();
    let (target, kubeconfig) = (format!("url={url}"), cluster.kubeconfig().unwrap().display().to_string());
    let against = ["--b", &target, "--ca", &ca, "--kubeconfig", &kubeconfig];
    // The tool does not know which cluster the webhook reads, and every case of the contract has a namespace.
    diff_run(folder.path(), &against[..4])
        .assert_exit(4, &["no case of the contract can be sent to both targets"]);
    let result = diff_run(folder.path(), &against);
    result.assert_exit(5, &["object.spec.schedulerName", "bin-packing-scheduler", "1 group unexplained"]);
    let json = diff_run(folder.path(), &[&against[..], &["-o", "json"]].concat());
    let found: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(found["webhooks"][0]["groups"][0]["place"], "object.spec.schedulerName");
    let name = url.trim_start_matches("https://");
    let file = format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Explanations\ntarget: {{name: \"{name}\"}}\n\
         explanations:\n- {{at: object.spec.schedulerName, theirs: $unchanged, reason: it is idle}}\n"
    );
    std::fs::write(folder.path().join("why.yaml"), file).unwrap();
    let result = diff_run(folder.path(), &[&against[..], &["--explanations", "why.yaml"]].concat());
    result.assert_exit(0, &["it is idle", "every difference is explained"]);
}

#[test]
fn controllers_run_in_generated_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let controller = ["diff-run", "--controller", "managed-resource", "--b", "built-in", "--objects", "4"];
    let result = call(folder.path(), &controller);
    result.assert_exit(0, &["managed-resource", "4 worlds", "every difference is explained"]);
    let json = call(folder.path(), &[&controller[..], &["-o", "json"]].concat());
    let found: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(found["controllers"][0]["controller"], "managed-resource");
    assert_eq!((&found["controllers"][0]["compared"], &found["webhooks"]), (&json!(4), &json!([])));
}

#[test]
fn invalid_arguments_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let table: [(&[&str], &[&str]); 7] = [
        (&["--b", "nowhere.yaml"], &["failed to read target nowhere.yaml"]),
        (
            &["--b", "built-in", "--webhook", "none"],
            &["--webhook none: there is no such webhook", "seccomp-profile"],
        ),
        (&["--b", "built-in", "--insecure"], &["the tool starts both targets"]),
        (&["--b", "built-in", "--explanations", "none.yaml"], &["failed to read explanations none.yaml"]),
        (&["--b", "built-in", "--objects", "0"], &["is not a whole number from 1 on"]),
        (&["--b", "built-in", "--controller", "none"], &["--controller none", "managed-resource"]),
        (
            &["--b", "url=https://localhost:1", "--controller", "managed-resource"],
            &["needs targets that the tool starts with their own clusters"],
        ),
    ];
    for (arguments, words) in table {
        call(folder.path(), &[&["diff-run"], arguments].concat()).assert_exit(2, words);
    }
}
