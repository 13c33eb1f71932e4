//! One run from the selected contracts to written reports: progress, signals, renderings, exit code.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use conformance::render;
use conformance::report::{self, Report};
use conformance::run::{self, FactsFrom, Ground, Interrupt, Judged, Options};
use conformance::select::Selection;
use conformance::shard::ShardInfo;
use conformance::target::Target;
use contract::model::Contract;

use crate::arguments::{Execution, Format};
use crate::catalog::{Selected, Together};
use crate::progress::Progress;
use crate::terminal::{Failure, Terminal};
use crate::{options, signals};

/// The seed of shards if nothing is said.
const SEED_OF_SHARDS: u64 = 1;

/// What was asked for beside the contracts and the target.
pub(crate) struct Wish<'a> {
    /// How cases run and what is printed.
    pub(crate) execution: &'a Execution,
    /// Which cases.
    pub(crate) selection: &'a Selection,
    /// The command that repeats the run, but for what selects.
    pub(crate) command: &'a str,
    /// Where cases run, in a word.
    pub(crate) substrate: &'a str,
    /// Which part of the run it is.
    pub(crate) shard: Option<ShardInfo>,
    /// Whether the report lists every damage that a clause was shown to catch.
    pub(crate) keeps_damages: bool,
}

/// Runs the contracts on the target, writes the reports, and gives the report.
pub(crate) fn run(
    (selected, together): (&Selected, Together),
    target: Arc<dyn Target>,
    ground: impl Future<Output = Result<Ground, Failure>>,
    wish: &Wish<'_>,
    terminal: &Terminal,
) -> Result<Report, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let found = runtime.block_on(found((selected, together), target, ground, wish, terminal))?;
    std::thread::scope(|scope| {
        let mut report = match found {
            Found::Judged(judged, options) => {
                // What was started for the run goes while proofs are made and renderings are written.
                scope.spawn(move || drop(options));
                judged.proven()
            }
            Found::Nothing(report) => *report,
        };
        if !wish.keeps_damages {
            report.forget_damages();
        }
        report.selection.shard.clone_from(&wish.shard);
        write(&report, &wish.execution.report)?;
        Ok(report)
    })
}

/// What came of a run, before proofs.
enum Found {
    /// With the options, which hold the place where it ran.
    Judged(Box<Judged>, Box<Options>),
    /// There was no place to run.
    Nothing(Box<Report>),
}

async fn found(
    (selected, together): (&Selected, Together),
    target: Arc<dyn Target>,
    ground: impl Future<Output = Result<Ground, Failure>>,
    wish: &Wish<'_>,
    terminal: &Terminal,
) -> Result<Found, Failure> {
    let interrupt = Interrupt::default();
    let ground = tokio::select! {
        ground = ground => ground,
        signal = signals::either() => {
            interrupt.raise(signal);
            Err(Failure::interrupted(signal))
        }
    };
    match ground {
        Ok(ground) => {
            let options = options(ground, wish)?;
            let logs = wish.execution.report.join("cluster");
            let parts = selected.parts(together, options.seed);
            let judged = watched(parts, target, &options, &interrupt, (terminal, &logs)).await;
            Ok(Found::Judged(Box::new(judged), Box::new(options)))
        }
        Err(failure) if failure.code == 2 => Err(failure),
        // Nothing was asked, and the report says so: whoever reads the last one must not take an older one for it.
        Err(failure) => {
            terminal.note(&failure.text);
            let options = options(Ground::Direct(FactsFrom::Nowhere), wish)?;
            let why = (wish.substrate, &*failure.text);
            let parts = selected.parts(together, options.seed);
            Ok(Found::Nothing(Box::new(run::unstarted(parts, &target, &options, why, &interrupt))))
        }
    }
}

fn options(ground: Ground, wish: &Wish<'_>) -> Result<Options, Failure> {
    let Wish { execution, selection, command, .. } = *wish;
    let mut options = options::options(execution, selection, ground, command.to_owned())?;
    if wish.shard.is_some() {
        // All shards run in the order that one run would have.
        options.seed = execution.seed.unwrap_or(SEED_OF_SHARDS);
    }
    Ok(options)
}

/// Prints the report in the wanted format.
pub(crate) fn print(report: &Report, execution: &Execution, terminal: &Terminal) {
    show(report, &execution.report, execution.output, terminal);
}

/// Prints a report whose renderings lie in a folder.
pub(crate) fn show(report: &Report, folder: &Path, output: Format, terminal: &Terminal) {
    let page = folder.join("report.html").display().to_string();
    let text = match output {
        Format::Json => render::json(report),
        Format::Markdown => render::markdown(report),
        Format::Text => render::text(report, &terminal.view(Some(&page))),
    };
    terminal.print(&text);
}

/// Where an API server of this process holds the facts.
pub(crate) fn direct() -> Ground {
    Ground::Direct(FactsFrom::Embedded)
}

async fn watched(
    parts: impl Iterator<Item = (usize, Result<Vec<Contract>, String>)> + Send,
    target: Arc<dyn Target>,
    options: &Options,
    interrupt: &Interrupt,
    (terminal, logs): (&Terminal, &Path),
) -> Judged {
    let heard = interrupt.clone();
    let listener = tokio::spawn(async move { heard.raise(signals::either().await) });
    let progress = Progress::new(terminal);
    let judged = run::judged(parts, target, options, &|event| progress.show(&event), interrupt).await;
    progress.finish();
    listener.abort();
    if let Ground::Whole(whole) = &options.ground
        && judged.is_failed()
    {
        whole.guard.collect(logs).await;
        terminal.note(&format!("objects, events and logs of the cluster are in {}", logs.display()));
    }
    judged
}

/// Writes the report and its renderings into a folder.
pub(crate) fn write(report: &Report, folder: &Path) -> Result<(), Failure> {
    let broken =
        |error: &dyn std::fmt::Display| Failure::environment(format!("failed to write the report: {error}"));
    // First what counts: a rendering that fails must not leave the report of an older run.
    report::write(folder, "report.json", &render::json(report)).map_err(|error| broken(&error))?;
    let renderings = [
        ("report.md", Ok(render::markdown(report))),
        ("junit.xml", render::junit(report).map_err(|error| broken(&error))),
        ("report.html", render::html(report).map_err(|error| broken(&error))),
        ("report.sarif", Ok(render::sarif(report))),
        ("badge.svg", Ok(render::badge(report))),
    ];
    let mut failed = None;
    for (name, content) in renderings {
        let written = content.and_then(|content| {
            report::write(folder, name, &content).map(|_| ()).map_err(|error| broken(&error))
        });
        if let Err(error) = written {
            // One of an older run would be taken for this one's; that there is none is fine.
            let _ = std::fs::remove_file(folder.join(name));
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(()), Err)
}
