//! OpenIDConnectPresets and ClusterOpenIDConnectPresets.

use serde_json::{Value, json};

use super::presentation::{table, titles};
use super::{NAMESPACE, TestGarden, collection};

const API_VERSION: &str = "settings.gardener.cloud/v1alpha1";
const ISSUER: &str = "https://issuer.example.com";

fn preset(name: &str) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": "OpenIDConnectPreset", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"server": {"clientID": "client", "issuerURL": ISSUER}, "weight": 1},
    })
}

fn cluster_preset(name: &str) -> Value {
    let spec = preset(name)["spec"].clone();
    json!({"apiVersion": API_VERSION, "kind": "ClusterOpenIDConnectPreset", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test(start_paused = true)]
async fn presets_get_their_defaults_and_no_generation() {
    let garden = TestGarden::start().await;
    let server =
        json!({"clientID": "client", "issuerURL": ISSUER, "signingAlgs": ["RS256"], "usernameClaim": "sub"});
    let made = garden.create("openidconnectpresets", &preset("a")).await;
    assert_eq!(made["spec"], json!({"server": server, "shootSelector": {}, "weight": 1}));
    assert_eq!(made["metadata"].get("generation"), None);
    let made = garden.create("clusteropenidconnectpresets", &cluster_preset("a")).await;
    let spec = json!({"server": server, "shootSelector": {}, "projectSelector": {}, "weight": 1});
    assert_eq!((&made["spec"], made["metadata"].get("generation")), (&spec, None));
    // Everything may change, if the update says what it changes.
    let path = format!("{}/a", collection("openidconnectpresets", &preset("a")));
    let server = json!({"clientID": "other", "signingAlgs": []});
    let patched =
        garden.patch(&path, "merge-patch", &json!({"spec": {"server": server, "weight": 100}})).await;
    let server = &patched["spec"]["server"];
    assert_eq!((&server["clientID"], &server["signingAlgs"]), (&json!("other"), &json!(["RS256"])));
    let (code, refused) = garden.send("PUT", &path, "application/json", &preset("a")).await;
    let message = "openidconnectpresets.settings.gardener.cloud \"a\" is invalid: metadata.resourceVersion: Invalid value: \
                   0x0: must be specified for an update";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn invalid_presets_are_refused() {
    let garden = TestGarden::start().await;
    let mut object = preset("a");
    object["spec"] = json!({"server": {"clientID": "client", "issuerURL": "http://a.b"}});
    let path = collection("openidconnectpresets", &object);
    let (code, refused) = garden.send("POST", &path, "application/json", &object).await;
    let message = "OpenIDConnectPreset.settings.gardener.cloud \"a\" is invalid: [spec.weight: Invalid value: 0: must be in \
                   the range 1-100, spec.server.issuerURL: Invalid value: \"http://a.b\": must have https scheme]";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
    let mut object = cluster_preset("a");
    object["spec"]["weight"] = json!(101);
    object["spec"]["projectSelector"] = json!({"matchExpressions": [{"key": "a", "operator": "NotIn"}]});
    let path = collection("clusteropenidconnectpresets", &object);
    let (code, refused) = garden.send("POST", &path, "application/json", &object).await;
    let message = "ClusterOpenIDConnectPreset.settings.gardener.cloud \"a\" is invalid: \
                   [spec.projectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is \
                   'In' or 'NotIn', spec.weight: Invalid value: 101: must be in the range 1-100]";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn tables_of_presets_show_issuer_and_selectors() {
    let garden = TestGarden::start().await;
    let selectors = [
        json!({"matchLabels": {"b": "c"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x"]}]}),
        // No object has such a label, but the selector may be stored.
        json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]}),
    ];
    for (name, selector) in ["a", "b"].into_iter().zip(selectors) {
        let mut object = preset(name);
        object["spec"]["shootSelector"] = selector;
        garden.create("openidconnectpresets", &object).await;
    }
    let presets = table(&garden, &collection("openidconnectpresets", &preset("a"))).await;
    assert_eq!(titles(&presets), ["Name", "Issuer", "Shoot-Selector", "Age"]);
    let formats = [0, 1, 2].map(|index: usize| presets["columnDefinitions"][index]["format"].clone());
    assert_eq!(formats, [json!("name"), json!(""), json!("")]);
    assert_eq!(presets["rows"][0]["cells"], json!(["a", ISSUER, "a in (x,y),b=c", "0s"]));
    assert_eq!(presets["rows"][1]["cells"], json!(["b", ISSUER, "<error>", "0s"]));
    let mut object = cluster_preset("a");
    object["spec"]["projectSelector"] = json!({"matchLabels": {"a": "b"}});
    garden.create("clusteropenidconnectpresets", &object).await;
    let presets = table(&garden, &collection("clusteropenidconnectpresets", &object)).await;
    assert_eq!(titles(&presets), ["Name", "Issuer", "Project-Selector", "Shoot-Selector", "Age"]);
    assert_eq!(presets["rows"][0]["cells"], json!(["a", ISSUER, "a=b", "<none>", "0s"]));
}
