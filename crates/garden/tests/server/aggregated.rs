//! gardener-apiserver behind a kube-apiserver, which is the embedded API server: who may do what, and what the server follows.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use apiserver::{ApiServer, Authentication, Authorization, KeyPair, RequestHeaders, Served, User};
use gardener_garden::admission::Chain;
use gardener_garden::api_server::options::CacheTimes;
use gardener_garden::api_server::{self, ApiServerOptions, Serving};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyUsagePurpose,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::admin_kubeconfig::{authority, encoded, request};
use super::{SHOOT, collection, fixture, seed, shoot};

pub(super) const SEEDS: &str = "/apis/core.gardener.cloud/v1beta1/seeds";
const PROXY: &str = "front-proxy-client";
const NONE: &[(&str, &str)] = &[];
pub(super) const FORGED: &[(&str, &str)] = &[("x-remote-user", "boss"), ("x-remote-group", "system:masters")];

/// An authority, and a certificate of it for clients and servers.
pub(super) fn certified(name: &str) -> (String, KeyPair) {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "an authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, &Issuer::new(authority, authority_key)).unwrap();
    (pem, KeyPair { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
}

/// A kube-apiserver with RBAC, and gardener-apiserver behind it.
pub(super) struct Landscape {
    kube: ApiServer,
    pub(super) garden: Serving,
    proxy: KeyPair,
    _served: Served,
    _folder: TempDir,
}

impl Landscape {
    pub(super) async fn start() -> Self {
        Self::start_with(|_| ()).await
    }

    /// As [`Self::start`], with changed options.
    pub(super) async fn start_with(change: impl FnOnce(&mut ApiServerOptions)) -> Self {
        let (authorities, proxy) = certified(PROXY);
        let texts = |text: &str| vec![text.to_owned()];
        let request_headers = RequestHeaders {
            authorities,
            allowed_names: texts(PROXY),
            username: texts("X-Remote-User"),
            groups: texts("X-Remote-Group"),
            extra_prefixes: texts("X-Remote-Extra-"),
            ..RequestHeaders::default()
        };
        let kube = ApiServer::builder()
            .authorization(Authorization::Rbac)
            .post_start_hooks(true)
            .epoch(Timestamp::now())
            .front_proxy(Some(proxy.clone()))
            .authentication(Authentication {
                request_headers: Some(request_headers),
                ..Authentication::default()
            })
            .build();
        kube.add_token("token-of-dev", User::of_groups("dev", &[]));
        let served = kube.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, served.kubeconfig()).unwrap();
        let mut options = options(&kubeconfig.display().to_string());
        change(&mut options);
        let garden = api_server::start(options).await.unwrap();
        Self { kube, garden, proxy, _served: served, _folder: folder }
    }

    /// A client of gardener-apiserver with these credentials: a user of a kubeconfig.
    pub(super) async fn client(&self, user: &Value) -> Client {
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": self.garden.url, "insecure-skip-tls-verify": true}}],
            "users": [{"name": "a", "user": user}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        });
        let config =
            controller::remote::config_of("a test", kubeconfig.to_string().as_bytes()).await.unwrap();
        controller::connection::client(&config).unwrap()
    }

    /// A client that may name any user.
    pub(super) async fn proxy(&self) -> Client {
        self.client(&certificate_user(&self.proxy)).await
    }

    /// A client of the kube-apiserver that may do everything.
    pub(super) fn kube(&self) -> Client {
        Client::new(self.kube.clone(), "default")
    }

    /// Grants this rule to the user `dev`.
    pub(super) async fn grant(&self, rule: &Value) {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let reader = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"},
            "rules": [rule],
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "dev"}],
        });
        for (resource, object) in [("clusterroles", reader), ("clusterrolebindings", binding)] {
            let path = format!("{rbac}/{resource}");
            let (code, made) = send(&self.kube(), ("POST", &path), &[], &object).await;
            assert_eq!(code, 201, "{made}");
        }
    }
}

