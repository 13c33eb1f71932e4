//! Scenarios against a small controller in process: hours pass in milliseconds, and each way to break one is reported.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use component::{StartOptions, Started};
use conformance::report::{CaseResult, Report, Status};
use conformance::run::{self, Interrupt};
use conformance::target::built_in::BuiltIn;
use contract::document::SourceFile;
use contract::model::{Catalog, Contract};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;
use webhook::service::{Limits, service};

use crate::direct::options;

/// The behaviour of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Writes `copied` once an hour, from the source cluster into the target cluster.
    Good,
    /// Does nothing.
    Idle,
    /// Tries once, and never again.
    Once,
    /// Writes in each pass.
    Restless,
    /// Ends when it cannot read.
    Mortal,
}

struct Abort(tokio::task::JoinHandle<()>);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn target(manner: Manner) -> BuiltIn {
    BuiltIn::new("copier", "v1.0.0", BTreeSet::new(), move |options| {
        std::future::ready(copier(manner, options))
    })
}

fn copier(manner: Manner, options: StartOptions) -> Result<Started, String> {
    let clusters = options.clusters.ok_or("no clusters")?;
    let passes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&passes);
    let failure = Arc::new(OnceLock::new());
    let failed = Arc::clone(&failure);
    let task = tokio::spawn(async move {
        let source: Api<ConfigMap> = Api::namespaced(clusters.source.clone(), "default");
        let target = clusters.target.unwrap_or_else(|| clusters.source.clone());
        let target: Api<ConfigMap> = Api::namespaced(target, "default");
        let start = tokio::time::Instant::now();
        loop {
            let found = match source.list(&ListParams::default()).await {
                Ok(found) => found.items,
                Err(error) if manner == Manner::Mortal => {
                    failed.get_or_init(|| error.to_string());
                    return;
                }
                Err(_) => Vec::new(),
            };
            for object in found.iter().filter(|_| manner != Manner::Idle) {
                let name = object.metadata.name.clone().unwrap_or_default();
                let hours = start.elapsed().as_secs() / 3600;
                let count = if manner == Manner::Restless { passes.load(Ordering::SeqCst) } else { hours };
                let there = target.get_opt(&name).await.ok().flatten();
                let data = json!({"copied": format!("{count}h")});
                let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data});
                if let Some(there) = there {
                    if json!(there.data) != data {
                        let _failed =
                            target.patch(&name, &PatchParams::default(), &Patch::Merge(&wanted)).await;
                    }
                } else {
                    let object = serde_json::from_value(wanted).expect("a ConfigMap");
                    let _failed = target.create(&PostParams::default(), &object).await;
                }
            }
            passes.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(if manner == Manner::Once { 1_000_000 } else { 1 })).await;
        }
    });
    let metrics = move || {
        let passes = counted.load(Ordering::SeqCst);
        format!("controller_runtime_reconcile_total{{controller=\"copier\",result=\"success\"}} {passes}\n")
    };
    Ok(Started { failure: Box::new(move || failure.get().cloned()), ..started(metrics, task) })
}

fn started(
    metrics: impl Fn() -> String + Send + Sync + 'static,
    task: tokio::task::JoinHandle<()>,
) -> Started {
    Started {
        service: service(Vec::new(), Limits::default()),
        registrations: Vec::new(),
        metrics: Box::new(metrics),
        failure: Box::new(|| None),
        guard: Box::new(Abort(task)),
    }
}

