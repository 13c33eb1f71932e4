//! Targets that cannot be reached or hang are environment errors; targets with invalid answers break a law.

use std::convert::Infallible;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use rcgen::{CertificateParams, KeyPair};
use tokio::net::TcpListener;
use webhook::server::{Certificates, Patience, TlsOptions, config, serve};

use crate::program::{CallResult, program, result_of};

#[test]
fn an_address_where_nothing_listens_is_an_environment_error() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, _) = certificate(folder.path());
    // Port 9 is discard; nothing listens there.
    verify(folder.path(), "https://127.0.0.1:9", &ca)
        .assert_exit(3, &["could not reach the target", "127.0.0.1:9", "inconclusive"]);
}

#[test]
fn a_url_needs_a_ca_or_insecure() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["verify", "--target", "url=https://127.0.0.1:9", "--contract", "seccomp-profile"];
    result_of(&program(folder.path()).args(arguments).output().unwrap())
        .assert_exit(2, &["--ca FILE", "--insecure"]);
}

#[test]
fn a_certificate_of_another_authority_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let result = verify_service(folder.path(), answer(200, "{}"), true);
    result.assert_exit(3, &["failed to trust the certificate"]);
}

#[test]
fn garbage_breaks_the_law_of_the_echo() {
    let folder = tempfile::tempdir().unwrap();
    verify_service(folder.path(), answer(200, "no json at all"), false)
        .assert_exit(1, &["not an AdmissionReview", "no json at"]);
}

/// The body that case 60's webhook throws on.
fn is_review(body: &[u8]) -> bool {
    let review: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    review["apiVersion"].is_string() && review["request"]["uid"].is_string()
}

/// Allows everything; closes the connection when `reads` is false for the body, as a handler that throws.
async fn naive_webhook(certificates: Certificates, reads: fn(&[u8]) -> bool) -> String {
    let service = move |request: Request<Incoming>| async move {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        assert!(reads(&body), "the handler throws");
        let review: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let answer = serde_json::json!({
            "apiVersion": review["apiVersion"], "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": true},
        });
        Ok(Response::new(Full::new(Bytes::from(answer.to_string()))))
    };
    served(certificates, service).await
}

#[test]
fn case_60_a_webhook_that_throws_on_what_is_no_review_gets_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder.path());
    let url = runtime.block_on(naive_webhook(certificates, is_review));
    let result = verify(folder.path(), &url, &ca);
    result.assert_exit(1, &["GRM-SEC-002"]);
    assert!(!format!("{}{}", result.out, result.err).contains("could not reach the target"));
}

#[test]
fn case_60_a_closed_connection_is_described_without_the_words_of_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder.path());
    let url = runtime.block_on(naive_webhook(certificates, |_| false));
    let result = verify(folder.path(), &url, &ca);
    // It answers no request at all: this is about its reviews, and not about the environment.
    result.assert_exit(1, &["the server broke off the request before"]);
    assert!(!format!("{}{}", result.out, result.err).contains("http2 error"));
}

#[test]
fn case_62_a_broken_clause_decides_although_its_report_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("reports/latest/report.json/x")).unwrap();
    let result = verify_service(folder.path(), answer(500, "broken"), false);
    result.assert_exit(1, &["HTTP status 500", "! failed to write the report: "]);
    assert!(result.out.contains("not conformant"), "{}", result.out);
}

#[test]
fn an_error_of_the_server_is_named_with_its_status() {
    let folder = tempfile::tempdir().unwrap();
    verify_service(folder.path(), answer(500, "broken"), false).assert_exit(1, &["HTTP status 500"]);
}

#[test]
fn an_answer_to_another_request_breaks_the_law() {
    let folder = tempfile::tempdir().unwrap();
    let other = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"another","allowed":true}}"#;
    let result = verify_service(folder.path(), answer(200, other), false);
    assert_ne!(result.code, 0, "{}{}", result.out, result.err);
    result.assert_exit(result.code, &["uid"]);
}

#[test]
fn a_target_that_hangs_is_reported_with_its_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let hanging = |_: Request<Incoming>| async {
        tokio::time::sleep(Duration::from_hours(1)).await;
        Ok(Response::new(Full::new(Bytes::new())))
    };
    verify_service(folder.path(), hanging, false).assert_exit(3, &["no answer from", "within 10s"]);
}

