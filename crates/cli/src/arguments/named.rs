//! Arguments of commands that are told whom to ask: `verify`, `attest`, `diff-run`.

use std::path::PathBuf;

use clap::Args;
use conformance::shard::Shard;

use super::{
    BUILT_IN, EnvtestArguments, Execution, Format, KindRunArguments, SETTLE, Selection, SubstrateName,
};

/// Whether the certificate of a target that runs already is trusted.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustArguments {
    /// PEM file of the authority that signed the certificate of a target that runs already
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Trusts any certificate
    #[arg(long, conflicts_with = "ca")]
    pub(crate) insecure: bool,
}

/// What nobody can see of a target that runs already.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunningArguments {
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
    /// The component configuration that a running target has: what is about another one is not asked. With
    /// `--target command=` and `image=`, the file that `<config>` is made from
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The cluster that a running target reads: facts are written there
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
}

impl TrustArguments {
    /// Whether anything was said.
    pub(crate) fn is_said(&self) -> bool {
        self.ca.is_some() || self.insecure
    }
}

impl RunningArguments {
    /// Whether anything is said of the target itself.
    pub(crate) fn describes(&self) -> bool {
        self.trust.is_said() || self.config.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiffRunArguments {
    /// built-in, url=https://HOST:PORT, command="./binary --flags", image="NAME:TAG --flags", or a target file
    #[arg(long, value_name = "TARGET", default_value = BUILT_IN)]
    pub(crate) a: String,
    /// The target that it is held against
    #[arg(long, value_name = "TARGET")]
    pub(crate) b: String,
    /// A webhook, such as high-availability-config (repeatable) [default: all, unless a controller is named]
    #[arg(long, value_name = "NAME")]
    pub(crate) webhook: Vec<String>,
    /// A controller, such as managed-resource: worlds are played against both targets (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Vec<String>,
    /// Worlds that are played side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: u16,
    /// Inputs for each webhook, worlds for each controller
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one)]
    pub(crate) objects: usize,
    /// Decides every input
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How long an input is asked again whose answers differ
    #[arg(long, value_name = "DURATION", default_value = SETTLE)]
    pub(crate) settle: String,
    /// Why answers may differ, beside what contracts/explained says (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) explanations: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) running: RunningArguments,
    /// text or json
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("nothing would be asked".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(error.to_string()),
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyArguments {
    /// url=https://HOST:PORT, command="./binary --flags", image="NAME:TAG --flags", a target file, or built-in
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) running: RunningArguments,
    /// Where cases run; embedded and envtest start the target beside an API server that asks it, kind in the cluster
    #[arg(long, value_enum, default_value_t = SubstrateName::Direct)]
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
pub(crate) struct AttestArguments {
    #[command(flatten)]
    pub(crate) verify: VerifyArguments,
    /// Where the attestation is written
    #[arg(long, value_name = "DIR", default_value = "contracts/attested")]
    pub(crate) into: PathBuf,
}
