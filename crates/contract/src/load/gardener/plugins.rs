//! Admission plugins that `config` turns on: a name that no plugin has would only be found when the case runs.

use crate::gardener::plugins;
use crate::load::report::{Report, nearest};
use crate::load::tree::{Span, Tree, TreeData};

/// Reports keys that a garden's admission does not have, and names that no plugin has. `config` is that of a contract or a clause,
/// with cells filled in.
pub(crate) fn check(config: &Tree, report: &Report<'_>) {
    let entries = config.get("admission").and_then(Tree::map).unwrap_or_default();
    for (key, value) in entries {
        match key.name.as_str() {
            "plugins" => check_plugins(value, report),
            "configuration" => {
                let plugins = value.map().unwrap_or_default();
                for (plugin, _) in plugins {
                    check_name(&plugin.name, plugin.span, report);
                }
            }
            other => {
                let message = format!("admission has no key {other:?}");
                report.add("unknown-key", key.span, message, nearest(other, ["plugins", "configuration"]));
            }
        }
    }
}

fn check_plugins(chosen: &Tree, report: &Report<'_>) {
    match chosen.text() {
        Some(plugins::DEFAULT) => {}
        Some(word) => report.add(
            "type",
            chosen.span,
            format!("admission.plugins is {word:?}, and neither a list nor `{}`", plugins::DEFAULT),
            "name the plugins in a list: `plugins: [ShootDNS]`",
        ),
        None => check_names(chosen, report),
    }
}

/// Checks the texts of a list, also below an edit of the contract's list such as `$append`.
fn check_names(tree: &Tree, report: &Report<'_>) {
    match &tree.data {
        TreeData::List(items) => items.iter().for_each(|item| check_names(item, report)),
        TreeData::Map(entries) => entries.iter().for_each(|(_, value)| check_names(value, report)),
        TreeData::Scalar(_) | TreeData::BareWord(_) => {
            if let Some(name) = tree.text() {
                check_name(name, tree.span, report);
            }
        }
    }
}

fn check_name(name: &str, span: Span, report: &Report<'_>) {
    if !plugins::NAMES.contains(&name) {
        let message = format!("there is no admission plugin {name:?}");
        report.add("unknown-name", span, message, nearest(name, plugins::NAMES));
    }
}
