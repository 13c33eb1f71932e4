//! Files and arguments of API servers.

use formats::yaml;
use rstest::rstest;
use serde_json::{Value, json};

use super::admission::PluginSettings;
use super::audit::AuditSettings;
use super::*;
use crate::components::fixture::{Fixture, generated};
use crate::components::rendering::name_of;

fn plugins(list: Value) -> Vec<api::garden::shoot::api_server::AdmissionPlugin> {
    serde_json::from_value(list).unwrap()
}

#[rstest]
#[case::nothing(json!({}), &[])]
#[case::all(
    json!({
        "featureGates": {"B": false, "A": true},
        "requests": {"maxNonMutatingInflight": 400, "maxMutatingInflight": 200},
        "logging": {"verbosity": 3, "httpAccessVerbosity": 4},
        "watchCacheSizes": {"default": 50, "resources": [
            {"resource": "secrets", "size": 1}, {"apiGroup": "apps", "resource": "deployments", "size": 2},
        ]},
    }),
    &[
        "--feature-gates=A=true,B=false",
        "--max-requests-inflight=400",
        "--max-mutating-requests-inflight=200",
        "--vmodule=httplog=4",
        "--v=3",
        "--default-watch-cache-size=50",
        "--watch-cache-sizes=secrets#1,deployments.apps#2",
    ]
)]
#[case::a_default_size_needs_resources(json!({"watchCacheSizes": {"default": 50}}), &[])]
fn settings_are_arguments_after_those_that_all_have(#[case] settings: Value, #[case] want: &[&str]) {
    let config: api::operator::gardener::GardenerApiServerConfig = serde_json::from_value(settings).unwrap();
    let settings = ServerSettings {
        feature_gates: Some(&config.feature_gates),
        requests: config.requests.as_ref(),
        logging: config.logging.as_ref(),
        watch_cache_sizes: config.watch_cache_sizes.as_ref(),
    };
    let parts = common(settings, &Fixture::default().secrets, "server").unwrap();
    assert_eq!(parts.arguments.len(), 11 + want.len());
    assert_eq!(parts.arguments[11..], *want);
}

#[rstest]
#[case::none(json!([]), json!({"apiVersion": "apiserver.k8s.io/v1alpha1", "kind": "AdmissionConfiguration", "plugins": null}), &[])]
#[case::configured(
    json!([
        {"name": "Plain", "config": {"b": "<", "a": 1}},
        {"name": "Bare"},
        {"name": "Off", "config": {}, "disabled": true},
        {"name": "ValidatingAdmissionWebhook"},
        {"name": "MutatingAdmissionWebhook", "kubeconfigSecretName": "k"},
        {"name": "ImagePolicyWebhook", "config": {"imagePolicy": {"kubeConfigFile": "/own", "allowTTL": 50}}},
    ]),
    json!({"apiVersion": "apiserver.k8s.io/v1alpha1", "kind": "AdmissionConfiguration", "plugins": [
        {"name": "Plain", "path": "/etc/kubernetes/admission/plain.yaml", "configuration": null},
        {
            "name": "MutatingAdmissionWebhook", "configuration": null,
            "path": "/etc/kubernetes/admission/mutatingadmissionwebhook.yaml",
        },
        {
            "name": "ImagePolicyWebhook", "configuration": null,
            "path": "/etc/kubernetes/admission/imagepolicywebhook.yaml",
        },
    ]}),
    &[
        ("plain.yaml", r#"{"a":1,"b":"\u003c"}"#),
        (
            "mutatingadmissionwebhook.yaml",
            "apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\n\
             kubeConfigFile: /etc/kubernetes/admission-kubeconfigs/mutatingadmissionwebhook-kubeconfig.yaml\n",
        ),
        ("imagepolicywebhook.yaml", "imagePolicy:\n  allowTTL: 50\n  kubeConfigFile: \"\"\n"),
    ]
)]
#[case::an_older_version(
    json!([{"name": "ValidatingAdmissionWebhook", "config": {
        "apiVersion": "apiserver.config.k8s.io/v1alpha1", "kind": "WebhookAdmission", "kubeConfigFile": "/own",
    }}]),
    json!({"apiVersion": "apiserver.k8s.io/v1alpha1", "kind": "AdmissionConfiguration", "plugins": [{
        "name": "ValidatingAdmissionWebhook", "configuration": null,
        "path": "/etc/kubernetes/admission/validatingadmissionwebhook.yaml",
    }]}),
    &[(
        "validatingadmissionwebhook.yaml",
        "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: WebhookAdmission\nkubeConfigFile: \"\"\n",
    )]
)]
fn plugins_have_their_configurations_in_files(
    #[case] configured: Value,
    #[case] want: Value,
    #[case] files: &[(&str, &str)],
) {
    let fixture = Fixture::default().with_secret("k", [("kubeconfig", "content")]);
    let configured = plugins(configured);
    let settings = PluginSettings::new(&[], &configured, &fixture.referenced).unwrap();
    let config_map = settings.config_map("a").unwrap();
    let data = config_map["data"].as_object().unwrap();
    let index: Value = yaml::from_str(data["admission-configuration.yaml"].as_str().unwrap()).unwrap();
    assert_eq!(index, want);
    assert_eq!(data.len(), 1 + files.len());
    for (key, text) in files {
        assert_eq!(data[*key], *text);
    }
}

