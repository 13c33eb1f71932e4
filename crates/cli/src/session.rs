//! One run from the selected contracts to written reports: progress, signals, renderings, exit code.

use std::future::Future;
use std::path::Path;

use conformance::render;
use conformance::report::{self, Report};
use conformance::run::{self, FactsFrom, Ground, Interrupt, Options};
use conformance::select::{self, Selection};
use conformance::target::Target;
use contract::load::Loaded;
use contract::model::Contract;

use crate::arguments::{Execution, Format};
use crate::options;
use crate::progress::Progress;
use crate::signals;
use crate::terminal::{Failure, Terminal};

/// The contracts that are wanted, out of all.
pub(crate) fn selected(loaded: &Loaded, selection: &Selection) -> Result<Vec<Contract>, Failure> {
    let suites = select::embedded_suites().map_err(Failure::diagnostic)?;
    let chosen = select::select(&loaded.catalog, &suites, selection);
    chosen.map_err(|error| Failure { code: error.exit_code(), text: error.to_string() })
}

/// Runs the contracts on the target, writes the reports, and gives the report.
pub(crate) fn run(
    contracts: &[Contract],
    target: &dyn Target,
    ground: impl Future<Output = Result<Ground, Failure>>,
    (execution, selection, command): (&Execution, &Selection, &str),
    terminal: &Terminal,
) -> Result<Report, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let report = runtime.block_on(async {
        let ground = tokio::select! {
            ground = ground => ground?,
            signal = signals::either() => return Err(Failure::interrupted(signal)),
        };
        let options = options::options(execution, selection, ground, command.to_owned())?;
        Ok::<_, Failure>(watched(contracts, target, &options, terminal).await)
    })?;
    write(&report, &execution.report)?;
    Ok(report)
}

/// Prints the report in the wanted format.
pub(crate) fn print(report: &Report, execution: &Execution, terminal: &Terminal) {
    let page = execution.report.join("report.html").display().to_string();
    let text = match execution.output {
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
    contracts: &[Contract],
    target: &dyn Target,
    options: &Options,
    terminal: &Terminal,
) -> Report {
    let interrupt = Interrupt::default();
    let heard = interrupt.clone();
    let listener = tokio::spawn(async move { heard.raise(signals::either().await) });
    let progress = Progress::new(terminal);
    let report = run::run(contracts, target, options, &|event| progress.show(&event), &interrupt).await;
    progress.finish();
    listener.abort();
    report
}

fn write(report: &Report, folder: &Path) -> Result<(), Failure> {
    let broken =
        |error: &dyn std::fmt::Display| Failure::environment(format!("failed to write the report: {error}"));
    let html = render::html(report).map_err(|error| broken(&error))?;
    let junit = render::junit(report).map_err(|error| broken(&error))?;
    let files = [
        ("report.json", render::json(report)),
        ("report.html", html),
        ("junit.xml", junit),
        ("report.md", render::markdown(report)),
    ];
    for (name, content) in &files {
        report::write(folder, name, content).map_err(|error| broken(&error))?;
    }
    Ok(())
}