/// Reports that it runs, and never yields until it must end.
fn spinner(sender: Sender<()>, end: Arc<AtomicBool>) -> BuiltIn {
    BuiltIn::new("spinner", "v1.0.0", BTreeSet::new(), move |_| {
        let (sender, end) = (sender.clone(), Arc::clone(&end));
        let task = tokio::spawn(async move {
            sender.send(()).expect("there is a receiver");
            while !end.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        std::future::ready(Ok(started(String::new, task)))
    })
}

/// Writes two states before its start is reported.
fn hasty() -> BuiltIn {
    BuiltIn::new("hasty", "v1.0.0", BTreeSet::new(), |options: StartOptions| async move {
        let clusters = options.clusters.ok_or("no clusters")?;
        let source: Api<ConfigMap> = Api::namespaced(clusters.source.clone(), "default");
        for said in ["once", "twice"] {
            let patch = Patch::Merge(json!({"data": {"said": said}}));
            source.patch("a", &PatchParams::default(), &patch).await.map_err(|error| error.to_string())?;
        }
        Ok(started(String::new, tokio::spawn(std::future::pending())))
    })
}

fn contract(steps: &str, faults: &str) -> Contract {
    let text = format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Contract\nmetadata: {{name: copier, labels: {{component: copier}}}}\n\
         spec:\n  form: scenario\n  source: {{document: docs/copier.md, version: v1.0, section: Copies}}\n  \
         target: {{controller: copier}}\n  clauses:\n  - id: C-001\n    text: it copies\n    \
         faults: [{faults}]\n    \
         given: {{sourceCluster: [{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}}}]}}\n    steps:\n{steps}"
    );
    let fixtures = contracts::files().into_iter().filter(|file| file.path.contains("/fixtures/"));
    let files: Vec<SourceFile> =
        fixtures.chain([SourceFile::new("contracts/copier.yaml", text.as_str())]).collect();
    Catalog::load(&files).expect("it is well-formed").contracts.remove(0)
}

async fn case(manner: Manner, steps: &str) -> CaseResult {
    let report = report(manner, steps).await;
    report.contracts[0].clauses[0].cases[0].clone()
}

async fn report(manner: Manner, steps: &str) -> Report {
    run_with_faults(manner, steps, "").await
}

async fn run_with_faults(manner: Manner, steps: &str, faults: &str) -> Report {
    let contract = contract(steps, faults);
    run::run([contract].into(), Arc::new(target(manner)), &options(), &|_| {}, &Interrupt::default()).await
}

const HOURS: &str = r"    - {name: first, eventually: {targetCluster: {configmap/a: {data: {copied: 0h}}}}}
    - {name: early, advance: {to: 59m, after: first}, witness: {reconciles: copier}, never: {writes: configmap/a, for: 30s}}
    - {name: late, advance: {to: 61m, after: first}, eventually: {targetCluster: {configmap/a: {data: {copied: $changed}}}}, requests: {writes: 1, order: [patch configmap/a], perObject: 1}}
    - {name: stopped, do: {target: stop}}
    - {name: days, advance: {to: 48h}, do: {sourceCluster: {create: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}, target: start}, history: {targetCluster: {configmap/b: [{data: {copied: 0h}}]}}}
";

#[tokio::test]
async fn hours_pass_at_once() {
    let report = report(Manner::Good, HOURS).await;
    let clause = &report.contracts[0].clauses[0];
    let found = &clause.cases[0];
    assert_eq!((found.status, &found.checks), (Status::Passed, &Vec::new()));
    let proof = clause.proof.as_ref().unwrap();
    assert!(proof.proven, "{proof:?}");
    assert_eq!(proof.caught["nothing"], 1);
}

#[tokio::test]
async fn a_target_that_does_nothing_breaks_the_first_step() {
    let found = case(Manner::Idle, HOURS).await;
    assert_eq!(found.status, Status::Failed);
    let paths: Vec<(&str, &str, &str)> = found
        .checks
        .iter()
        .map(|check| (check.part.as_str(), check.path.as_str(), check.got.as_str()))
        .collect();
    assert_eq!(paths, [("eventually", "first: targetCluster configmap/a data.copied", "absent")]);
    assert_eq!(
        found.story,
        ["given  sourceCluster ConfigMap a", "when   first → early → late → stopped → days"]
    );
}

