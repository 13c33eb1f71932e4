//! Arguments of `gate`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// Report: report.json or its folder
    #[arg(default_value = "reports/latest")]
    pub(crate) report: PathBuf,
    /// Policy file (`kind: GatePolicy`) [default: a broken MUST fails, SHOULD warns, MAY is ignored]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Earlier report; a case that passed there and does not pass now is a regression [default: the policy's baseline]
    #[arg(long, value_name = "REPORT")]
    pub(crate) baseline: Option<PathBuf>,
    /// File with waivers in addition to those of the policy
    #[arg(long, value_name = "FILE")]
    pub(crate) waivers: Option<PathBuf>,
    /// Profile of the policy; the gate judges only its clauses (repeatable)
    #[arg(long, value_name = "NAME", requires = "policy")]
    pub(crate) profile: Vec<String>,
    /// Day for which waivers are judged, such as 2027-03-31 [default: today]
    #[arg(long, value_name = "DAY")]
    pub(crate) at: Option<String>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) output: Format,
}
