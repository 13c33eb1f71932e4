//! Runs of several parts: the report does not depend on which part ends first, and an unreadable part does not affect others.

use std::sync::Arc;

use conformance::report::Report;
use conformance::run::{self, Interrupt, Options};
use contract::model::Contract;

use crate::direct::options;
use crate::fake::{Fake, Manner};
use crate::small;

type IndexedContracts = (usize, Result<Vec<Contract>, String>);

/// The small contract with another name and other ids, and with repeated cases.
fn contract(number: usize, times: usize) -> Contract {
    let mut contract = small::contract();
    contract.name = format!("replicas-{number}");
    for clause in &mut contract.clauses {
        clause.id = clause.id.replace("FAKE", &format!("FAKE{number}"));
        let cases = std::mem::take(&mut clause.cases);
        for time in 0..times {
            clause.cases.extend(cases.iter().cloned().map(|mut case| {
                case.name = format!("{}-{time}", case.name);
                case
            }));
        }
    }
    contract
}

/// The first has most cases, so that it ends last.
fn parts() -> Vec<IndexedContracts> {
    [(0, 40), (1, 1), (2, 1), (3, 1)]
        .map(|(number, times)| (number, Ok(vec![contract(number, times)])))
        .into()
}

async fn judged(parts: Vec<IndexedContracts>, options: &Options) -> Report {
    let target = Arc::new(Fake { manner: Manner::WrongValue, registered: true });
    let mut report =
        run::judged(parts.into_iter(), target, options, &|_| {}, &Interrupt::default()).await.proven();
    report.run.duration_ms = 0.0;
    for contract in &mut report.contracts {
        contract.duration_ms = 0.0;
        for case in contract.clauses.iter_mut().flat_map(|clause| &mut clause.cases) {
            (case.duration_ms, case.evidence) = (0.0, None);
        }
    }
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_and_sequential_runs_have_the_same_report() {
    let several = judged(parts(), &options()).await;
    let mut one = judged(parts(), &Options { parallel: 1, ..options() }).await;
    one.run.parallel = several.run.parallel;
    let names: Vec<&str> = several.contracts.iter().map(|contract| contract.name.as_str()).collect();
    assert_eq!(names, ["replicas-0", "replicas-1", "replicas-2", "replicas-3"]);
    assert!(several == one, "{several:#?}\n{one:#?}");
    // The order of parts does not matter.
    let mut backwards = parts();
    backwards.reverse();
    assert!(judged(backwards, &options()).await == several);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_cannot_be_read_is_an_environment_error_and_the_others_run() {
    let mut parts = parts();
    parts[1].1 = Err("no such fixture".to_owned());
    let report = judged(parts, &options()).await;
    assert_eq!(report.environment_errors, ["contracts cannot be read: no such fixture"]);
    let names: Vec<&str> = report.contracts.iter().map(|contract| contract.name.as_str()).collect();
    assert_eq!(names, ["replicas-0", "replicas-2", "replicas-3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_failure_ends_all_parts() {
    let report = judged(parts(), &Options { fail_fast: true, parallel: 1, ..options() }).await;
    assert_eq!((report.counts.failed, report.exit_code()), (1, 1), "{:?}", report.counts);
    assert!(report.counts.not_run > 100, "{:?}", report.counts);
}
