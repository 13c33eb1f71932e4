//! Secrets with kubeconfigs of the admission plugins of a Shoot's API server.

use std::collections::BTreeSet;

use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path, quote};
use webhook::strategy::ObjectReader;

use crate::webhooks::field_errors::FieldErrors;

/// The Secret is one of the Shoot's resources, exists, and has a kubeconfig; this is asked on every write:
/// GPL-SHVAL-110.
pub(super) fn validate(spec: &ShootSpec, objects: &dyn ObjectReader, namespace: &str) -> FieldErrors {
    let references = spec.resources.iter().map(|resource| &resource.resource_ref);
    let secrets = references
        .filter(|reference| reference.api_version.as_deref() == Some("v1") && reference.kind == "Secret");
    let known: BTreeSet<&str> = secrets.map(|reference| reference.name.as_str()).collect();
    let at = ["kubernetes", "kubeAPIServer", "admissionPlugins"];
    let at = at.iter().fold(Path::new("spec"), |at, name| at.child(name));
    let plugins = spec.kubernetes.kube_api_server.iter().flat_map(|server| &server.admission_plugins);
    let mut errors = FieldErrors::new();
    for (index, plugin) in plugins.enumerate() {
        let Some(name) = &plugin.kubeconfig_secret_name else { continue };
        let at = at.index(index).child("kubeconfigSecretName");
        if known.contains(name.as_str()) {
            errors.extend(validate_secret(name, objects, namespace, &at));
        } else {
            let detail = "secret should be referenced in shoot .spec.resources";
            errors.push(Error::invalid(&at, name, detail));
        }
    }
    errors
}

fn validate_secret(name: &str, objects: &dyn ObjectReader, namespace: &str, at: &Path) -> Option<Error> {
    let which = format!("namespace: {namespace}, name: {name}");
    let Some(secret) = objects.get("secrets", namespace, name) else {
        let detail =
            format!("unable to get the referenced secret: {which}, error: secret {} not found", quote(name));
        return Some(Error::internal(at, &detail));
    };
    let detail = format!("referenced kubeconfig secret doesn't contain kubeconfig: {which}");
    secret["data"].get("kubeconfig").is_none().then(|| Error::invalid(at, name, &detail))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_testing::Stored;
    use crate::admission::shoot_validator::testing::{spec, texts};

    #[rstest]
    #[case::none(Value::Null, &[])]
    #[case::complete(json!("good"), &[])]
    #[case::unreferenced(json!("other"), &["Invalid value: \"other\": secret should be referenced in shoot \
        .spec.resources"])]
    #[case::of_another_kind(json!("map"), &["Invalid value: \"map\": secret should be referenced in shoot \
        .spec.resources"])]
    #[case::missing(
        json!("gone"),
        &["Internal error: unable to get the referenced secret: namespace: garden-dev, name: gone, error: secret \
            \"gone\" not found"],
    )]
    #[case::without_kubeconfig(
        json!("bad"),
        &["Invalid value: \"bad\": referenced kubeconfig secret doesn't contain kubeconfig: namespace: garden-dev, \
            name: bad"],
    )]
    fn secrets_have_kubeconfigs(#[case] name: Value, #[case] want: &[&str]) {
        let secret = |name: &str, data: Value| {
            json!({"metadata": {"name": name, "namespace": "garden-dev"},
            "data": data})
        };
        let stored = Stored::default()
            .with("secrets", secret("good", json!({"kubeconfig": ""})))
            .with("secrets", secret("bad", json!({"x": ""})));
        let resource = |name: &str, kind: &str| {
            json!({"name": name, "resourceRef": {"apiVersion": "v1", "kind": kind,
            "name": name}})
        };
        let resources = ["good", "gone", "bad"]
            .map(|name| resource(name, "Secret"))
            .into_iter()
            .chain([resource("map", "ConfigMap")]);
        let plugins = json!([{"name": "a"}, {"name": "b", "kubeconfigSecretName": name}]);
        let spec = spec(json!({
            "kubernetes": {"kubeAPIServer": {"admissionPlugins": plugins}},
            "resources": resources.collect::<Vec<_>>(),
        }));
        let at = "spec.kubernetes.kubeAPIServer.admissionPlugins[1].kubeconfigSecretName";
        let want: Vec<String> = want.iter().map(|text| format!("{at}: {text}")).collect();
        assert_eq!(texts(&validate(&spec, &stored, "garden-dev")), want);
    }
}
