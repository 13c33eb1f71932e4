//! Authentication over TLS with the settings of kube-apiserver's flags: authorities of clients, front proxies, anonymous
//! requests, keys and issuers of tokens.

use apiserver::{
    ApiServer, Authentication, Authorization, Builder, ClientAuthority, KeyPair, Listening, RequestHeaders,
    SigningKey, TokenKeyError, VerifyingKey,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer};
use serde_json::{Value, json};

use crate::wire::send;

/// An authority of certificates.
struct Authority {
    pem: String,
    issuer: Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn certificate(&self, name: &str, group: Option<&str>) -> KeyPair {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        KeyPair { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() }
    }
}

async fn serve(builder: Builder, authority: &Authority) -> (ApiServer, Listening) {
    let server = builder.build();
    let certificate = authority.certificate("server", None);
    let listening = server.serve_with(([127, 0, 0, 1], 0).into(), &certificate).await.unwrap();
    (server, listening)
}

fn client(
    url: &str,
    authority: &Authority,
    certificate: Option<&KeyPair>,
    token: Option<&str>,
) -> kube::Client {
    let mut config = kube::Config::new(url.parse().unwrap());
    let authority = formats::x509::Certificate::bundle(authority.pem.as_bytes());
    config.root_cert = Some(authority.into_iter().map(|certificate| certificate.der).collect());
    config.auth_info.client_certificate_data = certificate.map(|pair| STANDARD.encode(&pair.certificate_pem));
    config.auth_info.client_key_data = certificate.map(|pair| STANDARD.encode(&pair.key_pem).into());
    config.auth_info.token = token.map(|token| token.to_owned().into());
    kube::Client::try_from(config).unwrap()
}

/// Name and groups of the user that the server authenticates; the status code of an error.
async fn whoami(client: &kube::Client, headers: &[(&str, &str)]) -> Result<(String, Vec<String>), u16> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let mut request = http::Request::post(path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer: Result<Value, _> = client.request(request.body(review.into_bytes()).unwrap()).await;
    match answer {
        Ok(review) => {
            let user = &review["status"]["userInfo"];
            let groups =
                user["groups"].as_array().unwrap().iter().map(|group| group.as_str().unwrap().to_owned());
            Ok((user["username"].as_str().unwrap().to_owned(), groups.collect()))
        }
        Err(kube::Error::Api(status)) => Err(status.code),
        Err(error) => unreachable!("the server did not answer: {error}"),
    }
}

fn user(name: &str, groups: &[&str]) -> (String, Vec<String>) {
    (name.to_owned(), groups.iter().map(|group| (*group).to_owned()).collect())
}

fn request_headers(authority: &Authority, names: &[&str]) -> RequestHeaders {
    RequestHeaders {
        authorities: authority.pem.clone(),
        allowed_names: names.iter().map(|name| (*name).to_owned()).collect(),
        username: vec!["X-Remote-User".to_owned()],
        groups: vec!["X-Remote-Group".to_owned()],
        extra_prefixes: vec!["X-Remote-Extra-".to_owned()],
        uid: Vec::new(),
    }
}

#[tokio::test]
async fn certificates_of_a_given_authority_name_users_and_others_are_unauthorized() {
    let (server, clients, strangers) =
        (Authority::new("server"), Authority::new("clients"), Authority::new("x"));
    let authentication =
        Authentication { clients: ClientAuthority::Bundle(clients.pem.clone()), ..Authentication::default() };
    let builder = ApiServer::builder().authorization(Authorization::Rbac).authentication(authentication);
    let (api, listening) = serve(builder, &server).await;
    api.add_token("secret", apiserver::User::of_groups("carol", &["tellers"]));
    let (alice, mallory) =
        (clients.certificate("alice", Some("g")), strangers.certificate("alice", Some("g")));
    let of = |certificate: Option<&KeyPair>, token: Option<&str>| {
        client(&listening.url, &server, certificate, token)
    };
    let everybody = "system:authenticated";
    assert_eq!(whoami(&of(Some(&alice), None), &[]).await, Ok(user("alice", &["g", everybody])));
    assert_eq!(whoami(&of(Some(&mallory), None), &[]).await, Err(401));
    // As in kube-apiserver, the token is tried if the certificate is refused.
    let both = of(Some(&mallory), Some("secret"));
    assert_eq!(whoami(&both, &[]).await, Ok(user("carol", &["tellers", everybody])));
    // Without front proxies, the headers are ignored.
    let headers = [("x-remote-user", "bob")];
    assert_eq!(whoami(&of(Some(&alice), None), &headers).await, Ok(user("alice", &["g", everybody])));
    listening.shutdown().await;
}

