//! TLS connections to webhooks and other API servers: through ExternalName Services, with the front proxy's
//! certificate.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::ApiServer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use rcgen::{CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use webhook::dial::FixedDialers;
use webhook::server::{Certificates, Patience, Peer, TlsOptions, config, serve, trusted};

use crate::wire::{exchange, send};

const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const REGISTRATIONS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// An external server: its port, its authority, and its requests as path, common name of the client certificate, and
/// user.
struct ExternalServer {
    port: u16,
    ca: String,
    requests: Arc<Mutex<Vec<[String; 3]>>>,
}

/// Starts a server with a certificate for this name; it requests client certificates if an authority is given.
async fn external_server(name: &str, clients: Option<&str>) -> ExternalServer {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "outside");
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = params.self_signed(&key).unwrap().pem();
    let own = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new([name.to_owned()]).unwrap();
    let leaf = leaf.signed_by(&own, &Issuer::new(params, key)).unwrap();
    let certificates = Certificates::from_pem(leaf.pem().as_bytes(), own.serialize_pem().as_bytes()).unwrap();
    let client_authorities = clients.map(|pem| trusted(pem.as_bytes()).unwrap());
    let tls =
        config(Arc::new(certificates), TlsOptions { client_authorities, ..TlsOptions::default() }).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests: Arc<Mutex<Vec<[String; 3]>>> = Arc::default();
    let seen = Arc::clone(&requests);
    let service = tower::service_fn(move |request: Request<Incoming>| {
        let seen = Arc::clone(&seen);
        async move { Ok::<_, Infallible>(answer(request, &seen).await) }
    });
    tokio::spawn(serve(listener, Some(tls), service, Patience::default(), std::future::pending()));
    ExternalServer { port, ca: STANDARD.encode(ca), requests }
}

async fn answer(request: Request<Incoming>, seen: &Mutex<Vec<[String; 3]>>) -> Response<Full<Bytes>> {
    let peer = request.extensions().get::<Peer>().unwrap().clone();
    let common_name = peer.certificates.first().map(|der| {
        let (_, certificate) = x509_parser::parse_x509_certificate(der).unwrap();
        certificate.subject().iter_common_name().next().unwrap().as_str().unwrap().to_owned()
    });
    let user = request.headers().get("x-remote-user").map(|user| user.to_str().unwrap().to_owned());
    let path = request.uri().path().to_owned();
    seen.lock().unwrap().push([path, common_name.unwrap_or_default(), user.unwrap_or_default()]);
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = match review["request"]["uid"].as_str() {
        Some(uid) => json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": uid, "allowed": true}}),
        None => {
            json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "agg.example.com/v1", "resources": []})
        }
    };
    Response::new(Full::new(Bytes::from(answer.to_string())))
}

/// A Service in the namespace `default`.
async fn service(server: &ApiServer, name: &str, spec: &Value) {
    let service = json!({"metadata": {"name": name}, "spec": spec});
    let (code, answer) = send(server, "POST", "/api/v1/namespaces/default/services", &service).await;
    assert_eq!(code, 201, "{answer}");
}

fn api_service(name: &str, port: u16, trust: &Value) -> Value {
    let mut object = json!({"metadata": {"name": "v1.agg.example.com"}, "spec": {
        "group": "agg.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
        "service": {"namespace": "default", "name": name, "port": port},
    }});
    object["spec"].as_object_mut().unwrap().extend(trust.as_object().unwrap().clone());
    object
}

async fn condition(server: &ApiServer) -> Value {
    let (_, service) = send(server, "GET", &format!("{SERVICES}/v1.agg.example.com"), &Value::Null).await;
    let condition = &service["status"]["conditions"][0];
    json!([condition["reason"], condition["message"]])
}

fn server(hooks: bool) -> ApiServer {
    ApiServer::builder().dialers(Arc::new(FixedDialers::new())).post_start_hooks(hooks).build()
}

/// Creates a ConfigMap; returns code and answer.
async fn create(server: &ApiServer) -> (u16, Value) {
    let map = json!({"metadata": {"name": "a"}});
    let (code, answer) = send(server, "POST", "/api/v1/namespaces/default/configmaps?dryRun=All", &map).await;
    (code, answer["message"].clone())
}

