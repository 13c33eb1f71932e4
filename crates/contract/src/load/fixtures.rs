//! Fixtures that all contracts share, named by their files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::cells::Cells;
use super::given::{FixtureLookup, ObjectBuilder};
use super::report::Report;
use super::shared::FixtureScope;
use super::tree::Tree;

/// Adds a fixture under the name of its file.
pub(crate) fn note(fixtures: &mut BTreeMap<String, Tree>, tree: Tree, report: &Report<'_>) {
    let (span, path) = (tree.span, &report.files[tree.span.file].path);
    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".yaml").trim_end_matches(".yml");
    if fixtures.insert(name.to_owned(), tree).is_some() {
        let remedy = "write one object per file, and rename the file if another one has its name";
        report.add("fixture", span, format!("two fixtures are named {name:?}"), remedy);
    }
}

/// Builds the objects of fixtures; a fixture may start from another one.
pub(crate) fn build(trees: &BTreeMap<String, Tree>, report: &Report<'_>) -> BTreeMap<String, Value> {
    let lookup = FixtureLookup { own: vec![trees], shared: FixtureScope::Empty };
    let cells = Cells::none(report);
    let none = BTreeMap::new();
    let mut built = BTreeMap::new();
    for (name, tree) in trees {
        let builder = ObjectBuilder {
            lookup: &lookup,
            cells: &cells,
            list_keys: &none,
            unordered: &[],
            report,
            in_progress: RefCell::default(),
        };
        builder.in_progress.borrow_mut().push(name.clone());
        if let Some(object) = builder.object(&cells.fill(tree)) {
            built.insert(name.clone(), object);
        }
    }
    built
}
