//! Every rule with both outcomes and every text. The form `process` of contracts sends the program a row of each clause
//! (contracts/admission-controller/webhooks/seed-restriction); here are all.

use std::sync::Arc;

use api::garden::{BackupBucket, BackupEntry, ManagedSeed, Seed, Shoot};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::seed_identity::ClientKind;

/// Objects of a garden, by kind.
struct Objects(Vec<Value>);

impl Objects {
    fn all<K: DeserializeOwned>(&self, kind: &str) -> Vec<Arc<K>> {
        let of_kind = self.0.iter().filter(|object| object["kind"] == kind);
        of_kind.map(|object| Arc::new(serde_json::from_value(object.clone()).unwrap())).collect()
    }

    fn find<K: DeserializeOwned>(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<K>> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let found = self.0.iter().find(|object| {
            let metadata = &object["metadata"];
            object["kind"] == kind
                && text(&metadata["namespace"]) == namespace
                && text(&metadata["name"]) == name
        });
        found.map(|object| Arc::new(serde_json::from_value(object.clone()).unwrap()))
    }
}

impl GardenObjects for Objects {
    fn backup_bucket(&self, name: &str) -> Option<Arc<BackupBucket>> {
        self.find("BackupBucket", "", name)
    }

    fn backup_entry(&self, namespace: &str, name: &str) -> Option<Arc<BackupEntry>> {
        self.find("BackupEntry", namespace, name)
    }

    fn managed_seed(&self, namespace: &str, name: &str) -> Option<Arc<ManagedSeed>> {
        self.find("ManagedSeed", namespace, name)
    }

    fn managed_seeds(&self) -> Vec<Arc<ManagedSeed>> {
        self.all("ManagedSeed")
    }

    fn seed(&self, name: &str) -> Option<Arc<Seed>> {
        self.find("Seed", "", name)
    }

    fn shoot(&self, namespace: &str, name: &str) -> Option<Arc<Shoot>> {
        self.find("Shoot", namespace, name)
    }
}

const FOREIGN: &str = "object does not belong to seed \"mine\"";
const NOW: &str = "2026-01-01T00:00:00Z";

fn reference(namespace: &str, name: &str) -> Value {
    json!({"namespace": namespace, "name": name})
}

fn managed_seed(name: &str, shoot: &str, more: &Value) -> Value {
    let config = json!({"apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration",
        "seedConfig": {"spec": {"secretRef": reference("garden", &format!("{name}-kubeconfig")),
            "backup": {"secretRef": reference("garden", &format!("{name}-backup"))}}}});
    let mut metadata = json!({"namespace": "garden", "name": name});
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"kind": "ManagedSeed", "metadata": metadata,
        "spec": {"shoot": {"name": shoot}, "gardenlet": {"config": config}}})
}

fn shoot(name: &str, seed: &str, status: &Value) -> Value {
    json!({"kind": "Shoot", "metadata": {"namespace": "garden", "name": name}, "spec": {"seedName": seed}, "status": status})
}

fn garden() -> Objects {
    let seed = |name: &str, uid: &str, expiry: Value| {
        json!({"kind": "Seed", "metadata": {"name": name, "uid": uid},
            "status": {"clientCertificateExpirationTimestamp": expiry}})
    };
    let bucket = |name: &str, seed: &str| json!({"kind": "BackupBucket", "metadata": {"name": name}, "spec": {"seedName": seed}});
    let restoring = json!({"seedName": "mine", "lastOperation": {"type": "Restore", "state": "Processing"}});
    let renewing = json!({"annotations": {"gardener.cloud/operation": "renew-kubeconfig"}});
    let deleting = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
    let none = json!({});
    Objects(vec![
        seed("mine", "uid-of-mine", Value::Null),
        seed("valid", "1", json!("2026-06-01T00:00:00Z")),
        seed("expired", "2", json!("2025-06-01T00:00:00Z")),
        seed("renewing", "3", json!("2026-06-01T00:00:00Z")),
        bucket("mine", "mine"),
        bucket("other", "other"),
        shoot("mine", "mine", &none),
        shoot("other", "other", &none),
        shoot("migrated", "other", &json!({"seedName": "mine"})),
        shoot("restoring", "mine", &restoring),
        shoot("restored", "mine", &json!({"lastOperation": {"type": "Restore", "state": "Succeeded"}})),
        shoot("reconciling", "mine", &json!({"lastOperation": {"type": "Reconcile", "state": "Processing"}})),
        json!({"kind": "BackupEntry", "metadata": {"namespace": "garden", "name": "entry"},
            "spec": {"bucketName": "mine", "seedName": "mine"}}),
        managed_seed("valid", "mine", &none),
        managed_seed("expired", "mine", &none),
        managed_seed("renewing", "mine", &renewing),
        managed_seed("absent", "mine", &none),
        managed_seed("foreign", "other", &none),
        managed_seed("deleting", "mine", &deleting),
        managed_seed("deleting-elsewhere", "other", &deleting),
    ])
}

