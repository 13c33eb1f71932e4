//! The steps that bring a Garden to its specification.

use super::{Flow, FlowCondition, FlowStep, step};

const TOKEN_KUBECONFIG: &str = "Generating generic token kubeconfig";
const ETCD_DEFINITIONS: &str = "Deploying ETCD-related custom resource definitions";
const VPA_DEFINITIONS: &str = "Deploying custom resource definitions for VPA";
const HVPA_DEFINITIONS: &str = "Reconciling custom resource definitions for HVPA";
const ISTIO_DEFINITIONS: &str = "Deploying custom resource definitions for Istio";
const FLUENT_DEFINITIONS: &str = "Deploying custom resource definitions for fluent-operator";
const RESOURCE_MANAGER: &str = "Deploying and waiting for gardener-resource-manager to be healthy";
const INGRESS: &str = "Deploying nginx-ingress controller";
const RUNTIME_SYSTEM: &str = "Deploying runtime system resources";
const VPA: &str = "Deploying Kubernetes vertical pod autoscaler";
const HVPA: &str = "Deploying HVPA controller";
const DRUID: &str = "Deploying ETCD Druid";
const ISTIO: &str = "Deploying Istio";
const FLUENT_OPERATOR: &str = "Deploying fluent-operator";
const FLUENT_OBJECTS: &str = "Deploying fluent-operator CustomResources";
const FLUENT_BIT: &str = "Deploying fluent-bit";
const VALI: &str = "Deploying Vali";
const ETCDS: &str = "Deploying main and events ETCDs of virtual garden";
const ETCDS_READY: &str = "Waiting until main and event ETCDs report readiness";
const ENTRANCE: &str = "Deploying and waiting for kube-apiserver service in the runtime cluster";
const KUBE_APISERVER: &str = "Deploying Kubernetes API Server";
const KUBE_APISERVER_READY: &str = "Waiting until Kubernetes API server rolled out";
const KUBE_CONTROLLER_MANAGER: &str = "Deploying Kubernetes Controller Manager";
const VIRTUAL_RESOURCE_MANAGER: &str = "Deploying gardener-resource-manager for virtual garden";
const VIRTUAL_RESOURCE_MANAGER_READY: &str =
    "Waiting until gardener-resource-manager for virtual garden rolled out";
const GARDENER_APISERVER: &str = "Deploying Gardener API Server";
const GARDENER_APISERVER_READY: &str = "Waiting until Gardener API server rolled out";
const ADMISSION_CONTROLLER: &str = "Deploying Gardener Admission Controller";
const CONTROLLER_MANAGER: &str = "Deploying Gardener Controller Manager";
const SCHEDULER: &str = "Deploying Gardener Scheduler";
const ACCESS: &str = "Deploying resources for gardener-operator access to virtual garden";
const ACCESS_RENEWED: &str =
    "Renewing virtual garden access secrets after creation of new ServiceAccount signing key";
const CONNECTION: &str = "Initializing connection to virtual garden cluster";
const SEEDS_RENEW_ACCESS: &str = "Label seeds to trigger renewal of their garden access secrets";
const SEEDS_RENEWED_ACCESS: &str = "Check if all seeds finished the renewal of their garden access secrets";
const SEEDS_RENEW_KUBECONFIG: &str = "Label seeds to trigger renewal of their gardenlet kubeconfig";
const ENCRYPTED_ANEW: &str = "Labeling encrypted resources to re-encrypt them with new ETCD encryption key";

/// What serves the virtual cluster from the runtime cluster.
const RUNTIME_COMPONENTS: &[&str] = &[
    TOKEN_KUBECONFIG,
    RUNTIME_SYSTEM,
    FLUENT_DEFINITIONS,
    VPA,
    HVPA,
    DRUID,
    ISTIO,
    INGRESS,
    FLUENT_OPERATOR,
    FLUENT_OBJECTS,
    FLUENT_BIT,
    VALI,
];

