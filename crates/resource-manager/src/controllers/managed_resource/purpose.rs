//! The purpose of a pass over a ManagedResource.

use kube::ResourceExt as _;

use crate::managed_resource::{Class, ManagedResource};

/// The purpose of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// None: another class is responsible, or an annotation makes it wait.
    LeaveAlone,
    /// Write to its status that it is ignored.
    Ignore,
    /// Delete its objects, then remove our finalizer.
    Delete,
    /// Wait until another class has removed its finalizer.
    Wait,
    /// Apply its objects.
    Apply,
}

/// GRM-MR-070, GRM-MR-071, GRM-MR-072, GRM-MR-074, GRM-MR-075, GRM-MR-080, GRM-MR-082, GRM-MR-064 and GRM-MR-172.
#[must_use]
pub(super) fn purpose(class: &Class, object: &ManagedResource) -> Purpose {
    let (acts, is_responsible) = (class.may_act(object), class.is_responsible(object));
    let is_deleting = object.metadata.deletion_timestamp.is_some();
    if operation(object) == Some(api::gardener::OPERATION_WAIT_FOR_STATE) || !(acts || is_responsible) {
        return Purpose::LeaveAlone;
    }
    if object.is_ignored() && !is_deleting {
        return Purpose::Ignore;
    }
    match (is_deleting, acts, is_responsible) {
        (true, _, _) | (_, true, false) => Purpose::Delete,
        (false, false, _) => Purpose::Wait,
        (false, true, true) => Purpose::Apply,
    }
}

/// The operation that an annotation requests.
#[must_use]
pub(super) fn operation(object: &ManagedResource) -> Option<&str> {
    object.annotations().get(api::gardener::OPERATION).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A ManagedResource with a class, the finalizer of a class, a deletion timestamp and an annotation.
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
            ("", None, false, None, Purpose::Apply),
            ("", Some(""), false, None, Purpose::Apply),
            ("seed", None, false, None, Purpose::LeaveAlone),
            ("seed", Some("seed"), true, None, Purpose::LeaveAlone),
            ("seed", Some(""), false, None, Purpose::Delete),
            ("", Some("seed"), false, None, Purpose::Wait),
            ("", Some(""), true, None, Purpose::Delete),
            ("", None, true, None, Purpose::Delete),
            ("", Some(""), false, ignore, Purpose::Ignore),
            ("", Some(""), true, ignore, Purpose::Delete),
            ("seed", None, false, ignore, Purpose::LeaveAlone),
            ("", Some(""), false, wait, Purpose::LeaveAlone),
            ("", Some(""), true, wait, Purpose::LeaveAlone),
        ];
        for (class, held, deleting, annotation, wanted) in table {
            let got = purpose(&Class::new(""), &object(class, held, deleting, annotation));
            assert_eq!(got, wanted, "class {class:?}, held by {held:?}, deleted: {deleting}, {annotation:?}");
        }
    }
}
