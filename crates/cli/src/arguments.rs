//! The command line: data only. The doc comments are the texts of `--help`, completions and the man page.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use schema::KubernetesVersion;

mod check;
mod environment;
mod explore;
mod fidelity;
mod gate;
mod init;
mod number;
mod record;
mod release;
mod render;
mod report;
mod schedule;
mod selection;
mod target;
mod versions;

use number::number;

pub(crate) use check::{CheckCommand, CheckObjectsArguments};
pub(crate) use environment::{
    CrdSource, EnvCommand, EnvUpArguments, EnvtestAssetsArguments, KindArguments, KindRunArguments,
};
pub(crate) use explore::ExploreArguments;
pub(crate) use fidelity::FidelityArguments;
pub(crate) use gate::GateArguments;
pub(crate) use init::{InitCommand, InitProviderArguments};
pub(crate) use record::{RecordArguments, ReplayArguments};
pub(crate) use render::{RenderArguments, Rendering};
pub(crate) use report::{MergeArguments, ReportCommand};
pub(crate) use schedule::{
    ExplainScheduleArguments, LandscapeArguments, ScheduleCommand, SimulateScheduleArguments,
};
pub(crate) use selection::Selection;
pub(crate) use target::{
    AttestArguments, CaseArguments, DiffRunArguments, RunningTargetArguments, TrustArguments, VerifyArguments,
};
pub(crate) use versions::{
    ExplainVersionsArguments, GardenArguments, LintVersionsArguments, SimulateArguments, VersionsCommand,
};

/// Default of `--settle`.
pub(crate) const DEFAULT_SETTLE: &str = "2s";
/// Default of `--time-budget`.
pub(crate) const DEFAULT_TIME_BUDGET: &str = "30s";

/// The value of `--target` that stands for the components of this project.
pub(crate) const BUILT_IN: &str = "built-in";

/// Verifies that Gardener components keep their contracts.
///
/// Exit codes: 0 success · 1 the target breaks a clause · 2 usage error, or invalid contract or file · 3 the
/// environment failed, which says nothing about the target · 4 incomplete, or nothing was selected ·
/// 5 regression, or unexplained difference · 6 a clause is not proven, or coverage is too low · 7 a waiver
/// expired · 130, 143 interrupted; the report is still written.
#[derive(Debug, Parser)]
#[command(name = "gardener-conformance", version, max_term_width = 110, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the tool prints, and how.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Use colours; `auto` respects the variable NO_COLOR
    #[arg(long, global = true, value_enum, default_value_t = ColorWhen::Auto, value_name = "WHEN")]
    pub(crate) color: ColorWhen,
    /// Print the verdict only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print every case
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Folder with contracts, fixtures and suites that are added to the built-in ones, or replace those of the same path;
    /// it has the layout of the project's folder `contracts`
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) contracts: Option<PathBuf>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// If standard output is a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Verify this project's components on a substrate
    Run(RunArguments),
    /// Verify a webhook at a URL, a program, an image or a target file; needs no cluster
    Verify(VerifyArguments),
    /// Verify, and again whenever the target's program, its files or a contract changes, until interrupted
    Watch(VerifyArguments),
    /// Inspect a webhook and write a target file
    #[command(subcommand)]
    Init(InitCommand),
    /// Compare objects with contracts, without calling a webhook
    #[command(subcommand)]
    Check(CheckCommand),
    /// List contracts and clauses (with -v: cases)
    List(ListArguments),
    /// Print a clause: sentence, source, cases, proof, and which implementations keep it
    Explain(ExplainArguments),
    /// Check contracts, fixtures, ledgers, suites, waivers, policies and target files
    Lint(LintArguments),
    /// Align the tables of contract files
    Fmt(FmtArguments),
    /// Print a JSON Schema for editors
    Schema(SchemaArguments),
    /// Run, and list for each clause the falsified answers that make it fail
    Prove(RunArguments),
    /// Count the clauses that have cases, pass, are proven and are attested; runs no case
    Coverage(CoverageArguments),
    /// Compare two reports in the cases that both have; exit code 5 if a case differs, 4 if they have no case in common
    Compare(CompareArguments),
    /// Decide whether a report is good enough, by policy, baseline and waivers
    Gate(GateArguments),
    /// Convert a report to HTML, Markdown, JUnit, SARIF or a badge
    Render(RenderArguments),
    /// Merge the reports of shards
    #[command(subcommand)]
    Report(ReportCommand),
    /// Send the same generated inputs to two targets; exit code 5 if a difference has no explanation
    DiffRun(DiffRunArguments),
    /// Run scenarios again, each time with one write or event perturbed: crashes, errors, lost and late events
    Explore(ExploreArguments),
    /// Send the same requests to a real kube-apiserver and to the embedded API server; exit code 5 if the answers differ
    Fidelity(FidelityArguments),
    /// Run contracts on another implementation and record which clauses it keeps
    Attest(AttestArguments),
    /// Record the requests that a live cluster sends to a webhook, as cases without secrets
    Record(RecordArguments),
    /// Send recorded requests to a webhook again; needs no cluster
    Replay(ReplayArguments),
    /// Create a contract from a template
    New(NewArguments),
    /// For operators: show which Seed a Shoot gets, why no other one, and where Shoots would go
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// For release managers: show which versions CloudProfiles offer and which version each Shoot gets
    #[command(subcommand)]
    Versions(VersionsCommand),
    /// Start or stop an API server or cluster, or check what each substrate needs
    #[command(subcommand)]
    Env(EnvCommand),
    /// Write the programs with which Go's envtest runs on the embedded API server, and print their folder: set
    /// KUBEBUILDER_ASSETS to it
    EnvtestAssets(EnvtestAssetsArguments),
    /// Print a completion script
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
}