fn options(kubeconfig: &str) -> ApiServerOptions {
    ApiServerOptions {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        certificate: certified("gardener-apiserver").1,
        kubeconfig: kubeconfig.to_owned(),
        authentication_kubeconfig: kubeconfig.to_owned(),
        authorization_kubeconfig: kubeconfig.to_owned(),
        clients: None,
        proxies: None,
        skips_lookup: false,
        always_allowed: vec!["/healthz".to_owned()],
        cached: CacheTimes { token: Duration::ZERO, allowed: Duration::ZERO, denied: Duration::ZERO },
        cluster_identity: "garden-test".to_owned(),
        max_expiration: Duration::from_hours(24),
        features_without_effect: Vec::new(),
        admission: Chain::default(),
        log: (controller::log::Level::Error, controller::log::Format::Text),
    }
}

fn certificate_user(pair: &KeyPair) -> Value {
    let encoded = |pem: &str| formats::base64::encode(pem.as_bytes());
    json!({
        "client-certificate-data": encoded(&pair.certificate_pem), "client-key-data": encoded(&pair.key_pem),
    })
}

/// The code and the body of the answer; null for a text.
pub(super) async fn send(
    client: &Client,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &Value,
) -> (u16, Value) {
    let mut request = http::Request::builder().method(method).uri(path);
    request = request.header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let (code, body) = answer(client, request.body(Body::from(body)).unwrap()).await;
    (code, serde_json::from_slice(body.as_bytes()).unwrap_or(Value::Null))
}

