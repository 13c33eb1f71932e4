//! The edges of every kind, in the order of their names.

use api::garden::{
    BackupBucket, BackupEntry, Bastion, ControllerInstallation, ManagedSeed, Project, SecretBinding, Seed,
    Shoot,
};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use serde_json::json;

use super::*;

const NOW: &str = "2026-01-01T00:00:00Z";

fn edges_of<K: Contributes + DeserializeOwned>(object: &Value) -> Vec<String> {
    edges(&graph([event::<K>(object)]), time(NOW))
}

/// Vertices and edges of an object alone; after its deletion, nothing is left.
fn size<K: Contributes + DeserializeOwned>(object: &Value) -> (usize, usize) {
    let (vertex, contribution) = event::<K>(object);
    let mut graph = graph([(vertex.clone(), contribution)]);
    let size = (graph.vertices(time(NOW)).len(), graph.edges().len());
    graph.remove(&vertex);
    assert_eq!(graph, Graph::default());
    size
}

#[test]
fn backup_buckets_lead_from_their_secrets_to_their_seed() {
    let bucket = json!({
        "metadata": {"name": "b"},
        "spec": {"seedName": "s", "secretRef": {"namespace": "ns", "name": "a"}},
        "status": {"generatedSecretRef": {"namespace": "ns", "name": "g"}},
    });
    let want = ["BackupBucket:b -> Seed:s", "Secret:ns/a -> BackupBucket:b", "Secret:ns/g -> BackupBucket:b"];
    assert_eq!(edges_of::<BackupBucket>(&bucket), want);
    assert_eq!(size::<BackupBucket>(&bucket), (4, 3));
}

#[test]
fn backup_entries_lead_from_their_bucket_to_their_seeds_and_their_shoot() {
    let owner =
        |kind: &str, name: &str| json!({"apiVersion": "a/v1", "kind": kind, "name": name, "uid": "u"});
    let entry = json!({
        "metadata": {"namespace": "ns", "name": "e", "ownerReferences": [owner("Other", "x"), owner("Shoot", "y")]},
        "spec": {"seedName": "s", "bucketName": "b"},
        "status": {"seedName": "t"},
    });
    let want = [
        "BackupBucket:b -> BackupEntry:ns/e",
        "BackupEntry:ns/e -> Seed:s",
        "BackupEntry:ns/e -> Seed:t",
        "BackupEntry:ns/e -> Shoot:ns/y",
    ];
    assert_eq!(edges_of::<BackupEntry>(&entry), want);
    let alone = json!({"metadata": {"namespace": "ns", "name": "e"}, "spec": {"bucketName": "b"}});
    assert_eq!(edges_of::<BackupEntry>(&alone), want[..1]);
}

#[test]
fn bastions_and_projects_without_the_field_are_not_there() {
    let bastion = |spec: Value| json!({"metadata": {"namespace": "ns", "name": "b"}, "spec": spec});
    assert_eq!(edges_of::<Bastion>(&bastion(json!({"seedName": "s"}))), ["Bastion:ns/b -> Seed:s"]);
    assert_eq!(size::<Bastion>(&bastion(json!({}))), (0, 0));
    let project = |spec: Value| json!({"metadata": {"name": "p"}, "spec": spec});
    assert_eq!(edges_of::<Project>(&project(json!({"namespace": "ns"}))), ["Project:p -> Namespace:ns"]);
    assert_eq!(size::<Project>(&project(json!({}))), (0, 0));
}

