//! Targets that cannot be reached or hang are environment errors; those that answer what no webhook answers break a law.

use std::convert::Infallible;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use rcgen::{CertificateParams, KeyPair};
use tokio::net::TcpListener;
use webhook::server::{Certificates, Patience, TlsOptions, config, serve};

use crate::program::{Told, program, told};

#[test]
fn an_address_where_nothing_listens_is_an_environment_error() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, _) = certificate(folder.path());
    // Port 9 is discard; nothing listens there.
    verify(folder.path(), "https://127.0.0.1:9", &ca)
        .says(3, &["could not reach the target", "127.0.0.1:9", "inconclusive"]);
}

#[test]
fn a_url_needs_somebody_to_trust() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["verify", "--target", "url=https://127.0.0.1:9", "--contract", "seccomp-profile"];
    told(&program(folder.path()).args(arguments).output().unwrap()).says(2, &["--ca FILE", "--insecure"]);
}

#[test]
fn a_certificate_of_another_authority_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let told = against(folder.path(), answer(200, "{}"), true);
    told.says(3, &["failed to trust the certificate"]);
}

#[test]
fn garbage_breaks_the_law_of_the_echo() {
    let folder = tempfile::tempdir().unwrap();
    against(folder.path(), answer(200, "no json at all"), false)
        .says(1, &["not an AdmissionReview", "no json at all"]);
}

#[test]
fn an_error_of_the_server_is_named_with_its_status() {
    let folder = tempfile::tempdir().unwrap();
    against(folder.path(), answer(500, "broken"), false).says(1, &["HTTP status 500"]);
}

#[test]
fn an_answer_to_another_request_breaks_the_law() {
    let folder = tempfile::tempdir().unwrap();
    let other = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"another","allowed":true}}"#;
    let told = against(folder.path(), answer(200, other), false);
    assert_ne!(told.code, 0, "{}{}", told.out, told.err);
    told.says(told.code, &["uid"]);
}

#[test]
fn a_target_that_hangs_is_named_with_the_time_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let hang = |_: Request<Incoming>| async {
        tokio::time::sleep(Duration::from_hours(1)).await;
        Ok(Response::new(Full::new(Bytes::new())))
    };
    against(folder.path(), hang, false).says(3, &["no answer from", "within 10s"]);
}

#[test]
fn a_binary_that_ends_at_once_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["verify", "--target", "command=ls /no/such/folder <port>", "--contract", "pod-scheduler-name"];
    let output = program(folder.path()).args(arguments).output().unwrap();
    told(&output).says(3, &["ended before it was ready", "/no/such/folder"]);
}

#[test]
fn a_command_is_told_its_configuration_and_flags_without_use_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("show");
    std::fs::write(&script, "#!/bin/sh\ncat \"$1\" >&2; exit 1\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(folder.path().join("base.yaml"), "kind: Mine\nlisten: <port>\n").unwrap();
    let verify = |target: &str, more: &[&str]| {
        let clause = ["verify", "--clause", "GRM-SEC-002", "--target", target];
        told(&program(folder.path()).args(clause).args(more).output().unwrap())
    };
    verify("command=./show <config> <port>", &[]).says(3, &["ended before it was ready"]);
    verify("command=./show <config>", &["--config", "base.yaml"])
        .says(3, &["\"kind\": \"Mine\"", "\"listen\": "]);
    verify("command=./show <config>", &[]).says(2, &["on which port it is asked", "<port>"]);
    verify("command=./show <port>", &["--config", "base.yaml"]).says(2, &["--config needs <config>"]);
    verify("command=./show <config> <port>", &["--insecure"]).says(2, &["--ca and --insecure"]);
    let file = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\nspec: {command: [./show]}\n";
    std::fs::write(folder.path().join("target.yaml"), file).unwrap();
    verify("target.yaml", &["--config", "base.yaml"]).says(2, &["--config"]);
    verify("target.yaml", &["--insecure"]).says(2, &["--ca and --insecure"]);
}

