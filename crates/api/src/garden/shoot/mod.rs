//! Shoot: a cluster that Gardener manages for its users.

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

use serde_json::Value;

use self::addons::Addons;
use self::control_plane::ControlPlane;
use self::dns::Dns;
use self::kubernetes::Kubernetes;
use self::maintenance::{Hibernation, Maintenance};
use self::status::ShootStatus;
use self::system_components::SystemComponents;
use self::worker::Provider;
use super::TemplateMetadata;
use super::reference::{NamedResourceReference, SeedSelector, Toleration};

kind! {
    /// A cluster that Gardener manages for its users.
    Shoot, "Shoot", "ShootList", "shoots", NamespaceResourceScope {
        /// The specification.
        spec: ShootSpec,
        /// The status.
        status: ShootStatus,
    }
}

object! {
    /// Template of a Shoot.
    ShootTemplate {
        /// Its labels and annotations.
        metadata: TemplateMetadata,
        /// The specification.
        spec: ShootSpec,
    }

    /// The specification of a Shoot.
    ShootSpec {
        /// Its addons.
        addons: Option<Addons>,
        /// Its CloudProfile; immutable.
        cloud_profile_name: String,
        /// Its domain.
        dns: Option<Dns>,
        /// Its extensions.
        extensions: Vec<Extension>,
        /// Its hibernation.
        hibernation: Option<Hibernation>,
        /// Version and settings of Kubernetes.
        kubernetes: Kubernetes,
        /// Its networks.
        networking: Option<Networking>,
        /// Its maintenance.
        maintenance: Option<Maintenance>,
        /// Its monitoring.
        monitoring: Option<Monitoring>,
        /// Where it runs, and its workers.
        provider: Provider,
        /// `evaluation`, `testing`, `development`, `production` or `infrastructure`.
        purpose: Option<String>,
        /// The region; immutable.
        region: String,
        /// The SecretBinding with the provider's credentials; immutable.
        secret_binding_name: Option<String>,
        /// The seed that runs its control plane.
        seed_name: Option<String>,
        /// Selects seeds that may run its control plane.
        seed_selector: Option<SeedSelector>,
        /// References to objects of its namespace for configurations of extensions.
        resources: Vec<NamedResourceReference>,
        /// Tolerations of taints of seeds.
        tolerations: Vec<Toleration>,
        /// Its ExposureClass; immutable.
        exposure_class_name: Option<String>,
        /// Settings of its system components.
        system_components: Option<SystemComponents>,
        /// Settings of its control plane.
        control_plane: Option<ControlPlane>,
        /// Its scheduler; absent for gardener-scheduler.
        scheduler_name: Option<String>,
    }

    /// An extension of a shoot.
    Extension {
        /// Type of the extension.
        #[serde(rename = "type")]
        type_: String,
        /// Configuration of the extension.
        provider_config: Option<Value>,
        /// True disables an extension that is enabled for all shoots.
        disabled: Option<bool>,
    }

    /// Networks of a shoot.
    Networking {
        /// The network plugin; immutable.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// Configuration of the plugin's extension.
        provider_config: Option<Value>,
        /// CIDR of pods; immutable.
        pods: Option<String>,
        /// CIDR of nodes.
        nodes: Option<String>,
        /// CIDR of services; immutable.
        services: Option<String>,
        /// `IPv4` (default), `IPv6`; immutable.
        ip_families: Vec<String>,
    }

    /// Monitoring.
    Monitoring {
        /// Alerts.
        alerting: Option<Alerting>,
    }

    /// Its monitoring.
    Alerting {
        /// Addresses for mail.
        email_receivers: Vec<String>,
    }
}
