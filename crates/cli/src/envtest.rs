//! A real control plane as the command line asks for it.

use std::time::Duration;

use substrate::envtest::assets::Assets;
use substrate::envtest::{Envtest, Options, programs};

use crate::arguments::{Addition, EnvtestArguments, SubstrateName};
use crate::environment;
use crate::terminal::Failure;

/// How long all programs may take to become ready.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Starts it with the project's CRDs.
pub(crate) async fn start(arguments: &EnvtestArguments) -> Result<Envtest, Failure> {
    let controller_manager = arguments.with.contains(&Addition::ControllerManager);
    let broken = |error: &dyn std::fmt::Display| Failure::environment(error.to_string());
    let assets = Assets::find(&environment::surroundings(), programs(controller_manager));
    let assets = assets.map_err(|error| broken(&error))?;
    let within = arguments.data_dir.clone().unwrap_or_else(std::env::temp_dir);
    let options = Options {
        controller_manager,
        crds: schema::crds().iter().map(|crd| crd.json().clone()).collect(),
        patience: PATIENCE,
        ..Options::new(assets, within)
    };
    Envtest::start(&options).await.map_err(|error| broken(&error))
}

/// Refuses what only envtest has on another substrate.
pub(crate) fn fits(arguments: &EnvtestArguments, substrate: SubstrateName) -> Result<(), Failure> {
    let asked = !arguments.with.is_empty() || arguments.data_dir.is_some();
    if asked && substrate != SubstrateName::Envtest {
        return Err(Failure::usage("--with and --data-dir are for --substrate envtest"));
    }
    Ok(())
}
