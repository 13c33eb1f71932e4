//! Authentication by kube-apiserver's flags: client certificates, tokens of a file, front proxies, service account tokens.

use std::fs;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::config::AuthInfo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

use super::program::{Assets, Started, client, free_port, status_code, text};

/// An authority of certificates.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate and its key, both PEM.
    fn certificate(&self, name: &str, groups: &[&str]) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        // rcgen keeps one name of each type: two types that are one.
        let types = [DnType::OrganizationName, DnType::CustomDnType(vec![2, 5, 4, 10])];
        for (group, kind) in groups.iter().zip(types) {
            params.distinguished_name.push(kind, *group);
        }
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// A server with files for all flags.
struct ServerWithFiles {
    _assets: Assets,
    _server: Started,
    port: u16,
    trusted: PathBuf,
    clients: Authority,
    proxies: Authority,
}

impl ServerWithFiles {
    fn start() -> Self {
        let assets = Assets::new();
        let [own, clients, proxies, accounts] =
            ["server", "clients", "proxies", "accounts"].map(Authority::new);
        let write = |name: &str, content: &str| {
            let path = assets.path(name);
            fs::write(&path, content).unwrap();
            path.display().to_string()
        };
        let (certificate, key) = own.certificate("kube-apiserver", &[]);
        let (signer, signer_key) = accounts.certificate("sa-signer", &[]);
        let (proxy, proxy_key) = proxies.certificate("front-proxy", &[]);
        let flags = [
            ("tls-cert-file", write("tls.crt", &certificate)),
            ("tls-private-key-file", write("tls.key", &key)),
            ("client-ca-file", write("clients.crt", &clients.pem)),
            ("token-auth-file", write("tokens.csv", "secret,carol,7,\"tellers,system:masters\"\n")),
            ("service-account-key-file", write("sa.crt", &signer)),
            ("service-account-signing-key-file", write("sa.key", &signer_key)),
            ("service-account-issuer", "https://issuer.example.com/".to_owned()),
            ("api-audiences", "api,gardener".to_owned()),
            ("requestheader-client-ca-file", write("proxies.crt", &proxies.pem)),
            ("requestheader-username-headers", "X-Remote-User".to_owned()),
            ("requestheader-group-headers", "X-Remote-Group".to_owned()),
            ("requestheader-extra-headers-prefix", "X-Remote-Extra-".to_owned()),
            ("proxy-client-cert-file", write("proxy.crt", &proxy)),
            ("proxy-client-key-file", write("proxy.key", &proxy_key)),
        ];
        let port = free_port();
        let mut given: Vec<String> = flags.map(|(name, value)| format!("--{name}={value}")).to_vec();
        given.extend(["--authorization-mode", "Node,RBAC", "--bind-address", "127.0.0.1"].map(str::to_owned));
        given.push(format!("--secure-port={port}"));
        let server = assets.start("kube-apiserver", &given, port);
        let trusted = write("server.crt", &own.pem).into();
        Self { _assets: assets, _server: server, port, trusted, clients, proxies }
    }

    fn client(&self, change: impl FnOnce(&mut AuthInfo)) -> kube::Client {
        client(self.port, &self.trusted, change)
    }

    fn with_certificate(&self, (certificate, key): &(String, String)) -> kube::Client {
        self.client(|auth| {
            auth.client_certificate_data = Some(STANDARD.encode(certificate));
            auth.client_key_data = Some(STANDARD.encode(key).into());
        })
    }

    fn with_token(&self, token: &str) -> kube::Client {
        self.client(|auth| auth.token = Some(token.to_owned().into()))
    }
}

