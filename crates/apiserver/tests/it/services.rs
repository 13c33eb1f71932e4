//! Addresses and ports of Services: requested ones are reserved, and none is allocated twice.

use std::sync::Arc;
use std::time::Duration;

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::hook::{HookReply, Hooks, configuration};
use crate::wire::{patch, send};

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

/// The node ports, that of the health check last.
fn node_ports(service: &Value) -> Vec<i64> {
    let ports = service["spec"]["ports"].as_array().unwrap().iter().map(|port| &port["nodePort"]);
    ports.chain([&service["spec"]["healthCheckNodePort"]]).filter_map(Value::as_i64).collect()
}

async fn create(server: &ApiServer, name: &str, spec: &Value) -> Value {
    let (code, made) = send(server, "POST", SERVICES, &service(name, spec)).await;
    assert_eq!(code, 201, "{made}");
    made
}

#[tokio::test]
async fn an_added_port_gets_a_new_node_port() {
    let server = ApiServer::builder().build();
    let first = json!({"name": "a", "port": 80, "nodePort": 30_086});
    create(&server, "a", &json!({"type": "NodePort", "ports": [first]})).await;
    let more = json!({"type": "NodePort", "ports": [first, {"name": "b", "port": 81}]});
    let (code, changed) = send(&server, "PUT", &format!("{SERVICES}/a"), &service("a", &more)).await;
    assert_eq!((code, node_ports(&changed)), (200, vec![30_086, 30_087]));
}

#[tokio::test]
async fn requested_node_ports_are_not_allocated_to_other_ports() {
    let server = ApiServer::builder().build();
    let spec = json!({
        "type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30_086,
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30_087}],
    });
    assert_eq!(node_ports(&create(&server, "a", &spec).await), [30_088, 30_087, 30_086]);
}

#[tokio::test]
async fn equal_port_numbers_share_a_node_port() {
    let server = ApiServer::builder().build();
    let dns = |tcp: Value, udp: Value| {
        let mut ports = json!([{"name": "t", "port": 53, "protocol": "TCP"}, {"name": "u", "port": 53, "protocol": "UDP"}]);
        for (at, number) in [tcp, udp].into_iter().enumerate().filter(|(_, number)| !number.is_null()) {
            ports[at]["nodePort"] = number;
        }
        json!({"type": "NodePort", "ports": ports})
    };
    let table = [
        (dns(Value::Null, Value::Null), vec![30_086, 30_086]),
        (dns(Value::Null, json!(30_007)), vec![30_007, 30_007]),
        (dns(json!(30_008), json!(30_008)), vec![30_008, 30_008]),
        (dns(json!(30_009), json!(30_010)), vec![30_009, 30_010]),
    ];
    for (at, (spec, want)) in table.into_iter().enumerate() {
        assert_eq!(node_ports(&create(&server, &format!("s{at}"), &spec).await), want, "{spec}");
    }
    let path = format!("{SERVICES}/s0");
    let named = dns(json!(30_020), json!(30_020));
    let (code, changed) = send(&server, "PUT", &path, &service("s0", &named)).await;
    assert_eq!((code, node_ports(&changed)), (200, vec![30_020, 30_020]));
    let mut twice = dns(json!(30_021), json!(30_021));
    twice["ports"][1]["protocol"] = "TCP".into();
    let (code, status) = send(&server, "PUT", &path, &service("s0", &twice)).await;
    assert_eq!((code, &status["message"]), (500, &json!("duplicate nodePort: {TCP 30021}")));
    let (_, status) = send(&server, "POST", SERVICES, &service("t", &twice)).await;
    let want = "Service \"t\" is invalid: [spec.ports[1].nodePort: Duplicate value: 30021, spec.ports[1]: Duplicate value: \
                {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":53,\"TargetPort\":0,\"NodePort\":0}]";
    assert_eq!(status["message"], want);
}

