//! The HTTPS server: protocols, changing certificates, slow and malformed clients, graceful shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use webhook::dial::{DialError, Dialer as _, Https, Target, Trust};
use webhook::server::{
    CertificateError, CertificateFolder, Certificates, Patience, Peer, TlsOptions, config, serve, trusted,
};
use webhook::service::Limits;
use webhook::trust::client_config;

use crate::certificates::{Authority, write};
use crate::hooks::{hooks, marked, review};

const PATIENCE: Patience = Patience {
    first_request: Duration::from_millis(300),
    idle: Duration::from_millis(300),
    drain: Duration::from_millis(500),
    connections: 100,
};
pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// A running server and the way to stop it.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<()>,
}

pub(crate) async fn start(certificates: Arc<Certificates>, patience: Patience) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tls = config(certificates, TlsOptions::default()).unwrap();
    let (stop, stopped) = oneshot::channel();
    let service = hooks(Limits { body: 4096, ..Limits::default() });
    let shutdown = async move { drop(stopped.await) };
    let task = tokio::spawn(serve(listener, Some(tls), service, patience, shutdown));
    Running { address, stop, task }
}

pub(crate) fn pair(authority: &Authority, name: &str) -> Arc<Certificates> {
    let (certificate, key) = authority.sign(name);
    Arc::new(Certificates::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap())
}

pub(crate) fn dialer(address: SocketAddr, authority: &Authority) -> Https {
    let trust = Trust::Bundle(authority.pem().into_bytes());
    let url = "https://hooks.ns.svc".to_owned();
    Https::new(&Target { url, address: Some(address.to_string()), server_name: None, trust }).unwrap()
}

/// A TLS connection that speaks `protocol`, for clients that misbehave.
pub(crate) async fn raw(address: SocketAddr, authority: &Authority, protocol: &[u8]) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    connect(address, config).await.unwrap()
}

async fn connect(address: SocketAddr, config: ClientConfig) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("hooks.ns.svc").unwrap(), stream).await
}

async fn exchange(stream: &mut TlsStream<TcpStream>, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(MINUTE, stream.read_to_string(&mut answer)).await.unwrap();
    // The server may close the connection without a TLS close notification.
    read.ok();
    answer
}

#[tokio::test]
async fn http2_is_negotiated_and_the_connection_is_reused() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), Patience::default()).await;
    let stream = raw(server.address, &authority, b"h2").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let dialer = dialer(server.address, &authority);
    for version in ["v1", "v1beta1", "v1"] {
        let answer = dialer.post("/marks?timeout=10s", review(version), MINUTE).await.unwrap();
        assert_eq!((answer.status, answer.body), (200, Bytes::from(marked(version))));
    }
    assert_eq!(dialer.post("/nowhere", review("v1"), MINUTE).await.unwrap().status, 404);
}

#[tokio::test]
async fn every_connection_verifies_the_server() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), Patience::default()).await;
    let mut config = client_config(&Trust::Bundle(authority.pem().into_bytes())).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let config = Arc::new(config);
    for _ in 0..2 {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let name = ServerName::try_from("hooks.ns.svc").unwrap();
        let mut stream = TlsConnector::from(Arc::clone(&config)).connect(name, stream).await.unwrap();
        let request = "POST /marks HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        assert!(exchange(&mut stream, request).await.starts_with("HTTP/1.1 200 OK\r\n"));
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(rustls::HandshakeKind::Full));
    }
}

#[tokio::test]
async fn clients_without_http2_get_http1() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), Patience::default()).await;
    let mut stream = raw(server.address, &authority, b"http/1.1").await;
    let body = String::from_utf8(review("v1").to_vec()).unwrap();
    let request = format!(
        "POST /marks HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(&mut stream, &request).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with(&marked("v1")), "{answer}");
}

#[tokio::test]
async fn large_bodies_are_rejected_over_tls_too() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), Patience::default()).await;
    let dialer = dialer(server.address, &authority);
    let answer = dialer.post("/marks", vec![b' '; 1024 * 1024].into(), MINUTE).await.unwrap();
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.contains("request entity is too large; limit is 4096 bytes"), "{text}");
    assert_eq!(dialer.post("/marks", review("v1"), MINUTE).await.unwrap().body, marked("v1"));
}

