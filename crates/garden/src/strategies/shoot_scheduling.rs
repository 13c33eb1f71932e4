//! Which Seed a Shoot may be given, as a strategy knows it: the rules are those of the admission plugin ShootValidator,
//! without who may bind a Shoot, because a strategy does not know the user.

use api::garden::{CloudProfile, Seed, Shoot};
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::strategy::Situation;

use crate::admission::shoot_validator::scheduling::{
    accepts, can_move, changed_by, fits, is_new_seed, stays,
};
use crate::webhooks::reading;

const KIND: &str = "Shoot";

/// Checks a new or changed Shoot, on its own or through the subresource `binding`, in the original's order.
pub(super) fn check(situation: &Situation<'_>, old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let shoot: Shoot = reading::read(KIND, new)?;
    let before: Option<Shoot> = old.map(|old| reading::read(KIND, old)).transpose()?;
    let is_update = before.is_some();
    let before = before.unwrap_or_default();
    let (from, to) = (before.spec.seed_name.as_ref(), shoot.spec.seed_name.as_ref());
    if is_update {
        let binding = situation.subresource == "binding";
        if binding {
            is_new_seed(&before, &shoot)?;
        }
        changed_by(binding, &before, &shoot)?;
    }
    let seed = to.and_then(|name| situation.objects.get("seeds.core.gardener.cloud", "", name));
    let seed: Option<Seed> = seed.map(|seed| reading::read("Seed", &seed)).transpose()?;
    if let (Some(to), true) = (to, from != to) {
        let missing = || Rejection::forbidden(format!("seed.core.gardener.cloud {to:?} not found"));
        let profile_name = &shoot.spec.cloud_profile_name;
        let profile = situation.objects.get("cloudprofiles.core.gardener.cloud", "", profile_name);
        let profile: Option<CloudProfile> =
            profile.map(|profile| reading::read("CloudProfile", &profile)).transpose()?;
        accepts(situation.objects, &shoot, seed.as_ref().ok_or_else(missing)?, profile.as_ref())?;
    }
    match (from.filter(|_| to.is_some() && from != to), &seed) {
        (Some(from), Some(seed)) => can_move(situation.objects, from, seed)?,
        _ => stays(&before, &shoot)?,
    }
    seed.map_or(Ok(()), |seed| fits(&before, &shoot, &seed))
}
