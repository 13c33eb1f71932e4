//! ControllerRegistration: an extension, and the resources that it is responsible for.

use super::Duration;
use super::reference::LabelSelector;

kind! {
    /// An extension, and the resources that it is responsible for.
    ControllerRegistration, "ControllerRegistration", "ControllerRegistrationList", "controllerregistrations",
    ClusterResourceScope {
        /// The specification.
        spec: ControllerRegistrationSpec,
    }
}

object! {
    /// The specification.
    ControllerRegistrationSpec {
        /// The resources that it is responsible for.
        resources: Vec<ControllerResource>,
        /// Where and how it is deployed.
        deployment: Option<ControllerRegistrationDeployment>,
    }

    /// A kind of resource of one type.
    ControllerResource {
        /// The kind: `Infrastructure`, `OperatingSystemConfig`.
        kind: String,
        /// The type: `aws`, `coreos`.
        #[serde(rename = "type")]
        type_: String,
        /// Of kind `Extension`: whether each shoot has it unless it disables it.
        globally_enabled: Option<bool>,
        /// How long Gardener waits for the reconciliation of one resource.
        reconcile_timeout: Option<Duration>,
        /// Whether this is the extension that leads where several are responsible; default true.
        primary: Option<bool>,
        /// Of kind `Extension`: when it is reconciled, deleted and migrated.
        lifecycle: Option<ControllerResourceLifecycle>,
        /// Of kind `Extension`: whether it supports shoots without workers.
        workerless_supported: Option<bool>,
    }

    /// When an Extension is reconciled, deleted and migrated: `BeforeKubeAPIServer` or `AfterKubeAPIServer`.
    ControllerResourceLifecycle {
        /// When it is reconciled.
        reconcile: Option<String>,
        /// When it is deleted.
        delete: Option<String>,
        /// When it is migrated.
        migrate: Option<String>,
    }

    /// Where and how an extension is deployed.
    ControllerRegistrationDeployment {
        /// `OnDemand` (default), `Always` or `AlwaysExceptNoShoots`.
        policy: Option<String>,
        /// Seeds where it may be deployed; absent for all.
        seed_selector: Option<LabelSelector>,
        /// ControllerDeployments; at most one.
        deployment_refs: Vec<DeploymentRef>,
    }

    /// A ControllerDeployment.
    DeploymentRef {
        /// Its name.
        name: String,
    }
}
