//! The TLS front end: authentication of users.

use apiserver::{ApiServer, Authorization, Controllers, Served};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ListParams};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use serde_json::{Value, json};

use crate::wire::{patch, send};

async fn client(listener: &Served, change: impl FnOnce(&mut AuthInfo)) -> kube::Client {
    let mut kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig()).unwrap();
    change(kubeconfig.auth_infos[0].auth_info.as_mut().unwrap());
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

fn token(auth: &mut AuthInfo, token: &str) {
    *auth = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
}

#[tokio::test]
async fn certificates_and_tokens_authenticate() {
    let server = ApiServer::builder().build();
    let listener = server.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    let by_certificate = client(&listener, |_| {}).await;
    let by_token = client(&listener, |auth| token(auth, &listener.token)).await;
    for client in [by_certificate, by_token] {
        let namespaces: Api<Namespace> = Api::all(client);
        assert_eq!(namespaces.list(&ListParams::default()).await.unwrap().items.len(), 4);
    }
    let users: Vec<String> = server.requests().into_iter().map(|request| request.user).collect();
    assert_eq!(users, ["admin", "system:admin"]);
    for wrong in [
        client(&listener, |auth| token(auth, "x")).await,
        client(&listener, |auth| *auth = AuthInfo::default()).await,
    ] {
        let namespaces: Api<Namespace> = Api::all(wrong.clone());
        let Err(kube::Error::Api(status)) = namespaces.list(&ListParams::default()).await else {
            panic!("a stranger is not let in");
        };
        assert_eq!((status.code, status.reason.as_str()), (401, "Unauthorized"));
    }
    let silent = client(&listener, |auth| *auth = AuthInfo::default()).await;
    assert_eq!(silent.apiserver_version().await.unwrap().minor, "36", "what everybody may know");
    listener.shutdown().await;
}

/// A client certificate of the server's authority for a subject, and its key, both PEM.
async fn certificate(server: &ApiServer, subject: &[(DnType, &str)]) -> (String, String) {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (kind, text) in subject {
        params.distinguished_name.push(kind.clone(), *text);
    }
    let key = KeyPair::generate().unwrap();
    let request = STANDARD.encode(params.serialize_request(&key).unwrap().pem().unwrap());
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let body = json!({
        "metadata": {"name": "c"},
        "spec": {"request": request, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]},
    });
    let (code, answer) = send(server, "POST", requests, &body).await;
    assert_eq!(code, 201, "{answer}");
    let approved = json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "r"}]}});
    let (code, answer) = patch(server, &format!("{requests}/c/approval"), "merge-patch", &approved).await;
    assert_eq!(code, 200, "{answer}");
    server.wait_until_idle().await;
    let (_, signed) = send(server, "GET", &format!("{requests}/c"), &Value::Null).await;
    assert!(signed["status"]["certificate"].is_string(), "{signed}");
    let pem = STANDARD.decode(signed["status"]["certificate"].as_str().unwrap()).unwrap();
    (String::from_utf8(pem).unwrap(), key.serialize_pem())
}

#[tokio::test]
async fn a_certificate_without_a_common_name_does_not_authenticate() {
    let controllers = Controllers { signing: true, ..Controllers::none() };
    let server = ApiServer::builder().controllers(controllers).build();
    let listener = server.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (pem, key) = certificate(&server, &[(DnType::OrganizationName, "o")]).await;
    let showing = |bearer: Option<&str>| {
        let bearer = bearer.map(|token| token.to_owned().into());
        client(&listener, |auth| {
            auth.client_certificate_data = Some(STANDARD.encode(&pem));
            auth.client_key_data = Some(STANDARD.encode(&key).into());
            auth.token = bearer;
        })
    };
    for (bearer, code) in [(Some(listener.token.as_str()), 200), (Some("x"), 401), (None, 401)] {
        assert_eq!(get(&showing(bearer).await, "/api/v1/nodes").await.0, code, "{bearer:?}");
    }
    listener.shutdown().await;
}

/// Sends a GET; returns code and message (or text) of the answer.
async fn get(client: &kube::Client, path: &str) -> (u16, String) {
    let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap();
    let answer = client.send(request).await.unwrap();
    let code = answer.status().as_u16();
    let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = || String::from_utf8_lossy(&body).into_owned();
    (code, value["message"].as_str().map_or_else(text, str::to_owned))
}

#[tokio::test]
async fn requests_without_credentials_are_anonymous() {
    let server = ApiServer::builder().authorization(Authorization::Rbac).build();
    let listener = server.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    let anonymous = client(&listener, |auth| *auth = AuthInfo::default()).await;
    let nodes =
        r#"User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope"#;
    let table = [
        ("/healthz", 200, "ok".to_owned()),
        ("/readyz", 200, "ok".to_owned()),
        ("/apis", 403, r#"forbidden: User "system:anonymous" cannot get path "/apis""#.to_owned()),
        ("/nothing", 403, r#"forbidden: User "system:anonymous" cannot get path "/nothing""#.to_owned()),
        ("/api/v1/nodes", 403, format!("nodes is forbidden: {nodes}")),
        (
            "/api/v1/namespaces/default/pods/x",
            403,
            r#"pods "x" is forbidden: User "system:anonymous" cannot get resource "pods" in API group "" in the namespace "default""#
                .to_owned(),
        ),
    ];
    for (path, code, message) in table {
        assert_eq!(get(&anonymous, path).await, (code, message), "{path}");
    }
    assert_eq!(get(&anonymous, "/version").await.0, 200);
    // Presented credentials must be valid, whatever the path; a certificate takes precedence over a token.
    let wrong = client(&listener, |auth| token(auth, "x")).await;
    for path in ["/healthz", "/version", "/api/v1/nodes"] {
        assert_eq!(get(&wrong, path).await, (401, "Unauthorized".to_owned()));
    }
    let both = client(&listener, |auth| auth.token = Some("x".to_owned().into())).await;
    assert_eq!(get(&both, "/api/v1/nodes").await.0, 200);
    // Roles can be bound to the group `system:unauthenticated`.
    let binding = json!({
        "metadata": {"name": "open"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:unauthenticated"}],
    });
    let (code, answer) =
        send(&server, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).await;
    assert_eq!(code, 201, "{answer}");
    assert_eq!(get(&anonymous, "/api/v1/nodes").await.0, 200);
    assert_eq!(server.requests_of("system:anonymous").last().map(|request| request.code), Some(200));
    listener.shutdown().await;
}
