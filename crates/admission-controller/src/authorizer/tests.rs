//! The table of the authorizer, with every verb, and its exceptions with their near misses. The form `process` of
//! contracts sends the program a row of each clause (contracts/admission-controller/process/seed-authorizer.yaml).

use std::cell::RefCell;

use super::*;
use crate::bootstrapping::{binding, token_secret};

/// Group (`-`: core), resource, client, verbs without and with a path, subresources, kind in the graph.
const TABLE: &str = "
core.gardener.cloud backupbuckets any create,get,list,watch update,patch,delete status BackupBucket
core.gardener.cloud backupentries any create,get,list,watch update,patch,delete status BackupEntry
operations.gardener.cloud bastions any create,get,list,watch update,patch status Bastion
certificates.k8s.io certificatesigningrequests gardenlet create get,list,watch seedclient CertificateSigningRequest
certificates.k8s.io certificatesigningrequests extension - get,list,watch - CertificateSigningRequest
core.gardener.cloud cloudprofiles any - get,list,watch - CloudProfile
rbac.authorization.k8s.io clusterrolebindings gardenlet create get,patch,update - ClusterRoleBinding
rbac.authorization.k8s.io clusterrolebindings extension - get - ClusterRoleBinding
- configmaps any - get,list,watch - ConfigMap
core.gardener.cloud controllerdeployments any - get,list,watch - ControllerDeployment
core.gardener.cloud controllerinstallations any get,list,watch update,patch status ControllerInstallation
core.gardener.cloud controllerregistrations any get,list,watch - - ControllerRegistration
- events any create,patch - - -
events.k8s.io events any create,patch - - -
core.gardener.cloud exposureclasses any - get,list,watch - ExposureClass
core.gardener.cloud internalsecrets any create get,update,patch,delete,list,watch - InternalSecret
coordination.k8s.io leases gardenlet create get,update,patch,list,watch - Lease
seedmanagement.gardener.cloud managedseeds any get,list,watch update,patch status ManagedSeed
- namespaces any - get,list,watch - Namespace
core.gardener.cloud projects any - get,list,watch - Project
core.gardener.cloud secretbindings any - get,list,watch - SecretBinding
- secrets any create get,patch,update,delete - Secret
core.gardener.cloud seeds any create,update,patch,delete,get,list,watch - status Seed
- serviceaccounts gardenlet create get,patch,update - ServiceAccount
- serviceaccounts extension - get - ServiceAccount
core.gardener.cloud shoots any get,list,watch update,patch status Shoot
core.gardener.cloud shootstates any create get,update,patch,delete,list,watch - ShootState
";
const VERBS: [&str; 10] =
    ["create", "get", "list", "watch", "update", "patch", "delete", "deletecollection", "impersonate", "*"];
const SEED: &str = "seed";

/// A graph that answers the same to every question, and remembers which object was asked about.
#[derive(Default)]
struct FixedPaths {
    has: bool,
    reaches: bool,
    asked: RefCell<Vec<String>>,
}

impl Paths for FixedPaths {
    fn has(&self, _: &Vertex) -> bool {
        self.has
    }

    fn reaches(&self, from: &Vertex, to: &Vertex) -> bool {
        self.asked.borrow_mut().push(format!("{from} {to}"));
        self.reaches
    }
}

fn user(client: &str) -> (String, Vec<String>) {
    let text = str::to_owned;
    match client {
        "gardenlet" => (text("gardener.cloud:system:seed:seed"), vec![text("gardener.cloud:system:seeds")]),
        "extension" => (
            text("system:serviceaccount:seed-seed:extension-a"),
            vec![text("system:serviceaccounts"), text("system:serviceaccounts:seed-seed")],
        ),
        _ => (text("somebody"), vec![text("system:authenticated")]),
    }
}

/// `group/resource verb namespace/name[/subresource]`; `-` is an empty text.
fn question(client: &str, text: &str) -> AccessQuestion {
    let (user, groups) = user(client);
    let words: Vec<&str> = text.split(' ').collect();
    let [resource, verb, object] = words.as_slice() else { panic!("{text}") };
    let part = |of: &str, index: usize| {
        of.split('/').nth(index).filter(|part| *part != "-").unwrap_or_default().to_owned()
    };
    let attributes = ResourceAttributes {
        group: part(resource, 0),
        resource: part(resource, 1),
        subresource: part(object, 2),
        verb: (*verb).to_owned(),
        namespace: part(object, 0),
        name: part(object, 1),
    };
    AccessQuestion { user, groups, attributes: Some(attributes) }
}

fn answer(client: &str, text: &str, paths: &FixedPaths) -> AccessDecision {
    decide(&question(client, text), paths, UnknownDeletions::Allowed)
}

fn no_opinion(reason: &str) -> AccessDecision {
    AccessDecision::NoOpinion(reason.to_owned())
}

fn list(text: &str) -> Vec<&str> {
    text.split(',').filter(|word| *word != "-").collect()
}

