//! Service account tokens: requested, reviewed, presented, and invalid when their bound object is gone.

use std::time::Duration;

use apiserver::{ApiServer, Controllers, User};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::wire::{exchange, send};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const ISSUER: &str = "https://kubernetes.default.svc";

async fn with_account() -> (ApiServer, String) {
    let server = ApiServer::builder().build();
    let (_, account) = send(&server, "POST", ACCOUNTS, &json!({"metadata": {"name": "a"}})).await;
    let uid = account["metadata"]["uid"].as_str().unwrap().to_owned();
    (server, uid)
}

async fn request_token(server: &ApiServer, body: Value) -> (u16, Value) {
    send(server, "POST", &format!("{ACCOUNTS}/a/token"), &body).await
}

async fn token(server: &ApiServer, body: Value) -> String {
    let (code, answer) = request_token(server, body).await;
    assert_eq!(code, 201, "{answer}");
    answer["status"]["token"].as_str().unwrap().to_owned()
}

async fn review(server: &ApiServer, spec: Value) -> Value {
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (code, answer) = send(server, "POST", path, &json!({"spec": spec})).await;
    assert_eq!(code, 201, "{answer}");
    answer["status"].clone()
}

fn claims(token: &str) -> Value {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_token_contains_its_account_and_validity() {
    let (server, uid) = with_account().await;
    let (code, mut answer) = request_token(&server, json!({})).await;
    let token = answer["status"]["token"].take();
    let jti = claims(token.as_str().unwrap())["jti"].clone();
    let want = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "metadata": {"name": "a", "namespace": "default", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": null},
        "status": {"token": null, "expirationTimestamp": "2026-01-01T01:00:00Z"},
    });
    assert_eq!((code, answer), (201, want));
    let want = json!({
        "aud": [ISSUER], "exp": 1_767_229_200, "iat": 1_767_225_600, "nbf": 1_767_225_600, "iss": ISSUER, "jti": jti,
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "a", "uid": uid}},
        "sub": "system:serviceaccount:default:a",
    });
    assert_eq!(claims(token.as_str().unwrap()), want);
}

