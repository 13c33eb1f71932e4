//! Every case of every contract as a test of its own, or of a sample every clause; one run of the program, beside other tests,
//! answers them all.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, OnceLock};

use conformance::report::{self, CaseResult, Report, Status};
use contract::case::{Case, When};
use contract::decision::RunsOn;
use contract::model::{Clause, Contract, Level};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::list::COMPONENTS;
use crate::place::Substrate;
use crate::tethered::Tethered;

/// Where the report of the run is written, and what was collected of a cluster where it failed.
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/e2e/contracts");
/// How many of a hundred cases a substrate may not support.
const NOT_SUPPORTED: usize = 10;
/// Why no test of kind asks a scenario, what is decided about versions elsewhere than on admission, or another component.
const UNASKED: &str = "not asked in a cluster: `run --substrate kind` has it in process";

/// The run that answers all tests.
struct Answers {
    substrate: Substrate,
    /// The number that chooses one case of each clause.
    sample: Option<u64>,
    /// Arguments that select what is wanted.
    wanted: OnceLock<Vec<String>>,
    found: OnceLock<Result<Found, String>>,
}

struct Found {
    report: Report,
    cases: BTreeMap<String, CaseResult>,
}

/// What one test asks.
struct Asked {
    /// Name of the test: `resource_manager::seccomp_profile::GRM-SEC-001::unset::CREATE`.
    name: String,
    /// Id of the case, or of the clause.
    id: String,
    /// Ids of the case, or of those of the clause of which one is chosen; empty where no cluster asks it.
    cases: Vec<String>,
}

/// The tests; what the arguments leave out is not asked.
pub(crate) fn trials(
    substrate: Substrate,
    sample: Option<u64>,
    arguments: &Arguments,
) -> Result<Vec<Trial>, String> {
    let contracts = contracts::all().map_err(|errors| errors.to_string())?;
    let in_cluster = substrate == Substrate::Kind;
    let answers = Arc::new(Answers { substrate, sample, wanted: OnceLock::new(), found: OnceLock::new() });
    let mut ids = BTreeMap::new();
    let mut trials = Vec::new();
    for asked in contracts.iter().flat_map(|contract| tests(contract, in_cluster, sample)) {
        if asked.cases.is_empty() {
            trials.push(Trial::ignorable_test(asked.name, || Ok(Completion::ignored_with(UNASKED))));
            continue;
        }
        ids.insert(asked.name.clone(), asked.cases.clone());
        let answers = Arc::clone(&answers);
        trials.push(Trial::ignorable_test(asked.name.clone(), move || verdict(&answers, &asked)));
    }
    let wanted: Vec<_> = trials
        .iter()
        .filter(|trial| !arguments.is_filtered_out(trial))
        .filter_map(|trial| ids.get(trial.name()))
        .collect();
    let all = wanted.len() == ids.len();
    let selected: Vec<String> =
        wanted.into_iter().flatten().flat_map(|id| ["--case".to_owned(), id.clone()]).collect();
    let is_asked = !selected.is_empty() && !arguments.list;
    answers.wanted.set(selected).map_err(|_| "it is set once")?;
    if is_asked {
        let answers = Arc::clone(&answers);
        std::thread::spawn(move || answers.found().is_ok());
    }
    trials.push(Trial::ignorable_test(
        "contracts::few_cases_are_not_supported_and_no_clause_by_that",
        move || {
            if all { supported(&answers) } else { Ok(Completion::ignored_with("not all cases are wanted")) }
        },
    ));
    Ok(trials)
}

/// A test a case, or a clause where one case of each is chosen.
fn tests(contract: &Contract, in_cluster: bool, sample: Option<u64>) -> Vec<Asked> {
    let component = contract.labels.get("component").map_or("contracts", String::as_str);
    let prefix = format!("{component}::{}", contract.name).replace('-', "_");
    let of_clause = |clause: &Clause| {
        let prefix = format!("{prefix}::{}", clause.id);
        let of_case = |case: &Case| {
            let id = format!("{}/{}", clause.id, case.name);
            let is_unasked = in_cluster && is_unasked(contract, &case.when);
            let cases = if is_unasked { Vec::new() } else { vec![id.clone()] };
            Asked { name: format!("{prefix}::{}", case.name.replace('/', "::")), id, cases }
        };
        let asked: Vec<Asked> = clause.cases.iter().map(of_case).collect();
        if sample.is_none() {
            return asked;
        }
        let cases = asked.into_iter().flat_map(|asked| asked.cases).collect();
        vec![Asked { name: prefix, id: clause.id.clone(), cases }]
    };
    contract.clauses.iter().flat_map(of_clause).collect()
}

