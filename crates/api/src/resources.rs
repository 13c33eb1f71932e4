//! `resources.gardener.cloud`: what the resource-manager reads and writes.

/// The API group.
pub const GROUP: &str = "resources.gardener.cloud";
/// Label of an object that a ManagedResource brought; its value says who manages it.
pub const MANAGED_BY: &str = "resources.gardener.cloud/managed-by";
/// Default value of [`MANAGED_BY`].
pub const MANAGED_BY_GARDENER: &str = "gardener";
/// Label of a Secret: what is done with it, such as [`PURPOSE_TOKEN_INVALIDATOR`].
pub const PURPOSE: &str = "resources.gardener.cloud/purpose";
/// Value of [`PURPOSE`] of a Secret with a static token.
pub const PURPOSE_TOKEN_INVALIDATOR: &str = "token-invalidator";
/// Value of [`PURPOSE`] of a Secret that asks for a token of a ServiceAccount.
pub const PURPOSE_TOKEN_REQUESTOR: &str = "token-requestor";
/// Default of the class of ManagedResources that an instance is responsible for.
pub const DEFAULT_CLASS: &str = "resources";
/// What every instance's finalizer begins with; that of the default class is no longer.
pub const FINALIZER: &str = "resources.gardener.cloud/gardener-resource-manager";
/// Class of the ManagedResources of a seed.
pub const SEED_CLASS: &str = "seed";

/// Annotation: true leaves a ManagedResource, or the object of a manifest once it exists, alone.
pub const IGNORE: &str = "resources.gardener.cloud/ignore";
/// Annotation of a manifest: [`MODE_IGNORE`] gives the object away.
pub const MODE: &str = "resources.gardener.cloud/mode";
/// Value of [`MODE`]: the object is not managed.
pub const MODE_IGNORE: &str = "Ignore";
/// Annotation of an object: true lets it stay when it is no longer wanted.
pub const KEEP_OBJECT: &str = "resources.gardener.cloud/keep-object";
/// Annotation of an object: true has it deleted and made anew where an update is invalid.
pub const DELETE_ON_INVALID_UPDATE: &str = "resources.gardener.cloud/delete-on-invalid-update";
/// Annotation of an object: how long after its deletion its finalizers are removed, a Go duration.
pub const FINALIZE_DELETION_AFTER: &str = "resources.gardener.cloud/finalize-deletion-after";
/// Annotation of a manifest: `true` keeps the replicas that the object has.
pub const PRESERVE_REPLICAS: &str = "resources.gardener.cloud/preserve-replicas";
/// Annotation of a manifest: `true` keeps the CPU and memory that the object's containers have.
pub const PRESERVE_RESOURCES: &str = "resources.gardener.cloud/preserve-resources";
/// Annotation of an object: the ManagedResource it comes from.
pub const ORIGIN: &str = "resources.gardener.cloud/origin";
/// Annotation of an object: that it is not to be edited.
pub const DESCRIPTION: &str = "resources.gardener.cloud/description";
/// Annotation of a live object: with the value `true` its health does not matter.
pub const SKIP_HEALTH_CHECK: &str = "resources.gardener.cloud/skip-health-check";

/// Label of a ConfigMap or Secret: with the value `true` it is deleted when nothing refers to it.
pub const GARBAGE_COLLECTABLE: &str = "resources.gardener.cloud/garbage-collectable-reference";
/// What the key of an annotation begins with that refers to a ConfigMap or Secret: `<kind>-<hash>` follows.
pub const REFERENCE_PREFIX: &str = "reference.resources.gardener.cloud/";

/// Label of a Secret: its static token is to be invalidated. Presence counts.
pub const TOKEN_CONSIDER: &str = "token-invalidator.resources.gardener.cloud/consider";
/// Label of a ServiceAccount: its static tokens are left alone. Presence counts.
pub const TOKEN_SKIP: &str = "token-invalidator.resources.gardener.cloud/skip";

