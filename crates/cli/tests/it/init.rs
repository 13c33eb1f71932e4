//! `init provider`: what it finds out, writes and prints.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::program::{CallResult, call};
use crate::strange_targets::{certificate, served};

/// Serves a webhook at `/controlplane`, which accepts reviews of v1 only, and one at `/hooks/controlplanebackup`, which accepts
/// both versions.
async fn webhook(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_understood = review["apiVersion"] == "admission.k8s.io/v1";
    let (status, answer) = match path.as_str() {
        "/controlplane" if !is_understood => (400, json!("no kind is registered")),
        "/controlplane" | "/hooks/controlplanebackup" => {
            assert!(
                review.is_null() || review == json!({}) || review["request"]["dryRun"] == true,
                "{review}"
            );
            let response = json!({"uid": review["request"]["uid"], "allowed": true});
            (
                200,
                json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}),
            )
        }
        _ => (404, json!("404 page not found")),
    };
    Ok(Response::builder().status(status).body(Full::new(answer.to_string().into())).unwrap())
}

/// Runs `init provider` with a running webhook; replaces `URL` and `CA` in the arguments by its address and CA.
fn init(folder: &Path, arguments: &[&str]) -> CallResult {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(folder);
    let url = runtime.block_on(served(certificates, webhook));
    let arguments = arguments.iter().map(|word| word.replace("URL", &url).replace("CA", &ca));
    let arguments: Vec<String> =
        ["init", "provider"].map(str::to_owned).into_iter().chain(arguments).collect();
    call(folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn registration(folder: &Path, to: &str, provider: &str) {
    let text = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: provider}}\n\
         webhooks:\n- name: controlplanebackup.{provider}.extensions.gardener.cloud\n  clientConfig: {to}\n  \
         namespaceSelector: {{matchLabels: {{backup.gardener.cloud/provider: {provider}}}}}\n"
    );
    fs::write(folder.join("webhooks.yaml"), text).unwrap();
}

#[test]
fn a_running_webhook_is_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let result = init(here, &["--url", "URL", "--ca", "CA", "--provider", "aws"]);
    result.assert_exit(
        0,
        &[
            "… serves /controlplane (v1)",
            "not served, so verify leaves it out: /controlplanebackup, /controlplaneexposure",
            "wrote    provider.yaml",
            "assumed  provider aws, as --provider says",
            "of profile aws Cluster shoot--dev--app, Secret cloudprovider",
            "next     gardener-conformance verify --target provider.yaml",
        ],
    );
    let text = fs::read_to_string(here.join("provider.yaml")).unwrap();
    for line in [
        "metadata: {name: provider-aws}",
        "  # Serves /controlplane (v1).",
        "  # gardener: v1.98.0",
        "  provider: aws",
        "\n  features: [csi]\n",
        "\n  extras: [spec.template.metadata.labels]\n",
        "  suite: controlplane",
        "  serves: [controlplane]",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let read: Value = parse_yaml(&text);
    assert!(read["spec"]["url"].as_str().unwrap().starts_with("https://127.0.0.1:"), "{read}");
    assert!(read["spec"]["ca"].as_str().unwrap().contains("ca-"), "{read}");
    call(here, &["lint", "provider.yaml"]).assert_exit(0, &[]);
    init(here, &["--url", "URL", "--ca", "CA"]).assert_exit(2, &["provider.yaml exists already", "--force"]);
    assert_eq!(fs::read_to_string(here.join("provider.yaml")).unwrap(), text, "nothing was written");
    init(here, &["--url", "URL", "--insecure", "--force", "--gardener", "v1.98.0"])
        .assert_exit(0, &["verify --target provider.yaml --insecure"]);
    let text = fs::read_to_string(here.join("provider.yaml")).unwrap();
    assert!(text.contains("\n  gardener: v1.98.0\n") && !text.contains("\n  ca:"), "{text}");
}

