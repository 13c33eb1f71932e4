//! Gardener kinds and well-known keys. Types only.
//!
//! - [`garden`] — the garden's kinds, `core.gardener.cloud/v1beta1`;
//! - [`gardener`] — `gardener.cloud` and its extension groups;
//! - [`kubernetes`] — keys of Kubernetes itself that Gardener reads or writes;
//! - [`networking`] — `networking.gardener.cloud`;
//! - [`resources`] — `resources.gardener.cloud`: what the resource-manager reads and writes.

pub mod garden;
pub mod gardener;
pub mod kubernetes;
pub mod networking;
pub mod resources;
