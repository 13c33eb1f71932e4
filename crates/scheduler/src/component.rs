//! The scheduler as a component, of a garden whose kinds are custom resources.

use controller::config::Configuration as _;
use std::sync::Arc;

use component::{Component, Installation, Loaded, Manifests, StartOptions, Started};
use include_dir::{Dir, include_dir};
use serde_json::Value;
use webhook::service::{Limits, service};

use crate::command;
use crate::config::SchedulerConfiguration;
use crate::controllers;

/// The scheduler of this project.
pub static COMPONENT: Component = Component {
    name: "scheduler",
    program: "gardener-scheduler",
    about: "gardener-scheduler of a garden whose kinds are custom resources",
    version: "v1.82.0",
    features: &[],
    paths: Vec::new,
    main: |arguments| command::main(arguments),
    process: Some(include_str!("../process.yaml")),
    load: Some(load),
    start: |options| Box::pin(std::future::ready(start(options))),
    decide: None,
    admits_shoots: false,
    maintains_shoots: false,
    installation: Installation { manifests: MANIFESTS, namespace: "garden", webhooks: None, rollout: None },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);

fn load(config: &Value) -> Loaded {
    component::to_load_result(SchedulerConfiguration::from_value(config))
}

fn start(options: StartOptions) -> Result<Started, String> {
    let config = SchedulerConfiguration::from_partial(&options.config).map_err(|error| error.to_string())?;
    let running = options.clusters.map(|garden| Arc::new(controllers::start(&config, garden)));
    let metrics = {
        let running = running.clone();
        move || running.as_ref().map(|running| running.exposition()).unwrap_or_default()
    };
    Ok(Started {
        service: service(Vec::new(), Limits::default()),
        registrations: Vec::new(),
        metrics: Box::new(metrics),
        guard: Box::new(running),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_configuration_is_understood_and_it_listens_where_its_manifests_say() {
        let text = |path| MANIFESTS.text(path).unwrap();
        let config = formats::yaml::from_str(text("runtime/garden/config.yaml")).unwrap();
        let (config, warnings) = SchedulerConfiguration::from_value(&config).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let ports = [config.server.health_probes, config.server.metrics].map(|server| server.unwrap().port);
        let deployment = text("base/deployment.yaml");
        assert!(ports.iter().all(|port| deployment.contains(&format!("containerPort: {port}"))), "{ports:?}");
        let rbac = text("base/rbac.yaml");
        assert!(rbac.contains(&format!("resourceNames: [{}]", config.leader_election.resource_name)));
    }
}