#[test]
fn the_output_of_a_program_that_ends_at_once_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["verify", "--target", "command=ls /no/such/folder <port>", "--contract", "pod-scheduler-name"];
    let output = program(folder.path()).args(arguments).output().unwrap();
    result_of(&output).assert_exit(3, &["ended before it was ready", "/no/such/folder"]);
}

#[test]
fn a_command_gets_its_configuration_and_useless_flags_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("show");
    std::fs::write(&script, "#!/bin/sh\ncat \"$1\" >&2; exit 1\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(folder.path().join("base.yaml"), "kind: Mine\nlisten: <port>\n").unwrap();
    let verify = |target: &str, more: &[&str]| {
        let clause = ["verify", "--clause", "GRM-SEC-002", "--target", target];
        result_of(&program(folder.path()).args(clause).args(more).output().unwrap())
    };
    verify("command=./show <config> <port>", &[]).assert_exit(3, &["ended before it was ready"]);
    verify("command=./show <config>", &["--config", "base.yaml"])
        .assert_exit(3, &["\"kind\": \"Mine\"", "\"listen\": "]);
    verify("command=./show <config>", &[]).assert_exit(2, &["on which port to serve", "<port>"]);
    verify("command=./show <port>", &["--config", "base.yaml"]).assert_exit(2, &["--config needs <config>"]);
    verify("command=./show <config> <port>", &["--insecure"]).assert_exit(2, &["--ca and --insecure"]);
    let file = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\nspec: {command: [./show]}\n";
    std::fs::write(folder.path().join("target.yaml"), file).unwrap();
    verify("target.yaml", &["--config", "base.yaml"]).assert_exit(2, &["--config"]);
    verify("target.yaml", &["--insecure"]).assert_exit(2, &["--ca and --insecure"]);
}

#[test]
fn a_server_is_started_only_beside_a_target_that_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let verify = |target: &str, more: &[&str]| {
        let clause = ["verify", "--clause", "GRM-SEC-001", "--target", target];
        result_of(&program(folder.path()).args(clause).args(more).output().unwrap())
    };
    let report = || std::fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
    verify("built-in", &["--substrate", "embedded"]).assert_exit(0, &["embedded API server", "conformant"]);
    assert!(report().contains("\"name\": \"embedded\""));
    verify("built-in", &["--substrate", "garden"]).assert_exit(0, &["gardener-apiserver does", "conformant"]);
    assert!(report().contains("\"name\": \"garden\""));
    verify("url=https://127.0.0.1:9", &["--insecure", "--substrate", "garden"])
        .assert_exit(2, &["--substrate garden: a running target already reads another cluster"]);
    verify("built-in", &[]).assert_exit(0, &["AdmissionReviews straight to the target", "conformant"]);
    verify("built-in", &["--insecure"])
        .assert_exit(2, &["--ca, --insecure, --config and --provider are not for --target built-in"]);
    verify("built-in", &["--gardener", "v1.98.0"]).assert_exit(0, &["conformant"]);
    verify("built-in", &["--strict"]).assert_exit(0, &["· strict"]);
    assert!(report().contains("\"strict\": true"));
    let attest = ["attest", "--clause", "GRM-SEC-001", "--target", "built-in", "--strict"];
    result_of(&program(folder.path()).args(attest).output().unwrap())
        .assert_exit(2, &["--strict", "verify --strict"]);
    verify("url=https://127.0.0.1:9", &["--insecure", "--substrate", "envtest"])
        .assert_exit(2, &["--substrate envtest: a running target already reads another cluster"]);
    verify("built-in", &["--substrate", "embedded", "--kubeconfig", "k"])
        .assert_exit(2, &["--substrate embedded starts its own cluster"]);
    verify("built-in", &["--with", "controller-manager"]).assert_exit(2, &["--with and --data-dir are for"]);
}