/// Annotation of a Secret: name of the ServiceAccount in the target whose token it asks for.
pub const SERVICE_ACCOUNT_NAME: &str = "serviceaccount.resources.gardener.cloud/name";
/// Annotation of a Secret: namespace of that ServiceAccount.
pub const SERVICE_ACCOUNT_NAMESPACE: &str = "serviceaccount.resources.gardener.cloud/namespace";
/// Annotation of a Secret: how long its token lives, as a Go duration.
pub const TOKEN_EXPIRATION_DURATION: &str =
    "serviceaccount.resources.gardener.cloud/token-expiration-duration";
/// Annotation of a Secret: when its token is renewed, as RFC 3339.
pub const TOKEN_RENEW_TIMESTAMP: &str = "serviceaccount.resources.gardener.cloud/token-renew-timestamp";
/// Annotation of a Secret: name of the Secret in the target that gets the token instead.
pub const TARGET_SECRET_NAME: &str = "token-requestor.resources.gardener.cloud/target-secret-name";
/// Annotation of a Secret: namespace of that Secret.
pub const TARGET_SECRET_NAMESPACE: &str = "token-requestor.resources.gardener.cloud/target-secret-namespace";

/// Label of a Pod: no token volume. Presence counts.
pub const PROJECTED_TOKEN_SKIP: &str = "projected-token-mount.resources.gardener.cloud/skip";
/// Annotation of a Pod: lifetime of its token, in seconds.
pub const PROJECTED_TOKEN_EXPIRATION_SECONDS: &str =
    "projected-token-mount.resources.gardener.cloud/expiration-seconds";

/// Label of a Namespace: the workload in it is made highly available.
pub const HA_CONSIDER: &str = "high-availability-config.resources.gardener.cloud/consider";
/// Label of an object that is left as it is. Presence counts.
pub const HA_SKIP: &str = "high-availability-config.resources.gardener.cloud/skip";
/// Label of an object: `controller` or `server`.
pub const HA_TYPE: &str = "high-availability-config.resources.gardener.cloud/type";
/// Value of [`HA_TYPE`] of a component with one active replica.
pub const HA_TYPE_CONTROLLER: &str = "controller";
/// Annotation of an object: replicas to set instead of the computed ones.
pub const HA_REPLICAS: &str = "high-availability-config.resources.gardener.cloud/replicas";
/// Annotation of a Namespace: which failure its workload survives: absent, empty, `node` or `zone`.
pub const HA_FAILURE_TOLERANCE_TYPE: &str =
    "high-availability-config.resources.gardener.cloud/failure-tolerance-type";
/// Value of [`HA_FAILURE_TOLERANCE_TYPE`]: the loss of a zone is survived.
pub const HA_FAILURE_TOLERANCE_ZONE: &str = "zone";
/// Annotation of a Namespace: zones its workload runs in, separated by commas.
pub const HA_ZONES: &str = "high-availability-config.resources.gardener.cloud/zones";
/// Annotation of a Namespace: true pins its workload to [`HA_ZONES`].
pub const HA_ZONE_PINNING: &str = "high-availability-config.resources.gardener.cloud/zone-pinning";

/// Label of a Pod whose seccomp profile is left as it is. Presence counts.
pub const SECCOMP_SKIP: &str = "seccompprofile.resources.gardener.cloud/skip";
/// Label of a Pod that is no system component to the scheduling webhook. Presence counts.
pub const SYSTEM_COMPONENTS_SKIP: &str = "system-components-config.resources.gardener.cloud/skip";
/// Label of a Pod whose topology spread constraints are left as they are. Presence counts.
pub const TOPOLOGY_SPREAD_SKIP: &str = "topology-spread-constraints.resources.gardener.cloud/skip";
/// Label of an EndpointSlice: `true` asks for hints.
pub const ENDPOINT_SLICE_HINTS_CONSIDER: &str = "endpoint-slice-hints.resources.gardener.cloud/consider";
