//! Sets of fields: a tree of steps, some of which are members.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::element::Element;

/// A set of fields of one object. A parent is no member because its children are, nor the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(BTreeMap<Element, Node>);

/// A step of the tree: it is a member, or leads to some, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    below: FieldSet,
}

impl FieldSet {
    /// Whether it has no members.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a field. The object as a whole is never a member.
    pub(crate) fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => self.add(last.clone()),
            [first, rest @ ..] => self.0.entry(first.clone()).or_default().below.insert(rest),
        }
    }

    /// Adds a field right below.
    pub(crate) fn add(&mut self, element: Element) {
        self.0.entry(element).or_default().member = true;
    }

    /// Adds all members of a set below a step.
    pub(crate) fn graft(&mut self, element: Element, below: Self) {
        if below.is_empty() {
            return;
        }
        let node = self.0.entry(element).or_default();
        node.below = if node.below.is_empty() { below } else { node.below.union(&below) };
    }

    /// Whether a field is a member.
    pub(crate) fn has(&self, path: &[Element]) -> bool {
        match path {
            [] => false,
            [last] => self.0.get(last).is_some_and(|node| node.member),
            [first, rest @ ..] => self.0.get(first).is_some_and(|node| node.below.has(rest)),
        }
    }

    /// Whether a step right below is a member.
    pub(crate) fn has_member(&self, element: &Element) -> bool {
        self.0.get(element).is_some_and(|node| node.member)
    }

    /// What is below a step, if there is any.
    pub(crate) fn below(&self, element: &Element) -> Option<&Self> {
        self.0.get(element).map(|node| &node.below).filter(|below| !below.is_empty())
    }

    /// The steps right below: whether each is a member, and what is below it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&Element, bool, &Self)> {
        self.0.iter().map(|(element, node)| (element, node.member, &node.below))
    }

    /// The fields of either.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for (element, node) in &other.0 {
            let own = all.0.entry(element.clone()).or_default();
            own.member |= node.member;
            own.below = own.below.union(&node.below);
        }
        all
    }

    /// The fields of both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let both = self.0.iter().filter_map(|(element, node)| {
            let theirs = other.0.get(element)?;
            let below = node.below.intersection(&theirs.below);
            Node { member: node.member && theirs.member, below }.kept(element)
        });
        Self(both.collect())
    }

    /// The fields that the other has not.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let rest = self.0.iter().filter_map(|(element, node)| match other.0.get(element) {
            None => Some((element.clone(), node.clone())),
            Some(theirs) => {
                let below = node.below.difference(&theirs.below);
                Node { member: node.member && !theirs.member, below }.kept(element)
            }
        });
        Self(rest.collect())
    }

    /// The fields that neither the other has nor are below one that it has.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let rest = self.0.iter().filter_map(|(element, node)| match other.0.get(element) {
            None => Some((element.clone(), node.clone())),
            Some(theirs) if theirs.member => None,
            Some(theirs) => {
                Node { member: node.member, below: node.below.without(&theirs.below) }.kept(element)
            }
        });
        Self(rest.collect())
    }

    /// The fields on the way to one of the patterns, and those below it. A step of `None` stands for any.
    pub(crate) fn only(&self, patterns: &[&[Option<&str>]]) -> Self {
        let kept = self.0.iter().filter_map(|(element, node)| {
            let leads = |pattern: &&&[Option<&str>]| match (pattern.first(), element) {
                (Some(None), _) => true,
                (Some(Some(wanted)), Element::Field(name)) => name == wanted,
                _ => false,
            };
            let here: Vec<&[Option<&str>]> =
                patterns.iter().filter(leads).map(|pattern| &pattern[1..]).collect();
            if here.iter().any(|rest| rest.is_empty()) {
                return Some((element.clone(), node.clone()));
            }
            let member = node.member && !here.is_empty();
            Node { member, below: node.below.only(&here) }.kept(element)
        });
        Self(kept.collect())
    }

    /// The paths of all members: those of one level before those below them.
    pub(crate) fn paths(&self) -> Vec<Vec<Element>> {
        let mut all = Vec::new();
        self.collect(&mut Vec::new(), &mut all);
        all
    }

    fn collect(&self, path: &mut Vec<Element>, all: &mut Vec<Vec<Element>>) {
        for (element, _) in self.0.iter().filter(|(_, node)| node.member) {
            all.push(path.iter().chain([element]).cloned().collect());
        }
        for (element, node) in &self.0 {
            path.push(element.clone());
            node.below.collect(path, all);
            path.pop();
        }
    }

    /// As `fieldsV1`.
    pub(crate) fn json(&self) -> Value {
        Value::Object(self.0.iter().map(|(element, node)| (element.key(), node.json())).collect())
    }

    /// Reads `fieldsV1`.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::Object(fields) => Ok(Self::read(fields)?.0),
            _ => Err("ReadMapCB: expect { or n".to_owned()),
        }
    }

    /// What is below, and whether the step itself is a member.
    fn read(fields: &Map<String, Value>) -> Result<(Self, bool), String> {
        let mut set = Self::default();
        let mut member = false;
        for (key, value) in fields {
            if key == "." {
                member = true;
                continue;
            }
            let Some(element) = Element::parse(key)? else { continue };
            let below = value.as_object().ok_or("ReadMapCB: expect { or n")?;
            let (below, is_member) = Self::read(below)?;
            if is_member {
                set.add(element.clone());
            }
            set.graft(element, below);
        }
        let leaf = set.is_empty();
        Ok((set, member || leaf))
    }
}

