//! The webhooks of this crate with one defect, to see the contract's report. The program has the flags of
//! `gardener-controlplane`, and `--misbehave`, which names the clause to break:
//!
//! ```text
//! cargo run -p gardener-controlplane --example misbehaving -- --misbehave CP-025 --webhook-config-server-port 9443 \
//!     --webhook-config-cert-dir DIR --kubeconfig FILE
//! ```

mod rules;

use controller::config::Configuration as _;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use clap::Parser;
use controller::clock::Clock;
use controller::command::{self, ConfigFile, Program};
use controller::webhooks::component::{Component, Flags};
use gardener_controlplane::cluster;
use gardener_controlplane::config::ControlPlaneWebhooksConfiguration;
use gardener_controlplane::webhooks::{controlplane, controlplanebackup, controlplaneexposure, paths};
use kube::Client;
use serde_json::json;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::AdmissionRequest;
use webhook::service::{self, Limits, Route, Webhook};

use rules::{RULES, STRANGE, Wrong};

const PROGRAM: Program = Program { name: "misbehaving", version: env!("CARGO_PKG_VERSION") };
const COMPONENT: Component = Component { program: PROGRAM, cluster: "seed" };

/// Serves a provider's webhooks with one defect; without a configuration, those of a provider `local`.
#[derive(Parser)]
#[command(name = PROGRAM.name, version)]
struct Arguments {
    /// Clause to break, or a name from the list of unexplained changes; without it, the webhooks have no defect.
    #[arg(long, value_name = "RULE", value_parser = rules().map(|(id, _)| id).collect::<Vec<_>>())]
    misbehave: Option<String>,

    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    flags: Flags,
}

struct Misbehaving {
    name: &'static str,
    config: Arc<ControlPlaneWebhooksConfiguration>,
    client: Client,
    wrong: Option<Wrong>,
}

#[async_trait]
impl Webhook for Misbehaving {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let needed = mutation::decode(request.object)
            .and_then(|object| controlplane::needs_cluster(&self.config, &object));
        let cluster = match needed {
            Ok(true) if self.name == controlplane::NAME => {
                cluster::read(&self.client, &request.namespace).await.map(Some)
            }
            Ok(_) => Ok(None),
            Err(rejection) => return rejection.into(),
        };
        let cluster = match cluster {
            Ok(cluster) => cluster,
            Err(error) => return Rejection::errored(422, error.to_string()).into(),
        };
        mutation::answer(request, |object| {
            match self.name {
                controlplane::NAME => controlplane::mutate(&self.config, cluster.as_ref(), object)?,
                controlplanebackup::NAME => controlplanebackup::mutate(&self.config, object)?,
                _ => controlplaneexposure::mutate(&self.config, object)?,
            }
            self.wrong.into_iter().for_each(|wrong| wrong.damage(self.name, object));
            Ok(())
        })
    }
}

/// All defects by name.
fn rules() -> impl Iterator<Item = (&'static str, Wrong)> {
    RULES.into_iter().chain(STRANGE)
}

fn main() -> ExitCode {
    command::main(std::env::args_os(), |arguments: Arguments| execute(&arguments))
}

fn execute(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (config, warnings) = match &arguments.file.config {
        Some(file) => ControlPlaneWebhooksConfiguration::load(file, arguments.file.strict_config)?,
        None => ControlPlaneWebhooksConfiguration::from_value(&json!({"provider": "local"}))?,
    };
    let config = Arc::new(config);
    let wrong = rules().find(|(id, _)| Some(*id) == arguments.misbehave.as_deref()).map(|(_, wrong)| wrong);
    let made = |client: Client, _: Clock| {
        let route = |(name, path)| {
            let webhook = Misbehaving { name, config: config.clone(), client: client.clone(), wrong };
            Route { name, path, webhook: Arc::new(webhook) }
        };
        service::service(paths().into_iter().map(route).collect(), Limits::default())
    };
    Ok(COMPONENT.run(&arguments.flags, &warnings, made)?)
}
