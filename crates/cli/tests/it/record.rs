//! `record` and `replay`: requests of a cluster to a webhook become cases, which run again without the cluster.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use tokio::runtime::Runtime;

use crate::program::{CallResult, call, program, result_of};
use crate::strange_targets::{certificate, served};

/// How long the registration may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// Whether the webhook behaves like a newer version, which writes another value.
static IS_NEWER: AtomicBool = AtomicBool::new(false);

/// A webhook that annotates each object and copies its password.
async fn webhook(
    request: Request<Incoming>,
) -> Result<Response<Full<bytes::Bytes>>, std::convert::Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let object = &review["request"]["object"];
    let value = if IS_NEWER.load(Ordering::Relaxed) { "<two>" } else { "<one>" };
    let patch = json!([
        {"op": "add", "path": "/metadata/annotations", "value": {"hooks.example.org/by": value}},
        {"op": "add", "path": "/data/copy", "value": object["data"]["password"]},
    ]);
    let response = json!({
        "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch",
        "patch": STANDARD.encode(patch.to_string()),
    });
    let answer = json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
    Ok(Response::new(Full::new(answer.to_string().into())))
}

/// An embedded API server started with `env up`; dropping it stops it.
struct Seed<'a> {
    folder: &'a Path,
    kubeconfig: String,
    cluster: Cluster,
}

impl<'a> Seed<'a> {
    fn up(folder: &'a Path, runtime: &Runtime) -> Self {
        let up = call(folder, &["env", "up", "--name", "record"]);
        up.assert_exit(0, &[]);
        let kubeconfig = up.out.trim().to_owned();
        let client = runtime.block_on(substrate::kubeconfig::client(Path::new(&kubeconfig))).unwrap();
        Self { folder, kubeconfig, cluster: Cluster::new(client) }
    }

    fn create(&self, runtime: &Runtime, object: &Value) {
        let reply = runtime.block_on(self.cluster.create(object, "")).unwrap();
        assert!(reply.is_success(), "{}", reply.message());
    }

    /// Whether the registration that a recording adds exists.
    fn is_recording(&self, runtime: &Runtime) -> bool {
        let object = registration("0-recorded-hooks", &json!({}));
        runtime.block_on(self.cluster.get(&object)).unwrap().is_success()
    }

    fn record(&self, further: &[&str]) -> Child {
        let kubeconfig = ["record", "--kubeconfig", &self.kubeconfig, "--registration", "hooks"];
        let mut command = program(self.folder);
        command.args(kubeconfig).args(further).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }
}

impl Drop for Seed<'_> {
    fn drop(&mut self) {
        call(self.folder, &["env", "down", "--name", "record"]);
    }
}

fn registration(name: &str, client_config: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": "labels.hooks.example.org", "clientConfig": client_config, "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        }],
    })
}

fn map(name: &str, password: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
        "data": {"password": password, "text": "$(x) <y>"},
    })
}

fn wait(child: Child) -> CallResult {
    result_of(&child.wait_with_output().expect("the program ends"))
}

/// The contents of all files below a folder.
fn texts(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { texts(&path) } else { fs::read_to_string(path).unwrap() }).collect()
}

#[test]
fn requests_are_recorded_without_secrets_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (ca, certificates) = certificate(here);
    let url = runtime.block_on(served(certificates, webhook));
    let bundle = STANDARD.encode(fs::read(&ca).unwrap());
    let seed = Seed::up(here, &runtime);
    let to = json!({"url": format!("{url}/hooks/labels"), "caBundle": bundle});
    seed.create(&runtime, &registration("hooks", &to));

    let recording = seed.record(&["--count", "2", "--for", "90s"]);
    let begun = Instant::now();
    while !seed.is_recording(&runtime) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(50));
    }
    let twice = map("a", "hunter2");
    seed.create(&runtime, &twice);
    runtime.block_on(seed.cluster.delete(&twice, "")).unwrap();
    seed.create(&runtime, &map("b", "hunter3"));
    let result = wait(recording);
    result.assert_exit(
        0,
        &[
            "recording the webhook of hooks until 90s have passed, or Ctrl-C",
            "REC-001  CREATE ConfigMap default/a  2 places changed",
            "wrote    2 cases to recorded",
            "next     gardener-conformance replay recorded --target provider.yaml",
        ],
    );
    assert!(!seed.is_recording(&runtime), "its registration is deleted");
    drop(seed);
    assert!(!texts(&here.join("recorded")).contains("hunter"), "{}", texts(&here.join("recorded")));

    let target = format!("url={url}");
    let replay = |further: &[&str]| {
        let again = ["replay", "recorded", "--target", &target, "--ca", &ca];
        call(here, &[&again[..], further].concat())
    };
    replay(&[]).assert_exit(0, &["conformant"]);
    IS_NEWER.store(true, Ordering::Relaxed);
    replay(&[]).assert_exit(
        1,
        &["REC-001", "hooks.example.org/by: <one>  wanted", "hooks.example.org/by: <two>  got"],
    );
    replay(&["--contracts", "recorded"]).assert_exit(2, &["leave the flag out"]);
    call(here, &["lint", "--contracts", "recorded"]).assert_exit(0, &[]);
}

#[test]
fn errors_are_reported_before_anything_is_registered() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let seed = Seed::up(here, &runtime);
    fs::create_dir(here.join("full")).unwrap();
    fs::write(here.join("full/x"), "").unwrap();
    let record = |further: &[&str]| wait(seed.record(further));
    record(&[])
        .assert_exit(2, &["no MutatingWebhookConfiguration and no ValidatingWebhookConfiguration \"hooks\""]);
    record(&["--into", "full"]).assert_exit(2, &["--into full: the folder is not empty"]);
    record(&["--fact", "cloud-config"]).assert_exit(2, &["write RESOURCE/NAME"]);
    record(&["--listen", "0.0.0.0:0"]).assert_exit(2, &["add --host"]);
    record(&["--into", "a", "--for", "x"]).assert_exit(2, &["--for x"]);
    seed.create(&runtime, &registration("hooks", &json!({"url": "https://127.0.0.1:1/hooks"})));
    record(&["--into", "b"]).assert_exit(2, &["registered without a caBundle", "--insecure"]);
    record(&["--into", "c", "--webhook", "x"])
        .assert_exit(2, &["--webhook x: hooks has no such webhook; it has labels.hooks.example.org"]);
    record(&["--into", "d", "--insecure", "--for", "1s"]).assert_exit(4, &["nothing was recorded"]);
    assert!(!seed.is_recording(&runtime));
    call(here, &["replay", "full", "--target", "url=https://127.0.0.1:1"])
        .assert_exit(2, &["contains no recording"]);
}
