//! Joins the files with one name to one contract and expands its clauses.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Clause, Draft};
use super::expand::Context;
use super::given::FixtureLookup;
use super::hash;
use super::namespaces::{self, Namespaces};
use super::report::Report;
use super::shared::{FixtureScope, SharedFixtures};
use crate::document::SourceFile;
use crate::gardener::decision::SHOOT_LISTS;
use crate::model::{Contract, Form, Subject};
use crate::parameters;

/// The lists with key fields that a contract declares.
fn list_keys(contract: &Contract) -> BTreeMap<String, String> {
    let mut list_keys = contract.list_keys.clone();
    if contract.form == Form::Versions {
        list_keys.extend(SHOOT_LISTS.map(|(path, key)| (path.to_owned(), key.to_owned())));
    }
    list_keys
}

/// Selects by id the clauses that are expanded.
pub(crate) type ClauseFilter<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// The contract with all its clauses, errors and findings; for loading contracts in parallel.
pub(crate) fn load_alone<'s>(
    drafts: &[Draft],
    shared: &SharedFixtures,
    sources: &'s [SourceFile],
) -> (Option<Contract>, Report<'s>, Report<'s>) {
    let (report, lint) = (Report::new(sources), Report::new(sources));
    let contract = contract(drafts, shared, &report, &lint, None);
    (contract, report, lint)
}

/// Whether a clause has cases. Rows `may add` and `may change` of a table of flags have none: they belong to a clause
/// of another contract.
pub(crate) fn has_cases(drafts: &[Draft], clause: &Clause) -> bool {
    drafts.first().is_none_or(|draft| draft.form != Form::Flags) || clause.has_cases()
}

/// Joins the files with one name to one contract; `wanted` selects its clauses.
pub(crate) fn contract<'a>(
    drafts: &'a [Draft],
    shared: &'a SharedFixtures,
    report: &'a Report<'a>,
    lint: &'a Report<'a>,
    wanted: Option<ClauseFilter<'_>>,
) -> Option<Contract> {
    let first = drafts.first()?;
    let mut contract = empty(first, report);
    contract.releases = shared.releases_of(&contract.component);
    contract.profiles = shared.profiles_of(&contract.component);
    for draft in drafts {
        join(&mut contract, draft, report);
    }
    let (list_keys, unordered) = (list_keys(&contract), contract.unordered.clone());
    let rules = hash::rules(&contract);
    let lookup = |draft: &'a Draft| {
        let others = drafts.iter().filter(|other| !std::ptr::eq(*other, draft)).map(|other| &other.fixtures);
        let own = std::iter::once(&draft.fixtures).chain(others).collect();
        FixtureLookup { own, shared: FixtureScope::All(shared) }
    };
    let mut namespaces = Namespaces::new();
    for draft in drafts {
        let Some(written) = &draft.namespaces else { continue };
        let (lookup, none) = (lookup(draft), Namespaces::new());
        let (list_keys, unordered) = (&list_keys, &unordered);
        let (before, rules) = (&none, &rules);
        let context =
            Context { draft, namespaces: before, lookup: &lookup, list_keys, unordered, rules, report, lint };
        let shared = (shared, contract.releases.as_deref());
        context.namespaces(written, shared, &mut namespaces);
    }
    if contract.form == Form::Objects {
        namespaces::check(drafts, &namespaces, report);
    }
    for draft in drafts {
        let lookup = lookup(draft);
        let (list_keys, unordered) = (&list_keys, &unordered);
        let namespaces = &namespaces;
        let context =
            Context { draft, namespaces, lookup: &lookup, list_keys, unordered, rules: &rules, report, lint };
        let clauses = draft.clauses.iter().filter(|clause| wanted.is_none_or(|wanted| wanted(&clause.id)));
        let loaded = clauses.map(|clause| (clause, context.clause(clause)));
        let with_cases = loaded.filter(|(clause, _)| has_cases(drafts, clause));
        contract.clauses.extend(with_cases.map(|(_, loaded)| loaded));
    }
    if wanted.is_none() {
        check_parameters(&contract, drafts, report);
    }
    Some(contract)
}

