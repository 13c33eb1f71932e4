//! Services: changes from each type to each other.

use rstest::rstest;

use super::*;

const OPENSTACK: &str = "loadbalancer.openstack.org/load-balancer-id";

/// A Service with one port; a null in `fields` removes a field.
fn service(fields: &Value) -> Value {
    let mut spec = json!({
        "clusterIP": "1.2.3.4", "type": "ClusterIP", "sessionAffinity": "None", "selector": {"foo": "bar"},
        "ports": [{"name": "foo", "protocol": "TCP", "port": 123, "targetPort": 919}],
    });
    for (key, value) in fields.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec})
}

fn ports(port: i64, node_port: Option<i64>) -> Value {
    let mut ports = json!([{"name": "foo", "protocol": "UDP", "port": port, "targetPort": 888}]);
    if let Some(node_port) = node_port {
        ports[0]["nodePort"] = json!(node_port);
    }
    ports
}

/// Changes of the live Service, changes of the desired one, and how the result differs from the desired one.
#[rstest]
#[case::same_address(json!({}), json!({"ports": ports(1234, None), "clusterIP": null}), json!({"clusterIP": "1.2.3.4"}))]
#[case::other_address_is_ignored(json!({}), json!({"clusterIP": "5.6.7.8"}), json!({"clusterIP": "1.2.3.4"}))]
#[case::headless(json!({}), json!({"clusterIP": "None"}), json!({}))]
#[case::without_type(json!({}), json!({"type": null, "ports": ports(999, None)}), json!({"type": "ClusterIP"}))]
#[case::to_node_port(json!({}), json!({"type": "NodePort", "ports": ports(999, Some(444))}), json!({}))]
#[case::to_external(
    json!({}),
    json!({"type": "ExternalName", "selector": null, "clusterIP": null, "externalName": "foo.com"}),
    json!({})
)]
#[case::external_address_is_as_wanted(json!({}), json!({"type": "ExternalName", "clusterIP": "5.6.7.8"}), json!({}))]
#[case::node_port_to_cluster(
    json!({"type": "NodePort", "ports": ports(123, Some(3333))}), json!({"ports": ports(999, None)}), json!({})
)]
#[case::node_port_address_is_ignored(
    json!({"type": "NodePort"}), json!({"type": "NodePort", "clusterIP": "5.6.7.8"}), json!({"clusterIP": "1.2.3.4"})
)]
#[case::node_port_to_headless(json!({"type": "NodePort", "ports": ports(1, Some(3333))}), json!({"clusterIP": "None"}), json!({}))]
#[case::node_port_given(
    json!({"type": "NodePort", "ports": ports(123, Some(3333))}), json!({"type": "NodePort", "ports": ports(999, Some(444))}), json!({})
)]
#[case::node_port_kept_by_name(
    json!({"type": "NodePort", "ports": ports(123, Some(3333))}),
    json!({"type": "NodePort", "ports": ports(999, None)}),
    json!({"ports": ports(999, Some(3333))})
)]
#[case::node_port_kept_where_it_is_zero(
    json!({"type": "NodePort", "ports": ports(123, Some(3333))}),
    json!({"type": "NodePort", "ports": ports(999, Some(0))}),
    json!({"ports": ports(999, Some(3333))})
)]
#[case::load_balancer_to_cluster(
    json!({"type": "LoadBalancer", "ports": ports(123, Some(3333))}), json!({"ports": ports(999, None)}), json!({})
)]
#[case::load_balancer_to_node_port(
    json!({"type": "LoadBalancer", "ports": ports(123, Some(3333))}),
    json!({"type": "NodePort", "ports": ports(999, None)}),
    json!({"ports": ports(999, Some(3333))})
)]
#[case::health_check_port_given(
    json!({"type": "LoadBalancer"}),
    json!({"type": "LoadBalancer", "healthCheckNodePort": 123, "externalTrafficPolicy": "Local"}),
    json!({})
)]
#[case::health_check_port_kept(
    json!({"type": "LoadBalancer", "healthCheckNodePort": 3333, "externalTrafficPolicy": "Local"}),
    json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local"}),
    json!({"healthCheckNodePort": 3333})
)]
#[case::health_check_port_of_cluster_policy(
    json!({"type": "LoadBalancer", "healthCheckNodePort": 3333, "externalTrafficPolicy": "Local"}),
    json!({"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"}),
    json!({})
)]
#[case::health_check_port_from_node_port(
    json!({"type": "NodePort", "healthCheckNodePort": 3333, "externalTrafficPolicy": "Local"}),
    json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local"}),
    json!({})
)]
#[case::load_balancer_address_kept(
    json!({"type": "LoadBalancer", "loadBalancerIP": "9.9.9.9"}), json!({"type": "LoadBalancer"}), json!({"loadBalancerIP": "9.9.9.9"})
)]
#[case::load_balancer_address_given(
    json!({"type": "LoadBalancer", "loadBalancerIP": "9.9.9.9"}), json!({"type": "LoadBalancer", "loadBalancerIP": "8.8.8.8"}), json!({})
)]
#[case::load_balancer_address_of_cluster_type(
    json!({"type": "LoadBalancer", "loadBalancerIP": "9.9.9.9"}), json!({}), json!({})
)]
#[case::external_to_cluster(
    json!({"type": "ExternalName", "clusterIP": null, "externalName": "baz.bar"}), json!({"clusterIP": "3.4.5.6"}), json!({})
)]
#[case::external_to_node_port(
    json!({"type": "ExternalName", "clusterIP": null}),
    json!({"type": "NodePort", "clusterIP": "3.4.5.6", "ports": ports(999, Some(444))}),
    json!({})
)]
#[case::external_to_load_balancer(
    json!({"type": "ExternalName", "clusterIP": null}),
    json!({"type": "LoadBalancer", "clusterIP": "3.4.5.6", "externalTrafficPolicy": "Local", "healthCheckNodePort": 123}),
    json!({})
)]
#[case::live_without_type(json!({"type": null}), json!({"clusterIP": "5.6.7.8"}), json!({"clusterIP": "1.2.3.4"}))]
#[case::live_without_address(json!({"clusterIP": null}), json!({"clusterIP": "5.6.7.8"}), json!({"clusterIP": null}))]
fn assigned_values_stay(#[case] live: Value, #[case] desired: Value, #[case] differs: Value) {
    let mut all = desired.clone();
    all.as_object_mut().unwrap().extend(differs.as_object().unwrap().clone());
    assert_eq!(merged(&service(&desired), &service(&live), |_| {}), annotated(service(&all), json!({})),);
}