#[tokio::test]
async fn a_front_proxy_names_other_users() {
    let (server, clients, proxies) =
        (Authority::new("server"), Authority::new("clients"), Authority::new("proxies"));
    let authentication = Authentication {
        clients: ClientAuthority::Bundle(clients.pem.clone()),
        request_headers: Some(request_headers(&proxies, &["proxy"])),
        anonymous: true,
    };
    let builder = ApiServer::builder().authorization(Authorization::Rbac).authentication(authentication);
    let (_, listening) = serve(builder, &server).await;
    let of = |certificate: &KeyPair| client(&listening.url, &server, Some(certificate), None);
    let headers = [("x-remote-user", "bob"), ("x-remote-group", "a"), ("x-remote-group", "b")];
    let proxy = of(&proxies.certificate("proxy", None));
    assert_eq!(whoami(&proxy, &headers).await, Ok(user("bob", &["a", "b", "system:authenticated"])));
    assert_eq!(whoami(&proxy, &[]).await, Err(401), "a proxy itself is no user");
    let other = of(&proxies.certificate("other", None));
    assert_eq!(whoami(&other, &headers).await, Err(401), "its name is not allowed");
    let alice = of(&clients.certificate("alice", None));
    assert_eq!(whoami(&alice, &headers).await, Ok(user("alice", &["system:authenticated"])));
    listening.shutdown().await;
}

#[tokio::test]
async fn anonymous_requests_may_be_refused() {
    let server = Authority::new("server");
    let authentication =
        Authentication { clients: ClientAuthority::None, anonymous: false, ..Authentication::default() };
    let builder = ApiServer::builder().authorization(Authorization::Rbac).authentication(authentication);
    let (_, listening) = serve(builder, &server).await;
    let client = client(&listening.url, &server, None, None);
    let health = client.request_text(http::Request::get("/healthz").body(Vec::new()).unwrap()).await;
    assert!(matches!(&health, Err(kube::Error::Api(status)) if status.code == 401), "{health:?}");
    listening.shutdown().await;
}

#[tokio::test]
async fn extension_api_servers_learn_the_authorities_of_clients_and_front_proxies() {
    let (clients, proxies) = (Authority::new("clients"), Authority::new("proxies"));
    let read = async |builder: Builder| {
        let server = builder.post_start_hooks(true).build();
        let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
        send(&server, "GET", path, &Value::Null).await.1
    };
    let given = Authentication {
        clients: ClientAuthority::Bundle(clients.pem.clone()),
        request_headers: Some(request_headers(&proxies, &[])),
        anonymous: true,
    };
    let object = read(ApiServer::builder().authentication(given).front_proxy(None)).await;
    let want = json!({
        "client-ca-file": clients.pem,
        "requestheader-allowed-names": "[]",
        "requestheader-client-ca-file": proxies.pem,
        "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
        "requestheader-group-headers": "[\"X-Remote-Group\"]",
        "requestheader-username-headers": "[\"X-Remote-User\"]",
    });
    assert_eq!(object["data"], want);
    let none = Authentication { clients: ClientAuthority::None, ..Authentication::default() };
    let object = read(ApiServer::builder().authentication(none)).await;
    assert_eq!(object["data"]["client-ca-file"], Value::Null);
    assert_eq!(object["data"]["requestheader-allowed-names"], "[\"front-proxy-client\"]");
    let owned = &object["metadata"]["managedFields"][0]["fieldsV1"]["f:data"];
    assert!(
        owned["f:requestheader-client-ca-file"].is_object() && owned["f:client-ca-file"].is_null(),
        "{owned}"
    );
}

/// A token of the account `a`, its reviews, and the server's keys.
async fn token_of(builder: Builder) -> (ApiServer, String) {
    let server = builder.build();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    send(&server, "POST", accounts, &json!({"metadata": {"name": "a"}})).await;
    let (code, answer) = send(&server, "POST", &format!("{accounts}/a/token"), &json!({"spec": {}})).await;
    assert_eq!(code, 201, "{answer}");
    (server, answer["status"]["token"].as_str().unwrap().to_owned())
}

async fn is_authenticated(server: &ApiServer, token: &str) -> bool {
    let review = json!({"spec": {"token": token}});
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    send(server, "POST", path, &review).await.1["status"]["authenticated"] == true
}

