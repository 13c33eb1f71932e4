//! Variations of fixtures: each combination of rows of several tables makes one variant of each object (contracts/README.md,
//! Variations).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formats::yaml::Node;
use serde_json::Value;

use super::cells::Cells;
use super::fields::Fields;
use super::given::{FixtureLookup, ObjectBuilder};
use super::keywords::{METADATA, ROOT, VARIATIONS};
use super::report::{Report, nearest};
use super::shared::FixtureScope;
use super::table::{self, Table, TableRow};
use super::tree::{BareWord, Key, Span, Tree, TreeData};

/// A file of variations, as written.
pub(crate) struct VariationsDraft {
    name: String,
    span: Span,
    /// The tables; the first column of each names its rows.
    axes: Vec<Table>,
    /// Differences by fixture, with cells of all axes.
    change: Tree,
    list_keys: BTreeMap<String, String>,
}

/// One row of each axis, and the resulting objects.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    /// The names of its rows.
    pub(crate) name: String,
    /// The fixture, and its variant; `None`: the object is absent.
    objects: Vec<(Identity, Option<Arc<Value>>)>,
}

/// API version, kind and name of an object.
type Identity = [Option<Value>; 3];

/// Combinations by the name of their file.
pub(crate) type Variations = BTreeMap<String, Vec<Combination>>;

/// Reads a document of kind Variations; `None` if a necessary part is missing.
pub(crate) fn read(file: usize, node: &Node, report: &Report<'_>) -> Option<VariationsDraft> {
    let root = Fields::of(file, node, "a file of variations", &ROOT, report)?;
    let missing = |name: &str, span: Span, remedy: &str| {
        report.add("missing-key", span, format!("{name} is missing"), remedy);
    };
    let Some(metadata) = root.node("metadata") else {
        missing("metadata", root.span(), "write `metadata: {name: …}`");
        return None;
    };
    let metadata = Fields::of(file, metadata, "metadata", &METADATA, report)?;
    let name = metadata.required("name", "name the variations: `name: with-workers`");
    let Some(spec) = root.node("spec") else {
        missing("spec", root.span(), "write `spec: {axes: […], change: {…}}`");
        return None;
    };
    let spec = Fields::of(file, spec, "spec", &VARIATIONS, report)?;
    let axis_nodes = spec.node("axes").and_then(Node::items).unwrap_or_default();
    let axes: Vec<Table> = axis_nodes.iter().filter_map(|axis| table::read(file, axis, report)).collect();
    if axis_nodes.is_empty() {
        missing(
            "axes",
            spec.span(),
            "write one or more tables: `axes:`, then `- |` and lines of `| version | … |`",
        );
    }
    let Some(change) = spec.tree("change").filter(|change| change.map().is_some()) else {
        missing("change", spec.span(), "write how the rows change fixtures: `change: {pod: {…}}`");
        return None;
    };
    let complete = axes.len() == axis_nodes.len() && !axis_nodes.is_empty();
    let span = spec.span();
    complete.then_some(VariationsDraft { name: name?, span, axes, change, list_keys: spec.pairs("listKeys") })
}

/// Variants by name: `pod@1.27,two nodes`, named by the rows of those axes that the object
/// depends on.
type Variants = BTreeMap<String, Arc<Value>>;

/// Builds every combination and its objects.
pub(crate) fn build(
    drafts: &[VariationsDraft],
    written: &BTreeMap<String, Value>,
    report: &Report<'_>,
) -> (Variants, Variations) {
    let none = BTreeMap::new();
    let lookup = FixtureLookup { own: vec![&none], shared: FixtureScope::Written(written) };
    let (mut made, mut built) = (Variants::new(), Variations::new());
    for draft in drafts {
        let combinations = draft.combinations(&lookup, &mut made, report);
        if built.insert(draft.name.clone(), combinations).is_some() {
            let message = format!("two files of variations are named {:?}", draft.name);
            report.add("variations", draft.span, message, "rename one of them");
        }
    }
    (made, built)
}

impl Combination {
    /// The objects of a namespace in this combination; objects without a variant stay.
    pub(crate) fn of(&self, objects: &[Arc<Value>]) -> Vec<Arc<Value>> {
        let made = |object: &Arc<Value>| {
            let identity = identity(object);
            let varied = self.objects.iter().find(|(before, _)| *before == identity);
            varied.map_or_else(|| Some(Arc::clone(object)), |(_, after)| after.clone())
        };
        objects.iter().filter_map(made).collect()
    }
}

