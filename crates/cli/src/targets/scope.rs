//! What a target has: the suite of its contracts, and the webhooks and controllers that it serves. Contracts about others are
//! left out, so that they count neither as broken nor as missing.

use std::collections::BTreeSet;
use std::path::Path;

use conformance::route;
use conformance::select::Selection;
use contract::document::target::TargetSpec;
use contract::index::Outline;
use webhook::registration::Registration;

use super::{paths_of, read_registrations, read_spec};
use crate::arguments::RunningTargetArguments;
use crate::catalog::Selected;
use crate::terminal::Failure;

/// The suite for a provider that only the command line describes.
const PROVIDER_SUITE: &str = "controlplane";

/// What a target has, as far as its description says.
#[derive(Debug, Default)]
pub(crate) struct TargetScope {
    /// The suite of its contracts, if the user selects nothing.
    suite: Option<String>,
    /// Names of its webhooks and controllers; `None`: unknown.
    serves: Option<BTreeSet<String>>,
    /// Where the names are from.
    origin: String,
}

impl TargetScope {
    /// Reads what the target file or the command line says. The registration names what a target serves if the target file does
    /// not, and the user selects no contract.
    pub(crate) fn of(
        target: &str,
        running: &RunningTargetArguments,
        selection: &Selection,
    ) -> Result<Self, Failure> {
        let Some(spec) = read_spec(target)? else {
            let suite = running.provider.as_ref().map(|_| PROVIDER_SUITE.to_owned());
            return Ok(Self { suite, ..Self::default() });
        };
        let suite =
            spec.suite.clone().or_else(|| running.provider.as_ref().map(|_| PROVIDER_SUITE.to_owned()));
        let (serves, origin) = if !spec.serves.is_empty() {
            (Some(spec.serves.iter().cloned().collect()), format!("`serves` in {target}"))
        } else if names_contracts(selection) {
            (None, String::new())
        } else {
            let folder = Path::new(target).parent().unwrap_or(Path::new(""));
            (registered(&spec, folder)?, format!("the registration of {target}"))
        };
        Ok(Self { suite, serves, origin })
    }

    /// Adds the suite of the target to a selection that names no contracts.
    pub(crate) fn complete(&self, selection: &mut Selection) {
        if !names_contracts(selection) {
            selection.suites.extend(self.suite.clone());
        }
    }

    /// Leaves out the contracts about webhooks and controllers that the target does not have. Returns what was left out, as a
    /// sentence.
    pub(crate) fn restrict(&self, selected: &mut Selected) -> Option<String> {
        let serves = self.serves.as_ref()?;
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
        let names: Vec<&str> = about.iter().map(String::as_str).collect();
        let contracts = if count == 1 { "1 contract".to_owned() } else { format!("{count} contracts") };
        format!(
            "left out {contracts} about what the target does not serve ({}): {}",
            self.origin,
            names.join(", ")
        )
    }
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

/// The names of the webhooks that the registration has, by their names or paths; `None` without a registration, or if it has
/// none that a contract is about.
fn registered(spec: &TargetSpec, folder: &Path) -> Result<Option<BTreeSet<String>>, Failure> {
    let Some(files) = &spec.registration else { return Ok(None) };
    let registrations = read_registrations(files, folder)?;
    let webhooks: Vec<&Registration> =
        registrations.values().flatten().flat_map(|configuration| &configuration.webhooks).collect();
    let is_registered = |name: &str, paths: &[String]| {
        webhooks.iter().any(|webhook| {
            let path = route::path(webhook);
            webhook.name.split('.').next() == Some(name)
                || path.rsplit('/').next() == Some(name)
                || paths.contains(&path)
        })
    };
    let names = paths_of(spec).into_iter().filter(|(name, paths)| is_registered(name, paths));
    let names: BTreeSet<String> = names.map(|(name, _)| name).collect();
    Ok((!names.is_empty()).then_some(names))
}
