//! Changes that no clause explains, with object, case and the command that repeats it. Changes of the elements of one list are
//! one.

use super::repeat_command;
use crate::difference::{DiffLine, Sides, diff_of_changes, sentence_of_changes};
use crate::report::{ContractResult, Report, Unexplained, ValueChange, enumerate};

/// Changes that belong together.
pub(super) struct UnexplainedChange<'a> {
    /// The contracts whose cases show it, at least one.
    pub(super) contracts: Vec<&'a ContractResult>,
    /// At least one.
    parts: Vec<&'a Unexplained>,
    /// The cases of the other contracts.
    others: Vec<&'a str>,
}

/// What to do about an unexplained change.
pub(super) const REMEDY: &str =
    "leave the value as it is, or, if the change is intended, declare it under the target's extras";

/// The changes of all contracts; the same change of the same objects is one.
pub(super) fn unexplained_of(report: &Report) -> Vec<UnexplainedChange<'_>> {
    let mut found: Vec<UnexplainedChange<'_>> = Vec::new();
    for change in report.contracts.iter().flat_map(unexplained) {
        match found.iter_mut().find(|known| known.is_same(&change)) {
            Some(known) => {
                known.others.extend(change.cases());
                known.contracts.extend(change.contracts);
            }
            None => found.push(change),
        }
    }
    found
}

/// The changes of a contract.
pub(super) fn unexplained(contract: &ContractResult) -> Vec<UnexplainedChange<'_>> {
    let mut found: Vec<UnexplainedChange<'_>> = Vec::new();
    for part in &contract.unexplained {
        match found
            .last_mut()
            .filter(|last| last.parts.last().is_some_and(|other| belong_together(other, part)))
        {
            Some(last) => last.parts.push(part),
            None => found.push(UnexplainedChange {
                contracts: vec![contract],
                parts: vec![part],
                others: Vec::new(),
            }),
        }
    }
    // Paths sort elements as texts: `[10]` before `[9]`.
    for change in &mut found {
        change.parts.sort_by_key(|part| element(&part.path).map(|(_, index)| index));
    }
    found
}

fn belong_together(one: &Unexplained, other: &Unexplained) -> bool {
    let list = |found: &Unexplained| element(&found.path).map(|(list, _)| list.to_owned());
    list(one).is_some() && list(one) == list(other) && one.objects == other.objects
}

fn element(path: &str) -> Option<(&str, usize)> {
    let (list, index) = path.strip_suffix(']')?.rsplit_once('[')?;
    Some((list, index.parse().ok()?))
}

impl<'a> UnexplainedChange<'a> {
    /// Whether the other is the same change, shown by cases of another contract.
    fn is_same(&self, other: &Self) -> bool {
        self.path() == other.path()
            && self.parts[0].objects == other.parts[0].objects
            && self.changes() == other.changes()
    }

    /// The names of the contracts: `deployments and kubelet-flags`.
    pub(super) fn contracts(&self) -> String {
        let names: Vec<String> = self.contracts.iter().map(|contract| contract.name.clone()).collect();
        enumerate(&names)
    }

    /// The path; of several elements, that of their list.
    pub(super) fn path(&self) -> &str {
        let path = &self.parts[0].path;
        if self.parts.len() == 1 { path } else { element(path).map_or(path.as_str(), |(list, _)| list) }
    }

    /// The objects: `Deployment kube-controller-manager`.
    pub(super) fn objects(&self) -> String {
        self.parts[0].objects.join(", ")
    }

    /// The change as a sentence: `spec.replicas: 1 → 2`.
    pub(super) fn sentence(&self) -> String {
        sentence_of_changes(&self.changes(), Sides::CHANGED)
    }

    /// The change as a diff.
    pub(super) fn diff(&self) -> Vec<DiffLine> {
        diff_of_changes(&self.changes(), Sides::CHANGED)
    }

    /// The cases, each once.
    pub(super) fn cases(&self) -> Vec<&'a str> {
        let mut cases: Vec<&'a str> = Vec::new();
        let own = self.parts.iter().flat_map(|part| part.cases.iter().map(String::as_str));
        for case in own.chain(self.others.iter().copied()) {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        cases
    }

    /// The command that repeats the first case.
    pub(super) fn again(&self, report: &Report) -> String {
        repeat_command(report, self.cases().first().copied().unwrap_or_default())
    }

    fn changes(&self) -> Vec<ValueChange> {
        let change = |part: &&Unexplained| {
            // What was there before is compared line by line; of what is new, the first lines are enough.
            let text = part.whole.as_ref().filter(|_| part.before.is_some()).unwrap_or(&part.became);
            let after = Some(text.as_str()).filter(|became| *became != "absent");
            ValueChange::new(&part.path, part.before.as_deref(), after)
        };
        self.parts.iter().map(change).collect()
    }
}
