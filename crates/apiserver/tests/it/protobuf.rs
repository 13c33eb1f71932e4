//! Bodies in protobuf, as client-go sends them; the answers are those of kube-apiserver 1.36.3.

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::{exchange, exchange_bytes, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

/// A field of bytes, text or a message.
fn field(number: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [varint(number << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A field of a number.
fn number(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

/// A message in its envelope.
fn body(api_version: &str, kind: &str, message: impl AsRef<[u8]>) -> Vec<u8> {
    let type_meta = [field(1, api_version), field(2, kind)].concat();
    [b"k8s\0".to_vec(), field(1, type_meta), field(2, message), field(3, ""), field(4, "")].concat()
}

/// Metadata with a name.
fn meta(name: &str) -> Vec<u8> {
    field(1, field(1, name))
}

async fn send_protobuf(server: &ApiServer, method: &str, path: &str, body: Vec<u8>) -> (u16, Value) {
    let headers = [("content-type", PROTOBUF), ("accept", "application/vnd.kubernetes.protobuf, */*")];
    let (code, _, answer) = exchange_bytes(server, method, path, &headers, body.into()).await;
    (code, serde_json::from_slice(&answer).unwrap())
}

#[tokio::test]
async fn objects_are_created_and_replaced_and_answered_in_json() {
    let server = ApiServer::builder().build();
    let data = |value: &str| field(2, [field(1, "k"), field(2, value)].concat());
    let unknown = [meta("a"), data("v"), field(99, "z")].concat();
    let path = format!("{MAPS}?fieldValidation=Strict");
    let (code, made) = send_protobuf(&server, "POST", &path, body("v1", "ConfigMap", unknown)).await;
    assert_eq!((code, &made["data"], &made["kind"]), (201, &json!({"k": "v"}), &json!("ConfigMap")));
    let (code, _) =
        send_protobuf(&server, "POST", MAPS, [b"k8s\0".to_vec(), field(2, meta("b"))].concat()).await;
    assert_eq!(code, 201, "the kind is that of the path where the body says none");
    let replaced = body("v1", "ConfigMap", [meta("a"), data("w")].concat());
    let (code, _) = send_protobuf(&server, "PUT", &format!("{MAPS}/a"), replaced).await;
    let (_, read) = send(&server, "GET", &format!("{MAPS}/a"), &Value::Null).await;
    assert_eq!((code, &read["data"]), (200, &json!({"k": "w"})));
    let lossy = [meta("u"), field(2, [field(1, "k"), field(2, b"a\xff\xfeb")].concat())].concat();
    let (_, made) = send_protobuf(&server, "POST", MAPS, body("v1", "ConfigMap", lossy)).await;
    assert_eq!(made["data"], json!({"k": "a\u{fffd}\u{fffd}b"}));
}

#[tokio::test]
async fn unreadable_bodies_are_refused_as_in_kube_apiserver() {
    let server = ApiServer::builder().build();
    let map = |message: &[u8]| body("v1", "ConfigMap", message);
    let whole = map(&[meta("a5"), field(2, [field(1, "k"), field(2, "v")].concat())].concat());
    let of_map = |why: &str| format!("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: {why}");
    let unrecognized =
        |why: &str| format!("the object provided is unrecognized (must be of type ConfigMap): {why}");
    let no_prefix = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
    let table = [
        (Vec::new(), unrecognized("empty data (<empty>)")),
        (b"k8s\0".to_vec(), unrecognized("empty body (6b387300)")),
        (b"abcdef".to_vec(), unrecognized(&format!("{no_prefix} (616263646566)"))),
        (
            b"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}".to_vec(),
            unrecognized(&format!("{no_prefix} ({{\"apiVersion\":\"v1\",\"kind\":\"Con ...)")),
        ),
        (
            whole[..whole.len() - 8].to_vec(),
            unrecognized(
                "unexpected EOF (6b3873000a0f0a0276311209436f6e6669674d6170120e0a040a02613512 ...)",
            ),
        ),
        (map(b"\x12\xff"), of_map("unexpected EOF")),
        (map(&number(1, 5)), of_map("proto: wrong wireType = 0 for field ObjectMeta")),
        (map(&field(1, number(5, 5))), of_map("proto: wrong wireType = 0 for field UID")),
        (map(b"\x00\x00"), of_map("proto: ConfigMap: illegal tag 0 (wire type 0)")),
        (map(b"\x0c"), of_map("proto: ConfigMap: wiretype end group for non-group")),
        (map(b"\x9f\x06"), of_map("proto: illegal wireType 7")),
        (map(&[0xff; 11]), of_map("proto: integer overflow")),
        (
            map(&[vec![0x0a], varint(1 << 63)].concat()),
            of_map("proto: negative length found during unmarshaling"),
        ),
        (
            body("v1", "Nonsense", meta("a")),
            "Nonsense in version \"v1\" cannot be handled as a ConfigMap: no kind \"Nonsense\" is registered for \
             version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""
                .to_owned(),
        ),
        (
            body("v1", "Secret", meta("a")),
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): \
             unknown conversion"
                .to_owned(),
        ),
        (
            body("foo/v1", "ConfigMap", meta("a")),
            of_map(
                "no kind \"ConfigMap\" is registered for version \"foo/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
            ),
        ),
    ];
    for (sent, wanted) in table {
        let (code, status) = send_protobuf(&server, "POST", MAPS, sent.clone()).await;
        let reason = status["reason"].as_str().unwrap().to_owned();
        assert_eq!(
            (code, reason.as_str(), status["message"].as_str().unwrap()),
            (400, "BadRequest", &*wanted)
        );
        let (code, _) = send_protobuf(&server, "PUT", &format!("{MAPS}/a"), sent).await;
        assert_eq!(code, 400);
    }
}

#[tokio::test]
async fn invalid_values_of_a_kind_are_refused() {
    let server = ApiServer::builder().build();
    let maximum =
        field(1, [field(1, "Pod"), field(2, [field(1, "cpu"), field(2, field(1, "x"))].concat())].concat());
    let limits = body("v1", "LimitRange", [meta("l"), field(2, maximum)].concat());
    let (code, status) =
        send_protobuf(&server, "POST", "/api/v1/namespaces/default/limitranges", limits).await;
    let quantity =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    let wanted = format!("LimitRange in version \"v1\" cannot be handled as a LimitRange: {quantity}");
    assert_eq!((code, &status["message"]), (400, &json!(wanted)));
    let scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let older = body("autoscaling/v1", "HorizontalPodAutoscaler", meta("h"));
    let (code, status) = send_protobuf(&server, "POST", scalers, older).await;
    let wanted = "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)";
    assert_eq!((code, &status["message"]), (400, &json!(wanted)));
}

#[tokio::test]
async fn delete_options_are_read_for_every_group() {
    let server = ApiServer::builder().build();
    send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a");
    let other = || field(2, field(1, "nobody"));
    for api_version in ["v1", "apps/v1", "meta.k8s.io/v1", "foo/v1", ""] {
        let (code, status) =
            send_protobuf(&server, "DELETE", &path, body(api_version, "DeleteOptions", other())).await;
        assert_eq!((code, &status["reason"]), (409, &json!("Conflict")), "{api_version}");
    }
    let table = [
        (body("v1", "DeleteOptions", b"\x12\xff"), "unexpected EOF"),
        (
            b"abc".to_vec(),
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ),
        (
            body("v1", "Secret", ""),
            "no kind \"Secret\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
    ];
    for (sent, wanted) in table {
        let (code, status) = send_protobuf(&server, "DELETE", &path, sent).await;
        assert_eq!((code, &status["message"]), (400, &json!(wanted)));
    }
    let uid =
        send(&server, "GET", &path, &Value::Null).await.1["metadata"]["uid"].as_str().unwrap().to_owned();
    let options = [number(1, 0), field(2, field(1, uid)), field(4, "Foreground"), field(5, "All")].concat();
    let (code, _) = send_protobuf(&server, "DELETE", &path, body("v1", "DeleteOptions", &options)).await;
    assert_eq!((code, send(&server, "GET", &path, &Value::Null).await.0), (200, 200), "a dry run");
    let (code, _) =
        send_protobuf(&server, "DELETE", &path, body("v1", "DeleteOptions", &options[..options.len() - 5]))
            .await;
    let (_, left) = send(&server, "GET", &path, &Value::Null).await;
    assert_eq!((code, &left["metadata"]["finalizers"]), (200, &json!(["foregroundDeletion"])));
}

#[tokio::test]
async fn subresources_and_reviews_accept_protobuf() {
    let server = ApiServer::builder().build();
    send(&server, "POST", "/api/v1/namespaces/default/serviceaccounts", &json!({"metadata": {"name": "s"}}))
        .await;
    let spec = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    send(&server, "POST", PODS, &spec("p")).await;
    let bound =
        body("v1", "Binding", [meta("p"), field(2, [field(1, "Node"), field(3, "n")].concat())].concat());
    let (code, _) = send_protobuf(&server, "POST", &format!("{PODS}/p/binding"), bound).await;
    let (_, pod) = send(&server, "GET", &format!("{PODS}/p"), &Value::Null).await;
    assert_eq!((code, &pod["spec"]["nodeName"]), (201, &json!("n")));
    let eviction = body("policy/v1", "Eviction", [meta("p"), field(2, number(1, 0))].concat());
    let (code, _) = send_protobuf(&server, "POST", &format!("{PODS}/p/eviction"), eviction).await;
    assert_eq!((code, send(&server, "GET", &format!("{PODS}/p"), &Value::Null).await.0), (201, 404));

    let older = body("policy/v1beta1", "Eviction", meta("gone"));
    let (code, status) = send_protobuf(&server, "POST", &format!("{PODS}/gone/eviction"), older).await;
    assert_eq!((code, &status["message"]), (404, &json!("pods \"gone\" not found")));

    let token = "/api/v1/namespaces/default/serviceaccounts/s/token";
    let spec = field(2, [field(1, "me"), number(4, 900)].concat());
    let (code, request) =
        send_protobuf(&server, "POST", token, body("authentication.k8s.io/v1", "TokenRequest", spec)).await;
    assert_eq!(
        (code, &request["spec"]["audiences"], &request["spec"]["expirationSeconds"]),
        (201, &json!(["me"]), &json!(900))
    );
    let (code, status) = send_protobuf(&server, "POST", token, body("v1", "ConfigMap", "")).await;
    let wanted = "ConfigMap in version \"v1\" cannot be handled as a TokenRequest: converting (v1.ConfigMap) to \
                  (authentication.TokenRequest): unknown conversion";
    assert_eq!((code, &status["message"]), (400, &json!(wanted)));

    let who = [
        field(3, "bob"),
        field(5, [field(1, "k"), field(2, [field(1, "x"), field(1, "y")].concat())].concat()),
    ];
    let attributes = field(1, [field(2, "get"), field(5, "pods")].concat());
    let review =
        body("authorization.k8s.io/v1", "SubjectAccessReview", field(2, [who.concat(), attributes].concat()));
    let (code, review) =
        send_protobuf(&server, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review).await;
    let wanted = json!({"resourceAttributes": {"verb": "get", "resource": "pods"}, "user": "bob", "extra": {"k": ["x", "y"]}});
    assert_eq!((code, &review["spec"], &review["status"]["allowed"]), (201, &wanted, &json!(true)));

    let replicas = json!({"metadata": {"name": "r"}, "spec": {"replicas": 1, "selector": {"a": "b"}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    send(&server, "POST", controllers, &replicas).await;
    let scale = body("autoscaling/v1", "Scale", [meta("r"), field(2, number(1, 3))].concat());
    let (code, scale) = send_protobuf(&server, "PUT", &format!("{controllers}/r/scale"), scale).await;
    assert_eq!((code, &scale["spec"]["replicas"]), (200, &json!(3)));
}

#[tokio::test]
async fn custom_resources_and_patches_in_protobuf_are_refused_but_delete_options_accepted() {
    let server = ApiServer::builder().crds(schema::crds().iter().cloned()).build();
    let boats = "/apis/extensions.gardener.cloud/v1alpha1/clusters";
    let cluster = json!({"apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Cluster", "metadata": {"name": "c"}});
    assert_eq!(send(&server, "POST", boats, &cluster).await.0, 201);
    let sent = body("extensions.gardener.cloud/v1alpha1", "Cluster", meta("c"));
    for (method, path) in [("POST", boats.to_owned()), ("PUT", format!("{boats}/c"))] {
        let (code, status) = send_protobuf(&server, method, &path, sent.clone()).await;
        let wanted = "the body of the request was in an unknown format - accepted media types include: \
                      application/json, application/yaml";
        assert_eq!((code, &status["message"]), (415, &json!(wanted)));
    }
    let options = body("v1", "DeleteOptions", field(2, field(1, "nobody")));
    assert_eq!(send_protobuf(&server, "DELETE", &format!("{boats}/c"), options).await.0, 409);
    assert_eq!(
        send_protobuf(&server, "PATCH", &format!("{MAPS}/a"), body("v1", "ConfigMap", "")).await.0,
        415
    );
    let (code, _, answer) =
        exchange(&server, "POST", MAPS, &[("content-type", "application/foo")], "{}").await;
    let status: Value = serde_json::from_slice(&answer).unwrap();
    let wanted = "the body of the request was in an unknown format - accepted media types include: \
                  application/json, application/yaml, application/vnd.kubernetes.protobuf";
    assert_eq!((code, &status["message"]), (415, &json!(wanted)));
}

#[tokio::test]
async fn answers_are_never_protobuf() {
    let server = ApiServer::builder().build();
    for (accept, wanted) in [(PROTOBUF, 406), ("application/vnd.kubernetes.protobuf,application/json", 200)] {
        let (code, headers, _) = exchange(&server, "GET", MAPS, &[("accept", accept)], "").await;
        assert_eq!((code, headers["content-type"].to_str().unwrap()), (wanted, "application/json"));
    }
}
