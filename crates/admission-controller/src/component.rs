//! The admission-controller as a component, of a garden whose kinds are custom resources.

use controller::config::Configuration as _;

use component::{
    Combining, Component, Installation, Loaded, Manifests, Probe, Rollout, StartOptions, Started, Webhooks,
};
use controller::clock::Clock;
use controller::controllers::Running;
use controller::{CancellationToken, Controllers, Entropy};
use include_dir::{Dir, include_dir};
use serde_json::{Value, json};
use webhook::registration::WebhookConfiguration;

use crate::authorizer::UnknownDeletions;
use crate::command;
use crate::config::AdmissionControllerConfiguration;
use crate::garden::GardenCaches;
use crate::registrations;
use crate::serving::Serving;
use crate::webhooks::PATHS;

/// The admission-controller of this project.
pub static COMPONENT: Component = Component {
    name: "admission-controller",
    program: "gardener-admission-controller",
    about: "gardener-admission-controller of a garden whose kinds are custom resources",
    version: "v1.82.0",
    features: &[],
    paths,
    main: |arguments| command::main(arguments),
    process: Some(include_str!("../process.yaml")),
    load: Some(load),
    start: |options| Box::pin(start(options)),
    decide: None,
    admits_shoots: false,
    maintains_shoots: false,
    elects_leader: false,
    installation: Installation {
        manifests: MANIFESTS,
        namespace: registrations::NAMESPACE,
        webhooks: Some(Webhooks { service: registrations::NAME, registrations: registrations_alone, probe }),
        rollout: Some(Rollout {
            combining: Combining::Nothing,
            file: |config| complete_config(config).map(Some),
            registrations: |config, _| registrations_of(config),
        }),
    },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);

fn load(config: &Value) -> Loaded {
    component::to_load_result(AdmissionControllerConfiguration::from_value(config))
}

/// In this process, reviews reach webhooks without their callers: those that judge callers are neither served nor
/// registered, and their cases start the program.
async fn start(options: StartOptions) -> Result<Started, String> {
    let config =
        AdmissionControllerConfiguration::from_partial(&options.config).map_err(|error| error.to_string())?;
    let client = options.client.ok_or("no API server to read facts from")?;
    let entropy = Entropy::seeded(0);
    let garden = GardenCaches::new(client, entropy.clone());
    let clock = options.now.map_or_else(Clock::system, Clock::starting_at);
    let serving = Serving::new(&config, garden.clone(), clock, UnknownDeletions::default());
    let running = Running::start(vec![garden.cluster.clone()], entropy, until_stopped);
    garden.cluster.wait_until_synced().await;
    let served: Vec<String> = serving.reviews.routes().map(|route| route.path.clone()).collect();
    let mut registrations = registrations::registrations(&config, None);
    for registration in &mut registrations {
        registration.webhooks.retain(|webhook| {
            let service = webhook.client_config.service.as_ref();
            service.and_then(|service| service.path.as_ref()).is_some_and(|path| served.contains(path))
        });
    }
    let metrics = {
        let serving = serving.clone();
        move || formats::exposition::encode(serving.metrics())
    };
    Ok(Started {
        service: serving.reviews.clone(),
        registrations,
        metrics: Box::new(metrics),
        failure: Box::new(|| None),
        guard: Box::new((serving, running)),
    })
}

/// There are no controllers; the caches alone run.
async fn until_stopped(_: Controllers, stop: CancellationToken) -> Result<(), std::convert::Infallible> {
    stop.cancelled().await;
    Ok(())
}

fn registrations_of(config: &Value) -> Result<Vec<WebhookConfiguration>, String> {
    let config = AdmissionControllerConfiguration::from_partial(config).map_err(|error| error.to_string())?;
    Ok(registrations::registrations(&config, None))
}

fn registrations_alone(authority: &str) -> Result<Vec<WebhookConfiguration>, String> {
    let (config, _) = AdmissionControllerConfiguration::from_value(&read("runtime/garden/config.yaml")?)
        .map_err(|error| error.to_string())?;
    Ok(registrations::registrations(&config, Some(authority)))
}

fn read(path: &str) -> Result<Value, String> {
    let text = MANIFESTS.text(path).ok_or_else(|| format!("its manifests have no file {path}"))?;
    formats::yaml::from_str(text).map_err(|error| error.to_string())
}

/// The configuration file of a rollout: that of a garden, with sections of a case instead of its own.
fn complete_config(config: &Value) -> Result<Value, String> {
    let mut complete = read("runtime/garden/config.yaml")?;
    for (part, value) in config.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(fields) => fields.iter().for_each(|(field, value)| complete[part][field] = value.clone()),
            None => complete[part] = value.clone(),
        }
    }
    Ok(complete)
}

/// A Secret of a project without a kubeconfig.
fn probe() -> Probe {
    let around = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "garden-probe", "labels": {"gardener.cloud/role": "project"}},
    });
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"generateName": "probe-", "namespace": "garden-probe"},
    });
    Probe { around: vec![around], object }
}

fn paths() -> Vec<(&'static str, String)> {
    PATHS.iter().map(|(name, path)| (*name, (*path).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_configuration_is_understood_and_it_listens_where_its_manifests_say() {
        let config = read("runtime/garden/config.yaml").unwrap();
        let (config, warnings) = AdmissionControllerConfiguration::from_value(&config).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let server = config.server;
        let ports = [server.health_probes, server.metrics].map(|server| server.unwrap().port);
        let deployment = MANIFESTS.text("base/deployment.yaml").unwrap();
        for port in ports.into_iter().chain([server.webhooks.port]) {
            assert!(deployment.contains(&format!("containerPort: {port}")), "{port}");
        }
        assert_eq!(registrations_alone("").unwrap().len(), 1);
    }

    #[test]
    fn what_a_case_says_replaces_a_field_of_the_file() {
        let limits =
            json!([{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"], "size": "1k"}]);
        let config =
            json!({"server": {"resourceAdmissionConfiguration": {"limits": limits}}, "logLevel": "debug"});
        let complete = complete_config(&config).unwrap();
        let (complete, warnings) = AdmissionControllerConfiguration::from_value(&complete).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!((complete.server.webhooks.port, complete.log_level.as_str()), (2719, "debug"));
        assert_eq!(complete.server.resource_admission_configuration.unwrap().limits.len(), 1);
    }
}
