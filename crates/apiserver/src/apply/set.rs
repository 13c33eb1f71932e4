//! Sets of fields: trees of path elements, some of which are members.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::element::Element;

/// A set of fields of one object. Membership of a parent and of its children are independent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(BTreeMap<Element, FieldNode>);

/// A node of the tree. It is a member, has members below it, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FieldNode {
    member: bool,
    below: FieldSet,
}

impl FieldSet {
    /// Whether it has no members.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a field. An empty path is ignored.
    pub(crate) fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => self.add(last.clone()),
            [first, rest @ ..] => self.0.entry(first.clone()).or_default().below.insert(rest),
        }
    }

    /// Adds a direct child.
    pub(crate) fn add(&mut self, element: Element) {
        self.0.entry(element).or_default().member = true;
    }

    /// Adds all members of a set below an element.
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

    /// Whether a direct child is a member.
    pub(crate) fn has_member(&self, element: &Element) -> bool {
        self.0.get(element).is_some_and(|node| node.member)
    }

    /// The subset below an element, if it is not empty.
    pub(crate) fn below(&self, element: &Element) -> Option<&Self> {
        self.0.get(element).map(|node| &node.below).filter(|below| !below.is_empty())
    }

    /// The direct children: whether each is a member, and the subset below it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&Element, bool, &Self)> {
        self.0.iter().map(|(element, node)| (element, node.member, &node.below))
    }

    /// The fields in either set.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for (element, node) in &other.0 {
            let own = all.0.entry(element.clone()).or_default();
            own.member |= node.member;
            own.below = own.below.union(&node.below);
        }
        all
    }

    /// The fields in both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let both = self.0.iter().filter_map(|(element, node)| {
            let theirs = other.0.get(element)?;
            let below = node.below.intersection(&theirs.below);
            FieldNode { member: node.member && theirs.member, below }.entry_unless_empty(element)
        });
        Self(both.collect())
    }

    /// The fields that `other` does not have.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let rest = self.0.iter().filter_map(|(element, node)| match other.0.get(element) {
            None => Some((element.clone(), node.clone())),
            Some(theirs) => {
                let below = node.below.difference(&theirs.below);
                FieldNode { member: node.member && !theirs.member, below }.entry_unless_empty(element)
            }
        });
        Self(rest.collect())
    }

    /// The fields that are neither in `other` nor below a member of it.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let rest = self.0.iter().filter_map(|(element, node)| match other.0.get(element) {
            None => Some((element.clone(), node.clone())),
            Some(theirs) if theirs.member => None,
            Some(theirs) => FieldNode { member: node.member, below: node.below.without(&theirs.below) }
                .entry_unless_empty(element),
        });
        Self(rest.collect())
    }

    /// The fields that match a pattern, with their parents and everything below. `None` matches any element.
    pub(crate) fn matching(&self, patterns: &[&[Option<&str>]]) -> Self {
        let kept = self.0.iter().filter_map(|(element, node)| {
            let leads = |pattern: &&&[Option<&str>]| match (pattern.first(), element) {
                (Some(None), _) => true,
                (Some(Some(wanted)), Element::Field(name)) => name == wanted,
                _ => false,
            };
            let matching: Vec<&[Option<&str>]> =
                patterns.iter().filter(leads).map(|pattern| &pattern[1..]).collect();
            if matching.iter().any(|rest| rest.is_empty()) {
                return Some((element.clone(), node.clone()));
            }
            let member = node.member && !matching.is_empty();
            FieldNode { member, below: node.below.matching(&matching) }.entry_unless_empty(element)
        });
        Self(kept.collect())
    }

    /// The paths of all members: those of one level before those below.
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

    /// The set as `fieldsV1`.
    pub(crate) fn to_json(&self) -> Value {
        Value::Object(self.0.iter().map(|(element, node)| (element.key(), node.to_json())).collect())
    }

    /// Parses `fieldsV1`.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::Object(fields) => Ok(Self::read(fields)?.0),
            _ => Err("ReadMapCB: expect { or n".to_owned()),
        }
    }

    /// The subset below, and whether the element itself is a member.
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

impl FieldNode {
    /// The entry for a set, unless the node is empty.
    fn entry_unless_empty(self, element: &Element) -> Option<(Element, Self)> {
        (self.member || !self.below.is_empty()).then(|| (element.clone(), self))
    }

    fn to_json(&self) -> Value {
        let mut json = self.below.to_json();
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
        assert_eq!(set(&fields).to_json(), fields);
        let paths: Vec<String> =
            set(&fields).paths().iter().map(|path| super::super::element::format_path(path)).collect();
        let wanted = [
            ".metadata.labels",
            ".metadata.labels.app",
            ".spec.containers[name=\"web\"]",
            ".spec.containers[name=\"web\"].image",
        ];
        assert_eq!(paths, wanted);
        assert_eq!(
            FieldSet::parse(&json!({"spec": {}})).unwrap_err(),
            "parsing key as path element: missing colon: spec"
        );
        assert_eq!(set(&json!({"q:new": {}, "f:a": {}})).to_json(), json!({"f:a": {}}));
    }

    #[test]
    fn parents_and_children_are_members_apart() {
        let parent = set(&json!({"f:a": {}}));
        let child = set(&json!({"f:a": {"f:b": {}}}));
        let both = json!({"f:a": {".": {}, "f:b": {}}});
        assert_eq!(parent.union(&child).to_json(), both);
        assert_eq!(set(&both).difference(&parent), child);
        assert_eq!(set(&both).difference(&child), parent);
        assert_eq!(set(&both).without(&parent).to_json(), json!({}));
        assert_eq!(set(&both).without(&child), parent);
        assert_eq!(set(&both).intersection(&child), child);
        assert_eq!(parent.intersection(&child).to_json(), json!({}));
    }

    #[test]
    fn a_pattern_keeps_what_leads_to_it_and_what_is_below() {
        let fields = set(&json!({
            "f:metadata": {"f:labels": {}},
            "f:spec": {".": {}, "f:nodeName": {}, "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}},
        }));
        let pattern: &[Option<&str>] = &[Some("spec"), Some("containers"), None, Some("resources")];
        let wanted = json!({"f:spec": {".": {}, "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:resources": {"f:limits": {}}}}}});
        assert_eq!(fields.matching(&[pattern]).to_json(), wanted);
    }
}
