//! Asks the contract about control planes that Gardener emits (contracts/controlplane/objects) of the virtual cluster's: its objects are
//! those of a control plane of a Shoot without nodes, with a prefix in their names.

use std::collections::BTreeSet;
use std::sync::Arc;

use conformance::objects::{About, Checker, Read};
use conformance::report::Status;
use serde_json::{Value, json};

use super::fixture::Fixture;
use super::*;

/// The prefix, which control planes of Shoots do not have.
const PREFIX: &str = "virtual-garden-";
/// Clauses about kube-apiserver, its Service, kube-controller-manager and Etcds. Left out are those about the namespace (CP-150: that of
/// a Shoot) and about kube-apiserver's command (CP-136: Gardener itself differs).
const CLAUSES: [&str; 31] = [
    "CP-010", "CP-011", "CP-014", "CP-015", "CP-020", "CP-021", "CP-028", "CP-030", "CP-032", "CP-033",
    "CP-035", "CP-040", "CP-042", "CP-050", "CP-051", "CP-052", "CP-053", "CP-056", "CP-058", "CP-070",
    "CP-072", "CP-073", "CP-115", "CP-116", "CP-137", "CP-143", "CP-144", "CP-146", "CP-147", "CP-148",
    "CP-138",
];

fn kube_api_server(fields: &Value) -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": {"kubernetes": {"kubeAPIServer": fields}}}}))
        .with_secret("k", [("kubeconfig", "k")])
        .with_config_map("policy", "policy", "P")
}

fn everything() -> Fixture {
    kube_api_server(&json!({
        "admissionPlugins": [{"name": "ResourceQuota", "disabled": true}],
        "auditConfig": {"auditPolicy": {"configMapRef": {"name": "policy"}}},
        "auditWebhook": {"kubeconfigSecretName": "k"},
        "authentication": {"webhook": {"kubeconfigSecretName": "k"}},
        "oidcConfig": {"caBundle": "PEM", "issuerURL": "https://i", "clientID": "c"},
        "sni": {"secretName": "tls"},
    }))
    .with_hvpa()
    .with_seed_authorizer()
}

/// The objects of a Garden's control plane as those of a namespace, without the prefix.
fn read(fixture: &Fixture) -> Vec<Read> {
    let components = [
        GardenComponent::KubeApiServerService,
        GardenComponent::Etcd,
        GardenComponent::KubeApiServer,
        GardenComponent::KubeControllerManager,
    ];
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "garden"}});
    let mut objects = vec![namespace];
    for component in components {
        let rendering = component.render(&fixture.values()).unwrap();
        objects.extend(rendering.steps.iter().filter_map(DirectStep::object).cloned());
    }
    let unprefixed = objects.into_iter().map(|mut object| {
        let name = object["metadata"]["name"].as_str().unwrap();
        let name = name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
        object["metadata"]["name"] = name.into();
        Read { object: Arc::new(object), origin: String::new() }
    });
    unprefixed.collect()
}

/// Each clause is asked and kept, but for these: a Garden may choose a StorageClass, which a Shoot may not, and its annotations for
/// load balancers are put on the Service as those of a Seed are.
#[test]
fn the_contract_about_control_planes_is_kept() {
    let annotations = json!({"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"});
    let of_a_garden = Fixture::with(&json!({"spec": {
        "runtimeCluster": {"settings": {"loadBalancerServices": {"annotations": annotations}}},
        "virtualCluster": {
            "controlPlane": {"highAvailability": {}},
            "etcd": {"main": {"storage": {"className": "fast"}}},
            "kubernetes": {"version": "1.24.17"},
        },
    }}));
    let table: Vec<(&str, Fixture, &[&str])> = vec![
        ("everything", everything(), &[]),
        ("what only a Garden may have, in the oldest version", of_a_garden, &["CP-033", "CP-073"]),
    ];
    let mut contracts = contracts::of_component("controlplane").unwrap();
    for contract in &mut contracts {
        contract.clauses.retain(|clause| CLAUSES.contains(&clause.id.as_str()));
    }
    contracts.retain(|contract| !contract.clauses.is_empty());
    for (name, fixture, broken) in table {
        let mut checker = Checker::new(&contracts, Some("v1.82.0".to_owned()), false);
        checker.take(NAMESPACE, &read(&fixture));
        let report = checker.report(About::default());
        let clauses = || report.contracts.iter().flat_map(|contract| &contract.clauses);
        let with = |status: Status| -> BTreeSet<&str> {
            let found = clauses().filter(|clause| clause.cases.iter().any(|case| case.status == status));
            found.map(|clause| clause.id.as_str()).collect()
        };
        assert_eq!(with(Status::Failed), broken.iter().copied().collect(), "{name}");
        let answered: BTreeSet<&str> = with(Status::Passed).union(&with(Status::Failed)).copied().collect();
        assert_eq!(answered, CLAUSES.into_iter().collect(), "{name}");
    }
}