const NO_PATH: &str = "no relationship found between seed 'seed' and this object";

#[test]
fn every_row_is_asked_with_every_verb_with_and_without_a_path() {
    let mut rows = 0;
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let [group, resource, of, always, path, subresources, kind] = words.as_slice() else {
            panic!("{line}")
        };
        let clients = if *of == "any" { vec!["gardenlet", "extension"] } else { vec![*of] };
        for client in clients {
            let (always, path) = (list(always), list(path));
            let verbs = [always.clone(), path.clone()].concat().join(" ");
            for verb in VERBS {
                for reaches in [true, false] {
                    let paths = FixedPaths { has: true, reaches, ..FixedPaths::default() };
                    let text = format!("{group}/{resource} {verb} ns/name");
                    let want = if always.contains(&verb) || path.contains(&verb) && reaches {
                        AccessDecision::Allow
                    } else if path.contains(&verb) {
                        no_opinion(NO_PATH)
                    } else {
                        no_opinion(&format!(
                            "only the following verbs are allowed for this resource type: [{verbs}]"
                        ))
                    };
                    assert_eq!(answer(client, &text, &paths), want, "{client} {text} {reaches}");
                    let namespace = if *resource == "namespaces" { "" } else { "ns/" };
                    let asked = format!("{kind}:{namespace}name Seed:{SEED}");
                    let is_asked = path.contains(&verb);
                    assert_eq!(*paths.asked.borrow(), if is_asked { vec![asked] } else { vec![] }, "{text}");
                    rows += 1;
                }
            }
            check_subresources(client, group, resource, &always, &list(subresources));
        }
    }
    assert_eq!(rows, 47 * VERBS.len() * 2);
}

/// Any subresource is refused but those of the row; that of Events after the verb.
fn check_subresources(client: &str, group: &str, resource: &str, always: &[&str], subresources: &[&str]) {
    let paths = FixedPaths { has: true, reaches: true, ..FixedPaths::default() };
    let verb = always.first().copied().unwrap_or("get");
    let verb = if client == "extension" && resource == "leases" { "get" } else { verb };
    for subresource in subresources {
        let text = format!("{group}/{resource} {verb} ns/name/{subresource}");
        assert_eq!(answer(client, &text, &paths), AccessDecision::Allow, "{client} {text}");
    }
    let text = format!("{group}/{resource} {verb} ns/name/other");
    let why = "only the following subresources are allowed for this resource type:";
    let want = no_opinion(&format!("{why} [{}]", subresources.join(" ")));
    assert_eq!(answer(client, &text, &paths), want, "{client} {text}");
}

#[test]
fn others_and_other_resources_are_nobodys_business() {
    let paths = FixedPaths { has: true, reaches: true, ..FixedPaths::default() };
    for (client, text) in [
        ("other", "core.gardener.cloud/shoots get ns/name"),
        ("gardenlet", "apps/deployments get ns/name"),
        ("gardenlet", "example.com/shoots get ns/name"),
        ("gardenlet", "-/pods get ns/name"),
        ("extension", "core.gardener.cloud/quotas get ns/name"),
    ] {
        assert_eq!(answer(client, text, &paths), no_opinion(""), "{client} {text}");
    }
    let (user, groups) = user("gardenlet");
    let question = AccessQuestion { user, groups, attributes: None };
    assert_eq!(decide(&question, &paths, UnknownDeletions::Allowed), no_opinion(""));
}

#[test]
fn a_path_needs_a_name() {
    let paths = FixedPaths { has: true, reaches: true, ..FixedPaths::default() };
    for text in ["core.gardener.cloud/shoots update ns/-", "-/secrets delete ns/-", "-/configmaps list ns/-"]
    {
        assert_eq!(answer("gardenlet", text, &paths), no_opinion("No Object name found"), "{text}");
    }
    assert_eq!(answer("gardenlet", "core.gardener.cloud/shoots list -/-", &paths), AccessDecision::Allow);
}

#[test]
fn what_the_graph_does_not_know_may_be_deleted_unless_that_is_refused() {
    let text = "-/secrets delete ns/name";
    for (has, unknown, want) in [
        (false, UnknownDeletions::Allowed, AccessDecision::Allow),
        (true, UnknownDeletions::Allowed, no_opinion(NO_PATH)),
        (false, UnknownDeletions::Refused, no_opinion(NO_PATH)),
    ] {
        let paths = FixedPaths { has, ..FixedPaths::default() };
        assert_eq!(decide(&question("gardenlet", text), &paths, unknown), want, "{has} {unknown:?}");
    }
    let others = FixedPaths::default();
    assert_eq!(answer("gardenlet", "-/secrets get ns/name", &others), no_opinion(NO_PATH));
}

