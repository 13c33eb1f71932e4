//! `explore`: runs scenarios again, each time with one perturbation of what the target did and saw, or with two.

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use conformance::explore::{self, ExploreOptions, Outcome};
use conformance::render;
use conformance::report::{self, ExitReason};
use conformance::run::Interrupt;
use conformance::target::Target;
use contract::model::{Contract, Form};

use crate::arguments::{BUILT_IN, DEFAULT_TIME_BUDGET, ExploreArguments, Format, RunningTargetArguments};
use crate::catalog::Selected;
use crate::ending::Ending;
use crate::options::repeat_command::RepeatCommand;
use crate::progress::Progress;
use crate::targets::{self, Requested, TargetScope};
use crate::terminal::{Failure, Terminal};
use crate::{components, options, session, signals};

/// Explores the selected scenarios and prints what was found.
pub(crate) fn explore(
    arguments: &ExploreArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let options = explore_options(arguments, added)?;
    if let Some(folder) = &arguments.report {
        session::check_folder("--report", folder)?;
    }
    if !targets::is_started(&arguments.target)? {
        let text = "explore starts its target with API servers of its own: use built-in, command=…, image=… or a target file \
        with one of the two";
        return Err(Failure::usage(text));
    }
    check_components(&arguments.component, added)?;
    targets::check_file(&arguments.target, added)?;
    let (contracts, target) = scenarios(arguments, added, terminal)?;
    let outcome = run(contracts, &target, &options, terminal)?;
    let json = format!("{:#}", serde_json::json!(outcome));
    terminal.print(&match arguments.output {
        Format::Json => json.clone(),
        Format::Text | Format::Markdown => render::explore(&outcome, &terminal.view(None)),
    });
    if let Some(folder) = &arguments.report {
        write_report(folder, &outcome, &json, terminal);
    }
    let ExitReason { code, cause } = outcome.exit_reason();
    Ok(Ending::new(code, cause).beside(arguments.output))
}

/// Writes the result and its page to a folder. What was found is also printed, so that a failure loses nothing else.
fn write_report(folder: &Path, outcome: &Outcome, json: &str, terminal: &Terminal) {
    let page = render::explore_html(outcome).map_err(|error| error.to_string());
    for (name, content) in [("explore.json", Ok(json.to_owned())), ("explore.html", page)] {
        let written = content.and_then(|content| {
            report::write(folder, name, &content).map(drop).map_err(|error| error.to_string())
        });
        if let Err(error) = written {
            terminal.lose(error);
        }
    }
}

fn explore_options(arguments: &ExploreArguments, added: Option<&Path>) -> Result<ExploreOptions, Failure> {
    let budget = arguments.budget.as_deref().map(|text| options::duration("--budget", text)).transpose()?;
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let parallel = arguments.parallel.unwrap_or_else(|| u16::try_from(cores()).unwrap_or(u16::MAX));
    let command = RepeatCommand::new("explore", added)
        .unless_default("--target", &arguments.target, BUILT_IN)
        .path("--config", arguments.config.as_deref())
        .unless_default("--time-budget", &arguments.time_budget, DEFAULT_TIME_BUDGET);
    Ok(ExploreOptions {
        depth: arguments.depth,
        seed: arguments.seed,
        budget,
        parallel,
        time_budget: options::duration("--time-budget", &arguments.time_budget)?,
        perturbation: arguments.perturbation,
        command: command.into_string(),
    })
}

/// Refuses an unknown component. Contracts of a folder may be about any.
fn check_components(named: &[String], added: Option<&Path>) -> Result<(), Failure> {
    if added.is_some() {
        return Ok(());
    }
    named.iter().try_for_each(|name| components::find(name).map(drop))
}

/// The selected contracts about controllers, and the target.
fn scenarios(
    arguments: &ExploreArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<(Vec<Contract>, Arc<dyn Target>), Failure> {
    let running =
        RunningTargetArguments { config: arguments.config.clone(), ..RunningTargetArguments::default() };
    let mut selection = arguments.selection.clone().into();
    let scope = TargetScope::of(&arguments.target, &running, &selection)?;
    scope.complete(&mut selection);
    let mut selected = Selected::of(added, &selection, false, false)?;
    selected.check()?;
    let named = &arguments.component;
    selected.retain(|contract| {
        contract.form == Form::Scenario && (named.is_empty() || named.contains(&contract.component))
    });
    let requested = Requested { added, ..Requested::default() };
    let target = targets::resolve(&arguments.target, selected.components(), &running, requested)?;
    selected.retain(|contract| target.supports(&contract.component, contract.form));
    // Who names a component knows what the target has.
    let left_out = if named.is_empty() { scope.restrict(&mut selected) } else { Vec::new() };
    if selected.is_empty() {
        let of = named.iter().map(|name| format!(" of {name}")).collect::<Vec<_>>().join(" or");
        let text = format!("no contract about a controller{of} is selected by {}", selection.words());
        let text: Vec<String> = std::iter::once(text).chain(left_out).collect();
        return Err(Failure { code: 4, text: text.join("\n") });
    }
    for sentence in left_out {
        terminal.note(&terminal.wrap(&sentence, "  "));
    }
    Ok((selected.expand_all().collect::<Result<_, _>>()?, target))
}

/// Explores, shows progress, and stops at a signal.
fn run(
    contracts: Vec<Contract>,
    target: &Arc<dyn Target>,
    options: &ExploreOptions,
    terminal: &Terminal,
) -> Result<Outcome, Failure> {
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let (interrupt, progress) = (Interrupt::default(), Progress::new(terminal));
    let raised = interrupt.clone();
    let listener = runtime.spawn(async move { raised.raise(signals::interrupt_or_terminate().await) });
    let outcome = explore::run(contracts, target, options, &|event| progress.show(&event), &interrupt);
    progress.finish();
    listener.abort();
    Ok(outcome)
}
