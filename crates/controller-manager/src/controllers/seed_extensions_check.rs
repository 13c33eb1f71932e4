//! Keeps the condition `ExtensionsReady` of Seeds
//! (contracts/controller-manager/controllers/seed-extensions-check.yaml).

use std::collections::BTreeMap;
use std::sync::Arc;

use api::garden::ControllerInstallation;
use api::garden::condition::Condition;
use controller::{Controller, Event};
use kube::ResourceExt as _;

use super::Context;
use super::conditions::{self, EXTENSIONS_READY, FALSE, Finding, TRUE};
use super::seed_checks::{self, SeedCheck};

/// Name in log and metrics.
pub const NAME: &str = "seed-extensions-check";

/// The conditions of a ControllerInstallation, and the status that each must have.
const EXPECTED: [(&str, &str); 4] =
    [("Valid", TRUE), ("Installed", TRUE), ("Healthy", TRUE), ("Progressing", FALSE)];
/// Reason and beginning of the message if one of them has another status, in the order of importance.
const UNREADY: [(&str, &str); 4] = [
    ("NotAllExtensionsValid", "Some extensions are not valid"),
    ("NotAllExtensionsInstalled", "Some extensions are not installed"),
    ("NotAllExtensionsHealthy", "Some extensions are not healthy"),
    ("SomeExtensionsProgressing", "Some extensions are progressing"),
];
const INSTALLED: usize = 1;
const HEALTHY: usize = 2;

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let check = SeedCheck {
        name: NAME,
        condition: EXTENSIONS_READY,
        seed: |installation: &ControllerInstallation| installation.spec.seed_ref.name.as_deref(),
        matters,
        assess,
    };
    seed_checks::controller(context, &check, &context.config.controllers.seed_extensions_check)
}

/// A Seed is checked when an installation is created or deleted, or one of the four conditions changes. GCM-SEX-006.
fn matters(event: &Event<ControllerInstallation>) -> bool {
    let Some(old) = event.old() else { return true };
    let relevant = |installation: &ControllerInstallation| {
        let conditions = &installation.status.conditions;
        EXPECTED.map(|(type_, _)| conditions::find(conditions, type_).map(text))
    };
    relevant(old) != relevant(event.object())
}

fn text(condition: &Condition) -> [String; 3] {
    [&condition.status, &condition.reason, &condition.message].map(String::clone)
}

/// GCM-SEX-001 to -004.
fn assess(installations: &[Arc<ControllerInstallation>]) -> Finding {
    let mut unready: [BTreeMap<String, String>; 4] = Default::default();
    for installation in installations {
        for (index, message) in defects(&installation.status.conditions) {
            unready[index].insert(installation.name_any(), message);
        }
    }
    let worst = unready.iter().zip(UNREADY).find(|(installations, _)| !installations.is_empty());
    let Some((installations, (reason, message))) = worst else {
        let message = "All extensions installed into the seed cluster are ready and healthy.".to_owned();
        return Finding { status: TRUE, reason: "AllExtensionsReady", message };
    };
    let listed: Vec<String> =
        installations.iter().map(|(name, message)| format!("{name}:{message}")).collect();
    Finding { status: FALSE, reason, message: format!("{message}: map[{}]", listed.join(" ")) }
}

/// Which of the expectations an installation does not meet, and why.
fn defects(conditions: &[Condition]) -> BTreeMap<usize, String> {
    if conditions.is_empty() {
        return BTreeMap::from([(INSTALLED, "extension was not yet installed".to_owned())]);
    }
    let mut defects = BTreeMap::new();
    let mut found = 0;
    for (index, (type_, status)) in EXPECTED.into_iter().enumerate() {
        let Some(condition) = conditions::find(conditions, type_) else { continue };
        found += 1;
        if condition.status != status {
            defects.insert(index, condition.message.clone());
        }
    }
    if found < EXPECTED.len() {
        let message = "not all required conditions found in ControllerInstallation";
        defects.entry(HEALTHY).or_insert_with(|| message.to_owned());
    }
    defects
}
