//! `networking.gardener.cloud` and `networking.resources.gardener.cloud`: who reaches what.

/// Label of a Namespace or Pod: [`INJECT_DISABLE`] keeps the API server's host name out of its environment.
pub const INJECT: &str = "apiserver-proxy.networking.gardener.cloud/inject";
/// Value of [`INJECT`] that opts out.
pub const INJECT_DISABLE: &str = "disable";

/// Label of a NetworkPolicy: name of the Service that it was made for.
pub const SERVICE_NAME: &str = "networking.resources.gardener.cloud/service-name";
/// Label of a NetworkPolicy: namespace of the Service that it was made for.
pub const SERVICE_NAMESPACE: &str = "networking.resources.gardener.cloud/service-namespace";
/// What the key of a Pod's label begins with that may connect: `<service>-<protocol>-<port>` follows.
pub const TO_PREFIX: &str = "networking.resources.gardener.cloud/to-";
/// Annotation of a Service: label selectors of namespaces whose Pods may connect, as JSON.
pub const NAMESPACE_SELECTORS: &str = "networking.resources.gardener.cloud/namespace-selectors";
/// Annotation of a Service: what stands for its namespace in the labels of Pods of other namespaces.
pub const POD_LABEL_SELECTOR_NAMESPACE_ALIAS: &str =
    "networking.resources.gardener.cloud/pod-label-selector-namespace-alias";
/// Annotation of a Service: ports to which everybody may connect, as JSON.
pub const FROM_WORLD_TO_PORTS: &str = "networking.resources.gardener.cloud/from-world-to-ports";
/// Deprecated annotation of a Service: what follows [`TO_PREFIX`] in the label of Pods that reach
/// [`FROM_POLICY_ALLOWED_PORTS`].
pub const FROM_POLICY_POD_LABEL_SELECTOR: &str =
    "networking.resources.gardener.cloud/from-policy-pod-label-selector";
/// Deprecated annotation of a Service: ports, as JSON.
pub const FROM_POLICY_ALLOWED_PORTS: &str = "networking.resources.gardener.cloud/from-policy-allowed-ports";
/// What the key of a Service's annotation begins with that names ports for Pods with a label of its own.
pub const FROM_POLICY_PREFIX: &str = "networking.resources.gardener.cloud/from-";
/// What such a key ends with.
pub const FROM_POLICY_SUFFIX: &str = "-allowed-ports";
