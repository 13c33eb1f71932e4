//! What may be typed on the command line; data only, documented for `--help`, completions and the man page.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use conformance::shard::Shard;

mod check;
mod environment;
mod fidelity;
mod gate;
mod init;
mod named;
mod record;
mod release;
mod render;
mod report;
mod selection;
mod versions;

pub(crate) use check::{CheckCommand, CheckObjectsArguments};
pub(crate) use environment::{CrdsFrom, EnvCommand, EnvUpArguments, KindArguments, KindRunArguments};
pub(crate) use fidelity::FidelityArguments;
pub(crate) use gate::GateArguments;
pub(crate) use init::{InitCommand, InitProviderArguments};
pub(crate) use named::{
    AttestArguments, DiffRunArguments, RunningArguments, TrustArguments, VerifyArguments,
};
pub(crate) use record::{RecordArguments, ReplayArguments};
pub(crate) use render::{RenderArguments, Rendering};
pub(crate) use report::{MergeArguments, ReportCommand};
pub(crate) use selection::Selection;
pub(crate) use versions::{
    ExplainVersionsArguments, GardenArguments, LintVersionsArguments, SimulateArguments, VersionsCommand,
};

/// How long a failing case is asked again if nothing is said.
pub(crate) const SETTLE: &str = "2s";
/// How long a scenario may wait if nothing is said.
pub(crate) const TIME_BUDGET: &str = "30s";

/// Our own component, as a target.
pub(crate) const BUILT_IN: &str = "built-in";

/// Verifies that Gardener components keep their contracts.
///
/// Exit codes: 0 the gate holds · 1 a clause failed · 2 usage or contract error · 3 environment error, says
/// nothing about the target · 4 incomplete, or nothing selected · 5 regression · 6 proof or coverage missed ·
/// 7 waiver expired · 130, 143 interrupted, the report is still written.
#[derive(Debug, Parser)]
#[command(name = "gardener-conformance", version, max_term_width = 110, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How much is said, and how.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// When colours are used; `NO_COLOR` is respected
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
    /// Prints the verdict only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Names every case
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Adds or overrides contracts, fixtures and suites: a folder laid out as the project's `contracts`
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) contracts: Option<PathBuf>,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Verifies our own components (or a target file's) on a substrate
    Run(RunArguments),
    /// Verifies a webhook at a URL or behind a binary; no cluster needed
    Verify(VerifyArguments),
    /// Finds out about a webhook and writes a target file
    #[command(subcommand)]
    Init(InitCommand),
    /// Holds objects against contracts; nothing is asked
    #[command(subcommand)]
    Check(CheckCommand),
    /// Lists contracts and clauses (with -v: cases)
    List(ListArguments),
    /// Tells a clause: sentence, source, cases, proof, who keeps it
    Explain(ExplainArguments),
    /// Checks contracts, fixtures, ledgers, suites, waivers and target files
    Lint(LintArguments),
    /// Aligns the tables of contract files
    Fmt(FmtArguments),
    /// Prints a JSON Schema for editors
    Schema(SchemaArguments),
    /// Shows, damage by damage, that clauses can fail
    Prove(RunArguments),
    /// Counts clauses with cases, passing, proven and attested; runs nothing
    Coverage(CoverageArguments),
    /// Holds two reports against each other in the cases that both have; exit code 5 if they differ, 4 if none is in both
    Compare(CompareArguments),
    /// Says whether a report is good enough: policy, baseline, waivers
    Gate(GateArguments),
    /// Shows a report in another form: HTML, Markdown, JUnit, SARIF, a badge
    Render(RenderArguments),
    /// Puts reports together
    #[command(subcommand)]
    Report(ReportCommand),
    /// Gives two targets the same generated inputs; exit code 5 if they differ where nothing explains it
    DiffRun(DiffRunArguments),
    /// Sends the same requests to a real kube-apiserver and to the embedded API server; exit code 5 if answers differ
    Fidelity(FidelityArguments),
    /// Runs contracts on a foreign implementation and records which clauses it keeps
    Attest(AttestArguments),
    /// Records what a live cluster asks a webhook, as cases without secrets
    Record(RecordArguments),
    /// Asks a webhook again what was recorded; no cluster needed
    Replay(ReplayArguments),
    /// Scaffolds a contract
    New(NewArguments),
    /// For release managers: what CloudProfiles offer, and where shoots are moved
    #[command(subcommand)]
    Versions(VersionsCommand),
    /// Starts, stops or checks a place where cases run
    #[command(subcommand)]
    Env(EnvCommand),
    /// Writes the programs with which Go's envtest runs on the embedded API server, and prints their folder: set
    /// KUBEBUILDER_ASSETS to it
    EnvtestAssets(EnvtestAssetsArguments),
    /// Prints a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the man page
    Man,
}

