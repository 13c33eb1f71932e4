//! One run, from the selected contracts to the written reports.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use conformance::render;
use conformance::report::{self, FolderError, Report};
use conformance::run::{self, FactsFrom, Interrupt, Judged, Options, Substrate};
use conformance::select::Selection;
use conformance::shard::ShardInfo;
use conformance::target::Target;
use contract::model::Contract;

use crate::arguments::{Execution, Format};
use crate::catalog::{Batching, Selected};
use crate::commands::write;
use crate::progress::Progress;
use crate::terminal::{Failure, Terminal};
use crate::{options, signals};

/// The default seed of shards, so that all shards have the same one.
const SEED_OF_SHARDS: u64 = 1;

/// What the user requested, besides the contracts and the target.
pub(crate) struct RunRequest<'a> {
    /// How cases run, and what is printed.
    pub(crate) execution: &'a Execution,
    /// Which cases run.
    pub(crate) selection: &'a Selection,
    /// The command line that repeats the run, without the flags that select cases.
    pub(crate) command: &'a str,
    /// The name of the substrate.
    pub(crate) substrate: &'a str,
    /// Which shard of a run this is.
    pub(crate) shard: Option<ShardInfo>,
    /// Whether the report lists every falsified answer that a clause noticed.
    pub(crate) keeps_damages: bool,
}

/// Runs the contracts on the target, writes the reports, and returns the report, also if it could not be written.
pub(crate) fn run(
    (selected, batching): (&Selected, Batching),
    target: Arc<dyn Target>,
    substrate: impl Future<Output = Result<Substrate, Failure>>,
    request: &RunRequest<'_>,
    terminal: &Terminal,
) -> Result<Report, Failure> {
    check_folder("--report", &request.execution.report)?;
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let result = runtime.block_on(run_cases((selected, batching), target, substrate, request, terminal))?;
    std::thread::scope(|scope| {
        let mut report = match result {
            RunResult::Judged(judged, options) => {
                // Stop what was started for the run while clauses are proven and renderings are written.
                scope.spawn(move || drop(options));
                judged.proven()
            }
            RunResult::NotStarted(report) => *report,
        };
        if !request.keeps_damages {
            report.forget_damages();
        }
        report.selection.shard.clone_from(&request.shard);
        terminal.lose_if_failed(write_report(&report, &request.execution.report));
        Ok(report)
    })
}

/// The result of a run, before clauses are proven.
enum RunResult {
    /// The cases ran. Dropping the options stops the substrate.
    Judged(Box<Judged>, Box<Options>),
    /// The substrate did not start; the report contains the reason.
    NotStarted(Box<Report>),
}

async fn run_cases(
    (selected, batching): (&Selected, Batching),
    target: Arc<dyn Target>,
    substrate: impl Future<Output = Result<Substrate, Failure>>,
    request: &RunRequest<'_>,
    terminal: &Terminal,
) -> Result<RunResult, Failure> {
    let interrupt = Interrupt::default();
    let substrate = tokio::select! {
        substrate = substrate => substrate,
        signal = signals::interrupt_or_terminate() => {
            interrupt.raise(signal);
            Err(Failure::interrupted(signal))
        }
    };
    match substrate {
        Ok(substrate) => {
            let options = options(substrate, request)?;
            let logs = request.execution.report.join("cluster");
            let batches = selected.batches(batching, options.seed);
            let judged = run_with_progress(batches, target, &options, &interrupt, (terminal, &logs)).await;
            Ok(RunResult::Judged(Box::new(judged), Box::new(options)))
        }
        Err(failure) if failure.code == 2 => Err(failure),
        // Write a report although no case ran: a reader must not take the report of an older run for this one's.
        Err(failure) => {
            terminal.note(&failure.text);
            let options = options(Substrate::Direct(FactsFrom::Nowhere), request)?;
            let why = (request.substrate, &*failure.text);
            let batches = selected.batches(batching, options.seed);
            Ok(RunResult::NotStarted(Box::new(run::unstarted(batches, &target, &options, why, &interrupt))))
        }
    }
}

