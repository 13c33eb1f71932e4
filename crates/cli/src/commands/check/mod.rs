//! `check objects`: compares rendered or live objects with what Gardener may emit, namespace by namespace.

mod cluster;
mod documents;
mod files;
mod measure;
mod slips;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use conformance::objects::{About, Checker, Read};
use conformance::report::RunInfo;
use conformance::run::Interrupt;
use conformance::shard::Shard;
use contract::document::waivers::Waiver;
use contract::emitted::Selector;
use contract::model::{Contract, Form};

use self::measure::Measure;
use self::slips::Slips;
use crate::arguments::{CheckCommand, CheckObjectsArguments};
use crate::ending::Ending;
use crate::options::repeat_command::RepeatCommand;
use crate::progress::Progress;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options, session, signals};

/// Executes a `check` command.
pub(crate) fn execute(
    command: &CheckCommand,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let CheckCommand::Objects(arguments) = command;
    session::check_folder("--report", &arguments.report)?;
    objects(arguments, added, terminal)
}

/// Which objects to check.
struct ObjectFilter {
    /// The names of the namespaces; empty for all.
    namespaces: BTreeSet<String>,
    /// The kinds that clauses are about.
    kinds: Vec<Selector>,
    /// The shard that the namespaces must belong to.
    shard: Option<Shard>,
}

impl ObjectFilter {
    fn has_kind(&self, group: &str, kind: &str) -> bool {
        self.kinds.iter().any(|known| known.group == group && known.kind == kind)
    }

    fn has_namespace(&self, name: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.contains(name)
    }

    /// Whether the namespace belongs to this shard.
    fn is_in_shard(&self, name: &str) -> bool {
        self.shard.is_none_or(|shard| shard.has(name))
    }
}

/// Checks namespaces as they are read, and shows progress.
struct CheckRun<'a, 'c> {
    checker: &'a mut Checker<'c>,
    progress: &'a Progress<'a>,
    measure: Measure<'a>,
    slips: Slips,
    interrupt: &'a Interrupt,
}

impl CheckRun<'_, '_> {
    fn set_total(&mut self, namespaces: usize) {
        self.measure.start_checks(namespaces);
        self.progress.set_total(namespaces);
    }

    /// Checks one namespace; returns false if the run was interrupted.
    fn check_namespace(&mut self, name: &str, read: &[Read]) -> bool {
        self.checker.take(name, read);
        self.measure.count_namespace(read.len());
        self.progress.advance(name, 1);
        self.interrupt.raised().is_none()
    }
}

fn objects(
    arguments: &CheckObjectsArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let mut index = catalog::index(added)?;
    if arguments.strict {
        index.take_to_the_letter();
    }
    let emitting = index.contracts().iter().filter(|contract| contract.form == Form::Objects);
    let contracts = index.each(emitting, |contract| contract).map_err(Failure::diagnostic)?;
    let (contracts, filter) = select(contracts, arguments)?;
    let waivers = waivers(arguments)?;
    let (started, now) = (Instant::now(), jiff::Timestamp::now());
    let webhooks_changed = arguments.kubeconfig.is_some() && !arguments.no_webhooks;
    let mut checker = Checker::new(&contracts, arguments.gardener.clone(), webhooks_changed)
        .to_the_letter(arguments.strict);
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let (interrupt, progress) = (Interrupt::default(), Progress::new(terminal));
    let raised = interrupt.clone();
    runtime.spawn(async move { raised.raise(signals::interrupt_or_terminate().await) });
    let measure = Measure::new(terminal);
    let slips = Slips::default();
    let (progress, interrupt) = (&progress, &interrupt);
    let mut run = CheckRun { checker: &mut checker, progress, measure, slips, interrupt };
    let result = match &arguments.kubeconfig {
        Some(kubeconfig) => runtime.block_on(cluster::check(kubeconfig, &filter, &mut run)),
        None => files::check(&arguments.file, &filter, &mut run),
    };
    progress.finish();
    let description = result?;
    run.measure.finish();
    run.slips.print(terminal);
    let about = About {
        run: run_info(arguments, added, (started, now)),
        place: if arguments.kubeconfig.is_some() { "cluster" } else { "files" }.to_owned(),
        description,
        expression: arguments.clause.iter().map(|id| format!("clause={id}")).collect(),
        waivers,
        shard: arguments.shard,
        broken: Vec::new(),
        interrupted: interrupt.raised(),
    };
    let report = checker.report(about);
    terminal.lose_if_failed(session::write_report(&report, &arguments.report));
    session::print_report(&report, &arguments.report, arguments.output, terminal);
    Ok(Ending::of_report(&report, arguments.output))
}