#[test]
fn a_harness_that_is_killed_takes_its_target_with_it() {
    use std::io::{BufRead as _, Read as _};
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("alive");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Wait until the tool has started the guard, which it does right after the target.
    let script = folder.path().join("serve");
    std::fs::write(&script, "#!/bin/sh\nsleep 0.5; exec 9>alive; echo \"$1\" >&9; sleep 1000 & wait\n")
        .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let arguments = ["verify", "--clause", "GRM-SEC-002", "--target", "command=./serve <certDir> <port>"];
    let mut harness = program(folder.path()).args(arguments).spawn().unwrap();
    let mut alive = std::io::BufReader::new(std::fs::File::open(&fifo).unwrap());
    let mut scratch = String::new();
    alive.read_line(&mut scratch).unwrap();
    assert!(Path::new(scratch.trim()).exists());
    harness.kill().unwrap();
    harness.wait().unwrap();
    // The pipe ends when no process of the group has it open any more.
    let mut rest = String::new();
    alive.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn the_command_that_repeats_a_case_has_the_flags_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder.path());
    let url = runtime.block_on(served(certificates, answer(500, "broken")));
    let result = verify(folder.path(), &url, &ca);
    result.assert_exit(
        1,
        &[&format!("again   gardener-conformance verify --target url={url} --ca {ca} --case 'GRM-SEC-002/")],
    );
}

#[test]
fn a_run_without_answers_does_not_change_an_attestation() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, _) = certificate(folder.path());
    let attested = folder.path().join("127.0.0.1:9-unknown.yaml");
    std::fs::write(&attested, "before").unwrap();
    let arguments = ["attest", "--into", ".", "--target", "url=https://127.0.0.1:9", "--ca", &ca];
    let clause = ["--clause", "GRM-SEC-002"];
    result_of(&program(folder.path()).args(arguments).args(clause).output().unwrap())
        .assert_exit(3, &["the attestation is not written"]);
    assert_eq!(std::fs::read_to_string(attested).unwrap(), "before");
}

/// Verifies one clause on a server with `service`; `foreign`: trusts another CA than that of the server.
fn verify_service<S, F>(folder: &Path, service: S, foreign: bool) -> CallResult
where
    S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder);
    let url = runtime.block_on(served(certificates, service));
    let ca = if foreign { certificate(folder).0 } else { ca };
    verify(folder, &url, &ca)
}

/// Serves `service` as long as the runtime exists, and returns the address.
pub(crate) async fn served<S, F>(certificates: Certificates, service: S) -> String
where
    S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let tls = config(Arc::new(certificates), TlsOptions::default()).unwrap();
    let service = tower::service_fn(service);
    tokio::spawn(serve(listener, Some(tls), service, Patience::default(), std::future::pending()));
    url
}

fn answer(
    status: u16,
    body: &'static str,
) -> impl Fn(Request<Incoming>) -> std::future::Ready<Result<Response<Full<Bytes>>, Infallible>>
+ Clone
+ Send
+ Sync
+ 'static {
    move |_| {
        let response = Response::builder().status(status).header("content-type", "application/json");
        std::future::ready(Ok(response.body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap()))
    }
}

fn verify(folder: &Path, url: &str, ca: &str) -> CallResult {
    let target = format!("url={url}");
    let arguments = ["verify", "--target", &target, "--ca", ca, "--clause", "GRM-SEC-002"];
    result_of(&program(folder).args(arguments).output().unwrap())
}

/// A self-signed certificate for the loopback address, and the path of its file.
pub(crate) fn certificate(folder: &Path) -> (String, Certificates) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    let file = folder.join(format!("ca-{}.crt", pem.len() + std::fs::read_dir(folder).unwrap().count()));
    std::fs::write(&file, &pem).unwrap();
    (
        file.display().to_string(),
        Certificates::from_pem(pem.as_bytes(), key.serialize_pem().as_bytes()).unwrap(),
    )
}

#[test]
fn built_in_is_the_component_that_the_contracts_are_about() {
    let folder = tempfile::tempdir().unwrap();
    for (clause, name) in [
        ("CP-002", "gardener-controlplane"),
        ("GCM-CFG-001", "gardener-controller-manager"),
        ("GDN-CPP-001", "gardener-garden-admission"),
        ("GRM-SEC-001", "gardener-resource-manager"),
    ] {
        let verify = ["verify", "--target", "built-in", "--clause", clause];
        result_of(&program(folder.path()).args(verify).output().unwrap()).assert_exit(0, &["conformant"]);
        let report = std::fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
        assert!(report.contains(&format!("\"name\": \"{name}\"")), "{clause}");
    }
}
