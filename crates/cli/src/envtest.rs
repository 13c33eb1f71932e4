//! A real control plane as the command line asks for it.

use std::time::Duration;

use contract::model::Contract;
use schema::Crd;
use serde_json::Value;
use substrate::envtest::assets::{Assets, KUBE_APISERVER};
use substrate::envtest::{Envtest, Lane, Options, SHARED, programs};

use crate::arguments::{Addition, EnvtestArguments};
use crate::catalog::Selected;
use crate::environment;
use crate::terminal::Failure;

/// How long a cluster may take to become ready; several take that long each, as they have the same cores.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// How many scenarios run side by side at most: each needs up to two kube-apiservers of 300 MiB.
const LANES: usize = 3;

/// Starts what the contracts need, with the project's CRDs and further ones: scenarios, which mostly wait, run side by side in
/// lanes, as many as cases may. Cases that are none have a cluster of their own.
pub(crate) async fn start_for(
    selected: &Selected,
    parallel: u16,
    further: &[Crd],
    arguments: &EnvtestArguments,
) -> Result<Envtest, Failure> {
    let mut needed = Needed::default();
    for contract in selected.each() {
        needed.add(&contract?);
    }
    start(needed.clusters(parallel), further, arguments).await
}

/// What cases need of a control plane.
#[derive(Default)]
struct Needed {
    scenarios: usize,
    /// Whether one of them has a target cluster beside its source.
    has_target: bool,
    /// Whether cases are asked on one server.
    shares: bool,
}

impl Needed {
    fn add(&mut self, contract: &Contract) {
        for case in contract.clauses.iter().flat_map(|clause| &clause.cases) {
            self.shares |= case.when.shares_server();
            if let Some(scenario) = case.when.scenario() {
                self.scenarios += 1;
                self.has_target |= !scenario.is_of_one_cluster();
            }
        }
    }

    /// Names of the clusters.
    fn clusters(&self, parallel: u16) -> Vec<String> {
        let lanes = (0..LANES.min(parallel.into()).min(self.scenarios).max(1)).map(Lane::nth);
        let shared = self.scenarios > 0 && self.shares;
        let clusters =
            lanes.flat_map(|lane| std::iter::once(lane.source).chain(self.has_target.then_some(lane.target)));
        clusters.chain(shared.then(|| SHARED.to_owned())).collect()
    }
}

/// Starts these clusters with the project's CRDs and further ones.
pub(crate) async fn start(
    clusters: Vec<String>,
    further: &[Crd],
    arguments: &EnvtestArguments,
) -> Result<Envtest, Failure> {
    let crds = schema::crds().iter().chain(further).map(|crd| crd.json().clone()).collect();
    start_with(clusters, crds, arguments).await
}

/// Starts these clusters with these CRDs.
pub(crate) async fn start_with(
    clusters: Vec<String>,
    crds: Vec<Value>,
    arguments: &EnvtestArguments,
) -> Result<Envtest, Failure> {
    let controller_manager = arguments.with.contains(&Addition::ControllerManager);
    let broken = |error: &dyn std::fmt::Display| Failure::environment(error.to_string());
    let assets = Assets::find(&environment::surroundings(), programs(controller_manager));
    let assets = assets.map_err(|error| broken(&error))?;
    refuse_own(&assets)?;
    let within = arguments.data_dir.clone().unwrap_or_else(std::env::temp_dir);
    let options = Options {
        controller_manager,
        crds,
        patience: PATIENCE * u32::try_from(clusters.len()).unwrap_or(1),
        clusters,
        ..Options::new(assets, within)
    };
    Envtest::start(&options).await.map_err(|error| broken(&error))
}

/// Refuses the programs of `envtest-assets`: they are the embedded API server, not the real one.
fn refuse_own(assets: &Assets) -> Result<(), Failure> {
    let program = assets.folder().join(KUBE_APISERVER).canonicalize();
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    match (program, own) {
        (Ok(program), Ok(own)) if program == own => Err(Failure::usage(format!(
            "{} was written by `envtest-assets` and has no real kube-apiserver: set KUBEBUILDER_ASSETS to another folder, or \
             unset it",
            assets.folder().display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses what only envtest has on another substrate.
pub(crate) fn fits(arguments: &EnvtestArguments, substrate: &str) -> Result<(), Failure> {
    let asked = !arguments.with.is_empty() || arguments.data_dir.is_some();
    if asked && substrate != "envtest" {
        return Err(Failure::usage("--with and --data-dir are for --substrate envtest"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_leave_facts_have_a_cluster_where_no_controller_acts() {
        let all = contracts::all().unwrap();
        let clusters = |names: &[&str], parallel: u16| {
            let mut needed = Needed::default();
            all.iter()
                .filter(|contract| names.contains(&&*contract.name))
                .for_each(|contract| needed.add(contract));
            needed.clusters(parallel)
        };
        assert_eq!(clusters(&["quota"], 8), ["cluster", "cluster-2", "cluster-3"]);
        assert_eq!(clusters(&["shoot-pools"], 8), ["cluster"]);
        assert_eq!(clusters(&["quota", "shoot-pools"], 1), ["cluster", "shared"]);
        assert_eq!(clusters(&["secret", "shoot-pools"], 1), ["cluster", "target", "shared"]);
    }
}
