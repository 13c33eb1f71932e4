//! Which ManagedResources are looked at, and which of their changes ask for it.

use controller::Event;
use kube::{Resource as _, ResourceExt as _};

use crate::condition::{Condition, RESOURCES_APPLIED, Status};
use crate::managed_resource::{Class, ManagedResource};
use crate::strconv;

/// Whether the objects of a ManagedResource are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It says that it is to be left alone.
    Ignored,
    /// It is another instance's.
    Irresponsible,
    /// It goes.
    Deleting,
    /// Not everything has been applied.
    Unapplied,
    /// They are.
    Applied,
}

/// What the log says of ManagedResources that are not looked at.
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
    /// GRM-HLT-040 to -045, GRM-PRG-020: what was not applied is not looked at, because a first try may fail that a second one
    /// mends.
    pub(super) fn of(class: &Class, object: &ManagedResource) -> Self {
        let applied = Condition::find(&object.status.conditions, RESOURCES_APPLIED);
        if is_ignored(object) {
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

/// GRM-HLT-066, GRM-HLT-067, GRM-PRG-021: a ManagedResource is looked at when it comes, when its objects have been
/// applied, when its class changes, and when it is no longer ignored.
pub(super) fn asks(class: &Class, event: &Event<ManagedResource>) -> bool {
    let object = event.object();
    let changed = match event {
        Event::Create(_) | Event::Generic(_) => true,
        Event::Update { old, new } => {
            old.spec.class != new.spec.class
                || applied(old) != applied(new)
                || (is_ignored(old) && !is_ignored(new))
        }
        Event::Delete(_) => false,
    };
    changed && !is_ignored(object) && (class.may_act(object) || class.is_responsible(object))
}

fn applied(object: &ManagedResource) -> Option<Status> {
    Condition::find(&object.status.conditions, RESOURCES_APPLIED).map(|condition| condition.status)
}

fn is_ignored(object: &ManagedResource) -> bool {
    object.annotations().get(api::resources::IGNORE).is_some_and(|value| strconv::is_true(value))
}
