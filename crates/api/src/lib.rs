//! Types for Gardener's kinds, and constants for well-known labels and annotations.
//!
//! - [`druid`] — the kind Etcd, `druid.gardener.cloud/v1alpha1`;
//! - [`extensions`] — the kind Cluster, `extensions.gardener.cloud/v1alpha1`;
//! - [`garden`] — the garden's kinds, `core.gardener.cloud/v1beta1`;
//! - [`gardener`] — `gardener.cloud` and its extension groups;
//! - [`gardenlet`] — the configuration of a gardenlet, `gardenlet.config.gardener.cloud/v1alpha1`;
//! - [`kubernetes`] — labels, annotations and taints of Kubernetes that Gardener uses;
//! - [`networking`] — `networking.gardener.cloud`;
//! - [`operator`] — the kind Garden, `operator.gardener.cloud/v1alpha1`;
//! - [`resources`] — `resources.gardener.cloud`: the kind ManagedResource, labels and annotations of the resource-manager.

#[macro_use]
pub mod garden;
pub mod druid;
pub mod extensions;
pub mod gardener;
pub mod gardenlet;
pub mod kubernetes;
pub mod networking;
pub mod operator;
pub mod resources;
