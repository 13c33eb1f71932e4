//! A webhook in a live seed: what leads to its namespace, and the way to it through the API server's proxy.

use std::path::Path;

use kube::core::Request;
use serde_json::{Value, json};
use substrate::kubeconfig;
use substrate::proxied::Proxied;
use webhook::registration::WebhookConfiguration;

use super::registered::Registered;
use crate::terminal::Failure;

/// Where mutating webhooks are registered.
const REGISTRATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// Finds what leads to a namespace.
pub(super) async fn find(path: &Path, namespace: &str) -> Result<(Registered, Proxied), Failure> {
    let client = kubeconfig::client(path).await.map_err(|error| {
        Failure::environment(format!(
            "{error}; see that the seed runs and that the kubeconfig is still valid"
        ))
    })?;
    let listed = Request::new(REGISTRATIONS).list(&kube::api::ListParams::default());
    let listed = listed.map_err(|error| Failure::environment(error.to_string()))?;
    let listed: Value = client.request(listed).await.map_err(|error| {
        Failure::environment(format!(
            "failed to list MutatingWebhookConfigurations: {error}; the user of the kubeconfig must be allowed to"
        ))
    })?;
    let items = listed["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kept: Vec<Value> = items.iter().filter_map(|item| leading_to(item, namespace)).collect();
    if kept.is_empty() {
        return Err(Failure::usage(format!(
            "no MutatingWebhookConfiguration leads to namespace {namespace}; {}",
            others(items)
        )));
    }
    let configurations: Result<Vec<_>, _> = kept.iter().map(WebhookConfiguration::from_object).collect();
    let configurations = configurations.map_err(|error| Failure::usage(error.to_string()))?;
    let mut registered = Registered::of(&configurations);
    registered.content = Some(written(&kept)?);
    let (service, port) = (registered.service.0.clone(), registered.service.1.to_string());
    let dialer = Proxied::new(client, namespace, &service, ("https", &port));
    Ok((registered, dialer))
}

/// A configuration with the webhooks alone that lead to the namespace, without what a target file has no use for.
fn leading_to(item: &Value, namespace: &str) -> Option<Value> {
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

/// Namespaces to which webhooks lead.
fn others(items: &[Value]) -> String {
    let webhooks = items.iter().filter_map(|item| item["webhooks"].as_array()).flatten();
    let mut namespaces: Vec<&str> =
        webhooks.filter_map(|webhook| webhook["clientConfig"]["service"]["namespace"].as_str()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    if namespaces.is_empty() {
        "none leads to a Service at all".to_owned()
    } else {
        format!("they lead to {}", namespaces.join(", "))
    }
}

fn written(kept: &[Value]) -> Result<String, Failure> {
    let documents = kept.iter().map(formats::yaml::to_string).collect::<Result<Vec<_>, _>>();
    let documents = documents.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(documents.iter().map(|text| text.trim_start_matches("---\n")).collect::<Vec<_>>().join("---\n"))
}