/// How cases run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct Execution {
    /// Orders cases; a run with the same seed runs in the same order
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Groups of cases that run side by side, of as many contracts as there are cores
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: u16,
    /// Runs each case so many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) repeat: u16,
    /// Stops at the first failed case; the others are reported as not run
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// How long a failing case with facts is asked again
    #[arg(long, value_name = "DURATION", default_value = SETTLE)]
    pub(crate) settle: String,
    /// How long a step of a scenario may wait for real time to pass: for targets outside this process, and on envtest
    #[arg(long, value_name = "DURATION", default_value = TIME_BUDGET)]
    pub(crate) time_budget: String,
    /// The release of Gardener that a provider's webhooks are asked for, such as v1.98.0 [default: what the target file says,
    /// else v1.82.0; of our own, each clause's]
    #[arg(long, value_name = "VERSION", value_parser = release::release)]
    pub(crate) gardener: Option<String>,
    /// Takes clauses to the letter, also where Gardener itself does not keep them so
    #[arg(long)]
    pub(crate) strict: bool,
    /// Waivers to apply
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// Where reports are written
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// What is printed: text, json or markdown
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

/// What is printed at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// The report itself
    Json,
    /// For a pull request
    Markdown,
}

/// Where cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubstrateName {
    /// The in-process API server
    Embedded,
    /// AdmissionReviews straight to the webhook
    Direct,
    /// A real kube-apiserver and etcd on loopback
    Envtest,
    /// A whole cluster in containers
    Kind,
}

impl SubstrateName {
    /// As it is typed, and as reports name it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Direct => "direct",
            Self::Envtest => "envtest",
            Self::Kind => "kind",
        }
    }
}

/// What the substrate envtest is made of.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Envtest")]
pub(crate) struct EnvtestArguments {
    /// What runs beside kube-apiserver and etcd
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) with: Vec<Addition>,
    /// Where the data folder is made, and removed at the end [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// A program that a control plane may have or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Addition {
    /// kube-controller-manager: garbage collector, namespaces, service accounts, deployments, …
    ControllerManager,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Where cases run
    #[arg(long, value_enum, default_value_t = SubstrateName::Embedded)]
    pub(crate) substrate: SubstrateName,
    #[command(flatten)]
    pub(crate) envtest: EnvtestArguments,
    #[command(flatten)]
    pub(crate) kind: KindRunArguments,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Runs a part of the contracts, such as 2/4, the second of four; `report merge` puts the reports together
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) execution: Execution,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A report: report.json, or the folder it lies in
    pub(crate) first: PathBuf,
    /// Another one; cases that only one of the two has are counted and not judged
    pub(crate) second: PathBuf,
    /// text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The clause, such as GRM-HAC-001
    pub(crate) clause: String,
    /// The report that tells whether it passed and is proven
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Contract, target, waiver or policy files; default: everything built in and in --contracts
    pub(crate) files: Vec<PathBuf>,
    /// Folder of the source documents: each of their sentences is numbered in a ledger or listed as not normative, and what is
    /// quoted is still there
    #[arg(long, value_name = "DIR")]
    pub(crate) sources: Option<PathBuf>,
    /// Prints the hash of a sentence and ends
    #[arg(long, value_name = "WORDS", exclusive = true)]
    pub(crate) hash: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FmtArguments {
    /// Contract files or folders
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Changes nothing; exit code 1 if a file would change
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Of what: contract, variations, releases, target, waivers, gate, ledger, not-normative, attestation, report
    #[arg(default_value = "contract")]
    pub(crate) kind: String,
}

#[derive(Debug, Args)]
pub(crate) struct CoverageArguments {
    /// The report that is read
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
    /// Exit code 6 below so many per cent of proven clauses
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_proven: Option<u8>,
    /// Exit code 6 below so many per cent of clauses with cases
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_with_cases: Option<u8>,
    /// Exit code 6 below so many per cent of attested clauses
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_attested: Option<u8>,
}

#[derive(Debug, Args)]
pub(crate) struct EnvtestAssetsArguments {
    /// The folder; made if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// What is scaffolded
    #[command(subcommand)]
    pub(crate) what: NewCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NewCommand {
    /// A contract file, printed or written
    Contract {
        /// Name of the behaviour, such as pod-scheduler-name
        name: String,
        /// Component whose behaviour it is
        #[arg(long, default_value = "my-component")]
        component: String,
        /// How it is written: mutation or versions
        #[arg(long, default_value = "mutation")]
        form: String,
        /// Where it is written; default: standard output
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
}
