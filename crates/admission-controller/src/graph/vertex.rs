//! Vertices and edges of the graph.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// The kinds of objects in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the kinds")]
pub enum VertexKind {
    BackupBucket,
    BackupEntry,
    Bastion,
    CertificateSigningRequest,
    CloudProfile,
    ClusterRoleBinding,
    ConfigMap,
    ControllerDeployment,
    ControllerInstallation,
    ControllerRegistration,
    ExposureClass,
    InternalSecret,
    Lease,
    ManagedSeed,
    Namespace,
    Project,
    Secret,
    SecretBinding,
    Seed,
    ServiceAccount,
    Shoot,
    ShootState,
}

impl VertexKind {
    /// All kinds, in the order of their names.
    pub const ALL: [Self; 22] = [
        Self::BackupBucket,
        Self::BackupEntry,
        Self::Bastion,
        Self::CertificateSigningRequest,
        Self::CloudProfile,
        Self::ClusterRoleBinding,
        Self::ConfigMap,
        Self::ControllerDeployment,
        Self::ControllerInstallation,
        Self::ControllerRegistration,
        Self::ExposureClass,
        Self::InternalSecret,
        Self::Lease,
        Self::ManagedSeed,
        Self::Namespace,
        Self::Project,
        Self::Secret,
        Self::SecretBinding,
        Self::Seed,
        Self::ServiceAccount,
        Self::Shoot,
        Self::ShootState,
    ];

    /// The kind's name: `Shoot`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BackupBucket => "BackupBucket",
            Self::BackupEntry => "BackupEntry",
            Self::Bastion => "Bastion",
            Self::CertificateSigningRequest => "CertificateSigningRequest",
            Self::CloudProfile => "CloudProfile",
            Self::ClusterRoleBinding => "ClusterRoleBinding",
            Self::ConfigMap => "ConfigMap",
            Self::ControllerDeployment => "ControllerDeployment",
            Self::ControllerInstallation => "ControllerInstallation",
            Self::ControllerRegistration => "ControllerRegistration",
            Self::ExposureClass => "ExposureClass",
            Self::InternalSecret => "InternalSecret",
            Self::Lease => "Lease",
            Self::ManagedSeed => "ManagedSeed",
            Self::Namespace => "Namespace",
            Self::Project => "Project",
            Self::Secret => "Secret",
            Self::SecretBinding => "SecretBinding",
            Self::Seed => "Seed",
            Self::ServiceAccount => "ServiceAccount",
            Self::Shoot => "Shoot",
            Self::ShootState => "ShootState",
        }
    }

    /// The vertex of this kind and name in a namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: &str, name: &str) -> Vertex {
        Vertex { kind: self, namespace: namespace.into(), name: name.into() }
    }

    /// The cluster-scoped vertex of this kind and name.
    #[must_use]
    pub fn named(self, name: &str) -> Vertex {
        self.in_namespace("", name)
    }
}

/// An object. It need not exist: others may only refer to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vertex {
    /// Its kind.
    pub kind: VertexKind,
    /// Its namespace; empty if it is cluster-scoped.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl fmt::Display for Vertex {
    /// `Kind:namespace/name`, or `Kind:name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name } = self;
        if namespace.is_empty() {
            write!(f, "{}:{name}", kind.name())
        } else {
            write!(f, "{}:{namespace}/{name}", kind.name())
        }
    }
}

/// Who may work with `to` may work with `from`, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Where it begins.
    pub from: Vertex,
    /// Where it ends.
    pub to: Vertex,
    /// It holds after this time; `None`: always.
    pub after: Option<Timestamp>,
}

impl Edge {
    /// An edge that always holds.
    #[must_use]
    pub fn new(from: Vertex, to: &Vertex) -> Self {
        Self { from, to: to.clone(), after: None }
    }
}

/// Whether an edge that holds after a time holds now.
pub(super) fn holds(after: Option<Timestamp>, now: Timestamp) -> bool {
    after.is_none_or(|after| after < now)
}
