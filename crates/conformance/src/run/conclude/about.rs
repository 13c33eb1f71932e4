//! The report's sections about the run, the substrate and the selection.

use std::time::Duration;

use contract::gardener::release::RequestedRelease;

use crate::plan;
use crate::report::{ContractResult, RunInfo, SelectionInfo, SubstrateInfo};
use crate::run::{FactsFrom, RunState, Substrate};
use crate::shard::SelectionDigest;

pub(super) fn run(state: &RunState<'_>, default: Option<&str>, took: Duration) -> RunInfo {
    let options = state.options;
    RunInfo {
        version: options.version.clone(),
        started_at: options.started_at.clone(),
        duration_ms: (took.as_secs_f64() * 1e6).round() / 1e3,
        seed: options.seed,
        repeat: options.repeat,
        parallel: options.parallel,
        fail_fast: options.fail_fast,
        gardener: gardener(state, default),
        strict: options.strict,
        command: options.command.clone(),
        file: state.target.file().map(str::to_owned),
    }
}

/// The release of Gardener for which the clauses were verified, if they depend on the release and have a default.
fn gardener(state: &RunState<'_>, default: Option<&str>) -> Option<String> {
    let default = default?;
    match plan::gardener_release(state.target.as_ref()) {
        RequestedRelease::Of(gardener) => Some(gardener.to_owned()),
        RequestedRelease::Usual => Some(default.to_owned()),
        RequestedRelease::Any => None,
    }
}

pub(super) fn substrate(state: &RunState<'_>) -> SubstrateInfo {
    let real;
    let description = match &state.options.substrate {
        Substrate::Embedded => "embedded API server (Kubernetes 1.36 API)",
        Substrate::Aggregated(aggregated) => aggregated.description.as_str(),
        Substrate::Envtest(server) => {
            let version = &server.shared().version;
            let took = server.took().as_secs_f64();
            real = format!("kube-apiserver {version} and etcd, ready in {took:.1} s");
            real.as_str()
        }
        Substrate::Whole(whole) => whole.description.as_str(),
        Substrate::Direct(FactsFrom::Embedded) => {
            "AdmissionReviews straight to the target; facts in an embedded API server"
        }
        Substrate::Direct(FactsFrom::Given(_)) => {
            "AdmissionReviews straight to the target; facts in the cluster of --kubeconfig"
        }
        Substrate::Direct(FactsFrom::Nowhere) => {
            "AdmissionReviews straight to the target; no cluster for facts"
        }
    };
    let namespaces =
        "each case in a namespace of its own (case-…), unless it speaks of its namespace by name";
    SubstrateInfo {
        name: state.options.substrate.name().to_owned(),
        description: description.to_owned(),
        namespaces: namespaces.to_owned(),
    }
}

pub(super) fn selection(
    state: &RunState<'_>,
    contracts: &[ContractResult],
    selected: &SelectionDigest,
) -> SelectionInfo {
    SelectionInfo {
        expression: state.options.expression.clone(),
        clauses: contracts.iter().map(|contract| contract.clauses.len()).sum(),
        cases: selected.cases(),
        digest: selected.digest(),
        namespaces: None,
        shard: None,
    }
}
