//! What the virtual cluster has from the beginning, object by object, as the original renders it.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed};

const READS: &str = "get,list,watch";
const CHANGES: &str = "create,delete,deletecollection,get,list,watch,patch,update";
const BOUND_TO_USERS: &str = "system:authenticated";

fn role(name: &str, labels: &[(&str, &str)], content: &Value) -> Value {
    let mut role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
    });
    for (key, value) in labels {
        role["metadata"]["labels"][*key] = json!(value);
    }
    for (field, value) in content.as_object().unwrap() {
        role[field] = value.clone();
    }
    role
}

fn rules(lines: &[&str]) -> Value {
    let rules: Vec<Value> = lines
        .iter()
        .map(|line| {
            let parts: Vec<Vec<&str>> = line.split(' ').map(|part| part.split(',').collect()).collect();
            let groups: Vec<&str> =
                parts[0].iter().map(|group| if *group == "core" { "" } else { *group }).collect();
            json!({"apiGroups": groups, "resources": parts[1], "verbs": parts[2]})
        })
        .collect();
    json!({ "rules": rules })
}

fn aggregating(labels: &[(&str, &str)]) -> Value {
    let selectors: Vec<Value> =
        labels.iter().map(|(key, value)| json!({"matchLabels": {*key: value}})).collect();
    json!({"aggregationRule": {"clusterRoleSelectors": selectors}})
}

fn binding(name: &str, kind: &str, subject: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": subject}],
    })
}

/// What operators may do with objects of Kubernetes, one rule a line.
fn kubernetes(verbs: &str) -> Vec<String> {
    [
        "core events,namespaces,resourcequotas",
        "events.k8s.io events",
        "rbac.authorization.k8s.io clusterroles,clusterrolebindings,roles,rolebindings",
        "admissionregistration.k8s.io mutatingwebhookconfigurations,validatingwebhookconfigurations",
        "apiregistration.k8s.io apiservices",
        "apiextensions.k8s.io customresourcedefinitions",
        "coordination.k8s.io leases",
    ]
    .map(|line| format!("{line} {verbs}"))
    .into()
}

fn operators() -> Vec<Value> {
    let own = "seedmanagement.gardener.cloud,dashboard.gardener.cloud,settings.gardener.cloud,operations.gardener.cloud";
    let key = "gardener.cloud/role";
    let mut admin = vec![format!("core.gardener.cloud,{own} * *")];
    admin.extend(kubernetes("*"));
    admin.push("certificates.k8s.io certificatesigningrequests *".to_owned());
    let core =
        "backupbuckets,backupentries,cloudprofiles,controllerinstallations,quotas,projects,seeds,shoots";
    let mut viewer = vec![format!("core.gardener.cloud {core} {READS}"), format!("{own} * {READS}")];
    viewer.extend(kubernetes(READS));
    let lines = |lines: &[String]| rules(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let administrators = [(key, "admin"), (key, "project-member"), (key, "project-serviceaccountmanager")];
    vec![
        role("gardener.cloud:admin", &[(key, "admin")], &lines(&admin)),
        binding("gardener.cloud:admin", "User", "system:kube-aggregator"),
        role("gardener.cloud:system:administrators", &[], &aggregating(&administrators)),
        role("gardener.cloud:viewer", &[(key, "viewer")], &lines(&viewer)),
        role("gardener.cloud:system:viewers", &[], &aggregating(&[(key, "viewer"), (key, "project-viewer")])),
    ]
}

fn projects() -> Vec<Value> {
    let change = |of: &str| format!("{of} {CHANGES}");
    let read = |of: &str| format!("{of} {READS}");
    let member = [
        change("core secrets,configmaps"),
        read("core events,resourcequotas,serviceaccounts"),
        read("events.k8s.io events"),
        change("core.gardener.cloud shoots,secretbindings,quotas"),
        change("settings.gardener.cloud openidconnectpresets"),
        change("operations.gardener.cloud bastions"),
        change("rbac.authorization.k8s.io roles,rolebindings"),
        "core.gardener.cloud shoots/adminkubeconfig create".to_owned(),
    ];
    let manager = [change("core serviceaccounts"), "core serviceaccounts/token create".to_owned()];
    let viewer = [
        read("core events,configmaps,resourcequotas,serviceaccounts"),
        read("events.k8s.io events"),
        read("core.gardener.cloud shoots,secretbindings,quotas"),
        read("settings.gardener.cloud openidconnectpresets"),
        read("operations.gardener.cloud bastions"),
        read("rbac.authorization.k8s.io roles,rolebindings"),
    ];
    let pair = |name: &str, lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let label = format!("rbac.gardener.cloud/aggregate-to-{name}");
        let full = format!("gardener.cloud:system:{name}");
        [
            role(&format!("{full}-aggregation"), &[(label.as_str(), "true")], &rules(&lines)),
            role(&full, &[("gardener.cloud/role", name)], &aggregating(&[(label.as_str(), "true")])),
        ]
    };
    [
        pair("project-member", &member),
        pair("project-serviceaccountmanager", &manager),
        pair("project-viewer", &viewer),
    ]
    .concat()
}

fn others() -> Vec<Value> {
    vec![
        json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {
                "name": "garden", "labels": {"app": "gardener"},
                "annotations": {"resources.gardener.cloud/keep-object": "true"},
            },
        }),
        role(
            "gardener.cloud:system:seed-bootstrapper",
            &[],
            &rules(&[
                "certificates.k8s.io certificatesigningrequests create,get",
                "certificates.k8s.io certificatesigningrequests/seedclient create",
            ]),
        ),
        binding("gardener.cloud:system:seed-bootstrapper", "Group", "system:bootstrappers"),
        role(
            "gardener.cloud:system:read-global-resources",
            &[],
            &rules(&["core.gardener.cloud cloudprofiles,exposureclasses,seeds get,list,watch"]),
        ),
        binding("gardener.cloud:system:read-global-resources", "Group", BOUND_TO_USERS),
        role(
            "gardener.cloud:system:user-auth",
            &[],
            &rules(&[
                "authentication.k8s.io tokenreviews create",
                "authorization.k8s.io selfsubjectaccessreviews create",
            ]),
        ),
        binding("gardener.cloud:system:user-auth", "Group", BOUND_TO_USERS),
        role("gardener.cloud:system:project-creation", &[], &rules(&["core.gardener.cloud projects create"])),
    ]
}

#[rstest]
#[case::seeds_may_do_everything(Fixture::default(), true)]
#[case::the_api_server_asks_what_they_may(Fixture::default().with_seed_authorizer(), false)]
fn the_objects(#[case] fixture: Fixture, #[case] has_seeds: bool) {
    let rendering = render(&fixture.values());
    let mut want = [others(), operators(), projects()].concat();
    if has_seeds {
        want.push(role("gardener.cloud:system:seeds", &[], &rules(&["* * *"])));
        want.push(binding("gardener.cloud:system:seeds", "Group", "gardener.cloud:system:seeds"));
    }
    let managed = managed(&rendering, "garden-system-virtual");
    assert_objects("virtual system", &managed.objects, &want, &[]);
    assert!(rendering.steps.is_empty() && !managed.keeps_objects);
}
