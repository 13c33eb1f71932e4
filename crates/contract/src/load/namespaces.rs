//! The namespaces of the form objects: as Gardener emits them, with variations, and with changes that break a clause.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::cells::Cells;
use super::draft::Draft;
use super::emitted::selector;
use super::expand::Context;
use super::given::ObjectBuilder;
use super::keywords::NAMESPACE;
use super::report::{Report, nearest};
use super::shared::SharedFixtures;
use super::then::known_keys;
use super::tree::{Span, Tree};
use super::variations::{Combination, Variations};
use crate::document::releases::Releases;
use crate::emitted::Selector;

/// A namespace that keeps every clause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Namespace {
    /// The release of Gardener that emits it.
    pub(crate) gardener: String,
    pub(crate) objects: Vec<Arc<Value>>,
    /// Whether variations made it; objects that several such namespaces share make one case.
    pub(crate) is_varied: bool,
}

/// Namespaces by name, and their names in the order of the file.
pub(crate) type Namespaces = Vec<(String, Namespace)>;

impl Context<'_> {
    /// Adds the namespaces of a file to those of other files.
    pub(crate) fn namespaces(
        &self,
        written: &Tree,
        (shared, releases): (&SharedFixtures, Option<&Releases>),
        known: &mut Namespaces,
    ) {
        for (key, tree) in written.map().unwrap_or_default() {
            let Some(()) = known_keys(tree, "a namespace", &NAMESPACE, self.report) else { continue };
            let name = tree.get("like").and_then(Tree::text);
            let base = name.and_then(|name| known.iter().find(|(known, _)| known == name));
            if let (Some(name), None) = (name, base) {
                let remedy = nearest(name, known.iter().map(|(name, _)| name.as_str()));
                self.report.add("namespace", tree.span, format!("unknown namespace {name:?}"), remedy);
                continue;
            }
            let base = base.map(|(_, namespace)| namespace.clone()).unwrap_or_default();
            let gardener = tree.get("gardener").and_then(Tree::text).unwrap_or(&base.gardener).to_owned();
            if gardener.is_empty() {
                let remedy = "name the release that emits it: `gardener: v1.82.0`";
                self.report.add("missing-key", key.span, "gardener is missing", remedy);
            }
            let cells = Cells::none(self.report);
            let builder = self.builder(&cells);
            let objects = tree.get("objects").and_then(Tree::list).unwrap_or_default().iter();
            let objects = objects.filter_map(|tree| builder.object(tree)).map(Arc::new);
            let mut objects: Vec<Arc<Value>> = base.objects.into_iter().chain(objects).collect();
            if let Some(change) = tree.get("change") {
                objects = apply_change(&objects, change, &builder).unwrap_or(objects);
            }
            if let Some(releases) = releases {
                releases.write(&gardener, &mut objects);
            }
            let Some(vary) = tree.get("vary") else {
                known.push((key.name.clone(), Namespace { gardener, objects, is_varied: false }));
                continue;
            };
            for combination in combinations(vary, shared.variations(), self.report) {
                let objects = combination.of(&objects);
                let name = format!("{}: {}", key.name, combination.name);
                known.push((name, Namespace { gardener: gardener.clone(), objects, is_varied: true }));
            }
        }
    }
}

/// The combinations of the named variations.
fn combinations<'v>(vary: &Tree, variations: &'v Variations, report: &Report<'_>) -> &'v [Combination] {
    let name = vary.text().unwrap_or_default();
    let found = variations.get(name);
    if found.is_none() {
        let remedy = nearest(name, variations.keys().map(String::as_str));
        report.add("variations", vary.span, format!("unknown variations {name:?}"), remedy);
    }
    found.map_or(&[], Vec::as_slice)
}

/// The objects with a change: `deployment/kube-apiserver: {…}` merges, `~` removes, `like` adds a missing object.
pub(super) fn apply_change(
    objects: &[Arc<Value>],
    change: &Tree,
    builder: &ObjectBuilder<'_>,
) -> Option<Vec<Arc<Value>>> {
    let mut objects = objects.to_vec();
    for (key, tree) in change.map().unwrap_or_default() {
        let named =
            Tree { data: super::tree::TreeData::Scalar(Value::from(key.name.as_str())), span: key.span };
        let selector = selector(&named, builder.report)?.selector;
        let selected: Vec<usize> = (0..objects.len()).filter(|at| selector.selects(&objects[*at])).collect();
        if tree.is_null() {
            require_selected(&selected, &selector, key.span, builder.report)?;
            objects.retain(|object| !selector.selects(object));
        } else if selected.is_empty() && (tree.get("like").is_some() || tree.get("kind").is_some()) {
            objects.push(Arc::new(builder.object(tree)?));
        } else {
            require_selected(&selected, &selector, key.span, builder.report)?;
            for at in selected {
                objects[at] = Arc::new(builder.with_difference(objects[at].as_ref().clone(), tree)?);
            }
        }
    }
    Some(objects)
}

fn require_selected(selected: &[usize], selector: &Selector, span: Span, report: &Report<'_>) -> Option<()> {
    if selected.is_empty() {
        let remedy = "name an object of the namespace, or add one that starts from a fixture with `like`";
        report.add("change", span, format!("the namespace has no {selector}"), remedy);
        return None;
    }
    Some(())
}

/// Reports missing namespaces, and duplicate names.
pub(crate) fn check(drafts: &[Draft], namespaces: &Namespaces, report: &Report<'_>) {
    if let (Some(first), true) = (drafts.first(), namespaces.is_empty()) {
        let remedy = "add one: `namespaces: {workers: {gardener: v1.82.0, objects: [{like: …}]}}`";
        report.add("missing-key", first.span, "namespaces is missing", remedy);
    }
    let mut seen = BTreeSet::new();
    for (name, _) in namespaces {
        if let (false, Some(first)) = (seen.insert(name), drafts.first()) {
            let message = format!("two namespaces are named {name:?}");
            report.add("namespace", first.span, message, "rename one of them");
        }
    }
}
