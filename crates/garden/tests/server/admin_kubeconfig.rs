//! The subresource `adminkubeconfig` of Shoots.

use std::time::Duration;

use apiserver::ApiServer;
use formats::x509::{Certificate, pem, pkcs1_of_pkcs8};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, PKCS_RSA_SHA256, RsaKeySize};
use rstest::rstest;
use serde_json::{Value, json};

use super::{SHOOT, TestGarden, shoot};

const KUBECONFIG: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-dev/shoots/app/adminkubeconfig";
const STATUS: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-dev/shoots/app/status";

pub(super) fn request(seconds: &Value) -> Value {
    json!({
        "apiVersion": "authentication.gardener.cloud/v1alpha1", "kind": "AdminKubeconfigRequest",
        "spec": {"expirationSeconds": seconds},
    })
}

pub(super) fn encoded(text: &str) -> String {
    formats::base64::encode(text.as_bytes())
}

fn decoded(value: &Value) -> String {
    String::from_utf8(formats::base64::decode(value.as_str().unwrap()).unwrap()).unwrap()
}

/// Key (PKCS #1) and certificate of an authority.
pub(super) fn authority() -> (String, String) {
    let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "client-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap().pem();
    (pem::encode("RSA PRIVATE KEY", pkcs1_of_pkcs8(key.serialized_der()).unwrap()), certificate)
}

/// A Shoot with two addresses.
async fn reachable() -> TestGarden {
    reachable_of(TestGarden::start().await).await
}

async fn reachable_of(garden: TestGarden) -> TestGarden {
    garden.create("shoots", &shoot()).await;
    let addresses = json!([
        {"name": "external", "url": "https://foo.bar:9443"},
        {"name": "internal", "url": "https://foo.internal:9443"},
    ]);
    garden.patch(STATUS, "merge-patch", &json!({"status": {"advertisedAddresses": addresses}})).await;
    garden
}

async fn add_client_authority(garden: &TestGarden, key: &str, certificate: &str) {
    let secret = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "InternalSecret",
        "metadata": {"name": "app.ca-client", "namespace": "garden-dev"},
        "data": {"ca.key": encoded(key), "ca.crt": encoded(certificate)},
    });
    garden.create("internalsecrets", &secret).await;
}

async fn add_cluster_authority(garden: &TestGarden, bundle: &str) {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "app.ca-cluster", "namespace": "garden-dev"},
        "data": {"ca.crt": encoded(bundle)},
    });
    let (code, made) =
        garden.send("POST", "/api/v1/namespaces/garden-dev/secrets", "application/json", &secret).await;
    assert_eq!(code, 201, "{made}");
}