fn options(substrate: Substrate, request: &RunRequest<'_>) -> Result<Options, Failure> {
    let RunRequest { execution, selection, command, .. } = *request;
    let mut options = options::options(execution, selection, substrate, command.to_owned())?;
    if request.shard.is_some() {
        // All shards run cases in the order of a run without shards.
        options.seed = execution.seed.unwrap_or(SEED_OF_SHARDS);
    }
    Ok(options)
}

/// Prints the report of a run in the format of `--output`.
pub(crate) fn print_run(report: &Report, execution: &Execution, terminal: &Terminal) {
    print_report(report, &execution.report, execution.output, terminal);
}

/// Prints a report that [`write_report`] wrote to `folder`.
pub(crate) fn print_report(report: &Report, folder: &Path, output: Format, terminal: &Terminal) {
    let page = folder.join("report.html").display().to_string();
    let text = match output {
        Format::Json => render::json(report),
        Format::Markdown => render::markdown(report),
        Format::Text => render::text(report, &terminal.view(Some(&page))),
    };
    terminal.print(&text);
}

/// The substrate `direct` with facts in an API server of this process.
pub(crate) fn direct_with_embedded_facts() -> Substrate {
    Substrate::Direct(FactsFrom::Embedded)
}

/// Runs the cases, shows progress, and stops at a signal.
async fn run_with_progress(
    batches: impl Iterator<Item = (usize, Result<Vec<Contract>, String>)> + Send,
    target: Arc<dyn Target>,
    options: &Options,
    interrupt: &Interrupt,
    (terminal, logs): (&Terminal, &Path),
) -> Judged {
    let raised = interrupt.clone();
    let listener = tokio::spawn(async move { raised.raise(signals::interrupt_or_terminate().await) });
    let progress = Progress::new(terminal);
    let judged = run::judged(batches, target, options, &|event| progress.show(&event), interrupt).await;
    progress.finish();
    listener.abort();
    if let Substrate::Whole(whole) = &options.substrate
        && judged.is_failed()
    {
        for missing in whole.guard.collect(logs).await {
            terminal.lose(missing);
        }
        terminal.note(&format!("objects, events and logs of the cluster are in {}", logs.display()));
    }
    judged
}

/// Refuses a folder of this flag to which nothing can be written, before anything is found that would be lost.
pub(crate) fn check_folder(flag: &str, folder: &Path) -> Result<(), Failure> {
    let checked = report::check_folder(folder);
    checked.map_err(|error| {
        let is_environment = match &error {
            FolderError::NoFolder { .. } => false,
            FolderError::Create { source, .. } | FolderError::Write { source, .. } => {
                write::is_environment(source)
            }
        };
        Failure { code: if is_environment { 3 } else { 2 }, text: format!("{flag}: {error}") }
    })
}

/// Writes the report and its renderings to a folder.
pub(crate) fn write_report(report: &Report, folder: &Path) -> Result<(), Failure> {
    let failure =
        |error: &dyn std::fmt::Display| Failure::environment(format!("failed to write the report: {error}"));
    // Write the report first: a rendering that fails must not leave the report of an older run.
    report::write(folder, "report.json", &render::json(report)).map_err(|error| failure(&error))?;
    let renderings = [
        ("report.md", Ok(render::markdown(report))),
        ("junit.xml", render::junit(report).map_err(|error| failure(&error))),
        ("report.html", render::html(report).map_err(|error| failure(&error))),
        ("report.sarif", Ok(render::sarif(report))),
        ("badge.svg", Ok(render::badge(report))),
    ];
    let mut failed = None;
    for (name, content) in renderings {
        let written = content.and_then(|content| {
            report::write(folder, name, &content).map(|_| ()).map_err(|error| failure(&error))
        });
        if let Err(error) = written {
            // Remove the rendering of an older run, if there is one: a reader would take it for this run's.
            let _ = std::fs::remove_file(folder.join(name));
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(()), Err)
}
