//! Both flows beside a second account of the original: the lists of steps were taken from its source, this table from
//! a description of it.

use std::collections::BTreeSet;

use api::operator::Garden;
use rstest::rstest;
use serde_json::{Value, json};

use super::{DELETION, Flow, FlowFault, FlowStep, RECONCILIATION, step};

/// Names of steps, and the numbers, from 1, of those that they wait for.
const RECONCILED: [(&str, &[usize]); 45] = [
    ("Generating generic token kubeconfig", &[]),
    ("Deploying ETCD-related custom resource definitions", &[]),
    ("Deploying custom resource definitions for VPA", &[]),
    ("Reconciling custom resource definitions for HVPA", &[]),
    ("Deploying custom resource definitions for Istio", &[]),
    ("Deploying custom resource definitions for fluent-operator", &[]),
    ("Deploying and waiting for gardener-resource-manager to be healthy", &[2, 3, 4, 5]),
    ("Deploying nginx-ingress controller", &[7]),
    ("Deploying runtime system resources", &[7]),
    ("Deploying Kubernetes vertical pod autoscaler", &[7]),
    ("Deploying HVPA controller", &[7]),
    ("Deploying ETCD Druid", &[7]),
    ("Deploying Istio", &[7]),
    ("Deploying fluent-operator", &[6, 7]),
    ("Deploying fluent-operator CustomResources", &[6, 7]),
    ("Deploying fluent-bit", &[6, 7]),
    ("Deploying Vali", &[7]),
    ("Deploying main and events ETCDs of virtual garden", &[1, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]),
    ("Waiting until main and event ETCDs report readiness", &[18]),
    (
        "Deploying and waiting for kube-apiserver service in the runtime cluster",
        &[1, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
    ),
    ("Deploying Kubernetes API server service SNI", &[20]),
    ("Deploying Kubernetes API Server", &[19]),
    ("Waiting until Kubernetes API server rolled out", &[22]),
    ("Deploying Kubernetes Controller Manager", &[23]),
    ("Deploying gardener-resource-manager for virtual garden", &[23]),
    ("Waiting until gardener-resource-manager for virtual garden rolled out", &[25]),
    ("Deploying Gardener API Server", &[19, 23, 26]),
    ("Waiting until Gardener API server rolled out", &[27]),
    ("Deploying Gardener Admission Controller", &[28]),
    ("Deploying Gardener Controller Manager", &[28]),
    ("Deploying Gardener Scheduler", &[28]),
    ("Deploying virtual system resources", &[25]),
    ("Deploying resources for gardener-operator access to virtual garden", &[26]),
    (
        "Renewing virtual garden access secrets after creation of new ServiceAccount signing key",
        &[24, 27, 29, 30, 31, 33],
    ),
    ("Initializing connection to virtual garden cluster", &[20, 33, 34]),
    ("Label seeds to trigger renewal of their garden access secrets", &[35]),
    ("Check if all seeds finished the renewal of their garden access secrets", &[36]),
    ("Label seeds to trigger renewal of their gardenlet kubeconfig", &[37]),
    ("Check if all seeds finished the renewal of their gardenlet kubeconfig", &[38]),
    ("Labeling encrypted resources to re-encrypt them with new ETCD encryption key", &[28, 35]),
    ("Snapshotting ETCD after encrypted resources were re-encrypted with new ETCD encryption key", &[40]),
    ("Removing label from re-encrypted resources after rotation of ETCD encryption key", &[28, 35]),
    ("Deploying Kube State Metrics", &[7, 23]),
    ("Deploying Gardener Metrics Exporter", &[7, 23, 28]),
    ("Deploying Plutono", &[7]),
];

/// The same of the deletion.
const DELETED: [(&str, &[usize]); 35] = [
    ("Destroying Plutono", &[]),
    ("Destroying Gardener Metrics Exporter", &[]),
    ("Destroying Kube State Metrics", &[]),
    ("Destroying Gardener Scheduler", &[]),
    ("Destroying Gardener Controller Manager", &[]),
    ("Destroying Gardener Admission Controller", &[]),
    ("Destroying Gardener API Server", &[]),
    ("Destroying virtual system resources", &[7]),
    ("Destroying Gardener virtual garden access resources", &[]),
    ("Destroying Kubernetes Controller Manager Server", &[]),
    ("Destroying gardener-resource-manager for virtual garden", &[4, 5, 6, 7, 8, 9, 10]),
    ("Destroying Kubernetes API server service SNI", &[11]),
    ("Destroying Kubernetes API Server service", &[12]),
    ("Destroying Kubernetes API Server", &[11]),
    ("Destroying main and events ETCDs of virtual garden", &[14]),
    ("Cleaning up generic token kubeconfig", &[11, 14]),
    ("Invalidate client for virtual garden", &[11, 14]),
    ("Destroying ETCD Druid", &[11, 12, 13, 14, 15, 16, 17]),
    ("Destroying Istio", &[]),
    ("Destroying HVPA controller", &[11, 12, 13, 14, 15, 16, 17]),
    ("Destroying Kubernetes vertical pod autoscaler", &[11, 12, 13, 14, 15, 16, 17]),
    ("Destroying nginx-ingress controller", &[11, 12, 13, 14, 15, 16, 17]),
    ("Destroying fluent-operator custom resources", &[11, 12, 13, 14, 15, 16, 17]),
    ("Destroying fluent-bit", &[11, 12, 13, 14, 15, 16, 17]),
    ("Destroying fluent-operator", &[23, 24]),
    ("Destroying Vali", &[23]),
    ("Destroying runtime system resources", &[18, 19, 20, 21, 22, 23, 24, 25, 26]),
    ("Ensuring no ManagedResources exist anymore", &[27]),
    ("Destroying and waiting for gardener-resource-manager to be deleted", &[28]),
    ("Destroying custom resource definition for fluent-operator", &[29]),
    ("Destroying custom resource definition for Istio", &[29]),
    ("Destroying custom resource definition for VPA", &[29]),
    ("Destroying custom resource definition for HVPA", &[29]),
    ("Destroying ETCD-related custom resource definitions", &[29]),
    ("Cleaning up secrets", &[29]),
];

/// A Garden with the phase of one rotation.
fn garden(autoscaler: &Value, backup: bool, rotation: Option<(&str, &str)>) -> Garden {
    let backup = if backup { json!({"provider": "local", "bucketName": "backup"}) } else { json!(null) };
    let rotation = rotation.map_or(json!({}), |(name, phase)| json!({name: {"phase": phase}}));
    let garden = json!({
        "metadata": {"name": "garden"},
        "spec": {
            "runtimeCluster": {"settings": {"verticalPodAutoscaler": autoscaler}},
            "virtualCluster": {"etcd": {"main": {"backup": backup}}},
        },
        "status": {"credentials": {"rotation": rotation}},
    });
    serde_json::from_value(garden).unwrap()
}

#[rstest]
#[case(&RECONCILIATION, &RECONCILED)]
#[case(&DELETION, &DELETED)]
fn steps_are_those_of_the_original(#[case] flow: &Flow, #[case] want: &[(&str, &[usize])]) {
    assert!(flow.faults().is_empty(), "{:?}", flow.faults());
    assert_eq!(flow.steps.len(), want.len());
    for (step, (name, numbers)) in flow.steps.iter().zip(want) {
        let after: BTreeSet<&str> = numbers.iter().map(|number| want[number - 1].0).collect();
        assert_eq!(step.name, *name);
        assert_eq!(step.after.iter().copied().collect::<BTreeSet<_>>(), after, "{name}");
    }
}

/// The numbers of steps that are left out count from 1.
#[rstest]
#[case::nothing(
    &json!(null),
    false,
    None,
    &[3, 34, 36, 37, 38, 39, 40, 41, 42]
)]
#[case::autoscaler(
    &json!({"enabled": true}),
    false,
    None,
    &[34, 36, 37, 38, 39, 40, 41, 42]
)]
#[case::autoscaler_off(
    &json!({"enabled": false}),
    false,
    None,
    &[3, 34, 36, 37, 38, 39, 40, 41, 42]
)]
#[case::autoscaler_unset(
    &json!({}),
    false,
    None,
    &[3, 34, 36, 37, 38, 39, 40, 41, 42]
)]
#[case::authorities(
    &json!(null),
    false,
    Some(("certificateAuthorities", "Preparing")),
    &[3, 34, 36, 37, 40, 41, 42]
)]
#[case::account_key(
    &json!(null),
    false,
    Some(("serviceAccountKey", "Preparing")),
    &[3, 38, 39, 40, 41, 42]
)]
#[case::account_key_prepared(
    &json!(null),
    false,
    Some(("serviceAccountKey", "Prepared")),
    &[3, 34, 36, 37, 38, 39, 40, 41, 42]
)]
#[case::encryption_key(
    &json!(null),
    false,
    Some(("etcdEncryptionKey", "Preparing")),
    &[3, 34, 36, 37, 38, 39, 41, 42]
)]
#[case::encryption_key_and_backup(
    &json!(null),
    true,
    Some(("etcdEncryptionKey", "Preparing")),
    &[3, 34, 36, 37, 38, 39, 42]
)]
#[case::encryption_key_completing(
    &json!(null),
    true,
    Some(("etcdEncryptionKey", "Completing")),
    &[3, 34, 36, 37, 38, 39, 40, 41]
)]
fn steps_are_left_out(
    #[case] autoscaler: &Value,
    #[case] backup: bool,
    #[case] rotation: Option<(&str, &str)>,
    #[case] want: &[usize],
) {
    let garden = garden(autoscaler, backup, rotation);
    assert_eq!(left_out(&RECONCILIATION, &garden, false), want);
}

