//! A cluster in containers as the command line asks for it, and our components in it.

mod certificate;
mod resource_manager;

use std::time::Duration;

use substrate::kind::{Kind, Options, Shape};

use crate::arguments::{ComponentName, KindArguments};
use crate::environment;
use crate::terminal::{Failure, Terminal};

/// How long a cluster may take to be created, its nodes to become ready, and components to roll out; each.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// Creates a cluster with what is to be installed; dropping it deletes it.
pub(crate) async fn start(
    name: &str,
    arguments: &KindArguments,
    terminal: &Terminal,
) -> Result<Kind, Failure> {
    let shape = match arguments.zones.as_deref() {
        Some("3") => Shape::ThreeZones,
        _ => Shape::OneNode,
    };
    let logs = arguments.logs.clone().unwrap_or_else(|| "reports/kind".into());
    let options = Options {
        surroundings: environment::around_kind(),
        name: name.to_owned(),
        shape,
        within: std::env::temp_dir(),
        logs: logs.clone(),
        patience: PATIENCE,
    };
    let cluster = Kind::create(&options).await.map_err(|error| broken(&error))?;
    terminal.note(&format!(
        "cluster {} is ready after {:.1} s",
        cluster.name(),
        cluster.took().as_secs_f32()
    ));
    for ComponentName::ResourceManager in &arguments.install {
        if let Err(error) = resource_manager::install(&cluster).await {
            cluster.collect_logs(&logs).await;
            let place = logs.display();
            return Err(broken(&format!(
                "failed to install the resource-manager: {error}; logs are in {place}"
            )));
        }
        terminal.note("gardener-resource-manager is installed");
    }
    Ok(cluster)
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::environment(error.to_string())
}
