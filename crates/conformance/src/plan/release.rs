//! The release of Gardener for a target: it decides how objects look, and which clauses apply.

use contract::gardener::release::RequestedRelease;
use contract::model::Contract;
use contract::versions::Range;

use super::LocatedCase;
use crate::report::{Reason, ReasonCode};
use crate::target::{Configurable, Target};

/// The contract with objects as the target's release of Gardener writes them.
pub(super) fn of_release(contract: Contract, target: &dyn Target) -> Contract {
    if contract.releases.is_none() {
        return contract;
    }
    let configurable = target.configurable(&contract.component);
    contract.of_release(
        gardener_release(target),
        matches!(configurable, Configurable::Any | Configurable::OneOf(_)),
    )
}

/// The release of Gardener for which a target is verified: ours can be of any.
#[must_use]
pub fn gardener_release(target: &dyn Target) -> RequestedRelease<'_> {
    match target.gardener() {
        Some(gardener) => RequestedRelease::Of(gardener),
        None if target.is_ours() => RequestedRelease::Any,
        None => RequestedRelease::Usual,
    }
}

/// Why a clause does not apply to this target: it is about other releases of Gardener, or other versions of the target.
pub(super) fn other_version(located: LocatedCase<'_>, target: &dyn Target) -> Option<Reason> {
    let versions = located.clause.versions.as_ref()?;
    let range = Range::parse(versions)?;
    let release = gardener_release(target);
    let text = if let Some(gardener) = release.of(located.contract, located.clause) {
        (!range.covers(gardener))
            .then(|| format!("holds for Gardener {versions}, the run is for {gardener} (--gardener)"))
    } else {
        let version = target.identity().version?;
        (!range.covers(&version)).then(|| format!("holds for {versions}, the target is {version}"))
    };
    text.map(|text| Reason::new(ReasonCode::Version, text))
}