/// A request: `VERB group/resource namespace/name`; `-` is an empty text.
fn judged(client: ClientKind, garden: &Objects, request: &str, object: &Value) -> (u16, String) {
    let words: Vec<&str> = request.split(' ').collect();
    let [operation, resource, of] = words.as_slice() else { panic!("{request}") };
    let part = |text: &str, index: usize| {
        text.split('/').nth(index).filter(|part| *part != "-").unwrap_or_default().to_owned()
    };
    let body = json!({"operation": operation, "namespace": part(of, 0), "name": part(of, 1),
        "resource": {"group": part(resource, 0), "version": "any", "resource": part(resource, 1)}, "object": object});
    let text = body.to_string();
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
    let client = SeedClient { seed: "mine".to_owned(), kind: client };
    match validate(&client, &request, garden, NOW.parse().unwrap()) {
        Ok(()) => (200, String::new()),
        Err(rejection) => (rejection.code, rejection.message),
    }
}

fn check(rows: &[(&str, Value, u16, &str)]) {
    for (request, object, code, message) in rows {
        let found = judged(ClientKind::Gardenlet, &garden(), request, object);
        assert_eq!(found, (*code, (*message).to_owned()), "{request} {object}");
    }
}

#[test]
fn operations_that_a_row_does_not_have_are_refused_first() {
    let resources = [
        ("core.gardener.cloud/backupbuckets", vec!["UPDATE", "CONNECT"]),
        ("core.gardener.cloud/backupentries", vec!["UPDATE", "DELETE", "CONNECT"]),
        ("operations.gardener.cloud/bastions", vec!["UPDATE", "DELETE"]),
        ("certificates.k8s.io/certificatesigningrequests", vec!["UPDATE", "DELETE"]),
        ("rbac.authorization.k8s.io/clusterrolebindings", vec!["UPDATE", "DELETE"]),
        ("core.gardener.cloud/internalsecrets", vec!["UPDATE", "DELETE"]),
        ("coordination.k8s.io/leases", vec!["UPDATE", "DELETE"]),
        ("-/secrets", vec!["UPDATE", "DELETE"]),
        ("-/serviceaccounts", vec!["UPDATE", "DELETE"]),
        ("core.gardener.cloud/shootstates", vec!["UPDATE", "DELETE"]),
    ];
    for (resource, operations) in resources {
        for operation in operations {
            for client in [ClientKind::Gardenlet, ClientKind::Extension] {
                let found = judged(client, &garden(), &format!("{operation} {resource} a/b"), &json!({}));
                assert_eq!(found, (400, format!("unexpected operation: \"{operation}\"")), "{resource}");
            }
        }
    }
    let other = judged(ClientKind::Gardenlet, &garden(), "DELETE apps/deployments a/b", &Value::Null);
    assert_eq!(other, (200, String::new()));
}

#[test]
fn objects_that_are_read_must_be_there_and_well_formed() {
    for (request, object) in [
        ("CREATE core.gardener.cloud/backupbuckets -/a", json!({"spec": 5})),
        ("CREATE core.gardener.cloud/backupentries a/b", json!({"spec": 5})),
        ("CREATE operations.gardener.cloud/bastions a/b", json!({"spec": 5})),
        ("CREATE certificates.k8s.io/certificatesigningrequests -/a", json!({"spec": 5})),
        (
            "CREATE rbac.authorization.k8s.io/clusterrolebindings -/gardener.cloud:system:seed-bootstrapper:a",
            json!({"roleRef": 5}),
        ),
        ("CREATE -/secrets kube-system/bootstrap-token-a", json!({"data": 5})),
    ] {
        for object in [object, Value::Null] {
            let (code, message) = judged(ClientKind::Gardenlet, &garden(), request, &object);
            assert_eq!(code, 400, "{request} {object}: {message}");
        }
    }
}