async fn post(garden: &TestGarden, body: &Value) -> (u16, Value) {
    garden.send("POST", KUBECONFIG, "application/json", body).await
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_has_a_context_for_each_address_and_one_user() {
    let garden = reachable().await;
    let (key, certificate) = authority();
    add_client_authority(&garden, &key, &certificate).await;
    add_cluster_authority(&garden, "the bundle").await;
    let (code, answer) = post(&garden, &request(&json!(660))).await;
    assert_eq!(code, 201, "{answer}");
    let seen = (&answer["kind"], &answer["spec"]["expirationSeconds"], &answer["metadata"]["namespace"]);
    assert_eq!(seen, (&json!("AdminKubeconfigRequest"), &json!(660), &json!("garden-dev")));

    let config: Value = formats::yaml::from_str(&decoded(&answer["status"]["kubeconfig"])).unwrap();
    let cluster = |host: &str| json!({"certificate-authority-data": encoded("the bundle"), "server": format!("https://{host}")});
    let (external, internal) = ("garden-dev--app-external", "garden-dev--app-internal");
    let context = |name: &str| json!({"name": name, "context": {"cluster": name, "user": external}});
    let own = &config["users"][0]["user"];
    let want = json!({
        "apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": external,
        "clusters": [
            {"name": external, "cluster": cluster("foo.bar:9443")},
            {"name": internal, "cluster": cluster("foo.internal:9443")},
        ],
        "contexts": [context(external), context(internal)],
        "users": [{"name": external, "user": own}],
    });
    assert_eq!(config, want);

    assert!(decoded(&own["client-key-data"]).starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    let issued = Certificate::bundle(decoded(&own["client-certificate-data"]).as_bytes());
    let authority = Certificate::bundle(certificate.as_bytes());
    assert_eq!(issued[0].issuer, authority[0].subject);
    let end: jiff::Timestamp = answer["status"]["expirationTimestamp"].as_str().unwrap().parse().unwrap();
    assert_eq!((issued[0].not_after, issued[0].not_after - issued[0].not_before), (end.as_second(), 660));
}

#[rstest]
#[case(&json!(null), 3600)]
#[case(&json!(600), 600)]
#[case(&json!(86_400), 86_400)]
#[case(&json!(86_401), 86_400)]
#[case(&json!(4_294_967_295_i64), 86_400)]
#[tokio::test(start_paused = true)]
async fn the_time_has_a_default_and_a_limit(#[case] wanted: &Value, #[case] granted: i64) {
    let garden = reachable().await;
    let (key, certificate) = authority();
    add_client_authority(&garden, &key, &certificate).await;
    add_cluster_authority(&garden, "the bundle").await;
    let (code, answer) = post(&garden, &request(wanted)).await;
    assert_eq!((code, &answer["spec"]["expirationSeconds"]), (201, &json!(granted)), "{answer}");
}

#[rstest]
#[case(3600, 7200, 3600)]
#[case(3600, 600, 600)]
#[case(172_800, 100_000, 100_000)]
#[tokio::test(start_paused = true)]
async fn the_server_may_have_another_limit(#[case] limit: u64, #[case] wanted: i64, #[case] granted: i64) {
    let builder = ApiServer::builder().max_expiration(Duration::from_secs(limit));
    let garden = reachable_of(TestGarden::start_as(builder).await).await;
    let (key, certificate) = authority();
    add_client_authority(&garden, &key, &certificate).await;
    add_cluster_authority(&garden, "the bundle").await;
    let (code, answer) = post(&garden, &request(&json!(wanted))).await;
    assert_eq!((code, &answer["spec"]["expirationSeconds"]), (201, &json!(granted)), "{answer}");
}

#[rstest]
#[case(json!(599), "Invalid value: 599: may not specify a duration less than 10 minutes")]
#[case(json!(4_294_967_296_i64), "Too long: must have at most 4294967295 bytes")]
#[tokio::test(start_paused = true)]
async fn a_time_out_of_range_is_refused_before_the_shoot_is_read(#[case] seconds: Value, #[case] why: &str) {
    let garden = TestGarden::start().await;
    let (code, answer) = post(&garden, &request(&seconds)).await;
    let head =
        "AdminKubeconfigRequest.authentication.gardener.cloud \"\" is invalid: spec.expirationSeconds: ";
    assert_eq!((code, &answer["message"]), (422, &json!(format!("{head}{why}"))));
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_reported_in_the_order_in_which_it_is_needed() {
    let garden = TestGarden::start().await;
    let message = async |garden: &TestGarden| {
        let (code, answer) = post(garden, &request(&Value::Null)).await;
        format!("{code} {}", answer["message"].as_str().unwrap())
    };
    assert_eq!(message(&garden).await, "404 shoots.core.gardener.cloud \"app\" not found");
    garden.create("shoots", &shoot()).await;
    assert_eq!(
        message(&garden).await,
        "422 AdminKubeconfigRequest.authentication.gardener.cloud \"app\" is invalid: status.status: Invalid value: \
         []core.ShootAdvertisedAddress(nil): no kube-apiserver advertised addresses in Shoot .status.advertisedAddresses"
    );
    let garden = reachable().await;
    let internal = "500 Internal error occurred: could not";
    let missing = "internalsecret.core.gardener.cloud \"app.ca-client\" not found";
    assert_eq!(message(&garden).await, format!("{internal} get client CA secret: {missing}"));
    let (key, certificate) = authority();
    add_client_authority(&garden, &key, &certificate).await;
    let missing = "secret \"app.ca-cluster\" not found";
    assert_eq!(message(&garden).await, format!("{internal} get cluster CA secret: {missing}"));
    add_cluster_authority(&garden, "").await;
    assert_eq!(message(&garden).await, format!("{internal} load cluster CA bundle from secret"));

    let garden = reachable().await;
    add_client_authority(&garden, "no key", &certificate).await;
    let why = "could not decode the PEM-encoded RSA private key";
    assert_eq!(message(&garden).await, format!("{internal} load client CA certificate from secret: {why}"));
    let garden = reachable().await;
    add_client_authority(&garden, &key, "no certificate").await;
    let why = "PEM block type must be CERTIFICATE";
    assert_eq!(message(&garden).await, format!("{internal} load client CA certificate from secret: {why}"));
}

#[tokio::test(start_paused = true)]
async fn the_subresource_only_takes_requests_of_its_kind() {
    let garden = reachable().await;
    assert_eq!(garden.get(KUBECONFIG).await.0, 405);
    let (code, answer) = post(&garden, &shoot()).await;
    assert_eq!(code, 400, "{answer}");
    let (code, answer) = post(&garden, &request(&json!("600"))).await;
    assert_eq!(code, 400, "{answer}");
    let discovered = garden.get("/apis/core.gardener.cloud/v1beta1").await.1;
    let mut resources = discovered["resources"].as_array().unwrap().iter();
    let found = resources.find(|resource| resource["name"] == "shoots/adminkubeconfig").unwrap();
    let seen = (&found["group"], &found["version"], &found["kind"], &found["verbs"]);
    let want = (
        &json!("authentication.gardener.cloud"),
        &json!("v1alpha1"),
        &json!("AdminKubeconfigRequest"),
        &json!(["create"]),
    );
    assert_eq!(seen, want);
    assert_eq!(garden.get(SHOOT).await.1["status"]["advertisedAddresses"].as_array().map(Vec::len), Some(2));
}
