//! Which instance is responsible for a ManagedResource, and which may process it.

use api::resources::{DEFAULT_CLASS as DEFAULT, FINALIZER};
use kube::ResourceExt as _;

use super::ManagedResource;

/// The class of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class(String);

impl Class {
    /// The class with this name; an empty name is the default class.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(if name.is_empty() { DEFAULT } else { name }.to_owned())
    }

    /// The finalizer of instances of this class.
    #[must_use]
    pub fn finalizer(&self) -> String {
        if self.0 == DEFAULT { FINALIZER.to_owned() } else { format!("{FINALIZER}-{}", self.0) }
    }

    /// Whether an instance of this class is responsible for the ManagedResource.
    #[must_use]
    pub fn is_responsible(&self, object: &ManagedResource) -> bool {
        let class = object.spec.class.as_deref().unwrap_or_default();
        class == self.0 || (class.is_empty() && self.0 == DEFAULT)
    }

    /// Whether an instance of this class may act: the ManagedResource has its finalizer, or it is responsible and
    /// there is no other one.
    #[must_use]
    pub fn may_act(&self, object: &ManagedResource) -> bool {
        let own = self.finalizer();
        let held = object.finalizers().contains(&own);
        let busy = object.finalizers().iter().any(|finalizer| finalizer.starts_with(FINALIZER));
        held || (!busy && self.is_responsible(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::managed_resource::ManagedResourceSpec;

    fn object(finalizer: Option<&str>, class: Option<&str>) -> ManagedResource {
        let mut object = ManagedResource {
            spec: ManagedResourceSpec { class: class.map(str::to_owned), ..Default::default() },
            ..Default::default()
        };
        object.metadata.finalizers = finalizer.map(|class| vec![Class::new(class).finalizer()]);
        object
    }

    #[test]
    fn the_finalizer_decides_who_acts_and_the_class_who_is_responsible() {
        let table = [
            (Some(""), None, "", (true, true)),
            (Some(""), Some("new"), "", (true, false)),
            (Some(""), Some("new"), "new", (false, true)),
            (Some("new"), Some("new"), "", (false, false)),
            (None, Some("new"), "new", (true, true)),
            (None, None, "", (true, true)),
            (None, None, "new", (false, false)),
            (None, Some("resources"), "", (true, true)),
        ];
        for (finalizer, class, own, (acts, responsible)) in table {
            let (object, own) = (object(finalizer, class), Class::new(own));
            let got = (own.may_act(&object), own.is_responsible(&object));
            assert_eq!(got, (acts, responsible), "held by {finalizer:?}, class {class:?}, seen by {own:?}");
        }
    }

    #[test]
    fn the_finalizer_names_every_class_but_the_default() {
        assert_eq!(Class::new("").finalizer(), "resources.gardener.cloud/gardener-resource-manager");
        assert_eq!(Class::new("seed").finalizer(), "resources.gardener.cloud/gardener-resource-manager-seed");
    }
}
