//! Which cases are wanted.

use clap::Args;

/// Which cases run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Selection {
    /// A suite of suites/ (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Vec<String>,
    /// A contract, such as high-availability-config (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) contract: Vec<String>,
    /// A clause, such as GRM-HAC-001 (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) clause: Vec<String>,
    /// A case, such as GRM-HAC-001/server,node,1/UPDATE (repeatable)
    #[arg(long, value_name = "ID")]
    pub(crate) case: Vec<String>,
    /// A level: MUST, SHOULD or MAY (repeatable)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Vec<String>,
    /// A feature that clauses need (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Vec<String>,
    /// A label of contracts, key=value (repeatable)
    #[arg(short = 'l', long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,
    /// One case of each clause, chosen by the number
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
