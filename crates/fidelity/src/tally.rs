//! Counts requests by what they exercise, and judges whether they are varied enough for the result to be meaningful.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kinds::Kind;
use crate::play::{Agreement, RequestResult, SequenceResult};

/// The percentage of requests that the real server must refuse at least.
const MIN_REFUSED: usize = 30;
/// The number of reasons of refusal that must occur at least.
const MIN_REASONS: usize = 12;
/// Each operation must occur on each kind once in so many requests.
const REQUESTS_PER_OCCURRENCE: usize = 1000;
/// Each operation must succeed on each kind once in so many requests.
const REQUESTS_PER_SUCCESS: usize = 10_000;
/// The operations that must occur on each kind.
pub(crate) const REQUIRED_OPERATIONS: &[&str] = &[
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
    /// All requests.
    pub requests: usize,
    /// Requests that the real server refused.
    pub refused: usize,
    /// Requests with equal answers.
    pub same: usize,
    /// Requests with known differences only.
    pub known: usize,
    /// Requests with unknown differences.
    pub different: usize,
}

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Counts by resource and operation.
    pub areas: BTreeMap<(String, String), Count>,
    /// Refusals by the real server's reason.
    pub reasons: BTreeMap<String, usize>,
    /// Known differences by name.
    pub known: BTreeMap<&'static str, usize>,
}

/// A condition for the result of a run to be meaningful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Demand {
    /// What is counted.
    pub what: String,
    /// The least acceptable number.
    pub wanted: usize,
    /// The actual number.
    pub got: usize,
}

impl Count {
    /// The sum of both counts.
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

    fn add(&mut self, result: &RequestResult) {
        *self = self.plus(Self {
            requests: 1,
            refused: usize::from(result.refused),
            same: usize::from(result.agreement == Agreement::Same),
            known: usize::from(matches!(result.agreement, Agreement::Known(_))),
            different: usize::from(result.agreement == Agreement::Different),
        });
    }
}

impl Demand {
    /// Whether the condition is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.got >= self.wanted
    }
}

impl Tally {
    /// Counts the requests of a sequence.
    pub fn add(&mut self, result: &SequenceResult) {
        for request in &result.requests {
            let area = (request.exercise.resource.clone(), request.exercise.operation());
            self.areas.entry(area).or_default().add(request);
            if !request.reason.is_empty() {
                *self.reasons.entry(request.reason.clone()).or_default() += 1;
            }
            if let Agreement::Known(names) = &request.agreement {
                for name in names {
                    *self.known.entry(name).or_default() += 1;
                }
            }
        }
    }

    /// The counts of all requests.
    #[must_use]
    pub fn total(&self) -> Count {
        self.areas.values().fold(Count::default(), |sum, count| sum.plus(*count))
    }

    /// Counts by resource, or by operation.
    #[must_use]
    pub fn by(&self, by_resource: bool) -> BTreeMap<&str, Count> {
        let mut sums: BTreeMap<&str, Count> = BTreeMap::new();
        for ((resource, operation), count) in &self.areas {
            let sum = sums.entry(if by_resource { resource } else { operation }).or_default();
            *sum = sum.plus(*count);
        }
        sums
    }

    /// Adds the known differences of another tally.
    pub(crate) fn add_known(&mut self, other: &Self) {
        for (name, count) in &other.known {
            *self.known.entry(name).or_default() += count;
        }
    }

