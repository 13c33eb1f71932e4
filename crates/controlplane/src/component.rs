//! A provider's webhooks for control planes as a component; the provider has CSI plugins unless a case says
//! otherwise.

use controller::config::Configuration as _;
use std::sync::Arc;

use component::{
    Combining, Component, Installation, Manifests, Probe, Rollout, StartOptions, Started, Webhooks,
};
use include_dir::{Dir, include_dir};
use serde_json::{Value, json};
use webhook::registration::WebhookConfiguration;

use crate::command;
use crate::config::{API_VERSION, ControlPlaneWebhooksConfiguration, KIND};
use crate::registrations::{Address, registration};
use crate::{serving, webhooks};

/// The webhooks for control planes of this project.
pub static COMPONENT: Component = Component {
    name: "controlplane",
    program: "gardener-controlplane",
    about: "the webhooks for control planes of a provider named local",
    version: "v1.82.0",
    features: &["csi"],
    paths: webhooks::paths,
    main: |arguments| command::main(arguments),
    process: Some(include_str!("../process.yaml")),
    load: Some(|config| component::to_load_result(ControlPlaneWebhooksConfiguration::from_value(config))),
    start: |options| Box::pin(std::future::ready(start(options))),
    decide: None,
    admits_shoots: false,
    maintains_shoots: false,
    elects_leader: false,
    installation: Installation {
        manifests: MANIFESTS,
        namespace: "extension-provider-local",
        webhooks: Some(Webhooks {
            service: "gardener-extension-provider-local",
            registrations: registrations_alone,
            probe,
        }),
        rollout: Some(Rollout {
            // Webhooks do nothing that the provider's configuration does not request.
            combining: Combining::Nothing,
            file: |config| complete_config(config).map(Some),
            registrations: |config, _| Ok(registered(&configuration(config)?, None)),
        }),
    },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);
const CONFIG: &str = "runtime/extension/config.yaml";

fn start(options: StartOptions) -> Result<Started, String> {
    let (config, warnings) =
        ControlPlaneWebhooksConfiguration::from_value(&options.config).map_err(|error| error.to_string())?;
    if let Some(warning) = warnings.first() {
        return Err(warning.to_string());
    }
    let client = options.client.ok_or("no API server to read Clusters from")?;
    let registrations = registered(&config, None);
    Ok(Started::webhooks(serving::webhooks(&Arc::new(config), &client), registrations))
}

fn registered(
    config: &ControlPlaneWebhooksConfiguration,
    authority: Option<&str>,
) -> Vec<WebhookConfiguration> {
    registration(config, &Address::service_of(&config.provider), authority).into_iter().collect()
}

fn registrations_alone(authority: &str) -> Result<Vec<WebhookConfiguration>, String> {
    let text = MANIFESTS.text(CONFIG).ok_or_else(|| format!("its manifests have no file {CONFIG}"))?;
    let value = formats::yaml::from_str(text).map_err(|error| error.to_string())?;
    Ok(registered(&configuration(&value)?, Some(authority)))
}

fn configuration(value: &Value) -> Result<ControlPlaneWebhooksConfiguration, String> {
    ControlPlaneWebhooksConfiguration::from_value(value)
        .map(|(config, _)| config)
        .map_err(|error| error.to_string())
}

/// A Service in the namespace of a control plane that no hook changes.
fn probe() -> Probe {
    let name = "probe-control-plane";
    let labels = json!({"shoot.gardener.cloud/provider": "local", "seed.gardener.cloud/provider": "local"});
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
    let object = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"generateName": "probe-", "namespace": name},
        "spec": {"ports": [{"port": 443}]},
    });
    Probe { around: vec![namespace], object }
}

/// The complete configuration file.
fn complete_config(config: &Value) -> Result<Value, String> {
    let mut complete_config = json!({"apiVersion": API_VERSION, "kind": KIND});
    let sections = config.as_object().ok_or("the configuration is not a map")?;
    complete_config
        .as_object_mut()
        .into_iter()
        .for_each(|complete_config| complete_config.extend(sections.clone()));
    configuration(&complete_config).map(|_| complete_config)
}