#[test]
fn plugins_replace_defaults_in_place_and_disabled_ones_are_listed() {
    let fixture = Fixture::default();
    let configured =
        plugins(json!([{"name": "New"}, {"name": "B", "disabled": true}, {"name": "A", "config": {}}]));
    let settings = PluginSettings::new(&["A", "B", "C"], &configured, &fixture.referenced).unwrap();
    let (config_map, secret) = (settings.config_map("a").unwrap(), settings.kubeconfigs("b"));
    assert_eq!(name_of(&secret), "b-e3b0c442");
    let want = [
        "--enable-admission-plugins=A,C,New",
        "--disable-admission-plugins=B",
        "--admission-control-config-file=/etc/kubernetes/admission/admission-configuration.yaml",
    ];
    assert_eq!(settings.parts(&config_map, &secret).arguments, want);
}

#[rstest]
#[case(
    json!({"name": "ValidatingAdmissionWebhook", "config": {"apiVersion": "v1", "kind": "Pod"}}),
    r#"cannot decode config for admission plugin ValidatingAdmissionWebhook: no kind "Pod" is registered for version "v1""#
)]
#[case(
    json!({"name": "ImagePolicyWebhook", "config": {}}),
    r#"cannot decode config for admission plugin ImagePolicyWebhook: expected "imagePolicy" key in configuration but it does not exist"#
)]
fn a_configuration_of_another_kind_is_named(#[case] plugin: Value, #[case] want: &str) {
    let fixture = Fixture::default();
    let configured = plugins(json!([plugin]));
    let settings = PluginSettings::new(&[], &configured, &fixture.referenced).unwrap();
    assert_eq!(settings.config_map("a").unwrap_err().to_string(), want);
}

#[rstest]
#[case::no_secret(
    Fixture::default(),
    "failed reading kubeconfig for admission plugin from referenced secret garden/k: secrets \"k\" not found"
)]
#[case::no_kubeconfig(
    Fixture::default().with_secret("k", [("other", "x")]),
    "failed reading kubeconfig for admission plugin from referenced secret garden/k: \
     the secret's field 'kubeconfig' is either not present or empty"
)]
fn a_missing_kubeconfig_is_named(#[case] fixture: Fixture, #[case] want: &str) {
    let configured = plugins(json!([{"name": "A", "kubeconfigSecretName": "k"}]));
    let error = PluginSettings::new(&[], &configured, &fixture.referenced).unwrap_err();
    assert_eq!(error.to_string(), want);
}

#[rstest]
#[case::no_config_map(
    Fixture::default(),
    "retrieving audit policy from the ConfigMap garden/p failed: configmaps \"p\" not found"
)]
#[case::no_policy(
    Fixture::default().with_config_map("p", "other", "x"),
    "missing '.data.policy' in audit policy ConfigMap garden/p"
)]
fn a_missing_audit_policy_is_named(#[case] fixture: Fixture, #[case] want: &str) {
    let config = serde_json::from_value(json!({"auditPolicy": {"configMapRef": {"name": "p"}}})).unwrap();
    let error = AuditSettings::new(Some(&config), None, &fixture.referenced).unwrap_err();
    assert_eq!(error.to_string(), want);
}

/// Data of the original's own tests.
#[test]
fn while_a_new_key_is_not_known_everywhere_the_old_one_encrypts() {
    let named = |name: &str, secret: &str| {
        let mut key = generated("key", false).current;
        key.data = secrets::SecretData::from([("key", name), ("secret", secret)]);
        key
    };
    let keys = |old: Option<&str>| crate::components::GeneratedSecret {
        current: named("key2", "new"),
        old: old.map(|name| named(name, "old")),
        bundle: None,
    };
    let ordered = |keys, uses_current_key| {
        let secret = encryption::secret("a", &["r"], &keys, uses_current_key).unwrap();
        let text = formats::base64::decode(secret["data"]["encryption-configuration.yaml"].as_str().unwrap());
        String::from_utf8(text.unwrap()).unwrap()
    };
    let text = |keys: &str| {
        format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- providers:\n  - aescbc:\n      \
             keys:\n{keys}  - identity: {{}}\n  resources:\n  - r\n"
        )
    };
    let (new, old) =
        ("      - name: key2\n        secret: new\n", "      - name: key1\n        secret: old\n");
    assert_eq!(ordered(keys(None), true), text(new));
    assert_eq!(ordered(keys(Some("key1")), true), text(&format!("{new}{old}")));
    assert_eq!(ordered(keys(Some("key1")), false), text(&format!("{old}{new}")));
}
