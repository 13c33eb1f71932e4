//! One module per command, or per group of commands; each returns the exit code or a failure.

mod check;
mod compare;
mod coverage;
mod diff_run;
mod env;
mod envtest_assets;
mod explore;
mod fidelity;
mod garden_objects;
mod gate;
mod init;
mod layout;
mod lint;
mod new;
mod record;
mod render;
mod replay;
mod report;
mod run;
mod schedule;
mod schema;
mod show;
mod verify;
mod versions;
mod watch;
pub(crate) mod write;

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub(crate) use envtest_assets::run_as_asset;

use crate::arguments::{Arguments, Command};
use crate::catalog;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal, Verbosity};

/// Reads the command line, and executes it.
pub(crate) fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return print_usage(&error),
    };
    let terminal = Terminal::new(&arguments.output);
    let ending = execute(arguments, &terminal).unwrap_or_else(|failure| terminal.report_failure(&failure));
    terminal.end(&ending)
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
        _ if error.use_stderr() => {
            let mut err = std::io::stderr().lock();
            let _ = writeln!(err, "exit 2: the command line is wrong");
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// The folder of contracts that the user works in, if the command reads contracts and the folder has other ones than the
/// program; prints which it is.
fn working_folder(command: &Command, terminal: &Terminal) -> Option<PathBuf> {
    let start = match command {
        Command::Lint(arguments) => arguments.files.first().map_or(Path::new("."), PathBuf::as_path),
        Command::Run(_)
        | Command::Prove(_)
        | Command::Verify(_)
        | Command::Attest(_)
        | Command::Check(_)
        | Command::List(_)
        | Command::Explain(_)
        | Command::Coverage(_)
        | Command::DiffRun(_)
        | Command::Explore(_) => Path::new("."),
        _ => return None,
    };
    let folder = catalog::working_folder::above(start)?;
    let differing = catalog::working_folder::differing(&folder);
    // Its files replace the program's, so that a file that is named by another path is not there twice.
    let is_named = matches!(command, Command::Lint(arguments)
        if arguments.files.iter().any(|file| catalog::working_folder::contains(&folder, file)));
    let files =
        if differing == 1 { "1 file differs".to_owned() } else { format!("{differing} files differ") };
    if differing > 0 && terminal.verbosity != Verbosity::Quiet {
        let text = format!("contracts of {} ({files} from those of the program)", folder.display());
        terminal.note(&terminal.wrap(&text, "  "));
    }
    (differing > 0 || is_named).then_some(folder)
}

/// Executes the command.
fn execute(arguments: Arguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let given = arguments.output.contracts.as_deref();
    let found = given.map_or_else(|| working_folder(&arguments.command, terminal), |_| None);
    let added = given.or(found.as_deref());
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments, added, terminal),
        Command::Prove(arguments) => run::prove(&arguments, added, terminal),
        Command::Verify(arguments) => verify::verify(&arguments, added, terminal),
        Command::Watch(arguments) => watch::watch(&arguments, given, terminal),
        Command::Attest(arguments) => verify::attest(&arguments, added, terminal),
        Command::Init(command) => init::execute(&command, terminal),
        Command::Check(command) => check::execute(&command, added, terminal),
        Command::List(arguments) => show::list(&arguments, added, terminal),
        Command::Explain(arguments) => show::explain(&arguments, added, terminal),
        Command::Lint(arguments) => lint::lint(&arguments, added, terminal),
        Command::Fmt(arguments) => write::fmt(&arguments, terminal),
        Command::Schema(arguments) => schema::schema(&arguments, terminal),
        Command::New(arguments) => new::new(&arguments.what, added, terminal),
        Command::Coverage(arguments) => coverage::coverage(&arguments, added, terminal),
        Command::Compare(arguments) => compare::compare(&arguments, terminal),
        Command::Gate(arguments) => gate::gate(&arguments, added, terminal),
        Command::Render(arguments) => render::render(&arguments, terminal),
        Command::Report(command) => report::execute(&command, terminal),
        Command::DiffRun(arguments) => diff_run::diff_run(&arguments, added, terminal),
        Command::Explore(arguments) => explore::explore(&arguments, added, terminal),
        Command::Fidelity(arguments) => fidelity::fidelity(&arguments, terminal),
        Command::Record(arguments) => record::record(&arguments, terminal),
        Command::Replay(arguments) => replay::replay(&arguments, given, terminal),
        Command::Schedule(command) => schedule::execute(&command, terminal),
        Command::Versions(command) => versions::execute(&command, terminal),
        Command::Env(command) => env::execute(command, terminal),
        Command::EnvtestAssets(arguments) => envtest_assets::execute(&arguments, terminal),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "gardener-conformance", &mut script);
            terminal.print(&String::from_utf8_lossy(&script));
            Ok(Ending::done())
        }
        Command::Man => {
            let mut page = Vec::new();
            let written = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            written
                .map_err(|error| Failure::environment(format!("failed to write the man page: {error}")))?;
            terminal.print(&String::from_utf8_lossy(&page));
            Ok(Ending::done())
        }
    }
}
