//! What gardener-apiserver says about itself: version, health, metrics.

use std::collections::BTreeSet;

use kube::client::Body;
use serde_json::json;

use super::aggregated::{FORGED, Landscape, SEEDS, answer, get};

/// A request that names an administrator, whom only a front proxy may name.
fn request(path: &str) -> http::Request<Body> {
    let mut request = http::Request::builder().uri(path);
    for (name, value) in FORGED {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_is_that_of_gardener() {
    let landscape = Landscape::start().await;
    let (code, version) = get(&landscape.proxy().await, "/version", FORGED).await;
    let seen = (code, &version["major"], &version["minor"], &version["gitVersion"]);
    assert_eq!(seen, (200, &json!("1"), &json!("82"), &json!("v1.82.0")), "{version}");
    let fields: BTreeSet<&str> = version.as_object().unwrap().keys().map(String::as_str).collect();
    let want = "buildDate compiler gitCommit gitTreeState gitVersion goVersion major minor platform";
    assert_eq!(fields, want.split(' ').collect());
    let dev = landscape.client(&json!({"token": "token-of-dev"})).await;
    assert_eq!(get(&dev, "/metrics", &[]).await.0, 403);
    landscape.garden.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_served_to_everybody_whom_the_options_name() {
    let landscape = Landscape::start().await;
    let (nobody, proxy) = (landscape.client(&json!({})).await, landscape.proxy().await);
    for path in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(answer(&proxy, request(path)).await, (200, "ok".to_owned()), "{path}");
    }
    assert_eq!(get(&nobody, "/healthz", &[]).await.0, 200);
    landscape.garden.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_for_those_who_may_see_it() {
    let landscape = Landscape::start().await;
    let (dev, proxy) = (landscape.client(&json!({"token": "token-of-dev"})).await, landscape.proxy().await);
    assert_eq!(get(&dev, "/metrics", &[]).await.0, 403);
    landscape.grant(&json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})).await;
    assert_eq!(get(&proxy, SEEDS, FORGED).await.0, 200);
    assert_eq!(get(&proxy, &format!("{SEEDS}/absent"), FORGED).await.0, 404);
    // As in the original, what the authorizer refuses is not counted.
    assert_eq!(get(&dev, SEEDS, &[]).await.0, 403);
    let (code, text) = answer(&dev, http::Request::get("/metrics").body(Body::empty()).unwrap()).await;
    assert_eq!(code, 200, "{text}");
    let of = |family: &str| -> Vec<&str> { text.lines().filter(|line| line.starts_with(family)).collect() };
    let seeds = |scope: &str, verb: &str| {
        format!(
            "component=\"apiserver\",dry_run=\"\",group=\"core.gardener.cloud\",resource=\"seeds\",scope=\"{scope}\",\
             subresource=\"\",verb=\"{verb}\",version=\"v1beta1\"}} 1"
        )
    };
    let (listed, absent) = (seeds("cluster", "LIST"), seeds("resource", "GET"));
    let totals = [("200", &listed), ("404", &absent)];
    let totals = totals.map(|(code, labels)| format!("apiserver_request_total{{code=\"{code}\",{labels}"));
    assert_eq!(of("apiserver_request_total{"), totals);
    let counts =
        [&listed, &absent].map(|labels| format!("apiserver_request_duration_seconds_count{{{labels}"));
    assert_eq!(of("apiserver_request_duration_seconds_count{"), counts);
    assert_eq!(of("apiserver_request_duration_seconds_bucket{").len(), 2 * 24);
    assert!(!of("process_start_time_seconds ").is_empty(), "{text}");
    assert!(!of("rest_client_requests_total{").is_empty(), "{text}");
    landscape.garden.shutdown().await;
}
