//! Finds cases that run alone but may run in parallel to each other: cases of different contracts that do not see each other's
//! objects.

use std::collections::BTreeSet;

use contract::model::Contract;

use super::{Group, locate};
use crate::place;

/// Groups in lanes: lanes run in parallel, the groups of one lane one after the other.
pub(crate) fn lanes<'a>(
    contracts: &'a [Contract],
    groups: impl IntoIterator<Item = &'a Group>,
) -> Vec<Vec<&'a Group>> {
    let mut lanes: Vec<Lane<'a>> = Vec::new();
    for group in groups {
        let cases = || group.cases.iter().map(|at| locate(contracts, *at));
        let mut lane = Lane {
            contracts: cases().map(|located| located.contract.name.as_str()).collect(),
            seen: cases().flat_map(|located| place::seen_by_others(located.case)).collect(),
            groups: Vec::new(),
        };
        let (conflicting, others) = lanes.into_iter().partition(|other| other.conflicts_with(&lane));
        lanes = others;
        for other in conflicting {
            lane.join(other);
        }
        lane.groups.push(group);
        lanes.push(lane);
    }
    lanes.into_iter().map(|lane| lane.groups).collect()
}

struct Lane<'a> {
    contracts: BTreeSet<&'a str>,
    seen: BTreeSet<String>,
    groups: Vec<&'a Group>,
}

impl Lane<'_> {
    fn conflicts_with(&self, other: &Self) -> bool {
        !self.contracts.is_disjoint(&other.contracts) || !self.seen.is_disjoint(&other.seen)
    }

    fn join(&mut self, other: Self) {
        self.contracts.extend(other.contracts);
        self.seen.extend(other.seen);
        self.groups.extend(other.groups);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::{CaseRef, all};
    use super::*;
    use crate::place::Isolation;

    #[test]
    fn lanes_share_neither_contracts_nor_visible_objects() {
        let contracts = contracts::all().unwrap();
        let case = |at: &CaseRef| locate(&contracts, *at).case;
        let alone = all(&contracts).filter(|at| place::isolation(case(at), true) == Isolation::Alone);
        let group = |at| Group {
            component: String::new(),
            now: None,
            instance: String::new(),
            config: Value::Null,
            alone: true,
            cases: vec![at],
        };
        let groups: Vec<Group> = alone.map(group).collect();
        let lanes = lanes(&contracts, &groups);
        assert!(lanes.len() > 1);
        assert_eq!(lanes.iter().flatten().count(), groups.len());
        let mut met = BTreeSet::new();
        for lane in lanes {
            let cases: Vec<CaseRef> = lane.iter().map(|group| group.cases[0]).collect();
            let names = cases.iter().map(|at| locate(&contracts, *at).contract.name.clone());
            let seen = cases.iter().flat_map(|at| place::seen_by_others(case(at)));
            let of_lane: BTreeSet<String> = names.chain(seen).collect();
            assert!(met.is_disjoint(&of_lane), "{:?}", met.intersection(&of_lane));
            met.extend(of_lane);
        }
    }
}
