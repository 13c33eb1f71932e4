//! The steps that take a Garden down.

use super::{Flow, FlowCondition, FlowStep, step};

const SCHEDULER: &str = "Destroying Gardener Scheduler";
const CONTROLLER_MANAGER: &str = "Destroying Gardener Controller Manager";
const ADMISSION_CONTROLLER: &str = "Destroying Gardener Admission Controller";
const GARDENER_APISERVER: &str = "Destroying Gardener API Server";
const VIRTUAL_SYSTEM: &str = "Destroying virtual system resources";
const ACCESS: &str = "Destroying Gardener virtual garden access resources";
const KUBE_CONTROLLER_MANAGER: &str = "Destroying Kubernetes Controller Manager Server";
const VIRTUAL_RESOURCE_MANAGER: &str = "Destroying gardener-resource-manager for virtual garden";
const NAME_ROUTING: &str = "Destroying Kubernetes API server service SNI";
const ENTRANCE: &str = "Destroying Kubernetes API Server service";
const KUBE_APISERVER: &str = "Destroying Kubernetes API Server";
const ETCDS: &str = "Destroying main and events ETCDs of virtual garden";
const TOKEN_KUBECONFIG: &str = "Cleaning up generic token kubeconfig";
const CONNECTION: &str = "Invalidate client for virtual garden";
const DRUID: &str = "Destroying ETCD Druid";
const ISTIO: &str = "Destroying Istio";
const HVPA: &str = "Destroying HVPA controller";
const VPA: &str = "Destroying Kubernetes vertical pod autoscaler";
const INGRESS: &str = "Destroying nginx-ingress controller";
const FLUENT_OBJECTS: &str = "Destroying fluent-operator custom resources";
const FLUENT_BIT: &str = "Destroying fluent-bit";
const FLUENT_OPERATOR: &str = "Destroying fluent-operator";
const VALI: &str = "Destroying Vali";
const RUNTIME_SYSTEM: &str = "Destroying runtime system resources";
const NO_MANAGED_RESOURCES: &str = "Ensuring no ManagedResources exist anymore";
const RESOURCE_MANAGER: &str = "Destroying and waiting for gardener-resource-manager to be deleted";

/// Everything that has objects in the virtual cluster.
const VIRTUAL_OBJECTS: &[&str] = &[
    SCHEDULER,
    CONTROLLER_MANAGER,
    ADMISSION_CONTROLLER,
    GARDENER_APISERVER,
    VIRTUAL_SYSTEM,
    ACCESS,
    KUBE_CONTROLLER_MANAGER,
];

/// The virtual cluster itself.
const VIRTUAL_CLUSTER: &[&str] =
    &[TOKEN_KUBECONFIG, VIRTUAL_RESOURCE_MANAGER, NAME_ROUTING, ENTRANCE, KUBE_APISERVER, ETCDS, CONNECTION];

/// What serves the virtual cluster from the runtime cluster.
const RUNTIME_COMPONENTS: &[&str] =
    &[DRUID, ISTIO, HVPA, VPA, INGRESS, FLUENT_OBJECTS, FLUENT_BIT, FLUENT_OPERATOR, VALI];

const STEPS: &[FlowStep] = &[
    step("Destroying Plutono", &[]),
    step("Destroying Gardener Metrics Exporter", &[]),
    step("Destroying Kube State Metrics", &[]),
    step(SCHEDULER, &[]),
    step(CONTROLLER_MANAGER, &[]),
    step(ADMISSION_CONTROLLER, &[]),
    step(GARDENER_APISERVER, &[]),
    step(VIRTUAL_SYSTEM, &[GARDENER_APISERVER]),
    step(ACCESS, &[]),
    step(KUBE_CONTROLLER_MANAGER, &[]),
    step(VIRTUAL_RESOURCE_MANAGER, VIRTUAL_OBJECTS),
    step(NAME_ROUTING, &[VIRTUAL_RESOURCE_MANAGER]),
    step(ENTRANCE, &[NAME_ROUTING]),
    step(KUBE_APISERVER, &[VIRTUAL_RESOURCE_MANAGER]),
    step(ETCDS, &[KUBE_APISERVER]),
    step(TOKEN_KUBECONFIG, &[KUBE_APISERVER, VIRTUAL_RESOURCE_MANAGER]),
    step(CONNECTION, &[KUBE_APISERVER, VIRTUAL_RESOURCE_MANAGER]),
    step(DRUID, VIRTUAL_CLUSTER),
    step(ISTIO, &[]),
    step(HVPA, VIRTUAL_CLUSTER),
    step(VPA, VIRTUAL_CLUSTER),
    step(INGRESS, VIRTUAL_CLUSTER),
    step(FLUENT_OBJECTS, VIRTUAL_CLUSTER),
    step(FLUENT_BIT, VIRTUAL_CLUSTER),
    step(FLUENT_OPERATOR, &[FLUENT_OBJECTS, FLUENT_BIT]),
    step(VALI, &[FLUENT_OBJECTS]),
    step(RUNTIME_SYSTEM, RUNTIME_COMPONENTS),
    step(NO_MANAGED_RESOURCES, &[RUNTIME_SYSTEM]),
    step(RESOURCE_MANAGER, &[NO_MANAGED_RESOURCES]),
    step("Destroying custom resource definition for fluent-operator", &[RESOURCE_MANAGER]),
    step("Destroying custom resource definition for Istio", &[RESOURCE_MANAGER]),
    step("Destroying custom resource definition for VPA", &[RESOURCE_MANAGER])
        .only(FlowCondition::PodAutoscaler),
    step("Destroying custom resource definition for HVPA", &[RESOURCE_MANAGER]).only(FlowCondition::Hvpa),
    step("Destroying ETCD-related custom resource definitions", &[RESOURCE_MANAGER]),
    step("Cleaning up secrets", &[RESOURCE_MANAGER]),
];

/// Takes a Garden down.
pub const DELETION: Flow = Flow::new("Garden deletion", STEPS);
