//! Which verbs a client of a seed has for each resource: the table of the authorizer.

use crate::graph::VertexKind;
use crate::seed_identity::ClientKind;

/// What a client may do with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Verbs that are allowed without looking at the object.
    pub(super) always: &'static [&'static str],
    /// Verbs that need a path from the object to the client's seed.
    pub(super) path: &'static [&'static str],
    /// Subresources that are allowed.
    pub(super) subresources: &'static [&'static str],
    /// The objects' kind in the graph; `None` for Events, which are not in it.
    pub(super) vertex: Option<VertexKind>,
}

const CORE: &str = "core.gardener.cloud";
const READ: &[&str] = &["get", "list", "watch"];
const CREATE_AND_READ: &[&str] = &["create", "get", "list", "watch"];
const STATUS: &[&str] = &["status"];

/// The rule about a resource; `None` if the authorizer is not about it. ADM-AUT-008.
pub(super) fn rule(group: &str, resource: &str, client: ClientKind) -> Option<&'static Rule> {
    let of_extension = || EXTENSION_RULES.iter().find(|(of, _)| *of == (group, resource));
    let of_any = || RULES.iter().find(|(of, _)| *of == (group, resource));
    let found = match client {
        ClientKind::Extension => of_extension().or_else(of_any),
        ClientKind::Gardenlet => of_any(),
    };
    found.map(|(_, rule)| rule)
}

/// A rule for objects that are only read, by a path.
const fn read(vertex: VertexKind) -> Rule {
    Rule { always: &[], path: READ, subresources: &[], vertex: Some(vertex) }
}

const EVENTS: Rule = Rule { always: &["create", "patch"], path: &[], subresources: &[], vertex: None };

/// Rules of extensions that differ from those of gardenlets.
const EXTENSION_RULES: [((&str, &str), Rule); 3] = [
    (("certificates.k8s.io", "certificatesigningrequests"), read(VertexKind::CertificateSigningRequest)),
    (
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        Rule { path: &["get"], ..read(VertexKind::ClusterRoleBinding) },
    ),
    (("", "serviceaccounts"), Rule { path: &["get"], ..read(VertexKind::ServiceAccount) }),
];

/// Rules of gardenlets, and of extensions unless they have one of their own.
const RULES: [((&str, &str), Rule); 24] = [
    (
        (CORE, "backupbuckets"),
        Rule {
            always: CREATE_AND_READ,
            path: &["update", "patch", "delete"],
            subresources: STATUS,
            vertex: Some(VertexKind::BackupBucket),
        },
    ),
    (
        (CORE, "backupentries"),
        Rule {
            always: CREATE_AND_READ,
            path: &["update", "patch", "delete"],
            subresources: STATUS,
            vertex: Some(VertexKind::BackupEntry),
        },
    ),
    (
        ("operations.gardener.cloud", "bastions"),
        Rule {
            always: CREATE_AND_READ,
            path: &["update", "patch"],
            subresources: STATUS,
            vertex: Some(VertexKind::Bastion),
        },
    ),
    (
        ("certificates.k8s.io", "certificatesigningrequests"),
        Rule {
            always: &["create"],
            path: READ,
            subresources: &["seedclient"],
            vertex: Some(VertexKind::CertificateSigningRequest),
        },
    ),
    ((CORE, "cloudprofiles"), read(VertexKind::CloudProfile)),
    (
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        Rule {
            always: &["create"],
            path: &["get", "patch", "update"],
            subresources: &[],
            vertex: Some(VertexKind::ClusterRoleBinding),
        },
    ),
    (("", "configmaps"), read(VertexKind::ConfigMap)),
    ((CORE, "controllerdeployments"), read(VertexKind::ControllerDeployment)),
    (
        (CORE, "controllerinstallations"),
        Rule {
            always: READ,
            path: &["update", "patch"],
            subresources: STATUS,
            vertex: Some(VertexKind::ControllerInstallation),
        },
    ),
    (
        (CORE, "controllerregistrations"),
        Rule { always: READ, path: &[], subresources: &[], vertex: Some(VertexKind::ControllerRegistration) },
    ),
    (("", "events"), EVENTS),
    (("events.k8s.io", "events"), EVENTS),
    ((CORE, "exposureclasses"), read(VertexKind::ExposureClass)),
    (
        (CORE, "internalsecrets"),
        Rule {
            always: &["create"],
            path: &["get", "update", "patch", "delete", "list", "watch"],
            subresources: &[],
            vertex: Some(VertexKind::InternalSecret),
        },
    ),
    (
        ("coordination.k8s.io", "leases"),
        Rule {
            always: &["create"],
            path: &["get", "update", "patch", "list", "watch"],
            subresources: &[],
            vertex: Some(VertexKind::Lease),
        },
    ),
    (
        ("seedmanagement.gardener.cloud", "managedseeds"),
        Rule {
            always: READ,
            path: &["update", "patch"],
            subresources: STATUS,
            vertex: Some(VertexKind::ManagedSeed),
        },
    ),
    (("", "namespaces"), read(VertexKind::Namespace)),
    ((CORE, "projects"), read(VertexKind::Project)),
    ((CORE, "secretbindings"), read(VertexKind::SecretBinding)),
    (
        ("", "secrets"),
        Rule {
            always: &["create"],
            path: &["get", "patch", "update", "delete"],
            subresources: &[],
            vertex: Some(VertexKind::Secret),
        },
    ),
    (
        (CORE, "seeds"),
        Rule {
            always: &["create", "update", "patch", "delete", "get", "list", "watch"],
            path: &[],
            subresources: STATUS,
            vertex: Some(VertexKind::Seed),
        },
    ),
    (
        ("", "serviceaccounts"),
        Rule {
            always: &["create"],
            path: &["get", "patch", "update"],
            subresources: &[],
            vertex: Some(VertexKind::ServiceAccount),
        },
    ),
    (
        (CORE, "shoots"),
        Rule {
            always: READ,
            path: &["update", "patch"],
            subresources: STATUS,
            vertex: Some(VertexKind::Shoot),
        },
    ),
    (
        (CORE, "shootstates"),
        Rule {
            always: &["create"],
            path: &["get", "update", "patch", "delete", "list", "watch"],
            subresources: &[],
            vertex: Some(VertexKind::ShootState),
        },
    ),
];
