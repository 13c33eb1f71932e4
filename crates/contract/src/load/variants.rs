//! The variants of a clause that lists in `like`, `admission` and `registration` make.

use serde_json::Value;

use super::keywords::MULTIPLIED;
use super::tree::{Key, Tree, TreeData};

/// One of the variants that lists in `like`, `admission` and `registration` make.
pub(super) struct Variant {
    pub(super) like: Option<String>,
    pub(super) given: Tree,
    pub(super) when: Tree,
    /// Whether a list or a literal names the operation (or the instance), not a cell.
    pub(super) names_operation: bool,
}

/// The variants of a clause: for each fixture, each operation.
pub(super) fn of(given: &Tree, when: &Tree) -> Vec<Variant> {
    let operations = operations(when);
    let mut variants = Vec::new();
    for (like, given) in likes(given) {
        for (names_operation, when) in &operations {
            variants.push(Variant {
                like: like.clone(),
                given: given.clone(),
                when: when.clone(),
                names_operation: *names_operation,
            });
        }
    }
    variants
}

/// `when` for each operation, and whether `when` itself names the operation, not a cell.
fn operations(when: &Tree) -> Vec<(bool, Tree)> {
    let named = MULTIPLIED.iter().find_map(|key| when.get(key));
    let Some(list) = named.and_then(Tree::list) else {
        let by_cell = named.and_then(Tree::text).is_some_and(|text| text.starts_with('<'));
        return vec![(!by_cell, when.clone())];
    };
    let with_operation = |operation: &Tree| {
        let entries = when.map().unwrap_or_default().iter();
        let entries = entries.map(|(key, value)| {
            let is_named = MULTIPLIED.contains(&key.name.as_str());
            (key.clone(), if is_named { operation.clone() } else { value.clone() })
        });
        (true, Tree { data: TreeData::Map(entries.collect()), span: when.span })
    };
    list.iter().map(with_operation).collect()
}

/// `given` for each fixture that a list in `like` names. Equal lists vary together, as for the old and the new object.
fn likes(given: &Tree) -> Vec<(Option<String>, Tree)> {
    let mut lists: Vec<Vec<String>> = Vec::new();
    gather(given, &mut lists);
    let mut variants = vec![(Vec::new(), given.clone())];
    for list in lists {
        let each = |(names, tree): &(Vec<String>, Tree)| -> Vec<(Vec<String>, Tree)> {
            let chosen = |name: &String| {
                let names = names.iter().cloned().chain([name.clone()]).collect();
                (names, choose(tree, &list, name))
            };
            list.iter().map(chosen).collect()
        };
        variants = variants.iter().flat_map(each).collect();
    }
    let label = |names: Vec<String>| Some(names.join(",")).filter(|label| !label.is_empty());
    variants.into_iter().map(|(names, tree)| (label(names), tree)).collect()
}

fn gather(tree: &Tree, lists: &mut Vec<Vec<String>>) {
    match &tree.data {
        TreeData::Map(entries) => {
            for (key, value) in entries {
                match names(key, value) {
                    Some(list) if !lists.contains(&list) => lists.push(list),
                    Some(_) => {}
                    None => gather(value, lists),
                }
            }
        }
        TreeData::List(items) => items.iter().for_each(|item| gather(item, lists)),
        TreeData::Scalar(_) | TreeData::BareWord(_) => {}
    }
}

fn choose(tree: &Tree, list: &[String], name: &str) -> Tree {
    let data = match &tree.data {
        TreeData::Map(entries) => {
            let entry = |(key, value): &(Key, Tree)| {
                let chosen = names(key, value).is_some_and(|names| names == list);
                let scalar = || Tree { data: TreeData::Scalar(Value::from(name)), span: value.span };
                (key.clone(), if chosen { scalar() } else { choose(value, list, name) })
            };
            TreeData::Map(entries.iter().map(entry).collect())
        }
        TreeData::List(items) => TreeData::List(items.iter().map(|item| choose(item, list, name)).collect()),
        other => other.clone(),
    };
    Tree { data, span: tree.span }
}

fn names(key: &Key, value: &Tree) -> Option<Vec<String>> {
    let list = value.list().filter(|_| key.name == "like")?;
    list.iter().map(|name| name.text().map(str::to_owned)).collect()
}
