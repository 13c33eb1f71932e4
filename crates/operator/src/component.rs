//! The operator as a component, of the cluster that a Garden runs in.

use std::sync::Arc;

use component::{
    Clusters, Combining, Component, Installation, Loaded, Manifests, Probe, Rollout, StartOptions, Started,
    Webhooks,
};
use controller::clock::Clock;
use controller::config::Configuration as _;
use controller::controllers::Running;
use include_dir::{Dir, include_dir};
use serde_json::{Value, json};

use crate::config::OperatorConfiguration;
use crate::controllers::care::VirtualCluster;
use crate::controllers::{self, OperatorContext};
use crate::webhooks::garden::{DEFAULTING_PATH, NAME, VALIDATION_PATH};
use crate::{command, registrations, serving};

/// The operator of this project; the controller that reconciles Gardens is not built yet.
pub static COMPONENT: Component = Component {
    name: "operator",
    program: "gardener-operator",
    about: "gardener-operator of the cluster that a Garden runs in; it does not reconcile Gardens yet",
    version: "v1.82.0",
    features: &[],
    paths: || Vec::from([DEFAULTING_PATH, VALIDATION_PATH].map(|path| (NAME, path.to_owned()))),
    main: |arguments| command::main(arguments),
    process: Some(include_str!("../process.yaml")),
    load: Some(load),
    start: |options| Box::pin(std::future::ready(start(options))),
    decide: None,
    admits_shoots: false,
    maintains_shoots: false,
    elects_leader: true,
    installation: Installation {
        manifests: MANIFESTS,
        namespace: registrations::NAMESPACE,
        webhooks: Some(Webhooks {
            service: registrations::NAME,
            registrations: |authority| Ok(registrations::registrations(Some(authority))),
            probe,
        }),
        rollout: Some(Rollout {
            combining: Combining::Nothing,
            file: |config| complete_config(config).map(Some),
            registrations: |_, _| Ok(registrations::registrations(None)),
        }),
    },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);

fn load(config: &Value) -> Loaded {
    component::to_load_result(OperatorConfiguration::from_value(config))
}

fn start(options: StartOptions) -> Result<Started, String> {
    let client = options.client.ok_or("no API server to read facts from")?;
    let config = options.clusters.as_ref().map(|_| OperatorConfiguration::from_partial(&options.config));
    let config = config.transpose().map_err(|error| error.to_string())?;
    let running = config.zip(options.clusters).map(|(config, clusters)| Arc::new(run(config, clusters)));
    let metrics = {
        let running = running.clone();
        move || running.as_ref().map(|running| running.exposition()).unwrap_or_default()
    };
    let failure = {
        let running = running.clone();
        move || running.as_ref()?.failure()
    };
    Ok(Started {
        service: serving::webhooks(client),
        registrations: registrations::registrations(None),
        metrics: Box::new(metrics),
        failure: Box::new(failure),
        guard: Box::new(running),
    })
}

/// Starts the controllers on tokio's current runtime. The same clock and entropy lead to the same requests in each run.
fn run(config: OperatorConfiguration, clusters: Clusters) -> Running {
    let Clusters { source, target, now, entropy, elector } = clusters;
    let mut context = OperatorContext::new(config, &source, Clock::starting_at(now), entropy.clone());
    context.virtual_cluster = VirtualCluster::Client(target);
    Running::start_elected(vec![context.runtime.clone()], entropy, elector, |running, stop| {
        controllers::run(context, running, stop)
    })
}

/// The configuration file of a rollout: that of a garden, with sections of a case instead of its own.
fn complete_config(config: &Value) -> Result<Value, String> {
    let text = MANIFESTS.text("runtime/garden/config.yaml").ok_or("its manifests have no configuration")?;
    let mut complete: Value = formats::yaml::from_str(text).map_err(|error| error.to_string())?;
    for (section, value) in config.as_object().into_iter().flatten() {
        complete[section] = value.clone();
    }
    Ok(complete)
}

/// A small valid Garden.
fn probe() -> Probe {
    let object = json!({
        "apiVersion": api::operator::API_VERSION, "kind": "Garden", "metadata": {"generateName": "probe-"},
        "spec": {
            "runtimeCluster": {
                "ingress": {"domain": "ingress.example.com", "controller": {"kind": "nginx"}},
                "networking": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
                "provider": {},
            },
            "virtualCluster": {
                "dns": {"domains": ["virtual.example.com"]},
                "gardener": {"clusterIdentity": "probe"},
                "kubernetes": {"version": "1.27.3"},
                "maintenance": {"timeWindow": {"begin": "220000+0100", "end": "230000+0100"}},
                "networking": {"services": "10.3.0.0/16"},
            },
        },
    });
    Probe { around: Vec::new(), object }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_configuration_is_understood_and_it_listens_where_its_manifests_say() {
        let config = complete_config(&json!({"logLevel": "debug"})).unwrap();
        let (config, warnings) = OperatorConfiguration::from_value(&config).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(config.log_level, "debug");
        let server = config.server;
        let ports = [server.health_probes, server.metrics].map(|server| server.unwrap().port);
        let deployment = MANIFESTS.text("base/deployment.yaml").unwrap();
        for port in ports.into_iter().chain([server.webhooks.port]) {
            assert!(deployment.contains(&format!("containerPort: {port}")), "{port}");
        }
        let rbac = MANIFESTS.text("base/rbac.yaml").unwrap();
        assert!(rbac.contains(&format!("resourceNames: [{}]", config.leader_election.resource_name)));
    }
}
