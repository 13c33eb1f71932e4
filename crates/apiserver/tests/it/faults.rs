//! Fault injection: each fault strikes matching requests, as often as configured, with Kubernetes' errors.

use std::time::Duration;

use apiserver::{ApiServer, Effect, Fault, Matching, Refusal, Strikes, Verb, WatchEnd};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::wire::{events, exchange, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn maps() -> Matching {
    Matching::resource("", "configmaps")
}

async fn create(server: &ApiServer, name: &str) -> u16 {
    send(server, "POST", MAPS, &json!({"metadata": {"name": name}})).await.0
}

#[tokio::test]
async fn injected_errors_are_worded_as_in_kubernetes() {
    let server = ApiServer::builder().build();
    create(&server, "a").await;
    let status = |code: u16, reason: &str, message: &str, details: Value| {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "code": code, "reason": reason, "message": message,
        });
        if !details.is_null() {
            status["details"] = details;
        }
        status
    };
    let modified = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your \
                    changes to the latest version and try again";
    let table = [
        (
            Refusal::Forbidden,
            None,
            status(
                403,
                "Forbidden",
                "configmaps \"a\" is forbidden: User \"system:admin\" cannot get resource \"configmaps\" in API group \
                 \"\" in the namespace \"default\"",
                json!({"name": "a", "kind": "configmaps"}),
            ),
        ),
        (
            Refusal::Conflict,
            None,
            status(409, "Conflict", modified, json!({"name": "a", "kind": "configmaps"})),
        ),
        (
            Refusal::Expired,
            None,
            status(410, "Expired", "The provided resourceVersion is too old.", Value::Null),
        ),
        (
            Refusal::InternalError,
            None,
            status(
                500,
                "InternalError",
                "Internal error occurred: etcdserver: leader changed",
                json!({"causes": [{"message": "etcdserver: leader changed"}]}),
            ),
        ),
        (
            Refusal::ServiceUnavailable { retry_after: 3 },
            Some("3"),
            status(
                503,
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
                json!({"retryAfterSeconds": 3}),
            ),
        ),
        (
            Refusal::Timeout,
            None,
            status(
                504,
                "Timeout",
                "the server was unable to return a response in the time allotted, but may still be processing the \
                 request",
                Value::Null,
            ),
        ),
        (
            Refusal::TooManyRequests { retry_after: 1 },
            Some("1"),
            json!("Too many requests, please try again later.\n"),
        ),
    ];
    for (refusal, retry_after, want) in table {
        let fault = server.faults().add(Fault::new(maps(), Effect::Refuse(refusal)));
        let (code, headers, body) = exchange(&server, "GET", &format!("{MAPS}/a"), &[], "").await;
        fault.remove();
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&body)));
        let wanted_code = want.get("code").and_then(Value::as_u64).unwrap_or(429);
        assert_eq!((u64::from(code), &body), (wanted_code, &want), "{refusal:?}");
        assert_eq!(
            headers.get("retry-after").map(|value| value.to_str().unwrap()),
            retry_after,
            "{refusal:?}"
        );
    }
    assert_eq!(send(&server, "GET", &format!("{MAPS}/a"), &Value::Null).await.0, 200);
}

#[tokio::test]
async fn refused_creations_are_worded_as_in_kubernetes() {
    let server = ApiServer::builder().build();
    let denied =
        "ValidatingAdmissionPolicy 'policy' with binding 'binding' denied request: failed expression: false";
    let quota = "exceeded quota: quota, requested: count/configmaps=1, used: count/configmaps=1, limited: \
                 count/configmaps=1";
    let ending = "unable to create new content in namespace default because it is being terminated";
    let about = |more: Value| {
        let mut details = json!({"name": "a", "kind": "configmaps"});
        details.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        details
    };
    let forbidden = |why: &str| format!("configmaps \"a\" is forbidden: {why}");
    let terminating = json!({"causes": [{
        "reason": "NamespaceTerminating", "field": "metadata.namespace",
        "message": "namespace default is being terminated",
    }]});
    let table = [
        (Refusal::OverQuota, 403, "Forbidden", forbidden(quota), about(Value::Null)),
        (Refusal::NamespaceTerminating, 403, "Forbidden", forbidden(ending), about(terminating)),
        (
            Refusal::NotFound,
            404,
            "NotFound",
            "namespaces \"default\" not found".to_owned(),
            json!({"name": "default", "kind": "namespaces"}),
        ),
        (
            Refusal::AlreadyExists,
            409,
            "AlreadyExists",
            "configmaps \"a\" already exists".to_owned(),
            about(Value::Null),
        ),
        (
            Refusal::Invalid,
            422,
            "Invalid",
            forbidden(denied),
            about(json!({"causes": [{"message": denied}]})),
        ),
    ];
    for (refusal, code, reason, message, details) in table {
        let fault = server.faults().add(Fault::new(maps(), Effect::Refuse(refusal)));
        let (_, answer) = send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await;
        fault.remove();
        let want = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "code": code, "reason": reason, "message": message, "details": details,
        });
        assert_eq!(answer, want, "{refusal:?}");
    }
    let fault = server.faults().add(Fault::new(maps(), Effect::Refuse(Refusal::NotFound)));
    let (code, answer) = send(&server, "DELETE", &format!("{MAPS}/b"), &Value::Null).await;
    fault.remove();
    assert_eq!((code, &answer["message"]), (404, &json!("configmaps \"b\" not found")));
}

