//! How the operator waits until a component is there or gone, and takes it down.

use std::time::Duration;

use super::NAMESPACE;
use super::access;
use super::rendering::ObjectName;

/// The pause between two looks at a ManagedResource.
pub const PAUSE: Duration = Duration::from_secs(2);

/// How the operator waits for a component, and takes it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// What is awaited after it was deployed, one after the other; nothing for components that no other needs. OPC-137.
    pub deployed: Vec<ManagedWait>,
    /// What is deleted, in this order.
    pub removal: Vec<RemovalStep>,
    /// What must be gone then, awaited one after the other.
    pub removed: Vec<ManagedWait>,
}

/// A wait for ManagedResources: until they are healthy after a deployment, until they are gone after a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedWait {
    /// Their namespace, mostly `garden`.
    pub namespace: String,
    /// Their names; all are awaited at once.
    pub names: Vec<String>,
    /// Whether they must not be progressing either.
    pub is_rolled_out: bool,
    /// After this time the wait fails.
    pub within: Duration,
}

/// Something to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalStep {
    /// A ManagedResource in the namespace `garden`: its Secrets, then itself.
    Managed(String),
    /// An object; one that is absent, or whose kind is not served, is no failure.
    Object(ObjectName),
}

impl Lifecycle {
    /// A client of the virtual cluster with a ManagedResource in each cluster and an access Secret; both ManagedResources are awaited
    /// together, for five minutes.
    #[must_use]
    pub fn of_client(client: &str) -> Self {
        let [runtime, in_virtual] = [format!("{client}-runtime"), format!("{client}-virtual")];
        let both = ManagedWait::of(&[&runtime, &in_virtual], Duration::from_mins(5));
        Self {
            deployed: vec![both.clone()],
            removal: vec![
                RemovalStep::Managed(in_virtual),
                RemovalStep::Managed(runtime),
                RemovalStep::secret(&access::secret_name(client)),
            ],
            removed: vec![both],
        }
    }

    /// One ManagedResource, which is awaited for two minutes.
    #[must_use]
    pub fn of_managed(name: &str) -> Self {
        let wait = ManagedWait::of(&[name], Duration::from_mins(2));
        let removal = vec![RemovalStep::Managed(name.to_owned())];
        Self { deployed: vec![wait.clone()], removal, removed: vec![wait] }
    }

    /// The same, but nothing is awaited after a deployment.
    #[must_use]
    pub fn unawaited(self) -> Self {
        Self { deployed: Vec::new(), ..self }
    }
}

impl ManagedWait {
    /// A wait for ManagedResources in the namespace `garden`.
    #[must_use]
    pub fn of(names: &[&str], within: Duration) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Self { namespace: NAMESPACE.to_owned(), names, is_rolled_out: false, within }
    }

    /// The same, and until they are not progressing any more.
    #[must_use]
    pub fn rolled_out(self) -> Self {
        Self { is_rolled_out: true, ..self }
    }
}

impl RemovalStep {
    /// A Secret in the namespace `garden`.
    #[must_use]
    pub fn secret(name: &str) -> Self {
        Self::Object(ObjectName::in_garden("v1", "Secret", name))
    }
}
