//! A change of an object.

use std::sync::Arc;

/// One change, with the object before and after it.
#[derive(Debug)]
pub enum Event<K> {
    /// A new object; at the start, every existing object.
    Create(Arc<K>),
    /// An object was written; after a resync, both sides are the same object.
    Update {
        /// The object before the update.
        old: Arc<K>,
        /// The object after the update.
        new: Arc<K>,
    },
    /// An object was deleted; this is its last known state.
    Delete(Arc<K>),
    /// Something outside the cluster happened that concerns an object.
    Generic(Arc<K>),
}

impl<K> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Create(object) => Self::Create(object.clone()),
            Self::Update { old, new } => Self::Update { old: old.clone(), new: new.clone() },
            Self::Delete(object) => Self::Delete(object.clone()),
            Self::Generic(object) => Self::Generic(object.clone()),
        }
    }
}

impl<K> Event<K> {
    /// The current object, or its last state.
    #[must_use]
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Create(object)
            | Self::Update { new: object, .. }
            | Self::Delete(object)
            | Self::Generic(object) => object,
        }
    }

    /// The object before an update.
    #[must_use]
    pub fn old(&self) -> Option<&Arc<K>> {
        match self {
            Self::Update { old, .. } => Some(old),
            Self::Create(_) | Self::Delete(_) | Self::Generic(_) => None,
        }
    }
}