impl FromIterator<Vec<Element>> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Vec<Element>>>(paths: I) -> Self {
        let mut set = Self::default();
        paths.into_iter().for_each(|path| set.insert(&path));
        set
    }
}

impl Node {
    /// The node at its step, if there is any reason to keep it.
    fn kept(self, element: &Element) -> Option<(Element, Self)> {
        (self.member || !self.below.is_empty()).then(|| (element.clone(), self))
    }

    fn json(&self) -> Value {
        let mut json = self.below.json();
        if self.member
            && let Some(fields) = json.as_object_mut().filter(|fields| !fields.is_empty())
        {
            fields.insert(".".to_owned(), Value::Object(Map::new()));
        }
        json
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(value: &Value) -> FieldSet {
        FieldSet::parse(value).unwrap()
    }

    #[test]
    fn a_set_is_written_as_it_was_read() {
        let fields = json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}}}},
        });
        assert_eq!(set(&fields).json(), fields);
        let shown: Vec<String> =
            set(&fields).paths().iter().map(|path| super::super::element::shown(path)).collect();
        let wanted = [
            ".metadata.labels",
            ".metadata.labels.app",
            ".spec.containers[name=\"web\"]",
            ".spec.containers[name=\"web\"].image",
        ];
        assert_eq!(shown, wanted);
        assert_eq!(
            FieldSet::parse(&json!({"spec": {}})).unwrap_err(),
            "parsing key as path element: missing colon: spec"
        );
        assert_eq!(set(&json!({"q:new": {}, "f:a": {}})).json(), json!({"f:a": {}}));
    }

    #[test]
    fn parents_and_children_are_members_apart() {
        let parent = set(&json!({"f:a": {}}));
        let child = set(&json!({"f:a": {"f:b": {}}}));
        let both = json!({"f:a": {".": {}, "f:b": {}}});
        assert_eq!(parent.union(&child).json(), both);
        assert_eq!(set(&both).difference(&parent), child);
        assert_eq!(set(&both).difference(&child), parent);
        assert_eq!(set(&both).without(&parent).json(), json!({}));
        assert_eq!(set(&both).without(&child), parent);
        assert_eq!(set(&both).intersection(&child), child);
        assert_eq!(parent.intersection(&child).json(), json!({}));
    }

    #[test]
    fn a_pattern_keeps_what_leads_to_it_and_what_is_below() {
        let fields = set(&json!({
            "f:metadata": {"f:labels": {}},
            "f:spec": {".": {}, "f:nodeName": {}, "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}},
        }));
        let pattern: &[Option<&str>] = &[Some("spec"), Some("containers"), None, Some("resources")];
        let wanted = json!({"f:spec": {".": {}, "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:resources": {"f:limits": {}}}}}});
        assert_eq!(fields.only(&[pattern]).json(), wanted);
    }
}