#[test]
fn paths_and_the_provider_come_from_the_registration() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    registration(here, "{service: {namespace: a, name: b, path: /hooks/controlplanebackup}}", "local");
    let with = ["--mutating-webhook-configuration", "webhooks.yaml"];
    init(here, &[&["--url", "URL", "--ca", "CA"], &with[..]].concat())
        .assert_exit(0, &["/controlplane (v1), /hooks/controlplanebackup (v1, v1beta1)"]);
    let read = parse_yaml(&fs::read_to_string(here.join("provider.yaml")).unwrap());
    assert_eq!(read["spec"]["paths"], json!({"controlplanebackup": "/hooks/controlplanebackup"}));
    assert_eq!(read["spec"]["registration"], "webhooks.yaml");
    init(here, &[&["--force"], &with[..]].concat())
        .assert_exit(2, &["the registration names a Service", "--url", "--namespace"]);
    registration(here, "{service: {namespace: a, name: b, path: /hooks/controlplanebackup}}", "aws");
    init(here, &[&["--url", "URL", "--ca", "CA", "--force"], &with[..]].concat())
        .assert_exit(0, &["wrote    provider.yaml"]);
    let read = parse_yaml(&fs::read_to_string(here.join("provider.yaml")).unwrap());
    assert_eq!(
        (&read["spec"]["provider"], &read["spec"]["registration"]),
        (&"aws".into(), &"webhooks.yaml".into())
    );
    init(here, &[&["--url", "URL", "--ca", "CA", "--force", "--provider", "gcp"], &with[..]].concat())
        .assert_exit(2, &["--provider: ", "selects namespaces of provider aws", "but not of gcp"]);
    fs::write(here.join("webhooks.yaml"), "kind: Pod\n").unwrap();
    init(here, &[&["--url", "URL", "--ca", "CA", "--force"], &with[..]].concat())
        .assert_exit(2, &["failed to read registration webhooks.yaml"]);
}

#[test]
fn a_provider_is_assumed_from_the_registration_and_one_without_a_profile_gets_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let with = ["--url", "URL", "--ca", "CA", "--force", "--mutating-webhook-configuration", "webhooks.yaml"];
    let read = || parse_yaml(&fs::read_to_string(here.join("provider.yaml")).unwrap());
    let service = "{service: {namespace: a, name: b, path: /hooks/controlplanebackup}}";
    registration(here, service, "gcp");
    init(here, &with).assert_exit(
        0,
        &["assumed  provider gcp, whose namespaces the registration selects", "features [csi]"],
    );
    assert_eq!(
        (&read()["spec"]["features"], &read()["spec"]["clusterObjects"]),
        (&json!(["csi"]), &Value::Null)
    );
    registration(here, service, "acme");
    init(here, &with).assert_exit(
        0,
        &["assumed  provider acme", "there is no profile of it (known are alicloud, aws", "clusterObjects"],
    );
    assert_eq!(read()["spec"]["clusterObjects"], json!([]));
    // Webhooks that select no namespaces are named after their provider.
    let text = fs::read_to_string(here.join("webhooks.yaml")).unwrap();
    let (text, _) = text.split_once("  namespaceSelector").unwrap();
    fs::write(here.join("webhooks.yaml"), text.replace("acme", "equinix-metal")).unwrap();
    init(here, &with)
        .assert_exit(0, &["provider equinix-metal, after which the webhooks", "profile equinix-metal"]);
    // As `kubectl get -o yaml` prints several.
    let item = text.replace('\n', "\n  ");
    fs::write(here.join("webhooks.yaml"), format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n")).unwrap();
    init(here, &with).assert_exit(0, &["assumed  provider acme"]);
}

/// Providers register more than webhooks of control planes.
#[test]
fn what_a_provider_registers_beside_control_planes_is_listed_as_not_verified() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    registration(here, "{service: {namespace: a, name: b, path: /hooks/controlplanebackup}}", "gcp");
    let text = fs::read_to_string(here.join("webhooks.yaml")).unwrap();
    let beside = "- name: cloudprovider.gcp.extensions.gardener.cloud\n  rules: [{apiGroups: [''], resources: [secrets]}]\n  \
                  clientConfig: {service: {namespace: a, name: b, path: /cloudprovider}}\n";
    fs::write(here.join("webhooks.yaml"), format!("{text}{beside}")).unwrap();
    let described = "cloudprovider.gcp.extensions.gardener.cloud (secrets, /cloudprovider)";
    init(here, &["--url", "URL", "--ca", "CA", "--mutating-webhook-configuration", "webhooks.yaml"])
        .assert_exit(0, &[&format!("registered, but no contract is about it: {described}")]);
    let target = fs::read_to_string(here.join("provider.yaml")).unwrap();
    assert!(
        target.contains(&format!(
            "  # It also has these webhooks, which no contract is about:\n  # {described}\n"
        )),
        "{target}"
    );
    let result = call(here, &["verify", "--target", "provider.yaml", "--sample", "1"]);
    let flat = result.err.replace("\n  ", " ");
    assert!(
        flat.contains(&format!("registered, but not verified, because no contract is about it: {described}")),
        "{flat}"
    );
    // A webhook that changes control planes may have any name and path, which its target file contains.
    let named = text.replace("controlplanebackup", "cpb");
    let rules = "  rules: [{apiGroups: [druid.gardener.cloud], resources: [etcds]}]\n";
    fs::write(here.join("webhooks.yaml"), format!("{named}{rules}")).unwrap();
    let nothing = |_: Request<Incoming>| async {
        Ok(Response::builder().status(404).body(Full::new(Bytes::from_static(b"no"))).unwrap())
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(here);
    let url = runtime.block_on(served(certificates, nothing));
    let options = ["--ca", &ca, "--force", "--mutating-webhook-configuration", "webhooks.yaml"];
    call(here, &[&["init", "provider", "--url", &url], &options[..]].concat()).assert_exit(
        2,
        &["`paths: {controlplane: PATH}`: cpb.gcp.extensions.gardener.cloud (etcds.druid.gardener.cloud, /hooks/cpb)"],
    );
}

