//! The feature gates of Kubernetes that Gardener v1.82 knows. Numbers are minors of Kubernetes 1.

/// Feature gates that share their versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gates {
    /// The first minor that has them; `None` if all do.
    pub(super) added: Option<u64>,
    /// The first minor in which they have one value only, and that value.
    pub(super) locked: Option<(u64, bool)>,
    /// The first minor that no longer has them.
    pub(super) removed: Option<u64>,
    /// Their names, separated by blanks.
    names: &'static str,
}

/// The gates of that name.
pub(super) fn named(name: &str) -> Option<&'static Gates> {
    GATES.iter().find(|gates| gates.names.split(' ').any(|known| known == name))
}

const GATES: &[Gates] = &[
    Gates {
        added: None,
        locked: None,
        removed: None,
        names: "AnyVolumeDataSource APIListChunking APIPriorityAndFairness APIResponseCompression \
                APIServerIdentity APIServerTracing AppArmor CPUManagerPolicyAlphaOptions \
                CPUManagerPolicyBetaOptions CPUManagerPolicyOptions CSIMigrationPortworx CSIMigrationRBD \
                CSIVolumeHealth CustomCPUCFSQuotaPeriod CustomResourceValidationExpressions \
                DisableCloudProviders DisableKubeletCloudCredentialProviders ExecProbeTimeout \
                GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HonorPVReclaimPolicy \
                HPAContainerMetrics HPAScaleToZero InTreePluginAWSUnregister InTreePluginAzureDiskUnregister \
                InTreePluginAzureFileUnregister InTreePluginGCEUnregister InTreePluginOpenStackUnregister \
                InTreePluginPortworxUnregister InTreePluginRBDUnregister InTreePluginvSphereUnregister \
                JobReadyPods KubeletInUserNamespace LocalStorageCapacityIsolationFSQuotaMonitoring \
                LogarithmicScaleDown MaxUnavailableStatefulSet MemoryManager MemoryQoS \
                MinDomainsInPodTopologySpread NodeSwap OpenAPIEnums PodAndContainerStatsFromCRI \
                PodDeletionCost ProcMountType QOSReserved ReadWriteOncePod RecoverVolumeExpansionFailure \
                RemainingItemCount RotateKubeletServerCertificate SizeMemoryBackedVolumes \
                StatefulSetAutoDeletePVC StorageVersionAPI StorageVersionHash TopologyAwareHints \
                VolumeCapacityPriority WinDSR WinOverlay",
    },
    Gates { added: None, locked: None, removed: Some(26), names: "DynamicKubeletConfig" },
    Gates {
        added: None,
        locked: None,
        removed: Some(27),
        names: "ExpandCSIVolumes ExpandInUsePersistentVolumes ExpandPersistentVolumes",
    },
    Gates { added: None, locked: None, removed: Some(28), names: "NetworkPolicyStatus" },
    Gates { added: None, locked: Some((17, true)), removed: None, names: "WatchBookmark" },
    Gates { added: None, locked: Some((20, true)), removed: Some(25), names: "SelectorIndex" },
    Gates {
        added: None,
        locked: Some((21, true)),
        removed: Some(25),
        names: "EndpointSlice EndpointSliceNodeName PodDisruptionBudget",
    },
    Gates {
        added: None,
        locked: Some((22, true)),
        removed: Some(25),
        names: "CSIServiceAccountToken EndpointSliceProxying WindowsEndpointSliceProxying",
    },
    Gates {
        added: None,
        locked: Some((23, true)),
        removed: Some(25),
        names: "ConfigurableFSGroupPolicy CSIVolumeFSGroupPolicy GenericEphemeralVolume \
                IngressClassNamespacedParams StorageObjectInUseProtection TTLAfterFinished VolumeSubpath",
    },
    Gates { added: None, locked: Some((23, true)), removed: Some(27), names: "IPv6DualStack" },
    Gates {
        added: None,
        locked: Some((24, true)),
        removed: None,
        names: "EfficientWatchResumption RemoveSelfLink",
    },
    Gates {
        added: None,
        locked: Some((24, true)),
        removed: Some(26),
        names: "CSIMigrationOpenStack CSRDuration DefaultPodTopologySpread IndexedJob NonPreemptingPriority \
                PodAffinityNamespaceSelector PodOverhead PreferNominatedNode ServiceLBNodePortControl \
                ServiceLoadBalancerClass SuspendJob",
    },
    Gates {
        added: None,
        locked: Some((24, true)),
        removed: Some(27),
        names: "ControllerManagerLeaderMigration",
    },
    Gates { added: None, locked: Some((24, true)), removed: Some(28), names: "CSIStorageCapacity" },
    Gates {
        added: None,
        locked: Some((25, true)),
        removed: Some(27),
        names: "CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk DaemonSetUpdateSurge \
                EphemeralContainers IdentifyPodOS LocalStorageCapacityIsolation NetworkPolicyEndPort \
                StatefulSetMinReadySeconds",
    },
    Gates {
        added: None,
        locked: Some((25, true)),
        removed: Some(28),
        names: "CSIMigrationGCE DisableAcceleratorUsageMetrics PodSecurity",
    },
    Gates {
        added: None,
        locked: Some((26, true)),
        removed: None,
        names: "CPUManager JobTrackingWithFinalizers ServerSideApply",
    },
    Gates {
        added: None,
        locked: Some((26, true)),
        removed: Some(28),
        names: "DelegateFSGroupToCSIDriver DevicePlugins DryRun EndpointSliceTerminatingCondition \
                KubeletCredentialProviders MixedProtocolLBService ServiceInternalTrafficPolicy \
                ServiceIPStaticSubrange WindowsHostProcessContainers",
    },
    Gates {
        added: None,
        locked: Some((27, true)),
        removed: None,
        names: "CronJobTimeZone CSIMigrationAzureFile CSIMigrationvSphere DownwardAPIHugePages \
                GRPCContainerProbe JobMutableNodeSchedulingDirectives \
                LegacyServiceAccountTokenNoAutoGeneration OpenAPIV3 SeccompDefault ServerSideFieldValidation \
                TopologyManager",
    },
    Gates { added: None, locked: Some((27, true)), removed: Some(28), names: "AdvancedAuditing" },
    Gates {
        added: None,
        locked: Some((28, false)),
        removed: None,
        names: "ExperimentalHostUserNamespaceDefaulting",
    },
    Gates {
        added: None,
        locked: Some((28, true)),
        removed: None,
        names: "ExpandedDNSConfig KubeletPodResources KubeletPodResourcesGetAllocatable \
                NodeOutOfServiceVolumeDetach ProbeTerminationGracePeriod ProxyTerminatingEndpoints",
    },
    Gates { added: Some(17), locked: None, removed: None, names: "AllAlpha AllBeta" },
    Gates {
        added: Some(25),
        locked: None,
        removed: None,
        names: "ContainerCheckpoint CSINodeExpandSecret JobPodFailurePolicy KMSv2 KubeletTracing \
                MatchLabelKeysInPodTopologySpread MultiCIDRRangeAllocator \
                NodeInclusionPolicyInPodTopologySpread PodDisruptionConditions SELinuxMountReadWriteOncePod \
                UnauthenticatedHTTP2DOSMitigation:",
    },
    Gates {
        added: Some(25),
        locked: None,
        removed: Some(28),
        names: "PodHasNetworkCondition UserNamespacesStatelessPodsSupport",
    },
    Gates {
        added: Some(25),
        locked: Some((28, true)),
        removed: None,
        names: "IPTablesOwnershipCleanup RetroactiveDefaultStorageClass",
    },
    Gates {
        added: Some(26),
        locked: None,
        removed: None,
        names: "AggregatedDiscoveryEndpoint ConsistentHTTPGetHandlers CrossNamespaceVolumeDataSource \
                DynamicResourceAllocation EventedPLEG PDBUnhealthyPodEvictionPolicy PodSchedulingReadiness \
                StatefulSetStartOrdinal TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions \
                TopologyManagerPolicyOptions ValidatingAdmissionPolicy WindowsHostNetwork",
    },
    Gates {
        added: Some(26),
        locked: Some((28, true)),
        removed: None,
        names: "APISelfSubjectReview LegacyServiceAccountTokenTracking MinimizeIPTablesRestore",
    },
    Gates {
        added: Some(27),
        locked: None,
        removed: None,
        names: "AdmissionWebhookMatchConditions CloudControllerManagerWebhook CloudDualStackNodeIPs \
                ClusterTrustBundle ElasticIndexedJob InPlacePodVerticalScaling \
                KubeletPodResourcesDynamicResources KubeletPodResourcesGet MultiCIDRServiceAllocator \
                NewVolumeManagerReconstruction NodeLogQuery SecurityContextDeny \
                ServiceNodePortStaticSubrange StableLoadBalancerNodeSet WatchList",
    },
    Gates {
        added: Some(28),
        locked: None,
        removed: None,
        names: "ConsistentListFromCache CRDValidationRatcheting CronJobsScheduledAnnotation \
                DefaultHostNetworkHostPortsInPodTemplates DevicePluginCDIDevices JobBackoffLimitPerIndex \
                JobPodReplacementPolicy KMSv1 KMSv2KDF KubeletCgroupDriverFromCRI \
                KubeProxyDrainingTerminatingNodes LegacyServiceAccountTokenCleanUp \
                PersistentVolumeLastPhaseTransitionTime PodHostIPs PodIndexLabel \
                PodReadyToStartContainersCondition SchedulerQueueingHints SidecarContainers \
                SkipReadOnlyValidationGCE UnknownVersionInteroperabilityProxy UserNamespacesSupport",
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_gate_is_listed_once() {
        let names: Vec<&str> = GATES.iter().flat_map(|gates| gates.names.split(' ')).collect();
        assert_eq!(names.len(), 206);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
