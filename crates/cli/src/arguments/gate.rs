//! Arguments of `gate`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// The report: report.json, or the folder it lies in
    #[arg(default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// What fails and what warns, `kind: GatePolicy` [default: MUST fails, SHOULD warns, MAY is ignored]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// An earlier report: what passed there and does not here is a regression. Wins over the policy's
    #[arg(long, value_name = "REPORT")]
    pub(crate) baseline: Option<PathBuf>,
    /// Waivers beside those of the policy
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// A profile of the policy; only its clauses are judged (repeatable)
    #[arg(long, value_name = "NAME", requires = "policy")]
    pub(crate) profile: Vec<String>,
    /// The day at which waivers are judged [default: today]
    #[arg(long, value_name = "DAY")]
    pub(crate) at: Option<String>,
    /// text, json or markdown
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