#[tokio::test]
async fn a_forbidden_write_fails() {
    let steps = "    - {name: quiet, witness: {reconciles: copier}, eventually: {targetCluster: {configmap/a: $present}}, never: {writes: secret/a}}\n    - {name: held, witness: {reconciles: copier}, never: {writes: configmap/a}}\n";
    assert_eq!(case(Manner::Good, steps).await.status, Status::Passed);
    let found = case(Manner::Restless, steps).await;
    assert_eq!(found.status, Status::Failed);
    assert_eq!(found.checks[0].part, "never");
    assert_eq!(found.checks[0].path, "held: configmap/a");
}

#[tokio::test]
async fn only_requests_of_the_target_are_counted() {
    let steps = "    - {name: first, eventually: {targetCluster: {configmap/a: $present}}, requests: {writes: 1, order: [create configmap/a]}}\n    - {name: again, do: {sourceCluster: {touch: configmap/a}}, witness: {reconciles: copier}, requests: {writes: 0}}\n";
    assert_eq!(case(Manner::Good, steps).await.status, Status::Passed);
    let found = case(Manner::Restless, steps).await;
    assert_eq!((found.status, found.checks[0].part.as_str()), (Status::Failed, "requests"));
}

#[tokio::test]
async fn a_scenario_is_run_again_under_each_of_its_faults() {
    let steps = "    - {name: copied, eventually: {targetCluster: {configmap/a: {data: {copied: 0h}}}}, requests: {writes: 1}}\n";
    let faults = "conflictOnce, throttle, serverError, refusedOnce, crashAfterWrite";
    let report = run_with_faults(Manner::Good, steps, faults).await;
    let found = &report.contracts[0].clauses[0].cases[0];
    assert_eq!((found.status, &found.checks), (Status::Passed, &Vec::new()));

    let report = run_with_faults(Manner::Once, steps, "throttle, serverError").await;
    let found = &report.contracts[0].clauses[0].cases[0];
    let paths: Vec<&str> = found.checks.iter().map(|check| check.path.as_str()).collect();
    assert_eq!(found.status, Status::Failed);
    let missing = "copied: targetCluster configmap/a data.copied";
    assert_eq!(paths, [format!("under throttle: {missing}"), format!("under serverError: {missing}")]);

    let report = run_with_faults(Manner::Once, steps, "refusedOnce").await;
    let checks = &report.contracts[0].clauses[0].cases[0].checks;
    let paths: Vec<&str> = checks.iter().map(|check| check.path.as_str()).collect();
    // After an answer that is lost, the object is there.
    let refused = ["OverQuota", "NotFound", "Invalid", "Timeout"];
    assert_eq!(paths, refused.map(|refused| format!("under refusedOnce, {refused}: {missing}")));
}

#[tokio::test]
async fn a_target_that_ends_breaks_its_clause_and_is_started_again_under_a_fault() {
    let copied = "    - {name: copied, eventually: {targetCluster: {configmap/a: {data: {copied: 0h}}}}}\n";
    let report = run_with_faults(Manner::Mortal, copied, "throttle, serverError").await;
    let found = &report.contracts[0].clauses[0].cases[0];
    assert_eq!((found.status, &found.checks), (Status::Passed, &Vec::new()));

    let refused = "    - {name: refused, do: {sourceCluster: {refuse: {list configmap: internalError}}}, eventually: {targetCluster: {configmap/a: {data: {copied: 1h}}}}}\n";
    let found = case(Manner::Mortal, &format!("{copied}{refused}")).await;
    let [check] = found.checks.as_slice() else { panic!("{found:#?}") };
    assert_eq!((found.status, check.part.as_str(), check.path.as_str()), (Status::Failed, "runs", "refused"));
    assert!(check.got.starts_with("ended ("), "{}", check.got);
}

#[tokio::test]
async fn writes_during_the_start_belong_to_the_first_step() {
    let steps = "    - {name: begun, history: {sourceCluster: {configmap/a: [{data: {said: once}}, {data: {said: twice}}]}}, eventually: {sourceCluster: {configmap/a: {data: {said: $changed}}}}}\n";
    let contracts = [contract(steps, "")].into();
    let report = run::run(contracts, Arc::new(hasty()), &options(), &|_| {}, &Interrupt::default()).await;
    let found = &report.contracts[0].clauses[0].cases[0];
    assert_eq!((found.status, &found.checks), (Status::Passed, &Vec::new()));
}