#[test]
fn backups_belong_to_the_seed() {
    let with = |spec: Value| json!({"metadata": {"namespace": "garden", "name": "e"}, "spec": spec});
    let create = "CREATE core.gardener.cloud/backupbuckets -/a";
    let entry = "CREATE core.gardener.cloud/backupentries garden/e";
    check(&[
        (create, with(json!({"seedName": "mine"})), 200, ""),
        (create, with(json!({"seedName": "other"})), 403, FOREIGN),
        (create, with(json!({})), 403, FOREIGN),
        ("DELETE core.gardener.cloud/backupbuckets -/uid-of-mine", Value::Null, 200, ""),
        (
            "DELETE core.gardener.cloud/backupbuckets -/mine",
            Value::Null,
            403,
            "cannot delete unrelated BackupBucket",
        ),
        (entry, with(json!({"seedName": "mine", "bucketName": "mine"})), 200, ""),
        (entry, with(json!({"seedName": "other", "bucketName": "mine"})), 403, FOREIGN),
        (entry, with(json!({"bucketName": "mine"})), 403, FOREIGN),
        (entry, with(json!({"seedName": "mine", "bucketName": "other"})), 403, FOREIGN),
        (
            entry,
            with(json!({"seedName": "mine", "bucketName": "none"})),
            500,
            "BackupBucket.core.gardener.cloud \"none\" not found",
        ),
        ("CREATE operations.gardener.cloud/bastions garden/b", with(json!({"seedName": "mine"})), 200, ""),
        (
            "CREATE operations.gardener.cloud/bastions garden/b",
            with(json!({"seedName": "other"})),
            403,
            FOREIGN,
        ),
        ("CREATE operations.gardener.cloud/bastions garden/b", with(json!({})), 403, FOREIGN),
        ("CREATE core.gardener.cloud/shootstates garden/mine", Value::Null, 200, ""),
        ("CREATE core.gardener.cloud/shootstates garden/migrated", Value::Null, 200, ""),
        ("CREATE core.gardener.cloud/shootstates garden/other", Value::Null, 403, FOREIGN),
        (
            "CREATE core.gardener.cloud/shootstates garden/none",
            Value::Null,
            500,
            "Shoot.core.gardener.cloud \"none\" not found",
        ),
    ]);
    let without_seed = judged(
        ClientKind::Gardenlet,
        &Objects(Vec::new()),
        "DELETE core.gardener.cloud/backupbuckets -/a",
        &Value::Null,
    );
    assert_eq!(without_seed, (500, "Seed.core.gardener.cloud \"mine\" not found".to_owned()));
}

#[test]
fn the_source_of_a_restoration_equals_the_original() {
    let entry = |name: &str, shoot: &str, bucket: &str| {
        let owners = json!([{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "name": shoot, "uid": "u"}]);
        json!({"metadata": {"namespace": "garden", "name": name, "ownerReferences": owners},
            "spec": {"bucketName": bucket, "seedName": "mine"}})
    };
    let only = "creation of source BackupEntry is only allowed during shoot Restore operation";
    let request = "CREATE core.gardener.cloud/backupentries garden/e";
    check(&[
        (request, entry("source-entry", "restoring", "mine"), 200, ""),
        (
            request,
            entry("source-entry", "restoring", "other"),
            403,
            "specification of source BackupEntry must equal specification of original BackupEntry entry",
        ),
        (
            request,
            entry("source-none", "restoring", "mine"),
            403,
            "could not find original BackupEntry none: BackupEntry.core.gardener.cloud \"none\" not found",
        ),
        // Without the dash, an entry is its own original.
        (
            request,
            entry("sourcefoo", "restoring", "mine"),
            403,
            "could not find original BackupEntry sourcefoo: BackupEntry.core.gardener.cloud \"sourcefoo\" not found",
        ),
        (request, entry("source-entry", "restored", "mine"), 403, &format!("{only} (shoot: restored)")),
        (request, entry("source-entry", "reconciling", "mine"), 403, &format!("{only} (shoot: reconciling)")),
        (request, entry("source-entry", "mine", "mine"), 403, &format!("{only} (shoot: mine)")),
        (request, entry("source-entry", "none", "mine"), 500, "Shoot.core.gardener.cloud \"none\" not found"),
    ]);
}

/// A CertificateSigningRequest whose subject and DNS names are these.
fn csr(organizations: &[&str], name: &str, dns: Vec<String>, usages: &[&str]) -> Value {
    let mut parameters = rcgen::CertificateParams::new(dns).unwrap();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    for organization in organizations {
        parameters.distinguished_name.push(rcgen::DnType::OrganizationName, *organization);
    }
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = parameters.serialize_request(&key).unwrap().pem().unwrap();
    json!({"spec": {"request": formats::base64::encode(pem.as_bytes()), "signerName": "any", "usages": usages}})
}

