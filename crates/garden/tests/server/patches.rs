//! Patches and decoding: strategic merges, unknown fields, server-side apply.

use serde_json::{Value, json};

use super::{PROJECT, SHOOT, TestGarden, project, shoot};

#[tokio::test(start_paused = true)]
async fn a_strategic_merge_patch_merges_lists_by_their_keys() {
    let garden = TestGarden::start().await;
    garden.create("projects", &project()).await;
    let patch = json!({"spec": {"description": "d", "tolerations": {"whitelist": [
        {"key": "b", "value": "2"}, {"key": "c"}, {"key": "a", "$patch": "delete"},
    ], "defaults": null}}});
    let patched = garden.patch(PROJECT, "strategic-merge-patch", &patch).await;
    assert_eq!(
        patched["spec"]["tolerations"],
        json!({"whitelist": [{"key": "b", "value": "2"}, {"key": "c"}]})
    );
    assert_eq!(
        (&patched["spec"]["description"], &patched["metadata"]["generation"]),
        (&json!("d"), &json!(2))
    );
    // Members have no patch key: they are replaced.
    let member = |name: &str| json!({"kind": "User", "name": name, "role": "admin"});
    for (names, want) in [(vec!["x", "y"], vec!["x", "y"]), (vec!["z"], vec!["z"])] {
        let members: Vec<Value> = names.into_iter().map(member).collect();
        let patched =
            garden.patch(PROJECT, "strategic-merge-patch", &json!({"spec": {"members": members}})).await;
        let named: Vec<&str> = patched["spec"]["members"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["name"].as_str())
            .collect();
        assert_eq!(named, want);
    }
}

#[tokio::test(start_paused = true)]
async fn pools_and_conditions_of_a_shoot_are_merged_by_name_and_type() {
    let garden = TestGarden::start().await;
    garden.create("shoots", &shoot()).await;
    let pools = json!({"spec": {"provider": {"workers": [{"name": "cpu", "maximum": 5}]}}});
    let patched = garden.patch(SHOOT, "strategic-merge-patch", &pools).await;
    let pool = &patched["spec"]["provider"]["workers"][0];
    assert_eq!((&pool["maximum"], &pool["machine"]["type"]), (&json!(5), &json!("large")));
    let status = format!("{SHOOT}/status");
    let conditions = |kinds: &[(&str, &str)]| {
        let conditions: Vec<Value> =
            kinds.iter().map(|(kind, status)| json!({"type": kind, "status": status})).collect();
        json!({"status": {"conditions": conditions}})
    };
    garden.patch(&status, "strategic-merge-patch", &conditions(&[("A", "True"), ("B", "True")])).await;
    let patched = garden.patch(&status, "strategic-merge-patch", &conditions(&[("B", "False")])).await;
    assert_eq!(
        patched["status"]["conditions"],
        conditions(&[("A", "True"), ("B", "False")])["status"]["conditions"]
    );
}

#[tokio::test(start_paused = true)]
async fn merge_patches_and_json_patches_work_too() {
    let garden = TestGarden::start().await;
    garden.create("projects", &project()).await;
    let merged = json!({"spec": {"tolerations": {"whitelist": [{"key": "a"}]}}});
    let patched = garden.patch(PROJECT, "merge-patch", &merged).await;
    assert_eq!(patched["spec"]["tolerations"]["whitelist"], json!([{"key": "a"}]));
    let operations = json!([{"op": "add", "path": "/spec/purpose", "value": "p"}]);
    let patched = garden.patch(PROJECT, "json-patch", &operations).await;
    assert_eq!(patched["spec"]["purpose"], "p");
}

#[tokio::test(start_paused = true)]
async fn unknown_fields_are_dropped_with_a_warning_and_refused_if_asked() {
    let garden = TestGarden::start().await;
    let mut object = project();
    object["spec"]["unknown"] = json!(1);
    object["spec"]["tolerations"]["whitelist"][0]["effect"] = json!("NoSchedule");
    let json_form = [("content-type", "application/json")];
    let path = super::collection("projects", &object);
    let (code, warnings, made) =
        garden.exchange("POST", &format!("{path}?dryRun=All"), &json_form, &object).await;
    assert_eq!((code, made["spec"].get("unknown")), (201, None));
    let want = [
        r#"299 - "unknown field \"spec.tolerations.whitelist[0].effect\"""#,
        r#"299 - "unknown field \"spec.unknown\"""#,
    ];
    assert_eq!(warnings, want);
    let strict = format!("{path}?fieldValidation=Strict");
    let (code, refused) = garden.send("POST", &strict, "application/json", &object).await;
    let message = "Project in version \"v1beta1\" cannot be handled as a Project: strict decoding error: unknown field \
                   \"spec.tolerations.whitelist[0].effect\", unknown field \"spec.unknown\"";
    assert_eq!((code, &refused["message"]), (400, &json!(message)));
    // Fields that extensions define stay as sent.
    let config = json!({"apiVersion": "a/v1", "kind": "B", "anything": {"at": [null, 1]}});
    let mut object = shoot();
    object["spec"]["provider"]["infrastructureConfig"] = config.clone();
    let made = garden.create("shoots", &object).await;
    assert_eq!(made["spec"]["provider"]["infrastructureConfig"], config);
}

#[tokio::test(start_paused = true)]
async fn wrong_types_are_refused() {
    let garden = TestGarden::start().await;
    let mut object = project();
    object["spec"]["namespace"] = json!(1);
    let path = super::collection("projects", &object);
    let (code, refused) = garden.send("POST", &path, "application/json", &object).await;
    assert_eq!(code, 400);
    let message = refused["message"].as_str().unwrap();
    assert!(message.starts_with(
        "Project in version \"v1beta1\" cannot be handled as a Project: json: cannot unmarshal number"
    ));
}

#[tokio::test(start_paused = true)]
async fn an_applied_list_belongs_to_its_managers_by_key() {
    let garden = TestGarden::start().await;
    let with = |key: &str| {
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": {"name": "dev"},
            "spec": {"tolerations": {"whitelist": [{"key": key}]}},
        })
    };
    for (manager, key) in [("one", "a"), ("two", "b")] {
        let path = format!("{PROJECT}?fieldManager={manager}");
        let (code, applied) = garden.send("PATCH", &path, "application/apply-patch+yaml", &with(key)).await;
        assert!(matches!(code, 200 | 201), "{applied}");
    }
    let (_, project) = garden.get(PROJECT).await;
    assert_eq!(project["spec"]["tolerations"]["whitelist"], json!([{"key": "a"}, {"key": "b"}]));
}
