//! Project: a namespace of the garden and its members.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::reference::{Subject, Toleration};

kind! {
    /// A namespace of the garden with members.
    Project, "Project", "ProjectList", "projects", ClusterResourceScope {
        /// The specification.
        spec: ProjectSpec,
        /// The status.
        status: ProjectStatus,
    }
}

object! {
    /// The specification.
    ProjectSpec {
        /// Who created it.
        created_by: Option<Subject>,
        /// Description.
        description: Option<String>,
        /// The owner.
        owner: Option<Subject>,
        /// Purpose.
        purpose: Option<String>,
        /// Members and their roles.
        members: Vec<ProjectMember>,
        /// Its namespace.
        namespace: Option<String>,
        /// Taints of seeds that its shoots accept.
        tolerations: Option<ProjectTolerations>,
    }

    /// The status.
    ProjectStatus {
        /// The observed generation.
        observed_generation: Option<i64>,
        /// `Pending`, `Ready`, `Failed` or `Terminating`.
        phase: Option<String>,
        /// Since when it is unused (stale).
        stale_since_timestamp: Option<Time>,
        /// When it is deleted automatically because it is unused.
        stale_auto_delete_timestamp: Option<Time>,
        /// Time of the last activity.
        last_activity_timestamp: Option<Time>,
    }

    /// Members and their roles.
    ProjectMember {
        /// `User`, `Group` or `ServiceAccount`.
        kind: String,
        /// Group of that kind.
        api_group: Option<String>,
        /// Its name.
        name: String,
        /// Namespace of a ServiceAccount.
        namespace: Option<String>,
        /// The first role: `owner`, `admin`, `viewer`, `uam`, `serviceaccountmanager` or `extension:<name>`.
        role: String,
        /// The other roles.
        roles: Vec<String>,
    }

    /// Taints of seeds that a project's shoots accept.
    ProjectTolerations {
        /// Default tolerations of each shoot.
        defaults: Vec<Toleration>,
        /// Tolerations that a shoot may have.
        whitelist: Vec<Toleration>,
    }
}
