//! Builds the objects of `given`: looks up fixtures, merges differences over them, builds notations.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cells::Cells;
use super::lists;
use super::operators::{MapOperator, map_operator};
use super::report::{Report, nearest};
use super::shared::FixtureScope;
use super::then::known_keys;
use super::tree::{BareWord, Key, Span, Tree, TreeData, literal};
use crate::expect::{ListRule, Notation, Rules, close};

/// The keys of `$repeat`.
const REPEAT: [&str; 2] = ["text", "times"];
/// The longest string that `$repeat` builds, in bytes: more than any API server accepts.
const LONGEST: usize = 4 << 20;

/// Where fixtures are looked up: first the contract's own, then the shared ones.
#[derive(Clone)]
pub(crate) struct FixtureLookup<'a> {
    pub(crate) own: Vec<&'a BTreeMap<String, Tree>>,
    pub(crate) shared: FixtureScope<'a>,
}

/// Builds objects for one row.
pub(crate) struct ObjectBuilder<'a> {
    pub(crate) lookup: &'a FixtureLookup<'a>,
    pub(crate) cells: &'a Cells<'a>,
    pub(crate) list_keys: &'a BTreeMap<String, String>,
    pub(crate) unordered: &'a [String],
    pub(crate) report: &'a Report<'a>,
    /// Names of the fixtures that are being built, to detect one that starts from itself.
    pub(crate) in_progress: RefCell<Vec<String>>,
}

