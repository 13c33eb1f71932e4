//! What the operator deploys for a Garden: each component is a pure function from values to objects.
//!
//! A component is a module with `requests`, which says what it needs from the secrets manager, and `render`, which makes its objects
//! from [`GardenValues`]: the Garden, the configuration, versions, images, and what was generated and observed. No component reads a
//! clock, a cluster or the environment, or draws random numbers. Objects and their fields are those of the original's v1.82.0; the ids OPC-… in documentation number what is kept of it.
//!
//! What all components share:
//!
//! - [`values`] — what they are rendered from; [`generated`] — Secrets of the secrets manager; [`image_vector`] — images;
//! - [`rendering`] — what the result is; [`managed`] — ManagedResources in it; [`error`] — why there is none;
//! - [`unique`] — ConfigMaps and Secrets whose names contain a checksum; [`references`] — annotations that name them;
//! - [`access`] — kubeconfig and token for the virtual cluster; [`networks`] — what NetworkPolicies are made from;
//!   [`topology`] — traffic that stays in its zone; [`objects`], [`rbac`] — parts of objects;
//! - [`api_server`] — what kube-apiserver and gardener-apiserver share; [`existing`] — objects from which something is taken over.
//!
//! Nothing calls them yet but tests.

pub mod access;
pub mod api_server;
pub mod error;
pub mod etcd;
pub mod existing;
pub mod generated;
pub mod image_vector;
pub mod kube_apiserver;
pub mod kube_apiserver_service;
pub mod kube_controller_manager;
pub mod managed;
pub mod networks;
pub mod objects;
pub mod rbac;
pub mod references;
pub mod rendering;
pub mod topology;
pub mod unique;
pub mod values;
pub mod virtual_resource_manager;

#[cfg(test)]
pub(crate) mod fixture;

pub use self::error::RenderError;
pub use self::generated::{GeneratedSecret, GeneratedSecrets, RequestedSecret};
pub use self::managed::{ManagedObjects, ManagedTarget};
pub use self::rendering::{DirectStep, Rendering};
pub use self::values::{GardenValues, ObservedState, ReferencedObjects};

/// The namespace of all namespaced objects in the runtime cluster, except those of Istio. OPC-001.
pub const NAMESPACE: &str = "garden";