    /// The operations that have occurred or succeeded too seldom on a kind in a run with this number of requests, each as often
    /// as it is missing.
    #[must_use]
    pub(crate) fn missing<'a>(&self, requests: usize, kinds: &[&'a Kind]) -> Vec<(&'a Kind, &'static str)> {
        let mut missing = Vec::new();
        for kind in kinds {
            for operation in REQUIRED_OPERATIONS {
                let count =
                    self.areas.get(&(kind.name(), (*operation).to_owned())).copied().unwrap_or_default();
                let occurrences = (requests / REQUESTS_PER_OCCURRENCE).saturating_sub(count.requests);
                let can_succeed = !(kind.custom && *operation == "patch strategic");
                let wanted = if can_succeed { requests / REQUESTS_PER_SUCCESS } else { 0 };
                let successes = wanted.saturating_sub(count.requests - count.refused);
                missing.extend(std::iter::repeat_n((*kind, *operation), occurrences.max(successes)));
            }
        }
        missing
    }

    /// The conditions for a run with this number of requests for these kinds.
    #[must_use]
    pub fn demands(&self, requests: usize, kinds: &[&Kind]) -> Vec<Demand> {
        let (total, occurrences) = (self.total(), requests / REQUESTS_PER_OCCURRENCE);
        let fewest = |count: fn(&Count) -> usize, all: bool| {
            let pairs = kinds
                .iter()
                .flat_map(|kind| REQUIRED_OPERATIONS.iter().map(move |operation| (*kind, *operation)));
            // Custom resources do not support strategic merge patches.
            let pairs =
                pairs.filter(|(kind, operation)| all || !(kind.custom && *operation == "patch strategic"));
            let counted = pairs.map(|(kind, operation)| {
                let area = (kind.name(), operation.to_owned());
                (self.areas.get(&area).map_or(0, count), area)
            });
            counted.min().unwrap_or_default()
        };
        let (requested, (resource, operation)) = fewest(|count| count.requests, true);
        let (succeeded, (resource_of_success, success)) =
            fewest(|count| count.requests - count.refused, false);
        vec![
            Demand {
                what: "per cent of the requests that the real server refuses".to_owned(),
                wanted: MIN_REFUSED,
                got: (total.refused * 100).checked_div(total.requests).unwrap_or_default(),
            },
            Demand {
                what: format!("requests with the rarest operation on a resource, {operation} of {resource}"),
                wanted: occurrences,
                got: requested,
            },
            Demand {
                what: format!(
                    "successful requests with the rarest operation on a resource, {success} of {resource_of_success}"
                ),
                wanted: requests / REQUESTS_PER_SUCCESS,
                got: succeeded,
            },
            Demand {
                what: "different reasons of refusals".to_owned(),
                wanted: MIN_REASONS,
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

    fn result(resource: &str, verb: &str, reason: &str, agreement: Agreement) -> RequestResult {
        let exercise =
            Exercise { resource: resource.to_owned(), verb: verb.to_owned(), ..Exercise::default() };
        RequestResult { exercise, refused: !reason.is_empty(), reason: reason.to_owned(), agreement }
    }

    #[test]
    fn requests_are_counted_by_area_reason_and_known_difference() {
        let mut tally = Tally::default();
        tally.add(&SequenceResult {
            requests: vec![
                result("pods", "get", "NotFound", Agreement::Same),
                result("pods", "get", "", Agreement::Known(vec!["n"])),
                result("nodes", "create", "", Agreement::Different),
            ],
            ..SequenceResult::default()
        });
        let gets = Count { requests: 2, refused: 1, same: 1, known: 1, different: 0 };
        assert_eq!(tally.by(true)["pods"], gets);
        assert_eq!(tally.by(false)["get"], gets);
        assert_eq!(tally.total().different, 1);
        assert_eq!((tally.reasons["NotFound"], tally.known["n"]), (1, 1));
    }

    #[test]
    fn a_run_with_little_variety_does_not_meet_the_demands() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let mut tally = Tally::default();
        let requests = vec![result("pods", "get", "", Agreement::Same)];
        tally.add(&SequenceResult { requests, ..SequenceResult::default() });
        let demands = tally.demands(10_000, &kinds);
        let numbers: Vec<(usize, usize)> = demands.iter().map(|demand| (demand.wanted, demand.got)).collect();
        assert_eq!(numbers, [(30, 0), (10, 0), (1, 0), (12, 0)]);
        assert!(demands.iter().all(|demand| !demand.is_met()));
        let missing = tally.missing(10_000, &kinds);
        assert_eq!(missing.len(), kinds.len() * REQUIRED_OPERATIONS.len() * 10 - 1);
    }
}
