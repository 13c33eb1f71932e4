//! Kinds that facts watch, reduced to the fields that are read.

use std::fmt::Debug;

use kube::Client;
use kube::api::{Api, ApiResource, GroupVersionKind, NotUsed, Object};
use serde::Deserialize;

use super::ScaleTarget;
use crate::toleration::Taint;

/// Whether the target cluster must serve a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// It is part of Kubernetes.
    Required,
    /// It may come and go with its definition; while it is absent, there are no objects.
    MayBeAbsent,
}

/// The target and the limit of an autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Autoscaler {
    target: TargetReference,
    pub(super) max_replicas: i64,
}

impl Autoscaler {
    /// Whether it scales this object.
    ///
    /// GRM-HAC-012.
    pub(super) fn scales(&self, target: &ScaleTarget<'_>) -> bool {
        let TargetReference { api_version, kind, name } = &self.target;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        (&**name, &**kind, group, version) == (target.name, target.kind, target.group, target.version)
    }
}

/// An object that may be an autoscaler.
pub(super) trait Scales {
    /// Its target and limit; `None` if it scales nothing.
    fn autoscaler(self) -> Option<Autoscaler>;
}

/// The object that an autoscaler refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TargetReference {
    api_version: Box<str>,
    kind: Box<str>,
    name: Box<str>,
}

/// Fields of a HorizontalPodAutoscaler, or of the template of one in an Hvpa.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct HorizontalPodAutoscaler {
    scale_target_ref: TargetReference,
    max_replicas: i64,
}

impl Scales for HorizontalPodAutoscaler {
    fn autoscaler(self) -> Option<Autoscaler> {
        Some(Autoscaler { target: self.scale_target_ref, max_replicas: self.max_replicas })
    }
}

/// Fields of an Hvpa.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Hvpa {
    target_ref: Option<TargetReference>,
    hpa: HvpaHorizontal,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct HvpaHorizontal {
    deploy: bool,
    template: HvpaTemplate,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct HvpaTemplate {
    spec: HvpaTemplateSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HvpaTemplateSpec {
    max_replicas: i64,
}

impl Scales for Hvpa {
    /// GRM-HAC-013.
    fn autoscaler(self) -> Option<Autoscaler> {
        let target = self.target_ref.filter(|_| self.hpa.deploy)?;
        Some(Autoscaler { target, max_replicas: self.hpa.template.spec.max_replicas })
    }
}

/// Fields of a Node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub(super) taints: Vec<Taint>,
}

/// Objects of a kind of which only `spec` is read.
pub(super) type Spec<S> = Object<S, NotUsed>;

/// An API of which only `spec` is read.
pub(super) type SpecApi<S> = Api<Spec<S>>;

/// `autoscaling/v2` HorizontalPodAutoscalers of a namespace; empty: all namespaces.
pub(super) fn horizontal_pod_autoscalers(
    client: Client,
    namespace: &str,
) -> SpecApi<HorizontalPodAutoscaler> {
    api(client, namespace, "autoscaling", "v2", "HorizontalPodAutoscaler")
}

/// Hvpas of a namespace; empty: all namespaces.
pub(super) fn hvpas(client: Client, namespace: &str) -> SpecApi<Hvpa> {
    api(client, namespace, "autoscaling.k8s.io", "v1alpha1", "Hvpa")
}

/// All Nodes.
pub(super) fn nodes(client: Client) -> SpecApi<Node> {
    api(client, "", "", "v1", "Node")
}

fn api<S: Clone + Debug>(
    client: Client,
    namespace: &str,
    group: &str,
    version: &str,
    kind: &str,
) -> SpecApi<S> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    if namespace.is_empty() {
        Api::all_with(client, &resource)
    } else {
        Api::namespaced_with(client, namespace, &resource)
    }
}
