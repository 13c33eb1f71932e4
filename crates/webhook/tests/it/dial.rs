//! Responses and errors of dialers.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use webhook::dial::{
    Connection, Destination, DialError, Dialer, Dialers as _, FixedDialers, HttpAnswer, Https, InProcess,
    Target, Trust, handshake,
};
use webhook::registration::{ClientConfig, ServiceReference};
use webhook::server::{Certificates, Patience, TlsOptions, config, serve};
use webhook::service::Limits;

use crate::certificates::{Authority, self_signed};
use crate::hooks::{hooks, marked, review};

const MINUTE: Duration = Duration::from_mins(1);

fn marked_answer() -> HttpAnswer {
    HttpAnswer { status: 200, media: Some("application/json".to_owned()), body: marked("v1").into() }
}

fn tls((certificate, key): &(String, String)) -> Arc<rustls::ServerConfig> {
    let pair = Certificates::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
    config(Arc::new(pair), TlsOptions::default()).unwrap()
}

/// Starts a server with the test's webhooks and a certificate for `name`; returns its address.
async fn server(authority: &Authority, name: &str) -> String {
    server_with(&authority.sign(name)).await
}

/// Starts a server with the test's webhooks and this certificate and key; returns its address.
async fn server_with(pair: &(String, String)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let tls = tls(pair);
    let service = hooks(Limits::default());
    tokio::spawn(serve(listener, Some(tls), service, Patience::default(), std::future::pending()));
    address
}

/// Starts a server that completes the TLS handshake and answers every request with `bytes`; returns its address.
async fn parrot(authority: &Authority, bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (certificate, key) = authority.sign("localhost");
    let pair = Certificates::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
    let mut tls = Arc::unwrap_or_clone(config(Arc::new(pair), TlsOptions::default()).unwrap());
    tls.alpn_protocols.clear();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = acceptor.accept(stream).await.unwrap();
            let _request = stream.read(&mut [0; 4096]).await;
            stream.write_all(bytes).await.ok();
            stream.shutdown().await.ok();
        }
    });
    address
}

fn https(address: &str, trust: Trust) -> Https {
    let url = "https://localhost:9443/prefix/".to_owned();
    Https::new(&Target { url, address: Some(address.to_owned()), server_name: None, trust }).unwrap()
}

fn bundle(authority: &Authority) -> Trust {
    Trust::Bundle(authority.pem().into_bytes())
}

#[tokio::test(start_paused = true)]
async fn webhooks_of_this_process_are_reached_without_a_socket() {
    let dialer = InProcess::new(hooks(Limits::default()));
    assert_eq!(dialer.post("/marks?timeout=10s", review("v1"), MINUTE).await.unwrap(), marked_answer());
    assert_eq!(dialer.post("/nowhere", review("v1"), MINUTE).await.unwrap().status, 404);
    let late = dialer.post("/sleeps", review("v1"), Duration::from_secs(2)).await.unwrap_err();
    assert_eq!(late.to_string(), "no answer from /sleeps within 2s");
    let wrong = dialer.post("no path", review("v1"), MINUTE).await.unwrap_err();
    assert!(matches!(wrong, DialError::Exchange { .. }), "{wrong}");
}

