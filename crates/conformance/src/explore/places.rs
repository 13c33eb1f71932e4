//! What perturbations strike. Of two that strike the same, only one has an effect, so that a run with both is a run with that
//! one.

use std::collections::BTreeMap;

use apiserver::ReadTarget;
use contract::scenario::ObjectRef;

use crate::run::scenario::{NthEvent, NthWrite, PastAnswer, Perturbation, WatchedKind};

/// What a perturbation strikes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    /// A write, by server and number.
    Write(usize, usize),
    /// An event about an object, by its number.
    Event(&'a WatchedKind, &'a ObjectRef, usize),
    /// All watches of a kind.
    Watches(&'a WatchedKind),
    /// A read from a server, by its number.
    Read(usize, &'a ReadTarget, usize),
}

impl<'a> Place<'a> {
    fn of(perturbation: &'a Perturbation) -> Self {
        match perturbation {
            Perturbation::Write(_, NthWrite { write, number, .. })
            | Perturbation::LeaderLost(_, NthWrite { write, number, .. })
            | Perturbation::Return(NthWrite { write, number, .. }, _) => Self::Write(write.server, *number),
            Perturbation::Event(_, NthEvent { watched, object, nth, .. }) => {
                Self::Event(watched, object, *nth)
            }
            Perturbation::Lag(watched) => Self::Watches(watched),
            Perturbation::Read(PastAnswer { server, target, nth, .. }) => Self::Read(*server, target, *nth),
        }
    }
}

/// A number for the place of each perturbation.
pub(super) fn places(perturbations: &[Perturbation]) -> Vec<usize> {
    let mut known: BTreeMap<Place<'_>, usize> = BTreeMap::new();
    let number = |perturbation| {
        let next = known.len();
        *known.entry(Place::of(perturbation)).or_insert(next)
    };
    perturbations.iter().map(number).collect()
}

/// The number of pairs of perturbations with these places that strike different ones.
pub(super) fn count_distinct_pairs(places: impl Iterator<Item = usize>) -> usize {
    let mut at_place: BTreeMap<usize, usize> = BTreeMap::new();
    for place in places {
        *at_place.entry(place).or_default() += 1;
    }
    let all = count_pairs(at_place.values().sum());
    all - at_place.values().copied().map(count_pairs).sum::<usize>()
}

/// The number of pairs of this many.
pub(super) fn count_pairs(count: usize) -> usize {
    count * count.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::scenario::{ObservedWrite, WriteTrouble};

    #[test]
    fn troubles_of_one_write_have_one_place() {
        let object = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: "default".to_owned(),
            name: "x".to_owned(),
        };
        let write = ObservedWrite { server: 0, verb: "patch", object, unchanged: false, refused: false };
        let nth = |number: usize| NthWrite { write: write.clone(), number, nth: 1 };
        let watched = WatchedKind { server: 0, group: String::new(), resource: "secrets".to_owned() };
        let perturbations = [
            Perturbation::Write(WriteTrouble::CrashAfter, nth(1)),
            Perturbation::Write(WriteTrouble::Conflict, nth(2)),
            Perturbation::Lag(watched),
            Perturbation::Write(WriteTrouble::Conflict, nth(1)),
        ];
        let found = places(&perturbations);
        assert_eq!(found, [0, 1, 2, 0]);
        assert_eq!(count_distinct_pairs(found.into_iter()), 5);
    }
}
