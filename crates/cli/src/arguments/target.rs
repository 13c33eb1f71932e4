//! Arguments of the commands that take a target: `verify`, `attest`, `diff-run`.

use std::path::PathBuf;

use clap::Args;
use conformance::shard::Shard;

use super::number::number;
use super::{
    BUILT_IN, ControlPlaneArguments, DEFAULT_SETTLE, Execution, Format, KindRunArguments, Selection,
    SubstrateName,
};

/// How to trust the certificate of a running target.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustArguments {
    /// PEM file with the CA that signed the certificate of a running target
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,
}

/// What the tool cannot find out about a running target.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunningTargetArguments {
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
    /// Component configuration file of a running target; cases that need another configuration are skipped. With `--target
    /// command=…` or `image=…`: the file from which the tool makes `<config>`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Kubeconfig of the cluster that a running target reads; the tool writes facts to it
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Provider extension that the target's webhooks belong to, such as aws: cases use its namespaces and, if nothing else
    /// is selected, `verify` runs the suite controlplane
    #[arg(long, value_name = "NAME", value_parser = provider_name)]
    pub(crate) provider: Option<String>,
}

/// Returns `text` if it can be the name of a provider.
///
/// # Errors
/// If it cannot.
fn provider_name(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if !text.is_empty() && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("is not the name of a provider; use lower case letters, digits and -, such as aws".to_owned())
}

impl TrustArguments {
    /// Whether the user gave any of these flags.
    pub(crate) fn is_given(&self) -> bool {
        self.ca.is_some() || self.insecure
    }
}

impl RunningTargetArguments {
    /// Whether the user described the target itself.
    pub(crate) fn describes_target(&self) -> bool {
        self.trust.is_given() || self.config.is_some() || self.provider.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiffRunArguments {
    /// First target: built-in, url=https://HOST:PORT, command="./binary --flags", image="NAME:TAG --flags", or a target file
    #[arg(long, value_name = "TARGET", default_value = BUILT_IN)]
    pub(crate) a: String,
    /// Second target, in the same form
    #[arg(long, value_name = "TARGET")]
    pub(crate) b: String,
    /// Webhook, such as high-availability-config (repeatable) [default: all, or none if there is --controller]
    #[arg(long, value_name = "NAME")]
    pub(crate) webhook: Vec<String>,
    /// Controller, such as managed-resource; both targets run it in the same generated clusters (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Vec<String>,
    /// Number of generated clusters that run at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u16>(1..=64))]
    pub(crate) parallel: u16,
    /// Number of inputs for each webhook, and of generated clusters for each controller
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = number::<usize>(1..=u64::MAX))]
    pub(crate) objects: usize,
    /// Seed of the generated inputs
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// How long to repeat an input whose answers differ: caches may lag behind the cluster
    #[arg(long, value_name = "DURATION", default_value = DEFAULT_SETTLE)]
    pub(crate) settle: String,
    /// File with explanations of differences, tried before those in contracts/explained (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) explanations: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) running: RunningTargetArguments,
    /// Output format: text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

/// Which cases run, and how, whatever the target.
#[derive(Clone, Debug, Args)]
pub(crate) struct CaseArguments {
    #[command(flatten)]
    pub(crate) control_plane: ControlPlaneArguments,
    #[command(flatten)]
    pub(crate) kind: KindRunArguments,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Run one of N parts of the contracts, such as 2/4; `report merge` merges the reports
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) execution: Execution,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Target: url=https://HOST:PORT, command="./binary --flags", image="NAME:TAG --flags", a target file, or built-in
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) running: RunningTargetArguments,
    /// Where cases run; on embedded, garden and envtest the tool starts the target and an API server that calls it, on kind
    /// it installs the target in the cluster
    #[arg(long, value_enum, default_value_t = SubstrateName::Direct)]
    pub(crate) substrate: SubstrateName,
    #[command(flatten)]
    pub(crate) cases: CaseArguments,
}

#[derive(Debug, Args)]
pub(crate) struct AttestArguments {
    #[command(flatten)]
    pub(crate) verify: VerifyArguments,
    /// Folder to which the attestation is written
    #[arg(long, value_name = "DIR", default_value = "contracts/attested")]
    pub(crate) into: PathBuf,
}
