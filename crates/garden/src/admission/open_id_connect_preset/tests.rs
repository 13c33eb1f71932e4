//! Tests of presets of OpenID Connect.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::Configuration;
use crate::admission::shoot_testing::{Stored, merged, outcome};

const OWN: &str = "openidconnectpresets.settings.gardener.cloud";
const OF_CLUSTER: &str = "clusteropenidconnectpresets.settings.gardener.cloud";

fn preset(name: &str, spec: &Value) -> Value {
    let complete = json!({
        "weight": 1, "shootSelector": {}, "projectSelector": {},
        "server": {"clientID": name, "issuerURL": "https://issuer"},
    });
    json!({"metadata": {"name": name, "namespace": "garden-dev"}, "spec": merged(&complete, spec)})
}

/// The message, and the client of the preset that is applied.
fn admitted(plugin: &Plugin, stored: &Stored, spec: &Value) -> (String, Value) {
    let mut object = json!({"metadata": {"name": "app", "labels": {"env": "dev"}}, "spec": spec});
    let (admit, attributes) = (plugin.admit.unwrap(), stored.attributes(Operation::Create));
    let message = outcome(admit.ask(&Configuration::default(), &attributes, Some(&mut object))).1;
    (message, object["spec"]["kubernetes"]["kubeAPIServer"]["oidcConfig"]["clientID"].clone())
}

fn ready() -> Stored {
    let labels = json!({"team": "x"});
    let project = json!({
        "metadata": {"name": "dev", "labels": labels}, "spec": {"namespace": "garden-dev"},
            "status": {"phase": "Ready"},
    });
    Stored::default().with("projects.core.gardener.cloud", project)
}

#[rstest]
#[case::weight(json!({"weight": 2}), json!({"weight": 1}), json!("a"))]
#[case::name(json!({}), json!({}), json!("b"))]
#[case::labels(json!({}), json!({"weight": 2, "shootSelector": {"matchLabels": {"env": "live"}}}), json!("a"))]
#[case::no_selector(json!({}), json!({"shootSelector": null}), json!("a"))]
#[case::none(json!({"shootSelector": null}), json!({"shootSelector": null}), Value::Null)]
fn the_best_preset_that_selects_the_shoot_is_applied(
    #[case] a: Value,
    #[case] b: Value,
    #[case] want: Value,
) {
    let own = ready().with(OWN, preset("a", &a)).with(OWN, preset("b", &b));
    assert_eq!(admitted(&PLUGIN, &own, &json!({})), (String::new(), want.clone()));
    assert_eq!(admitted(&CLUSTER_PLUGIN, &own, &json!({})), (String::new(), Value::Null));
    let of_cluster = ready().with(OF_CLUSTER, preset("a", &a)).with(OF_CLUSTER, preset("b", &b));
    assert_eq!(admitted(&CLUSTER_PLUGIN, &of_cluster, &json!({})), (String::new(), want));
    assert_eq!(admitted(&PLUGIN, &of_cluster, &json!({})), (String::new(), Value::Null));
}

#[test]
fn presets_of_the_cluster_select_projects_that_are_ready() {
    let with = |selector: Value| preset("a", &json!({"projectSelector": selector}));
    let selects = |stored: Stored, selector: Value| {
        admitted(&CLUSTER_PLUGIN, &stored.with(OF_CLUSTER, with(selector)), &json!({})).1
    };
    assert_eq!(selects(ready(), json!({"matchLabels": {"team": "x"}})), "a");
    assert_eq!(selects(ready(), json!({"matchLabels": {"team": "y"}})), Value::Null);
    assert_eq!(selects(ready(), Value::Null), Value::Null);
    assert_eq!(selects(Stored::default(), json!({})), Value::Null);
    assert_eq!(selects(Stored::default().without("projects.core.gardener.cloud"), json!({})), Value::Null);
}

#[test]
fn an_invalid_selector_is_an_error_of_the_server() {
    let wrong = json!({"matchExpressions": [{"key": "k", "operator": "Foo"}]});
    let spec = json!({"shootSelector": wrong});
    let stored = ready().with(OWN, preset("a", &spec)).with(OWN, preset("b", &json!({"weight": 9})));
    let want = "Internal error occurred: label selector conversion failed: {map[] [{k Foo []}]} for shootSelector: \
        \"Foo\" is not a valid label selector operator";
    assert_eq!(admitted(&PLUGIN, &stored, &json!({})), (want.to_owned(), Value::Null));
    let spec = json!({"projectSelector": wrong, "shootSelector": {"matchLabels": {"a": "b"}}});
    let stored = ready().with(OF_CLUSTER, preset("a", &spec));
    let want = "Internal error occurred: label selector conversion failed: {map[a:b] []} for projectSelector: \"Foo\" \
        is not a valid label selector operator";
    assert_eq!(admitted(&CLUSTER_PLUGIN, &stored, &json!({})), (want.to_owned(), Value::Null));
}

#[test]
fn all_settings_are_applied_where_there_are_none() {
    let server = json!({
        "caBundle": "ca", "clientID": "", "groupsClaim": "g", "groupsPrefix": "gp", "issuerURL": "https://issuer",
        "requiredClaims": {"a": "b"}, "signingAlgs": ["RS256"], "usernameClaim": "u", "usernamePrefix": "up",
    });
    let client = json!({"secret": "s", "extraConfig": {"x": "y"}});
    let stored = ready().with(OWN, preset("a", &json!({"server": server, "client": client})));
    let mut object = json!({"spec": {"kubernetes": {"version": "1.27.3"}}});
    assert_eq!(admit(&stored.attributes(Operation::Create), Some(&mut object)), Ok(()));
    let settings = merged(&server, &json!({"clientAuthentication": client}));
    let kubernetes = json!({"version": "1.27.3", "kubeAPIServer": {"oidcConfig": settings}});
    assert_eq!(object["spec"]["kubernetes"], kubernetes);
    let own = json!({"kubernetes": {"kubeAPIServer": {"oidcConfig": {"clientID": "own"}}}});
    assert_eq!(admitted(&PLUGIN, &stored, &own), (String::new(), json!("own")));
    let before = json!({"spec": {}});
    let mut object = before.clone();
    assert_eq!(admit(&stored.attributes(Operation::Update), Some(&mut object)), Ok(()));
    assert_eq!(object, before);
}
