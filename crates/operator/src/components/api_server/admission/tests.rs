//! Tests of admission plugins: their order, and the files of each.

use rstest::rstest;

use super::*;

const EMPTY: &str = "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins: null\n";

fn configured(name: &str, disabled: Option<bool>) -> AdmissionPlugin {
    AdmissionPlugin { name: name.to_owned(), disabled, ..AdmissionPlugin::default() }
}

fn plugin(name: &str, config: Option<Value>, kubeconfig: Option<&str>) -> EnabledPlugin {
    EnabledPlugin {
        name: name.to_owned(),
        config: config.map(PluginConfig::Given),
        kubeconfig: kubeconfig.map(|text| text.as_bytes().to_vec()),
    }
}

fn setup(plugin: EnabledPlugin) -> AdmissionSetup {
    AdmissionSetup { enabled: vec![plugin], disabled: Vec::new() }
}

#[test]
fn configured_plugins_take_their_default_places() {
    let mut limited = configured("B", None);
    limited.config = Some(json!({ "limit": 1 }));
    let configured =
        [configured("D", None), limited.clone(), configured("C", Some(true)), configured("E", Some(true))];
    let plugins = enabled(&["A", "B", "C"], &configured);
    let names: Vec<&str> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "D"]);
    assert_eq!(plugins[1], limited);
    assert_eq!(disabled(&configured), ["C", "E"]);
}

#[rstest]
#[case::nothing("MutatingAdmissionWebhook", None, None, None)]
#[case::kubeconfig(
    "MutatingAdmissionWebhook",
    None,
    Some("k"),
    Some(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\n\
         kubeConfigFile: /etc/kubernetes/admission-kubeconfigs/mutatingadmissionwebhook-kubeconfig.yaml\n"
    )
)]
#[case::config_without_kubeconfig(
    "ValidatingAdmissionWebhook",
    Some(json!({
        "apiVersion": "apiserver.config.k8s.io/v1alpha1",
        "kind": "WebhookAdmission",
        "kubeConfigFile": "/etc/shadow",
    })),
    None,
    Some("apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: WebhookAdmission\nkubeConfigFile: \"\"\n")
)]
#[case::images_by_default(
    "ImagePolicyWebhook",
    None,
    Some("k"),
    Some(
        "imagePolicy:\n  \
         kubeConfigFile: /etc/kubernetes/admission-kubeconfigs/imagepolicywebhook-kubeconfig.yaml\n"
    )
)]
#[case::images(
    "ImagePolicyWebhook",
    Some(json!({ "imagePolicy": { "allowTTL": 50, "kubeConfigFile": "/etc/shadow" } })),
    None,
    Some("imagePolicy:\n  allowTTL: 50\n  kubeConfigFile: \"\"\n")
)]
#[case::others("EventRateLimit", Some(json!({ "limits": [1], "a": "<" })), None, Some(r#"{"a":"\u003c","limits":[1]}"#))]
#[case::others_without_config("AlwaysPullImages", None, Some("k"), None)]
fn each_plugin_has_its_file(
    #[case] name: &str,
    #[case] config: Option<Value>,
    #[case] kubeconfig: Option<&str>,
    #[case] file: Option<&str>,
) {
    let data = setup(plugin(name, config, kubeconfig)).configuration_data().unwrap();
    let key = format!("{}.yaml", name.to_lowercase());
    let list = match file {
        None => EMPTY.to_owned(),
        Some(_) => format!(
            "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins:\n\
             - configuration: null\n  name: {name}\n  path: /etc/kubernetes/admission/{key}\n"
        ),
    };
    let files = file.map(|file| (key, file.to_owned())).into_iter();
    let want: BTreeMap<String, String> =
        files.chain([("admission-configuration.yaml".to_owned(), list)]).collect();
    assert_eq!(data, want);
}

#[rstest]
#[case::another_kind(
    "MutatingAdmissionWebhook",
    json!({ "apiVersion": "apiserver.k8s.io/v1alpha1", "kind": "AdmissionConfiguration" }),
    "cannot decode config for admission plugin MutatingAdmissionWebhook: expected WebhookAdmissionConfiguration of \
     apiserver.config.k8s.io/v1 or WebhookAdmission of apiserver.config.k8s.io/v1alpha1 but got \"AdmissionConfiguration\" of \
     \"apiserver.k8s.io/v1alpha1\""
)]
#[case::no_policy(
    "ImagePolicyWebhook",
    json!({ "policy": {} }),
    "cannot decode config for admission plugin ImagePolicyWebhook: expected the key imagePolicy, which does not exist or is no map"
)]
fn a_strange_configuration_is_refused(#[case] name: &str, #[case] config: Value, #[case] want: &str) {
    let error = setup(plugin(name, Some(config), None)).configuration_data().unwrap_err();
    assert_eq!(error.to_string(), want);
}

#[test]
fn a_plugin_gets_the_kubeconfig_that_it_names() {
    let data = SecretData::from([("kubeconfig", "k")]);
    let referenced = ReferencedObjects {
        secrets: BTreeMap::from([("filled".to_owned(), data)]),
        ..ReferencedObjects::default()
    };
    let named = |name: &str| AdmissionPlugin {
        kubeconfig_secret_name: Some(name.to_owned()),
        ..configured("ImagePolicyWebhook", None)
    };
    let completed = complete(&[named("filled"), configured("A", None)], &referenced).unwrap();
    assert_eq!(completed, [plugin("ImagePolicyWebhook", None, Some("k")), plugin("A", None, None)]);
    let error = complete(&[named("none")], &referenced).unwrap_err().to_string();
    let want = "failed reading kubeconfig for admission plugin from referenced secret garden/none: secrets \"none\" not found";
    assert_eq!(error, want);
}

#[test]
fn kubeconfigs_are_keyed_by_plugin_and_may_be_none() {
    let both = AdmissionSetup {
        enabled: vec![
            plugin("ImagePolicyWebhook", None, Some("k")),
            plugin("MutatingAdmissionWebhook", None, Some("")),
        ],
        disabled: Vec::new(),
    };
    let want = SecretData::from([("imagepolicywebhook-kubeconfig.yaml", "k")]);
    assert_eq!(both.kubeconfig_data(), want);
    assert_eq!(AdmissionSetup::default().kubeconfig_data(), SecretData::default());
}

#[rstest]
#[case(&[], &[], &[])]
#[case(&["A"], &[], &["--enable-admission-plugins=A"])]
#[case(&["A", "B"], &["C"], &["--enable-admission-plugins=A,B", "--disable-admission-plugins=C"])]
fn plugins_are_listed(#[case] enabled: &[&str], #[case] disabled: &[&str], #[case] flags: &[&str]) {
    let setup = AdmissionSetup {
        enabled: enabled.iter().map(|name| plugin(name, None, None)).collect(),
        disabled: disabled.iter().map(|name| (*name).to_owned()).collect(),
    };
    let mut parts = ServerParts::default();
    setup.add(&mut parts, "config-1", "kubeconfigs-1");
    let file = "--admission-control-config-file=/etc/kubernetes/admission/admission-configuration.yaml";
    assert_eq!(parts.arguments, [flags, &[file]].concat());
    let mounts: Vec<&str> = parts.volumes.iter().map(|volume| volume.path.as_str()).collect();
    assert_eq!(mounts, ["/etc/kubernetes/admission", "/etc/kubernetes/admission-kubeconfigs"]);
}
