//! One HTTP/2 connection for all requests of a client; HTTP/1.1 where the server does not support HTTP/2.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use controller::connection;
use futures::future::join_all;
use http::{Request, Response, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use kube::Config;
use tokio::net::TcpListener;
use webhook::server::{Certificates, Patience, Peer, TlsOptions, serve};

/// Answers with the version of HTTP, and the port from which the request came.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let peer = request.extensions().get::<Peer>().unwrap();
    let connection = format!("{:?} {}", request.version(), peer.address.port());
    Ok(Response::new(Full::new(connection.into())))
}

/// The answers to eight concurrent requests, from a server with this certificate, or without TLS.
async fn http_versions_and_ports(pair: Option<&rcgen::CertifiedKey<rcgen::KeyPair>>) -> BTreeSet<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = pair.map(|pair| {
        let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
        let certificates = Certificates::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
        webhook::server::config(Arc::new(certificates), TlsOptions::default()).unwrap()
    });
    let service = tower::service_fn(answer);
    tokio::spawn(serve(listener, tls, service, Patience::default(), std::future::pending()));
    let scheme = if pair.is_some() { "https" } else { "http" };
    let mut config = Config::new(format!("{scheme}://localhost:{port}").parse().unwrap());
    config.root_cert = pair.map(|pair| vec![pair.cert.der().to_vec()]);
    let client = connection::client(&config).unwrap();
    let request = || Request::get("/version").body(Vec::new()).unwrap();
    client.request_text(request()).await.unwrap();
    let answers = join_all((0..8).map(|_| client.request_text(request()))).await;
    answers.into_iter().map(Result::unwrap).collect()
}

#[tokio::test]
async fn requests_at_once_share_a_connection_of_http2() {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let answers = http_versions_and_ports(Some(&pair)).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(
        answers.iter().all(|answer| answer.starts_with(&format!("{:?} ", Version::HTTP_2))),
        "{answers:?}"
    );
}

#[tokio::test]
async fn a_server_without_tls_is_reached_over_http1() {
    let answers = http_versions_and_ports(None).await;
    assert!(
        answers.iter().all(|answer| answer.starts_with(&format!("{:?} ", Version::HTTP_11))),
        "{answers:?}"
    );
}

#[tokio::test]
async fn an_unsupported_proxy_is_an_error() {
    let mut config = Config::new("https://localhost:6443".parse().unwrap());
    config.proxy_url = Some("http://proxy.example.com:3128".parse().unwrap());
    let error = connection::client(&config).err().unwrap().to_string();
    assert!(error.contains("http://proxy.example.com:3128"), "{error}");
}
