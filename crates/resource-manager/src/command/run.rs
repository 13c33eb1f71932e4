//! The process: serves webhooks, probes and metrics immediately, runs controllers while it leads, until a signal.

use std::future::{Ready, ready};

use controller::command::{Program, StartError};
use controller::config::Warning;
use controller::manager::{Connection, Manager, ManagerError, Parts, ProcessContext, WebhookServer, Work};
use controller::probes::Probes;
use controller::{log, remote};
use kube::Client;

use crate::config::{ClientConnection, ResourceManagerConfiguration};
use crate::controllers::{self, Context};
use crate::serving::{self, Clients, Webhooks};

/// Runs the process until a signal.
pub(super) fn run(
    program: Program,
    config: ResourceManagerConfiguration,
    warnings: &[Warning],
) -> Result<(), ManagerError> {
    let log = log::configured(&config.log_level, &config.log_format).map_err(StartError::Log)?;
    let connection = |name, of: &ClientConnection| Connection {
        name,
        kubeconfig: of.kubeconfig.clone(),
        limit: Some((of.qps, of.burst)),
    };
    let webhooks = &config.server.webhooks;
    let manager = Manager {
        program,
        log,
        cluster: connection("source", &config.source_client_connection),
        target: config.target_client_connection.as_ref().map(|of| connection("target", of)),
        leader_election: Some(config.leader_election.clone()),
        webhooks: Some(WebhookServer {
            bind_address: webhooks.bind_address.clone(),
            port: webhooks.port,
            certificates: webhooks.tls.server_cert_dir.clone(),
        }),
        probes: Some(config.server.health_probes.clone().unwrap_or_default()),
        metrics: Some(config.server.metrics.clone().unwrap_or_default()),
    };
    manager.run(warnings, |process| parts(config, process))
}

fn parts(config: ResourceManagerConfiguration, process: ProcessContext) -> Parts {
    let target = process.target.unwrap_or_else(|| process.client.clone());
    let clients = Clients { source: process.client, target };
    let reviewed = serving::webhooks(&config, &clients);
    let context = Context::new(config, &clients, process.clock, process.entropy);
    let probes = probes(&context, process.unlimited, &reviewed);
    let clusters = context.clusters();
    let work = Work::new(clusters, |running, stop| controllers::run(context, running, stop));
    Parts { webhooks: Some(reviewed.service.clone()), probes, controllers: Some(work) }
}

/// The checks of the original, by its names.
fn probes(context: &Context, source: Client, webhooks: &Webhooks) -> Probes {
    let (facts, target) = (webhooks.clone(), context.target.clone());
    let synced = informers(move || facts.is_synced() && target.is_synced());
    let probes = Probes::new().health("apiserver-healthz", move || remote::healthy(source.clone()));
    if context.config.target_client_connection.is_some() {
        let source = context.source.clone();
        let source = informers(move || source.is_synced());
        probes.ready("source-informer-sync", source).ready("target-informer-sync", synced)
    } else {
        probes.ready("source-informer-sync", synced)
    }
}

fn informers(
    are_synced: impl Fn() -> bool + Send + Sync,
) -> impl Fn() -> Ready<Result<(), String>> + Send + Sync {
    move || ready(if are_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) })
}