#[test]
fn requests_of_gardenlets_lead_to_their_seeds() {
    let csr = |organization: &str, name: &str, usages: &[&str]| {
        let mut parameters = rcgen::CertificateParams::default();
        parameters.distinguished_name.remove(rcgen::DnType::CommonName);
        parameters.distinguished_name.push(rcgen::DnType::OrganizationName, organization);
        parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = rcgen::KeyPair::generate().unwrap();
        let pem = parameters.serialize_request(&key).unwrap().pem().unwrap();
        json!({"metadata": {"name": "c"}, "spec": {
            "request": formats::base64::encode(pem.as_bytes()), "signerName": "any", "usages": usages}})
    };
    let (seeds, seed) = ("gardener.cloud:system:seeds", "gardener.cloud:system:seed:s");
    let usages = ["client auth", "digital signature", "key encipherment"];
    let edges = |organization: &str, name: &str, usages: &[&str]| {
        edges_of::<CertificateSigningRequest>(&csr(organization, name, usages))
    };
    assert_eq!(edges(seeds, seed, &usages), ["CertificateSigningRequest:c -> Seed:s"]);
    let bare = "gardener.cloud:system:seed:";
    assert_eq!(edges(seeds, bare, &usages), ["CertificateSigningRequest:c -> Seed:"]);
    let none: [&str; 0] = [];
    assert_eq!(edges("other", seed, &usages), none);
    assert_eq!(edges(seeds, "s", &usages), none);
    assert_eq!(edges(seeds, seed, &usages[..2]), none);
    let broken = json!({"metadata": {"name": "c"}, "spec": {"request": "YQ==", "signerName": "any"}});
    assert_eq!(edges_of::<CertificateSigningRequest>(&broken), none);
}

#[test]
fn controller_installations_lead_from_registration_and_deployment_to_their_seed() {
    let installation = |deployment: Value| {
        json!({"metadata": {"name": "i"}, "spec": {
            "seedRef": {"name": "s"}, "registrationRef": {"name": "r"}, "deploymentRef": deployment}})
    };
    let want = [
        "ControllerDeployment:d -> ControllerInstallation:i",
        "ControllerInstallation:i -> Seed:s",
        "ControllerRegistration:r -> ControllerInstallation:i",
    ];
    assert_eq!(edges_of::<ControllerInstallation>(&installation(json!({"name": "d"}))), want);
    assert_eq!(edges_of::<ControllerInstallation>(&installation(Value::Null)), want[1..]);
}

#[test]
fn secret_bindings_and_service_accounts_lead_from_their_secrets() {
    let binding =
        json!({"metadata": {"namespace": "ns", "name": "b"}, "secretRef": {"namespace": "o", "name": "a"}});
    assert_eq!(edges_of::<SecretBinding>(&binding), ["Secret:o/a -> SecretBinding:ns/b"]);
    let account = |name: &str| json!({"metadata": {"namespace": "ns", "name": name}, "secrets": [{"name": "x"}, {"name": "y"}]});
    let want =
        ["x", "y"].map(|secret| format!("Secret:ns/{secret} -> ServiceAccount:ns/gardenlet-bootstrap-a"));
    assert_eq!(edges_of::<ServiceAccount>(&account("gardenlet-bootstrap-a")), want);
    assert_eq!(size::<ServiceAccount>(&account("gardenlet-bootstrap-a")), (3, 2));
    assert_eq!(size::<ServiceAccount>(&account("a")), (0, 0));
}

#[test]
fn seeds_are_led_to_by_their_secrets_and_by_what_each_of_them_needs() {
    let always = [
        "ConfigMap:kube-system/cluster-identity -> Seed:s",
        "Lease:gardener-system-seed-lease/s -> Seed:s",
        "Namespace:seed-s -> Seed:s",
    ];
    assert_eq!(edges_of::<Seed>(&json!({"metadata": {"name": "s"}})), always);
    let reference = |name: &str| json!({"namespace": "ns", "name": name});
    let seed = json!({"metadata": {"name": "s"}, "spec": {
        "secretRef": reference("a"), "backup": {"secretRef": reference("b")},
        "dns": {"provider": {"secretRef": reference("c")}}}});
    let secrets = ["Secret:ns/a -> Seed:s", "Secret:ns/b -> Seed:s", "Secret:ns/c -> Seed:s"];
    assert_eq!(edges_of::<Seed>(&seed), [always, secrets].concat());
    assert_eq!(size::<Seed>(&seed), (7, 6));
}

