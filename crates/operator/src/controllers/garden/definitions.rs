//! Definitions of the kinds that the operator deploys, by name.

use crate::components::rendering::ObjectName;

/// Kinds of etcd-druid.
pub(super) const ETCD: &[&str] = &["etcds.druid.gardener.cloud", "etcdcopybackupstasks.druid.gardener.cloud"];
/// Kinds of the vertical pod autoscaler.
pub(super) const VPA: &[&str] =
    &["verticalpodautoscalers.autoscaling.k8s.io", "verticalpodautoscalercheckpoints.autoscaling.k8s.io"];
/// The kind Hvpa.
pub(super) const HVPA: &[&str] = &["hvpas.autoscaling.k8s.io"];
/// Kinds of Istio.
pub(super) const ISTIO: &[&str] = &[
    "wasmplugins.extensions.istio.io",
    "destinationrules.networking.istio.io",
    "envoyfilters.networking.istio.io",
    "gateways.networking.istio.io",
    "proxyconfigs.networking.istio.io",
    "serviceentries.networking.istio.io",
    "sidecars.networking.istio.io",
    "virtualservices.networking.istio.io",
    "workloadentries.networking.istio.io",
    "workloadgroups.networking.istio.io",
    "authorizationpolicies.security.istio.io",
    "peerauthentications.security.istio.io",
    "requestauthentications.security.istio.io",
    "telemetries.telemetry.istio.io",
];
/// Kinds of fluent-operator.
pub(super) const FLUENT: &[&str] = &[
    "clusterfilters.fluentbit.fluent.io",
    "clusterfluentbitconfigs.fluentbit.fluent.io",
    "clusterinputs.fluentbit.fluent.io",
    "clusteroutputs.fluentbit.fluent.io",
    "clusterparsers.fluentbit.fluent.io",
    "collectors.fluentbit.fluent.io",
    "filters.fluentbit.fluent.io",
    "fluentbitconfigs.fluentbit.fluent.io",
    "fluentbits.fluentbit.fluent.io",
    "outputs.fluentbit.fluent.io",
    "parsers.fluentbit.fluent.io",
];

/// The definition of a kind.
pub(super) fn definition(name: &str) -> ObjectName {
    ObjectName {
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}
