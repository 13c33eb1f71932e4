//! Finds a webhook in a live seed by its registration, and reaches it through the API server's proxy.

use std::path::Path;

use kube::core::Request;
use serde_json::{Value, json};
use substrate::proxied::Proxied;
use webhook::registration::WebhookConfiguration;

use super::registration::RegistrationInfo;
use crate::kubeconfig::cluster_client;
use crate::targets::NOTHING_FOR_EXTENSIONS;
use crate::terminal::Failure;

/// The path of mutating webhook configurations.
const REGISTRATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// Finds the registration of the webhooks in a namespace.
pub(super) async fn find(path: &Path, namespace: &str) -> Result<(RegistrationInfo, Proxied), Failure> {
    let client = cluster_client(path).await.map_err(|failure| match failure.code {
        3 => Failure::environment(format!(
            "{}; check that the seed runs and that the kubeconfig is still valid",
            failure.text
        )),
        _ => failure,
    })?;
    let listed = Request::new(REGISTRATIONS).list(&kube::api::ListParams::default());
    let listed = listed.map_err(|error| Failure::environment(error.to_string()))?;
    let listed: Value = client.request(listed).await.map_err(|error| {
        Failure::environment(format!(
            "failed to list MutatingWebhookConfigurations: {error}; the user of the kubeconfig must be allowed to list them"
        ))
    })?;
    let items = listed["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kept: Vec<Value> = items.iter().filter_map(|item| for_namespace(item, namespace)).collect();
    if kept.is_empty() {
        let text = format!(
            "no MutatingWebhookConfiguration names a Service in namespace {namespace}; {}",
            describe_namespaces(items)
        );
        // An extension that is there and registers nothing is no slip in the command line.
        let found = Request::new("/api/v1/namespaces").get(namespace, &kube::api::GetParams::default());
        let found = found.map_err(|error| Failure::environment(error.to_string()))?;
        return Err(match client.request::<Value>(found).await {
            Ok(_) => Failure { code: 4, text: format!("{text}\n{NOTHING_FOR_EXTENSIONS}") },
            Err(_) => Failure::usage(text),
        });
    }
    let configurations: Result<Vec<_>, _> = kept.iter().map(WebhookConfiguration::from_object).collect();
    let configurations = configurations.map_err(|error| Failure::usage(error.to_string()))?;
    let mut registration = RegistrationInfo::of(&configurations);
    registration.content = Some(to_yaml(&kept)?);
    let (service, port) = (registration.service.0.clone(), registration.service.1.to_string());
    let dialer = Proxied::new(client, namespace, &service, ("https", &port));
    Ok((registration, dialer))
}

/// The configuration with only the webhooks in the namespace, and without the fields that a target file does not need.
fn for_namespace(item: &Value, namespace: &str) -> Option<Value> {
    let webhooks = item["webhooks"].as_array()?.iter();
    let mut kept: Vec<Value> = webhooks
        .filter(|webhook| webhook["clientConfig"]["service"]["namespace"] == namespace)
        .cloned()
        .collect();
    for webhook in &mut kept {
        if let Some(config) = webhook["clientConfig"].as_object_mut() {
            config.remove("caBundle");
        }
    }
    let name = &item["metadata"]["name"];
    (!kept.is_empty()).then(|| {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name}, "webhooks": kept,
        })
    })
}

/// Lists the namespaces of the Services of all webhooks.
fn describe_namespaces(items: &[Value]) -> String {
    let webhooks = items.iter().filter_map(|item| item["webhooks"].as_array()).flatten();
    let mut namespaces: Vec<&str> =
        webhooks.filter_map(|webhook| webhook["clientConfig"]["service"]["namespace"].as_str()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    if namespaces.is_empty() {
        "no webhook of the seed names a Service".to_owned()
    } else {
        format!("there are webhooks in {}", namespaces.join(", "))
    }
}

fn to_yaml(kept: &[Value]) -> Result<String, Failure> {
    let documents = kept.iter().map(formats::yaml::to_string).collect::<Result<Vec<_>, _>>();
    let documents = documents.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(documents.iter().map(|text| text.trim_start_matches("---\n")).collect::<Vec<_>>().join("---\n"))
}