/// When and how the objects are checked.
fn run_info(
    arguments: &CheckObjectsArguments,
    added: Option<&Path>,
    (started, now): (Instant, jiff::Timestamp),
) -> RunInfo {
    RunInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: now.round(jiff::Unit::Second).unwrap_or(now).to_string(),
        duration_ms: (started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        repeat: 1,
        parallel: 1,
        command: repeat_command(arguments, added),
        gardener: arguments.gardener.clone(),
        strict: arguments.strict,
        ..RunInfo::default()
    }
}

/// The contracts with the selected clauses only, and the filter for the objects that these are about.
fn select(
    mut contracts: Vec<Contract>,
    arguments: &CheckObjectsArguments,
) -> Result<(Vec<Contract>, ObjectFilter), Failure> {
    let cases: Vec<(&str, &str)> = arguments.case.iter().filter_map(|case| case.split_once('/')).collect();
    let ids: BTreeSet<&str> =
        arguments.clause.iter().map(String::as_str).chain(cases.iter().map(|(id, _)| *id)).collect();
    let known =
        |id: &&str| contracts.iter().flat_map(|contract| &contract.clauses).any(|clause| clause.id == **id);
    if let Some(id) = ids.iter().find(|id| !known(id)) {
        let text = format!(
            "{id} is not a clause about what Gardener emits; `gardener-conformance list --label component=controlplane` prints \
            these clauses"
        );
        return Err(Failure::usage(text));
    }
    let mut namespaces: BTreeSet<String> = arguments.namespace.iter().cloned().collect();
    let of_case = |(_, name): &(&str, &str)| match name.split('/').collect::<Vec<_>>().as_slice() {
        [namespace, _, _] => Some((*namespace).to_owned()),
        _ => None,
    };
    namespaces.extend(cases.iter().filter_map(of_case));
    if !ids.is_empty() {
        for contract in &mut contracts {
            contract.clauses.retain(|clause| ids.contains(clause.id.as_str()));
        }
    }
    let rules = contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.emits);
    let mut kinds: Vec<Selector> = Vec::new();
    for rule in rules {
        for selector in std::iter::once(&rule.object).chain(&rule.beside).chain(&rule.without) {
            if !kinds.iter().any(|known| known.group == selector.group && known.kind == selector.kind) {
                kinds.push(selector.clone());
            }
        }
    }
    kinds.sort_by(|a, b| a.kind.cmp(&b.kind));
    Ok((contracts, ObjectFilter { namespaces, kinds, shard: arguments.shard }))
}

fn waivers(arguments: &CheckObjectsArguments) -> Result<Vec<Waiver>, Failure> {
    arguments.waivers.as_deref().map_or_else(|| Ok(Vec::new()), options::read_waivers)
}

/// The command line that repeats the check, without the flags that select clauses.
fn repeat_command(arguments: &CheckObjectsArguments, added: Option<&Path>) -> String {
    let mut command = RepeatCommand::new("check objects", added)
        .path("--kubeconfig", arguments.kubeconfig.as_deref())
        .flag("--no-webhooks", arguments.no_webhooks)
        .flag("--strict", arguments.strict)
        .path("--waivers", arguments.waivers.as_deref());
    for file in &arguments.file {
        command = command.path("-f", Some(file));
    }
    command.unless_default("--gardener", arguments.gardener.as_deref().unwrap_or_default(), "").into_string()
}
