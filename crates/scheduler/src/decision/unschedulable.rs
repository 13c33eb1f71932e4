//! Why a Shoot gets no Seed, in the original's words.

use webhook::field::quote;

use super::Strategy;

/// Why a Shoot gets no Seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unschedulable {
    /// Its CloudProfile does not exist; its name.
    #[error("CloudProfile.core.gardener.cloud {} not found", quote(.0))]
    CloudProfile(String),
    /// None of so many Seeds is usable.
    #[error("none of the {0} seeds is valid for scheduling (not deleting, visible and ready)")]
    Usable(usize),
    /// A selector is invalid.
    #[error("label selector conversion failed: {selector} for seedSelector: {error}")]
    Selector {
        /// The selector, as Go prints the struct.
        selector: String,
        /// What is wrong with it.
        error: String,
    },
    /// A selector selects none of the Seeds.
    #[error(
        "none out of the {seeds} seeds has the matching labels required by seed selector of '{owner}' (selector: '{selector}')"
    )]
    Labels {
        /// Number of Seeds before this filter.
        seeds: usize,
        /// Kind of the object that has the selector.
        owner: &'static str,
        /// The selector as text.
        selector: String,
    },
    /// No Seed is of a possible provider.
    #[error("none out of the {seeds} seeds has a matching provider for {}", quote(.provider))]
    Provider {
        /// Number of Seeds before this filter.
        seeds: usize,
        /// Type of the Shoot's provider.
        provider: String,
    },
    /// None of so many Seeds has enough zones.
    #[error(
        "none of the {0} seeds has at least 3 zones for hosting a shoot control plane with failure tolerance type 'zone'"
    )]
    Zones(usize),
    /// No Seed has disjoint networks, tolerated taints and free capacity.
    #[error("0/{} seed cluster candidate(s) are eligible for scheduling: {{{}}}", .0.len(), list(.0))]
    Candidates(
        /// Name and reason of each Seed.
        Vec<(String, String)>,
    ),
    /// The distances from the Shoot's region cannot be read.
    #[error(
        "failed to determine seed candidates. Wrong format in region ConfigMap {namespace}/{name}, Region {}: {error}",
        quote(.region)
    )]
    RegionConfig {
        /// Namespace of the ConfigMap.
        namespace: String,
        /// Its name.
        name: String,
        /// The Shoot's region.
        region: String,
        /// What is wrong.
        error: String,
    },
    /// The strategy accepts none of the Seeds.
    #[error(
        "no matching seed candidate found for Configuration (Cloud Profile '{cloud_profile}', Region '{region}', SeedDeterminationStrategy '{strategy}')"
    )]
    Strategy {
        /// Name of the CloudProfile.
        cloud_profile: String,
        /// The Shoot's region.
        region: String,
        /// The configured strategy.
        strategy: Strategy,
    },
}

impl Unschedulable {
    /// The clause that demands it.
    #[must_use]
    pub const fn clause(&self) -> &'static str {
        match self {
            Self::CloudProfile(_) => "SCH-SEL-010",
            Self::Usable(_) => "SCH-USE-001",
            Self::Selector { .. } => "SCH-LBL-005",
            Self::Labels { .. } => "SCH-LBL-002",
            Self::Provider { .. } => "SCH-PRV-001",
            Self::Zones(_) => "SCH-ZON-001",
            Self::Candidates(_) => "SCH-CAN-001",
            Self::RegionConfig { .. } => "SCH-RGN-004",
            Self::Strategy { .. } => "SCH-STR-003",
        }
    }
}

fn list(reasons: &[(String, String)]) -> String {
    let reasons: Vec<String> = reasons.iter().map(|(seed, reason)| format!("{seed} => {reason}")).collect();
    reasons.join(", ")
}
