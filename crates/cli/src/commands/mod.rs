//! One module per command, or per group of commands; each returns the exit code or a failure.

mod check;
mod compare;
mod coverage;
mod diff_run;
mod env;
mod envtest_assets;
mod fidelity;
mod gate;
mod init;
mod lint;
mod record;
mod render;
mod replay;
mod report;
mod run;
mod show;
mod verify;
mod versions;
pub(crate) mod write;

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub(crate) use envtest_assets::run_as_asset;

use crate::arguments::{Arguments, Command};
use crate::terminal::{Failure, Terminal};

/// Reads the command line, and executes it.
pub(crate) fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return print_usage(&error),
    };
    let terminal = Terminal::new(&arguments.output);
    let code = execute(arguments, &terminal).unwrap_or_else(|failure| terminal.report_failure(&failure));
    terminal.exit_code(code)
}

/// Prints what is wrong with the command line, or the help or the version that it requests.
fn print_usage(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe && !error.use_stderr() => {
            let mut err = std::io::stderr().lock();
            // If standard error is closed, there is no place to report it.
            let _ = writeln!(err, "! failed to write to standard output: {cause}");
            ExitCode::from(3)
        }
        _ => u8::try_from(error.exit_code()).map_or(ExitCode::from(2), ExitCode::from),
    }
}

/// Executes the command.
fn execute(arguments: Arguments, terminal: &Terminal) -> Result<u8, Failure> {
    let added = arguments.output.contracts.as_deref();
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments, added, terminal),
        Command::Prove(arguments) => run::prove(&arguments, added, terminal),
        Command::Verify(arguments) => verify::verify(&arguments, added, terminal),
        Command::Attest(arguments) => verify::attest(&arguments, added, terminal),
        Command::Init(command) => init::execute(&command, terminal),
        Command::Check(command) => check::execute(&command, added, terminal),
        Command::List(arguments) => show::list(&arguments, added, terminal),
        Command::Explain(arguments) => show::explain(&arguments, added, terminal),
        Command::Lint(arguments) => lint::lint(&arguments, added, terminal),
        Command::Fmt(arguments) => write::fmt(&arguments, terminal),
        Command::Schema(arguments) => write::schema(&arguments, terminal),
        Command::New(arguments) => write::new(&arguments.what, terminal),
        Command::Coverage(arguments) => coverage::coverage(&arguments, added, terminal),
        Command::Compare(arguments) => compare::compare(&arguments, terminal),
        Command::Gate(arguments) => gate::gate(&arguments, added, terminal),
        Command::Render(arguments) => render::render(&arguments, terminal),
        Command::Report(command) => report::execute(&command, terminal),
        Command::DiffRun(arguments) => diff_run::diff_run(&arguments, added, terminal),
        Command::Fidelity(arguments) => fidelity::fidelity(&arguments, terminal),
        Command::Record(arguments) => record::record(&arguments, terminal),
        Command::Replay(arguments) => replay::replay(&arguments, added, terminal),
        Command::Versions(command) => versions::execute(&command, terminal),
        Command::Env(command) => env::execute(command, terminal),
        Command::EnvtestAssets(arguments) => envtest_assets::execute(&arguments, terminal),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "gardener-conformance", &mut script);
            terminal.print(&String::from_utf8_lossy(&script));
            Ok(0)
        }
        Command::Man => {
            let mut page = Vec::new();
            let written = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            written
                .map_err(|error| Failure::environment(format!("failed to write the man page: {error}")))?;
            terminal.print(&String::from_utf8_lossy(&page));
            Ok(0)
        }
    }
}