#[test]
fn an_address_in_the_registration_is_enough() {
    use base64::Engine as _;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(here);
    let url = runtime.block_on(served(certificates, webhook));
    let pem = fs::read(&ca).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(&pem);
    registration(here, &format!("{{url: '{url}/hooks/controlplanebackup', caBundle: {bundle}}}"), "local");
    call(here, &["init", "provider", "--mutating-webhook-configuration", "webhooks.yaml"])
        .assert_exit(0, &["wrote    provider-ca.crt", "wrote    provider.yaml"]);
    assert_eq!(fs::read(here.join("provider-ca.crt")).unwrap(), pem);
    let read = parse_yaml(&fs::read_to_string(here.join("provider.yaml")).unwrap());
    assert_eq!((&read["spec"]["url"], &read["spec"]["ca"]), (&url.into(), &"provider-ca.crt".into()));
}

/// The API server of a seed with a registered webhook; it passes requests to the webhook's Service on to [`webhook`].
async fn seed(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
    const SERVICE: &str = "/api/v1/namespaces/extension-provider-aws-x7k2p/services/https:hooks:10250/proxy";
    let path = request.uri().path().to_owned();
    if let Some(rest) = path.strip_prefix(SERVICE) {
        let (mut parts, body) = request.into_parts();
        parts.uri = rest.parse().unwrap();
        return webhook(Request::from_parts(parts, body)).await;
    }
    let to = |namespace: &str| json!({"service": {"namespace": namespace, "name": "hooks", "port": 10250, "path": "/controlplane"}, "caBundle": "Y2E="});
    let registered = |namespace: &str| {
        json!({"name": "controlplane.aws.extensions.gardener.cloud", "clientConfig": to(namespace),
        "sideEffects": "None", "admissionReviewVersions": ["v1"]})
    };
    let answer = match path.as_str() {
        "/version" => {
            json!({"major": "1", "minor": "31", "gitVersion": "v1.31.0", "gitCommit": "", "gitTreeState": "", "buildDate": "",
            "goVersion": "", "compiler": "", "platform": ""})
        }
        "/api/v1/namespaces/extension-os-ubuntu" => {
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extension-os-ubuntu"}})
        }
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations" => json!({"items": [
            {"metadata": {"name": "other", "managedFields": []}, "webhooks": [registered("elsewhere")]},
            {"metadata": {"name": "aws", "managedFields": []}, "webhooks": [registered("elsewhere"), registered("extension-provider-aws-x7k2p")]},
        ]}),
        _ => {
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": "NotFound", "code": 404})
        }
    };
    let code = answer["code"].as_u64().map_or(200, |_| 404);
    Ok(Response::builder().status(code).body(Full::new(answer.to_string().into())).unwrap())
}

#[test]
fn a_webhook_in_a_seed_is_inspected_through_its_api_server() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(here);
    let url = runtime.block_on(served(certificates, seed));
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- {{name: a, cluster: {{server: '{url}', \
         certificate-authority: '{ca}'}}}}\nusers:\n- {{name: a, user: {{token: do-not-tell}}}}\ncontexts:\n\
         - {{name: a, context: {{cluster: a, user: a}}}}\n"
    );
    fs::write(here.join("seed.kubeconfig"), kubeconfig).unwrap();
    let init = ["init", "provider", "--kubeconfig", "seed.kubeconfig", "--namespace"];
    call(here, &[&init[..], &["extension-provider-aws-x7k2p"]].concat()).assert_exit(
        0,
        &[
            "tried    Service extension-provider-aws-x7k2p/hooks … serves /controlplane (v1)",
            "wrote    provider-registration.yaml",
            "next     kubectl --kubeconfig seed.kubeconfig -n extension-provider-aws-x7k2p port-forward service/hooks 9443:10250 &",
            "gardener-conformance verify --target provider.yaml --insecure",
        ],
    );
    let text = fs::read_to_string(here.join("provider.yaml")).unwrap();
    let read = parse_yaml(&text);
    assert_eq!(
        (&read["metadata"]["name"], &read["spec"]["registration"]),
        (&"provider-aws".into(), &"provider-registration.yaml".into())
    );
    let registration = fs::read_to_string(here.join("provider-registration.yaml")).unwrap();
    let read = parse_yaml(&registration);
    let webhooks = read["webhooks"].as_array().unwrap();
    assert_eq!((&read["metadata"]["name"], webhooks.len()), (&"aws".into(), 1), "{registration}");
    for secret in ["do-not-tell", "caBundle", "managedFields"] {
        assert!(!text.contains(secret) && !registration.contains(secret), "{secret}");
    }
    call(here, &[&init[..], &["extension-os-ubuntu", "--force"]].concat()).assert_exit(
        4,
        &[
            "no MutatingWebhookConfiguration names a Service in namespace extension-os-ubuntu",
            "an extension without one (most of those for operating systems and networks) has nothing",
        ],
    );
    call(here, &[&init[..], &["nobody", "--force"]].concat()).assert_exit(
        2,
        &[
            "no MutatingWebhookConfiguration names a Service in namespace nobody",
            "there are webhooks in elsewhere, extension-provider-aws-x7k2p",
        ],
    );
}

