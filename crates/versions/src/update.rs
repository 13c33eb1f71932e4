//! Checks whether a version may follow another, and how old a worker pool's version may be.

use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use formats::version::Version;

use crate::Refusal;
use crate::relation::holds;

/// First version of the control plane, number of minors that a pool may be behind, and this number as a word.
const SKEW: [(&str, u64, &str); 2] = [("1.28", 3, "three"), ("0", 2, "two")];

/// Refusals if `new` follows `old`; empty if it may. Downgrades and skipped minors are refused; the part
/// after `-` is ignored (GDN-UPD-001, GDN-UPD-002, GDN-UPD-009).
#[must_use]
pub fn refusals(new: &str, old: &str) -> Vec<Refusal> {
    if new.is_empty() {
        let unset = "cannot validate kubernetes version upgrade because it is unset";
        return vec![Refusal::invalid(new, unset)];
    }
    let mut refusals = Vec::new();
    match holds(new, "<", old) {
        Ok(true) => refusals.push(Refusal::forbidden("kubernetes version downgrade is not supported")),
        Ok(false) => {}
        Err(error) => refusals.push(Refusal::invalid(new, error)),
    }
    let old = match Version::parse(old) {
        Ok(old) => old,
        Err(error) => {
            refusals.push(Refusal::invalid(old, error));
            return refusals;
        }
    };
    match holds(new, ">=", &old.later_minor(2).to_string()) {
        Ok(true) => {
            refusals.push(Refusal::forbidden("kubernetes version upgrade cannot skip a minor version"));
        }
        Ok(false) => {}
        Err(error) => refusals.push(Refusal::invalid(new, error)),
    }
    refusals
}

/// Refusals of a pool's version for a control plane's; empty if it is allowed. A pool must not be
/// ahead, and at most two minors behind, three since control plane 1.28
/// (GDN-UPD-003, GDN-UPD-004, GDN-UPD-006).
#[must_use]
pub fn skew(control_plane: &str, pool: &str) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    match holds(pool, ">", control_plane) {
        Ok(true) => refusals.push(Refusal::forbidden(
            "worker group kubernetes version must not be higher than control plane version",
        )),
        Ok(false) => {}
        Err(error) => refusals.push(Refusal::invalid(control_plane, error)),
    }
    let version = match Version::parse(pool) {
        Ok(version) => version,
        Err(error) => {
            refusals.push(Refusal::invalid(pool, error));
            return refusals;
        }
    };
    let known = SKEW.iter().find(|(from, ..)| holds(control_plane, ">=", from).unwrap_or_default());
    let (_, most, words) = known.unwrap_or(&SKEW[1]);
    match holds(control_plane, ">=", &version.later_minor(most + 1).to_string()) {
        Ok(true) => refusals.push(Refusal::forbidden(format_args!(
            "worker group kubernetes version must be at most {words} minor versions behind control plane version"
        ))),
        Ok(false) => {}
        Err(error) => refusals.push(Refusal::invalid(control_plane, error)),
    }
    refusals
}

/// Refusals of the pools' versions compared with those of `old`, with the index of the pool.
///
/// A pool without a version has the control plane's of its own spec. A pool that `old` does not have is compared with
/// itself: its own version may be as low as [`skew`] allows (GDN-UPD-005 to -008).
#[must_use]
pub fn pools(new: &ShootSpec, old: &ShootSpec) -> Vec<(usize, Refusal)> {
    let refusals = |(index, pool): (usize, &Worker)| {
        let before = old.provider.workers.iter().find(|before| before.name == pool.name).unwrap_or(pool);
        let refusals = refusals(effective(new, pool), effective(old, before));
        refusals.into_iter().map(move |refusal| (index, refusal)).collect::<Vec<_>>()
    };
    new.provider.workers.iter().enumerate().flat_map(refusals).collect()
}

/// The version of a pool's kubelets: its own, else the control plane's.
#[must_use]
pub fn effective<'a>(spec: &'a ShootSpec, pool: &'a Worker) -> &'a str {
    let own = pool.kubernetes.as_ref().and_then(|own| own.version.as_deref());
    own.or(spec.kubernetes.version.as_deref()).unwrap_or_default()
}