#[test]
fn a_manifest_without_spec_gets_type_and_address() {
    let desired = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    let got = merged(&desired, &service(&json!({})), |_| {});
    assert_eq!(got["spec"], json!({"type": "ClusterIP", "clusterIP": "1.2.3.4"}));
}

/// Live ports, desired ports, and the resulting node ports.
#[rstest]
#[case::by_number(&[("a", 1, 31)], &[("b", 1)], &[Some(31)])]
#[case::by_name(&[("a", 1, 31)], &[("a", 2)], &[Some(31)])]
#[case::unnamed(&[("", 1, 31)], &[("", 2)], &[Some(31)])]
#[case::neither(&[("a", 1, 31)], &[("b", 2)], &[None])]
#[case::several(&[("a", 1, 31), ("b", 2, 32)], &[("b", 2), ("a", 1), ("c", 3)], &[Some(32), Some(31), None])]
#[case::the_last_match_counts(&[("a", 1, 31), ("b", 2, 32)], &[("a", 2)], &[Some(32)])]
#[case::even_without_port(&[("a", 1, 31), ("b", 2, 0)], &[("a", 2)], &[None])]
#[case::one_number_two_protocols(&[("udp", 53, 31), ("tcp", 53, 32)], &[("udp", 53), ("tcp", 53)], &[Some(32), Some(32)])]
fn node_ports_are_found_by_number_or_name(
    #[values("NodePort", "LoadBalancer")] kind: &str,
    #[case] live: &[(&str, i64, i64)],
    #[case] desired: &[(&str, i64)],
    #[case] wanted: &[Option<i64>],
) {
    let port = |name: &str, number: i64, node_port: Option<i64>| {
        let mut port = json!({"port": number});
        if !name.is_empty() {
            port["name"] = json!(name);
        }
        if let Some(node_port) = node_port {
            port["nodePort"] = json!(node_port);
        }
        port
    };
    let live: Value =
        live.iter().map(|(name, number, node)| port(name, *number, (*node != 0).then_some(*node))).collect();
    let plain: Value = desired.iter().map(|(name, number)| port(name, *number, None)).collect();
    let wanted: Value =
        desired.iter().zip(wanted).map(|((name, number), node)| port(name, *number, *node)).collect();
    let got = merged(
        &service(&json!({"type": kind, "ports": plain})),
        &service(&json!({"type": kind, "ports": live})),
        |_| {},
    );
    assert_eq!(got["spec"]["ports"], wanted);
}

/// Live annotations, desired ones, and the result if they are enforced.
#[rstest]
#[case::kept(json!({OPENSTACK: "1", "x": "2"}), json!({"y": "3"}), json!({OPENSTACK: "1", "y": "3"}))]
#[case::given(json!({OPENSTACK: "1"}), json!({OPENSTACK: "2"}), json!({OPENSTACK: "2"}))]
#[case::prefix(json!({"loadbalancer.openstack.organic": "1"}), json!({}), json!({"loadbalancer.openstack.organic": "1"}))]
#[case::others(json!({"load-balancer.hetzner.cloud/ip": "1"}), json!({}), json!({}))]
fn annotations_of_the_openstack_load_balancer_stay(
    #[values("ClusterIP", "LoadBalancer", "ExternalName")] kind: &str,
    #[case] live: Value,
    #[case] desired: Value,
    #[case] wanted: Value,
) {
    let object = |annotations: Value| {
        let mut object = service(&json!({"type": kind}));
        object["metadata"]["annotations"] = annotations;
        object
    };
    let got = merged(&object(desired), &object(live), |rules| rules.force_overwrite.annotations = true);
    assert_eq!(got, annotated(service(&json!({"type": kind})), wanted));
}
