//! The filter for Seeds whose provider may run control planes of the Shoot's provider.

use std::borrow::Cow;

use api::garden::{CloudProfile, Shoot};

use super::{Excluded, Filter, Seeds, Unschedulable};

/// Stands for every provider.
const ANY: &str = "*";

/// The Seeds of a possible provider: of those that the CloudProfile lists or, without a list, of the Shoot's own. The
/// list of the Shoot's selector has no effect. SCH-PRV-001 to -004.
pub(super) fn filter<'a>(
    seeds: Seeds<'a>,
    profile: &CloudProfile,
    shoot: &Shoot,
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let selector = profile.spec.seed_selector.as_ref();
    let listed = selector.map(|selector| selector.provider_types.as_slice()).unwrap_or_default();
    let (number, own) = (seeds.len(), shoot.spec.provider.type_.as_str());
    let is_possible = |type_: &str| {
        if listed.is_empty() {
            type_ == own
        } else {
            listed.iter().any(|possible| possible == ANY || possible == type_)
        }
    };
    let seeds = excluded.retain(seeds, Filter::Provider, |seed| {
        let type_ = &seed.spec.provider.type_;
        (!is_possible(type_)).then(|| Cow::Owned(format!("its provider is {type_}")))
    });
    if seeds.is_empty() {
        return Err(Unschedulable::Provider { seeds: number, provider: own.to_owned() });
    }
    Ok(seeds)
}
