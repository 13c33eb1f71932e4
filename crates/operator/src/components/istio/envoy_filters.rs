//! What the gateway's proxies do beside forwarding: limits, probes of idle connections, metrics, and a log of connections.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::gateway::{NAME, PORT, labels};
use super::{FILTER_API_VERSION, GATEWAY_NAMESPACE, placed};
use crate::components::objects::entries;

const TCP_PROXY: &str = "envoy.filters.network.tcp_proxy";
const HTTP_MANAGER: &str = "envoy.filters.network.http_connection_manager";
const HTTP_ROUTER: &str = "envoy.filters.http.router";
/// How many bytes a connection buffers at most.
const BUFFER_BYTES: u32 = 32768;
/// Seconds until an idle connection is probed, and between two probes: load balancers in front do not probe themselves.
const KEEPALIVE_SECONDS: u32 = 55;
/// Versions of proxies whose metrics come from an extension in the form of WebAssembly.
const WASM_VERSIONS: [&str; 4] = ["1.13", "1.14", "1.15", "1.16"];
/// The version whose proxies have it built in.
const BUILT_IN_VERSION: &str = "1.17";
/// The version whose filter for HTTP is labelled with a revision.
const LABELLED_VERSION: &str = "1.16";

/// Which connections metrics are about.
#[derive(Clone, Copy)]
enum Measured {
    Http,
    Tcp,
}

/// All filters.
pub(super) fn all() -> Vec<Value> {
    let mut filters = vec![connections()];
    for protocol in [Measured::Http, Measured::Tcp] {
        filters.extend(WASM_VERSIONS.map(|version| stats(protocol, version, &protocol.wasm())));
        filters.push(stats(protocol, BUILT_IN_VERSION, &protocol.built_in()));
    }
    filters.push(access_log());
    filters
}

fn filter(name: &str, labels: &BTreeMap<String, String>, spec: &Value) -> Value {
    json!({
        "apiVersion": FILTER_API_VERSION,
        "kind": "EnvoyFilter",
        "metadata": placed(name, GATEWAY_NAMESPACE, labels),
        "spec": spec,
    })
}

fn patch(applies_to: &str, matched: &Value, operation: &str, value: &Value) -> Value {
    json!({ "applyTo": applies_to, "match": matched, "patch": { "operation": operation, "value": value } })
}

/// Buffers and probes of connections: SO_KEEPALIVE is option 9 of sockets (level 1), TCP_KEEPIDLE is option 4 and TCP_KEEPINTVL
/// option 5 of TCP (level 6).
fn connections() -> Value {
    let listener = json!({ "context": "GATEWAY", "listener": { "portNumber": PORT } });
    let cluster = json!({ "context": "GATEWAY", "cluster": { "portNumber": PORT } });
    let limit = json!({ "per_connection_buffer_limit_bytes": BUFFER_BYTES });
    let options = [(1, 9, 1), (6, 4, KEEPALIVE_SECONDS), (6, 5, KEEPALIVE_SECONDS)].map(|(level, name, value)| {
        json!({ "level": level, "name": name, "int_value": value, "state": "STATE_LISTENING" })
    });
    let patches = [
        patch("LISTENER", &listener, "MERGE", &limit),
        patch("CLUSTER", &cluster, "MERGE", &limit),
        patch("LISTENER", &listener, "MERGE", &json!({ "socket_options": options })),
    ];
    filter(NAME, &labels(), &json!({ "configPatches": patches }))
}

/// Metrics of proxies of one version.
fn stats(protocol: Measured, version: &str, config: &Value) -> Value {
    let escaped = version.replace('.', r"\.");
    let matched = json!({
        "context": "GATEWAY",
        "proxy": { "proxyVersion": format!("^{escaped}.*") },
        "listener": { "filterChain": { "filter": protocol.before() } },
    });
    let value = json!({ "name": "istio.stats", "typed_config": config });
    let (name, applies_to) = match protocol {
        Measured::Http => (format!("stats-filter-{version}"), "HTTP_FILTER"),
        Measured::Tcp => (format!("tcp-stats-filter-{version}"), "NETWORK_FILTER"),
    };
    let own_labels = match protocol {
        Measured::Http if version == LABELLED_VERSION => entries([("istio.io/rev", "default")]),
        Measured::Http | Measured::Tcp => BTreeMap::new(),
    };
    let patches = [patch(applies_to, &matched, "INSERT_BEFORE", &value)];
    filter(&name, &own_labels, &json!({ "priority": -1, "configPatches": patches }))
}

impl Measured {
    /// The filter before which that for metrics is put.
    fn before(self) -> Value {
        match self {
            Self::Http => json!({ "name": HTTP_MANAGER, "subFilter": { "name": HTTP_ROUTER } }),
            Self::Tcp => json!({ "name": TCP_PROXY }),
        }
    }

    fn wasm(self) -> Value {
        let (layer, machine, more) = match self {
            Self::Http => ("http", "stats_outbound", ",\n  \"disable_host_header_fallback\": true"),
            Self::Tcp => ("network", "tcp_stats_outbound", ""),
        };
        let configuration = format!("{{\n  \"debug\": \"false\",\n  \"stat_prefix\": \"istio\"{more}\n}}\n");
        let code = json!({ "local": { "inline_string": "envoy.wasm.stats" } });
        let config = json!({
            "root_id": "stats_outbound",
            "configuration": {
                "@type": "type.googleapis.com/google.protobuf.StringValue",
                "value": configuration,
            },
            "vm_config": { "vm_id": machine, "runtime": "envoy.wasm.runtime.null", "code": code },
        });
        let of_type = format!("type.googleapis.com/envoy.extensions.filters.{layer}.wasm.v3.Wasm");
        typed_struct(&of_type, &json!({ "config": config }))
    }

    fn built_in(self) -> Value {
        let config = match self {
            Self::Http => json!({ "disable_host_header_fallback": true }),
            Self::Tcp => json!({}),
        };
        typed_struct("type.googleapis.com/stats.PluginConfig", &config)
    }
}

fn typed_struct(of_type: &str, value: &Value) -> Value {
    json!({
        "@type": "type.googleapis.com/udpa.type.v1.TypedStruct",
        "type_url": of_type,
        "value": value,
    })
}

/// The gateway writes a line for each connection.
fn access_log() -> Value {
    let layers = [
        (TCP_PROXY, "tcp_proxy.v3.TcpProxy"),
        (HTTP_MANAGER, "http_connection_manager.v3.HttpConnectionManager"),
    ];
    let patches = layers.map(|(name, of_type)| {
        let matched =
            json!({ "context": "ANY", "listener": { "filterChain": { "filter": { "name": name } } } });
        let of_type = format!("type.googleapis.com/envoy.extensions.filters.network.{of_type}");
        let logs = [json!({ "name": "envoy.access_loggers.stdout" })];
        let value = json!({ "typed_config": { "@type": of_type, "access_log": logs } });
        patch("NETWORK_FILTER", &matched, "MERGE", &value)
    });
    let spec = json!({ "workloadSelector": { "labels": labels() }, "configPatches": patches });
    filter("access-log", &labels(), &spec)
}