#[tokio::test]
async fn tokens_are_signed_and_verified_with_the_keys_that_are_given() {
    let ecdsa = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap().serialize_pem();
    let rsa = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let rsa = rsa.unwrap().serialize_pem();
    for (pem, algorithm, kind) in [(rsa, "RS256", "RSA"), (ecdsa, "ES384", "EC")] {
        let signing = SigningKey::from_pem(pem.as_bytes()).unwrap();
        let (server, token) = token_of(ApiServer::builder().signing_key(signing.clone())).await;
        assert!(is_authenticated(&server, &token).await, "{algorithm}");
        let keys = send(&server, "GET", "/openid/v1/jwks", &Value::Null).await.1;
        assert_eq!((&keys["keys"][0]["alg"], &keys["keys"][0]["kty"]), (&json!(algorithm), &json!(kind)));
        // The public half of a private key verifies, beside others; those alone do not.
        let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
        let both = VerifyingKey::all_from_pem(format!("{other}{pem}").as_bytes()).unwrap();
        let builder = ApiServer::builder().signing_key(signing.clone()).verifying_keys(both);
        let (server, token) = token_of(builder).await;
        assert!(is_authenticated(&server, &token).await, "{algorithm}");
        let keys = send(&server, "GET", "/openid/v1/jwks", &Value::Null).await.1;
        assert_eq!(keys["keys"].as_array().unwrap().len(), 2);
        let others = VerifyingKey::all_from_pem(other.as_bytes()).unwrap();
        let (server, token) =
            token_of(ApiServer::builder().signing_key(signing).verifying_keys(others)).await;
        assert!(!is_authenticated(&server, &token).await, "{algorithm}");
    }
}

#[tokio::test]
async fn a_certificate_holds_the_key_of_tokens_and_further_issuers_are_accepted() {
    let authority = Authority::new("sa");
    let pair = authority.certificate("sa-signer", None);
    let keys = || VerifyingKey::all_from_pem(pair.certificate_pem.as_bytes()).unwrap();
    let signing = || SigningKey::from_pem(pair.key_pem.as_bytes()).unwrap();
    let build = |issuers: &[&str]| {
        let builder = ApiServer::builder().signing_key(signing()).verifying_keys(keys()).seed(1);
        builder.issuers(issuers.iter().map(|issuer| (*issuer).to_owned()))
    };
    let (server, token) = token_of(build(&["https://one", "https://two"])).await;
    assert!(is_authenticated(&server, &token).await);
    // The same account on a server whose first issuer is another.
    let (swapped, _) = token_of(build(&["https://two", "https://one"])).await;
    assert!(is_authenticated(&swapped, &token).await);
    let (alone, _) = token_of(build(&["https://two"])).await;
    assert!(!is_authenticated(&alone, &token).await);
}

#[test]
fn files_without_a_usable_key_are_errors() {
    let ed25519 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let (pem, public) = (ed25519.serialize_pem(), ed25519.public_key_pem());
    let unsupported = TokenKeyError::Unsupported;
    assert_eq!(SigningKey::from_pem(b"x").unwrap_err(), TokenKeyError::Missing("private"));
    assert_eq!(SigningKey::from_pem(public.as_bytes()).unwrap_err(), TokenKeyError::Missing("private"));
    assert_eq!(SigningKey::from_pem(pem.as_bytes()).unwrap_err(), unsupported);
    assert_eq!(VerifyingKey::all_from_pem(b"").unwrap_err(), TokenKeyError::Missing("public"));
    assert_eq!(VerifyingKey::all_from_pem(public.as_bytes()).unwrap_err(), unsupported);
}

#[tokio::test]
async fn pods_need_a_service_account_if_its_admission_is_on() {
    let server = ApiServer::builder().service_account_admission(true).build();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = |name: &str, spec: Value| {
        let mut spec = spec;
        spec["containers"] = json!([{"name": "c", "image": "i"}]);
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let (code, refusal) = send(&server, "POST", pods, &pod("a", json!({}))).await;
    let want = r#"pods "a" is forbidden: error looking up service account default/default: serviceaccount "default" not found"#;
    assert_eq!((code, refusal["message"].as_str()), (403, Some(want)));
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"metadata": {"name": "default"}, "imagePullSecrets": [{"name": "pull"}]});
    send(&server, "POST", accounts, &account).await;
    let quiet = json!({"metadata": {"name": "quiet"}, "automountServiceAccountToken": false});
    send(&server, "POST", accounts, &quiet).await;
    let (code, made) = send(&server, "POST", pods, &pod("a", json!({}))).await;
    assert_eq!(code, 201, "{made}");
    let spec = &made["spec"];
    assert_eq!(
        (&spec["serviceAccountName"], &spec["serviceAccount"]),
        (&json!("default"), &json!("default"))
    );
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "pull"}]));
    let volume = spec["volumes"][0]["name"].as_str().unwrap();
    assert!(volume.starts_with("kube-api-access-"), "{volume}");
    assert_eq!(
        spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"],
        3607
    );
    let mount = json!([{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": volume, "readOnly": true}]);
    assert_eq!(spec["containers"][0]["volumeMounts"], mount);
    for spec in [json!({"serviceAccountName": "quiet"}), json!({"automountServiceAccountToken": false})] {
        let (code, made) =
            send(&server, "POST", pods, &pod(&format!("b{}", spec.to_string().len()), spec)).await;
        assert_eq!((code, &made["spec"]["volumes"]), (201, &Value::Null), "{made}");
    }
}