/// The code and the text of the answer.
pub(super) async fn answer(client: &Client, request: http::Request<Body>) -> (u16, String) {
    let (head, body) = client.send(request).await.unwrap().into_parts();
    let body = body.collect_bytes().await.unwrap();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

pub(super) async fn get(client: &Client, path: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    send(client, ("GET", path), headers, &Value::Null).await
}

/// Creates an object as an administrator; what the server follows may come a little later.
async fn create_soon(client: &Client, path: &str, object: &Value) -> Value {
    let created = async {
        loop {
            let (code, answer) = send(client, ("POST", path), FORGED, object).await;
            if code == 201 {
                break answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), created).await.expect("it can be created")
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_front_proxy_names_another_user() {
    let landscape = Landscape::start().await;
    let (token, wrong) = (json!({"token": "token-of-dev"}), json!({"token": "token-of-nobody"}));
    let (own, strange) = (certificate_user(&landscape.proxy), certificate_user(&certified(PROXY).1));
    let of = |user: &str| {
        format!(
            "seeds.core.gardener.cloud is forbidden: User \"{user}\" cannot list resource \"seeds\" in API group \
             \"core.gardener.cloud\" at the cluster scope"
        )
    };
    let table = [
        ("nobody", &json!({}), NONE, 403, of("system:anonymous")),
        ("nobody, forged", &json!({}), FORGED, 403, of("system:anonymous")),
        ("a token", &token, NONE, 403, of("dev")),
        ("a token, forged", &token, FORGED, 403, of("dev")),
        ("a wrong token, forged", &wrong, FORGED, 401, "Unauthorized".to_owned()),
        ("another authority, forged", &strange, FORGED, 401, "Unauthorized".to_owned()),
        ("a front proxy", &own, FORGED, 200, String::new()),
    ];
    for (case, user, headers, want, message) in table {
        let (code, answer) = get(&landscape.client(user).await, SEEDS, headers).await;
        let found = answer["message"].as_str().unwrap_or_default();
        assert_eq!((code, found), (want, message.as_str()), "{case}: {answer}");
    }
    landscape.garden.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_are_those_of_the_kube_apiserver() {
    let landscape = Landscape::start().await;
    let dev = landscape.client(&json!({"token": "token-of-dev"})).await;
    assert_eq!(get(&dev, SEEDS, &[]).await.0, 403);
    let rule = json!({"apiGroups": ["core.gardener.cloud"], "resources": ["seeds"], "verbs": ["list"]});
    landscape.grant(&rule).await;
    assert_eq!(get(&dev, SEEDS, &[]).await.0, 200);
    assert_eq!(send(&dev, ("DELETE", &format!("{SEEDS}/a")), &[], &Value::Null).await.0, 403);
    landscape.garden.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gardeners_groups_are_served_and_no_others() {
    let landscape = Landscape::start().await;
    let (nobody, proxy) = (landscape.client(&json!({})).await, landscape.proxy().await);
    assert_eq!(get(&nobody, "/healthz", &[]).await.0, 200);
    assert_eq!(get(&nobody, "/metrics", &[]).await.0, 403);
    let (_, groups) = get(&proxy, "/apis", FORGED).await;
    let mut names: Vec<&str> =
        groups["groups"].as_array().unwrap().iter().filter_map(|group| group["name"].as_str()).collect();
    names.sort_unstable();
    let want =
        ["core", "operations", "seedmanagement", "settings"].map(|name| format!("{name}.gardener.cloud"));
    assert_eq!(names, want);
    for path in ["/api", "/api/v1", "/api/v1/secrets", "/apis/apps/v1", "/apis/apps/v1/deployments"] {
        assert_eq!(get(&proxy, path, FORGED).await.0, 404, "{path}");
    }
    assert_eq!(get(&proxy, "/apis/core.gardener.cloud/v1beta1", FORGED).await.0, 200);
    landscape.garden.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_are_those_of_the_kube_apiserver() {
    let landscape = Landscape::start().await;
    let (kube, proxy) = (landscape.kube(), landscape.proxy().await);
    let path = "/apis/core.gardener.cloud/v1beta1/namespaces/later/quotas";
    let quota = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Quota", "metadata": {"name": "q", "namespace": "later"},
        "spec": {"scope": {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project"}, "metrics": {"cpu": "1"}},
    });
    let (code, refused) = send(&proxy, ("POST", path), FORGED, &quota).await;
    assert_eq!((code, &refused["message"]), (404, &json!("namespaces \"later\" not found")));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}});
    assert_eq!(send(&kube, ("POST", "/api/v1/namespaces"), &[], &namespace).await.0, 201);
    create_soon(&proxy, path, &quota).await;
    let identity = "/api/v1/namespaces/kube-system/configmaps/cluster-identity";
    let (_, identity) = get(&kube, identity, &[]).await;
    assert_eq!(identity["data"], json!({"cluster-identity": "garden-test", "origin": "gardener-apiserver"}));
    assert_eq!(get(&kube, "/api/v1/namespaces/gardener-system-seed-lease", &[]).await.0, 200);
    landscape.garden.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kubeconfigs_of_shoots_are_valid_as_long_as_the_options_say() {
    let landscape = Landscape::start_with(|options| {
        options.admission = Chain::only(&[]).unwrap();
        options.max_expiration = Duration::from_hours(1);
    })
    .await;
    let (kube, proxy) = (landscape.kube(), landscape.proxy().await);
    let (key, certificate) = authority();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "garden-dev"}});
    let clusters = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "app.ca-cluster", "namespace": "garden-dev"},
        "data": {"ca.crt": encoded("the bundle")},
    });
    let secrets = "/api/v1/namespaces/garden-dev/secrets";
    for (path, object) in [("/api/v1/namespaces", &namespace), (secrets, &clusters)] {
        let (code, made) = send(&kube, ("POST", path), &[], object).await;
        assert_eq!(code, 201, "{made}");
    }
    let clients = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "InternalSecret",
        "metadata": {"name": "app.ca-client", "namespace": "garden-dev"},
        "data": {"ca.key": encoded(&key), "ca.crt": encoded(&certificate)},
    });
    let profile = fixture(include_str!("../../../../contracts/fixtures/cloudprofile.yaml"));
    let objects = [
        ("cloudprofiles", profile),
        ("seeds", seed("local")),
        ("shoots", shoot()),
        ("internalsecrets", clients),
    ];
    for (resource, object) in &objects {
        create_soon(&proxy, &collection(resource, object), object).await;
    }
    let (_, mut stored) = get(&proxy, SHOOT, FORGED).await;
    stored["status"]["advertisedAddresses"] = json!([{"name": "external", "url": "https://foo.bar:9443"}]);
    let (code, updated) = send(&proxy, ("PUT", &format!("{SHOOT}/status")), FORGED, &stored).await;
    assert_eq!(code, 200, "{updated}");
    let answer = create_soon(&proxy, &format!("{SHOOT}/adminkubeconfig"), &request(&json!(7200))).await;
    assert_eq!(answer["spec"]["expirationSeconds"], 3600);
    landscape.garden.shutdown().await;
}
