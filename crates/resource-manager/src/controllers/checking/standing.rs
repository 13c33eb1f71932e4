//! Which ManagedResources are checked, and which of their changes trigger a check.

use controller::Event;
use kube::Resource as _;

use crate::condition::{Condition, RESOURCES_APPLIED, Status};
use crate::managed_resource::{Class, ManagedResource};

/// Whether the objects of a ManagedResource are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// An annotation excludes the ManagedResource.
    Ignored,
    /// Another instance is responsible.
    Irresponsible,
    /// It is being deleted.
    Deleting,
    /// Not all objects have been applied.
    Unapplied,
    /// All objects have been applied, so they are checked.
    Applied,
}

/// Log messages for ManagedResources that are not checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) ignored: &'static str,
    pub(crate) irresponsible: &'static str,
    pub(crate) deleting: &'static str,
    pub(crate) unapplied: &'static str,
}

impl Words {
    pub(super) fn of(self, standing: Standing) -> Option<&'static str> {
        match standing {
            Standing::Ignored => Some(self.ignored),
            Standing::Irresponsible => Some(self.irresponsible),
            Standing::Deleting => Some(self.deleting),
            Standing::Unapplied => Some(self.unapplied),
            Standing::Applied => None,
        }
    }
}

impl Standing {
    /// GRM-HLT-040 to -045, GRM-PRG-020: objects are not checked until all are applied, because a second attempt may
    /// repair a failure of the first.
    pub(super) fn of(class: &Class, object: &ManagedResource) -> Self {
        let applied = Condition::find(&object.status.conditions, RESOURCES_APPLIED);
        if object.is_ignored() {
            Self::Ignored
        } else if !class.is_responsible(object) {
            Self::Irresponsible
        } else if object.meta().deletion_timestamp.is_some() {
            Self::Deleting
        } else if applied.is_none_or(|it| matches!(it.status, Status::Progressing | Status::False)) {
            Self::Unapplied
        } else {
            Self::Applied
        }
    }
}

/// GRM-HLT-066, GRM-HLT-067, GRM-HLT-070, GRM-HLT-072, GRM-PRG-021: a new ManagedResource triggers a check, as do
/// changes of its ResourcesApplied condition, its class, or its ignore annotation. A new status of the controller's
/// own condition, of type `own_condition`, triggers a check as well (GRM-PRG-032): the previous check compared with
/// the old status and may have written nothing. Messages do not count: some contain the age of an event, and would
/// trigger checks for ever.
pub(super) fn asks(class: &Class, told: &str, event: &Event<ManagedResource>) -> bool {
    let object = event.object();
    let changed = match event {
        Event::Create(_) | Event::Generic(_) => true,
        Event::Update { old, new } => {
            old.spec.class != new.spec.class
                || status(old, RESOURCES_APPLIED) != status(new, RESOURCES_APPLIED)
                || status(old, told) != status(new, told)
                || (old.is_ignored() && !new.is_ignored())
        }
        Event::Delete(_) => false,
    };
    changed && !object.is_ignored() && (class.may_act(object) || class.is_responsible(object))
}

fn status(object: &ManagedResource, kind: &str) -> Option<Status> {
    Condition::find(&object.status.conditions, kind).map(|condition| condition.status)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn object(changes: &Value) -> ManagedResource {
        let mut object = json!({
            "metadata": {"namespace": "default", "name": "mr", "annotations": {}, "labels": {}}, "spec": {},
            "status": {"conditions": [{"type": "ResourcesApplied", "status": "True"}]},
        });
        for (pointer, value) in changes.as_object().unwrap() {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            object.pointer_mut(parent).unwrap()[field] = value.clone();
        }
        serde_json::from_value(object).unwrap()
    }

    fn ignored(value: &str) -> ManagedResource {
        let mut object = object(&json!({}));
        object.metadata.annotations = Some([(api::resources::IGNORE.to_owned(), value.to_owned())].into());
        object
    }

    fn applied(status: &str) -> ManagedResource {
        object(&json!({"/status/conditions": [{"type": "ResourcesApplied", "status": status}]}))
    }

    /// ResourcesApplied is true, and another condition is false.
    fn told(kind: &str) -> ManagedResource {
        let conditions =
            json!([{"type": "ResourcesApplied", "status": "True"}, {"type": kind, "status": "False"}]);
        object(&json!({"/status/conditions": conditions}))
    }

    fn in_other_words(mut object: ManagedResource) -> ManagedResource {
        let told = object.status.conditions.last_mut().unwrap();
        told["message"] = json!("5s ago");
        told["lastUpdateTime"] = json!("2024-06-01T00:00:00Z");
        object
    }

    #[rstest]
    #[case::applied(applied("True"), Standing::Applied)]
    #[case::perhaps_applied(applied("Unknown"), Standing::Applied)]
    #[case::being_applied(applied("Progressing"), Standing::Unapplied)]
    #[case::not_applied(applied("False"), Standing::Unapplied)]
    #[case::nobody_knows(object(&json!({"/status/conditions": []})), Standing::Unapplied)]
    #[case::another_class(object(&json!({"/spec/class": "seed"})), Standing::Irresponsible)]
    #[case::going(object(&json!({"/metadata/deletionTimestamp": "2024-01-01T00:00:00Z"})), Standing::Deleting)]
    #[case::ignored(ignored("true"), Standing::Ignored)]
    #[case::not_ignored(ignored("no"), Standing::Applied)]
    fn which_managed_resources_are_checked(#[case] object: ManagedResource, #[case] standing: Standing) {
        assert_eq!(Standing::of(&Class::new(""), &object), standing);
    }

    #[rstest]
    #[case::nothing_changed(applied("True"), applied("True"), false)]
    #[case::applied(applied("Progressing"), applied("True"), true)]
    #[case::applied_first(object(&json!({"/status/conditions": []})), applied("True"), true)]
    #[case::no_longer_applied(applied("True"), object(&json!({"/status/conditions": []})), true)]
    #[case::our_class(object(&json!({"/spec/class": "seed"})), applied("True"), true)]
    #[case::another_class(applied("True"), object(&json!({"/spec/class": "seed"})), false)]
    #[case::another_that_we_hold(
        applied("True"),
        object(&json!({"/spec/class": "seed", "/metadata/finalizers": [Class::new("").finalizer()]})),
        true
    )]
    #[case::no_longer_ignored(ignored("true"), applied("True"), true)]
    #[case::told(applied("True"), told("ResourcesHealthy"), true)]
    #[case::told_in_other_words(told("ResourcesHealthy"), in_other_words(told("ResourcesHealthy")), false)]
    #[case::told_by_another(applied("True"), told("ResourcesProgressing"), false)]
    #[case::ignored_now(applied("Progressing"), ignored("true"), false)]
    fn which_updates_trigger_a_check(
        #[case] old: ManagedResource,
        #[case] new: ManagedResource,
        #[case] wanted: bool,
    ) {
        let event = Event::Update { old: Arc::new(old), new: Arc::new(new) };
        assert_eq!(asks(&Class::new(""), "ResourcesHealthy", &event), wanted);
    }

    #[test]
    fn a_creation_triggers_a_check_and_a_deletion_does_not() {
        let class = Class::new("");
        let object = Arc::new(applied("True"));
        assert!(asks(&class, "ResourcesHealthy", &Event::Create(object.clone())));
        assert!(!asks(&class, "ResourcesHealthy", &Event::Create(Arc::new(ignored("1")))));
        assert!(!asks(&class, "ResourcesHealthy", &Event::Delete(object)));
    }
}
