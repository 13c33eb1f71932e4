//! Reads the steps of a scenario, in which cells are filled in.

use std::time::Duration;

use formats::duration::GoDuration;
use serde_json::{Map, Value, json};

use super::expectation;
use super::given::ObjectBuilder;
use super::keywords::{ADVANCE, DO, NEVER, REQUESTS, SIDES, STEP, VERBS};
use super::object_ref;
use super::refusals;
use super::then::known_keys;
use super::tree::{BareWord, Span, Tree, TreeData, literal};
use crate::expect::{Expect, Rules};
use crate::model::Location;
use crate::scenario::{Action, Advance, HOLD, History, Never, ObjectRef, Requests, Side, State, Step};

/// Reads the steps of one row.
pub(super) struct StepReader<'a> {
    pub(super) builder: &'a ObjectBuilder<'a>,
    pub(super) location: &'a dyn Fn(Span) -> Location,
}

impl StepReader<'_> {
    /// One step.
    pub(super) fn step(&self, tree: &Tree) -> Option<Step> {
        known_keys(tree, "a step", &STEP, self.builder.report)?;
        let Some(name) = tree.get("name").and_then(Tree::text) else {
            self.report_error("missing-key", tree.span, "a step has no name", "write `{name: applied, …}`");
            return None;
        };
        let part = |name: &str| tree.get(name).filter(|part| !part.is_null());
        let step = Step {
            name: name.to_owned(),
            advance: part("advance").and_then(|part| self.advance(part)),
            actions: part("do").map(|part| self.actions(part)).unwrap_or_default(),
            witness: part("witness").and_then(|part| self.witness(part)),
            eventually: part("eventually").map(|part| self.states(part)).unwrap_or_default(),
            history: part("history").map(|part| self.history(part)).unwrap_or_default(),
            never: part("never").and_then(|part| self.never(part)),
            requests: part("requests").and_then(|part| self.requests(part)),
            location: (self.location)(tree.span),
        };
        let guarded = step.never.is_some() || step.requests.is_some();
        if guarded && step.witness.is_none() && step.eventually.is_empty() && step.history.is_empty() {
            let remedy = "add `witness: {reconciles: <controller>}`, or `eventually`";
            self.report_error(
                "witness",
                tree.span,
                "a step with never or requests needs evidence that the target ran",
                remedy,
            );
        }
        Some(step)
    }

    fn advance(&self, tree: &Tree) -> Option<Advance> {
        known_keys(tree, "advance", &ADVANCE, self.builder.report)?;
        let to = tree.get("to").or_else(|| tree.get("by"));
        let Some(to) = to.and_then(|to| self.duration(to)) else {
            self.report_error(
                "missing-key",
                tree.span,
                "advance needs a time",
                "write `{to: 9h, after: <step>}`",
            );
            return None;
        };
        Some(Advance { to, after: tree.get("after").and_then(Tree::text).map(str::to_owned) })
    }

    fn duration(&self, tree: &Tree) -> Option<Duration> {
        let parsed = tree.text().and_then(|text| GoDuration::parse(text).ok()).and_then(GoDuration::to_std);
        if parsed.is_none() {
            self.report_error("duration", tree.span, "this is not a duration", "write `90s`, `10m`, `9h35m`");
        }
        parsed
    }

    /// The actions of `do`, in the order of its keys.
    fn actions(&self, tree: &Tree) -> Vec<Action> {
        let mut actions = Vec::new();
        for (key, value) in tree.map().unwrap_or_default() {
            if key.name == "target" {
                actions.extend(self.target(value));
            } else if let Some(side) = self.side(&key.name, key.span) {
                if known_keys(value, "do", &DO, self.builder.report).is_none() {
                    continue;
                }
                for (verb, what) in value.map().unwrap_or_default() {
                    actions.extend(self.verb(side, &verb.name, what));
                }
            }
        }
        actions
    }

    fn target(&self, tree: &Tree) -> Option<Action> {
        match tree.text() {
            Some("stop") => Some(Action::Stop),
            Some("start") => Some(Action::Start),
            _ => {
                self.report_error("type", tree.span, "target must be stop or start", "write `target: stop`");
                None
            }
        }
    }

    fn verb(&self, side: Side, verb: &str, tree: &Tree) -> Vec<Action> {
        match verb {
            "create" => {
                let objects = tree.list().unwrap_or(std::slice::from_ref(tree)).iter();
                let objects = objects.filter(|tree| !tree.is_null());
                objects
                    .filter_map(|tree| self.builder.object(tree))
                    .map(|object| Action::Create(side, object))
                    .collect()
            }
            "patch" | "patchStatus" => {
                let action = if verb == "patch" { Action::Patch } else { Action::PatchStatus };
                let patches = self.objects(tree).into_iter();
                patches.map(|(object, patch)| action(side, object, self.patch(patch))).collect()
            }
            "delete" => self.names(tree).into_iter().map(|object| Action::Delete(side, object)).collect(),
            "touch" => self.names(tree).into_iter().map(|object| Action::Touch(side, object)).collect(),
            "refuse" => refusals::read(side, tree, self.builder.report),
            _ => Vec::new(),
        }
    }

    /// A JSON merge patch: nulls stay, notations are built.
    fn patch(&self, tree: &Tree) -> Value {
        match &tree.data {
            TreeData::BareWord(BareWord::Absent) => Value::Null,
            TreeData::Map(entries) if !entries.iter().any(|(key, _)| is_operator(&key.name)) => {
                let fields = entries.iter();
                let fields = fields.map(|(key, value)| (literal(&key.name).to_owned(), self.patch(value)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            TreeData::Map(_) => self.builder.merge_untyped(Value::Null, tree),
            TreeData::List(items) => items.iter().map(|item| self.patch(item)).collect(),
            TreeData::Scalar(_) | TreeData::BareWord(_) => tree.to_value(),
        }
    }

    fn witness(&self, tree: &Tree) -> Option<String> {
        known_keys(tree, "witness", &["reconciles"], self.builder.report)?;
        let controller = tree.get("reconciles").and_then(Tree::text).map(str::to_owned);
        if controller.is_none() {
            let remedy = "write `witness: {reconciles: token-requestor}`";
            self.report_error("missing-key", tree.span, "witness names no controller", remedy);
        }
        controller
    }

    fn states(&self, tree: &Tree) -> Vec<State> {
        let mut states = Vec::new();
        for (side, object, wanted) in self.by_side(tree) {
            let expect = self.expect(&object, wanted);
            states.push(State { side, object, expect });
        }
        states
    }

    fn history(&self, tree: &Tree) -> Vec<History> {
        let mut found = Vec::new();
        for (side, object, wanted) in self.by_side(tree) {
            let Some(items) = wanted.list() else {
                self.report_error(
                    "type",
                    wanted.span,
                    "a history must be a list of states",
                    "write `[{…}, {…}]`",
                );
                continue;
            };
            let states = items.iter().map(|item| self.expect(&object, item)).collect();
            found.push(History { side, object, states });
        }
        found
    }

    fn never(&self, tree: &Tree) -> Option<Never> {
        known_keys(tree, "never", &NEVER, self.builder.report)?;
        let clusters: Vec<_> =
            tree.map()?.iter().filter(|(key, _)| SIDES.contains(&key.name.as_str())).cloned().collect();
        let never = Never {
            writes: tree.get("writes").map(|part| self.names(part)).unwrap_or_default(),
            states: self.states(&Tree { data: TreeData::Map(clusters), span: tree.span }),
            hold: tree.get("for").and_then(|part| self.duration(part)).unwrap_or(HOLD),
        };
        if never.writes.is_empty() && never.states.is_empty() {
            self.report_error(
                "missing-key",
                tree.span,
                "never forbids nothing",
                "write `never: {writes: secret/a}`",
            );
        }
        Some(never)
    }

    fn requests(&self, tree: &Tree) -> Option<Requests> {
        known_keys(tree, "requests", &REQUESTS, self.builder.report)?;
        let order = tree.get("order").and_then(Tree::list).unwrap_or_default();
        Some(Requests {
            writes: tree.get("writes").and_then(|part| self.count(part)),
            of: tree.get("of").map(|part| self.names(part)).unwrap_or_default(),
            order: order.iter().filter_map(|part| self.write(part)).collect(),
            per_object: tree.get("perObject").and_then(|part| self.count(part)),
        })
    }

    fn count(&self, tree: &Tree) -> Option<usize> {
        let count = tree.to_value().as_u64().and_then(|count| usize::try_from(count).ok());
        if count.is_none() {
            self.report_error("type", tree.span, "this is not a count", "write a number of at least 0");
        }
        count
    }

    /// `create configmap/a`
    fn write(&self, tree: &Tree) -> Option<(String, ObjectRef)> {
        let (verb, object) = tree.text().and_then(|text| text.split_once(' ')).unwrap_or_default();
        if !VERBS.contains(&verb) {
            let remedy = "write it like `create configmap/a`; verbs are create, update, patch, delete";
            self.report_error("object-ref", tree.span, "this is not a verb and an object", remedy);
            return None;
        }
        let object = object_ref::read(object, tree.span, self.builder.report)?;
        Some((verb.to_owned(), object))
    }

    fn by_side<'t>(&self, tree: &'t Tree) -> Vec<(Side, ObjectRef, &'t Tree)> {
        let Some(entries) = tree.map() else {
            self.report_error(
                "type",
                tree.span,
                "expected a map of clusters",
                "write `{sourceCluster: {secret/a: …}}`",
            );
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, objects) in entries {
            if let Some(side) = self.side(&key.name, key.span) {
                found.extend(self.objects(objects).into_iter().map(|(object, tree)| (side, object, tree)));
            }
        }
        found
    }

    fn side(&self, name: &str, span: Span) -> Option<Side> {
        let side = side(name);
        if side.is_none() {
            let remedy = "known are cluster, sourceCluster and targetCluster";
            self.report_error("unknown-key", span, &format!("unknown cluster {name:?}"), remedy);
        }
        side
    }

    /// A map from objects to values.
    fn objects<'t>(&self, tree: &'t Tree) -> Vec<(ObjectRef, &'t Tree)> {
        let Some(entries) = tree.map() else {
            self.report_error("type", tree.span, "expected a map of objects", "write `{secret/a: …}`");
            return Vec::new();
        };
        let named = entries.iter().filter_map(|(key, value)| {
            Some((object_ref::read(&key.name, key.span, self.builder.report)?, value))
        });
        named.collect()
    }

    /// One name or a list of names.
    fn names(&self, tree: &Tree) -> Vec<ObjectRef> {
        let mut found = Vec::new();
        for tree in tree.list().unwrap_or(std::slice::from_ref(tree)) {
            match tree.text() {
                Some(text) => found.extend(object_ref::read(text, tree.span, self.builder.report)),
                None if tree.is_null() => {}
                None => {
                    self.report_error("type", tree.span, "this does not name an object", "write `secret/a`");
                }
            }
        }
        found
    }

    fn expect(&self, object: &ObjectRef, tree: &Tree) -> Expect {
        let head = json!({"apiVersion": object.api_version, "kind": object.kind});
        let rules = Rules::of_object(&head).with(self.builder.list_keys, self.builder.unordered);
        expectation::read(tree, &rules, self.builder.report)
    }

    fn report_error(&self, code: &'static str, span: Span, message: &str, remedy: &str) {
        self.builder.report.add(code, span, message, remedy);
    }
}

/// The cluster of a key.
pub(super) fn side(name: &str) -> Option<Side> {
    [Side::Only, Side::Source, Side::Target].into_iter().find(|side| side.name() == name)
}

fn is_operator(name: &str) -> bool {
    name.starts_with('$') && !name.starts_with("$$")
}