#[tokio::test]
async fn malformed_and_silent_clients_affect_only_their_own_connection() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), PATIENCE).await;
    let mut plain = TcpStream::connect(server.address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    let mut half = raw(server.address, &authority, b"http/1.1").await;
    half.write_all(b"POST /marks HTTP/1.1\r\nhost:").await.unwrap();
    let mut nonsense = raw(server.address, &authority, b"h2").await;
    nonsense.write_all(b"this is not the preface of HTTP/2, by no means").await.unwrap();

    let mut ended = Vec::new();
    let end = tokio::time::timeout(MINUTE, plain.read_to_end(&mut ended)).await.unwrap();
    assert!(end.is_err() || !ended.starts_with(b"HTTP"), "{ended:?}");
    let end = tokio::time::timeout(MINUTE, silent.read_to_end(&mut ended)).await.unwrap();
    assert!(end.is_err() || end.unwrap() == 0);
    let mut text = Vec::new();
    tokio::time::timeout(MINUTE, half.read_to_end(&mut text)).await.unwrap().ok();
    tokio::time::timeout(MINUTE, nonsense.read_to_end(&mut text)).await.unwrap().ok();
    let answer = dialer(server.address, &authority).post("/marks", review("v1"), MINUTE).await.unwrap();
    assert_eq!(answer.body, marked("v1"));
}

#[tokio::test]
async fn open_requests_are_answered_before_the_server_ends() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), Patience::default()).await;
    let dialer = dialer(server.address, &authority);
    dialer.post("/marks", review("v1"), MINUTE).await.unwrap();
    let open = tokio::spawn({
        let dialer = dialer.clone();
        async move { dialer.post("/naps", review("v1"), MINUTE).await }
    });
    tokio::task::yield_now().await;
    let mut waiting = raw(server.address, &authority, b"http/1.1").await;
    waiting.write_all(b"GET /naps HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    waiting.read_exact(&mut first).await.unwrap();
    server.stop.send(()).unwrap();
    tokio::time::timeout(MINUTE, server.task).await.unwrap().unwrap();
    assert!(String::from_utf8(open.await.unwrap().unwrap().body.to_vec()).unwrap().contains("slept"));
    assert!(matches!(dialer.post("/marks", review("v1"), MINUTE).await, Err(DialError::Connect { .. })));
}

#[tokio::test]
async fn a_request_longer_than_the_drain_is_aborted() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), PATIENCE).await;
    let dialer = dialer(server.address, &authority);
    dialer.post("/marks", review("v1"), MINUTE).await.unwrap();
    let open = tokio::spawn(async move { dialer.post("/sleeps", review("v1"), MINUTE).await });
    // Lets the request arrive before the shutdown.
    tokio::time::timeout(Duration::from_millis(100), std::future::pending::<()>()).await.unwrap_err();
    server.stop.send(()).unwrap();
    tokio::time::timeout(MINUTE, server.task).await.unwrap().unwrap();
    assert!(matches!(open.await.unwrap(), Err(DialError::Exchange { .. })));
}

/// Replaces the files of a volume as kubelet does: they are links through `..data`, which is swapped.
#[cfg(unix)]
fn swap(volume: &Path, generation: usize, pair: &(String, String)) {
    use std::os::unix::fs::symlink;
    let name = format!("..{generation}");
    write(&volume.join(&name), pair);
    let fresh = volume.join("..data_tmp");
    symlink(&name, &fresh).unwrap();
    std::fs::rename(&fresh, volume.join("..data")).unwrap();
    for file in ["tls.crt", "tls.key"] {
        symlink(Path::new("..data").join(file), volume.join(file)).ok();
    }
}

#[cfg(unix)]
async fn served_certificate(address: SocketAddr, authority: &Authority) -> CertificateDer<'static> {
    raw(address, authority, b"h2").await.get_ref().1.peer_certificates().unwrap()[0].clone()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_are_replaced_under_load_without_a_lost_request() {
    let authority = Arc::new(Authority::new());
    let volume = tempfile::tempdir().unwrap();
    swap(volume.path(), 0, &authority.sign("hooks.ns.svc"));
    let folder = Arc::new(CertificateFolder::open(volume.path()).unwrap());
    let server = start(folder.certificates(), Patience::default()).await;
    let following = tokio::spawn({
        let folder = Arc::clone(&folder);
        async move { folder.follow(Duration::from_millis(1)).await }
    });
    let done = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..4)
        .map(|_| {
            let (authority, done) = (Arc::clone(&authority), Arc::clone(&done));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    // Each dialer opens its own connection, so that each request has a handshake.
                    let answer =
                        dialer(server.address, &authority).post("/marks", review("v1"), MINUTE).await;
                    assert_eq!(answer.unwrap().body, marked("v1"));
                }
            })
        })
        .collect();
    for generation in 1..20 {
        let pair = authority.sign("hooks.ns.svc");
        swap(volume.path(), generation, &pair);
        let fresh = CertificateDer::from_pem_slice(pair.0.as_bytes()).unwrap();
        let seen = async { while served_certificate(server.address, &authority).await != fresh {} };
        tokio::time::timeout(MINUTE, seen).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for task in load {
        task.await.unwrap();
    }
    following.abort();
    assert_eq!(folder.counts(), (20, 0));
}

