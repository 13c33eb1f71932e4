//! A test for each case of each contract, or for each clause if there is a sample. One run of the program, on another thread,
//! gives the results of all.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, OnceLock};

use conformance::plan::NO_PLUGINS;
use conformance::report::{self, CaseResult, Report, Status};
use contract::case::{Case, When};
use contract::gardener::decision::RunsOn;
use contract::model::{Clause, Contract, Level};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::environment::Substrate;
use crate::list::COMPONENTS;
use crate::tethered::Tethered;

/// The folder for the report of the run, and for logs of the cluster after a failure.
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/e2e/contracts");
/// The maximum percentage of cases that are not supported.
const MAX_NOT_SUPPORTED: usize = 10;
/// Why tests on kind ignore scenarios, decisions about versions outside admission, and components that are not installed.
const IN_PROCESS: &str = "does not run in the cluster: `run --substrate kind` runs it in process";

/// The run that gives the results of all tests.
struct SharedRun {
    substrate: Substrate,
    /// The number that chooses one case of each clause.
    sample: Option<u64>,
    /// Arguments that select the cases.
    selection: OnceLock<Vec<String>>,
    results: OnceLock<Result<RunResults, String>>,
}

struct RunResults {
    report: Report,
    cases: BTreeMap<String, CaseResult>,
}

/// A test of a case or of a clause.
struct ContractTest {
    /// Name of the test: `resource_manager::seccomp_profile::GRM-SEC-001::unset::CREATE`.
    name: String,
    /// Id of the case, or of the clause.
    id: String,
    /// The id of the case, or those of the clause's cases, of which the sample chooses one; empty if none runs in the cluster.
    cases: Vec<String>,
}

/// The tests. Cases that the arguments filter out do not run.
pub(crate) fn trials(
    substrate: Substrate,
    sample: Option<u64>,
    arguments: &Arguments,
) -> Result<Vec<Trial>, String> {
    let contracts = contracts::all().map_err(|errors| errors.to_string())?;
    let in_cluster = substrate == Substrate::Kind;
    let run = Arc::new(SharedRun { substrate, sample, selection: OnceLock::new(), results: OnceLock::new() });
    let mut ids = BTreeMap::new();
    let mut trials = Vec::new();
    for test in contracts.iter().flat_map(|contract| tests(contract, in_cluster, sample)) {
        if test.cases.is_empty() {
            trials.push(Trial::ignorable_test(test.name, || Ok(Completion::ignored_with(IN_PROCESS))));
            continue;
        }
        ids.insert(test.name.clone(), test.cases.clone());
        let run = Arc::clone(&run);
        trials.push(Trial::ignorable_test(test.name.clone(), move || completion(&run, &test)));
    }
    let selected: Vec<_> = trials
        .iter()
        .filter(|trial| !arguments.is_filtered_out(trial))
        .filter_map(|trial| ids.get(trial.name()))
        .collect();
    let all = selected.len() == ids.len();
    let selection: Vec<String> =
        selected.into_iter().flatten().flat_map(|id| ["--case".to_owned(), id.clone()]).collect();
    let runs = !selection.is_empty() && !arguments.list;
    run.selection.set(selection).map_err(|_| "the selection is set once")?;
    if runs {
        let run = Arc::clone(&run);
        std::thread::spawn(move || run.results().is_ok());
    }
    trials.push(Trial::ignorable_test(
        "contracts::few_cases_are_not_supported_and_no_clause_by_that",
        move || {
            if all {
                check_supported(&run)
            } else {
                Ok(Completion::ignored_with("not all cases are selected"))
            }
        },
    ));
    Ok(trials)
}

/// A test for each case, or for each clause if there is a sample.
fn tests(contract: &Contract, in_cluster: bool, sample: Option<u64>) -> Vec<ContractTest> {
    let component = contract.labels.get("component").map_or("contracts", String::as_str);
    let prefix = format!("{component}::{}", contract.name).replace('-', "_");
    let of_clause = |clause: &Clause| {
        let prefix = format!("{prefix}::{}", clause.id);
        let of_case = |case: &Case| {
            let id = format!("{}/{}", clause.id, case.name);
            let is_ignored = in_cluster && runs_in_process(contract, &case.when);
            let cases = if is_ignored { Vec::new() } else { vec![id.clone()] };
            ContractTest { name: format!("{prefix}::{}", case.name.replace('/', "::")), id, cases }
        };
        let tests: Vec<ContractTest> = clause.cases.iter().map(of_case).collect();
        if sample.is_none() {
            return tests;
        }
        let cases = tests.into_iter().flat_map(|test| test.cases).collect();
        vec![ContractTest { name: prefix, id: clause.id.clone(), cases }]
    };
    contract.clauses.iter().flat_map(of_clause).collect()
}