#[tokio::test]
async fn a_fault_that_never_strikes_fails() {
    let steps = "    - {name: copied, eventually: {targetCluster: {configmap/a: {data: {copied: 0h}}}}}\n";
    // The copier lists, and never watches.
    let report = run_with_faults(Manner::Good, steps, "watchDrop").await;
    let found = &report.contracts[0].clauses[0].cases[0];
    let checks: Vec<_> = found.checks.iter().map(|check| (check.path.as_str(), check.got.as_str())).collect();
    assert_eq!(checks, [("under watchDrop: watches", "it struck no request")]);
}

#[tokio::test]
async fn a_forbidden_write_of_an_unused_object_is_no_proof() {
    let step = |object: &str| {
        format!(
            "    - {{name: copied, witness: {{reconciles: copier}}, eventually: {{targetCluster: {{configmap/a: $present}}}}, never: {{writes: {object}}}}}\n    - {{name: made, do: {{sourceCluster: {{create: [{{apiVersion: v1, kind: Secret, metadata: {{name: b}}}}]}}}}}}\n"
        )
    };
    let proven = async |object: &str| {
        let report = report(Manner::Good, &step(object)).await;
        assert_eq!(report.contracts[0].clauses[0].cases[0].status, Status::Passed);
        let proof = report.contracts[0].clauses[0].proof.clone().unwrap();
        (proof.proven, proof.survivors.into_iter().map(|survivor| survivor.text).collect::<Vec<_>>())
    };
    assert_eq!(proven("secret/b").await, (true, Vec::new()));
    assert_eq!(proven("secret/zzz").await, (false, vec!["copied: update secret/zzz".to_owned()]));
}

#[tokio::test]
async fn damages_are_listed_without_secrets() {
    let steps = "    - {name: made, do: {sourceCluster: {create: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {key: c2VjcmV0}}]}}, eventually: {sourceCluster: {secret/s: {data: {key: c2VjcmV0}}}, targetCluster: {configmap/a: {data: {copied: 0h}}}}, history: {sourceCluster: {secret/s: [{data: {key: c2VjcmV0}}]}}}\n";
    let report = report(Manner::Good, steps).await;
    let proof = report.contracts[0].clauses[0].proof.clone().unwrap();
    assert!(proof.proven, "{proof:?}");
    let damages: Vec<&str> = proof.noticed.iter().map(|damage| damage.text.as_str()).collect();
    assert_eq!(damages.len(), proof.caught.values().sum::<usize>(), "{damages:?}");
    assert!(damages.iter().any(|text| text.starts_with("made: secret/s data.key: ***")), "{damages:?}");
    assert!(damages.iter().any(|text| text.starts_with("made: secret/s[0] data.key: ***")), "{damages:?}");
    assert!(!damages.iter().any(|text| text.contains("c2VjcmV0")), "{damages:?}");
    assert!(damages.contains(&"made: configmap/a data.copied: absent instead of 0h"), "{damages:?}");
}

#[tokio::test]
async fn an_interrupt_ends_a_run_whose_target_never_yields() {
    let steps = "    - {name: copied, eventually: {targetCluster: {configmap/a: $present}}}\n";
    let (interrupt, end, (sender, spins)) =
        (Interrupt::default(), Arc::new(AtomicBool::new(false)), channel());
    let raised = interrupt.clone();
    let thread = std::thread::spawn(move || {
        spins.recv().expect("it is started");
        raised.raise(2);
    });
    let target = Arc::new(spinner(sender, Arc::clone(&end)));
    let report = run::run([contract(steps, "")].into(), target, &options(), &|_| {}, &interrupt).await;
    end.store(true, Ordering::Relaxed);
    thread.join().expect("it does not panic");
    let status = report.contracts[0].clauses[0].cases[0].status;
    assert_eq!((report.interrupted, report.exit_code(), status), (Some(2), 130, Status::NotRun));
}
