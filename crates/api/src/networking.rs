//! `networking.gardener.cloud` and `networking.resources.gardener.cloud`: labels and annotations for NetworkPolicies.

/// Label of a Namespace or Pod: [`INJECT_DISABLE`] disables the injection of the API server's host name into its
/// environment.
pub const INJECT: &str = "apiserver-proxy.networking.gardener.cloud/inject";
/// Value of [`INJECT`] that opts out.
pub const INJECT_DISABLE: &str = "disable";

/// Label of a Pod that may connect to the API server of the cluster that it runs in.
pub const TO_RUNTIME_API_SERVER: &str = "networking.gardener.cloud/to-runtime-apiserver";
/// Label of a Pod that may connect to public networks.
pub const TO_PUBLIC_NETWORKS: &str = "networking.gardener.cloud/to-public-networks";
/// Label of a Pod that may connect to private networks.
pub const TO_PRIVATE_NETWORKS: &str = "networking.gardener.cloud/to-private-networks";
/// Label of a Pod that may connect to networks that are blocked for others.
pub const TO_BLOCKED_CIDRS: &str = "networking.gardener.cloud/to-blocked-cidrs";
/// Label of a Pod that may ask DNS servers.
pub const TO_DNS: &str = "networking.gardener.cloud/to-dns";
/// Label of a Pod that may connect to the networks of its Shoot.
pub const TO_SHOOT_NETWORKS: &str = "networking.gardener.cloud/to-shoot-networks";

/// Label of a NetworkPolicy: name of its Service.
pub const SERVICE_NAME: &str = "networking.resources.gardener.cloud/service-name";
/// Label of a NetworkPolicy: namespace of its Service.
pub const SERVICE_NAMESPACE: &str = "networking.resources.gardener.cloud/service-namespace";
/// Prefix of the label of Pods that may connect; `<service>-<protocol>-<port>` follows.
pub const TO_PREFIX: &str = "networking.resources.gardener.cloud/to-";
/// Annotation of a Service: label selectors of namespaces whose Pods may connect, as JSON.
pub const NAMESPACE_SELECTORS: &str = "networking.resources.gardener.cloud/namespace-selectors";
/// Annotation of a Service: alias of its namespace in the labels of Pods of other namespaces.
pub const POD_LABEL_SELECTOR_NAMESPACE_ALIAS: &str =
    "networking.resources.gardener.cloud/pod-label-selector-namespace-alias";
/// Annotation of a Service: ports that are reachable from everywhere, as JSON.
pub const FROM_WORLD_TO_PORTS: &str = "networking.resources.gardener.cloud/from-world-to-ports";
/// Deprecated annotation of a Service: the part after [`TO_PREFIX`] in the label of Pods that may connect to
/// [`FROM_POLICY_ALLOWED_PORTS`].
pub const FROM_POLICY_POD_LABEL_SELECTOR: &str =
    "networking.resources.gardener.cloud/from-policy-pod-label-selector";
/// Deprecated annotation of a Service: ports, as JSON.
pub const FROM_POLICY_ALLOWED_PORTS: &str = "networking.resources.gardener.cloud/from-policy-allowed-ports";
/// Prefix of an annotation of a Service with ports for Pods that have a custom label.
pub const FROM_POLICY_PREFIX: &str = "networking.resources.gardener.cloud/from-";
/// Suffix of that annotation.
pub const FROM_POLICY_SUFFIX: &str = "-allowed-ports";