#[tokio::test]
async fn only_matching_requests_are_struck() {
    let server = ApiServer::builder().build();
    let conflict = Effect::Refuse(Refusal::Conflict);
    let table = [
        (Strikes::Every, [409, 409, 409, 409]),
        (Strikes::Nth(2), [201, 409, 201, 201]),
        (Strikes::First(2), [409, 409, 201, 201]),
        (Strikes::After(3), [201, 201, 201, 409]),
    ];
    for (index, (strikes, want)) in table.into_iter().enumerate() {
        let fault = Fault::new(maps().verbs([Verb::Create]), conflict).strikes(strikes);
        let active = server.faults().add(fault);
        let mut found = Vec::new();
        for number in 0..4 {
            // Other verbs and resources do not count.
            send(&server, "GET", &format!("{MAPS}/none"), &Value::Null).await;
            send(
                &server,
                "POST",
                "/api/v1/namespaces/default/secrets",
                &json!({"metadata": {"name": "none"}}),
            )
            .await;
            found.push(create(&server, &format!("{index}-{number}")).await);
        }
        assert_eq!(
            (found.as_slice(), active.struck()),
            (&want[..], want.iter().filter(|code| **code == 409).count() as u64)
        );
        active.remove();
    }
    let matching = [
        (Matching { user: Some("bob".to_owned()), ..maps() }, 404),
        (Matching { user: Some("system:admin".to_owned()), ..maps() }, 409),
        (Matching { namespace: Some("other".to_owned()), ..maps() }, 404),
        (Matching { name: Some("none".to_owned()), ..maps() }, 409),
        (Matching { subresource: Some("status".to_owned()), ..maps() }, 404),
        (Matching { group: Some("apps".to_owned()), ..maps() }, 404),
    ];
    for (matching, want) in matching {
        let active = server.faults().add(Fault::new(matching.clone(), conflict));
        let (code, _) = send(&server, "GET", &format!("{MAPS}/none"), &Value::Null).await;
        assert_eq!(code, want, "{matching:?}");
        active.remove();
    }
}

#[tokio::test]
async fn non_resource_requests_are_struck_if_paths_is_set() {
    let server = ApiServer::builder().build();
    let refused = Effect::Refuse(Refusal::Forbidden);
    let everything = Matching { paths: true, ..Matching::default() };
    for (matching, want) in [(Matching::default(), [200, 403]), (everything, [403, 403])] {
        let active = server.faults().add(Fault::new(matching, refused));
        let mut codes = Vec::new();
        for path in ["/api/v1", MAPS] {
            codes.push(send(&server, "GET", path, &Value::Null).await.0);
        }
        assert_eq!(codes, want);
        active.remove();
    }
}