/// Reports parameters without an example, and examples of unused parameters.
fn check_parameters(contract: &Contract, drafts: &[Draft], report: &Report<'_>) {
    let expected = contract.clauses.iter().flat_map(|clause| &clause.cases);
    let expected = expected.filter_map(|case| case.then.object.as_ref());
    let named: BTreeSet<&str> = expected.flat_map(parameters::names).map(parameters::root_name).collect();
    let Some(span) = drafts.first().map(|draft| draft.span) else { return };
    for name in named.iter().filter(|name| !contract.parameters.contains_key(**name)) {
        let remedy = format!("add one that fits the contract's config: `parameters: {{{name}: …}}`");
        report.add("parameters", span, format!("parameter {name} has no example"), remedy);
    }
    for name in contract.parameters.keys().filter(|name| !named.contains(name.as_str())) {
        let remedy = "use it in `then` as `{$parameter: …}`, or remove it";
        report.add("parameters", span, format!("no clause uses the parameter {name}"), remedy);
    }
}

fn empty(first: &Draft, report: &Report<'_>) -> Contract {
    Contract {
        name: first.name.clone(),
        component: first.labels.get("component").cloned().unwrap_or_default(),
        labels: BTreeMap::new(),
        is_partial: false,
        form: first.form,
        source: first.source.clone(),
        subject: Subject { handles: Vec::new(), ..first.subject() },
        only_touches: Vec::new(),
        elsewhere: Vec::new(),
        unordered: Vec::new(),
        list_keys: BTreeMap::new(),
        exempt: BTreeMap::new(),
        parameters: BTreeMap::new(),
        flags: None,
        releases: None,
        profiles: None,
        clauses: Vec::new(),
        files: vec![report.files[first.file].path.clone()],
    }
}

/// Adds one file to its contract.
fn join(contract: &mut Contract, draft: &Draft, report: &Report<'_>) {
    if draft.form != contract.form || draft.webhook != contract.subject.webhook {
        let message = format!("the files of {} differ in form or webhook", contract.name);
        let remedy = "use one form and one webhook in all files, or rename the contract of this file";
        report.add("folder", draft.span, message, remedy);
    }
    let path = &report.files[draft.file].path;
    if !contract.files.contains(path) {
        contract.files.push(path.clone());
    }
    contract.labels.extend(draft.labels.clone());
    for handled in &draft.handles {
        if !contract.subject.handles.contains(handled) {
            contract.subject.handles.push(handled.clone());
        }
    }
    for (all, own) in [
        (&mut contract.only_touches, &draft.only_touches),
        (&mut contract.elsewhere, &draft.elsewhere),
        (&mut contract.unordered, &draft.unordered),
    ] {
        let new: BTreeSet<&String> = own.iter().filter(|path| !all.contains(path)).collect();
        let new: Vec<String> = own.iter().filter(|path| new.contains(path)).cloned().collect();
        all.extend(new);
    }
    contract.exempt.extend(draft.exempt.clone());
    let parameters = draft.parameters.iter().flat_map(|tree| tree.map().unwrap_or_default());
    contract.parameters.extend(parameters.map(|(key, value)| (key.name.clone(), value.to_value())));
    if let Some(named) = &draft.flags {
        match &mut contract.flags {
            Some(flags) if flags.line == named.line => flags.rows.extend(named.rows.clone()),
            Some(_) => {
                let message = format!("the files of {} name two command lines", contract.name);
                let remedy = "use one container or unit in all files, or rename the contract of this file";
                report.add("folder", draft.span, message, remedy);
            }
            none @ None => *none = Some(named.clone()),
        }
    }
    for (path, key) in &draft.list_keys {
        let before = contract.list_keys.insert(path.clone(), key.clone());
        if before.is_some_and(|before| before != *key) {
            report.add(
                "folder",
                draft.span,
                format!("the files of {} name different keys of {path}", contract.name),
                "use the same key in all files",
            );
        }
    }
}
