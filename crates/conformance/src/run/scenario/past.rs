//! A read that is answered from the past, and what is told of it.

use std::time::Duration;

use apiserver::{LoggedRead, ReadChange, ReadTarget};

use super::ordinal::ordinal;

/// How long a watch that stands still waits for a write of the target.
pub(super) const LATEST: Duration = Duration::from_secs(2);

/// A read of the undisturbed run that is answered as if some changes had not happened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastAnswer {
    /// Index of the server.
    pub(crate) server: usize,
    /// What is read.
    pub(crate) target: ReadTarget,
    /// Its number among the reads of the same, from 1; after a crash, of those that follow.
    pub(crate) nth: usize,
    /// How many changes the answer lacks.
    pub(crate) behind: usize,
    /// The oldest of these changes.
    pub(crate) lacks: ReadChange,
}

/// A read of the target, or what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObservedRead {
    /// Index of the server.
    pub(crate) server: usize,
    /// What the server logged.
    pub(crate) read: LoggedRead,
}

impl PastAnswer {
    /// `the 2nd list of configmaps in default was answered as before its last change, ADDED default/x; …`; `place` says on
    /// which server.
    pub(super) fn story(&self, place: &str) -> String {
        let nth = ordinal(self.nth);
        if !self.target.name.is_empty() {
            return format!("the {nth} {}{place} was answered {}", self.what(), self.words());
        }
        let watch = format!("a watch that continued it stood still {}", until());
        format!("the {nth} {}{place} was answered {}; {watch}", self.what(), self.words())
    }

    /// What comes after a kill: `and its first list of configmaps after that was answered …`.
    pub(super) fn story_after_kill(&self, place: &str) -> String {
        let (what, words) = (self.what(), self.words());
        format!("its first {what}{place} after that was answered {words}; the watch stood still {}", until())
    }

    /// `list of configmaps in default`.
    fn what(&self) -> String {
        let ReadTarget { resource, namespace, name, labels, fields, subresource, .. } = &self.target;
        let of = if subresource.is_empty() { resource.clone() } else { format!("{resource}/{subresource}") };
        let place = if namespace.is_empty() { String::new() } else { format!(" in {namespace}") };
        if !name.is_empty() {
            return format!("get of {of} {name}{place}");
        }
        let selectors: Vec<&str> =
            [labels, fields].into_iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let selected =
            if selectors.is_empty() { String::new() } else { format!(" with {}", selectors.join(" and ")) };
        format!("list of {of}{place}{selected}")
    }

    /// `as before its last 2 changes, the first of which was ADDED default/x`.
    fn words(&self) -> String {
        let ReadChange { kind, object, .. } = &self.lacks;
        match self.behind {
            1 => format!("as before the last change, {kind} {object}"),
            behind => format!("as before the last {behind} changes, the first of which was {kind} {object}"),
        }
    }
}

fn until() -> String {
    format!("until the target's next write, or for {} s", LATEST.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_from_the_past_is_told_with_the_change_that_it_lacks() {
        let target = |name: &str, labels: &str| ReadTarget {
            resource: "configmaps".to_owned(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
            labels: labels.to_owned(),
            ..ReadTarget::default()
        };
        let lacks = ReadChange { revision: 7, kind: "ADDED", object: "default/x".to_owned() };
        let past = |target, behind| PastAnswer { server: 0, target, nth: 2, behind, lacks: lacks.clone() };
        let table = [
            (
                past(target("", "a=b"), 1).story(" in sourceCluster"),
                "the 2nd list of configmaps in default with a=b in sourceCluster was answered as before the last change, \
                 ADDED default/x; a watch that continued it stood still until the target's next write, or for 2 s",
            ),
            (
                past(target("x", ""), 3).story(""),
                "the 2nd get of configmaps x in default was answered as before the last 3 changes, the first of which was \
                 ADDED default/x",
            ),
            (
                past(target("", ""), 1).story_after_kill(""),
                "its first list of configmaps in default after that was answered as before the last change, ADDED \
                 default/x; the watch stood still until the target's next write, or for 2 s",
            ),
        ];
        for (found, wanted) in table {
            assert_eq!(found, wanted);
        }
    }
}
