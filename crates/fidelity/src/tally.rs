//! What was exercised how often, what was refused, and whether that is enough to trust the result.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kinds::Kind;
use crate::play::{Agreement, Played, Told};

/// Per cent of the requests that the real server must refuse.
const REFUSED: usize = 30;
/// How many reasons it must give.
const REASONS: usize = 12;
/// So many requests let each verb and form on each kind occur once.
const REQUESTS_PER_OCCURRENCE: usize = 1000;
/// So many requests let each of them succeed once.
const REQUESTS_PER_SUCCESS: usize = 10_000;
/// What must occur on each kind.
pub(crate) const ASKED: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch json",
    "patch merge",
    "patch strategic",
    "patch apply",
    "delete",
    "deletecollection",
];

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// All of them.
    pub requests: usize,
    /// That the real server refused.
    pub refused: usize,
    /// Answered the same.
    pub same: usize,
    /// Answered the same but for what is known.
    pub known: usize,
    /// Answered otherwise.
    pub different: usize,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By resource and what was asked of it.
    pub areas: BTreeMap<(String, String), Count>,
    /// By the real server's reason for refusing.
    pub reasons: BTreeMap<String, usize>,
    /// By the name of the known difference.
    pub known: BTreeMap<&'static str, usize>,
}

/// What a run must have done for its result to mean something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Demand {
    /// What.
    pub what: String,
    /// At least so much.
    pub wanted: usize,
    /// So much it was.
    pub got: usize,
}

impl Count {
    /// Both counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            refused: self.refused + other.refused,
            same: self.same + other.same,
            known: self.known + other.known,
            different: self.different + other.different,
        }
    }

    fn add(&mut self, told: &Told) {
        let is = |agrees: bool| usize::from(agrees);
        *self = self.plus(Self {
            requests: 1,
            refused: is(told.refused),
            same: is(told.agreement == Agreement::Same),
            known: is(matches!(told.agreement, Agreement::Known(_))),
            different: is(told.agreement == Agreement::Different),
        });
    }
}

impl Demand {
    /// Whether it is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.got >= self.wanted
    }
}

impl Tally {
    /// Counts what came of a sequence.
    pub fn add(&mut self, played: &Played) {
        for told in &played.told {
            let area = (told.exercise.resource.clone(), told.exercise.words());
            self.areas.entry(area).or_default().add(told);
            if !told.reason.is_empty() {
                *self.reasons.entry(told.reason.clone()).or_default() += 1;
            }
            if let Agreement::Known(names) = &told.agreement {
                for name in names {
                    *self.known.entry(name).or_default() += 1;
                }
            }
        }
    }

    /// All requests.
    #[must_use]
    pub fn total(&self) -> Count {
        self.areas.values().fold(Count::default(), |sum, count| sum.plus(*count))
    }

    /// Requests by resource, or by what was asked.
    #[must_use]
    pub fn by(&self, resource: bool) -> BTreeMap<&str, Count> {
        let mut sums: BTreeMap<&str, Count> = BTreeMap::new();
        for ((of, asked), count) in &self.areas {
            let sum = sums.entry(if resource { of } else { asked }).or_default();
            *sum = sum.plus(*count);
        }
        sums
    }

    /// What is known was seen elsewhere too.
    pub(crate) fn add_known(&mut self, other: &Self) {
        for (name, count) in &other.known {
            *self.known.entry(name).or_default() += count;
        }
    }

    /// What must have occurred among so many requests of these kinds.
    #[must_use]
    pub fn demands(&self, requests: usize, kinds: &[&Kind]) -> Vec<Demand> {
        let (total, every) = (self.total(), requests / REQUESTS_PER_OCCURRENCE);
        let fewest = |count: fn(&Count) -> usize, all: bool| {
            let asked = kinds.iter().flat_map(|kind| ASKED.iter().map(move |asked| (*kind, *asked)));
            // Custom resources take no strategic patches.
            let asked = asked.filter(|(kind, asked)| all || !(kind.custom && *asked == "patch strategic"));
            let counted = asked.map(|(kind, asked)| {
                let area = (kind.name(), asked.to_owned());
                (self.areas.get(&area).map_or(0, count), area)
            });
            counted.min().unwrap_or_default()
        };
        let (rarest, (of, asked)) = fewest(|count| count.requests, true);
        let (successes, (done_to, done)) = fewest(|count| count.requests - count.refused, false);
        vec![
            Demand {
                what: "per cent of the requests are refused by the real server".to_owned(),
                wanted: REFUSED,
                got: (total.refused * 100).checked_div(total.requests).unwrap_or_default(),
            },
            Demand {
                what: format!(
                    "times each verb and form of patch on each kind, the rarest being {asked} of {of}"
                ),
                wanted: every,
                got: rarest,
            },
            Demand {
                what: format!("times each of them succeeds, the rarest being {done} of {done_to}"),
                wanted: requests / REQUESTS_PER_SUCCESS,
                got: successes,
            },
            Demand {
                what: "different reasons of refusals".to_owned(),
                wanted: REASONS,
                got: self.reasons.len(),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercise::Exercise;
    use crate::kinds;

    fn told(resource: &str, verb: &str, reason: &str, agreement: Agreement) -> Told {
        let exercise =
            Exercise { resource: resource.to_owned(), verb: verb.to_owned(), ..Exercise::default() };
        Told { exercise, refused: !reason.is_empty(), reason: reason.to_owned(), agreement }
    }

    #[test]
    fn requests_are_counted_by_area_reason_and_known_difference() {
        let mut tally = Tally::default();
        tally.add(&Played {
            told: vec![
                told("pods", "get", "NotFound", Agreement::Same),
                told("pods", "get", "", Agreement::Known(vec!["n"])),
                told("nodes", "create", "", Agreement::Different),
            ],
            ..Played::default()
        });
        let gets = Count { requests: 2, refused: 1, same: 1, known: 1, different: 0 };
        assert_eq!(tally.by(true)["pods"], gets);
        assert_eq!(tally.by(false)["get"], gets);
        assert_eq!(tally.total().different, 1);
        assert_eq!((tally.reasons["NotFound"], tally.known["n"]), (1, 1));
    }

    #[test]
    fn a_tame_run_does_not_meet_the_demands() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let mut tally = Tally::default();
        tally.add(&Played { told: vec![told("pods", "get", "", Agreement::Same)], ..Played::default() });
        let demands = tally.demands(10_000, &kinds);
        let numbers: Vec<(usize, usize)> = demands.iter().map(|demand| (demand.wanted, demand.got)).collect();
        assert_eq!(numbers, [(30, 0), (10, 0), (1, 0), (12, 0)]);
        assert!(demands.iter().all(|demand| !demand.is_met()));
    }
}