#[tokio::test]
async fn each_failure_has_its_own_error() {
    let (authority, other) = (Authority::new(), Authority::new());
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    let serving = server(&authority, "localhost").await;
    let misnamed = server(&authority, "elsewhere").await;
    let garbage = parrot(&authority, b"Ceci n'est pas HTTP.\r\n\r\n").await;
    let cut = parrot(&authority, b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{").await;
    let url = "https://localhost:9443/prefix/marks";
    let table = [
        (https(&closed, bundle(&authority)), format!("failed to connect to {url}: Connection refused")),
        (https(&serving, bundle(&other)), format!("failed to trust the certificate of {url}: invalid peer")),
        (
            https(&misnamed, bundle(&authority)),
            format!("failed to trust the certificate of {url}: invalid peer"),
        ),
        (https(&garbage, bundle(&authority)), format!("failed to exchange with {url}: ")),
        // Case 60: a closed connection in our words.
        (
            https(&cut, bundle(&authority)),
            format!(
                "failed to exchange with {url}: the server closed the connection before its response was complete"
            ),
        ),
    ];
    for (dialer, text) in table {
        let error = dialer.post("/marks?timeout=10s", review("v1"), MINUTE).await.unwrap_err();
        assert!(error.to_string().starts_with(&text), "{error}\nis not\n{text}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_itself_in_the_bundle_is_trusted_for_its_name_only() {
    let (good_name, other_name, stranger) =
        (self_signed("localhost"), self_signed("elsewhere"), self_signed("localhost"));
    let post = async |pair: &(String, String), bundle: &(String, String)| {
        let dialer = https(&server_with(pair).await, Trust::Bundle(bundle.0.clone().into_bytes()));
        dialer.post("/marks?timeout=10s", review("v1"), MINUTE).await.map(|answer| answer.status)
    };
    // The test's webhooks do not serve the prefix of the address.
    assert_eq!(post(&good_name, &good_name).await.unwrap(), 404);
    let misnamed = post(&other_name, &other_name).await.unwrap_err();
    assert!(matches!(misnamed, DialError::Tls { .. }), "{misnamed}");
    let unknown = post(&good_name, &stranger).await.unwrap_err();
    assert!(matches!(unknown, DialError::Tls { .. }), "{unknown}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_causes_a_timeout() {
    let authority = Authority::new();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let deaf = silent.local_addr().unwrap().to_string();
    let slow = server(&authority, "localhost").await;
    let timeout = Duration::from_millis(100);
    for (address, path) in [(deaf, "/marks"), (slow, "/prefix/../sleeps")] {
        let url = "https://localhost:9443".to_owned();
        let target = Target { url, address: Some(address), server_name: None, trust: bundle(&authority) };
        let path = path.rsplit_once("..").map_or(path, |(_, path)| path);
        let error = Https::new(&target).unwrap().post(path, review("v1"), timeout).await.unwrap_err();
        assert!(matches!(&error, DialError::Timeout { timeout: given, .. } if *given == timeout), "{error}");
    }
}

#[tokio::test]
async fn a_handshake_checks_whether_a_server_uses_tls() {
    let authority = Authority::new();
    handshake(&server(&authority, "elsewhere").await, MINUTE).await.unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let hangs = handshake(&address, Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(hangs, DialError::Timeout { .. }), "{hangs}");
    drop(silent);
    let closed = handshake(&address, MINUTE).await.unwrap_err();
    assert!(matches!(closed, DialError::Connect { .. }), "{closed}");
}

#[tokio::test]
async fn authorities_come_from_a_file_or_are_not_checked() {
    let authority = Authority::new();
    let address = server(&authority, "localhost").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.crt");
    std::fs::write(&file, authority.pem()).unwrap();
    let url = format!("https://{address}");
    for (trust, server_name) in [(Trust::File(file), Some("localhost".to_owned())), (Trust::Insecure, None)] {
        let target = Target { url: url.clone(), address: None, server_name, trust };
        assert_eq!(
            Https::new(&target).unwrap().post("/marks", review("v1"), MINUTE).await.unwrap(),
            marked_answer()
        );
    }
}

#[test]
fn errors_of_unusable_targets_have_a_reason_and_no_password() {
    let target = |url: &str, trust| Target { url: url.to_owned(), address: None, server_name: None, trust };
    let wants = "the address must read https://host[:port][/path]";
    let missing = Trust::File("/does/not/exist".into());
    let table = [
        (target("http://a", Trust::Insecure), format!("failed to connect to http://a: {wants}")),
        (target("a", Trust::Insecure), format!("failed to connect to a: {wants}")),
        (
            target("https://user:secret@a", Trust::Insecure),
            "failed to connect to https://a: user information is not permitted in the address".to_owned(),
        ),
        // Case 63: not port 443.
        (
            target("https://a:99999", Trust::Insecure),
            "failed to connect to https://a:99999: 99999 is no port; ports are 1 to 65535".to_owned(),
        ),
        (
            target("https://a", Trust::Bundle(b"nothing".to_vec())),
            "failed to trust the certificate of https://a: failed to read certificate authorities: no certificate \
             found"
                .to_owned(),
        ),
        (
            target("https://a", missing),
            "failed to trust the certificate of https://a: failed to read /does/not/exist: No such file or directory \
             (os error 2)"
                .to_owned(),
        ),
    ];
    for (target, text) in table {
        assert_eq!(Https::new(&target).unwrap_err().to_string(), text);
    }
}

fn service(namespace: &str, path: Option<&str>, ca_bundle: Option<String>) -> ClientConfig {
    let path = path.map(ToOwned::to_owned);
    let service =
        ServiceReference { namespace: namespace.to_owned(), name: "hooks".to_owned(), path, port: None };
    ClientConfig { url: None, service: Some(service), ca_bundle }
}

fn url(url: &str, ca_bundle: Option<String>) -> ClientConfig {
    ClientConfig { url: Some(url.to_owned()), service: None, ca_bundle }
}

async fn post_review(dialers: &FixedDialers, to: &ClientConfig) -> Result<HttpAnswer, DialError> {
    let dialer: Arc<dyn Dialer> = dialers.dialer(to, Connection::default())?;
    dialer.post(&to.address().unwrap().path, review("v1"), MINUTE).await
}

#[tokio::test]
async fn registered_webhooks_are_found_by_service_and_by_url() {
    let authority = Authority::new();
    let ca = Some(STANDARD.encode(authority.pem()));
    let by_service = server(&authority, "hooks.remote.svc").await;
    let by_url = server(&authority, "localhost").await;
    let port = by_url.rsplit_once(':').unwrap().1;
    let dialers = FixedDialers::new()
        .service("local", "hooks", Destination::InProcess(hooks(Limits::default())))
        .service("remote", "hooks", Destination::Address(by_service))
        .host("hooks.shoot:443", Destination::InProcess(hooks(Limits::default())))
        .host("localhost:443", Destination::Address(by_url.clone()));
    for to in [
        service("local", Some("/marks"), None),
        service("remote", Some("/marks"), ca.clone()),
        service("remote", Some("/marks"), ca.clone()),
        url("https://hooks.shoot/marks", None),
        url("https://localhost/marks", ca.clone()),
        url(&format!("https://localhost:{port}/marks"), ca.clone()),
    ] {
        assert_eq!(post_review(&dialers, &to).await.unwrap(), marked_answer(), "{to:?}");
    }
}

#[tokio::test]
async fn unresolvable_webhooks_are_errors() {
    let dialers = FixedDialers::new()
        .service("here", "hooks", Destination::Address("127.0.0.1:1".to_owned()))
        .service("local", "hooks", Destination::InProcess(hooks(Limits::default())));
    let table = [
        (
            service("nowhere", Some("/marks"), None),
            "failed to connect to https://hooks.nowhere.svc:443/marks: no address is known for service nowhere/hooks",
        ),
        (
            service("here", None, None),
            "failed to trust the certificate of https://hooks.here.svc:443: the registration carries no caBundle",
        ),
        (
            service("here", None, Some("!".to_owned())),
            "failed to trust the certificate of https://hooks.here.svc:443: caBundle: illegal base64 data at input byte 0",
        ),
        (ClientConfig::default(), "failed to connect to : exactly one of url or service is required"),
    ];
    for (to, text) in table {
        assert_eq!(post_review(&dialers, &to).await.unwrap_err().to_string(), text);
    }
    let answer = post_review(&dialers, &service("local", Some("/other"), None)).await.unwrap();
    assert_eq!(
        answer,
        HttpAnswer {
            status: 404,
            media: Some("text/plain; charset=utf-8".to_owned()),
            body: Bytes::from_static(b"404 page not found\n")
        }
    );
}
