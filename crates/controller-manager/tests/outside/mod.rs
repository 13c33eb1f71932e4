//! The program as a target: rows about versions in real time, and the report about a program that ends during a case.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use conformance::gardener::{Decided, Versions};
use conformance::report::{CaseResult, Status};
use conformance::run::{Event, Interrupt, run};
use conformance::target::command::CommandTarget;
use conformance::target::url::TargetDescription;
use conformance::target::{Identity, Needs, Running, Setup, Target, TargetError, TargetKind};
use conformance::testing::options;
use contract::case::Given;
use contract::document::SourceFile;
use contract::document::target;
use contract::gardener::decision::Decision;
use contract::model::Contract;
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_gardener-controller-manager");

/// Decides the same whatever the dates are, so that every row runs at the current time.
struct FixedDecisions;

#[async_trait]
impl Target for FixedDecisions {
    fn identity(&self) -> Identity {
        Identity {
            name: "steady".to_owned(),
            version: None,
            kind: TargetKind::BuiltIn,
            endpoint: String::new(),
        }
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(self)
    }

    async fn start(&self, _setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let reason = "it decides alone".to_owned();
        Err(TargetError::Configuration { name: "steady".to_owned(), reason })
    }
}

impl Versions for FixedDecisions {
    fn decide(&self, _decision: &Decision, _given: &Given) -> Option<Decided> {
        Some(Decided::Document(Value::Null))
    }
}

/// A target that runs a command line with the configuration of the program.
fn started_by(command: &[&str]) -> CommandTarget {
    let text = json!({
        "apiVersion": "conformance.gardener.cloud/v1alpha1",
        "kind": "Target",
        "metadata": {"name": "gardener-controller-manager"},
        "spec": {
            "command": command,
            "ready": "http://127.0.0.1:<healthPort>/readyz",
            "metrics": "http://127.0.0.1:<metricsPort>/metrics",
            "config": {"set": {
                "apiVersion": "controllermanager.config.gardener.cloud/v1alpha1",
                "kind": "ControllerManagerConfiguration",
                "gardenClientConnection.kubeconfig": "<sourceKubeconfig>",
                "leaderElection.leaderElect": false,
                "server.healthProbes.port": "<healthPort>",
                "server.metrics.port": "<metricsPort>",
            }},
        },
    });
    let described = target::read(&SourceFile::new("target.yaml", text.to_string())).expect("it is a target");
    // The bootstrapper writes there.
    let garden = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "garden"}});
    let needs = Needs { objects: vec![garden], ..Needs::default() };
    let known = TargetDescription { name: described.metadata.name, needs, ..TargetDescription::default() };
    let decisions: Option<Arc<dyn Target>> = Some(Arc::new(FixedDecisions));
    CommandTarget { known, spec: described.spec, folder: PathBuf::from("."), image: None, decisions }
}

/// The results of the cases of a clause.
async fn cases(clause: &str, target: CommandTarget) -> Vec<CaseResult> {
    let mut contracts = contracts::all().expect("the contracts are well-formed");
    for contract in &mut contracts {
        contract.clauses.retain(|found| found.id == clause);
    }
    contracts.retain(|contract| !contract.clauses.is_empty());
    let contracts: Arc<[Contract]> = contracts.into();
    let report =
        run(contracts, Arc::new(target), &options(), &|_: Event<'_>| {}, &Interrupt::default()).await;
    assert_eq!(report.environment_errors, Vec::<String>::new());
    let clauses = report.contracts.into_iter().flat_map(|contract| contract.clauses);
    clauses.flat_map(|clause| clause.cases).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_about_versions_run_in_real_time_with_shifted_dates() {
    let results = cases("GDN-MNT-002", started_by(&[PROGRAM, "--config=<config>"])).await;
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        results.iter().partition(|case| case.runs_on.as_deref() == Some("reconcile"));
    let became = |cases: &[&CaseResult]| cases.iter().map(|case| case.status).collect::<Vec<_>>();
    assert_eq!(became(&here), [Status::Passed, Status::Passed], "{here:#?}");
    assert_eq!(became(&elsewhere), [Status::NotSupported, Status::NotSupported]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_ends_during_a_case_fails_that_case() {
    let script = "\"$0\" \"$1\" & sleep 4; kill $!; wait; echo 'panic: enough' >&2; exit 3";
    let results = cases("GCM-CPR-002", started_by(&["sh", "-c", script, PROGRAM, "--config=<config>"])).await;
    let case = results.first().expect("it has a case");
    assert_eq!(case.status, Status::Failed, "{case:#?}");
    let failures: Vec<(&str, &str)> =
        case.checks.iter().map(|check| (check.part.as_str(), check.got.as_str())).collect();
    assert_eq!(failures, [("runs", "ended (exit status: 3): panic: enough")]);
}
