//! Predicates: functions over [`Event`] that decide which changes count. They can be combined.
//!
//! A closure can be a predicate too: `|event| matches!(event, Event::Create(_))`.

use kube::Resource;

use super::event::Event;

/// A predicate of any type, for [`any_of`] and [`all_of`].
pub type Predicate<K> = Box<dyn Fn(&Event<K>) -> bool + Send + Sync>;

/// An update counts only if `metadata.generation` changed; other events always count.
#[must_use]
pub fn generation_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().generation != event.object().meta().generation)
}

/// An update counts only if the object was written, so not after a resync; other events always count.
#[must_use]
pub fn resource_version_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().resource_version != event.object().meta().resource_version)
}

/// An update counts only if labels changed; other events always count.
#[must_use]
pub fn labels_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().labels != event.object().meta().labels)
}

/// An update counts only if annotations changed; other events always count.
#[must_use]
pub fn annotations_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().annotations != event.object().meta().annotations)
}

/// A change counts if `holds` is true for the current object or its last state.
pub fn object<K>(holds: impl Fn(&K) -> bool + Send + Sync) -> impl Fn(&Event<K>) -> bool + Send + Sync {
    move |event| holds(event.object())
}

/// A change counts if one of the predicates holds.
pub fn any_of<K>(predicates: Vec<Predicate<K>>) -> impl Fn(&Event<K>) -> bool + Send + Sync {
    move |event| predicates.iter().any(|holds| holds(event))
}

/// A change counts if all the predicates hold.
pub fn all_of<K>(predicates: Vec<Predicate<K>>) -> impl Fn(&Event<K>) -> bool + Send + Sync {
    move |event| predicates.iter().all(|holds| holds(event))
}

/// A change counts if the predicate does not hold.
pub fn not<K>(
    predicate: impl Fn(&Event<K>) -> bool + Send + Sync,
) -> impl Fn(&Event<K>) -> bool + Send + Sync {
    move |event| !predicate(event)
}
