//! The names of Gardener's admission plugins, which gardener-apiserver v1.82 compiles in; flags, configurations and contracts
//! use them. Plugins of Kubernetes' own that surround them are not listed.

/// What an object refers to exists, and the user may read it.
pub const RESOURCE_REFERENCE_MANAGER: &str = "ResourceReferenceManager";
/// A ControllerRegistration offers what an object needs.
pub const EXTENSION_VALIDATOR: &str = "ExtensionValidator";
/// Labels say which extensions an object needs.
pub const EXTENSION_LABELS: &str = "ExtensionLabels";
/// Which tolerations a Shoot gets, and may have.
pub const SHOOT_TOLERATION_RESTRICTION: &str = "ShootTolerationRestriction";
/// A Shoot gets the scheduling of its ExposureClass.
pub const SHOOT_EXPOSURE_CLASS: &str = "ShootExposureClass";
/// The domain of a Shoot, and its primary DNS provider.
pub const SHOOT_DNS: &str = "ShootDNS";
/// A Shoot that is a Seed stays, and keeps what the Seed needs.
pub const SHOOT_MANAGED_SEED: &str = "ShootManagedSeed";
/// New Shoots have a DNS cache on each node.
pub const SHOOT_NODE_LOCAL_DNS_ENABLED_BY_DEFAULT: &str = "ShootNodeLocalDNSEnabledByDefault";
/// New Shoots rewrite DNS queries with common suffixes.
pub const SHOOT_DNS_REWRITING: &str = "ShootDNSRewriting";
/// Quotas allow the resources and the lifetime of a Shoot.
pub const SHOOT_QUOTA_VALIDATOR: &str = "ShootQuotaValidator";
/// Seed and CloudProfile allow what a Shoot is.
pub const SHOOT_VALIDATOR: &str = "ShootValidator";
/// A used Seed is not deleted, and keeps its zones.
pub const SEED_VALIDATOR: &str = "SeedValidator";
/// One registration leads each type of a kind.
pub const CONTROLLER_REGISTRATION_RESOURCES: &str = "ControllerRegistrationResources";
/// The namespace of a new Project has the right prefix.
pub const PROJECT_VALIDATOR: &str = "ProjectValidator";
/// Some kinds are deleted only with an annotation.
pub const DELETION_CONFIRMATION: &str = "DeletionConfirmation";
/// The presets of a namespace for new Shoots.
pub const OPEN_ID_CONNECT_PRESET: &str = "OpenIDConnectPreset";
/// The presets of Projects for new Shoots.
pub const CLUSTER_OPEN_ID_CONNECT_PRESET: &str = "ClusterOpenIDConnectPreset";
/// Custom verbs for some fields of a Project.
pub const CUSTOM_VERB_AUTHORIZER: &str = "CustomVerbAuthorizer";
/// New Shoots have the vertical pod autoscaler.
pub const SHOOT_VPA_ENABLED_BY_DEFAULT: &str = "ShootVPAEnabledByDefault";
/// A ManagedSeed agrees with its Shoot.
pub const MANAGED_SEED: &str = "ManagedSeed";
/// A ManagedSeed stays while Shoots use its Seed.
pub const MANAGED_SEED_SHOOT: &str = "ManagedSeedShoot";
/// A Bastion belongs to a Shoot that can be reached.
pub const BASTION: &str = "Bastion";

/// All names, in the order in which each admission phase asks the plugins.
pub const NAMES: [&str; 22] = [
    RESOURCE_REFERENCE_MANAGER,
    EXTENSION_VALIDATOR,
    EXTENSION_LABELS,
    SHOOT_TOLERATION_RESTRICTION,
    SHOOT_EXPOSURE_CLASS,
    SHOOT_DNS,
    SHOOT_MANAGED_SEED,
    SHOOT_NODE_LOCAL_DNS_ENABLED_BY_DEFAULT,
    SHOOT_DNS_REWRITING,
    SHOOT_QUOTA_VALIDATOR,
    SHOOT_VALIDATOR,
    SEED_VALIDATOR,
    CONTROLLER_REGISTRATION_RESOURCES,
    PROJECT_VALIDATOR,
    DELETION_CONFIRMATION,
    OPEN_ID_CONNECT_PRESET,
    CLUSTER_OPEN_ID_CONNECT_PRESET,
    CUSTOM_VERB_AUTHORIZER,
    SHOOT_VPA_ENABLED_BY_DEFAULT,
    MANAGED_SEED,
    MANAGED_SEED_SHOOT,
    BASTION,
];
