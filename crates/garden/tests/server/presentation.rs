//! What clients see of the kinds: tables, field selectors, discovery, OpenAPI.

use serde_json::{Value, json};

use super::{CORE, NAMESPACE, PROJECT, SHOOT, TestGarden, project, shoot};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

pub(super) async fn table(garden: &TestGarden, path: &str) -> Value {
    garden.exchange("GET", path, &[("accept", TABLE)], &Value::Null).await.2
}

pub(super) fn titles(table: &Value) -> Vec<&str> {
    let columns = table["columnDefinitions"].as_array().expect("a table has columns");
    columns.iter().filter_map(|column| column["name"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
#[expect(clippy::too_many_lines, reason = "a table of columns is long")]
async fn a_table_of_shoots_has_the_columns_of_the_original() {
    let garden = TestGarden::start().await;
    garden.create("shoots", &shoot()).await;
    let status = json!({"status": {
        "hibernated": false, "gardener": {"version": "v1.82.0"},
        "lastOperation": {"type": "Reconcile", "state": "Processing", "progress": 40},
        "conditions": [{"type": "APIServerAvailable", "status": "True"}, {"type": "EveryNodeReady", "status": "False"}],
    }});
    garden.patch(&format!("{SHOOT}/status"), "merge-patch", &status).await;
    let table = table(&garden, &format!("{CORE}/namespaces/{NAMESPACE}/shoots")).await;
    let definition = |index: usize, field: &str| table["columnDefinitions"][index][field].clone();
    let want = [
        ("Name", 0),
        ("CloudProfile", 0),
        ("Provider", 0),
        ("Region", 0),
        ("Seed", 1),
        ("K8S Version", 0),
        ("Hibernation", 0),
        ("Last Operation", 0),
        ("Status", 0),
        ("Purpose", 1),
        ("Gardener Version", 1),
        ("APIServer", 1),
        ("Control", 1),
        ("Observability", 1),
        ("Nodes", 1),
        ("System", 1),
        ("Age", 0),
    ];
    for (index, (name, priority)) in want.iter().enumerate() {
        assert_eq!(
            (definition(index, "name"), definition(index, "priority")),
            (json!(name), json!(priority))
        );
    }
    assert_eq!(
        (definition(0, "format"), definition(16, "format"), definition(16, "type")),
        (json!("name"), json!(""), json!("date"))
    );
    let cells = json!([
        "app",
        "local",
        "local",
        "local",
        "local",
        "1.27.5",
        "Awake",
        "Reconcile Processing (40%)",
        "healthy",
        "evaluation",
        "v1.82.0",
        "True",
        "<unknown>",
        "<unknown>",
        "False",
        "<unknown>",
        "0s",
    ]);
    assert_eq!(table["rows"][0]["cells"], cells);
}

#[tokio::test(start_paused = true)]
async fn tables_of_other_kinds_have_their_columns() {
    let garden = TestGarden::start().await;
    garden.create("projects", &project()).await;
    let projects = table(&garden, PROJECT).await;
    assert_eq!(titles(&projects), ["Name", "Namespace", "Status", "Owner", "Creator", "Age"]);
    assert_eq!(
        projects["rows"][0]["cells"],
        json!(["dev", NAMESPACE, "<unknown>", "<unknown>", "<unknown>", "0s"])
    );
    let seeds = table(&garden, &format!("{CORE}/seeds")).await;
    let want = ["Name", "Status", "Last Operation", "Provider", "Region", "Age", "Version", "K8S Version"];
    assert_eq!(titles(&seeds), want);
    let cells = json!(["local", "NotReady", "<pending>", "local", "local", "0s", "<unknown>", "<unknown>"]);
    assert_eq!(seeds["rows"][0]["cells"], cells);
    let empty = table(&garden, &format!("{CORE}/backupbuckets")).await;
    assert_eq!(titles(&empty), ["Name", "Provider", "Seed", "Operation", "Progress", "Age"]);
    assert_eq!(empty["rows"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn field_selectors_know_the_fields_of_their_kind() {
    let garden = TestGarden::start().await;
    let mut object = shoot();
    garden.create("shoots", &object).await;
    object["metadata"]["name"] = json!("free");
    object["spec"].as_object_mut().unwrap().remove("seedName");
    object["spec"]["dns"] =
        json!({"domain": "free.dev.example.com", "providers": [{"type": "unmanaged", "primary": true}]});
    garden.create("shoots", &object).await;
    garden.patch(&format!("{SHOOT}/status"), "merge-patch", &json!({"status": {"seedName": "old"}})).await;
    let table = [
        ("spec.seedName=local", vec!["app"]),
        ("spec.seedName=", vec!["free"]),
        ("status.seedName=old", vec!["app"]),
        ("spec.cloudProfileName=local", vec!["app", "free"]),
        ("metadata.namespace=garden-dev,metadata.name!=app", vec!["free"]),
    ];
    for (selector, want) in table {
        let path = format!("{CORE}/shoots?fieldSelector={}", selector.replace('=', "%3D"));
        let (_, list) = garden.get(&path).await;
        let names: Vec<&str> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|item| item["metadata"]["name"].as_str())
            .collect();
        assert_eq!(names, want, "{selector}");
    }
    let refused = [
        ("shoots", "spec.region", "field label not supported: spec.region"),
        ("projects", "metadata.namespace", "field label not supported: metadata.namespace"),
        (
            "quotas",
            "spec.scope",
            "\"spec.scope\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
    ];
    for (resource, field, message) in refused {
        let (code, status) = garden.get(&format!("{CORE}/{resource}?fieldSelector={field}%3Da")).await;
        assert_eq!((code, &status["message"]), (400, &json!(message)));
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_and_openapi_describe_the_kinds() {
    let garden = TestGarden::start().await;
    let (_, list) = garden.get(CORE).await;
    let of = |name: &str| {
        let resources = list["resources"].as_array().unwrap();
        resources.iter().find(|resource| resource["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(of("shoots")["categories"], json!(["all"]));
    let verbs = json!(["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]);
    assert_eq!(of("shoots")["verbs"], verbs);
    let below = |name: &str| (of(name)["kind"].clone(), of(name)["verbs"].clone());
    assert_eq!(below("shoots/binding"), (json!("Shoot"), json!(["get", "patch", "update"])));
    assert_eq!(of("quotas/status"), Value::Null);
    let (_, document) = garden.get(&format!("/openapi/v3{CORE}")).await;
    let shoot =
        &document["components"]["schemas"]["com.github.gardener.gardener.pkg.apis.core.v1beta1.Shoot"];
    let workers = &shoot["properties"]["spec"]["properties"]["provider"]["properties"]["workers"];
    assert_eq!(workers["x-kubernetes-patch-merge-key"], "name");
    let (_, list) = garden.get("/apis/seedmanagement.gardener.cloud/v1alpha1").await;
    let scale = list["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "managedseedsets/scale")
        .cloned();
    assert_eq!(scale.map(|scale| scale["kind"].clone()), Some(json!("Scale")));
}