#[test]
fn errors_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (another, _) = certificate(here);
    init(here, &["--url", "https://127.0.0.1:9", "--insecure"])
        .assert_exit(3, &["failed to connect", "start the webhook"]);
    init(here, &["--url", "URL", "--ca", &another])
        .assert_exit(3, &["failed to trust the certificate", "--ca FILE"]);
    init(here, &["--url", "URL"]).assert_exit(2, &["--ca FILE", "--insecure"]);
    init(here, &["--url", "http://127.0.0.1:9", "--insecure"])
        .assert_exit(2, &["https://HOST:PORT without a path"]);
    init(here, &["--url", "https://a:1/b", "--insecure"])
        .assert_exit(2, &["https://HOST:PORT without a path"]);
    init(here, &["--url", "URL", "--insecure", "--provider", "A b"]).assert_exit(2, &["lower case letters"]);
    init(here, &["--command", "ls /no/such/folder <port>"])
        .assert_exit(3, &["ended before it was ready", "the command of --command starts the webhook"]);
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", plain.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut connection, _) = plain.accept().unwrap();
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    init(here, &["--url", &address, "--insecure"])
        .assert_exit(3, &["it answers without TLS: use the port of"]);
    init(here, &["--namespace", "a", "--kubeconfig", "none"])
        .assert_exit(2, &["failed to read kubeconfig none"]);
    init(here, &[]).assert_exit(2, &["--url <URL>"]);
    assert!(!here.join("provider.yaml").exists());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ca, certificates) = certificate(here);
    let nothing = |_: Request<Incoming>| async {
        Ok(Response::builder().status(404).body(Full::new(Bytes::from_static(b"no"))).unwrap())
    };
    let url = runtime.block_on(served(certificates, nothing));
    call(here, &["init", "provider", "--url", &url, "--ca", &ca]).assert_exit(
        2,
        &["serves no webhook that a contract is about", "answer 404", "--mutating-webhook-configuration"],
    );
    let (ca, certificates) = certificate(here);
    let page = |_: Request<Incoming>| async {
        Ok(Response::new(Full::new(Bytes::from_static(b"<html>hello</html>"))))
    };
    let url = runtime.block_on(served(certificates, page));
    call(here, &["init", "provider", "--url", &url, "--ca", &ca]).assert_exit(
        2,
        &["answers with HTTP status 200 and without an AdmissionReview of v1: <html>hello</html>"],
    );
}

fn parse_yaml(text: &str) -> Value {
    formats::yaml::from_str(text).unwrap()
}

#[test]
fn contracts_about_what_a_target_does_not_serve_are_left_out_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\n";
    let spec = "{url: \"https://127.0.0.1:9\", suite: controlplane, serves: [controlplane]}";
    fs::write(here.join("x.yaml"), format!("{head}spec: {spec}\n")).unwrap();
    let verify = ["verify", "--target", "x.yaml", "--insecure"];
    let of_another = call(here, &[&verify[..], &["--contract", "seed-objects"]].concat());
    let left_out =
        "left out 1 contract about what the target does not serve (`serves` in x.yaml): controlplaneexposure";
    of_another.assert_exit(4, &["no contract of contract=seed-objects applies to x", left_out]);
    // Nothing listens there: the run covers what the suite has and the target serves.
    let of_its_own = call(here, &[&verify[..], &["--sample", "1"]].concat());
    let flat = of_its_own.err.replace("\n  ", " ");
    assert!(flat.contains("about what the target does not serve (`serves` in x.yaml): controlplanebackup, controlplaneexposure"), "{flat}");
    assert!(!of_its_own.out.contains("resource-manager"), "{}", of_its_own.out);
    assert_eq!(of_its_own.code, 3, "{}", of_its_own.out);
    assert!(of_its_own.out.contains("exit 3: the environment failed: "), "{}", of_its_own.out);
}
