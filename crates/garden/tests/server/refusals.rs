//! Answers to requests that are refused.

use serde_json::{Value, json};

use super::{CORE, PROJECT, SHOOT, TestGarden, project, shoot};

#[tokio::test(start_paused = true)]
async fn an_update_needs_a_resource_version_where_the_kind_demands_it() {
    let garden = TestGarden::start().await;
    garden.create("shoots", &shoot()).await;
    let (code, refused) = garden.send("PUT", SHOOT, "application/json", &shoot()).await;
    let message = "shoots.core.gardener.cloud \"app\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be \
                   specified for an update";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
    let mut outdated = shoot();
    outdated["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(garden.send("PUT", SHOOT, "application/json", &outdated).await.0, 409);
    let missing = SHOOT.replace("app", "other");
    let mut object = shoot();
    object["metadata"]["name"] = json!("other");
    let (code, refused) = garden.send("PUT", &missing, "application/json", &object).await;
    assert_eq!((code, &refused["message"]), (404, &json!("shoots.core.gardener.cloud \"other\" not found")));
    garden.create("projects", &project()).await;
    assert_eq!(garden.send("PUT", PROJECT, "application/json", &project()).await.0, 200);
    let mut other = project();
    other["metadata"]["uid"] = json!("x");
    let (code, refused) = garden.send("PUT", PROJECT, "application/json", &other).await;
    assert_eq!(code, 409);
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("Key: /registry-gardener/core.gardener.cloud/projects/dev,"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn the_errors_of_a_new_object_are_listed_in_order() {
    let garden = TestGarden::start().await;
    let mut object = project();
    object["metadata"] = json!({"name": "a--b", "labels": {"a": "b c"}});
    object["spec"]["purpose"] = json!("");
    let path = super::collection("projects", &object);
    let (code, refused) = garden.send("POST", &path, "application/json", &object).await;
    let fields: Vec<&str> = refused["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|cause| cause["field"].as_str())
        .collect();
    assert_eq!((code, fields), (422, vec!["metadata.name", "metadata.labels", "spec.purpose"]));
    let start = "Project.core.gardener.cloud \"a--b\" is invalid: [metadata.name: Invalid value: \"a--b\": name may not \
                 contain two consecutive hyphens, metadata.labels: Invalid value: \"b c\": ";
    assert!(refused["message"].as_str().unwrap().starts_with(start), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_metadata_of_an_update_are_listed_once_and_counted_often() {
    let garden = TestGarden::start().await;
    garden.create("projects", &project()).await;
    let patch = json!({"metadata": {"labels": {"a": "b c"}}, "spec": {"namespace": "other"}});
    let (code, refused) = garden.try_patch(PROJECT, "merge-patch", &patch).await;
    let fields: Vec<&str> = refused["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|cause| cause["field"].as_str())
        .collect();
    assert_eq!(code, 422);
    assert_eq!(fields.iter().filter(|field| **field == "metadata.labels").count(), 4, "{refused}");
    assert_eq!(refused["message"].as_str().unwrap().matches("metadata.labels").count(), 1);
    assert!(fields.contains(&"spec.namespace"));
}

#[tokio::test(start_paused = true)]
async fn a_shoot_needs_its_profile() {
    let garden = TestGarden::start().await;
    let mut object = shoot();
    object["spec"]["cloudProfileName"] = json!("none");
    let path = super::collection("shoots", &object);
    let (code, refused) = garden.send("POST", &path, "application/json", &object).await;
    let message = "shoots.core.gardener.cloud \"app\" is forbidden: cloudprofile.core.gardener.cloud \"none\" not found";
    assert_eq!((code, &refused["message"]), (403, &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn bodies_of_other_kinds_and_versions_are_refused() {
    let garden = TestGarden::start().await;
    let path = format!("{CORE}/projects");
    let mut object = project();
    object["kind"] = json!("Quota");
    let (code, refused) = garden.send("POST", &path, "application/json", &object).await;
    let message = "Quota in version \"v1beta1\" cannot be handled as a Project: converting (v1beta1.Quota) to (core.Project): \
                   unknown conversion";
    assert_eq!((code, &refused["message"]), (400, &json!(message)));
    let (code, _) = garden.send("POST", &path, "application/vnd.kubernetes.protobuf", &Value::Null).await;
    assert_eq!(code, 415);
    assert_eq!(garden.get(&format!("{CORE}/nothing")).await.0, 404);
}
