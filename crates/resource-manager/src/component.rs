//! The resource-manager as a component; alone in a cluster it is installed like a seed's.

use controller::config::Configuration as _;
use std::sync::Arc;

use component::{
    Combining, Component, Installation, Loaded, Manifests, Probe, Rollout, StartOptions, Started, Webhooks,
};
use include_dir::{Dir, include_dir};
use serde_json::{Value, json};
use webhook::registration::WebhookConfiguration;

use crate::command;
use crate::config::ResourceManagerConfiguration;
use crate::controllers;
use crate::registrations::{self, Instance};
use crate::serving::{self, Clients};
use crate::webhooks;

/// The resource-manager of this project.
pub static COMPONENT: Component = Component {
    name: "resource-manager",
    program: "gardener-resource-manager",
    about: "gardener-resource-manager of a seed, for the cluster that it runs in",
    version: "v1.82.0",
    features: &[],
    paths: webhooks::paths,
    main: |arguments| command::main(arguments),
    process: Some(include_str!("../process.yaml")),
    load: Some(load),
    start: |options| Box::pin(start(options)),
    decide: None,
    admits_shoots: false,
    maintains_shoots: false,
    elects_leader: true,
    installation: Installation {
        manifests: MANIFESTS,
        namespace: NAMESPACE,
        webhooks: Some(Webhooks {
            service: "gardener-resource-manager",
            registrations: registrations_alone,
            probe,
        }),
        rollout: Some(Rollout {
            combining: Combining::Sections,
            file: |config| complete_config(config).map(Some),
            registrations: registrations_of,
        }),
    },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);
const NAMESPACE: &str = "garden";

fn load(config: &Value) -> Loaded {
    component::to_load_result(ResourceManagerConfiguration::from_value(config))
}

async fn start(options: StartOptions) -> Result<Started, String> {
    let config =
        ResourceManagerConfiguration::from_partial(&options.config).map_err(|error| error.to_string())?;
    let facts = options.client.ok_or("no API server to read facts from")?;
    let webhooks = serving::webhooks(&config, &Clients { source: facts.clone(), target: facts });
    webhooks.wait_until_synced().await;
    let running = options.clusters.map(|clusters| Arc::new(controllers::start(&config, clusters)));
    let metrics = {
        let running = running.clone();
        move || running.as_ref().map(|running| running.exposition()).unwrap_or_default()
    };
    Ok(Started {
        service: webhooks.service.clone(),
        registrations: registrations::registrations(&config, instance(&options.instance), None),
        metrics: Box::new(metrics),
        failure: Box::new(|| None),
        guard: Box::new((webhooks, running)),
    })
}

fn instance(name: &str) -> Instance {
    if name == "shoot" { Instance::Shoot } else { Instance::Seed }
}

fn registrations_of(config: &Value, name: &str) -> Result<Vec<WebhookConfiguration>, String> {
    let config = ResourceManagerConfiguration::from_partial(config).map_err(|error| error.to_string())?;
    Ok(registrations::registrations(&config, instance(name), None))
}

fn registrations_alone(authority: &str) -> Result<Vec<WebhookConfiguration>, String> {
    let config = configuration("runtime/garden/config.yaml")?;
    Ok(registrations::registrations(&config, Instance::Seed, Some(authority)))
}

fn configuration(path: &str) -> Result<ResourceManagerConfiguration, String> {
    let (config, _) =
        ResourceManagerConfiguration::from_value(&read(path)?).map_err(|error| error.to_string())?;
    Ok(config)
}

fn read(path: &str) -> Result<Value, String> {
    let text = MANIFESTS.text(path).ok_or_else(|| format!("its manifests have no file {path}"))?;
    formats::yaml::from_str(text).map_err(|error| error.to_string())
}

/// A Pod in its own namespace.
fn probe() -> Probe {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "probe-", "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "probe", "image": "probe"}]},
    });
    Probe { around: Vec::new(), object }
}

/// The configuration file of a rollout: the sections of cases, merged over those of every rollout.
fn complete_config(config: &Value) -> Result<Value, String> {
    let mut complete_config = read("suite/config.yaml")?;
    for (part, value) in config.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(sections) => {
                for (section, value) in sections {
                    complete_config[part][section] = value.clone();
                }
            }
            None => complete_config[part] = value.clone(),
        }
    }
    Ok(complete_config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_configuration_is_understood_and_registers_webhooks_of_both_kinds() {
        let (_, warnings) =
            ResourceManagerConfiguration::from_value(&read("runtime/garden/config.yaml").unwrap()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let objects: Vec<Value> =
            registrations_alone("").unwrap().iter().map(WebhookConfiguration::to_object).collect();
        let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);
    }

    #[test]
    fn sections_of_cases_are_merged_with_those_of_every_rollout() {
        let config = json!({"controllers": {"garbageCollector": {"enabled": true}}, "webhooks": {"seccompProfile": {"enabled": true}}});
        let complete_config = complete_config(&config).unwrap();
        let (read, warnings) = ResourceManagerConfiguration::from_value(&complete_config).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!(read.webhooks.seccomp_profile.enabled);
        assert_eq!(complete_config["controllers"]["garbageCollector"]["enabled"], true);
        assert_eq!(complete_config["controllers"]["resourceClass"], "gardener-conformance");
        assert_eq!(complete_config["server"]["webhooks"]["port"], 10250);
    }
}
