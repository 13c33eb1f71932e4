//! Words of the code: names of types and functions have a meaning, and few types share a name.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use crate::tree::{files, none};

/// In how many modules a type may have the same name.
const MODULES: usize = 4;

/// Names that the house prescribes: every module that has such a type calls it so.
const PRESCRIBED: [&str; 8] =
    ["Error", "Arguments", "Config", "State", "Action", "Reconciler", "Outcome", "CommandError"];

/// Names of functions that mean nothing without their body.
const MEANINGLESS: [&str; 6] = ["told", "tell", "settle", "settled", "said", "heed"];

#[test]
fn a_type_has_a_name_of_its_own() {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, syntax) in sources() {
        for name in types(&syntax.items) {
            modules.entry(name).or_default().insert(path.clone());
        }
    }
    let crowded = modules
        .into_iter()
        .filter(|(name, modules)| modules.len() > MODULES && !PRESCRIBED.contains(&name.as_str()));
    none(
        &crowded
            .map(|(name, modules)| {
                let modules: Vec<String> = modules.into_iter().collect();
                format!(
                    "{name} is the name of a type in {} modules, at most {MODULES}: {}",
                    modules.len(),
                    modules.join(", ")
                )
            })
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_function_is_named_after_what_it_does() {
    let mut wrong = Vec::new();
    for (path, syntax) in sources() {
        let named = functions(&syntax.items).into_iter().filter(|name| MEANINGLESS.contains(&name.as_str()));
        wrong.extend(named.map(|name| format!("{path}: a function `{name}`: say what it does or returns")));
    }
    none(&wrong);
}

/// The sources outside of tests, parsed.
fn sources() -> impl Iterator<Item = (String, syn::File)> {
    let is_source =
        |path: &str| path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests");
    files(".rs").into_iter().filter(move |file| is_source(&file.path)).map(|file| {
        let syntax = syn::parse_file(&file.text).expect("a source that compiles");
        (file.path, syntax)
    })
}

fn types(items: &[Item]) -> Vec<String> {
    let mut names = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) => names.push(item.ident.to_string()),
            Item::Enum(item) => names.push(item.ident.to_string()),
            Item::Trait(item) => names.push(item.ident.to_string()),
            Item::Type(item) => names.push(item.ident.to_string()),
            Item::Mod(module) if !is_test(&module.attrs) => {
                names.extend(module.content.iter().flat_map(|(_, items)| types(items)));
            }
            _ => {}
        }
    }
    names
}

fn functions(items: &[Item]) -> Vec<String> {
    let mut names = Vec::new();
    for item in items {
        match item {
            Item::Fn(item) => names.push(item.sig.ident.to_string()),
            Item::Impl(item) => names.extend(item.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(item) => Some(item.sig.ident.to_string()),
                _ => None,
            })),
            Item::Mod(module) if !is_test(&module.attrs) => {
                names.extend(module.content.iter().flat_map(|(_, items)| functions(items)));
            }
            _ => {}
        }
    }
    names
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    })
}