impl ObjectBuilder<'_> {
    /// A complete object from the name of a fixture, or from a map that may start from one with `like`. Cells are
    /// filled in already.
    pub(crate) fn object(&self, tree: &Tree) -> Option<Value> {
        let built = match tree.text() {
            Some(name) => self.fixture(name, tree.span)?,
            None => self.object_from_map(tree)?,
        };
        let named = |key: &str| built.get(key).is_some_and(Value::is_string);
        if !(named("apiVersion") && named("kind")) {
            let remedy = "start from a fixture with `like`, or write apiVersion and kind";
            self.report.add("no-kind", tree.span, "the object has no apiVersion and kind", remedy);
        }
        Some(built)
    }

    /// An object with a difference merged over it; a difference with `like` replaces the object.
    pub(crate) fn with_difference(&self, base: Value, tree: &Tree) -> Option<Value> {
        if tree.get("like").is_some() {
            return self.object(tree);
        }
        let rules = self.rules(&base, tree);
        self.merge(Some(base), tree, &rules)
    }

    /// A difference merged over a value without a known type, such as configuration.
    pub(crate) fn merge_untyped(&self, base: Value, tree: &Tree) -> Value {
        self.merge(Some(base), tree, &Rules::unknown()).unwrap_or_default()
    }

    fn object_from_map(&self, tree: &Tree) -> Option<Value> {
        let Some(entries) = tree.map() else {
            self.report.add(
                "type",
                tree.span,
                "an object must be a map",
                "start from a fixture: `{like: pod}`",
            );
            return None;
        };
        let base = match tree.get("like") {
            None => Value::Object(Map::new()),
            Some(like) => {
                let Some(name) = like.text() else {
                    self.report.add(
                        "type",
                        like.span,
                        "like must be the name of a fixture",
                        "write `like: pod`",
                    );
                    return None;
                };
                self.fixture(name, like.span)?
            }
        };
        let rest: Vec<(Key, Tree)> = entries.iter().filter(|(key, _)| key.name != "like").cloned().collect();
        let rest = Tree { data: TreeData::Map(rest), span: tree.span };
        let rules = self.rules(&base, &rest);
        self.merge(Some(base), &rest, &rules)
    }

    fn fixture(&self, name: &str, span: Span) -> Option<Value> {
        let building = self.in_progress.borrow().iter().any(|open| open == name);
        let own = self.lookup.own.iter().find_map(|fixtures| fixtures.get(name));
        if let (Some(tree), false) = (own, building) {
            self.in_progress.borrow_mut().push(name.to_owned());
            let filled = self.cells.fill(tree);
            let built = match filled.text() {
                Some(other) => self.fixture(other, filled.span),
                None => self.object_from_map(&filled),
            };
            self.in_progress.borrow_mut().pop();
            return built;
        }
        let found = self.lookup.shared.get(name).cloned();
        if found.is_none() && building {
            self.report.add(
                "fixture",
                span,
                format!("fixture {name} starts from itself"),
                "start from another fixture",
            );
        } else if found.is_none() {
            let own = self.lookup.own.iter().flat_map(|own| own.keys()).map(String::as_str);
            let remedy = nearest(name, own.chain(self.lookup.shared.names()));
            self.report.add("fixture", span, format!("unknown fixture {name:?}"), remedy);
        }
        found
    }

    /// The rules of the kind that the merged object has.
    fn rules(&self, base: &Value, over: &Tree) -> Rules {
        let says = |key: &str| {
            let own = over.get(key).and_then(Tree::text).map(Value::from);
            own.or_else(|| base.get(key).cloned()).unwrap_or_default()
        };
        let head: Value = ["apiVersion", "kind"].map(|key| (key.to_owned(), says(key))).into_iter().collect();
        Rules::of_object(&head).with(self.list_keys, self.unordered)
    }

    /// The base with the difference merged in; `None`: the difference removes it.
    fn merge(&self, base: Option<Value>, over: &Tree, rules: &Rules) -> Option<Value> {
        match &over.data {
            TreeData::Scalar(Value::Null) | TreeData::BareWord(BareWord::Absent) => None,
            TreeData::BareWord(word) => self.report_assertion(over, word.name()),
            TreeData::Scalar(Value::String(text)) => self.text(text, over),
            TreeData::Scalar(value) => Some(value.clone()),
            TreeData::List(items) => Some(self.list(base, items, rules)),
            TreeData::Map(entries) => match map_operator(over, self.report) {
                MapOperator::None => Some(self.map(base, entries, rules)),
                MapOperator::Operator(name, value) => self.operator(base, name, value, over, rules),
                MapOperator::Invalid => None,
            },
        }
    }

    fn text(&self, text: &str, tree: &Tree) -> Option<Value> {
        match text {
            "$absent" => None,
            "$present" | "$changed" | "$unchanged" | "$filled" => self.report_assertion(tree, &text[1..]),
            _ if text.starts_with('$') && !text.starts_with("$$") => {
                super::operators::report_unknown(text, tree.span, self.report);
                None
            }
            _ => Some(Value::from(literal(text))),
        }
    }

    fn report_assertion(&self, tree: &Tree, name: &str) -> Option<Value> {
        let message = format!("`{name}` is an assertion and not allowed here");
        self.report.add("operator", tree.span, message, format!("quote it if you mean the word: \"{name}\""));
        None
    }

    fn map(&self, base: Option<Value>, entries: &[(Key, Tree)], rules: &Rules) -> Value {
        let mut map = match base {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        for (key, value) in entries {
            let name = literal(&key.name);
            lists::check_field(name, key.span, rules, self.report);
            lists::check_value_of_map(value, rules, self.report);
            match self.merge(map.remove(name), value, &rules.field(name)) {
                Some(merged) if !is_emptied_map(&merged, value, rules, name) => {
                    drop(map.insert(name.to_owned(), merged));
                }
                _ => {}
            }
        }
        Value::Object(map)
    }

    fn list(&self, base: Option<Value>, items: &[Tree], rules: &Rules) -> Value {
        let item = rules.item();
        // Elements that are not maps have no key: such a list is given as it is; the target must refuse it.
        let keyless = items.iter().any(|tree| tree.map().is_none() && !tree.is_null());
        let ListRule::Keyed(keys) = (if keyless { ListRule::Ordered } else { rules.list() }) else {
            return items.iter().filter_map(|tree| self.merge(None, tree, &item)).collect();
        };
        let mut list = match base {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        for tree in items {
            let Some(element) = lists::element(tree, &keys, rules, self.report) else { continue };
            let same = |other: &Value| {
                rules.key_of(&keys, other).is_some_and(|key| lists::same_key(&key, &element.key))
            };
            let at = list.iter().position(same);
            let over = Tree { data: TreeData::Map(element.fields), span: tree.span };
            let removed = element.is.is_some_and(|is| self.is_absent(is));
            match (at, removed) {
                (Some(at), true) => drop(list.remove(at)),
                (None, true) => {}
                (Some(at), false) => {
                    if let Some(merged) = self.merge(Some(list[at].take()), &over, &item) {
                        list[at] = merged;
                    }
                }
                (None, false) => list.extend(self.merge(None, &over, &item)),
            }
        }
        Value::Array(list)
    }

    /// Whether `$is` removes an element; reports every value but present and absent.
    fn is_absent(&self, is: &Tree) -> bool {
        match &is.data {
            TreeData::BareWord(BareWord::Absent) | TreeData::Scalar(Value::Null) => true,
            TreeData::BareWord(BareWord::Present) => false,
            _ => match is.text() {
                Some("absent" | "$absent") => true,
                Some("present" | "$present") => false,
                _ => {
                    self.report.add(
                        "operator",
                        is.span,
                        "$is must be present or absent here",
                        "write `$is: absent`",
                    );
                    false
                }
            },
        }
    }

    fn operator(
        &self,
        base: Option<Value>,
        name: &str,
        value: &Tree,
        over: &Tree,
        rules: &Rules,
    ) -> Option<Value> {
        match name {
            "$append" => {
                let mut list = base.and_then(|base| base.as_array().cloned()).unwrap_or_default();
                let items = value.list().unwrap_or_default().iter();
                list.extend(items.filter_map(|tree| self.merge(None, tree, &rules.item())));
                Some(Value::Array(list))
            }
            "$replace" => match &value.data {
                TreeData::List(items) => {
                    Some(items.iter().filter_map(|tree| self.merge(None, tree, &rules.item())).collect())
                }
                _ => self.merge(None, value, rules),
            },
            "$flags" => Some(flags(base, value)),
            "$yaml" => self.notation(Notation::Yaml, value),
            "$json" => self.notation(Notation::Json, value),
            "$base64" => self.notation(Notation::Base64, value),
            "$certificateRequest" => self.notation(Notation::CertificateRequest, value),
            "$unit" => self.notation(Notation::Unit, value),
            "$repeat" => self.repeat(value),
            "$is" if self.is_absent(value) => None,
            "$is" => base,
            _ => self.report_assertion(over, name),
        }
    }

    /// The string of `$repeat`.
    fn repeat(&self, value: &Tree) -> Option<Value> {
        known_keys(value, "$repeat", &REPEAT, self.report)?;
        let text = value.get("text").and_then(Tree::text);
        let times = value.get("times").and_then(|times| times.to_value().as_u64());
        let length = text.zip(times).and_then(|(text, times)| {
            let length = text.len().checked_mul(usize::try_from(times).ok()?)?;
            (length <= LONGEST).then_some(length / text.len().max(1))
        });
        let (Some(text), Some(times)) = (text, length) else {
            let message = format!("$repeat needs text and times, and at most {LONGEST} bytes in all");
            self.report.add("operator", value.span, message, "write `{text: abc, times: 1000}`");
            return None;
        };
        Some(Value::from(text.repeat(times)))
    }

    fn notation(&self, notation: Notation, value: &Tree) -> Option<Value> {
        let content = if value.get("like").is_some() {
            self.object_from_map(value)?
        } else {
            let rules = self.rules(&Value::Null, value);
            self.merge(None, value, &rules)?
        };
        let closed = close(notation, &content);
        if closed.is_none() {
            self.report.add(
                "operator",
                value.span,
                "the value cannot be written in this notation",
                "$base64 takes a string, $unit sections with options, $certificateRequest fields such as `commonName`",
            );
        }
        closed.map(Value::from)
    }
}

/// Whether a map with free keys (labels) lost all its keys; it is then left out too, as a server would not send it.
fn is_emptied_map(merged: &Value, over: &Tree, rules: &Rules, name: &str) -> bool {
    let all_left_out = over.map().is_some_and(|entries| !entries.is_empty());
    all_left_out && rules.field(name).is_map() && merged.as_object().is_some_and(Map::is_empty)
}

/// Edits flags of a command line by name: a value sets a flag, `~` removes it; new flags are appended.
fn flags(base: Option<Value>, over: &Tree) -> Value {
    let mut list = base.and_then(|base| base.as_array().cloned()).unwrap_or_default();
    for (key, value) in over.map().unwrap_or_default() {
        let is = |item: &Value| {
            let rest = item.as_str().and_then(|item| item.strip_prefix(key.name.as_str()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let written = match value.to_value() {
            Value::Null => None,
            Value::String(text) => Some(format!("{}={text}", key.name)),
            other => Some(format!("{}={other}", key.name)),
        };
        let at = list.iter().position(is);
        list.retain(|item| !is(item));
        if let Some(written) = written {
            list.insert(at.unwrap_or(list.len()).min(list.len()), Value::from(written));
        }
    }
    Value::Array(list)
}
