//! What is to be done with a ManagedResource, all in all.

use kube::ResourceExt as _;

use crate::managed_resource::{Class, ManagedResource};

/// What is to be done with a ManagedResource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// Nothing: it is another class's, or it is told to wait.
    LeaveAlone,
    /// It is told that it is ignored.
    Ignore,
    /// Its objects are deleted, then our finalizer goes.
    Delete,
    /// Another class has not let it go yet.
    Wait,
    /// Its objects are applied.
    Apply,
}

/// GRM-MR-070, GRM-MR-071, GRM-MR-072, GRM-MR-074, GRM-MR-075, GRM-MR-080, GRM-MR-082, GRM-MR-064 and GRM-MR-172.
#[must_use]
pub(super) fn path(class: &Class, object: &ManagedResource) -> Path {
    let (acts, is_responsible) = (class.may_act(object), class.is_responsible(object));
    let is_deleting = object.metadata.deletion_timestamp.is_some();
    if operation(object) == Some(api::gardener::OPERATION_WAIT_FOR_STATE) || !(acts || is_responsible) {
        return Path::LeaveAlone;
    }
    if object.is_ignored() && !is_deleting {
        return Path::Ignore;
    }
    match (is_deleting, acts, is_responsible) {
        (true, _, _) | (_, true, false) => Path::Delete,
        (false, false, _) => Path::Wait,
        (false, true, true) => Path::Apply,
    }
}

/// What somebody asks to be done with a ManagedResource.
#[must_use]
pub(super) fn operation(object: &ManagedResource) -> Option<&str> {
    object.annotations().get(api::gardener::OPERATION).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Class, finalizer's class, whether it is deleted, annotation.
    fn object(
        class: &str,
        held: Option<&str>,
        deleting: bool,
        annotation: Option<(&str, &str)>,
    ) -> ManagedResource {
        let finalizers: Vec<String> = held.map(|class| Class::new(class).finalizer()).into_iter().collect();
        let annotations: std::collections::BTreeMap<_, _> = annotation.into_iter().collect();
        let mut object = json!({"metadata": {"finalizers": finalizers, "annotations": annotations}, "spec": {"class": class}});
        if deleting {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn class_finalizer_and_annotations_decide() {
        let ignore = Some((api::resources::IGNORE, "true"));
        let wait = Some((api::gardener::OPERATION, "wait-for-state"));
        let table = [
            ("", None, false, None, Path::Apply),
            ("", Some(""), false, None, Path::Apply),
            ("seed", None, false, None, Path::LeaveAlone),
            ("seed", Some("seed"), true, None, Path::LeaveAlone),
            ("seed", Some(""), false, None, Path::Delete),
            ("", Some("seed"), false, None, Path::Wait),
            ("", Some(""), true, None, Path::Delete),
            ("", None, true, None, Path::Delete),
            ("", Some(""), false, ignore, Path::Ignore),
            ("", Some(""), true, ignore, Path::Delete),
            ("seed", None, false, ignore, Path::LeaveAlone),
            ("", Some(""), false, wait, Path::LeaveAlone),
            ("", Some(""), true, wait, Path::LeaveAlone),
        ];
        for (class, held, deleting, annotation, wanted) in table {
            let got = path(&Class::new(""), &object(class, held, deleting, annotation));
            assert_eq!(got, wanted, "class {class:?}, held by {held:?}, deleted: {deleting}, {annotation:?}");
        }
    }
}