/// Whether a run on kind does not run a case in the cluster.
fn runs_in_process(contract: &Contract, when: &When) -> bool {
    let is_other_decision = when.decision().is_some_and(|decision| decision.runs_on != RunsOn::Admission);
    let needs_no_cluster = matches!(when, When::Steps(_) | When::Emitted(_));
    needs_no_cluster || is_other_decision || !is_installed(&contract.component)
}

fn completion(run: &SharedRun, test: &ContractTest) -> Result<Completion, Failed> {
    let results = run.results()?;
    let cases: Vec<&CaseResult> = test.cases.iter().filter_map(|id| results.cases.get(id)).collect();
    let [case] = cases[..] else {
        return Err(format!("the report has {} cases of {} instead of one", cases.len(), test.id).into());
    };
    let reason = || case.reason.as_ref().map(|reason| reason.text.clone()).unwrap_or_default();
    match case.status {
        Status::Passed | Status::Waived => Ok(Completion::Completed),
        Status::NotSupported | Status::Skipped => Ok(Completion::ignored_with(reason())),
        status => {
            let checks = case.checks.iter().map(|check| format!("\n  {check:?}"));
            Err(format!("{}: {status:?} {}{}", case.name, reason(), checks.collect::<String>()).into())
        }
    }
}

/// Prints the cases that are not supported and those that ran in another way, by reason. Fails if too many are not supported, or
/// if no case of a MUST clause is. Cases about admission plugins do not count: they are known to run on the substrate garden alone.
fn check_supported(run: &SharedRun) -> Result<Completion, Failed> {
    let results = run.results()?;
    let otherwise = count_by_reason(results.cases.values().filter_map(|case| case.asked.as_deref()));
    for (reason, number) in &otherwise {
        eprintln!("run in another way: {number} cases: {reason}");
    }
    let unsupported = results.cases.values().filter(|case| is_unsupported(case));
    let reasons =
        count_by_reason(unsupported.map(|case| case.reason.as_ref().map_or("", |reason| &reason.text)));
    for (reason, number) in &reasons {
        eprintln!("not supported: {number} cases: {reason}");
    }
    let number: usize = reasons.values().sum();
    if number * 100 > results.cases.len() * MAX_NOT_SUPPORTED {
        return Err(format!("{number} of {} cases are not supported", results.cases.len()).into());
    }
    let clauses = results.report.contracts.iter().flat_map(|contract| &contract.clauses);
    let lost =
        clauses.filter(|clause| clause.level == Level::Must && clause.cases.iter().all(is_unsupported));
    let lost: Vec<&str> = lost.map(|clause| clause.id.as_str()).collect();
    if lost.is_empty() {
        return Ok(Completion::Completed);
    }
    Err(format!("no case of {} is supported", lost.join(", ")).into())
}

fn is_unsupported(case: &CaseResult) -> bool {
    let is_about_plugins = case.reason.as_ref().is_some_and(|reason| reason.text == NO_PLUGINS);
    case.status == Status::NotSupported && !is_about_plugins
}

fn count_by_reason<'a>(reasons: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for reason in reasons {
        // The text after the second colon is specific to a case.
        let end = reason.match_indices(": ").nth(1).map_or(reason.len(), |(at, _)| at);
        *counts.entry(&reason[..end]).or_default() += 1;
    }
    counts
}

impl SharedRun {
    fn results(&self) -> Result<&RunResults, String> {
        self.results.get_or_init(|| self.run()).as_ref().map_err(Clone::clone)
    }

    fn run(&self) -> Result<RunResults, String> {
        let mut arguments = self.substrate.arguments();
        arguments
            .extend(self.sample.into_iter().flat_map(|number| ["--sample".to_owned(), number.to_string()]));
        arguments.extend(["--report", REPORT, "--quiet"].map(str::to_owned));
        arguments.extend(self.selection.get().into_iter().flatten().cloned());
        let status: ExitStatus = Tethered::spawn(&arguments)?.wait()?;
        let report = report::read(Path::new(REPORT)).map_err(|error| format!("{error} ({status})"))?;
        let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
        let cases = clauses.flat_map(|clause| {
            clause.cases.iter().map(|case| (format!("{}/{}", clause.id, case.name), case.clone()))
        });
        Ok(RunResults { cases: cases.collect(), report })
    }
}

/// Whether a run on kind installs the component in the cluster.
fn is_installed(name: &str) -> bool {
    let component = COMPONENTS.iter().find(|component| component.name == name);
    component.is_some_and(|component| component.installation.rollout.is_some())
}
