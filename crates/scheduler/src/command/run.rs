//! The process: serves probes and metrics immediately, runs controllers while it leads, until a signal.

use std::future::ready;

use controller::command::{Program, StartError};
use controller::config::Warning;
use controller::manager::{Connection, Manager, ManagerError, Parts, ProcessContext, Work};
use controller::probes::Probes;
use controller::{Cluster, log};

use crate::config::SchedulerConfiguration;
use crate::controllers::{self, Context};

/// Runs the process until a signal.
pub(super) fn run(
    program: Program,
    config: SchedulerConfiguration,
    warnings: &[Warning],
) -> Result<(), ManagerError> {
    let log = log::configured(&config.log_level, &config.log_format).map_err(StartError::Log)?;
    let garden = &config.client_connection;
    let manager = Manager {
        program,
        log,
        cluster: Connection {
            name: "garden",
            kubeconfig: garden.kubeconfig.clone(),
            limit: Some((garden.qps, garden.burst)),
        },
        target: None,
        leader_election: Some(config.leader_election.clone()),
        webhooks: None,
        probes: Some(config.server.health_probes.clone().unwrap_or_default()),
        metrics: Some(config.server.metrics.clone().unwrap_or_default()),
    };
    manager.run(warnings, |process| parts(config, process))
}

fn parts(config: SchedulerConfiguration, process: ProcessContext) -> Parts {
    let context = Context::new(config, &process.client, process.clock, process.entropy);
    let probes = probes(context.garden.clone());
    let work = Work::new(vec![context.garden.clone()], |running, stop| async move {
        running.run(controllers::controllers(&context), stop).await
    });
    Parts { webhooks: None, probes, controllers: Some(work) }
}

/// The checks of the original, by its names.
fn probes(garden: Cluster) -> Probes {
    Probes::new().ready("informer-sync", move || {
        ready(if garden.is_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) })
    })
}