#[tokio::test]
async fn a_lost_answer_does_not_undo_the_write() {
    let server = ApiServer::builder().build();
    let writes = maps().verbs([Verb::Create]);
    let lost = server.faults().add(Fault::new(writes, Effect::RefuseAfter(Refusal::Timeout)));
    assert_eq!((create(&server, "a").await, lost.struck()), (504, 1));
    lost.remove();
    assert_eq!(create(&server, "a").await, 409, "it was created");
    let logged: Vec<(String, u16)> =
        server.requests().into_iter().map(|request| (request.name, request.code)).collect();
    assert_eq!(
        logged,
        [("a".to_owned(), 504), ("a".to_owned(), 409)],
        "the log contains the answers that clients received"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_are_delayed_or_stalled() {
    let server = ApiServer::builder().build();
    let delay = server.faults().add(Fault::new(maps(), Effect::Delay(Duration::from_secs(7))));
    let start = Instant::now();
    assert_eq!((create(&server, "a").await, start.elapsed()), (201, Duration::from_secs(7)));
    delay.remove();
    let writes = || maps().verbs([Verb::Create]);
    for (effect, name, after) in [(Effect::Stall, "b", 404), (Effect::StallAfter, "c", 200)] {
        let stall = server.faults().add(Fault::new(writes(), effect));
        let stalled = tokio::spawn({
            let server = server.clone();
            async move { create(&server, name).await }
        });
        stall.until_struck(1).await;
        let answer = tokio::time::timeout(Duration::from_hours(1), stalled).await;
        assert!(answer.is_err(), "{effect:?}: never answered");
        stall.remove();
        let (code, _) = send(&server, "GET", &format!("{MAPS}/{name}"), &Value::Null).await;
        assert_eq!(code, after, "{effect:?}");
    }
    let creations = server.requests().into_iter().filter(|request| request.verb == Verb::Create);
    let logged: Vec<(String, u16)> = creations.map(|request| (request.name, request.code)).collect();
    assert_eq!(logged, [("a".to_owned(), 201), ("c".to_owned(), 201)], "the log contains what was served");
}

#[tokio::test(start_paused = true)]
async fn faults_end_watches() {
    let server = ApiServer::builder().build();
    let secrets = "/api/v1/namespaces/default/secrets?watch=1&timeoutSeconds=300";
    let watch = |path: String| {
        let server = server.clone();
        tokio::spawn(async move {
            let start = Instant::now();
            (events(&server, &path).await, start.elapsed())
        })
    };
    let maps_watch = watch(format!("{MAPS}?watch=1&timeoutSeconds=300"));
    let secrets_watch = watch(secrets.to_owned());
    tokio::time::sleep(Duration::from_secs(1)).await;
    create(&server, "a").await;
    server.faults().end_watches(maps(), WatchEnd::Expired);
    let (seen, after) = maps_watch.await.unwrap();
    let kinds: Vec<&str> = seen.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!((kinds, after), (vec!["ADDED", "ERROR"], Duration::from_secs(1)));
    assert_eq!((&seen[1].1["code"], &seen[1].1["reason"]), (&json!(410), &json!("Expired")));
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.faults().restart();
    let (seen, after) = secrets_watch.await.unwrap();
    assert_eq!((seen, after), (Vec::new(), Duration::from_secs(2)));
}

#[tokio::test(start_paused = true)]
async fn watches_resume_after_a_restart() {
    let server = ApiServer::builder().build();
    let revision = server.revision();
    create(&server, "a").await;
    server.faults().restart();
    create(&server, "b").await;
    let seen = events(&server, &format!("{MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds=1")).await;
    let names: Vec<&Value> = seen.iter().map(|(_, object)| &object["metadata"]["name"]).collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_after_a_number_of_events() {
    let server = ApiServer::builder().build();
    for name in ["a", "b", "c"] {
        create(&server, name).await;
    }
    let cut = Effect::EndWatch { after: 2, end: WatchEnd::Closed };
    let fault = Fault::new(maps().verbs([Verb::Watch]), cut).strikes(Strikes::Nth(1));
    server.faults().add(fault);
    let path = format!("{MAPS}?watch=1&timeoutSeconds=5");
    assert_eq!((events(&server, &path).await.len(), events(&server, &path).await.len()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_lagging_watch_delivers_all_events_late_and_in_order() {
    let server = ApiServer::builder().build();
    let lag = Duration::from_secs(2);
    let fault = Fault::new(maps().verbs([Verb::Watch]), Effect::LagWatch(lag)).strikes(Strikes::Nth(1));
    server.faults().add(fault);
    for name in ["a", "b", "c"] {
        create(&server, name).await;
    }
    let path = format!("{MAPS}?watch=1&timeoutSeconds=1");
    let mut took = Vec::new();
    for _ in 0..2 {
        let began = Instant::now();
        let seen = events(&server, &path).await;
        let names: Vec<&Value> = seen.iter().map(|(_, object)| &object["metadata"]["name"]).collect();
        assert_eq!(names, ["a", "b", "c"]);
        took.push(began.elapsed().as_secs());
    }
    assert_eq!(took, [2, 1]);
}

#[tokio::test(start_paused = true)]
async fn the_clock_can_be_skewed_and_reset() {
    let server = ApiServer::builder().build();
    let mut times = Vec::new();
    for (name, ahead) in [("a", 0), ("b", 3600), ("c", -60), ("d", 0)] {
        server.faults().skew_clock(jiff::SignedDuration::from_secs(ahead));
        let (_, create) = send(&server, "POST", MAPS, &json!({"metadata": {"name": name}})).await;
        times.push(create["metadata"]["creationTimestamp"].as_str().unwrap().to_owned());
    }
    let want =
        ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2025-12-31T23:59:00Z", "2026-01-01T00:00:00Z"];
    assert_eq!(times, want);
}

#[tokio::test]
async fn faults_match_by_user() {
    let server = ApiServer::builder().build();
    create(&server, "a").await;
    let as_bob = [("impersonate-user", "bob"), ("content-type", "application/json")];
    exchange(&server, "GET", &format!("{MAPS}/a"), &as_bob, "").await;
    exchange(&server, "POST", MAPS, &as_bob, "{\"metadata\":{\"name\":\"b\"}}").await;
    let bobs: Vec<(Verb, String, bool)> = server
        .requests_of("bob")
        .into_iter()
        .map(|request| (request.verb, request.name.clone(), request.is_write()))
        .collect();
    assert_eq!(bobs, [(Verb::Get, "a".to_owned(), false), (Verb::Create, "b".to_owned(), true)]);
    assert_eq!(server.requests_of("system:admin").len(), 1);
}
