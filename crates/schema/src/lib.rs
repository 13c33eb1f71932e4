//! What is known of kinds, Kubernetes' and Gardener's: discovery, types, list and merge keys. Generated data, no IO.
//!
//! Start at [`Kinds`]: [`Kinds::kubernetes`] knows the built-in kinds of Kubernetes 1.36, [`Kinds::gardener`] those and
//! the custom resources that come with the project ([`crds`]). A kind's [`Type`] tells of every field what it holds,
//! whether a list has keys, and how a patch treats it; a [`Message`] how a kind lies in protobuf.
//!
//! ```
//! use schema::{Kinds, Shape};
//! let pod = Kinds::gardener().type_of("", "v1", "Pod").expect("Kubernetes knows pods");
//! let limits = pod.at("spec.containers[].resources.limits[cpu]").expect("containers have limits");
//! assert_eq!(limits.shape(), Shape::Quantity);
//! assert_eq!(Kinds::gardener().list_key("", "v1", "Pod", "spec.containers"), Some(vec!["name".to_owned()]));
//! ```

mod crd;
mod definitions;
mod discovery;
mod document;
mod kinds;
mod messages;
mod named;
mod openapi;
mod path;
mod resource;
mod selectors;
mod shipped;
mod types;

pub use crd::{Crd, CrdError, Scaling};
pub use kinds::Kinds;
pub use messages::{Encoding, Many, Message, MessageField};
pub use path::{PathError, Segment, segments};
pub use resource::{Group, GroupVersion, Resource, Subresource};
pub use shipped::crds;
pub use types::{Field, IntegerWidth, ListKind, Patch, PatchStrategy, Shape, Type};