#[test]
fn gardenlets_request_certificates_for_their_own_seed() {
    let usages = ["digital signature", "client auth", "key encipherment"];
    let seeds = ["gardener.cloud:system:seeds"];
    let name = "gardener.cloud:system:seed:mine";
    let only = "can only create CSRs for seed clusters:";
    let request = "CREATE certificates.k8s.io/certificatesigningrequests -/a";
    check(&[
        (request, csr(&seeds, name, vec![], &usages), 200, ""),
        (request, csr(&seeds, "gardener.cloud:system:seed:other", vec![], &usages), 403, FOREIGN),
        (request, csr(&seeds, "gardener.cloud:system:seed:", vec![], &usages), 403, FOREIGN),
        (
            request,
            csr(&["other"], name, vec![], &usages),
            403,
            &format!("{only} subject's organization is not set to [gardener.cloud:system:seeds]"),
        ),
        (
            request,
            csr(&seeds, name, vec!["a.example.com".to_owned()], &usages),
            403,
            &format!("{only} DNSNames, EmailAddresses and IPAddresses fields must be empty"),
        ),
        (
            request,
            csr(&seeds, name, vec![], &usages[..2]),
            403,
            &format!("{only} key usages are not set to [key encipherment digital signature client auth]"),
        ),
        (
            request,
            csr(&seeds, name, vec![], &["client auth", "digital signature", "key encipherment", "any"]),
            403,
            &format!("{only} key usages are not set to [key encipherment digital signature client auth]"),
        ),
        (
            request,
            csr(&seeds, "mine", vec![], &usages),
            403,
            &format!("{only} CommonName does not start with \"gardener.cloud:system:seed:\""),
        ),
        (
            request,
            json!({"spec": {"request": "YQ==", "signerName": "any"}}),
            400,
            "PEM block type must be CERTIFICATE REQUEST",
        ),
    ]);
}

#[test]
fn gardenlets_give_credentials_to_the_gardenlets_that_they_deploy() {
    let role = |group: &str, kind: &str, name: &str| json!({"roleRef": {"apiGroup": group, "kind": kind, "name": name}});
    let (rbac, bootstrapper) = ("rbac.authorization.k8s.io", "gardener.cloud:system:seed-bootstrapper");
    let right = role(rbac, "ClusterRole", bootstrapper);
    let wrong = "can only bindings referring to the bootstrapper role";
    let request =
        |of: &str| format!("CREATE rbac.authorization.k8s.io/clusterrolebindings -/{bootstrapper}:{of}");
    let account = |of: &str| format!("CREATE -/serviceaccounts garden/gardenlet-bootstrap-{of}");
    let refusal = "managed seed garden/valid is already bootstrapped";
    check(&[
        (&request("garden:gardenlet-bootstrap-absent"), right.clone(), 200, ""),
        (&request("garden:gardenlet-bootstrap-expired"), right.clone(), 200, ""),
        (&request("garden:gardenlet-bootstrap-renewing"), right.clone(), 200, ""),
        (&request("garden:gardenlet-bootstrap-valid"), right.clone(), 400, refusal),
        (&request("garden:gardenlet-bootstrap-foreign"), right.clone(), 403, FOREIGN),
        (
            &request("garden:gardenlet-bootstrap-none"),
            right.clone(),
            403,
            "ManagedSeed.seedmanagement.gardener.cloud \"none\" not found",
        ),
        (
            &request("gardenlet-bootstrap-absent"),
            right.clone(),
            403,
            "ManagedSeed.seedmanagement.gardener.cloud \"absent\" not found",
        ),
        (
            &request("garden:gardenlet-bootstrap-absent"),
            role("other", "ClusterRole", bootstrapper),
            403,
            wrong,
        ),
        (&request("garden:gardenlet-bootstrap-absent"), role(rbac, "Role", bootstrapper), 403, wrong),
        (
            &request("garden:gardenlet-bootstrap-absent"),
            role(rbac, "ClusterRole", "cluster-admin"),
            403,
            wrong,
        ),
        ("CREATE rbac.authorization.k8s.io/clusterrolebindings -/other", right.clone(), 403, FOREIGN),
        (&account("absent"), Value::Null, 200, ""),
        (&account("valid"), Value::Null, 400, refusal),
        (&account("foreign"), Value::Null, 403, FOREIGN),
        ("CREATE -/serviceaccounts seed-mine/any", Value::Null, 200, ""),
        ("CREATE -/serviceaccounts seed-other/any", Value::Null, 403, FOREIGN),
    ]);
    let lost = Objects(vec![managed_seed("lost", "none", &json!({}))]);
    let found = judged(ClientKind::Gardenlet, &lost, &account("lost"), &Value::Null);
    assert_eq!(found, (500, "Shoot.core.gardener.cloud \"none\" not found".to_owned()));
}