#[test]
fn shoots_are_led_to_by_what_they_refer_to_and_by_what_belongs_to_them() {
    let always = [
        "CloudProfile:profile -> Shoot:ns/x",
        "InternalSecret:ns/x.ca-client -> Shoot:ns/x",
        "Namespace:ns -> Shoot:ns/x",
        "Secret:ns/x.ca-cluster -> Shoot:ns/x",
        "Secret:ns/x.kubeconfig -> Shoot:ns/x",
        "Secret:ns/x.monitoring -> Shoot:ns/x",
        "Secret:ns/x.ssh-keypair -> Shoot:ns/x",
        "Secret:ns/x.ssh-keypair.old -> Shoot:ns/x",
        "ShootState:ns/x -> Shoot:ns/x",
    ];
    let metadata = json!({"namespace": "ns", "name": "x"});
    assert_eq!(
        edges_of::<Shoot>(&json!({"metadata": metadata, "spec": {"cloudProfileName": "profile"}})),
        always
    );
    let resource = |kind: &str, version: &str, name: &str| json!({"name": name, "resourceRef": {"kind": kind, "apiVersion": version, "name": name}});
    let shoot = json!({"metadata": metadata, "status": {"seedName": "t"}, "spec": {
        "cloudProfileName": "profile", "seedName": "s", "secretBindingName": "binding", "exposureClassName": "class",
        "kubernetes": {"kubeAPIServer": {"auditConfig": {"auditPolicy": {"configMapRef": {"name": "policy"}}}}},
        "dns": {"providers": [{"secretName": "dns"}, {}]},
        "resources": [resource("Secret", "v1", "r1"), resource("ConfigMap", "v1", "r2"), resource("Secret", "v2", "r3"),
            resource("Other", "v1", "r4")]}});
    let mut want: Vec<String> = always.map(str::to_owned).into();
    want.extend(
        [
            "ConfigMap:ns/policy -> Shoot:ns/x",
            "ConfigMap:ns/r2 -> Shoot:ns/x",
            "ExposureClass:class -> Shoot:ns/x",
            "Secret:ns/dns -> Shoot:ns/x",
            "Secret:ns/r1 -> Shoot:ns/x",
            "SecretBinding:ns/binding -> Shoot:ns/x",
            "Shoot:ns/x -> Seed:s",
            "Shoot:ns/x -> Seed:t",
        ]
        .map(str::to_owned),
    );
    want.sort();
    let mut found = edges_of::<Shoot>(&shoot);
    found.sort();
    assert_eq!(found, want);
}

const TOKEN: &str = "Secret:kube-system/bootstrap-token-d6c1db -> ManagedSeed:garden/seed";
const ACCOUNT: [&str; 2] = [
    "ClusterRoleBinding:gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-seed -> ManagedSeed:garden/seed",
    "ServiceAccount:garden/gardenlet-bootstrap-seed -> ManagedSeed:garden/seed",
];

fn managed_seed(bootstrap: &Value, annotations: &Value) -> (Vertex, Contribution) {
    let config = json!({"apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration",
        "seedConfig": {"spec": {"secretRef": {"namespace": "ns", "name": "a"}, "backup": {"secretRef": {"namespace": "ns", "name": "b"}}}}});
    event::<ManagedSeed>(&json!({
        "metadata": {"namespace": "garden", "name": "seed", "annotations": annotations},
        "spec": {"shoot": {"name": "x"}, "gardenlet": {"bootstrap": bootstrap, "config": config}},
    }))
}

/// What a graph has beside the edges that a ManagedSeed always has.
fn bootstrap_edges(graph: &Graph, now: &str) -> Vec<String> {
    let always = [
        "ManagedSeed:garden/seed -> Shoot:garden/x",
        "Secret:ns/a -> ManagedSeed:garden/seed",
        "Secret:ns/b -> ManagedSeed:garden/seed",
    ];
    let (known, others): (Vec<_>, Vec<_>) =
        edges(graph, time(now)).into_iter().partition(|edge| always.contains(&edge.as_str()));
    assert_eq!(known, always);
    others.into_iter().filter(|edge| edge.contains("ManagedSeed")).collect()
}

