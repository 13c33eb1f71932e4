//! Starts the real control planes that a run on envtest needs.

use std::time::Duration;

use contract::model::Contract;
use schema::Crd;
use serde_json::Value;
use substrate::envtest::assets::{Assets, AssetsError, KUBE_APISERVER};
use substrate::envtest::{Envtest, Lane, Options, SHARED, programs};

use crate::arguments::{Addition, ControlPlaneArguments};
use crate::catalog::Selected;
use crate::environment;
use crate::terminal::Failure;

/// How long a cluster may take to become ready. Several clusters share the cores, so each adds this time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// How many scenarios run at the same time at most: each needs up to two kube-apiservers of 300 MiB.
const LANES: usize = 3;

/// Starts the clusters that the contracts need, with this project's CRDs and `further` ones. Scenarios run at the same time in
/// up to `parallel` lanes, because they mostly wait. Other cases have their own cluster.
pub(crate) async fn start_for(
    selected: &Selected,
    parallel: u16,
    further: &[Crd],
    arguments: &ControlPlaneArguments,
) -> Result<Envtest, Failure> {
    let mut needs = ClusterNeeds::default();
    for contract in selected.expand_all() {
        needs.add(&contract?);
    }
    start(needs.clusters(parallel), further, arguments).await
}

/// Which clusters cases need.
#[derive(Default)]
struct ClusterNeeds {
    scenarios: usize,
    /// Whether a scenario has a target cluster in addition to its source.
    has_target: bool,
    /// Whether there are cases that share a server.
    shares: bool,
}

impl ClusterNeeds {
    fn add(&mut self, contract: &Contract) {
        for case in contract.clauses.iter().flat_map(|clause| &clause.cases) {
            self.shares |= case.when.shares_server();
            if let Some(scenario) = case.when.scenario() {
                self.scenarios += 1;
                self.has_target |= !scenario.is_of_one_cluster();
            }
        }
    }

    /// The names of the clusters to start.
    fn clusters(&self, parallel: u16) -> Vec<String> {
        let lanes = (0..LANES.min(parallel.into()).min(self.scenarios).max(1)).map(Lane::nth);
        let shared = self.scenarios > 0 && self.shares;
        let clusters =
            lanes.flat_map(|lane| std::iter::once(lane.source).chain(self.has_target.then_some(lane.target)));
        clusters.chain(shared.then(|| SHARED.to_owned())).collect()
    }
}

/// Starts clusters with this project's CRDs and `further` ones.
pub(crate) async fn start(
    clusters: Vec<String>,
    further: &[Crd],
    arguments: &ControlPlaneArguments,
) -> Result<Envtest, Failure> {
    let crds = schema::crds().iter().chain(further).map(|crd| crd.json().clone()).collect();
    start_with(clusters, crds, arguments).await
}

/// Starts clusters with these CRDs only.
pub(crate) async fn start_with(
    clusters: Vec<String>,
    crds: Vec<Value>,
    arguments: &ControlPlaneArguments,
) -> Result<Envtest, Failure> {
    let controller_manager = arguments.with.contains(&Addition::ControllerManager);
    let failure = |error: &dyn std::fmt::Display| Failure::environment(error.to_string());
    let surroundings = environment::envtest_surroundings();
    let assets = match arguments.kubernetes {
        None => Assets::find(&surroundings, programs(controller_manager)),
        Some(version) => Assets::of_version(&surroundings, programs(controller_manager), version),
    };
    let assets = assets.map_err(|error| match error {
        // Nothing that could be installed by the project's own means has this version.
        AssetsError::NotPinned { .. } => Failure::usage(format!("--kubernetes {error}")),
        error => failure(&error),
    })?;
    refuse_own(&assets)?;
    let within = arguments.data_dir.clone().unwrap_or_else(std::env::temp_dir);
    let options = Options {
        controller_manager,
        crds,
        patience: PATIENCE * u32::try_from(clusters.len()).unwrap_or(1),
        clusters,
        ..Options::new(assets, within)
    };
    Envtest::start(&options).await.map_err(|error| failure(&error))
}

/// Refuses the programs of `envtest-assets`: they are the embedded API server, not a real one.
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

/// Refuses flags for other substrates than this one.
pub(crate) fn check_flags(arguments: &ControlPlaneArguments, substrate: &str) -> Result<(), Failure> {
    if arguments.kubernetes.is_some() && substrate == "kind" {
        return Err(Failure::usage(
            "--kubernetes is for --substrate embedded, garden, direct and envtest: the version of a kind cluster is that of \
             its node image",
        ));
    }
    let has_flags = !arguments.with.is_empty() || arguments.data_dir.is_some();
    if has_flags && substrate != "envtest" {
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
            let mut needs = ClusterNeeds::default();
            all.iter()
                .filter(|contract| names.contains(&&*format!("{}/{}", contract.component, contract.name)))
                .for_each(|contract| needs.add(contract));
            needs.clusters(parallel)
        };
        assert_eq!(clusters(&["controller-manager/quota"], 8), ["cluster", "cluster-2", "cluster-3"]);
        assert_eq!(clusters(&["garden/shoot-pools"], 8), ["cluster"]);
        assert_eq!(clusters(&["controller-manager/quota", "garden/shoot-pools"], 1), ["cluster", "shared"]);
        assert_eq!(
            clusters(&["resource-manager/secret", "garden/shoot-pools"], 1),
            ["cluster", "target", "shared"]
        );
    }
}
