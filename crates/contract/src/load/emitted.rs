//! The form objects: rules for emitted objects, their cases, and changes that break them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::cells::Cells;
use super::draft::Clause;
use super::expand::{Context, UnnamedCase, UsedColumns};
use super::expectation;
use super::fields::Fields;
use super::keywords::{BREAK, WEBHOOK};
use super::namespaces::{Namespace, apply_change};
use super::object_ref;
use super::report::Report;
use super::table::TableRow;
use super::then::known_keys;
use super::tree::{Span, Tree};
use crate::case::{Case, Given, Then, When};
use crate::emitted::{Break, Emits, Emitted, Selector, is_gardener};
use crate::expect::Rules;
use crate::versions::Range;

/// The keys of a clause that only this form has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectsForm {
    pub(crate) object: Option<Tree>,
    pub(crate) condition: Option<Tree>,
    pub(crate) beside: Option<Tree>,
    pub(crate) without: Option<Tree>,
    /// Whether a webhook may add what Gardener must not emit.
    pub(crate) webhook: bool,
    pub(crate) breaks: Option<Tree>,
}

impl ObjectsForm {
    /// Reads them from the fields of a clause.
    pub(crate) fn of(fields: &Fields<'_>) -> Self {
        Self {
            object: fields.tree("object"),
            condition: fields.tree("where"),
            beside: fields.tree("beside"),
            without: fields.tree("without"),
            webhook: fields.choice("webhook", &WEBHOOK).unwrap_or_default(),
            breaks: fields.tree("breaks"),
        }
    }
}

