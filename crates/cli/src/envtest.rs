//! A real control plane as the command line asks for it.

use std::time::Duration;

use contract::case::When;
use contract::model::Contract;
use contract::scenario::Scenario;
use schema::Crd;
use substrate::envtest::assets::Assets;
use substrate::envtest::{Envtest, Lane, Options, SHARED, programs};

use crate::arguments::{Addition, EnvtestArguments};
use crate::environment;
use crate::terminal::Failure;

/// How long a cluster may take to become ready; several take that long each, as they have the same cores.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// How many scenarios run side by side at most: each needs up to two kube-apiservers of 300 MiB.
const LANES: usize = 3;

/// Starts what the contracts need, with the project's CRDs and further ones: scenarios, which mostly wait, run side by side in
/// lanes, as many as cases may. Cases that are none have a cluster of their own.
pub(crate) async fn start_for(
    contracts: &[Contract],
    parallel: u16,
    further: &[Crd],
    arguments: &EnvtestArguments,
) -> Result<Envtest, Failure> {
    let clusters = clusters_for(contracts, parallel);
    start(clusters, further, arguments).await
}

/// Names of the clusters that cases need.
fn clusters_for(contracts: &[Contract], parallel: u16) -> Vec<String> {
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    let cases: Vec<&When> = clauses.flat_map(|clause| &clause.cases).map(|case| &case.when).collect();
    let scenarios: Vec<&Scenario> = cases.iter().filter_map(|when| when.scenario()).collect();
    let has_target = scenarios.iter().any(|scenario| !scenario.is_of_one_cluster());
    let lanes = (0..LANES.min(parallel.into()).min(scenarios.len()).max(1)).map(Lane::nth);
    let shared = !scenarios.is_empty() && cases.iter().any(|when| when.shares_server());
    let clusters =
        lanes.flat_map(|lane| std::iter::once(lane.source).chain(has_target.then_some(lane.target)));
    clusters.chain(shared.then(|| SHARED.to_owned())).collect()
}

/// Starts these clusters with the project's CRDs and further ones.
pub(crate) async fn start(
    clusters: Vec<String>,
    further: &[Crd],
    arguments: &EnvtestArguments,
) -> Result<Envtest, Failure> {
    let controller_manager = arguments.with.contains(&Addition::ControllerManager);
    let broken = |error: &dyn std::fmt::Display| Failure::environment(error.to_string());
    let assets = Assets::find(&environment::surroundings(), programs(controller_manager));
    let assets = assets.map_err(|error| broken(&error))?;
    let within = arguments.data_dir.clone().unwrap_or_else(std::env::temp_dir);
    let options = Options {
        controller_manager,
        crds: schema::crds().iter().chain(further).map(|crd| crd.json().clone()).collect(),
        patience: PATIENCE * u32::try_from(clusters.len()).unwrap_or(1),
        clusters,
        ..Options::new(assets, within)
    };
    Envtest::start(&options).await.map_err(|error| broken(&error))
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
    use crate::catalog;

    #[test]
    fn cases_that_leave_facts_have_a_cluster_where_no_controller_acts() {
        let all = catalog::load(None).expect("what is built in is right").catalog.contracts;
        let of = |names: &[&str]| -> Vec<Contract> {
            all.iter().filter(|contract| names.contains(&contract.name.as_str())).cloned().collect()
        };
        assert_eq!(clusters_for(&of(&["quota"]), 8), ["cluster", "cluster-2", "cluster-3"]);
        assert_eq!(clusters_for(&of(&["shoot-pools"]), 8), ["cluster"]);
        assert_eq!(clusters_for(&of(&["quota", "shoot-pools"]), 1), ["cluster", "shared"]);
        assert_eq!(clusters_for(&of(&["secret", "shoot-pools"]), 1), ["cluster", "target", "shared"]);
    }
}