#[test]
fn extensions_work_in_the_namespace_of_the_seed() {
    let leases = "extension client can only create leases in the namespace for seed \"mine\"";
    for (request, code, message) in [
        (
            "CREATE certificates.k8s.io/certificatesigningrequests -/a",
            403,
            "extension client may not create CertificateSigningRequests",
        ),
        (
            "CREATE rbac.authorization.k8s.io/clusterrolebindings -/a",
            403,
            "extension client may not create ClusterRoleBindings",
        ),
        ("CREATE -/serviceaccounts seed-mine/a", 403, "extension client may not create ServiceAccounts"),
        ("CREATE coordination.k8s.io/leases seed-mine/a", 200, ""),
        ("CREATE coordination.k8s.io/leases seed-other/a", 403, leases),
        ("CREATE coordination.k8s.io/leases garden/gardenlet-leader-election", 403, leases),
        ("UPDATE core.gardener.cloud/seeds -/mine", 200, ""),
    ] {
        let found = judged(ClientKind::Extension, &garden(), request, &Value::Null);
        assert_eq!(found, (code, message.to_owned()), "{request}");
    }
}

#[test]
fn leases_are_those_of_elections_and_of_the_seed() {
    check(&[
        ("CREATE coordination.k8s.io/leases any/gardenlet-leader-election", Value::Null, 200, ""),
        ("CREATE coordination.k8s.io/leases gardener-system-seed-lease/mine", Value::Null, 200, ""),
        ("CREATE coordination.k8s.io/leases gardener-system-seed-lease/other", Value::Null, 403, FOREIGN),
        ("CREATE coordination.k8s.io/leases garden/mine", Value::Null, 403, FOREIGN),
    ]);
}

#[test]
fn secrets_belong_to_buckets_shoots_and_managed_seeds_of_the_seed() {
    check(&[
        ("CREATE -/secrets any/generated-bucket-mine", Value::Null, 200, ""),
        ("CREATE -/secrets any/generated-bucket-other", Value::Null, 403, FOREIGN),
        (
            "CREATE -/secrets any/generated-bucket-none",
            Value::Null,
            403,
            "BackupBucket.core.gardener.cloud \"none\" not found",
        ),
        ("CREATE -/secrets garden/valid-kubeconfig", Value::Null, 200, ""),
        ("CREATE -/secrets garden/valid-backup", Value::Null, 200, ""),
        ("CREATE -/secrets other/valid-backup", Value::Null, 403, FOREIGN),
        ("CREATE -/secrets garden/foreign-backup", Value::Null, 403, FOREIGN),
        ("CREATE -/secrets garden/any", Value::Null, 403, FOREIGN),
        ("CREATE core.gardener.cloud/internalsecrets garden/mine.ca-client", Value::Null, 200, ""),
        ("CREATE core.gardener.cloud/internalsecrets garden/other.ca-client", Value::Null, 403, FOREIGN),
        (
            "CREATE core.gardener.cloud/internalsecrets garden/none.ca-client",
            Value::Null,
            403,
            "Shoot.core.gardener.cloud \"none\" not found",
        ),
        ("CREATE core.gardener.cloud/internalsecrets garden/mine.other", Value::Null, 403, FOREIGN),
    ]);
    for suffix in ["kubeconfig", "ca-cluster", "ssh-keypair", "ssh-keypair.old", "monitoring"] {
        // The seed that a Shoot was on does not count.
        for (name, code) in [("mine", 200), ("other", 403), ("migrated", 403), ("none", 403)] {
            let request = format!("CREATE -/secrets garden/{name}.{suffix}");
            assert_eq!(judged(ClientKind::Gardenlet, &garden(), &request, &Value::Null).0, code, "{request}");
        }
    }
    let lost = Objects(vec![managed_seed("lost", "none", &json!({}))]);
    let found = judged(ClientKind::Gardenlet, &lost, "CREATE -/secrets garden/any", &Value::Null);
    assert_eq!(found, (500, "Shoot.core.gardener.cloud \"none\" not found".to_owned()));
    let mut broken = managed_seed("broken", "mine", &json!({}));
    broken["spec"]["gardenlet"] = Value::Null;
    let broken = Objects(vec![broken, shoot("mine", "mine", &json!({}))]);
    let found = judged(ClientKind::Gardenlet, &broken, "CREATE -/secrets garden/any", &Value::Null);
    assert_eq!(found, (500, "no gardenlet specified in managedseed: \"broken\"".to_owned()));
}

