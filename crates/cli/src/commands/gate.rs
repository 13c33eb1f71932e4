//! `gate`: a report held against a policy, a baseline and waivers.

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
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options};

/// Prints why the gate holds or not; the exit code is the judgement's.
pub(crate) fn gate(
    arguments: &GateArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let catalog = Contracts { added, read: OnceCell::new() };
    let (name, policy) = policy(arguments, &catalog)?;
    let waivers = waivers(arguments, &catalog)?;
    let report = read(&arguments.report, "run or verify first, or name a report")?;
    let place = baseline(arguments, &policy);
    let remedy = "name one that is there with --baseline, or take `baseline` out of the policy";
    let before = place.as_deref().map(|path| read(path, remedy)).transpose()?;
    let place = place.map(|path| path.display().to_string()).unwrap_or_default();
    let missed = before.as_ref().is_some_and(|before| !ids(before).is_subset(&ids(&report)));
    let clauses = if missed { catalog.clauses()? } else { BTreeSet::new() };
    let judgement = judge(
        &report,
        &Against {
            name: &name,
            policy: &policy,
            waivers: &waivers,
            baseline: before.as_ref().map(|before| (place.as_str(), before)),
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
    Ok(judgement.exit_code)
}

/// The contracts, read when somebody asks for them: most gates know all they need from the report.
struct Contracts<'a> {
    added: Option<&'a Path>,
    read: OnceCell<Index>,
}

impl Contracts<'_> {
    fn outlines(&self) -> Result<&[Outline], Failure> {
        if let Some(read) = self.read.get() {
            return Ok(read.contracts());
        }
        let read = catalog::index(self.added)?;
        Ok(self.read.get_or_init(|| read).contracts())
    }

    fn clauses(&self) -> Result<BTreeSet<&str>, Failure> {
        let clauses = self.outlines()?.iter().flat_map(|contract| &contract.clauses);
        Ok(clauses.map(|clause| clause.id.as_str()).collect())
    }
}

fn ids(report: &Report) -> BTreeSet<&str> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.map(|clause| clause.id.as_str()).collect()
}

fn waivers(arguments: &GateArguments, contracts: &Contracts<'_>) -> Result<Vec<Waiver>, Failure> {
    let Some(file) = arguments.waivers.as_deref() else { return Ok(Vec::new()) };
    let waivers = options::read_waivers(file)?;
    match waivers::unknown(&waivers, contracts.outlines()?).as_slice() {
        [] => Ok(waivers),
        unknown => Err(Failure::usage(format!(
            "{} waives what no contract says: {}; `gardener-conformance list` names the clauses",
            file.display(),
            unknown.join(", ")
        ))),
    }
}

/// The policy and its name.
fn policy(arguments: &GateArguments, contracts: &Contracts<'_>) -> Result<(String, Policy), Failure> {
    let Some(path) = &arguments.policy else {
        return Ok(("default".to_owned(), Policy::default()));
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let remedy = "`gardener-conformance schema gate` says what a policy is";
        Failure::usage(format!("failed to read policy {}: {error}; {remedy}", path.display()))
    })?;
    let file = SourceFile::new(path.display().to_string(), text);
    let read = policy::read(&file).map_err(Failure::diagnostic)?;
    if policy::names_contracts(&read.spec) {
        policy::check(&file, &read.spec, contracts.outlines()?).map_err(Failure::diagnostic)?;
    }
    let known: Vec<&str> = read.spec.profiles.iter().map(|profile| profile.name.as_str()).collect();
    if let Some(strange) = arguments.profile.iter().find(|name| !known.contains(&name.as_str())) {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(format!(
            "{} has no profile {strange:?}; there are: {known}",
            path.display()
        )));
    }
    Ok((read.metadata.name, read.spec))
}

/// Where the baseline lies: a path of the policy is relative to its file.
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
    day.parse().map_err(|_| Failure::usage(format!("--at {day} is no day; write 2027-03-31")))
}
