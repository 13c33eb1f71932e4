//! Keys of indexes over stores: `namespace/name`.

use kube::{Resource, ResourceExt as _};

/// The key of an object that a reference names; a missing part is empty.
pub(super) fn of_reference(namespace: Option<&str>, name: Option<&str>) -> String {
    format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default())
}

/// The key of an object.
pub(super) fn of(object: &impl Resource) -> String {
    of_reference(object.meta().namespace.as_deref(), Some(&object.name_any()))
}