impl Context<'_> {
    /// One row as a rule, with a case for each object of each namespace that it applies to.
    pub(super) fn emitted_cases(
        &self,
        clause: &Clause,
        cells: &Cells<'_>,
        row: Option<(usize, &TableRow)>,
        used: &mut UsedColumns,
    ) -> Option<(Emits, Vec<UnnamedCase>)> {
        let errors = self.report.count();
        let rule = self.read_rule(clause, cells, row, used)?;
        let asserted = assertions_for_hash(clause, cells);
        let mut built: Vec<UnnamedCase> = Vec::new();
        let mut shared: BTreeSet<*const Value> = BTreeSet::new();
        for (name, namespace) in self.namespaces.iter().filter(|(_, of)| applies_to(clause, of)) {
            let applicable = rule.asked_of(&namespace.objects);
            let several = applicable.len() > 1;
            for object in applicable {
                let is_new = object.is_none_or(|object| shared.insert(Arc::as_ptr(object)));
                let plain = object.map(Arc::as_ref);
                if (namespace.is_varied && !is_new)
                    || rule.differs(&clause.differs, &namespace.gardener, plain)
                {
                    continue;
                }
                let of = plain.map(name_of).filter(|_| several);
                let like = of.map_or_else(|| name.clone(), |object| format!("{name},{object}"));
                let case = Case {
                    name: String::new(),
                    inputs: Vec::new(),
                    config: json!({}),
                    given: Given::default(),
                    when: When::Emitted(Box::new(Emitted {
                        namespace: name.clone(),
                        object: object.map(Arc::clone),
                        breaks: Vec::new(),
                    })),
                    then: Then::emitted(rule.expect.clone()),
                    location: rule.location.clone(),
                };
                let (row, then) = (row.map(|(number, _)| number), asserted.clone());
                built.push(UnnamedCase { row, like: Some(like), operation: None, runs_on: None, case, then });
            }
        }
        self.check_differs(clause, &rule);
        if built.is_empty() && self.report.count() == errors {
            let remedy =
                "add a namespace with such an object, or correct `object`, `where`, `beside` or `without`";
            let message = format!("{} applies to no object in any namespace", clause.id);
            self.report.add("vacuous", row.map_or(clause.span, |(_, row)| row.span), message, remedy);
        }
        let row = row.and_then(|(_, row)| row.case.as_deref());
        self.attach_breaks(clause, (cells, row), &rule, &mut built);
        used.after.extend(cells.take_used());
        (self.report.count() == errors).then_some((rule, built))
    }

    /// Reports a clause whose `differs` names Gardener although every namespace keeps it.
    fn check_differs(&self, clause: &Clause, rule: &Emits) {
        let stated = |of: &Namespace| {
            let mut applicable = rule.asked_of(&of.objects).into_iter();
            applicable.any(|object| rule.differs(&clause.differs, &of.gardener, object.map(Arc::as_ref)))
        };
        let is_said = clause.differs.keys().any(|who| is_gardener(who));
        if is_said && !self.namespaces.iter().any(|(_, of)| stated(of)) {
            let message =
                format!("`differs` of {} names Gardener, but every namespace keeps the clause", clause.id);
            let remedy = "add a namespace that breaks it, or remove `differs`";
            self.report.add("differs", clause.span, message, remedy);
        }
    }

    fn read_rule(
        &self,
        clause: &Clause,
        cells: &Cells<'_>,
        row: Option<(usize, &TableRow)>,
        used: &mut UsedColumns,
    ) -> Option<Emits> {
        let keys = &clause.objects_form;
        let missing = |name: &str, remedy: &str| {
            self.report.add("missing-key", clause.span, format!("{name} is missing"), remedy);
        };
        let Some(object) = &keys.object else {
            missing(
                "object",
                "name the objects: `object: deployment/kube-apiserver` or `object: deployment/*`",
            );
            return None;
        };
        let object = selector(&cells.fill(object), self.report)?;
        let head = json!({"apiVersion": object.api_version, "kind": object.selector.kind});
        let rules = Rules::of_object(&head).with(self.list_keys, self.unordered);
        let condition =
            keys.condition.as_ref().map(|tree| expectation::read(&cells.fill(tree), &rules, self.report));
        let beside = selectors(keys.beside.as_ref(), cells, self.report);
        let without = selectors(keys.without.as_ref(), cells, self.report);
        let Some(emits) = &clause.emits else {
            missing(
                "emits",
                "write what each object must satisfy: `emits: {spec: …}`, `$present` or `$absent`",
            );
            return None;
        };
        let expect = expectation::read(&cells.fill(emits), &rules, self.report);
        // Every column of the row names the case.
        used.before.extend(cells.take_used());
        let location = self.location_of(clause, row);
        Some(Emits { object: object.selector, condition, beside, without, expect, rules, location })
    }

    /// Adds each change that breaks the clause to the case of the object that it changes.
    fn attach_breaks(
        &self,
        clause: &Clause,
        (cells, row): (&Cells<'_>, Option<&str>),
        rule: &Emits,
        built: &mut [UnnamedCase],
    ) {
        for written in clause.objects_form.breaks.iter().flat_map(|breaks| breaks.list().unwrap_or_default())
        {
            let tree = cells.fill(written);
            let Some((name, change)) = self.read_break(&tree) else { continue };
            let text = tree.get("namespace").and_then(Tree::text);
            let named = |built: &&UnnamedCase| text.is_none_or(|name| built.case.namespace() == Some(name));
            let first = built.iter().find(named).and_then(|built| built.case.namespace()).map(str::to_owned);
            let namespace = self.namespaces.iter().find(|(name, _)| Some(name) == first.as_ref());
            let Some((first, namespace)) = namespace else {
                let message = format!("{} does not apply in the namespace of {name:?}", clause.id);
                self.report.add("breaks", tree.span, message, "name a namespace in which the clause applies");
                continue;
            };
            let Some(objects) = apply_change(&namespace.objects, change, &self.builder(cells)) else {
                continue;
            };
            let applicable = rule.asked_of(&objects).into_iter().map(|object| object.map(Arc::as_ref));
            let broken = applicable.into_iter().find(|object| !rule.is_kept(*object));
            let Some(broken) = broken else {
                // A change without cells may break another row.
                if depends_on_row(written) {
                    self.report_useless_break(clause, &name, tree.span);
                }
                continue;
            };
            let of = broken.map(name_of);
            let here = |built: &UnnamedCase| built.case.namespace() == Some(first.as_str());
            let same = |built: &UnnamedCase| here(built) && built.case.emitted().map(name_of) == of;
            let at = built.iter().position(same).or_else(|| built.iter().position(here));
            let gardener = namespace.gardener.clone();
            let row = row.filter(|_| depends_on_row(written));
            let name = row.map_or_else(|| name.clone(), |row| format!("{row}: {name}"));
            let found = Break { name, object: broken.cloned(), gardener, objects };
            if let Some(When::Emitted(emitted)) = at.map(|at| &mut built[at].case.when) {
                emitted.breaks.push(found);
            }
        }
    }

    fn read_break<'t>(&self, tree: &'t Tree) -> Option<(String, &'t Tree)> {
        known_keys(tree, "a break", &BREAK, self.report)?;
        let name = tree.get("case").and_then(Tree::text);
        let found = name.map(str::to_owned).zip(tree.get("change"));
        if found.is_none() {
            let remedy = "write `{case: set, change: {deployment/kube-apiserver: {…}}}`";
            self.report.add("missing-key", tree.span, "a break needs case and change", remedy);
        }
        found
    }

    /// Reports changes without cells that break no row.
    pub(super) fn check_breaks(&self, clause: &Clause, built: &[UnnamedCase]) {
        for tree in clause.objects_form.breaks.iter().flat_map(|breaks| breaks.list().unwrap_or_default()) {
            let Some(name) = tree.get("case").and_then(Tree::text).filter(|_| !depends_on_row(tree)) else {
                continue;
            };
            let has = |built: &UnnamedCase| match &built.case.when {
                When::Emitted(emitted) => emitted.breaks.iter().any(|of| of.name == name),
                _ => false,
            };
            if !built.iter().any(has) {
                self.report_useless_break(clause, name, tree.span);
            }
        }
    }

    fn report_useless_break(&self, clause: &Clause, name: &str, span: Span) {
        let message = format!("{name:?} does not break {}", clause.id);
        self.report.add("breaks", span, message, "change what the clause asserts");
    }
}