#[tokio::test]
async fn a_webhook_is_called_through_an_external_name_service() {
    let server = server(false);
    let hook = external_server("hooks.default.svc", None).await;
    let external = json!({"type": "ExternalName", "externalName": "localhost"});
    service(&server, "hooks", &external).await;
    service(&server, "others", &external).await;
    let register = async |name: &str, port: u16| {
        send(&server, "DELETE", &format!("{REGISTRATIONS}/a"), &Value::Null).await;
        let client = json!({
            "caBundle": hook.ca, "service": {"namespace": "default", "name": name, "port": port, "path": "/a/"},
        });
        let object = crate::hook::configuration("Validating", "a", &["a"], &json!({"clientConfig": client}));
        assert_eq!(send(&server, "POST", REGISTRATIONS, &object).await.0, 201);
    };
    register("hooks", hook.port).await;
    assert_eq!(create(&server).await, (201, Value::Null));
    assert_eq!(*hook.requests.lock().unwrap(), [["/a", "", ""].map(str::to_owned)]);
    // The certificate contains the name of the Service.
    register("others", hook.port).await;
    let (code, message) = create(&server).await;
    let message = message.as_str().unwrap();
    assert!(
        code == 500 && message.contains("certificate") && message.contains("others.default.svc"),
        "{message}"
    );
    register("none", 443).await;
    let message = "Internal error occurred: failed calling webhook \"a.example.org\": failed to call webhook: Post \
                   \"https://none.default.svc:443/a?timeout=10s\": service \"none\" not found";
    assert_eq!(create(&server).await, (500, message.into()));
}

#[tokio::test]
async fn an_api_server_is_called_through_an_external_name_service() {
    let server = server(false);
    let other = external_server("api.default.svc", None).await;
    service(&server, "api", &json!({"type": "ExternalName", "externalName": "localhost"})).await;
    send(&server, "POST", SERVICES, &api_service("api", other.port, &json!({"caBundle": other.ca}))).await;
    assert_eq!(condition(&server).await, json!(["Passed", "all checks passed"]));
    assert_eq!(exchange(&server, "GET", "/apis/agg.example.com/v1/gadgets", &[], "").await.0, 200);
    let requests = std::mem::take(&mut *other.requests.lock().unwrap());
    let gadgets = ["/apis/agg.example.com/v1/gadgets", "", "system:admin"].map(str::to_owned);
    assert!(requests.contains(&gadgets), "{requests:?}");
    // The certificate is not verified if the APIService says so, otherwise its name must match.
    service(&server, "alias", &json!({"type": "ExternalName", "externalName": "localhost"})).await;
    send(&server, "DELETE", &format!("{SERVICES}/v1.agg.example.com"), &Value::Null).await;
    send(&server, "POST", SERVICES, &api_service("alias", other.port, &json!({"caBundle": other.ca}))).await;
    assert_eq!(condition(&server).await[0], "FailedDiscoveryCheck");
    send(&server, "DELETE", &format!("{SERVICES}/v1.agg.example.com"), &Value::Null).await;
    let any = json!({"insecureSkipTLSVerify": true});
    send(&server, "POST", SERVICES, &api_service("alias", other.port, &any)).await;
    assert_eq!(condition(&server).await[0], "Passed");
}

#[tokio::test]
async fn another_api_server_receives_the_front_proxys_certificate_and_the_configmap_to_verify_it() {
    let server = server(true);
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    let (_, map) = send(&server, "GET", path, &Value::Null).await;
    let data = &map["data"];
    assert_eq!(data["requestheader-allowed-names"], "[\"front-proxy-client\"]");
    assert_eq!(data["requestheader-username-headers"], "[\"X-Remote-User\"]");
    let authority = data["requestheader-client-ca-file"].as_str().unwrap();
    let other = external_server("api.default.svc", Some(authority)).await;
    service(&server, "api", &json!({"type": "ExternalName", "externalName": "localhost"})).await;
    send(&server, "POST", SERVICES, &api_service("api", other.port, &json!({"caBundle": other.ca}))).await;
    assert_eq!(exchange(&server, "GET", "/apis/agg.example.com/v1/gadgets", &[], "").await.0, 200);
    let proxy = "front-proxy-client";
    let requests = std::mem::take(&mut *other.requests.lock().unwrap());
    let first = ["/apis/agg.example.com/v1", proxy, "system:kube-aggregator"].map(str::to_owned);
    let last = ["/apis/agg.example.com/v1/gadgets", proxy, "system:admin"].map(str::to_owned);
    assert!(requests.first() == Some(&first) && requests.contains(&last), "{requests:?}");
    assert!(requests.iter().all(|[_, common_name, _]| common_name == proxy), "{requests:?}");
    // The client CA is the front end's, also in forks.
    let fork = server.fork(Some(Arc::new(FixedDialers::new())));
    let door = fork.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    assert_eq!(data["client-ca-file"].as_str(), Some(door.ca_pem.as_str()));
    assert_eq!(exchange(&fork, "GET", "/apis/agg.example.com/v1/gadgets", &[], "").await.0, 200);
    assert!(other.requests.lock().unwrap().contains(&last));
    tokio::time::timeout(Duration::from_secs(5), door.shutdown()).await.unwrap();
}