#[tokio::test]
async fn invalid_requests_are_refused_as_in_kubernetes() {
    let (server, _) = with_account().await;
    send(&server, "POST", "/api/v1/namespaces/default/secrets", &json!({"metadata": {"name": "s"}})).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"serviceAccountName": "b", "containers": [{"name": "c", "image": "i"}]}});
    send(&server, "POST", "/api/v1/namespaces/default/pods", &pod).await;
    let bound = |kind: &str, name: &str, uid: &str| json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}}});
    let table = [
        (
            json!({"spec": {"expirationSeconds": 599}}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
        ),
        (
            json!({"spec": {"expirationSeconds": 4_294_967_297_i64}}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
        ),
        (
            json!({"metadata": {"name": "z"}}),
            422,
            "TokenRequest.authentication.k8s.io \"a\" is invalid: metadata.name: Invalid value: \"z\": must match the service account name if specified",
        ),
        (
            json!({"metadata": {"namespace": "kube-system"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Pod"}),
            400,
            "Pod in version \"v1\" cannot be handled as a TokenRequest: converting (v1.Pod) to (authentication.TokenRequest): unknown conversion",
        ),
        (bound("Pod", "none", ""), 404, "pods \"none\" not found"),
        (bound("Secret", "none", ""), 404, "secrets \"none\" not found"),
        (bound("Node", "none", ""), 404, "nodes \"none\" not found"),
        (bound("ConfigMap", "none", ""), 400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
        (
            bound("Secret", "s", "wrong"),
            409,
            "Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference (wrong) does not match the UID in record. The object might have been deleted and then recreated",
        ),
        (
            bound("Pod", "p", ""),
            400,
            "cannot bind token for serviceaccount \"a\" to pod running with different serviceaccount name.",
        ),
    ];
    for (body, code, message) in table {
        let (found, status) = request_token(&server, body.clone()).await;
        assert_eq!((found, status["message"].as_str().unwrap()), (code, message), "{body}");
    }
    let (code, status) = send(&server, "POST", &format!("{ACCOUNTS}/b/token"), &json!({})).await;
    assert_eq!((code, &status["message"]), (404, &json!("serviceaccounts \"b\" not found")));
}

#[tokio::test(start_paused = true)]
async fn token_reviews_return_the_user() {
    let (server, uid) = with_account().await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"serviceAccountName": "a", "containers": [{"name": "c", "image": "i"}]}});
    let (_, pod) = send(&server, "POST", "/api/v1/namespaces/default/pods", &pod).await;
    let bound =
        token(&server, json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "p"}}}))
            .await;
    let want = json!({
        "authenticated": true, "audiences": [ISSUER],
        "user": {
            "username": "system:serviceaccount:default:a", "uid": uid,
            "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
            "extra": {
                "authentication.kubernetes.io/credential-id": [format!("JTI={}", claims(&bound)["jti"].as_str().unwrap())],
                "authentication.kubernetes.io/pod-name": ["p"],
                "authentication.kubernetes.io/pod-uid": [pod["metadata"]["uid"]],
            },
        },
    });
    assert_eq!(review(&server, json!({"token": bound})).await, want);
    let other = token(&server, json!({"spec": {"audiences": ["x"]}})).await;
    assert_eq!(
        review(&server, json!({"token": other, "audiences": ["x", "y"]})).await["audiences"],
        json!(["x"])
    );
    let mut forged = other.clone();
    forged.replace_range(other.len() - 8.., "AAAAAAAA");
    let table = [
        (json!({"token": "abc"}), "invalid bearer token"),
        (
            json!({"token": other}),
            "[invalid bearer token, token audiences [\"x\"] is invalid for the target audiences [\"https://kubernetes.default.svc\"]]",
        ),
        (
            json!({"token": forged, "audiences": ["x"]}),
            "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]",
        ),
    ];
    for (spec, why) in table {
        assert_eq!(review(&server, spec.clone()).await, json!({"user": {}, "error": why}), "{spec}");
    }
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (code, status) = send(&server, "POST", path, &json!({"spec": {}})).await;
    assert_eq!(
        (code, &status["message"]),
        (400, &json!("token is required for TokenReview in authentication"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_token_expires_with_its_time_and_its_bound_object() {
    let (server, _) = with_account().await;
    let secrets = "/api/v1/namespaces/default/secrets";
    send(&server, "POST", secrets, &json!({"metadata": {"name": "s"}})).await;
    let short = token(&server, json!({"spec": {"expirationSeconds": 600}})).await;
    let bound = token(
        &server,
        json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "s"}}}),
    )
    .await;
    let free = token(&server, json!({})).await;
    tokio::time::sleep(Duration::from_mins(11)).await;
    assert_eq!(review(&server, json!({"token": short})).await["authenticated"], true, "a minute of leeway");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let error = |why: &str| json!({"user": {}, "error": format!("[invalid bearer token, {why}]")});
    assert_eq!(review(&server, json!({"token": short})).await, error("service account token has expired"));
    assert_eq!(review(&server, json!({"token": bound})).await["authenticated"], true);
    send(&server, "DELETE", &format!("{secrets}/s"), &Value::Null).await;
    assert_eq!(
        review(&server, json!({"token": bound})).await,
        error("service account token has been invalidated")
    );
    send(&server, "DELETE", &format!("{ACCOUNTS}/a"), &Value::Null).await;
    assert_eq!(review(&server, json!({"token": free})).await, error("serviceaccounts \"a\" not found"));
    send(&server, "POST", ACCOUNTS, &json!({"metadata": {"name": "a"}})).await;
    let why = review(&server, json!({"token": free})).await["error"].as_str().unwrap().to_owned();
    assert!(why.contains("does not match claim"), "{why}");
}

