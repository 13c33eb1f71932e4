//! `gate`: judges a report by a policy, a baseline and waivers.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use conformance::gate::{Against, judge};
use conformance::report::{self, Report};
use conformance::{render, waivers};
use contract::document::SourceFile;
use contract::document::policy::{self, Policy};
use contract::document::waivers::Waiver;
use contract::index::{Index, Outline};
use jiff::civil::Date;

use crate::arguments::{Format, GateArguments};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options};

/// Prints the judgement and returns its exit code.
pub(crate) fn gate(
    arguments: &GateArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let catalog = LazyContracts { added, read: OnceCell::new() };
    let (name, policy) = policy(arguments, &catalog)?;
    let waivers = waivers(arguments, &catalog)?;
    let report = read(&arguments.report, "run or verify first, or name another report")?;
    let path = baseline(arguments, &policy);
    let remedy = "name an existing report with --baseline, or remove `baseline` from the policy";
    let baseline = path.as_deref().map(|path| read(path, remedy)).transpose()?;
    let path = path.map(|path| path.display().to_string()).unwrap_or_default();
    let has_fewer_clauses =
        baseline.as_ref().is_some_and(|baseline| !clause_ids(baseline).is_subset(&clause_ids(&report)));
    let clauses = if has_fewer_clauses { catalog.clause_ids()? } else { BTreeSet::new() };
    let judgement = judge(
        &report,
        &Against {
            name: &name,
            policy: &policy,
            waivers: &waivers,
            baseline: baseline.as_ref().map(|baseline| (path.as_str(), baseline)),
            profiles: &arguments.profile,
            clauses: &clauses,
            today: today(arguments)?,
        },
    );
    terminal.print(&match arguments.output {
        Format::Json => judgement.to_json(),
        Format::Markdown => render::gate_markdown(&judgement),
        Format::Text => render::gate(&judgement, &terminal.view(None)),
    });
    Ok(Ending::new(judgement.exit_code, judgement.cause).beside(arguments.output))
}

/// The contracts, read when they are first needed: most gates need the report only.
struct LazyContracts<'a> {
    added: Option<&'a Path>,
    read: OnceCell<Index>,
}

impl LazyContracts<'_> {
    fn outlines(&self) -> Result<&[Outline], Failure> {
        if let Some(read) = self.read.get() {
            return Ok(read.contracts());
        }
        let read = catalog::index(self.added)?;
        Ok(self.read.get_or_init(|| read).contracts())
    }

    fn clause_ids(&self) -> Result<BTreeSet<&str>, Failure> {
        let clauses = self.outlines()?.iter().flat_map(|contract| &contract.clauses);
        Ok(clauses.map(|clause| clause.id.as_str()).collect())
    }
}

fn clause_ids(report: &Report) -> BTreeSet<&str> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.map(|clause| clause.id.as_str()).collect()
}

fn waivers(arguments: &GateArguments, contracts: &LazyContracts<'_>) -> Result<Vec<Waiver>, Failure> {
    let Some(file) = arguments.waivers.as_deref() else { return Ok(Vec::new()) };
    let waivers = options::read_waivers(file)?;
    match waivers::unknown(&waivers, contracts.outlines()?).as_slice() {
        [] => Ok(waivers),
        unknown => Err(Failure::usage(format!(
            "{} waives clauses that no contract has: {}; `gardener-conformance list` prints the clauses",
            file.display(),
            unknown.join(", ")
        ))),
    }
}

/// The name of the policy and the policy.
fn policy(arguments: &GateArguments, contracts: &LazyContracts<'_>) -> Result<(String, Policy), Failure> {
    let Some(path) = &arguments.policy else {
        return Ok(("default".to_owned(), Policy::default()));
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let remedy = "`gardener-conformance schema gate` prints the format of a policy";
        Failure::usage(format!("failed to read policy {}: {error}; {remedy}", path.display()))
    })?;
    let file = SourceFile::new(path.display().to_string(), text);
    let read = policy::read(&file).map_err(Failure::diagnostic)?;
    if policy::names_contracts(&read.spec) {
        policy::check(&file, &read.spec, contracts.outlines()?).map_err(Failure::diagnostic)?;
    }
    let known: Vec<&str> = read.spec.profiles.iter().map(|profile| profile.name.as_str()).collect();
    if let Some(unknown) = arguments.profile.iter().find(|name| !known.contains(&name.as_str())) {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(format!(
            "{} has no profile {unknown:?}; its profiles: {known}",
            path.display()
        )));
    }
    Ok((read.metadata.name, read.spec))
}

/// The path of the baseline; a path in the policy is relative to the policy's file.
fn baseline(arguments: &GateArguments, policy: &Policy) -> Option<PathBuf> {
    let folder = arguments.policy.as_deref().and_then(Path::parent).map(Path::to_owned).unwrap_or_default();
    let of_policy = policy.baseline.as_ref().map(|baseline| folder.join(&baseline.report));
    arguments.baseline.clone().or(of_policy)
}

fn read(path: &Path, remedy: &str) -> Result<Report, Failure> {
    report::read(path).map_err(|error| Failure::usage(format!("{error}; {remedy}")))
}

fn today(arguments: &GateArguments) -> Result<Date, Failure> {
    let Some(day) = &arguments.at else {
        return Ok(jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date());
    };
    day.parse().map_err(|_| Failure::usage(format!("--at {day}: not a day; write for example 2027-03-31")))
}
