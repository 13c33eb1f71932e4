//! Of which release of Gardener a target is asked: what objects it is shown, and which clauses hold for it.

use contract::model::Contract;
use contract::release::Asked;
use contract::versions::Range;

use super::LocatedCase;
use crate::report::{Reason, ReasonCode};
use crate::target::{Configurable, Target};

/// The contract with objects as the release of Gardener writes them that the target is asked for.
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

/// Of which release of Gardener a target is asked: ours can be of any.
#[must_use]
pub fn gardener_release(target: &dyn Target) -> Asked<'_> {
    match target.gardener() {
        Some(gardener) => Asked::Of(gardener),
        None if target.is_ours() => Asked::Any,
        None => Asked::Usual,
    }
}

/// Why a clause does not hold for this target: it is about other releases of Gardener, or other versions of the target.
pub(super) fn other_version(located: LocatedCase<'_>, target: &dyn Target) -> Option<Reason> {
    let versions = located.clause.versions.as_ref()?;
    let range = Range::parse(versions)?;
    let asked = gardener_release(target);
    let text = if let Some(gardener) = asked.of(located.contract, located.clause) {
        (!range.covers(gardener))
            .then(|| format!("holds for Gardener {versions}, it is asked for {gardener} (--gardener)"))
    } else {
        let version = target.identity().version?;
        (!range.covers(&version)).then(|| format!("holds for {versions}, the target is {version}"))
    };
    text.map(|text| Reason::new(ReasonCode::Version, text))
}