/// The answer to a request with this token.
async fn code_with(server: &ApiServer, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    exchange(server, "GET", ACCOUNTS, &[("authorization", bearer.as_str())], "").await.0
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_accepted_is_refused_as_soon_as_what_it_is_bound_to_is_gone() {
    const CORE: &str = "/api/v1/namespaces/default";
    let pod = json!({"metadata": {"name": "o"}, "spec": {"serviceAccountName": "a", "containers": [{"name": "c", "image": "i"}]}});
    let table = [
        ("Secret", "secrets", json!({"metadata": {"name": "o"}}), "secrets/o"),
        ("Pod", "pods", pod, "pods/o?gracePeriodSeconds=0"),
        ("", "configmaps", json!({"metadata": {"name": "o"}}), "serviceaccounts/a"),
    ];
    for (kind, plural, object, gone) in table {
        let (server, _) = with_account().await;
        let (code, answer) = send(&server, "POST", &format!("{CORE}/{plural}"), &object).await;
        assert_eq!(code, 201, "{answer}");
        let bound = json!({"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": "o"}});
        let token = token(&server, json!({"spec": if kind.is_empty() { json!({}) } else { bound }})).await;
        assert_eq!([code_with(&server, &token).await, code_with(&server, &token).await], [200, 200]);
        send(&server, "DELETE", &format!("{CORE}/{gone}"), &Value::Null).await;
        assert_eq!(code_with(&server, &token).await, 401, "{gone}");
        let path = gone.split('/').next().unwrap();
        let again = if kind.is_empty() { json!({"metadata": {"name": "a"}}) } else { object };
        send(&server, "POST", &format!("{CORE}/{path}"), &again).await;
        assert_eq!(code_with(&server, &token).await, 401, "{gone}: another object of the same name");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_accepted_is_refused_as_soon_as_its_time_is_over() {
    let (server, _) = with_account().await;
    let token = token(&server, json!({"spec": {"expirationSeconds": 600}})).await;
    assert_eq!(code_with(&server, &token).await, 200);
    tokio::time::sleep(Duration::from_mins(11)).await;
    assert_eq!(code_with(&server, &token).await, 200, "a minute of leeway");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(code_with(&server, &token).await, 401);
}

#[tokio::test]
async fn the_token_of_a_secret_is_refused_as_soon_as_the_secret_does_not_hold_it() {
    let server = ApiServer::builder().controllers(Controllers::all()).build();
    send(&server, "POST", ACCOUNTS, &json!({"metadata": {"name": "a"}})).await;
    let secrets = "/api/v1/namespaces/default/secrets";
    let name = json!({"name": "t", "annotations": {"kubernetes.io/service-account.name": "a"}});
    let secret = json!({"metadata": name, "type": "kubernetes.io/service-account-token"});
    send(&server, "POST", secrets, &secret).await;
    server.wait_until_idle().await;
    let (_, filled) = send(&server, "GET", &format!("{secrets}/t"), &Value::Null).await;
    let token = STANDARD.decode(filled["data"]["token"].as_str().unwrap()).unwrap();
    let token = String::from_utf8(token).unwrap();
    assert_eq!([code_with(&server, &token).await, code_with(&server, &token).await], [200, 200]);
    let change = [("content-type", "application/merge-patch+json")];
    let (code, _, _) =
        exchange(&server, "PATCH", &format!("{secrets}/t"), &change, r#"{"data":{"token":"eA=="}}"#).await;
    assert_eq!((code, code_with(&server, &token).await), (200, 401));
}

#[tokio::test]
async fn bearer_tokens_authenticate_their_account() {
    let (server, _) = with_account().await;
    let token = token(&server, json!({})).await;
    let whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let (code, _, body) = exchange(&server, "POST", whoami, &headers, "{}").await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (code, &body["status"]["userInfo"]["username"]),
        (201, &json!("system:serviceaccount:default:a"))
    );
    let (code, _, _) = exchange(&server, "GET", ACCOUNTS, &[("authorization", "Bearer x")], "").await;
    assert_eq!(code, 401);
}

#[tokio::test]
async fn the_key_is_published() {
    let (server, _) = with_account().await;
    let token = token(&server, json!({})).await;
    let (_, discovery) = send(&server, "GET", "/.well-known/openid-configuration", &Value::Null).await;
    let want = json!({
        "issuer": ISSUER, "jwks_uri": format!("{ISSUER}/openid/v1/jwks"), "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
    });
    assert_eq!(discovery, want);
    let (_, keys) = send(&server, "GET", "/openid/v1/jwks", &Value::Null).await;
    let key = &keys["keys"][0];
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    assert_eq!(header, json!({"alg": "ES256", "kid": key["kid"]}));
    let set: jsonwebtoken::jwk::JwkSet = serde_json::from_value(keys.clone()).unwrap();
    let decoding = jsonwebtoken::DecodingKey::from_jwk(&set.keys[0]).unwrap();
    let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
    validation.validate_exp = false;
    validation.set_audience(&[ISSUER]);
    assert!(jsonwebtoken::decode::<Value>(&token, &decoding, &validation).is_ok(), "others can check tokens");
}

#[tokio::test]
async fn a_registered_token_is_valid_only_for_this_server() {
    let server = ApiServer::builder().audiences([ISSUER.to_owned(), "gardener".to_owned()]).build();
    let user = User { name: "u".to_owned(), groups: vec!["g".to_owned()], ..User::default() };
    server.add_token("static", user);
    let holder = json!({"username": "u", "groups": ["g"]});
    let authenticated =
        |audiences: Value| json!({"authenticated": true, "user": holder, "audiences": audiences});
    let table = [
        (json!([]), authenticated(json!([ISSUER, "gardener"]))),
        (json!(["vault", "gardener"]), authenticated(json!(["gardener"]))),
        (json!(["vault"]), json!({"user": {}, "error": "invalid bearer token"})),
    ];
    for (audiences, want) in table {
        let spec = json!({"token": "static", "audiences": audiences});
        assert_eq!(review(&server, spec).await, want, "{audiences}");
    }
}

#[tokio::test]
async fn a_server_may_have_several_audiences() {
    let server = ApiServer::builder().audiences([ISSUER.to_owned(), "gardener".to_owned()]).build();
    send(&server, "POST", ACCOUNTS, &json!({"metadata": {"name": "a"}})).await;
    let refused = |of: &str, wanted: &str| {
        format!("[invalid bearer token, token audiences {of} is invalid for the target audiences {wanted}]")
    };
    let both = json!([ISSUER, "gardener"]);
    let own = format!("[{ISSUER:?} \"gardener\"]");
    // The audiences of a token, and the results of reviews without audiences, for Gardener and for others.
    let table = [
        (json!([]), both.clone(), json!(["gardener"]), json!(refused(&own, "[\"other\"]"))),
        (
            json!(["gardener"]),
            json!(["gardener"]),
            json!(["gardener"]),
            json!(refused("[\"gardener\"]", "[\"other\"]")),
        ),
        (
            json!(["other"]),
            json!(refused("[\"other\"]", &own)),
            json!(refused("[\"other\"]", "[\"gardener\"]")),
            json!(["other"]),
        ),
        (json!(["other", "gardener"]), json!(["gardener"]), json!(["gardener"]), json!(["other"])),
    ];
    for (audiences, without_audience, gardener, others) in table {
        let token = token(&server, json!({"spec": {"audiences": audiences}})).await;
        let expected = if audiences == json!([]) { &both } else { &audiences };
        assert_eq!(&claims(&token)["aud"], expected);
        for (wanted, want) in
            [(json!([]), without_audience), (json!(["gardener"]), gardener), (json!(["other"]), others)]
        {
            let status = review(&server, json!({"token": token, "audiences": wanted})).await;
            let result =
                if status["authenticated"] == true { &status["audiences"] } else { &status["error"] };
            assert_eq!(result, &want, "{audiences} reviewed for {wanted}");
        }
    }
}