#[tokio::test]
async fn unavailable_addresses_and_ports_are_refused() {
    let server = ApiServer::builder().build();
    let balanced = |health: i64| {
        json!({
            "type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": health,
            "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80}],
        })
    };
    let at = |address: &str| json!({"clusterIP": address, "ports": [{"port": 80}]});
    let node = |number: i64| json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": number}]});
    create(&server, "a", &balanced(30_005)).await;
    let addresses = "Service \"b\" is invalid: spec.clusterIPs";
    let ports = "Service \"b\" is invalid: spec.ports[0].nodePort";
    let network = "the provided network does not match the current range";
    let requested = "Internal error occurred: failed to allocate requested HealthCheck NodePort";
    let outside = "provided port is not in the valid range. The range of valid ports is 30000-32767";
    let taken = "provided port is already allocated";
    let table = [
        (
            at("1.2.3.4"),
            422,
            format!("{addresses}: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: {network}"),
        ),
        (
            at("10.0.0.0"),
            422,
            format!("{addresses}: Invalid value: [\"10.0.0.0\"]: failed to allocate IP 10.0.0.0: {network}"),
        ),
        (
            at("10.0.0.1"),
            422,
            format!(
                "{addresses}: Invalid value: [\"10.0.0.1\"]: failed to allocate IP 10.0.0.1: provided IP is already allocated"
            ),
        ),
        (
            at("fd00::1"),
            422,
            format!("{addresses}[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured on this cluster"),
        ),
        (node(80), 422, format!("{ports}: Invalid value: 80: {outside}")),
        (node(30_005), 422, format!("{ports}: Invalid value: 30005: {taken}")),
        (balanced(30_005), 500, format!("{requested} 30005: {taken}")),
        (balanced(80), 500, format!("{requested} 80: {outside}")),
    ];
    for (spec, code, message) in table {
        let (found, status) = send(&server, "POST", SERVICES, &service("b", &spec)).await;
        assert_eq!((found, &status["message"]), (code, &json!(message)), "{spec}");
    }
    let dry = format!("{SERVICES}?dryRun=All");
    let (code, status) = send(&server, "POST", &dry, &service("b", &at("1.2.3.4"))).await;
    let why = "the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.0.0.0/24";
    let message = format!("{addresses}: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: {why}");
    assert_eq!((code, &status["message"]), (422, &json!(message)));
    assert_eq!(send(&server, "POST", &dry, &service("b", &node(80))).await.0, 201);
    let moved = json!({"spec": {"healthCheckNodePort": 30_006}});
    let (code, status) = patch(&server, &format!("{SERVICES}/a"), "merge-patch", &moved).await;
    let message = "Service \"a\" is invalid: spec.healthCheckNodePort: Forbidden: field is immutable";
    assert_eq!((code, &status["message"]), (422, &json!(message)));
    let forbidden =
        json!({"allocateLoadBalancerNodePorts": true, "loadBalancerClass": "x", "ports": [{"port": 80}]});
    let (_, status) = send(&server, "POST", SERVICES, &service("b", &forbidden)).await;
    let why = "Forbidden: may only be used when `type` is 'LoadBalancer'";
    let message = format!(
        "Service \"b\" is invalid: [spec.allocateLoadBalancerNodePorts: {why}, spec.loadBalancerClass: {why}]"
    );
    assert_eq!(status["message"], message);
    let idle = json!({"healthCheckNodePort": 30_006, "ports": [{"port": 80}]});
    let (_, status) = send(&server, "POST", SERVICES, &service("b", &idle)).await;
    let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    let message = format!("Service \"b\" is invalid: spec.healthCheckNodePort: Invalid value: 30006: {why}");
    assert_eq!(status["message"], message);
}

#[tokio::test(start_paused = true)]
async fn addresses_are_reserved_while_webhooks_are_called() {
    let hooks = Hooks::default().with("slow", |request| {
        let allowed = request["name"] != "refused";
        HookReply::Late(Duration::from_secs(1), json!({"allowed": allowed}))
    });
    let server = ApiServer::builder().dialers(Arc::new(hooks)).build();
    let rules = json!({"rules": [{
        "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["services"],
    }]});
    let registrations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    send(&server, "POST", registrations, &configuration("Validating", "v", &["slow"], &rules)).await;
    let unnamed = json!({"type": "NodePort", "ports": [{"port": 80}]});
    let named =
        json!({"type": "NodePort", "clusterIP": "10.0.0.9", "ports": [{"port": 80, "nodePort": 30_009}]});
    let create = async |name: &str, spec: &Value| send(&server, "POST", SERVICES, &service(name, spec)).await;
    let (one, other) = tokio::join!(create("a", &unnamed), create("b", &unnamed));
    let given = |made: &Value| (made["spec"]["clusterIP"].clone(), node_ports(made));
    assert_eq!(given(&one.1), (json!("10.0.0.17"), vec![30_086]));
    assert_eq!(given(&other.1), (json!("10.0.0.18"), vec![30_087]));
    let (refused, other) = tokio::join!(create("refused", &named), create("c", &named));
    let message = "Service \"c\" is invalid: spec.clusterIPs: Invalid value: [\"10.0.0.9\"]: failed to allocate IP \
                   10.0.0.9: provided IP is already allocated";
    assert_eq!((refused.0, other.0, &other.1["message"]), (400, 422, &json!(message)));
    let port = json!({"spec": {"ports": [{"port": 80, "nodePort": 30_009}]}});
    let change = async |name: &str| patch(&server, &format!("{SERVICES}/{name}"), "merge-patch", &port).await;
    let (one, other) = tokio::join!(change("a"), change("b"));
    let message = "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30009: provided port is already \
                   allocated";
    assert_eq!((one.0, other.0, &other.1["message"]), (200, 422, &json!(message)));
    assert_eq!(create("d", &json!({"clusterIP": "10.0.0.9", "ports": [{"port": 80}]})).await.0, 201);
}
