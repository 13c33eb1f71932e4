//! The settings of an instance.

use std::time::Duration;

use crate::managed_resource::Class;

/// The settings of an instance.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The class of its ManagedResources.
    pub(super) class: Class,
    /// Its finalizer on ManagedResources.
    pub(super) finalizer: String,
    /// Identity of the source cluster; empty if unknown.
    pub(super) cluster_id: String,
    /// Value of the label on managed objects.
    pub(super) managed_by: String,
    /// Whether to write objects even if nothing differs.
    pub(super) always_update: bool,
    /// Whether the garbage collector runs.
    pub(super) collects_garbage: bool,
    /// Time between two passes.
    pub(super) period: Duration,
    /// How long one step may take.
    pub(super) timeout: Duration,
}