const STEPS: &[FlowStep] = &[
    step(TOKEN_KUBECONFIG, &[]),
    step(ETCD_DEFINITIONS, &[]),
    step(VPA_DEFINITIONS, &[]).only(FlowCondition::PodAutoscaler),
    step(HVPA_DEFINITIONS, &[]),
    step(ISTIO_DEFINITIONS, &[]),
    step(FLUENT_DEFINITIONS, &[]),
    step(RESOURCE_MANAGER, &[ETCD_DEFINITIONS, VPA_DEFINITIONS, HVPA_DEFINITIONS, ISTIO_DEFINITIONS]),
    step(INGRESS, &[RESOURCE_MANAGER]),
    step(RUNTIME_SYSTEM, &[RESOURCE_MANAGER]),
    step(VPA, &[RESOURCE_MANAGER]),
    step(HVPA, &[RESOURCE_MANAGER]),
    step(DRUID, &[RESOURCE_MANAGER]),
    step(ISTIO, &[RESOURCE_MANAGER]),
    step(FLUENT_OPERATOR, &[RESOURCE_MANAGER, FLUENT_DEFINITIONS]),
    step(FLUENT_OBJECTS, &[RESOURCE_MANAGER, FLUENT_DEFINITIONS]),
    step(FLUENT_BIT, &[RESOURCE_MANAGER, FLUENT_DEFINITIONS]),
    step(VALI, &[RESOURCE_MANAGER]),
    step(ETCDS, RUNTIME_COMPONENTS),
    step(ETCDS_READY, &[ETCDS]),
    step(ENTRANCE, RUNTIME_COMPONENTS),
    step("Deploying Kubernetes API server service SNI", &[ENTRANCE]),
    step(KUBE_APISERVER, &[ETCDS_READY]),
    step(KUBE_APISERVER_READY, &[KUBE_APISERVER]),
    step(KUBE_CONTROLLER_MANAGER, &[KUBE_APISERVER_READY]),
    step(VIRTUAL_RESOURCE_MANAGER, &[KUBE_APISERVER_READY]),
    step(VIRTUAL_RESOURCE_MANAGER_READY, &[VIRTUAL_RESOURCE_MANAGER]),
    step(GARDENER_APISERVER, &[ETCDS_READY, KUBE_APISERVER_READY, VIRTUAL_RESOURCE_MANAGER_READY]),
    step(GARDENER_APISERVER_READY, &[GARDENER_APISERVER]),
    step(ADMISSION_CONTROLLER, &[GARDENER_APISERVER_READY]),
    step(CONTROLLER_MANAGER, &[GARDENER_APISERVER_READY]),
    step(SCHEDULER, &[GARDENER_APISERVER_READY]),
    step("Deploying virtual system resources", &[VIRTUAL_RESOURCE_MANAGER]),
    step(ACCESS, &[VIRTUAL_RESOURCE_MANAGER_READY]),
    step(
        ACCESS_RENEWED,
        &[
            KUBE_CONTROLLER_MANAGER,
            ACCESS,
            GARDENER_APISERVER,
            ADMISSION_CONTROLLER,
            CONTROLLER_MANAGER,
            SCHEDULER,
        ],
    )
    .only(FlowCondition::AccountKeyPreparing)
    .retried(5, 30),
    step(CONNECTION, &[ENTRANCE, ACCESS, ACCESS_RENEWED]).retried(1, 30),
    step(SEEDS_RENEW_ACCESS, &[CONNECTION]).only(FlowCondition::AccountKeyPreparing).retried(5, 30),
    step(SEEDS_RENEWED_ACCESS, &[SEEDS_RENEW_ACCESS])
        .only(FlowCondition::AccountKeyPreparing)
        .retried(5, 120),
    step(SEEDS_RENEW_KUBECONFIG, &[SEEDS_RENEWED_ACCESS])
        .only(FlowCondition::AuthoritiesPreparing)
        .retried(5, 30),
    step("Check if all seeds finished the renewal of their gardenlet kubeconfig", &[SEEDS_RENEW_KUBECONFIG])
        .only(FlowCondition::AuthoritiesPreparing)
        .retried(5, 120),
    step(ENCRYPTED_ANEW, &[CONNECTION, GARDENER_APISERVER_READY])
        .only(FlowCondition::EncryptionKeyPreparing)
        .retried(30, 600),
    step(
        "Snapshotting ETCD after encrypted resources were re-encrypted with new ETCD encryption key",
        &[ENCRYPTED_ANEW],
    )
    .only(FlowCondition::EncryptionKeyPreparingWithBackup),
    step(
        "Removing label from re-encrypted resources after rotation of ETCD encryption key",
        &[CONNECTION, GARDENER_APISERVER_READY],
    )
    .only(FlowCondition::EncryptionKeyCompleting)
    .retried(30, 600),
    step("Deploying Kube State Metrics", &[RESOURCE_MANAGER, KUBE_APISERVER_READY]),
    step(
        "Deploying Gardener Metrics Exporter",
        &[RESOURCE_MANAGER, KUBE_APISERVER_READY, GARDENER_APISERVER_READY],
    ),
    step("Deploying Plutono", &[RESOURCE_MANAGER]),
];

/// Brings a Garden to its specification.
pub const RECONCILIATION: Flow = Flow::new("Garden reconciliation", STEPS);