#[test]
fn a_server_is_started_only_beside_a_target_that_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let verify = |target: &str, more: &[&str]| {
        let clause = ["verify", "--clause", "GRM-SEC-001", "--target", target];
        told(&program(folder.path()).args(clause).args(more).output().unwrap())
    };
    let report = || std::fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
    verify("built-in", &["--substrate", "embedded"]).says(0, &["embedded API server", "conformant"]);
    assert!(report().contains("\"name\": \"embedded\""));
    verify("built-in", &[]).says(0, &["AdmissionReviews straight to the target", "conformant"]);
    verify("built-in", &["--insecure"]).says(2, &["no use for our own components"]);
    verify("built-in", &["--gardener", "v1.98.0"]).says(0, &["conformant"]);
    verify("built-in", &["--strict"]).says(0, &["strict"]);
    assert!(report().contains("\"strict\": true"));
    let attest = ["attest", "--clause", "GRM-SEC-001", "--target", "built-in", "--strict"];
    told(&program(folder.path()).args(attest).output().unwrap()).says(2, &["--strict", "verify --strict"]);
    verify("url=https://127.0.0.1:9", &["--insecure", "--substrate", "envtest"])
        .says(2, &["--substrate envtest: a target that runs already reads another cluster"]);
    verify("built-in", &["--substrate", "embedded", "--kubeconfig", "k"])
        .says(2, &["--substrate embedded has a cluster of its own"]);
    verify("built-in", &["--with", "controller-manager"]).says(2, &["--with and --data-dir are for"]);
}

#[test]
fn a_harness_that_is_killed_takes_its_target_with_it() {
    use std::io::{BufRead as _, Read as _};
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("alive");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Its guard is started right after it.
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
    // The end of the pipe comes when nobody of the group holds it any more.
    let mut rest = String::new();
    alive.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_case_is_repeated_with_the_flags_that_it_was_asked_with() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder.path());
    let url = runtime.block_on(served(certificates, answer(500, "broken")));
    let told = verify(folder.path(), &url, &ca);
    told.says(
        1,
        &[&format!("again   gardener-conformance verify --target url={url} --ca {ca} --case 'GRM-SEC-002/")],
    );
}

#[test]
fn a_run_that_could_not_ask_leaves_what_was_attested() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, _) = certificate(folder.path());
    let attested = folder.path().join("127.0.0.1:9-unknown.yaml");
    std::fs::write(&attested, "before").unwrap();
    let arguments = ["attest", "--into", ".", "--target", "url=https://127.0.0.1:9", "--ca", &ca];
    let clause = ["--clause", "GRM-SEC-002"];
    told(&program(folder.path()).args(arguments).args(clause).output().unwrap())
        .says(3, &["the attestation is not written"]);
    assert_eq!(std::fs::read_to_string(attested).unwrap(), "before");
}

/// Verifies one clause against a server that answers as `service` does.
fn against<S, F>(folder: &Path, service: S, foreign: bool) -> Told
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

/// The address at which a service answers as long as the runtime is there.
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

fn verify(folder: &Path, url: &str, ca: &str) -> Told {
    let target = format!("url={url}");
    let arguments = ["verify", "--target", &target, "--ca", ca, "--clause", "GRM-SEC-002"];
    told(&program(folder).args(arguments).output().unwrap())
}

/// A certificate for the loopback address that signs itself, and the file it is in.
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

/// `built-in` is the component that the contracts are about.
#[test]
fn our_components_are_asked_about_their_own_contracts() {
    let folder = tempfile::tempdir().unwrap();
    for (clause, name) in [
        ("CP-002", "gardener-controlplane"),
        ("GCM-CFG-001", "gardener-controller-manager"),
        ("GDN-CPP-001", "gardener-garden-admission"),
        ("GRM-SEC-001", "gardener-resource-manager"),
    ] {
        let verify = ["verify", "--target", "built-in", "--clause", clause];
        told(&program(folder.path()).args(verify).output().unwrap()).says(0, &["conformant"]);
        let report = std::fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
        assert!(report.contains(&format!("\"name\": \"{name}\"")), "{clause}");
    }
}
