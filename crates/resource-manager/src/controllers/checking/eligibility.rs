//! Which ManagedResources are checked, and which of their changes trigger a check.

use controller::Event;
use kube::Resource as _;

use crate::condition::{Condition, RESOURCES_APPLIED, Status};
use crate::managed_resource::{Class, ManagedResource};

/// Whether the objects of a ManagedResource are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eligibility {
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
pub(crate) struct SkipMessages {
    pub(crate) ignored: &'static str,
    pub(crate) irresponsible: &'static str,
    pub(crate) deleting: &'static str,
    pub(crate) unapplied: &'static str,
}

impl SkipMessages {
    pub(super) fn of(self, eligibility: Eligibility) -> Option<&'static str> {
        match eligibility {
            Eligibility::Ignored => Some(self.ignored),
            Eligibility::Irresponsible => Some(self.irresponsible),
            Eligibility::Deleting => Some(self.deleting),
            Eligibility::Unapplied => Some(self.unapplied),
            Eligibility::Applied => None,
        }
    }
}

impl Eligibility {
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
pub(super) fn triggers_check(class: &Class, own_condition: &str, event: &Event<ManagedResource>) -> bool {
    let object = event.object();
    let changed = match event {
        Event::Create(_) | Event::Generic(_) => true,
        Event::Update { old, new } => {
            old.spec.class != new.spec.class
                || status(old, RESOURCES_APPLIED) != status(new, RESOURCES_APPLIED)
                || status(old, own_condition) != status(new, own_condition)
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
    fn applied_with(kind: &str) -> ManagedResource {
        let conditions =
            json!([{"type": "ResourcesApplied", "status": "True"}, {"type": kind, "status": "False"}]);
        object(&json!({"/status/conditions": conditions}))
    }

    fn with_other_message(mut object: ManagedResource) -> ManagedResource {
        let condition = object.status.conditions.last_mut().unwrap();
        condition["message"] = json!("5s ago");
        condition["lastUpdateTime"] = json!("2024-06-01T00:00:00Z");
        object
    }

    #[rstest]
    #[case::applied(applied("True"), Eligibility::Applied)]
    #[case::perhaps_applied(applied("Unknown"), Eligibility::Applied)]
    #[case::being_applied(applied("Progressing"), Eligibility::Unapplied)]
    #[case::not_applied(applied("False"), Eligibility::Unapplied)]
    #[case::never_applied(object(&json!({"/status/conditions": []})), Eligibility::Unapplied)]
    #[case::another_class(object(&json!({"/spec/class": "seed"})), Eligibility::Irresponsible)]
    #[case::going(object(&json!({"/metadata/deletionTimestamp": "2024-01-01T00:00:00Z"})), Eligibility::Deleting)]
    #[case::ignored(ignored("true"), Eligibility::Ignored)]
    #[case::not_ignored(ignored("no"), Eligibility::Applied)]
    fn which_managed_resources_are_checked(
        #[case] object: ManagedResource,
        #[case] eligibility: Eligibility,
    ) {
        assert_eq!(Eligibility::of(&Class::new(""), &object), eligibility);
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
    #[case::another_status_of_our_own(applied("True"), applied_with("ResourcesHealthy"), true)]
    #[case::only_the_message_changed(
        applied_with("ResourcesHealthy"),
        with_other_message(applied_with("ResourcesHealthy")),
        false
    )]
    #[case::another_status_of_others(applied("True"), applied_with("ResourcesProgressing"), false)]
    #[case::ignored_now(applied("Progressing"), ignored("true"), false)]
    fn which_updates_trigger_a_check(
        #[case] old: ManagedResource,
        #[case] new: ManagedResource,
        #[case] wanted: bool,
    ) {
        let event = Event::Update { old: Arc::new(old), new: Arc::new(new) };
        assert_eq!(triggers_check(&Class::new(""), "ResourcesHealthy", &event), wanted);
    }

    #[test]
    fn a_creation_triggers_a_check_and_a_deletion_does_not() {
        let class = Class::new("");
        let object = Arc::new(applied("True"));
        assert!(triggers_check(&class, "ResourcesHealthy", &Event::Create(object.clone())));
        assert!(!triggers_check(&class, "ResourcesHealthy", &Event::Create(Arc::new(ignored("1")))));
        assert!(!triggers_check(&class, "ResourcesHealthy", &Event::Delete(object)));
    }
}