/// All assertions of the clause, for its hash.
fn assertions_for_hash(clause: &Clause, cells: &Cells<'_>) -> Value {
    let keys = &clause.objects_form;
    let filled = |tree: &Option<Tree>| tree.as_ref().map(|tree| cells.fill(tree).to_value());
    let parts = [&keys.object, &keys.condition, &keys.beside, &keys.without, &clause.emits, &keys.breaks];
    let asserted = parts.map(filled);
    cells.take_used();
    json!([asserted, keys.webhook])
}

fn applies_to(clause: &Clause, namespace: &Namespace) -> bool {
    let range = clause.versions.as_deref().and_then(Range::parse);
    range.is_none_or(|range| range.covers(&namespace.gardener))
}

/// Whether a change contains cells.
fn depends_on_row(tree: &Tree) -> bool {
    tree.to_value().to_string().contains('<')
}

/// A selector with the API version of its kind.
pub(super) struct TypedSelector {
    api_version: String,
    pub(super) selector: Selector,
}

pub(super) fn selector(tree: &Tree, report: &Report<'_>) -> Option<TypedSelector> {
    let text = tree.text().unwrap_or_default();
    let Some((kind, name)) = text.split_once('/').filter(|(_, name)| !name.is_empty()) else {
        let remedy =
            "write `deployment/kube-apiserver`, `deployment/*` or `etcd.druid.gardener.cloud/etcd-main`";
        report.add("object-ref", tree.span, format!("{text:?} does not name objects"), remedy);
        return None;
    };
    let resource = object_ref::resource(kind, tree.span, report)?;
    let selector = Selector {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        name: (name != "*").then(|| name.to_owned()),
        text: text.to_owned(),
    };
    Some(TypedSelector { api_version: resource.api_version(), selector })
}

/// One selector, or a list of them.
fn selectors(tree: Option<&Tree>, cells: &Cells<'_>, report: &Report<'_>) -> Vec<Selector> {
    let Some(tree) = tree.map(|tree| cells.fill(tree)) else { return Vec::new() };
    let alone = std::slice::from_ref(&tree);
    let trees = tree.list().unwrap_or(alone).iter().filter(|tree| !tree.is_null());
    trees.filter_map(|tree| selector(tree, report)).map(|known| known.selector).collect()
}

fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
