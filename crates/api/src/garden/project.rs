//! Project: who may do what in a namespace of the garden.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::reference::{Subject, Toleration};

kind! {
    /// A namespace of the garden with members.
    Project, "Project", "ProjectList", "projects", ClusterResourceScope {
        /// What it is to be.
        spec: ProjectSpec,
        /// What has become of it.
        status: ProjectStatus,
    }
}

object! {
    /// What it is to be.
    ProjectSpec {
        /// Who made it.
        created_by: Option<Subject>,
        /// What it is, in a sentence.
        description: Option<String>,
        /// Who answers for it.
        owner: Option<Subject>,
        /// What it is for.
        purpose: Option<String>,
        /// Who may do what.
        members: Vec<ProjectMember>,
        /// Its namespace.
        namespace: Option<String>,
        /// Taints of seeds that its shoots accept.
        tolerations: Option<ProjectTolerations>,
    }

    /// What has become of it.
    ProjectStatus {
        /// The generation that was handled last.
        observed_generation: Option<i64>,
        /// `Pending`, `Ready`, `Failed` or `Terminating`.
        phase: Option<String>,
        /// Since when nobody has used it.
        stale_since_timestamp: Option<Time>,
        /// When it is deleted because nobody uses it.
        stale_auto_delete_timestamp: Option<Time>,
        /// When somebody used it last.
        last_activity_timestamp: Option<Time>,
    }

    /// Who may do what.
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
        /// What each shoot gets.
        defaults: Vec<Toleration>,
        /// What a shoot may say by itself.
        whitelist: Vec<Toleration>,
    }
}
