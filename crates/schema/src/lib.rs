//! The kinds of Kubernetes and Gardener: discovery, field types, list and merge keys. Generated data, no IO.
//!
//! Start at [`Kinds`]: [`Kinds::kubernetes`] has the built-in kinds of Kubernetes 1.36, [`Kinds::of`] those of another
//! [`KubernetesVersion`], [`Kinds::gardener`] also the custom resources that come with the project ([`crds`]). The [`Type`]
//! of a kind describes every field: its shape, the keys of a list, the effect of a patch. A [`Message`] describes the
//! protobuf encoding of a kind. [`admission_plugins`] names the admission plugins of Gardener's API server.
//!
//! ```
//! use schema::{Kinds, Shape};
//! let pod = Kinds::gardener().type_of("", "v1", "Pod").expect("Kubernetes has pods");
//! let limits = pod.at("spec.containers[].resources.limits[cpu]").expect("containers have limits");
//! assert_eq!(limits.shape(), Shape::Quantity);
//! assert_eq!(Kinds::gardener().list_key("", "v1", "Pod", "spec.containers"), Some(vec!["name".to_owned()]));
//! ```

pub mod admission_plugins;
mod crd;
mod definition_name;
mod definitions;
mod discovery;
mod document;
mod kinds;
mod kubernetes_version;
mod messages;
mod openapi;
mod path;
mod releases;
mod resource;
mod selectors;
mod shipped;
mod typed_kind;
mod types;

pub use crd::{Crd, CrdError, Scaling};
pub use kinds::Kinds;
pub use kubernetes_version::{KubernetesVersion, KubernetesVersionError};
pub use messages::{Encoding, Many, Message, MessageField};
pub use path::{PathError, Segment, segments};
pub use resource::{Group, GroupVersion, Resource, Subresource};
pub use shipped::crds;
pub use typed_kind::{BodyOfSubresource, PostedBody, TypedKind, TypedKindDetails, TypedKindError};
pub use types::{Field, IntegerWidth, ListKind, Patch, PatchStrategy, Shape, Type};
