//! ControllerInstallation: an extension in a seed.

use serde_json::Value;

use super::condition::Condition;
use super::reference::ObjectReference;

kind! {
    /// An extension in a seed.
    ControllerInstallation, "ControllerInstallation", "ControllerInstallationList", "controllerinstallations",
    ClusterResourceScope {
        /// The specification.
        spec: ControllerInstallationSpec,
        /// The status.
        status: ControllerInstallationStatus,
    }
}

object! {
    /// The specification.
    ControllerInstallationSpec {
        /// The ControllerRegistration; its name is immutable.
        registration_ref: ObjectReference,
        /// The Seed; its name is immutable.
        seed_ref: ObjectReference,
        /// The ControllerDeployment.
        deployment_ref: Option<ObjectReference>,
    }

    /// The status.
    ControllerInstallationStatus {
        /// Its state: `Valid`, `Installed`, `Healthy`, `Progressing`, `Required`.
        conditions: Vec<Condition>,
        /// Status of the deployment.
        provider_status: Option<Value>,
    }
}