async fn post(
    client: &kube::Client,
    path: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> Result<Value, u16> {
    let mut request = http::Request::post(path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match client.request(request.body(body.to_string().into_bytes()).unwrap()).await {
        Ok(answer) => Ok(answer),
        Err(error) => Err(status_code(error)),
    }
}

/// The user that the server authenticates.
async fn whoami(client: &kube::Client, headers: &[(&str, &str)]) -> Result<Value, u16> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let mut user = post(client, path, &review, headers).await?["status"]["userInfo"].take();
    user.as_object_mut().unwrap().remove("extra");
    Ok(user)
}

fn user(name: &str, groups: &[&str]) -> Value {
    let groups: Vec<&str> = groups.iter().copied().chain(["system:authenticated"]).collect();
    json!({"username": name, "groups": groups})
}

#[tokio::test]
async fn certificates_tokens_and_proxies_name_users() {
    let server = ServerWithFiles::start();
    let alice = server.with_certificate(&server.clients.certificate("alice", &["g1", "g2"]));
    assert_eq!(whoami(&alice, &[]).await, Ok(user("alice", &["g1", "g2"])));
    assert_eq!(text(&alice, "/api/v1/nodes").await, Err(403), "roles decide");
    let admin = server.with_certificate(&server.clients.certificate("admin", &["system:masters"]));
    assert!(text(&admin, "/api/v1/nodes").await.is_ok());
    let stranger = server.with_certificate(&Authority::new("x").certificate("admin", &["system:masters"]));
    assert_eq!(text(&stranger, "/api/v1/nodes").await, Err(401));
    let carol = whoami(&server.with_token("secret"), &[]).await.unwrap();
    let want = json!({"username": "carol", "uid": "7", "groups": ["tellers", "system:masters", "system:authenticated"]});
    assert_eq!(carol, want);
    assert_eq!(whoami(&server.with_token("other"), &[]).await, Err(401));
    let proxy = server.with_certificate(&server.proxies.certificate("any", &[]));
    let headers = [("x-remote-user", "bob"), ("x-remote-group", "g")];
    assert_eq!(whoami(&proxy, &headers).await, Ok(user("bob", &["g"])));
    assert_eq!(whoami(&alice, &headers).await, Ok(user("alice", &["g1", "g2"])));
}

#[tokio::test]
async fn tokens_of_service_accounts_have_the_given_issuer_audiences_and_key() {
    let server = ServerWithFiles::start();
    let admin = server.with_token("secret");
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(&admin, accounts, &json!({"metadata": {"name": "a"}}), &[]).await.unwrap();
    let request = |audiences: Value| json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": audiences}});
    let token = async |audiences: Value| {
        let answer = post(&admin, &format!("{accounts}/a/token"), &request(audiences), &[]).await.unwrap();
        answer["status"]["token"].as_str().unwrap().to_owned()
    };
    let own = token(json!([])).await;
    let claims =
        base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(own.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["iss"], "https://issuer.example.com/");
    assert_eq!(claims["aud"], json!(["api", "gardener"]));
    let account = whoami(&server.with_token(&own), &[]).await.unwrap();
    assert_eq!(account["username"], "system:serviceaccount:default:a");
    let other = token(json!(["vault"])).await;
    assert_eq!(whoami(&server.with_token(&other), &[]).await, Err(401), "it is for another audience");
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": other, "audiences": ["vault"]},
    });
    let reviewed = post(&admin, "/apis/authentication.k8s.io/v1/tokenreviews", &review, &[]).await.unwrap();
    assert_eq!(reviewed["status"]["authenticated"], true, "{reviewed}");
    let keys: Value = serde_json::from_str(&text(&admin, "/openid/v1/jwks").await.unwrap()).unwrap();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn extension_api_servers_learn_the_front_proxys_authority() {
    let server = ServerWithFiles::start();
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    let config_map = text(&server.with_token("secret"), path).await.unwrap();
    let data = serde_json::from_str::<Value>(&config_map).unwrap()["data"].take();
    assert_eq!(data["client-ca-file"], server.clients.pem);
    assert_eq!(data["requestheader-client-ca-file"], server.proxies.pem);
    assert_eq!(data["requestheader-allowed-names"], "[]");
}