#[test]
fn exceptions_hold_for_the_own_seed_alone() {
    let (own_token, other_token) = (token_secret("garden", SEED), token_secret("garden", "other"));
    let (own_binding, other_binding) = (binding("garden", SEED), binding("garden", "other"));
    let elsewhere = binding("other", SEED);
    // The graph knows every object and no path.
    let paths = FixedPaths { has: true, ..FixedPaths::default() };
    let table: [(&str, String, bool); 39] = [
        ("gardenlet", format!("rbac.authorization.k8s.io/clusterrolebindings delete -/{own_binding}"), true),
        ("gardenlet", "rbac.authorization.k8s.io/clusterrolebindings delete -/gardener.cloud:system:seed-bootstrapper:garden:seed".to_owned(), true),
        ("gardenlet", format!("rbac.authorization.k8s.io/clusterrolebindings delete -/{own_binding}:more"), true),
        ("gardenlet", format!("rbac.authorization.k8s.io/clusterrolebindings delete -/{own_binding}/any"), true),
        ("gardenlet", format!("rbac.authorization.k8s.io/clusterrolebindings delete -/{other_binding}"), false),
        ("gardenlet", format!("rbac.authorization.k8s.io/clusterrolebindings delete -/{elsewhere}"), false),
        ("gardenlet", format!("rbac.authorization.k8s.io/clusterrolebindings get -/{own_binding}"), false),
        ("extension", format!("rbac.authorization.k8s.io/clusterrolebindings delete -/{own_binding}"), false),
        ("extension", "coordination.k8s.io/leases create seed-seed/a".to_owned(), true),
        ("extension", "coordination.k8s.io/leases get seed-seed/a".to_owned(), true),
        ("extension", "coordination.k8s.io/leases list seed-seed/-".to_owned(), true),
        ("extension", "coordination.k8s.io/leases watch seed-seed/-".to_owned(), true),
        ("extension", "coordination.k8s.io/leases update seed-seed/a/any".to_owned(), true),
        ("extension", "coordination.k8s.io/leases patch seed-seed/a".to_owned(), true),
        ("extension", "coordination.k8s.io/leases delete seed-seed/a".to_owned(), true),
        ("extension", "coordination.k8s.io/leases deletecollection seed-seed/-".to_owned(), true),
        ("extension", "coordination.k8s.io/leases foo seed-seed/a".to_owned(), false),
        ("extension", "coordination.k8s.io/leases get seed-other/a".to_owned(), false),
        ("extension", "coordination.k8s.io/leases get ns/gardenlet-leader-election".to_owned(), false),
        ("gardenlet", "coordination.k8s.io/leases get seed-seed/a".to_owned(), false),
        ("gardenlet", "coordination.k8s.io/leases get ns/gardenlet-leader-election".to_owned(), true),
        ("gardenlet", "coordination.k8s.io/leases update ns/gardenlet-leader-election".to_owned(), true),
        ("gardenlet", "coordination.k8s.io/leases patch ns/gardenlet-leader-election".to_owned(), false),
        ("gardenlet", "coordination.k8s.io/leases get ns/other".to_owned(), false),
        ("gardenlet", "-/secrets get seed-seed/a".to_owned(), true),
        ("extension", "-/secrets list seed-seed/-".to_owned(), true),
        ("gardenlet", "-/secrets watch seed-seed/-".to_owned(), true),
        ("gardenlet", "-/secrets update seed-seed/a".to_owned(), false),
        ("gardenlet", "-/secrets get seed-other/a".to_owned(), false),
        ("gardenlet", format!("-/secrets delete kube-system/{own_token}"), true),
        ("extension", format!("-/secrets delete kube-system/{own_token}"), true),
        ("gardenlet", format!("-/secrets delete kube-system/{other_token}"), false),
        ("gardenlet", format!("-/secrets delete garden/{own_token}"), false),
        ("gardenlet", "-/serviceaccounts delete garden/gardenlet-bootstrap-seed".to_owned(), true),
        ("gardenlet", "-/serviceaccounts delete garden/gardenlet-bootstrap-other".to_owned(), false),
        ("gardenlet", "-/serviceaccounts delete ns/gardenlet-bootstrap-seed".to_owned(), false),
        ("gardenlet", "-/serviceaccounts foo seed-seed/a/token".to_owned(), true),
        ("gardenlet", "-/serviceaccounts get seed-other/a".to_owned(), false),
        ("extension", "-/serviceaccounts delete seed-seed/a".to_owned(), false),
    ];
    for (client, text, allowed) in table {
        let decision = answer(client, &text, &paths);
        assert_eq!(decision == AccessDecision::Allow, allowed, "{client} {text}: {decision:?}");
    }
}

#[test]
fn a_lease_is_refused_with_the_reason() {
    let paths = FixedPaths { has: true, ..FixedPaths::default() };
    let verbs = "create get list watch update patch delete deletecollection";
    let want = format!("only the following verbs are allowed for this resource type: [{verbs}]");
    assert_eq!(answer("extension", "coordination.k8s.io/leases foo seed-seed/a", &paths), no_opinion(&want));
    let want = no_opinion("lease object is not in seed namespace");
    assert_eq!(answer("extension", "coordination.k8s.io/leases get seed-other/a", &paths), want);
}