#[test]
fn tokens_are_for_gardenlets_that_are_deployed() {
    let token = |kind: &str, data: &[(&str, &str)]| {
        let data = data
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(formats::base64::encode(value.as_bytes()))));
        json!({"type": kind, "data": data.collect::<serde_json::Map<_, _>>()})
    };
    let right = "bootstrap.kubernetes.io/token";
    let (authentication, signing) =
        (("usage-bootstrap-authentication", "true"), ("usage-bootstrap-signing", "true"));
    let of = |text: &str| format!("A bootstrap token for the Gardenlet for managed seed {text}.");
    let (absent, valid, foreign) = (of("garden/absent"), of("garden/valid"), of("garden/foreign"));
    let described = |text| [authentication, signing, ("description", text)];
    let request = "CREATE -/secrets kube-system/bootstrap-token-a";
    check(&[
        (request, token(right, &described(&absent)), 200, ""),
        (request, token(right, &described(&valid)), 400, "managed seed garden/valid is already bootstrapped"),
        (request, token(right, &described(&foreign)), 403, FOREIGN),
        (
            request,
            token(right, &[authentication, signing]),
            403,
            "ManagedSeed.seedmanagement.gardener.cloud \"\" not found",
        ),
        (request, token("Opaque", &described(&absent)), 422, "unexpected secret type: \"Opaque\""),
        (request, token(right, &[signing]), 422, "\"usage-bootstrap-authentication\" must be set to 'true'"),
        (
            request,
            token(right, &[("usage-bootstrap-authentication", "false"), signing]),
            422,
            "\"usage-bootstrap-authentication\" must be set to 'true'",
        ),
        (request, token(right, &[authentication]), 422, "\"usage-bootstrap-signing\" must be set to 'true'"),
        (
            request,
            token(right, &[authentication, signing, ("auth-extra-groups", "")]),
            422,
            "\"auth-extra-groups\" must not be set",
        ),
        // Elsewhere, it is a Secret like others.
        ("CREATE -/secrets garden/bootstrap-token-a", token(right, &described(&absent)), 403, FOREIGN),
    ]);
}

#[test]
fn seeds_are_the_own_one_and_those_that_were_deployed() {
    let deleting = "object can only be deleted if corresponding ManagedSeed has a deletion timestamp";
    check(&[
        ("CREATE core.gardener.cloud/seeds -/mine", Value::Null, 200, ""),
        ("UPDATE core.gardener.cloud/seeds -/mine", Value::Null, 200, ""),
        ("DELETE core.gardener.cloud/seeds -/mine", Value::Null, 200, ""),
        ("CREATE core.gardener.cloud/seeds -/other", Value::Null, 403, FOREIGN),
        ("UPDATE core.gardener.cloud/seeds -/deleting", Value::Null, 403, FOREIGN),
        ("DELETE core.gardener.cloud/seeds -/none", Value::Null, 403, FOREIGN),
        ("DELETE core.gardener.cloud/seeds -/valid", Value::Null, 403, deleting),
        ("DELETE core.gardener.cloud/seeds -/deleting", Value::Null, 200, ""),
        ("DELETE core.gardener.cloud/seeds -/deleting-elsewhere", Value::Null, 403, FOREIGN),
    ]);
    let with = |shoot: &Value| {
        let mut managed = managed_seed("lost", "none", &json!({"deletionTimestamp": NOW}));
        managed["spec"]["shoot"] = shoot.clone();
        let request = "DELETE core.gardener.cloud/seeds -/lost";
        judged(ClientKind::Gardenlet, &Objects(vec![managed]), request, &Value::Null)
    };
    assert_eq!(with(&Value::Null), (403, FOREIGN.to_owned()));
    let missing = "Shoot.core.gardener.cloud \"none\" not found";
    assert_eq!(with(&json!({"name": "none"})), (500, missing.to_owned()));
}
