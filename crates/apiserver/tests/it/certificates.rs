//! CertificateSigningRequests: requesting user, validation, approval, and the certificate.

use apiserver::{ApiServer, Controllers};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::wire::{patch, send};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const KUBELET: &str = "kubernetes.io/kube-apiserver-client-kubelet";

fn pem(organization: &str, name: &str) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::OrganizationName, organization);
    params.distinguished_name.push(DnType::CommonName, name);
    let request = params.serialize_request(&KeyPair::generate().unwrap()).unwrap();
    STANDARD.encode(request.pem().unwrap())
}

fn request(name: &str, signer: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "request": pem("system:nodes", "system:node:n1"), "signerName": signer, "usages": ["client auth", "digital signature"],
            "username": "evil", "groups": ["evil"],
        },
    })
}

fn condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status, "reason": "r", "message": "m"})
}

async fn decide(server: &ApiServer, name: &str, conditions: Value) -> (u16, Value) {
    let path = format!("{REQUESTS}/{name}/approval");
    patch(server, &path, "merge-patch", &json!({"status": {"conditions": conditions, "certificate": "eA=="}}))
        .await
}

#[tokio::test]
async fn the_server_sets_the_requesting_user() {
    let server = ApiServer::builder().build();
    let (code, made) = send(&server, "POST", REQUESTS, &request("c", KUBELET)).await;
    assert_eq!(
        (code, &made["spec"]["username"], &made["spec"]["groups"], &made["status"]),
        (201, &json!("system:admin"), &json!(["system:masters", "system:authenticated"]), &json!({}))
    );
    let change = json!({"spec": {"usages": ["server auth"]}});
    let (code, same) = patch(&server, &format!("{REQUESTS}/c"), "merge-patch", &change).await;
    assert_eq!((code, &same["spec"]), (200, &made["spec"]), "and nothing of it changes");
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let server = ApiServer::builder().build();
    let with = |change: Value| {
        let mut request = request("bad", KUBELET);
        for (field, value) in change.as_object().unwrap() {
            request["spec"][field] = value.clone();
        }
        request
    };
    let kind = "CertificateSigningRequest.certificates.k8s.io \"bad\" is invalid: ";
    let table = [
        (
            json!({"request": "eA=="}),
            "spec.request: Invalid value: \"eA==\": PEM block type must be CERTIFICATE REQUEST",
        ),
        (
            json!({"usages": [], "signerName": "kubernetes.io/legacy-unknown"}),
            "[spec.usages: Required value, spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName is not allowed via this API version]",
        ),
        (
            json!({"signerName": "x", "expirationSeconds": 10}),
            "[spec.signerName: Invalid value: \"x\": must be a fully qualified domain and path of the form 'example.com/signer-name', spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 600 seconds (10 minutes)]",
        ),
    ];
    for (change, message) in table {
        let (code, status) = send(&server, "POST", REQUESTS, &with(change.clone())).await;
        assert_eq!((code, &status["message"]), (422, &json!(format!("{kind}{message}"))), "{change}");
    }
    let masters = with(
        json!({"request": pem("system:masters", "x"), "signerName": "kubernetes.io/kube-apiserver-client"}),
    );
    let (code, status) = send(&server, "POST", REQUESTS, &masters).await;
    assert_eq!(
        (code, &status["message"]),
        (
            403,
            &json!(
                "certificatesigningrequests.certificates.k8s.io \"bad\" is forbidden: use of \
                 kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
            )
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_final() {
    let server = ApiServer::builder().build();
    send(&server, "POST", REQUESTS, &request("c", KUBELET)).await;
    let kind = "CertificateSigningRequest.certificates.k8s.io \"c\" is invalid: status";
    let (code, status) = decide(&server, "c", json!([condition("Approved", "False")])).await;
    let message =
        format!("{kind}.conditions[0].status: Unsupported value: \"False\": supported values: \"True\"");
    assert_eq!((code, &status["message"]), (422, &json!(message)));
    let (code, approved) = decide(&server, "c", json!([condition("Approved", "True")])).await;
    let mut want = condition("Approved", "True");
    for field in ["lastUpdateTime", "lastTransitionTime"] {
        want[field] = "2026-01-01T00:00:00Z".into();
    }
    assert_eq!(
        (code, &approved["status"]),
        (200, &json!({"conditions": [want]})),
        "the certificate is not theirs to set"
    );
    let both = json!([condition("Approved", "True"), condition("Denied", "True")]);
    let removed = "Forbidden: updates may not remove a condition of type \"Approved\"";
    let table = [
        (
            "approval",
            both,
            ".conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive",
        ),
        ("approval", json!([]), &format!(".conditions: {removed}")),
        ("status", json!([condition("Failed", "True")]), &format!(".conditions: {removed}")),
    ];
    for (subresource, conditions, message) in table {
        let path = format!("{REQUESTS}/c/{subresource}");
        let (code, status) =
            patch(&server, &path, "merge-patch", &json!({"status": {"conditions": conditions}})).await;
        assert_eq!((code, &status["message"]), (422, &json!(format!("{kind}{message}"))));
    }
    let change = json!({"status": {"certificate": "eA=="}});
    let (code, status) = patch(&server, &format!("{REQUESTS}/c/status"), "merge-patch", &change).await;
    let message = format!(
        "{kind}.certificate: Invalid value: \"<certificate data>\": must contain at least one CERTIFICATE PEM block"
    );
    assert_eq!((code, &status["message"]), (422, &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn approved_requests_are_signed() {
    let controllers = Controllers { signing: true, ..Controllers::none() };
    let server = ApiServer::builder().controllers(controllers).build();
    for (name, signer) in
        [("c", KUBELET), ("serving", "kubernetes.io/kubelet-serving"), ("other", "example.com/x")]
    {
        send(&server, "POST", REQUESTS, &request(name, signer)).await;
        decide(&server, name, json!([condition("Approved", "True")])).await;
    }
    send(&server, "POST", REQUESTS, &request("waiting", KUBELET)).await;
    server.wait_until_idle().await;
    let status = |name: &'static str| {
        let server = server.clone();
        async move { send(&server, "GET", &format!("{REQUESTS}/{name}"), &Value::Null).await.1["status"].clone() }
    };
    let signed = status("c").await;
    let pem = STANDARD.decode(signed["certificate"].as_str().unwrap()).unwrap();
    let block = x509_parser::pem::Pem::iter_from_buffer(&pem).next().unwrap().unwrap();
    let (_, certificate) = X509Certificate::from_der(&block.contents).unwrap();
    assert_eq!(certificate.subject().iter_common_name().next().unwrap().as_str().unwrap(), "system:node:n1");
    let validity = certificate.validity();
    assert_eq!(
        (validity.not_before.timestamp(), validity.not_after.timestamp()),
        (1_767_225_600 - 300, 1_767_225_600 + 365 * 24 * 3600),
        "by the server's clock"
    );
    let failed = &status("serving").await["conditions"][1];
    assert_eq!(
        (&failed["type"], &failed["reason"], &failed["message"]),
        (&json!("Failed"), &json!("SignerValidationFailure"), &json!("DNS or IP subjectAltName is required"))
    );
    assert_eq!((status("other").await.get("certificate"), status("waiting").await), (None, json!({})));
}

#[tokio::test(start_paused = true)]
async fn the_validated_request_is_the_signed_one() {
    let controllers = Controllers { signing: true, ..Controllers::none() };
    let server = ApiServer::builder().controllers(controllers).build();
    let text = |organization: &str, name: &str| STANDARD.decode(pem(organization, name)).unwrap();
    // A PEM block does not begin within a line.
    let both =
        [b"x".to_vec(), text("system:masters", "evil"), text("system:nodes", "system:node:n1")].concat();
    let client = "kubernetes.io/kube-apiserver-client";
    let mut object = request("c", client);
    object["spec"]["request"] = STANDARD.encode(both).into();
    assert_eq!(send(&server, "POST", REQUESTS, &object).await.0, 201);
    decide(&server, "c", json!([condition("Approved", "True")])).await;
    server.wait_until_idle().await;
    let (_, signed) = send(&server, "GET", &format!("{REQUESTS}/c"), &Value::Null).await;
    let pem = STANDARD.decode(signed["status"]["certificate"].as_str().unwrap()).unwrap();
    let certificate = &formats::x509::Certificate::bundle(&pem)[0];
    assert_eq!(
        (certificate.subject.common_name.as_str(), &certificate.subject.organizations),
        ("system:node:n1", &vec!["system:nodes".to_owned()])
    );
}

/// Case 22: requests that Go does not parse.
const NOT_PARSED: [(&str, &str); 3] = [
    (
        "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBQDCB6AIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KBWMCQGCSqGSIb3DQEJDjEXMBUwEwYDVR0RBAwwCoICbjGHBAoAAAEw
LgYJKoZIhvcNAQkOMSEwHzAdBgNVHREEFjAUghJrdWJlcm5ldGVzLmRlZmF1bHQw
CgYIKoZIzj0EAwIDRwAwRAIgL/nPgtmdquq/Kt9Wzm1GCSMVlHck99WPaGxsW1/V
NvICIGr6bWZzWV70pyhiyQrRpmc3sBHBpLWQxVfQriwZAPsS
-----END CERTIFICATE REQUEST-----
",
        "x509: certificate request contains duplicate requested extensions",
    ),
    (
        "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBNzCB3QIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KBLMEkGCSqGSIb3DQEJDjE8MDowEwYDVR0RBAwwCoICbjGHBAoAAAEw
IwYDVR0RBBwwGoISa3ViZXJuZXRlcy5kZWZhdWx0hwQKAAABMAoGCCqGSM49BAMC
A0kAMEYCIQDcyBclX508N91S8K9Y7DYhppEP8i7zrDWZMfQwGrSXGwIhANr5nXdy
Q93p/vp3O+9dhRWjKEQL4RgGCHDWPlLcxQb6
-----END CERTIFICATE REQUEST-----
",
        "x509: certificate request contains duplicate requested extensions",
    ),
    (
        "\
-----BEGIN CERTIFICATE REQUEST-----
MIIBFTCBvAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtyym6gXQn2sB
iXRIXNI0wTVZAZEk4hLsr9IR0piB1IHSPLoGf7zaPxz4B9YJCEOpq+VvQByS9BeX
pWx6ZQzr0KAqMCgGCSqGSIb3DQEJDjEbMBkwFwYDVR0RBBAwDoICbjGHCAoAAAH/
////MAoGCCqGSM49BAMCA0gAMEUCIQDsntA2P5mBzk4IW7/pakKDnSahpI1qWuJa
KF59EAOHCQIgdv8E8lzt6w/fQmvvDKdhGiSQ8zuX2XNbROEi52ly4rQ=
-----END CERTIFICATE REQUEST-----
",
        "x509: cannot parse IP address of length 8",
    ),
];

#[tokio::test]
async fn case_22_a_request_with_duplicate_names_is_not_stored() {
    let server = ApiServer::builder().build();
    for (pem, why) in NOT_PARSED {
        let mut request = request("twice", KUBELET);
        request["spec"]["request"] = STANDARD.encode(pem).into();
        let (code, status) = send(&server, "POST", REQUESTS, &request).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 422 && message.ends_with(why), "{code} {message}");
    }
}
