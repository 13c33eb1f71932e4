//! Which changes count: functions over [`Event`], to be combined.
//!
//! A predicate of one's own is a closure: `|event| matches!(event, Event::Create(_))`.

use kube::Resource;

use super::event::Event;

/// A predicate whose kind of closure is forgotten, for [`any_of`] and [`all_of`].
pub type Predicate<K> = Box<dyn Fn(&Event<K>) -> bool + Send + Sync>;

/// Updates count only if `metadata.generation` changes; everything else does.
#[must_use]
pub fn generation_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().generation != event.object().meta().generation)
}

/// Updates count only if something was written, so not those of a resync; everything else does.
#[must_use]
pub fn resource_version_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().resource_version != event.object().meta().resource_version)
}

/// Updates count only if labels change; everything else does.
#[must_use]
pub fn labels_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().labels != event.object().meta().labels)
}

/// Updates count only if annotations change; everything else does.
#[must_use]
pub fn annotations_changed<K: Resource>(event: &Event<K>) -> bool {
    event.old().is_none_or(|old| old.meta().annotations != event.object().meta().annotations)
}

/// A change counts if the object, as it is or was at last, is as `holds` says.
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
