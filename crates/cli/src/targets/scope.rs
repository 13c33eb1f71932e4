//! What a target has: the suite of its contracts, and the webhooks and controllers that it serves. Contracts about others are
//! left out, so that they count neither as broken nor as missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use conformance::select::Selection;
use conformance::target::command::has_only_controllers;
use contract::document::target::TargetSpec;
use contract::index::Outline;
use contract::model::Form;
use webhook::registration::Registration;

use super::registered::{NOTHING_FOR_EXTENSIONS, is_about, not_ours, webhooks_of};
use super::{is_started, paths_of, read_registrations, read_spec};
use crate::arguments::{BUILT_IN, RunningTargetArguments};
use crate::catalog::Selected;
use crate::terminal::Failure;

/// The suite for a provider that only the command line describes.
const PROVIDER_SUITE: &str = "controlplane";
/// How many of the webhooks and controllers that are left out are named.
const MAX_NAMES: usize = 12;

/// What a target has, as far as its description says.
#[derive(Debug, Default)]
pub(crate) struct TargetScope {
    /// The suite of its contracts, if the user selects nothing.
    suite: Option<String>,
    /// Names of its webhooks and controllers; `None`: unknown.
    serves: Option<BTreeSet<String>>,
    /// Where the names are from.
    origin: String,
    /// The webhooks of its registration.
    registered: Vec<Registration>,
    /// Paths of webhooks that the target file names.
    paths: BTreeMap<String, Vec<String>>,
    /// Whether the tool starts a program that neither its description nor the selection identifies.
    is_unknown_program: bool,
    /// Whether its target file describes a program without webhooks.
    has_only_controllers: bool,
}

impl TargetScope {
    /// Reads what the target file or the command line says. The registration names what a target serves if the target file does
    /// not, and the user selects no contract.
    pub(crate) fn of(
        target: &str,
        running: &RunningTargetArguments,
        selection: &Selection,
    ) -> Result<Self, Failure> {
        let is_selected = names_contracts(selection) || !selection.labels.is_empty();
        let of_provider = running.provider.as_ref().map(|_| PROVIDER_SUITE.to_owned());
        let is_started = target != BUILT_IN && is_started(target)?;
        let Some(spec) = read_spec(target)? else {
            let is_unknown_program = is_started && !is_selected && of_provider.is_none();
            return Ok(Self { suite: of_provider, is_unknown_program, ..Self::default() });
        };
        let suite = spec.suite.clone().or(of_provider);
        let folder = Path::new(target).parent().unwrap_or(Path::new(""));
        let registered = registered(&spec, folder)?;
        let (serves, origin) = if !spec.serves.is_empty() {
            (Some(spec.serves.iter().cloned().collect()), format!("`serves` in {target}"))
        } else if names_contracts(selection) || registered.is_empty() {
            (None, String::new())
        } else {
            (Some(served(&spec, &registered)), format!("the registration of {target}"))
        };
        let paths = spec.paths.iter().map(|(name, path)| (name.clone(), vec![path.clone()]));
        Ok(Self {
            is_unknown_program: is_started && !is_selected && suite.is_none() && serves.is_none(),
            has_only_controllers: has_only_controllers(&spec),
            paths: paths.collect(),
            suite,
            serves,
            origin,
            registered,
        })
    }

    /// Adds the suite of the target to a selection that names no contracts.
    pub(crate) fn complete(&self, selection: &mut Selection) {
        if !names_contracts(selection) {
            selection.suites.extend(self.suite.clone());
        }
    }

    /// Leaves out the contracts about webhooks, controllers and programs that are not the target's. Returns one sentence about
    /// them, and one about the webhooks of its registration that are not ours to judge.
    pub(crate) fn restrict(&self, selected: &mut Selected) -> Vec<String> {
        let beside = self.beside(selected);
        let left_out = match &self.serves {
            Some(serves) => self.keep_served(selected, serves),
            None if self.is_unknown_program => keep_webhooks(selected),
            None => None,
        };
        left_out.into_iter().chain(beside).collect()
    }

    /// Why no contract applies to the target, if its description contains a reason.
    pub(crate) fn reason_for_nothing(&self) -> Option<String> {
        self.has_only_controllers.then(|| {
            format!("the target file has `ready` and no `url`, so the target has no webhook: {NOTHING_FOR_EXTENSIONS}")
        })
    }

    /// The registered webhooks that no contract about these components is about.
    fn beside(&self, selected: &Selected) -> Option<String> {
        let mut known = webhooks_of(&selected.components().collect());
        let subjects = selected.outlines().filter_map(|contract| contract.subject.webhook.clone());
        for (name, paths) in subjects.map(|name| (name, Vec::new())).chain(self.paths.clone()) {
            known.entry(name).or_default().extend(paths);
        }
        let beside = not_ours(&self.registered, &known);
        (!beside.is_empty()).then(|| {
            format!("registered, but not verified, because no contract is about it: {}", beside.join("; "))
        })
    }

