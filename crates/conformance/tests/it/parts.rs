//! Runs of several parts: the report is the same whichever part ends first, and what cannot be read takes no other with it.

use std::sync::Arc;

use conformance::report::Report;
use conformance::run::{self, Interrupt, Options};
use contract::model::Contract;

use crate::direct::options;
use crate::fake::{Fake, Manner};
use crate::small;

type Part = (usize, Result<Vec<Contract>, String>);

/// The small contract under another name and other ids, with its cases so many times.
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

/// The first has most to ask, so that it ends last.
fn parts() -> Vec<Part> {
    [(0, 40), (1, 1), (2, 1), (3, 1)]
        .map(|(number, times)| (number, Ok(vec![contract(number, times)])))
        .into()
}

async fn judged(parts: Vec<Part>, options: &Options) -> Report {
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
async fn side_by_side_the_report_is_that_of_one_after_the_other() {
    let several = judged(parts(), &options()).await;
    let mut one = judged(parts(), &Options { parallel: 1, ..options() }).await;
    one.run.parallel = several.run.parallel;
    let names: Vec<&str> = several.contracts.iter().map(|contract| contract.name.as_str()).collect();
    assert_eq!(names, ["replicas-0", "replicas-1", "replicas-2", "replicas-3"]);
    assert!(several == one, "{several:#?}\n{one:#?}");
    // The order in which parts come decides nothing.
    let mut backwards = parts();
    backwards.reverse();
    assert!(judged(backwards, &options()).await == several);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_cannot_be_read_is_an_error_around_the_target_and_the_others_are_asked() {
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
