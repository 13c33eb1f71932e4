//! Flags that select cases.

use clap::Args;

/// Flags that select the cases to run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Selection {
    /// Suite, such as smoke (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Vec<String>,
    /// Contract, such as high-availability-config (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) contract: Vec<String>,
    /// Clause, such as GRM-HAC-001 (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) clause: Vec<String>,
    /// Case, such as GRM-HAC-001/server,node,1/UPDATE (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) case: Vec<String>,
    /// Level: MUST, SHOULD or MAY (repeatable)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Vec<String>,
    /// Feature that clauses need (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Vec<String>,
    /// Label of contracts, key=value (repeatable)
    #[arg(short = 'l', long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,
    /// Run one case of each clause; the number chooses which
    #[arg(long, value_name = "NUMBER")]
    pub(crate) sample: Option<u64>,
}

impl From<Selection> for conformance::select::Selection {
    fn from(typed: Selection) -> Self {
        Self {
            suites: typed.suite,
            contracts: typed.contract,
            clauses: typed.clause,
            cases: typed.case,
            levels: typed.level,
            features: typed.feature,
            labels: typed.label,
            sample: typed.sample,
        }
    }
}
