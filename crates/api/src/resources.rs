//! `resources.gardener.cloud`: the state of ManagedResources, labels and annotations of the resource-manager.

use crate::garden::condition::Condition;

/// The API group.
pub const GROUP: &str = "resources.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "resources.gardener.cloud/v1alpha1";

kind! {
    /// Objects that a resource-manager applies, as others see them: their state.
    ManagedResource, "ManagedResource", "ManagedResourceList", "managedresources", NamespaceResourceScope of resources {
        /// The state.
        status: ManagedResourceStatus,
    }
}

object! {
    /// The state of a ManagedResource.
    ManagedResourceStatus {
        /// [`RESOURCES_APPLIED`], [`RESOURCES_HEALTHY`] and [`RESOURCES_PROGRESSING`].
        conditions: Vec<Condition>,
        /// The generation that was processed last.
        observed_generation: Option<i64>,
    }
}

/// Type of a condition: whether all objects were applied.
pub const RESOURCES_APPLIED: &str = "ResourcesApplied";
/// Type of a condition: whether all applied objects are healthy.
pub const RESOURCES_HEALTHY: &str = "ResourcesHealthy";
/// Type of a condition: whether an applied object is still being rolled out.
pub const RESOURCES_PROGRESSING: &str = "ResourcesProgressing";
/// Label of an object of a ManagedResource; the value names the manager.
pub const MANAGED_BY: &str = "resources.gardener.cloud/managed-by";
/// Default value of [`MANAGED_BY`].
pub const MANAGED_BY_GARDENER: &str = "gardener";
/// Label of a Secret: its purpose, such as [`PURPOSE_TOKEN_INVALIDATOR`].
pub const PURPOSE: &str = "resources.gardener.cloud/purpose";
/// Value of [`PURPOSE`] of a Secret with a static token.
pub const PURPOSE_TOKEN_INVALIDATOR: &str = "token-invalidator";
/// Value of [`PURPOSE`] of a Secret that requests a token of a ServiceAccount.
pub const PURPOSE_TOKEN_REQUESTOR: &str = "token-requestor";
/// Default of the class of ManagedResources that an instance is responsible for.
pub const DEFAULT_CLASS: &str = "resources";
/// Prefix of every instance's finalizer; the finalizer of the default class is this prefix itself.
pub const FINALIZER: &str = "resources.gardener.cloud/gardener-resource-manager";
/// Class of the ManagedResources of a seed.
pub const SEED_CLASS: &str = "seed";

/// Annotation: true makes the resource-manager ignore a ManagedResource, or an existing object of a manifest.
pub const IGNORE: &str = "resources.gardener.cloud/ignore";
/// Annotation of a manifest: with [`MODE_IGNORE`], the resource-manager no longer manages the object.
pub const MODE: &str = "resources.gardener.cloud/mode";
/// Value of [`MODE`]: the object is not managed.
pub const MODE_IGNORE: &str = "Ignore";
/// Annotation of an object: true keeps it when it is no longer part of the ManagedResource.
pub const KEEP_OBJECT: &str = "resources.gardener.cloud/keep-object";
/// Annotation of an object: true deletes and creates it again if an update is invalid.
pub const DELETE_ON_INVALID_UPDATE: &str = "resources.gardener.cloud/delete-on-invalid-update";
/// Annotation of an object: grace period after its deletion until its finalizers are removed, a Go duration.
pub const FINALIZE_DELETION_AFTER: &str = "resources.gardener.cloud/finalize-deletion-after";
/// Annotation of a manifest: `true` preserves the replicas of the live object.
pub const PRESERVE_REPLICAS: &str = "resources.gardener.cloud/preserve-replicas";
/// Annotation of a manifest: `true` preserves CPU and memory of the live object's containers.
pub const PRESERVE_RESOURCES: &str = "resources.gardener.cloud/preserve-resources";
/// Annotation of an object: its ManagedResource.
pub const ORIGIN: &str = "resources.gardener.cloud/origin";
/// Annotation of an object: a warning not to edit it.
pub const DESCRIPTION: &str = "resources.gardener.cloud/description";
/// Annotation of a live object: `true` skips its health check.
pub const SKIP_HEALTH_CHECK: &str = "resources.gardener.cloud/skip-health-check";

/// Label of a ConfigMap or Secret: with the value `true`, it is deleted when no object references it.
pub const GARBAGE_COLLECTABLE: &str = "resources.gardener.cloud/garbage-collectable-reference";
/// Prefix of an annotation that references a ConfigMap or Secret; `<kind>-<hash>` follows.
pub const REFERENCE_PREFIX: &str = "reference.resources.gardener.cloud/";