#[rstest]
#[case(false, false, &[32, 33])]
#[case(true, false, &[33])]
#[case(false, true, &[32])]
#[case(true, true, &[])]
fn definitions_stay(#[case] autoscaler: bool, #[case] hvpa: bool, #[case] want: &[usize]) {
    let garden = garden(&json!({"enabled": autoscaler}), false, None);
    assert_eq!(left_out(&DELETION, &garden, hvpa), want);
}

fn left_out(flow: &Flow, garden: &Garden, hvpa: bool) -> Vec<usize> {
    let names: BTreeSet<&str> = flow.applicable(garden, hvpa).map(|step| step.name).collect();
    let numbered = (1..).zip(flow.steps);
    numbered.filter(|(_, step)| !names.contains(step.name)).map(|(number, _)| number).collect()
}

const ITSELF: &[FlowStep] = &[step("a", &["a"])];
const LATER: &[FlowStep] = &[step("a", &["b"]), step("b", &[])];
const TWICE: &[FlowStep] = &[step("a", &[]), step("a", &[])];
const SOUND: &[FlowStep] = &[step("a", &[]), step("b", &["a"])];

#[rstest]
#[case(ITSELF, &[FlowFault::NotBefore { step: "a", dependency: "a" }])]
#[case(LATER, &[FlowFault::NotBefore { step: "a", dependency: "b" }])]
#[case(TWICE, &[FlowFault::Twice("a")])]
#[case(SOUND, &[])]
fn faults_are_found(#[case] steps: &'static [FlowStep], #[case] want: &[FlowFault]) {
    assert_eq!(Flow::new("flow", steps).faults(), want);
}