#[test]
fn managed_seeds_are_led_to_by_what_their_gardenlets_need() {
    let none = || Value::Null;
    assert_eq!(bootstrap_edges(&graph([managed_seed(&none(), &none())]), NOW), [""; 0]);
    assert_eq!(bootstrap_edges(&graph([managed_seed(&json!("None"), &none())]), NOW), [""; 0]);
    assert_eq!(bootstrap_edges(&graph([managed_seed(&json!("BootstrapToken"), &none())]), NOW), [TOKEN]);
    let mut of_account = graph([managed_seed(&json!("ServiceAccount"), &none())]);
    assert_eq!(bootstrap_edges(&of_account, NOW), ACCOUNT);
    // Another mode takes the edges of the one before away.
    let (vertex, contribution) = managed_seed(&json!("BootstrapToken"), &none());
    of_account.put(&vertex, contribution);
    assert_eq!(bootstrap_edges(&of_account, NOW), [TOKEN]);
    let name = json!({"seedmanagement.gardener.cloud/seed-secret-name": "c"});
    let both = json!({"seedmanagement.gardener.cloud/seed-secret-name": "c",
        "seedmanagement.gardener.cloud/seed-secret-namespace": "ns"});
    assert_eq!(bootstrap_edges(&graph([managed_seed(&none(), &name)]), NOW), [""; 0]);
    let annotated = graph([managed_seed(&none(), &both)]);
    assert_eq!(bootstrap_edges(&annotated, NOW), ["Secret:ns/c -> ManagedSeed:garden/seed"]);
    let broken = json!({"metadata": {"namespace": "garden", "name": "seed"},
        "spec": {"shoot": {"name": "x"}, "gardenlet": {"bootstrap": "BootstrapToken"}}});
    assert_eq!(edges_of::<ManagedSeed>(&broken), ["ManagedSeed:garden/seed -> Shoot:garden/x"]);
}

#[test]
fn a_gardenlet_gets_credentials_while_it_has_no_valid_certificate() {
    let seed = |expiry: Value| {
        let status = json!({"clientCertificateExpirationTimestamp": expiry});
        event::<Seed>(&json!({"metadata": {"name": "seed"}, "status": status}))
    };
    let managed = |annotations: Value| managed_seed(&json!("BootstrapToken"), &annotations);
    let renews = json!({"gardener.cloud/operation": "renew-kubeconfig"});
    let expires = json!("2026-06-01T00:00:00Z");
    let table = [
        (graph([managed(Value::Null), seed(Value::Null)]), NOW, false),
        (graph([seed(Value::Null), managed(Value::Null)]), NOW, false),
        (graph([managed(Value::Null), seed(expires.clone())]), "2026-05-31T23:59:59Z", false),
        (graph([managed(Value::Null), seed(expires.clone())]), "2026-06-01T00:00:00Z", false),
        (graph([managed(Value::Null), seed(expires.clone())]), "2026-06-01T00:00:01Z", true),
        (graph([seed(expires.clone()), managed(renews.clone())]), NOW, true),
        (graph([seed(Value::Null), managed(renews)]), NOW, true),
    ];
    for (index, (graph, now, allowed)) in table.into_iter().enumerate() {
        let want: &[&str] = if allowed { &[TOKEN] } else { &[] };
        assert_eq!(bootstrap_edges(&graph, now), want, "row {index}");
    }
    // A deleted Seed restores the edge; the original forgets it.
    let (vertex, contribution) = seed(Value::Null);
    let mut graph = graph([managed(Value::Null), (vertex.clone(), contribution)]);
    graph.remove(&vertex);
    assert_eq!(bootstrap_edges(&graph, NOW), [TOKEN]);
}
