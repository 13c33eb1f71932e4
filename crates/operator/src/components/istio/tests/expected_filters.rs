//! The filters of the gateway's proxies.

use serde_json::{Value, json};

pub(super) fn objects() -> Vec<Value> {
    let http = "{\n  \"debug\": \"false\",\n  \"stat_prefix\": \"istio\",\n  \"disable_host_header_fallback\": true\n}\n";
    let tcp = "{\n  \"debug\": \"false\",\n  \"stat_prefix\": \"istio\"\n}\n";
    let mut filters = vec![connections(), access_log()];
    for version in ["1.13", "1.14", "1.15", "1.16"] {
        filters.push(http_stats(version, &wasm("http", "stats_outbound", http)));
        filters.push(tcp_stats(version, &wasm("network", "tcp_stats_outbound", tcp)));
    }
    let plugin = |value: Value| {
        json!({
            "@type": "type.googleapis.com/udpa.type.v1.TypedStruct",
            "type_url": "type.googleapis.com/stats.PluginConfig", "value": value,
        })
    };
    filters.push(http_stats("1.17", &plugin(json!({"disable_host_header_fallback": true}))));
    filters.push(tcp_stats("1.17", &plugin(json!({}))));
    filters
}

fn filter(name: &str, labels: Option<Value>, spec: &Value) -> Value {
    let mut metadata = json!({"name": name, "namespace": "virtual-garden-istio-ingress"});
    if let Some(labels) = labels {
        metadata["labels"] = labels;
    }
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": metadata, "spec": spec,
    })
}

fn labels() -> Value {
    json!({"app": "istio-ingressgateway", "istio": "ingressgateway"})
}

fn connections() -> Value {
    let merge = |kind: &str, part: &str, value: Value| {
        json!({
            "applyTo": kind, "match": {"context": "GATEWAY", part: {"portNumber": 9443}},
            "patch": {"operation": "MERGE", "value": value},
        })
    };
    let limit = json!({"per_connection_buffer_limit_bytes": 32768});
    let options = json!({"socket_options": [
        {"level": 1, "name": 9, "int_value": 1, "state": "STATE_LISTENING"},
        {"level": 6, "name": 4, "int_value": 55, "state": "STATE_LISTENING"},
        {"level": 6, "name": 5, "int_value": 55, "state": "STATE_LISTENING"},
    ]});
    let patches = [
        merge("LISTENER", "listener", limit.clone()),
        merge("CLUSTER", "cluster", limit),
        merge("LISTENER", "listener", options),
    ];
    filter("istio-ingressgateway", Some(labels()), &json!({"configPatches": patches}))
}

fn access_log() -> Value {
    let logged = |filter: &str, kind: &str| {
        json!({
            "applyTo": "NETWORK_FILTER",
            "match": {"context": "ANY", "listener": {"filterChain": {"filter": {"name": filter}}}},
            "patch": {"operation": "MERGE", "value": {"typed_config": {
                "@type": kind, "access_log": [{"name": "envoy.access_loggers.stdout"}],
            }}},
        })
    };
    let patches = [
        logged(
            "envoy.filters.network.tcp_proxy",
            "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
        ),
        logged(
            "envoy.filters.network.http_connection_manager",
            "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        ),
    ];
    let spec = json!({"workloadSelector": {"labels": labels()}, "configPatches": patches});
    filter("access-log", Some(labels()), &spec)
}

fn wasm(layer: &str, machine: &str, configuration: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/udpa.type.v1.TypedStruct",
        "type_url": format!("type.googleapis.com/envoy.extensions.filters.{layer}.wasm.v3.Wasm"),
        "value": {"config": {
            "root_id": "stats_outbound",
            "configuration": {
                "@type": "type.googleapis.com/google.protobuf.StringValue", "value": configuration,
            },
            "vm_config": {
                "vm_id": machine, "runtime": "envoy.wasm.runtime.null",
                "code": {"local": {"inline_string": "envoy.wasm.stats"}},
            },
        }},
    })
}

fn inserted(kind: &str, version: &str, filter: &Value, config: &Value) -> Value {
    let (major, minor) = version.split_once('.').unwrap();
    json!({
        "priority": -1,
        "configPatches": [{
            "applyTo": kind,
            "match": {
                "context": "GATEWAY", "proxy": {"proxyVersion": format!(r"^{major}\.{minor}.*")},
                "listener": {"filterChain": {"filter": filter}},
            },
            "patch": {
                "operation": "INSERT_BEFORE", "value": {"name": "istio.stats", "typed_config": config},
            },
        }],
    })
}

fn http_stats(version: &str, config: &Value) -> Value {
    let before = json!({
        "name": "envoy.filters.network.http_connection_manager",
        "subFilter": {"name": "envoy.filters.http.router"},
    });
    let revision = (version == "1.16").then(|| json!({"istio.io/rev": "default"}));
    filter(&format!("stats-filter-{version}"), revision, &inserted("HTTP_FILTER", version, &before, config))
}

fn tcp_stats(version: &str, config: &Value) -> Value {
    let before = json!({"name": "envoy.filters.network.tcp_proxy"});
    let spec = inserted("NETWORK_FILTER", version, &before, config);
    filter(&format!("tcp-stats-filter-{version}"), None, &spec)
}
