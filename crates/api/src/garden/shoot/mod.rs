//! Shoot: a cluster that Gardener runs for somebody.

pub mod addons;
pub mod api_server;
pub mod autoscaling;
pub mod control_plane;
pub mod credentials;
pub mod dns;
pub mod kubelet;
pub mod kubernetes;
pub mod machine;
pub mod maintenance;
pub mod status;
pub mod system_components;
pub mod worker;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use self::addons::Addons;
use self::control_plane::ControlPlane;
use self::dns::Dns;
use self::kubernetes::Kubernetes;
use self::maintenance::{Hibernation, Maintenance};
use self::status::ShootStatus;
use self::system_components::SystemComponents;
use self::worker::Provider;
use super::reference::{NamedResourceReference, SeedSelector, Toleration};

kind! {
    /// A cluster that Gardener runs for somebody.
    Shoot, "Shoot", "ShootList", "shoots", NamespaceResourceScope {
        /// What it is to be.
        spec: ShootSpec,
        /// What has become of it.
        status: ShootStatus,
    }
}

object! {
    /// A Shoot that is to be made.
    ShootTemplate {
        /// Its labels and annotations.
        metadata: ObjectMeta,
        /// What it is to be.
        spec: ShootSpec,
    }

    /// What a shoot is to be.
    ShootSpec {
        /// What is installed in it beyond Kubernetes.
        addons: Option<Addons>,
        /// The CloudProfile it chooses from; never changes.
        cloud_profile_name: String,
        /// Its domain.
        dns: Option<Dns>,
        /// What extensions do for it.
        extensions: Vec<Extension>,
        /// Whether and when it sleeps.
        hibernation: Option<Hibernation>,
        /// Version and settings of Kubernetes.
        kubernetes: Kubernetes,
        /// Its networks.
        networking: Option<Networking>,
        /// When it is maintained, and what that may change.
        maintenance: Option<Maintenance>,
        /// Who is told of alerts.
        monitoring: Option<Monitoring>,
        /// Where it runs, and its workers.
        provider: Provider,
        /// `evaluation`, `testing`, `development`, `production` or `infrastructure`.
        purpose: Option<String>,
        /// The region; never changes.
        region: String,
        /// The SecretBinding with the provider's credentials; never changes.
        secret_binding_name: Option<String>,
        /// The seed that runs its control plane.
        seed_name: Option<String>,
        /// Seeds that may.
        seed_selector: Option<SeedSelector>,
        /// Objects of its namespace that configurations of extensions name.
        resources: Vec<NamedResourceReference>,
        /// Taints of seeds that it accepts.
        tolerations: Vec<Toleration>,
        /// How its API server is reached; never changes.
        exposure_class_name: Option<String>,
        /// Settings of DNS in it.
        system_components: Option<SystemComponents>,
        /// What its control plane survives.
        control_plane: Option<ControlPlane>,
        /// Who schedules it; absent for gardener-scheduler.
        scheduler_name: Option<String>,
    }

    /// What an extension does for a shoot.
    Extension {
        /// Type of the extension.
        #[serde(rename = "type")]
        type_: String,
        /// What only the extension knows.
        provider_config: Option<Value>,
        /// True switches off what every shoot has.
        disabled: Option<bool>,
    }

    /// Networks of a shoot.
    Networking {
        /// The network plugin; never changes.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// What only the plugin's extension knows.
        provider_config: Option<Value>,
        /// CIDR of pods; never changes.
        pods: Option<String>,
        /// CIDR of nodes.
        nodes: Option<String>,
        /// CIDR of services; never changes.
        services: Option<String>,
        /// `IPv4` (default), `IPv6`; never changes.
        ip_families: Vec<String>,
    }

    /// Who is told what.
    Monitoring {
        /// Alerts.
        alerting: Option<Alerting>,
    }

    /// Who is told of alerts.
    Alerting {
        /// Addresses for mail.
        email_receivers: Vec<String>,
    }
}
