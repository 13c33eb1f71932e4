//! Writes the chosen Seed of a Shoot.

use api::garden::Shoot;
use kube::api::{Api, PostParams};
use kube::{Error, ResourceExt as _};

/// What became of a binding that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The Shoot has the chosen Seed.
    ToSeed,
    /// The Shoot is gone or somebody else has chosen its Seed.
    Elsewhere,
}

/// Writes the Seed through the subresource `binding`, or with the Shoot itself where custom resources serve Shoots and
/// there is no such subresource. If the Shoot was changed in the meantime, it may have a Seed already. SCH-BND-001,
/// SCH-BND-003, SCH-BND-005.
pub(super) async fn bind(shoots: &Api<Shoot>, shoot: &Shoot, seed: &str) -> Result<Bound, Error> {
    let name = shoot.name_any();
    let mut bound = shoot.clone();
    bound.spec.seed_name = Some(seed.to_owned());
    let parameters = PostParams::default();
    let Err(error) = shoots.replace_subresource("binding", &name, &parameters, &bound).await else {
        return Ok(Bound::ToSeed);
    };
    let (is_conflict, is_unserved) = match &error {
        Error::Api(status) => (status.is_conflict(), status.is_not_found() || status.code == NOT_ALLOWED),
        _ => (false, false),
    };
    if !is_conflict && !is_unserved {
        return Err(error);
    }
    match shoots.get_opt(&name).await {
        Ok(Some(now)) if now.spec.seed_name.is_none() && is_unserved => {
            shoots.replace(&name, &parameters, &bound).await.map(|_shoot| Bound::ToSeed)
        }
        Ok(Some(now)) if now.spec.seed_name.is_none() => Err(error),
        Ok(_) => Ok(Bound::Elsewhere),
        Err(_) => Err(error),
    }
}

/// Method not allowed: there is no such subresource.
const NOT_ALLOWED: u16 = 405;
