//! Tests of the plugins of kube-apiserver.

use rstest::rstest;

use super::*;
use crate::components::api_server::admission::PluginSettings;
use crate::components::values::ReferencedObjects;

fn plugin(name: &str, config: Option<Value>, disabled: Option<bool>) -> AdmissionPlugin {
    AdmissionPlugin { name: name.to_owned(), config, disabled, ..AdmissionPlugin::default() }
}

/// The arguments and the ConfigMap.
fn rendered(plugins: &[AdmissionPlugin]) -> (Vec<String>, Value) {
    let plugins = configured(plugins).unwrap();
    let referenced = ReferencedObjects::default();
    let settings = PluginSettings::new(&DEFAULTS, &plugins, &referenced).unwrap();
    let config_map = settings.config_map("a").unwrap();
    let parts = settings.parts(&config_map, &settings.kubeconfigs("b"));
    (parts.arguments, config_map)
}

/// The names that are enabled.
fn names(plugins: &[AdmissionPlugin]) -> Vec<String> {
    let (arguments, _) = rendered(plugins);
    let list = arguments[0].strip_prefix("--enable-admission-plugins=").unwrap();
    list.split(',').map(str::to_owned).collect()
}

#[test]
fn there_are_defaults_without_pod_security_policy() {
    let defaults: Vec<String> = DEFAULTS.map(str::to_owned).into();
    assert_eq!(names(&[]), defaults);
    assert_eq!(names(&[plugin("PodSecurityPolicy", None, None)]), defaults);
    let mut more = defaults.clone();
    more.push("AlwaysPullImages".to_owned());
    assert_eq!(names(&[plugin("AlwaysPullImages", None, None)]), more);
    let (arguments, _) = rendered(&[plugin("PodSecurityPolicy", None, Some(true))]);
    assert_eq!(arguments[1], "--disable-admission-plugins=PodSecurityPolicy");
    let fewer: Vec<String> = defaults.into_iter().filter(|name| name != "ResourceQuota").collect();
    assert_eq!(names(&[plugin("ResourceQuota", None, Some(true))]), fewer);
}

#[rstest]
#[case::all_defaults(
    json!({ "apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration" }),
    "apiVersion: pod-security.admission.config.k8s.io/v1\ndefaults:\n  audit: privileged\n  audit-version: latest\n  \
     enforce: privileged\n  enforce-version: latest\n  warn: privileged\n  warn-version: latest\nexemptions:\n  namespaces:\n  \
     - kube-system\nkind: PodSecurityConfiguration\n"
)]
#[case::filled(
    json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1beta1",
        "kind": "PodSecurityConfiguration",
        "defaults": { "enforce": "baseline", "enforce-version": "v1.25", "unknown": "a" },
        "exemptions": { "namespaces": ["kube-system", "a"], "usernames": ["b"], "runtimeClasses": [] },
    }),
    "apiVersion: pod-security.admission.config.k8s.io/v1beta1\ndefaults:\n  audit: privileged\n  audit-version: latest\n  \
     enforce: baseline\n  enforce-version: v1.25\n  warn: privileged\n  warn-version: latest\nexemptions:\n  namespaces:\n  \
     - kube-system\n  - a\n  usernames:\n  - b\nkind: PodSecurityConfiguration\n"
)]
fn pod_security_exempts_kube_system(#[case] config: Value, #[case] file: &str) {
    let (_, config_map) = rendered(&[plugin("PodSecurity", Some(config), None)]);
    assert_eq!(config_map["data"]["podsecurity.yaml"], file);
}

#[test]
fn another_kind_is_refused() {
    let config = json!({ "apiVersion": "pod-security.admission.config.k8s.io/v2", "kind": "PodSecurityConfiguration" });
    let error = configured(&[plugin("PodSecurity", Some(config), None)]).unwrap_err();
    let want = "cannot decode config for admission plugin PodSecurity: expected PodSecurityConfiguration of \
                pod-security.admission.config.k8s.io/v1alpha1, v1beta1 or v1 but got \"PodSecurityConfiguration\" of \
                \"pod-security.admission.config.k8s.io/v2\"";
    assert_eq!(error.to_string(), want);
}