    fn keep_served(&self, selected: &mut Selected, serves: &BTreeSet<String>) -> Option<String> {
        let components: BTreeSet<String> = selected
            .index()
            .contracts()
            .iter()
            .filter(|contract| subject(contract).is_some_and(|name| serves.contains(name)))
            .map(|contract| contract.component.clone())
            .collect();
        let is_own = |contract: &Outline| match subject(contract) {
            Some(name) => serves.contains(name),
            None => components.contains(&contract.component),
        };
        let left_out: Vec<&Outline> = selected.outlines().filter(|contract| !is_own(contract)).collect();
        let about: BTreeSet<String> = left_out
            .iter()
            .map(|contract| subject(contract).unwrap_or(contract.name.as_str()).to_owned())
            .collect();
        let count = left_out.len();
        selected.retain(is_own);
        (count > 0).then(|| self.sentence(count, &about))
    }

    /// Leaves out the webhooks that the target does not have; each comes with its contract. Returns what was left out, as a
    /// sentence.
    pub(crate) fn restrict_webhooks<T>(&self, webhooks: &mut Vec<(String, T)>) -> Option<String> {
        let serves = self.serves.as_ref()?;
        let left_out = webhooks.iter().filter(|(name, _)| !serves.contains(name));
        let about: BTreeSet<String> = left_out.map(|(name, _)| name.clone()).collect();
        let before = webhooks.len();
        webhooks.retain(|(name, _)| serves.contains(name));
        let count = before - webhooks.len();
        (count > 0).then(|| self.sentence(count, &about))
    }

    fn sentence(&self, count: usize, about: &BTreeSet<String>) -> String {
        let names: Vec<&str> = about.iter().map(String::as_str).take(MAX_NAMES).collect();
        let further = match about.len().saturating_sub(MAX_NAMES) {
            0 => String::new(),
            further => format!(" and {further} others"),
        };
        format!(
            "left out {} about what the target does not serve ({}): {}{further}",
            count_contracts(count),
            self.origin,
            names.join(", ")
        )
    }
}

/// Leaves out the contracts about a whole program or its controllers: they would judge a program that does not claim to be
/// that one.
fn keep_webhooks(selected: &mut Selected) -> Option<String> {
    let is_about_program = |contract: &Outline| {
        matches!(contract.form, Form::Scenario | Form::Configuration | Form::Process | Form::Versions)
    };
    let left_out: Vec<&Outline> = selected.outlines().filter(|contract| is_about_program(contract)).collect();
    let programs: BTreeSet<&str> = left_out.iter().map(|contract| contract.component.as_str()).collect();
    let programs = programs.into_iter().collect::<Vec<_>>().join(", ");
    let count = left_out.len();
    let sentence = format!(
        "left out {} about the programs of {programs}: nothing says that the target is one of them; if it is, select its \
        contracts with --suite, or with `suite` in a target file",
        count_contracts(count)
    );
    selected.retain(|contract| !is_about_program(contract));
    (count > 0).then_some(sentence)
}

fn count_contracts(count: usize) -> String {
    if count == 1 { "1 contract".to_owned() } else { format!("{count} contracts") }
}

/// The webhook or controller that a contract is about.
fn subject(contract: &Outline) -> Option<&str> {
    contract.subject.webhook.as_deref().or(contract.subject.controller.as_deref())
}

/// Whether the selection names contracts, so that the target's own suite does not apply.
fn names_contracts(selection: &Selection) -> bool {
    let Selection { suites, contracts, clauses, cases, .. } = selection;
    [suites, contracts, clauses, cases].iter().any(|names| !names.is_empty())
}

/// The webhooks of the target's registration; empty without one.
fn registered(spec: &TargetSpec, folder: &Path) -> Result<Vec<Registration>, Failure> {
    let Some(files) = &spec.registration else { return Ok(Vec::new()) };
    let registrations = read_registrations(files, folder)?;
    let configurations = registrations.into_values().flatten();
    Ok(configurations.flat_map(|configuration| configuration.webhooks).collect())
}

/// The names of the webhooks that are registered, as contracts name them.
fn served(spec: &TargetSpec, registered: &[Registration]) -> BTreeSet<String> {
    let is_registered =
        |name: &str, paths: &[String]| registered.iter().any(|webhook| is_about(webhook, name, paths));
    let names = paths_of(spec).into_iter().filter(|(name, paths)| is_registered(name, paths));
    names.map(|(name, _)| name).collect()
}
