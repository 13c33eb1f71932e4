//! Case 23: clients that send nothing, an incomplete request, or one very slowly, and how the server closes them.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};
use webhook::dial::Dialer as _;
use webhook::server::{Patience, serve};
use webhook::service::Limits;

use crate::certificates::Authority;
use crate::hooks::{hooks, marked, review};
use crate::server::{MINUTE, dialer, pair, raw, start};

/// Time limit of a first request.
const FIRST: Duration = Duration::from_millis(400);
const IMPATIENT: Patience = Patience { first_request: FIRST, idle: MINUTE, drain: MINUTE, connections: 100 };
const PATIENT: Patience = Patience { first_request: MINUTE, ..IMPATIENT };

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Reads until the server closes the connection, with or without an error.
async fn wait_until_closed(stream: &mut (impl AsyncRead + Unpin)) {
    let mut all = Vec::new();
    timeout(MINUTE / 2, stream.read_to_end(&mut all)).await.expect("the connection stays open").ok();
}

#[tokio::test]
async fn case_23_clients_without_a_complete_request_are_disconnected() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), IMPATIENT).await;
    let with_settings = [PREFACE, SETTINGS].concat();
    let partial_requests: [(&[u8], &[u8]); 7] = [
        (b"h2", b""),
        (b"h2", &PREFACE[..10]),
        (b"h2", PREFACE),
        (b"h2", &with_settings),
        (b"http/1.1", b""),
        (b"http/1.1", b"GET / HTTP/1.1\r\n"),
        (b"http/1.1", b"GET / HTTP/1.1\r\nhost: x\r\n"),
    ];
    let mut streams: Vec<Box<dyn Stream>> = vec![Box::new(TcpStream::connect(server.address).await.unwrap())];
    for (protocol, bytes) in partial_requests {
        let mut stream = raw(server.address, &authority, protocol).await;
        stream.write_all(bytes).await.unwrap();
        streams.push(Box::new(stream));
    }
    let clear = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = clear.local_addr().unwrap();
    tokio::spawn(serve(clear, None, hooks(Limits::default()), IMPATIENT, std::future::pending()));
    streams.push(Box::new(TcpStream::connect(address).await.unwrap()));
    for mut stream in streams {
        wait_until_closed(&mut stream).await;
    }
    let answer = dialer(server.address, &authority).post("/marks", review("v1"), MINUTE).await.unwrap();
    assert_eq!(answer.body, marked("v1"));
}

#[tokio::test]
async fn case_23_slow_clients_are_disconnected() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), IMPATIENT).await;
    let stream = raw(server.address, &authority, b"http/1.1").await;
    let (mut read, mut write) = tokio::io::split(stream);
    let drip = tokio::spawn(async move {
        while write.write_all(b"GET / HTTP/1.1\r\nx: y\r\n").await.is_ok() && write.flush().await.is_ok() {
            // Single bytes do not complete a request.
            while write.write_all(b"z").await.is_ok() {
                timeout(FIRST / 20, std::future::pending::<()>()).await.unwrap_err();
            }
        }
    });
    wait_until_closed(&mut read).await;
    drip.abort();
}

#[tokio::test]
async fn case_23_after_a_request_the_idle_limit_applies() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), IMPATIENT).await;
    let mut stream = raw(server.address, &authority, b"http/1.1").await;
    let request = b"GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(request).await.unwrap();
    stream.read_exact(&mut [0; 12]).await.unwrap();
    timeout(2 * FIRST, std::future::pending::<()>()).await.unwrap_err();
    stream.write_all(request).await.unwrap();
    stream.read_exact(&mut [0; 12]).await.unwrap();

    let hasty = Patience { idle: FIRST, ..PATIENT };
    let server = start(pair(&authority, "hooks.ns.svc"), hasty).await;
    // An idle HTTP/2 connection is closed, too, and the next request opens another one.
    let dialer = dialer(server.address, &authority);
    for _ in 0..2 {
        assert_eq!(dialer.post("/nowhere", review("v1"), MINUTE).await.unwrap().status, 404);
        timeout(2 * FIRST, std::future::pending::<()>()).await.unwrap_err();
    }
}

#[tokio::test]
async fn case_23_shutdown_waits_only_for_open_requests() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), PATIENT).await;
    let mut streams = Vec::new();
    for bytes in [&b""[..], PREFACE, &[PREFACE, SETTINGS].concat()] {
        let mut stream = raw(server.address, &authority, b"h2").await;
        stream.write_all(bytes).await.unwrap();
        streams.push(stream);
    }
    let dialer = dialer(server.address, &authority);
    dialer.post("/marks", review("v1"), MINUTE).await.unwrap();
    let begun = Instant::now();
    server.stop.send(()).unwrap();
    timeout(MINUTE / 2, server.task).await.expect("idle connections hold the server").unwrap();
    assert!(begun.elapsed() < MINUTE / 4, "{:?}", begun.elapsed());
    drop(streams);
}

#[tokio::test]
async fn case_23_clients_beyond_the_limit_wait_for_a_connection() {
    let authority = Authority::new();
    let few = Patience { connections: 2, ..IMPATIENT };
    let server = start(pair(&authority, "hooks.ns.svc"), few).await;
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(raw(server.address, &authority, b"h2").await);
    }
    let begun = Instant::now();
    let answer = dialer(server.address, &authority).post("/marks", review("v1"), MINUTE).await.unwrap();
    assert_eq!(answer.body, marked("v1"));
    assert!(begun.elapsed() > FIRST / 4, "there was a free connection at once: {:?}", begun.elapsed());
}

#[tokio::test]
async fn case_23_a_request_without_one_valid_host_is_400() {
    let authority = Authority::new();
    let server = start(pair(&authority, "hooks.ns.svc"), PATIENT).await;
    let table = [
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a b\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", "404"),
        ("GET / HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n", "404"),
        ("GET / HTTP/1.0\r\n\r\n", "404"),
    ];
    for (request, status) in table {
        let mut stream = raw(server.address, &authority, b"http/1.1").await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        timeout(MINUTE / 2, stream.read_to_end(&mut answer)).await.unwrap().ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(answer.get(9..12), Some(status), "{request:?} {answer:?}");
    }
}
