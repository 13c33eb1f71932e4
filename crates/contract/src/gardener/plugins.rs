//! Admission plugins of gardener-apiserver, which the configuration of a contract's cases turns on.

/// The component whose contracts turn them on: `config: {admission: {plugins: [Bastion]}}`.
pub const COMPONENT: &str = "garden";
/// Instead of a list of names: the plugins that are on by default.
pub const DEFAULT: &str = "default";
/// Their names, in the order of the chain.
pub const NAMES: [&str; 22] = [
    "ResourceReferenceManager",
    "ExtensionValidator",
    "ExtensionLabels",
    "ShootTolerationRestriction",
    "ShootExposureClass",
    "ShootDNS",
    "ShootManagedSeed",
    "ShootNodeLocalDNSEnabledByDefault",
    "ShootDNSRewriting",
    "ShootQuotaValidator",
    "ShootValidator",
    "SeedValidator",
    "ControllerRegistrationResources",
    "ProjectValidator",
    "DeletionConfirmation",
    "OpenIDConnectPreset",
    "ClusterOpenIDConnectPreset",
    "CustomVerbAuthorizer",
    "ShootVPAEnabledByDefault",
    "ManagedSeed",
    "ManagedSeedShoot",
    "Bastion",
];