impl VariationsDraft {
    fn combinations(
        &self,
        known: &FixtureLookup<'_>,
        fixtures: &mut Variants,
        report: &Report<'_>,
    ) -> Vec<Combination> {
        let (table, owners) = self.joined_table();
        let mut made: BTreeMap<String, Option<Arc<Value>>> = BTreeMap::new();
        let mut used = BTreeSet::new();
        let mut found = Vec::new();
        for rows in self.row_combinations() {
            let row = TableRow {
                cells: rows.iter().flat_map(|row| row.cells.clone()).collect(),
                case: None,
                span: rows.first().map_or(self.span, |row| row.span),
            };
            let cells = Cells::of(&table, &row, report);
            let mut objects = Vec::new();
            for (key, tree) in self.change.map().unwrap_or_default() {
                let Some(before) = known.shared.get(&key.name) else {
                    let remedy = nearest(&key.name, known.shared.names());
                    report.add("fixture", key.span, format!("unknown fixture {:?}", key.name), remedy);
                    continue;
                };
                let tree = cells.fill(tree);
                let columns = cells.take_used();
                let axes: BTreeSet<usize> = columns.iter().map(|column| owners[*column]).collect();
                used.extend(columns);
                let name = format!("{}@{}", key.name, label(axes.iter().map(|axis| rows[*axis])));
                let object = made.entry(name.clone()).or_insert_with(|| {
                    let object = self.object(before, &tree, (known, &cells), report).map(Arc::new);
                    if let Some(object) = &object {
                        add_fixture(fixtures, known.shared, (&name, key.span), object, report);
                    }
                    object
                });
                objects.push((identity(before), object.clone()));
            }
            found.push(Combination { name: label(rows.iter().copied()), objects });
        }
        self.check_columns(&table, &used, report);
        found
    }

    /// The variant of an object; `None` if `$is` removes it.
    fn object(
        &self,
        before: &Value,
        tree: &Tree,
        (known, cells): (&FixtureLookup<'_>, &Cells<'_>),
        report: &Report<'_>,
    ) -> Option<Value> {
        let entries = tree.map().unwrap_or_default();
        let is = entries.iter().find(|(key, _)| key.name == "$is").map(|(_, value)| &value.data);
        if matches!(is, Some(TreeData::BareWord(BareWord::Absent))) {
            return None;
        }
        let rest: Vec<(Key, Tree)> = entries.iter().filter(|(key, _)| key.name != "$is").cloned().collect();
        let rest = Tree { data: TreeData::Map(rest), span: tree.span };
        let list_keys = &self.list_keys;
        let builder = ObjectBuilder {
            lookup: known,
            cells,
            list_keys,
            unordered: &[],
            report,
            in_progress: RefCell::default(),
        };
        builder.with_difference(before.clone(), &rest)
    }

    /// One table with the columns of all axes, and the axis of each column.
    fn joined_table(&self) -> (Table, Vec<usize>) {
        let columns = self.axes.iter().flat_map(|axis| axis.columns.clone()).collect();
        let owners = self.axes.iter().enumerate().flat_map(|(at, axis)| vec![at; axis.columns.len()]);
        (Table { columns, rows: Vec::new() }, owners.collect())
    }

    /// Every choice of one row per axis; the last axis changes fastest.
    fn row_combinations(&self) -> Vec<Vec<&TableRow>> {
        let mut chosen: Vec<Vec<&TableRow>> = vec![Vec::new()];
        for axis in &self.axes {
            let with = |rows: Vec<_>| {
                let with_row = move |row| rows.iter().copied().chain([row]).collect::<Vec<_>>();
                axis.rows.iter().map(with_row)
            };
            chosen = chosen.into_iter().flat_map(with).collect();
        }
        chosen
    }

    /// Reports duplicate and unused columns. The first column of an axis need not be used: it names the rows.
    fn check_columns(&self, table: &Table, used: &BTreeSet<usize>, report: &Report<'_>) {
        let mut at = 0;
        for axis in &self.axes {
            for (position, column) in axis.columns.iter().enumerate() {
                if position > 0 && !used.contains(&at) {
                    let message = format!("column {:?} is not used", column.name);
                    report.add("column", column.span, message, "use it in `change`, or remove it");
                }
                if table.columns[..at].iter().any(|other| other.name == column.name) {
                    let message = format!("another axis has a column {:?}", column.name);
                    report.add("column", column.span, message, "rename one of them");
                }
                at += 1;
            }
        }
    }
}

/// Adds an object to the fixtures; reports a duplicate name.
fn add_fixture(
    made: &mut Variants,
    written: FixtureScope<'_>,
    (name, span): (&str, Span),
    object: &Arc<Value>,
    report: &Report<'_>,
) {
    if made.insert(name.to_owned(), Arc::clone(object)).is_some() || written.get(name).is_some() {
        let message = format!("two fixtures are named {name:?}");
        report.add("fixture", span, message, "rename the rows of one of them");
    }
}

/// The names of rows: their first cells.
fn label<'r>(rows: impl Iterator<Item = &'r TableRow>) -> String {
    let name = |row: &TableRow| match row.cells.first().map(|cell| cell.tree.to_value()) {
        Some(Value::String(name)) => name,
        other => other.unwrap_or_default().to_string(),
    };
    rows.map(name).collect::<Vec<_>>().join(",")
}

fn identity(object: &Value) -> Identity {
    ["/apiVersion", "/kind", "/metadata/name"].map(|field| object.pointer(field).cloned())
}