fn is_unasked(contract: &Contract, when: &When) -> bool {
    let is_decided_elsewhere = when.decision().is_some_and(|decision| decision.runs_on != RunsOn::Admission);
    let is_asked_nowhere = matches!(when, When::Steps(_) | When::Emitted(_));
    is_asked_nowhere || is_decided_elsewhere || !answers_in_a_cluster(&contract.component)
}

fn verdict(answers: &Answers, asked: &Asked) -> Result<Completion, Failed> {
    let found = answers.found()?;
    let cases: Vec<&CaseResult> = asked.cases.iter().filter_map(|id| found.cases.get(id)).collect();
    let [case] = cases[..] else {
        return Err(format!("the report has {} cases of {} and not one", cases.len(), asked.id).into());
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

/// Lists what is not supported and what was asked otherwise, by reason; the former is little, and no MUST clause is left
/// without a case.
fn supported(answers: &Answers) -> Result<Completion, Failed> {
    let found = answers.found()?;
    let otherwise = counted(found.cases.values().filter_map(|case| case.asked.as_deref()));
    for (reason, number) in &otherwise {
        eprintln!("asked otherwise: {number} cases: {reason}");
    }
    let unsupported = found.cases.values().filter(|case| case.status == Status::NotSupported);
    let reasons = counted(unsupported.map(|case| case.reason.as_ref().map_or("", |reason| &reason.text)));
    for (reason, number) in &reasons {
        eprintln!("not supported: {number} cases: {reason}");
    }
    let number: usize = reasons.values().sum();
    if number * 100 > found.cases.len() * NOT_SUPPORTED {
        return Err(format!("{number} of {} cases are not supported", found.cases.len()).into());
    }
    let clauses = found.report.contracts.iter().flat_map(|contract| &contract.clauses);
    let lost = clauses.filter(|clause| {
        clause.level == Level::Must && clause.cases.iter().all(|case| case.status == Status::NotSupported)
    });
    let lost: Vec<&str> = lost.map(|clause| clause.id.as_str()).collect();
    if lost.is_empty() {
        return Ok(Completion::Completed);
    }
    Err(format!("no case of {} is supported", lost.join(", ")).into())
}

fn counted<'a>(reasons: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counted = BTreeMap::new();
    for reason in reasons {
        // Behind its second colon stands what is so of one case alone.
        let end = reason.match_indices(": ").nth(1).map_or(reason.len(), |(at, _)| at);
        *counted.entry(&reason[..end]).or_default() += 1;
    }
    counted
}

impl Answers {
    fn found(&self) -> Result<&Found, String> {
        self.found.get_or_init(|| self.run()).as_ref().map_err(Clone::clone)
    }

    fn run(&self) -> Result<Found, String> {
        let mut arguments = self.substrate.arguments();
        arguments
            .extend(self.sample.into_iter().flat_map(|number| ["--sample".to_owned(), number.to_string()]));
        arguments.extend(["--report", REPORT, "--quiet"].map(str::to_owned));
        arguments.extend(self.wanted.get().into_iter().flatten().cloned());
        let status: ExitStatus = Tethered::spawn(&arguments)?.wait()?;
        let report = report::read(Path::new(REPORT)).map_err(|error| format!("{error} ({status})"))?;
        let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
        let cases = clauses.flat_map(|clause| {
            clause.cases.iter().map(|case| (format!("{}/{}", clause.id, case.name), case.clone()))
        });
        Ok(Found { cases: cases.collect(), report })
    }
}

/// Whether cases are asked of a component that runs in the cluster.
fn answers_in_a_cluster(name: &str) -> bool {
    let component = COMPONENTS.iter().find(|component| component.name == name);
    component.is_some_and(|component| component.installation.rollout.is_some())
}