#[cfg(unix)]
#[tokio::test]
async fn a_broken_pair_leaves_the_old_one_in_place() {
    let authority = Authority::new();
    let volume = tempfile::tempdir().unwrap();
    let (first, second) = (authority.sign("hooks.ns.svc"), authority.sign("hooks.ns.svc"));
    swap(volume.path(), 0, &first);
    let folder = CertificateFolder::open(volume.path()).unwrap();
    let server = start(folder.certificates(), Patience::default()).await;
    let old = served_certificate(server.address, &authority).await;

    assert!(!folder.refresh(), "nothing changed");
    let broken = [
        (first.0.clone(), second.1.clone()),
        (String::new(), first.1.clone()),
        ("-----BEGIN CERTIFICATE-----\nx\n".to_owned(), first.1.clone()),
        (first.0.clone(), "no key".to_owned()),
    ];
    for (generation, pair) in broken.iter().enumerate() {
        swap(volume.path(), generation + 1, pair);
        assert!(!folder.refresh() && !folder.refresh(), "{pair:?}");
        assert_eq!(served_certificate(server.address, &authority).await, old);
    }
    std::fs::remove_file(volume.path().join("..data")).unwrap();
    assert!(!folder.refresh());
    assert_eq!(folder.counts(), (6, 5), "each broken state is counted once");

    swap(volume.path(), 9, &second);
    assert!(folder.refresh());
    assert_ne!(served_certificate(server.address, &authority).await, old);
}

#[test]
fn a_folder_without_a_usable_pair_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = CertificateFolder::open(folder.path()).unwrap_err();
    let path = folder.path().join("tls.crt");
    assert!(missing.to_string().starts_with(&format!("failed to read {}: ", path.display())), "{missing}");
    let authority = Authority::new();
    let (certificate, _) = authority.sign("a");
    write(folder.path(), &(certificate, authority.sign("a").1));
    let mismatch = CertificateFolder::open(folder.path()).unwrap_err();
    assert!(matches!(mismatch, CertificateError::Pair(_)), "{mismatch}");
}

/// Answers with the number of certificates that the client sent.
async fn count_certificates(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let peer: &Peer = request.extensions().get().unwrap();
    Ok(Response::new(Full::new(peer.certificates.len().to_string().into())))
}

#[tokio::test]
async fn clients_may_send_a_trusted_certificate_or_none() {
    let (authority, other) = (Authority::new(), Authority::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client_authorities = Some(trusted(authority.pem().as_bytes()).unwrap());
    let options = TlsOptions { client_authorities, ..TlsOptions::default() };
    let tls = config(pair(&authority, "hooks.ns.svc"), options).unwrap();
    let service = tower::service_fn(count_certificates);
    tokio::spawn(serve(listener, Some(tls), service, PATIENCE, std::future::pending()));

    let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let mut anonymous = raw(address, &authority, b"http/1.1").await;
    assert!(exchange(&mut anonymous, request).await.ends_with("\r\n\r\n0"));
    for (signer, answer) in [(&authority, Some("\r\n\r\n1")), (&other, None)] {
        let (certificate, key) = signer.sign("client");
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let roots = trusted(authority.pem().as_bytes()).unwrap();
        let config =
            ClientConfig::builder().with_root_certificates(roots).with_client_auth_cert(chain, key).unwrap();
        let text = match connect(address, config).await {
            Ok(mut stream) => {
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut text = String::new();
                stream.read_to_string(&mut text).await.ok();
                text
            }
            Err(_) => String::new(),
        };
        assert_eq!(answer.is_some_and(|answer| text.ends_with(answer)), answer.is_some(), "{text}");
        assert_eq!(text.is_empty(), answer.is_none(), "{text}");
    }
}

#[tokio::test]
async fn without_tls_the_server_uses_plain_http1() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(
        listener,
        None,
        tower::service_fn(count_certificates),
        PATIENCE,
        std::future::pending(),
    ));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n0"), "{text}");
}