/// How cases run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct Execution {
    /// Seed of the order of cases; the same seed gives the same order [default: taken from the time; 1 with --shard]
    #[arg(long, value_name = "NUMBER", value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Groups of cases of one contract that run at the same time; the tool runs as many contracts at a time as it has cores
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u16>(1..=64))]
    pub(crate) parallel: u16,
    /// Run each case N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u16>(1..=1000))]
    pub(crate) repeat: u16,
    /// Stop at the first failed case; the report lists the others as not run
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// How long to repeat a failing case that has facts: the caches of the target may lag behind the cluster
    #[arg(long, value_name = "DURATION", default_value = DEFAULT_SETTLE)]
    pub(crate) settle: String,
    /// How long a step of a scenario may wait in real time, for targets outside this process and on envtest
    #[arg(long, value_name = "DURATION", default_value = DEFAULT_TIME_BUDGET)]
    pub(crate) time_budget: String,
    /// Release of Gardener that the target implements, such as v1.98.0 [default: that of the target file, else v1.82.0;
    /// for this project's components the release of each clause]
    #[arg(long, value_name = "VERSION", value_parser = release::release)]
    pub(crate) gardener: Option<String>,
    /// Give clauses that Gardener itself does not keep the level that its documentation demands
    #[arg(long)]
    pub(crate) strict: bool,
    /// Waiver file
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// Folder to which the reports are written
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

/// What a command prints at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs: the report
    Json,
    /// For a pull request
    Markdown,
}

/// Where cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubstrateName {
    /// The in-process API server
    Embedded,
    /// The in-process API server, which serves Gardener's kinds as gardener-apiserver does, not as custom resources
    Garden,
    /// AdmissionReviews straight to the webhook
    Direct,
    /// A real kube-apiserver and etcd on loopback
    Envtest,
    /// A whole cluster in containers
    Kind,
}

impl SubstrateName {
    /// The name on the command line and in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Garden => "garden",
            Self::Direct => "direct",
            Self::Envtest => "envtest",
            Self::Kind => "kind",
        }
    }
}

/// Settings of the API servers that the tool starts.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "API server")]
pub(crate) struct ControlPlaneArguments {
    /// Version of Kubernetes that the API server has, such as 1.28 or 1.28.4; embedded, garden: 1.24 to 1.36, envtest: a
    /// version whose programs are installed [default: for a target with a release of Gardener the newest that it supports, else
    /// 1.36]
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes: Option<KubernetesVersion>,
    /// Also start this program (envtest)
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) with: Vec<Addition>,
    /// Folder in which the tool creates its data folder, which it removes at the end (envtest) [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// An optional program of a control plane.
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
    pub(crate) cases: CaseArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// First report: report.json or its folder
    pub(crate) first: PathBuf,
    /// Second report; cases that only one of the two reports has are counted and not compared
    pub(crate) second: PathBuf,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Clause, such as GRM-HAC-001
    pub(crate) clause: String,
    /// Report from which the result and the proof are read
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Contract, target, waiver or policy files, or folders [default: the built-in files and those of --contracts]
    pub(crate) files: Vec<PathBuf>,
    /// Folder with the source documents; checks that a ledger or the list of non-normative sentences has each of their
    /// sentences, and that they still contain what is quoted
    #[arg(long, value_name = "DIR")]
    pub(crate) sources: Option<PathBuf>,
    /// Only print the hash of this sentence
    #[arg(long, value_name = "WORDS", exclusive = true)]
    pub(crate) hash: Option<String>,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct FmtArguments {
    /// Contract files or folders
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change no file; exit code 1 if a file would change
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Kind of file: contract, fixture, suite, explanations, variations, releases, provider-profile, control-plane-namespace,
    /// target, waivers, gate, ledger, mutants, not-normative, attestation or report
    #[arg(default_value = "contract")]
    pub(crate) kind: String,
}

#[derive(Debug, Args)]
pub(crate) struct CoverageArguments {
    /// Report to read
    #[arg(long, value_name = "DIR", default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
    /// Exit code 6 if fewer per cent of the clauses are proven
    #[arg(long, value_name = "PERCENT", value_parser = number::<u8>(0..=100))]
    pub(crate) min_proven: Option<u8>,
    /// Exit code 6 if fewer per cent of the clauses have cases
    #[arg(long, value_name = "PERCENT", value_parser = number::<u8>(0..=100))]
    pub(crate) min_with_cases: Option<u8>,
    /// Exit code 6 if fewer per cent of the clauses are attested
    #[arg(long, value_name = "PERCENT", value_parser = number::<u8>(0..=100))]
    pub(crate) min_attested: Option<u8>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// What to create
    #[command(subcommand)]
    pub(crate) what: NewCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NewCommand {
    /// A contract file
    Contract {
        /// Name of the behaviour, such as pod-scheduler-name, or the file to write, such as contracts/mine/pod-scheduler-name.yaml
        name: String,
        /// Component that has the behaviour [default: the folder below `contracts` that --file is in, else my-component]
        #[arg(long)]
        component: Option<String>,
        /// Form of the contract: mutation, validation, registration, scenario, configuration, process, flags, objects or
        /// versions
        #[arg(long, default_value = "mutation")]
        form: String,
        /// File to write [default: standard output]
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
}
