//! `check objects`: rendered or live objects held against what Gardener may emit, one namespace after the other.

mod cluster;
mod documents;
mod files;
mod measure;

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
use crate::arguments::{CheckCommand, CheckObjectsArguments};
use crate::options::again::Again;
use crate::progress::Progress;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options, session, signals};

/// Does what was asked for.
pub(crate) fn execute(
    command: &CheckCommand,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    match command {
        CheckCommand::Objects(arguments) => objects(arguments, added, terminal),
    }
}

/// What is wanted of the objects that there are.
struct Wanted {
    /// Namespaces by name; empty: all.
    namespaces: BTreeSet<String>,
    /// Every kind that a clause speaks of.
    kinds: Vec<Selector>,
    /// Which part of the namespaces.
    shard: Option<Shard>,
}

impl Wanted {
    fn has_kind(&self, group: &str, kind: &str) -> bool {
        self.kinds.iter().any(|known| known.group == group && known.kind == kind)
    }

    fn has_namespace(&self, name: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.contains(name)
    }

    /// Whether the namespace is of this shard.
    fn is_mine(&self, name: &str) -> bool {
        self.shard.is_none_or(|shard| shard.has(name))
    }
}

/// Where namespaces go as they are read.
struct Sink<'a, 'c> {
    checker: &'a mut Checker<'c>,
    progress: &'a Progress<'a>,
    measure: Measure<'a>,
    interrupt: &'a Interrupt,
}

impl Sink<'_, '_> {
    fn expect(&mut self, namespaces: usize) {
        self.measure.found(namespaces);
        self.progress.expect(namespaces);
    }

    /// Checks one namespace; false: the run was interrupted.
    fn take(&mut self, name: &str, read: &[Read]) -> bool {
        self.checker.take(name, read);
        self.measure.took(read.len());
        self.progress.advance(name, 1);
        self.interrupt.raised().is_none()
    }
}

fn objects(
    arguments: &CheckObjectsArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let mut index = catalog::index(added)?;
    if arguments.strict {
        index.take_to_the_letter();
    }
    let emitting = index.contracts().iter().filter(|contract| contract.form == Form::Objects);
    let contracts = index.each(emitting, |contract| contract).map_err(Failure::diagnostic)?;
    let (contracts, wanted) = wanted(contracts, arguments)?;
    let waivers = waivers(arguments)?;
    let (started, now) = (Instant::now(), jiff::Timestamp::now());
    let changed = arguments.kubeconfig.is_some() && !arguments.no_webhooks;
    let mut checker =
        Checker::new(&contracts, arguments.gardener.clone(), changed).to_the_letter(arguments.strict);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let (interrupt, progress) = (Interrupt::default(), Progress::new(terminal));
    let heard = interrupt.clone();
    runtime.spawn(async move { heard.raise(signals::either().await) });
    let measure = Measure::new(terminal);
    let mut sink = Sink { checker: &mut checker, progress: &progress, measure, interrupt: &interrupt };
    let read = match &arguments.kubeconfig {
        Some(kubeconfig) => runtime.block_on(cluster::read(kubeconfig, &wanted, &mut sink)),
        None => files::read(&arguments.file, &wanted, &mut sink),
    };
    progress.finish();
    let description = read?;
    sink.measure.tell();
    let about = About {
        run: RunInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now.round(jiff::Unit::Second).unwrap_or(now).to_string(),
            duration_ms: (started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            repeat: 1,
            parallel: 1,
            command: again(arguments, added),
            gardener: arguments.gardener.clone(),
            strict: arguments.strict,
            ..RunInfo::default()
        },
        place: if arguments.kubeconfig.is_some() { "cluster" } else { "files" }.to_owned(),
        description,
        expression: arguments.clause.iter().map(|id| format!("clause={id}")).collect(),
        waivers,
        shard: arguments.shard,
        broken: Vec::new(),
        interrupted: interrupt.raised(),
    };
    let report = checker.report(about);
    session::write(&report, &arguments.report)?;
    session::show(&report, &arguments.report, arguments.output, terminal);
    Ok(report.exit_code())
}

/// The clauses about what Gardener emits, as far as they are selected, and what of the objects they speak of.
fn wanted(
    mut contracts: Vec<Contract>,
    arguments: &CheckObjectsArguments,
) -> Result<(Vec<Contract>, Wanted), Failure> {
    let cases: Vec<(&str, &str)> = arguments.case.iter().filter_map(|case| case.split_once('/')).collect();
    let ids: BTreeSet<&str> =
        arguments.clause.iter().map(String::as_str).chain(cases.iter().map(|(id, _)| *id)).collect();
    let known =
        |id: &&str| contracts.iter().flat_map(|contract| &contract.clauses).any(|clause| clause.id == **id);
    if let Some(id) = ids.iter().find(|id| !known(id)) {
        let text = format!(
            "{id} is no clause about what Gardener emits; `list --label component=controlplane` names them"
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
    Ok((contracts, Wanted { namespaces, kinds, shard: arguments.shard }))
}

fn waivers(arguments: &CheckObjectsArguments) -> Result<Vec<Waiver>, Failure> {
    arguments.waivers.as_deref().map_or_else(|| Ok(Vec::new()), options::read_waivers)
}

/// The command that repeats it, but for the clause.
fn again(arguments: &CheckObjectsArguments, added: Option<&Path>) -> String {
    let mut again = Again::new("check objects", added)
        .path("--kubeconfig", arguments.kubeconfig.as_deref())
        .flag("--no-webhooks", arguments.no_webhooks)
        .flag("--strict", arguments.strict)
        .path("--waivers", arguments.waivers.as_deref());
    for file in &arguments.file {
        again = again.path("-f", Some(file));
    }
    again.unless("--gardener", arguments.gardener.as_deref().unwrap_or_default(), "").line()
}
