//! Fixtures: objects of everybody, named by their files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::cells::Cells;
use super::given::{Assembly, Shelf};
use super::report::Report;
use super::shared::Known;
use super::tree::Tree;

/// A fixture is named by its file.
pub(crate) fn note(fixtures: &mut BTreeMap<String, Tree>, tree: Tree, report: &Report<'_>) {
    let (span, path) = (tree.span, &report.files[tree.span.file].path);
    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".yaml").trim_end_matches(".yml");
    if fixtures.insert(name.to_owned(), tree).is_some() {
        let remedy = "one object per file; names are those of the files";
        report.add("fixture", span, format!("fixture {name:?} is there twice"), remedy);
    }
}

/// The objects of fixtures, each of which may start from another.
pub(crate) fn build(trees: &BTreeMap<String, Tree>, report: &Report<'_>) -> BTreeMap<String, Value> {
    let shelf = Shelf { own: vec![trees], shared: Known::Nowhere };
    let cells = Cells::none(report);
    let none = BTreeMap::new();
    let mut built = BTreeMap::new();
    for (name, tree) in trees {
        let assembly = Assembly {
            shelf: &shelf,
            cells: &cells,
            list_keys: &none,
            unordered: &[],
            report,
            open: RefCell::default(),
        };
        assembly.open.borrow_mut().push(name.clone());
        if let Some(object) = assembly.object(&cells.fill(tree)) {
            built.insert(name.clone(), object);
        }
    }
    built
}