#[rstest]
#[case(&RECONCILIATION, "for VPA\n    only if spec.runtimeCluster.settings.verticalPodAutoscaler.enabled is true\n")]
#[case(&RECONCILIATION, "- Initializing connection to virtual garden cluster\n    tried again every 1s, for 30s\n")]
#[case(&DELETION, "Garden deletion\n- Destroying Plutono\n- Destroying Gardener Metrics Exporter\n")]
fn a_flow_is_printed(#[case] flow: &Flow, #[case] part: &str) {
    let text = flow.to_string();
    assert!(text.contains(part), "{text}");
}

/// Numbers of steps, from 1, with seconds between attempts and for all of them.
#[rstest]
#[case(
    &RECONCILIATION,
    &[
        (34, 5, 30),
        (35, 1, 30),
        (36, 5, 30),
        (37, 5, 120),
        (38, 5, 30),
        (39, 5, 120),
        (40, 30, 600),
        (42, 30, 600),
    ]
)]
#[case(&DELETION, &[])]
fn steps_are_tried_again(#[case] flow: &Flow, #[case] want: &[(usize, u64, u64)]) {
    let numbered = (1..).zip(flow.steps);
    let retries = numbered.filter_map(|(number, step)| {
        step.retry.map(|retry| (number, retry.every.as_secs(), retry.within.as_secs()))
    });
    assert_eq!(retries.collect::<Vec<_>>(), want);
}
