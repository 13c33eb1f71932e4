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
    /// Objects of which something is awaited after it was deployed, all at once.
    pub ready: Vec<ObjectWait>,
    /// What is deleted, in this order.
    pub removal: Vec<RemovalStep>,
    /// What must be gone then, awaited one after the other.
    pub removed: Vec<ManagedWait>,
    /// Objects that must be gone then, too.
    pub gone: Vec<ObjectWait>,
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

/// A wait for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectWait {
    /// The object.
    pub object: ObjectName,
    /// What is awaited of it.
    pub state: AwaitedState,
    /// The pause between two looks at it.
    pub every: Duration,
    /// After this time the wait fails; `None`: with the reconciliation.
    pub within: Option<Duration>,
}

/// What is awaited of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedState {
    /// A Deployment is healthy; an absent one is an error at once.
    Healthy,
    /// A Deployment is healthy, not progressing, and has as many Pods as it shall have.
    RolledOut,
    /// The same; after a failure, the error contains so many last lines of its newest Pod's log. OPC-101.
    RolledOutOrLogs(u32),
    /// An Etcd is ready after etcd-druid has begun and ended the operation of the last deployment, which its time tells. The wait
    /// fails after three minutes of errors. OPC-064.
    EtcdReady,
    /// A Service of type LoadBalancer has an address. OPC-069.
    LoadBalancer,
    /// The object is gone.
    Gone,
}

/// Something to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalStep {
    /// A ManagedResource in the namespace `garden`: its Secrets, then itself.
    Managed(String),
    /// The same in another namespace.
    ManagedIn {
        /// The namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A ManagedResource in the namespace `garden`, and the Secret that it had before Secrets had unique names; its Secret of now stays.
    ManagedAlone(String),
    /// A wait until ManagedResources are gone, before the next step.
    AwaitGone(ManagedWait),
    /// The annotations with which a deletion is confirmed, and the time, on an object; one that is absent is no failure.
    Confirm(ObjectName),
    /// An object; one that is absent, or whose kind is not served, is no failure.
    Object(ObjectName),
    /// The Secret that answered a request of the secrets manager in this run, by the name of the request; none is no failure. A
    /// deletion requests nothing: what is left goes when the manager cleans up.
    Generated(String),
    /// Nothing is deleted here: the removal fails while objects of a kind exist.
    RequireNone(RequiredAbsence),
}

/// A kind of which no object may exist in any namespace. One that is not served has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequiredAbsence {
    /// Such as `apps/v1`.
    pub api_version: &'static str,
    /// Such as `Deployment`.
    pub kind: &'static str,
    /// Why the removal fails while there is one.
    pub refusal: &'static str,
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
            ..Self::default()
        }
    }

    /// One ManagedResource, which is awaited for two minutes.
    #[must_use]
    pub fn of_managed(name: &str) -> Self {
        let wait = ManagedWait::of(&[name], Duration::from_mins(2));
        let removal = vec![RemovalStep::Managed(name.to_owned())];
        Self { deployed: vec![wait.clone()], removal, removed: vec![wait], ..Self::default() }
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

    /// The same in another namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self }
    }

    /// The same, and until they are not progressing any more.
    #[must_use]
    pub fn rolled_out(self) -> Self {
        Self { is_rolled_out: true, ..self }
    }
}

impl ObjectWait {
    /// A wait for a Deployment in the namespace `garden`.
    #[must_use]
    pub fn deployment(name: &str, state: AwaitedState, within: Duration) -> Self {
        Self::every_five_seconds(ObjectName::in_garden("apps/v1", "Deployment", name), state, within)
    }

    /// A wait with a look every five seconds.
    #[must_use]
    pub fn every_five_seconds(object: ObjectName, state: AwaitedState, within: Duration) -> Self {
        Self { object, state, every: Duration::from_secs(5), within: Some(within) }
    }
}

impl RemovalStep {
    /// An object in the namespace `garden`.
    #[must_use]
    pub fn object(api_version: &str, kind: &str, name: &str) -> Self {
        Self::Object(ObjectName::in_garden(api_version, kind, name))
    }

    /// An object of the cluster.
    #[must_use]
    pub fn cluster_object(api_version: &str, kind: &str, name: &str) -> Self {
        Self::Object(ObjectName::in_cluster(api_version, kind, name))
    }

    /// A Secret in the namespace `garden`.
    #[must_use]
    pub fn secret(name: &str) -> Self {
        Self::Object(ObjectName::in_garden("v1", "Secret", name))
    }
}
