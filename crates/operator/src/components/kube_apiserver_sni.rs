//! How kube-apiserver of the virtual cluster is reached from outside: Istio's gateway forwards connections by the name that a client
//! asks for.

use serde_json::{Value, json};

use super::NAMESPACE;
use super::kube_apiserver::{NAME, domains, labels};
use super::kube_apiserver_service::GATEWAY_NAMESPACE;
use super::lifecycle::{Lifecycle, RemovalStep};
use super::objects::metadata;
use super::rendering::{DirectStep, ObjectName, Rendering};
use super::values::{GardenValues, service_host};

const API_VERSION: &str = "networking.istio.io/v1beta1";
const PORT: u16 = 443;

/// What must be written. Fields with the first value of their type are absent, as Istio writes them: TLS is not begun towards
/// kube-apiserver (`DISABLE`), and passes through the gateway (`PASSTHROUGH`). OPC-070, OPC-071.
#[must_use]
pub fn render(values: &GardenValues<'_>) -> Rendering {
    let (hosts, destination) = (domains(values.garden), service_host(NAME));
    let objects = [destination_rule(&destination), gateway(&hosts), virtual_service(&hosts, &destination)];
    Rendering { steps: objects.map(DirectStep::Patch).into(), ..Rendering::default() }
}

fn object(kind: &str, spec: &Value) -> Value {
    json!({ "apiVersion": API_VERSION, "kind": kind, "metadata": metadata(NAME, &labels()), "spec": spec })
}

/// Outlier detection is needed for a preference of zones to take effect.
fn destination_rule(host: &str) -> Value {
    let spec = json!({
        "exportTo": ["*"],
        "host": host,
        "trafficPolicy": {
            "connectionPool": {
                "tcp": { "maxConnections": 5000, "tcpKeepalive": { "time": "7200s", "interval": "75s" } },
            },
            "loadBalancer": {
                "localityLbSetting": { "enabled": true, "failoverPriority": [api::kubernetes::TOPOLOGY_ZONE] },
            },
            "outlierDetection": {},
            "tls": {},
        },
    });
    object("DestinationRule", &spec)
}

fn gateway(hosts: &[String]) -> Value {
    let server = json!({
        "hosts": hosts,
        "port": { "number": PORT, "name": "tls", "protocol": "TLS" },
        "tls": {},
    });
    object("Gateway", &json!({ "selector": { "istio": "ingressgateway" }, "servers": [server] }))
}

fn virtual_service(hosts: &[String], host: &str) -> Value {
    let route = json!({
        "match": [{ "port": PORT, "sniHosts": hosts }],
        "route": [{ "destination": { "host": host, "port": { "number": PORT } } }],
    });
    let spec = json!({ "exportTo": ["*"], "hosts": hosts, "gateways": [NAME], "tls": [route] });
    object("VirtualService", &spec)
}

/// Nothing is awaited. The original deletes an EnvoyFilter, too, which Gardens never had.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let filter = ObjectName {
        namespace: GATEWAY_NAMESPACE.to_owned(),
        ..ObjectName::in_garden("networking.istio.io/v1alpha3", "EnvoyFilter", NAMESPACE)
    };
    let object = |kind: &str| RemovalStep::object(API_VERSION, kind, NAME);
    Lifecycle {
        removal: vec![
            object("DestinationRule"),
            RemovalStep::Object(filter),
            object("Gateway"),
            object("VirtualService"),
        ],
        ..Lifecycle::default()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::Fixture;

    #[rstest]
    #[case::one_domain(json!(["a.example.com"]), json!(["api.a.example.com", "gardener.a.example.com"]))]
    #[case::two_domains(
        json!(["b.example.com", "a.example.com"]),
        json!(["api.b.example.com", "gardener.b.example.com", "api.a.example.com", "gardener.a.example.com"])
    )]
    fn names_of_all_domains_are_forwarded(#[case] domains: Value, #[case] hosts: Value) {
        let fixture = Fixture::with(&json!({"spec": {"virtualCluster": {"dns": {"domains": domains}}}}));
        let metadata = json!({
            "name": "virtual-garden-kube-apiserver", "namespace": "garden",
            "labels": {"app": "kubernetes", "role": "apiserver"},
        });
        let host = "virtual-garden-kube-apiserver.garden.svc.cluster.local";
        let objects = [
            json!({
                "apiVersion": "networking.istio.io/v1beta1", "kind": "DestinationRule", "metadata": metadata,
                "spec": {
                    "exportTo": ["*"], "host": host,
                    "trafficPolicy": {
                        "connectionPool": {"tcp": {
                            "maxConnections": 5000, "tcpKeepalive": {"time": "7200s", "interval": "75s"},
                        }},
                        "loadBalancer": {"localityLbSetting": {
                            "enabled": true, "failoverPriority": ["topology.kubernetes.io/zone"],
                        }},
                        "outlierDetection": {}, "tls": {},
                    },
                },
            }),
            json!({
                "apiVersion": "networking.istio.io/v1beta1", "kind": "Gateway", "metadata": metadata,
                "spec": {
                    "selector": {"istio": "ingressgateway"},
                    "servers": [{
                        "hosts": hosts, "port": {"number": 443, "name": "tls", "protocol": "TLS"}, "tls": {},
                    }],
                },
            }),
            json!({
                "apiVersion": "networking.istio.io/v1beta1", "kind": "VirtualService", "metadata": metadata,
                "spec": {
                    "exportTo": ["*"], "hosts": hosts, "gateways": ["virtual-garden-kube-apiserver"],
                    "tls": [{
                        "match": [{"port": 443, "sniHosts": hosts}],
                        "route": [{"destination": {"host": host, "port": {"number": 443}}}],
                    }],
                },
            }),
        ];
        assert_eq!(render(&fixture.values()).steps, objects.map(DirectStep::Patch));
    }
}
