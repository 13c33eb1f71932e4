//! The controller-manager as a component, of a garden whose kinds are custom resources. Its cases set the time, which
//! a real cluster does not allow: they run only in this process.

use component::{Component, Installation, Manifests, garden};
use controller::Controller;
use controller::command::Program;
use controller::garden::{GardenProgram, Settings, main};
use controller::task::Task;
use include_dir::{Dir, include_dir};

use crate::config::ControllerManagerConfiguration;
use crate::controllers::{self, Context};

/// The controller-manager of this project.
pub static COMPONENT: Component = Component {
    name: "controller-manager",
    program: "gardener-controller-manager",
    about: "gardener-controller-manager of a garden whose kinds are custom resources",
    version: "v1.82.0",
    features: &[],
    paths: Vec::new,
    main: |arguments| main::<ControllerManagerConfiguration>(arguments),
    process: Some(include_str!("../process.yaml")),
    load: Some(garden::load::<ControllerManagerConfiguration>),
    start: garden::start::<ControllerManagerConfiguration>,
    decide: None,
    admits_shoots: false,
    maintains_shoots: true,
    elects_leader: true,
    installation: Installation { manifests: MANIFESTS, namespace: "garden", webhooks: None, rollout: None },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);

/// The command line keeps GCM-PRC-001 to -007, the servers GCM-PRC-012 to -015.
impl GardenProgram for ControllerManagerConfiguration {
    const PROGRAM: Program = Program { name: COMPONENT.program, version: env!("CARGO_PKG_VERSION") };

    fn settings(&mut self) -> Settings<'_> {
        Settings {
            connection: &mut self.garden_client_connection,
            leader_election: &self.leader_election,
            servers: &self.server,
            log_level: &self.log_level,
            log_format: &self.log_format,
        }
    }

    fn controllers(context: &Context) -> Vec<Controller> {
        controllers::controllers(context)
    }

    fn tasks(context: &Context) -> Vec<Task> {
        controllers::tasks(context)
    }
}

#[cfg(test)]
mod tests {
    use controller::config::Configuration as _;

    use super::*;

    #[test]
    fn its_configuration_is_understood_and_it_listens_where_its_manifests_say() {
        let text = |path| MANIFESTS.text(path).unwrap();
        let config = formats::yaml::from_str(text("runtime/garden/config.yaml")).unwrap();
        let (config, warnings) = ControllerManagerConfiguration::from_value(&config).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let ports = [config.server.health_probes, config.server.metrics].map(|server| server.unwrap().port);
        let deployment = text("base/deployment.yaml");
        assert!(ports.iter().all(|port| deployment.contains(&format!("containerPort: {port}"))), "{ports:?}");
        let rbac = text("base/rbac.yaml");
        assert!(rbac.contains(&format!("resourceNames: [{}]", config.leader_election.resource_name)));
    }
}
