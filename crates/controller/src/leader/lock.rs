//! The Lease of the election: reads and conditional writes.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::PostParams;
use kube::{Api, Client, Resource as _};

use super::record::Record;

/// The Lease as it was last read or written.
pub(super) struct Lock {
    api: Api<Lease>,
    lease: Lease,
}

/// A write fails on a conflict with another writer, among others.
type Result<T> = std::result::Result<T, kube::Error>;

impl Lock {
    pub(super) fn new(client: Client, namespace: &str, name: &str) -> Self {
        let mut lease = Lease::default();
        lease.metadata.name = Some(name.to_owned());
        lease.metadata.namespace = Some(namespace.to_owned());
        Self { api: Api::namespaced(client, namespace), lease }
    }

    /// Reads the Lease; `None` if it does not exist.
    pub(super) async fn read(&mut self) -> Result<Option<Record>> {
        let name = self.lease.metadata.name.as_deref().unwrap_or_default();
        let Some(lease) = self.api.get_opt(name).await? else { return Ok(None) };
        self.lease = lease;
        Ok(Some(self.lease.spec.as_ref().map(Record::read).unwrap_or_default()))
    }

    /// Creates the Lease; fails if it exists.
    pub(super) async fn create(&mut self, record: &Record) -> Result<()> {
        let mut lease = Lease::default();
        lease.metadata.name.clone_from(&self.lease.metadata.name);
        lease.metadata.namespace.clone_from(&self.lease.metadata.namespace);
        record.write(lease.spec.get_or_insert_with(LeaseSpec::default));
        self.lease = self.api.create(&PostParams::default(), &lease).await?;
        Ok(())
    }

    /// Updates the Lease; fails if it has changed since it was last read or written.
    pub(super) async fn update(&mut self, record: &Record) -> Result<()> {
        let mut lease = self.lease.clone();
        record.write(lease.spec.get_or_insert_with(LeaseSpec::default));
        let name = lease.metadata.name.as_deref().unwrap_or_default();
        self.lease = self.api.replace(name, &PostParams::default(), &lease).await?;
        Ok(())
    }

    /// The Lease, for events.
    pub(super) fn reference(&self) -> ObjectReference {
        let resource_version = self.lease.metadata.resource_version.clone();
        ObjectReference { resource_version, ..self.lease.object_ref(&()) }
    }
}
