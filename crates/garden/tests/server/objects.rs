//! Defaults, warnings, and the form in which objects are stored.

use serde_json::json;

use super::{CORE, NAMESPACE, SHOOT, TestGarden, shoot};

#[tokio::test(start_paused = true)]
async fn defaults_are_set_whenever_an_object_is_decoded() {
    let garden = TestGarden::start().await;
    let (_, seed) = garden.get(&format!("{CORE}/seeds/local")).await;
    assert_eq!(seed["spec"]["settings"]["scheduling"], json!({"visible": true}));
    let path = format!("{CORE}/seeds/local");
    let patched =
        garden.patch(&path, "merge-patch", &json!({"spec": {"settings": {"scheduling": null}}})).await;
    assert_eq!((&patched["spec"], &patched["metadata"]["generation"]), (&seed["spec"], &json!(1)));
    let mut small = shoot();
    small["spec"] = json!({
        "cloudProfileName": "local", "region": "local", "secretBindingName": "local", "kubernetes": {"version": "1.27"},
        "networking": {"type": "calico", "pods": "100.64.0.0/11", "nodes": "10.250.0.0/16", "services": "100.104.0.0/13"},
        "provider": {"type": "local", "workers": [
            {"name": "cpu", "machine": {"type": "large"}, "minimum": 0, "maximum": 1, "volume": {"type": "default", "size": "50Gi"}},
        ]},
    });
    let made = garden.create("shoots", &small).await;
    assert_eq!(made["spec"]["kubernetes"]["version"], "1.27.5");
    let image = &made["spec"]["provider"]["workers"][0]["machine"]["image"];
    assert_eq!(*image, json!({"name": "gardenlinux", "version": "1312.3.0"}));
    assert_eq!(made["spec"]["schedulerName"], "default-scheduler");
}

#[tokio::test(start_paused = true)]
async fn references_get_the_namespace_of_their_binding_when_they_are_stored() {
    let garden = TestGarden::start().await;
    let binding = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding", "metadata": {"name": "a"},
        "secretRef": {"name": "s"}, "provider": {"type": "local"},
    });
    let path = format!("{CORE}/namespaces/{NAMESPACE}/secretbindings");
    let (code, made) = garden.send("POST", &path, "application/json", &binding).await;
    assert_eq!((code, &made["secretRef"]), (201, &json!({"name": "s", "namespace": NAMESPACE})));
}

#[tokio::test(start_paused = true)]
async fn a_new_profile_loses_its_expired_versions() {
    let garden = TestGarden::start().await;
    let (_, mut profile) = garden.get(&format!("{CORE}/cloudprofiles/local")).await;
    profile["metadata"] = json!({"name": "other"});
    let expired = json!({"version": "1.25.1", "expirationDate": "2024-05-31T00:00:00Z"});
    profile["spec"]["kubernetes"]["versions"].as_array_mut().unwrap().push(expired);
    let made = garden.create("cloudprofiles", &profile).await;
    assert_eq!(made["spec"]["kubernetes"]["versions"].as_array().unwrap().len(), 4);
    assert_eq!(made["metadata"].get("generation"), None);
}

#[tokio::test(start_paused = true)]
async fn texts_of_an_internal_secret_become_data() {
    let garden = TestGarden::start().await;
    let secret = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "InternalSecret",
        "metadata": {"name": "a", "namespace": NAMESPACE}, "stringData": {"a": "b"}, "type": "t",
    });
    let made = garden.create("internalsecrets", &secret).await;
    assert_eq!((&made["data"], made.get("stringData")), (&json!({"a": "Yg=="}), None));
    let path = format!("{CORE}/namespaces/{NAMESPACE}/internalsecrets/a");
    let untyped = json!({"metadata": {"name": "a"}, "data": {"c": "ZA=="}});
    let (code, replaced) = garden.send("PUT", &path, "application/json", &untyped).await;
    assert_eq!((code, &replaced["type"], &replaced["data"]), (200, &json!("t"), &json!({"c": "ZA=="})));
}

#[tokio::test(start_paused = true)]
async fn warnings_are_about_writes_of_the_shoot_itself() {
    let garden = TestGarden::start().await;
    let mut object = shoot();
    object["spec"]["kubernetes"]["version"] = json!("1.26.8");
    object["spec"]["kubernetes"]["enableStaticTokenKubeconfig"] = json!(true);
    let path = super::collection("shoots", &object);
    let form = [("content-type", "application/json")];
    let (code, warnings, made) = garden.exchange("POST", &path, &form, &object).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("you should consider disabling the static token kubeconfig, see https://"));
    let form = [("content-type", "application/merge-patch+json")];
    let status = json!({"status": {"hibernated": true}});
    let (_, warnings, _) = garden.exchange("PATCH", &format!("{SHOOT}/status"), &form, &status).await;
    assert_eq!(warnings, Vec::<String>::new());
}