/// Label of a Secret whose static token must be invalidated, whatever the value.
pub const TOKEN_CONSIDER: &str = "token-invalidator.resources.gardener.cloud/consider";
/// Label of a ServiceAccount whose static tokens are not invalidated, whatever the value.
pub const TOKEN_SKIP: &str = "token-invalidator.resources.gardener.cloud/skip";

/// Annotation of a Secret: name of the ServiceAccount in the target cluster whose token it requests.
pub const SERVICE_ACCOUNT_NAME: &str = "serviceaccount.resources.gardener.cloud/name";
/// Annotation of a Secret: namespace of that ServiceAccount.
pub const SERVICE_ACCOUNT_NAMESPACE: &str = "serviceaccount.resources.gardener.cloud/namespace";
/// Annotation of a Secret: lifetime of its token, as a Go duration.
pub const TOKEN_EXPIRATION_DURATION: &str =
    "serviceaccount.resources.gardener.cloud/token-expiration-duration";
/// Annotation of a Secret: renewal time of its token, as RFC 3339.
pub const TOKEN_RENEW_TIMESTAMP: &str = "serviceaccount.resources.gardener.cloud/token-renew-timestamp";
/// Annotation of a Secret: name of the Secret in the target cluster that gets the token instead.
pub const TARGET_SECRET_NAME: &str = "token-requestor.resources.gardener.cloud/target-secret-name";
/// Annotation of a Secret: namespace of that Secret.
pub const TARGET_SECRET_NAMESPACE: &str = "token-requestor.resources.gardener.cloud/target-secret-namespace";

/// Label of a Pod that gets no token volume, whatever the value.
pub const PROJECTED_TOKEN_SKIP: &str = "projected-token-mount.resources.gardener.cloud/skip";
/// Annotation of a Pod: lifetime of its token, in seconds.
pub const PROJECTED_TOKEN_EXPIRATION_SECONDS: &str =
    "projected-token-mount.resources.gardener.cloud/expiration-seconds";

/// Label of a Namespace whose workload is made highly available.
pub const HA_CONSIDER: &str = "high-availability-config.resources.gardener.cloud/consider";
/// Label of an object that the webhook does not change, whatever the value.
pub const HA_SKIP: &str = "high-availability-config.resources.gardener.cloud/skip";
/// Label of an object: `controller` or `server`.
pub const HA_TYPE: &str = "high-availability-config.resources.gardener.cloud/type";
/// Value of [`HA_TYPE`] of a component with one active replica.
pub const HA_TYPE_CONTROLLER: &str = "controller";
/// Annotation of an object: number of replicas that replaces the computed one.
pub const HA_REPLICAS: &str = "high-availability-config.resources.gardener.cloud/replicas";
/// Annotation of a Namespace: failure tolerance type of its workload: absent, empty, `node` or `zone`.
pub const HA_FAILURE_TOLERANCE_TYPE: &str =
    "high-availability-config.resources.gardener.cloud/failure-tolerance-type";
/// Value of [`HA_FAILURE_TOLERANCE_TYPE`]: the workload tolerates the failure of a zone.
pub const HA_FAILURE_TOLERANCE_ZONE: &str = "zone";
/// Annotation of a Namespace: zones of its workload, separated by commas.
pub const HA_ZONES: &str = "high-availability-config.resources.gardener.cloud/zones";
/// Annotation of a Namespace: true pins its workload to [`HA_ZONES`].
pub const HA_ZONE_PINNING: &str = "high-availability-config.resources.gardener.cloud/zone-pinning";

/// Label of a Pod whose seccomp profile is not changed, whatever the value.
pub const SECCOMP_SKIP: &str = "seccompprofile.resources.gardener.cloud/skip";
/// Label of a Pod that the webhook for system components ignores, whatever the value.
pub const SYSTEM_COMPONENTS_SKIP: &str = "system-components-config.resources.gardener.cloud/skip";
/// Label of a Pod whose topology spread constraints are not changed, whatever the value.
pub const TOPOLOGY_SPREAD_SKIP: &str = "topology-spread-constraints.resources.gardener.cloud/skip";
/// Label of an EndpointSlice: `true` enables topology hints.
pub const ENDPOINT_SLICE_HINTS_CONSIDER: &str = "endpoint-slice-hints.resources.gardener.cloud/consider";
