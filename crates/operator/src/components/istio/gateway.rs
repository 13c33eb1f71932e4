//! The gateway of the virtual cluster: it forwards connections to kube-apiserver by the name that a client asks for.

use std::collections::BTreeMap;

use api::networking::{FROM_WORLD_TO_PORTS, NAMESPACE_SELECTORS, POD_LABEL_SELECTOR_NAMESPACE_ALIAS};
use serde_json::{Value, json};

use super::namespaces::GATEWAY_LABEL;
use super::{GATEWAY_NAMESPACE, account, budget, checksum, envoy_filters, gateway_deployment, placed};
use crate::components::error::RenderError;
use crate::components::objects::{entries, with};
use crate::components::rbac::{role_binding, role_in, rule};
use crate::components::values::GardenValues;

/// The name of most of its objects.
pub(super) const NAME: &str = "istio-ingressgateway";
/// The ConfigMap with what its proxy starts with.
pub(super) const BOOTSTRAP: &str = "istio-custom-bootstrap-config";
/// The key of that.
pub(super) const BOOTSTRAP_KEY: &str = "custom_bootstrap.yaml";
/// Where it takes connections to port 443 of its Service.
pub(super) const PORT: u16 = 9443;

/// The role with which it reads certificates.
const SECRETS_ROLE: &str = "istio-ingressgateway-sds";
/// The label with Istio's version.
const VERSION: (&str, &str) = ("app.kubernetes.io/version", "1.17.1");
/// Annotations of its Service, whose ports are written in another order of fields than elsewhere.
const ANNOTATIONS: [(&str, &str); 4] = [
    (
        FROM_WORLD_TO_PORTS,
        r#"[{"port":8132,"protocol":"TCP"},{"port":8443,"protocol":"TCP"},{"port":9443,"protocol":"TCP"}]"#,
    ),
    (
        NAMESPACE_SELECTORS,
        r#"[{"matchLabels":{"gardener.cloud/role":"shoot"}},{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]"#,
    ),
    (POD_LABEL_SELECTOR_NAMESPACE_ALIAS, "all-istio-ingresses"),
    (
        "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports",
        r#"[{"port":15020,"protocol":"TCP"}]"#,
    ),
];

/// All its objects. OPC-046, OPC-048, OPC-049.
pub(super) fn objects(values: &GardenValues<'_>) -> Result<Vec<Value>, RenderError> {
    let (image, [least, most]) = (values.image("istio-proxy")?, replicas(values.zones().len()));
    let config_map = bootstrap();
    let deployment = gateway_deployment::deployment(&image, least, &checksum(&config_map)?);
    let rules = [rule(&[""], &["secrets"], &["get", "watch", "list"])];
    let own_account = [json!({ "kind": "ServiceAccount", "name": NAME })];
    let mut objects = vec![
        config_map,
        deployment,
        autoscaler(least, most),
        budget(NAME, GATEWAY_NAMESPACE, &labels()),
        role_in(GATEWAY_NAMESPACE, SECRETS_ROLE, &labels(), &rules),
        role_binding(SECRETS_ROLE, GATEWAY_NAMESPACE, &labels(), SECRETS_ROLE, &own_account),
        service(values.load_balancer_annotations()),
        account(NAME, GATEWAY_NAMESPACE, &versioned_labels()),
    ];
    objects.extend(envoy_filters::all());
    Ok(objects)
}

/// Labels by which its Pods are selected.
pub(super) fn labels() -> BTreeMap<String, String> {
    entries([("app", NAME), GATEWAY_LABEL])
}

/// The same with the version.
pub(super) fn versioned_labels() -> BTreeMap<String, String> {
    with(labels(), entries([VERSION]))
}

/// How many there are at least and at most: with more than one zone, at least two in each. OPC-046.
fn replicas(zones: usize) -> [usize; 2] {
    if zones > 1 { [2 * zones, 4 * zones] } else { [2, 5] }
}

/// A limit of connections against exhaustion.
fn bootstrap() -> Value {
    let text = "\
layered_runtime:
  layers:
  - name: static_layer_0
    static_layer:
      overload:
        global_downstream_max_connections: 750000
";
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": placed(BOOTSTRAP, GATEWAY_NAMESPACE, &labels()),
        "data": { BOOTSTRAP_KEY: text },
    })
}

fn autoscaler(least: usize, most: usize) -> Value {
    let target = json!({ "type": "Utilization", "averageUtilization": 80 });
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": placed(NAME, GATEWAY_NAMESPACE, &versioned_labels()),
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": NAME },
            "minReplicas": least,
            "maxReplicas": most,
            "metrics": [{ "type": "Resource", "resource": { "name": "cpu", "target": target } }],
        },
    })
}

/// With the Garden's annotations for load balancers. OPC-048.
fn service(annotations: BTreeMap<String, String>) -> Value {
    let mut metadata = placed(NAME, GATEWAY_NAMESPACE, &versioned_labels());
    metadata["annotations"] = json!(with(entries(ANNOTATIONS), annotations));
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "type": "LoadBalancer",
            "selector": labels(),
            "ports": [{ "name": "tcp", "port": 443, "targetPort": PORT }],
        },
    })
}
