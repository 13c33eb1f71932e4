//! Loads contracts: files in, catalog out, everything that is wrong named at once.

mod cells;
mod columns;
mod decision;
mod doing;
mod draft;
mod emitted;
mod expand;
mod explained;
mod fields;
mod fixtures;
mod flags;
mod given;
mod hash;
mod lists;
mod object_ref;
mod operators;
mod outcome;
mod plain;
mod profile;
mod question;
mod refuse;
mod report;
mod scenario;
mod setting;
mod spelled;
mod steps;
mod table;
mod tree;
mod variants;
mod variations;
mod wanted;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formats::yaml::{self, Node};
use rayon::prelude::*;
use serde_json::Value;

pub use report::Errors;
pub use spelled::{spelled, spelled_text};

use self::draft::{Clause, Draft};
use self::emitted::Namespaces;
use self::expand::Context;
use self::given::Shelf;
use self::plain::check_plain;
use self::report::{Report, nearest};
use self::tree::{Span, Tree};
use self::variations::Variations;
use crate::decision::SHOOT_LISTS;
use crate::document::releases::{self, Releases};
use crate::document::{API_VERSION, Error, SourceFile, attestation, ledger};
use crate::explanations::Explanations;
use crate::model::{Catalog, Contract, Form, Subject};
use crate::parameters;

/// What the files say, and what is wrong with them.
#[derive(Debug)]
pub struct Loaded {
    /// What could be loaded; clauses and cases with errors are left out.
    pub catalog: Catalog,
    /// The ledger and its file.
    pub ledger: Option<(ledger::Ledger, SourceFile)>,
    /// The attestations.
    pub attestations: Vec<attestation::Attestation>,
    /// Why targets answer otherwise than others.
    pub explanations: Vec<Explanations>,
    /// What keeps the files from being loaded as they stand.
    pub errors: Vec<Error>,
    /// What loads, and lint names nevertheless.
    pub findings: Vec<Error>,
}

impl Catalog {
    /// The contracts of these files.
    ///
    /// # Errors
    /// Everything that is wrong with any of the files.
    pub fn load(sources: &[SourceFile]) -> Result<Self, Errors> {
        let loaded = read(sources);
        if loaded.errors.is_empty() { Ok(loaded.catalog) } else { Err(Errors(loaded.errors)) }
    }

    /// The contracts that the binary carries.
    ///
    /// # Errors
    /// Everything that is wrong with them; a test of this crate sees that nothing is.
    pub fn embedded() -> Result<Self, Errors> {
        Self::load(&crate::source::embedded())
    }
}

/// Reads all files, as far as they can be read.
#[must_use]
pub fn read(sources: &[SourceFile]) -> Loaded {
    let (report, lint) = (Report::new(sources), Report::new(sources));
    let sorted = sort(&report);
    let mut shared = fixtures::build(&sorted.fixtures, &report);
    let variations = variations::build(&sorted.variations, &mut shared, &report);
    let written = Written { fixtures: &shared, variations: &variations, releases: &sorted.releases };
    let drafts: Vec<&Vec<Draft>> = sorted.contracts.values().collect();
    let loaded: Vec<_> = drafts.par_iter().map(|drafts| alone(drafts, &written, sources)).collect();
    let mut ids = BTreeMap::new();
    let mut contracts: Vec<Contract> = Vec::new();
    for (drafts, (contract, wrong, found)) in drafts.into_iter().zip(loaded) {
        report.join(wrong);
        lint.join(found);
        let clauses = drafts.iter().flat_map(|draft| &draft.clauses);
        clauses
            .filter(|clause| is_asked(drafts, clause))
            .for_each(|clause| note_id(&mut ids, clause, &report));
        contracts.extend(contract);
    }
    contracts.sort_by(|a, b| (&a.component, &a.name).cmp(&(&b.component, &b.name)));
    Loaded {
        catalog: Catalog { contracts, fixtures: shared },
        ledger: sorted.ledger,
        attestations: sorted.attestations,
        explanations: sorted.explanations,
        errors: report.into_errors(),
        findings: lint.into_errors(),
    }
}

/// Documents by what they are.
#[derive(Default)]
struct Sorted {
    contracts: BTreeMap<(String, String), Vec<Draft>>,
    fixtures: BTreeMap<String, Tree>,
    variations: Vec<variations::Drawn>,
    releases: Vec<Arc<Releases>>,
    ledger: Option<(ledger::Ledger, SourceFile)>,
    attestations: Vec<attestation::Attestation>,
    explanations: Vec<Explanations>,
}

fn sort(report: &Report<'_>) -> Sorted {
    let mut sorted = Sorted::default();
    let parsed: Vec<_> = report.files.par_iter().map(|source| yaml::parse(&source.text)).collect();
    for ((file, source), parsed) in report.files.iter().enumerate().zip(parsed) {
        let nodes = match parsed {
            Ok(nodes) => nodes,
            Err(error) => {
                report.push(source.error(error.mark, 1, error.message, None).coded("yaml"));
                continue;
            }
        };
        for node in &nodes {
            document(&mut sorted, file, node, report);
        }
    }
    sorted
}

fn document(sorted: &mut Sorted, file: usize, node: &Node, report: &Report<'_>) {
    let source = &report.files[file];
    let own = node.get("apiVersion").and_then(Node::as_str) == Some(API_VERSION);
    let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
    let in_fixtures = source.path.split('/').any(|part| part == "fixtures");
    match kind {
        _ if in_fixtures && !own => {
            check_plain(node, file, report);
            fixtures::note(&mut sorted.fixtures, file, node, report);
        }
        "Contract" if own => {
            check_plain(node, file, report);
            if let Some(draft) = draft::read(file, node, report) {
                let component = draft.labels.get("component").cloned().unwrap_or_default();
                sorted.contracts.entry((component, draft.name.clone())).or_default().push(draft);
            }
        }
        "Ledger" if own => match ledger::read(source) {
            Ok(ledger) => sorted.ledger = Some((ledger, source.clone())),
            Err(error) => report.push(error.coded("ledger")),
        },
        "Attestation" if own => match attestation::read(source) {
            Ok(attestation) => sorted.attestations.push(attestation),
            Err(error) => report.push(error.coded("attestation")),
        },
        "Variations" if own => {
            check_plain(node, file, report);
            sorted.variations.extend(variations::read(file, node, report));
        }
        "Releases" if own => match releases::read(source) {
            Ok(releases) => sorted.releases.push(Arc::new(releases)),
            Err(error) => report.push(error.coded("releases")),
        },
        "Explanations" if own => sorted.explanations.extend(explained::read(file, node, report)),
        _ if own => {
            let place = node.get("kind").unwrap_or(node);
            let known = ["Contract", "Ledger", "Attestation", "Explanations", "Variations", "Releases"];
            let remedy = nearest(kind, known);
            report.add("kind", Span::of(file, place), format!("{kind:?} is no kind of file here"), remedy);
        }
        _ => {
            let place = node.get("apiVersion").unwrap_or(node);
            let remedy =
                format!("write `apiVersion: {API_VERSION}`, or move a fixture to contracts/fixtures");
            report.add("kind", Span::of(file, place), "this is no file of ours", remedy);
        }
    }
}

/// What contracts share.
struct Written<'a> {
    fixtures: &'a BTreeMap<String, Value>,
    variations: &'a Variations,
    releases: &'a [Arc<Releases>],
}

impl Written<'_> {
    fn releases_of(&self, component: &str) -> Option<Arc<Releases>> {
        self.releases.iter().find(|releases| releases.component == component).cloned()
    }
}

/// The lists whose keys a contract knows.
fn list_keys(contract: &Contract) -> BTreeMap<String, String> {
    let mut list_keys = contract.list_keys.clone();
    if contract.form == Form::Versions {
        list_keys.extend(SHOOT_LISTS.map(|(path, key)| (path.to_owned(), key.to_owned())));
    }
    list_keys
}

/// The files of one name as one contract, and what is wrong with it: contracts are loaded side by side.
fn alone<'s>(
    drafts: &[Draft],
    written: &Written<'_>,
    sources: &'s [SourceFile],
) -> (Option<Contract>, Report<'s>, Report<'s>) {
    let (report, lint) = (Report::new(sources), Report::new(sources));
    let contract = contract(drafts, written, &report, &lint);
    (contract, report, lint)
}

/// Rows of flags that ask nothing speak for a clause of another contract.
fn is_asked(drafts: &[Draft], clause: &Clause) -> bool {
    drafts.first().is_none_or(|draft| draft.form != Form::Flags) || clause.asks()
}

/// The files of one name as one contract.
fn contract<'a>(
    drafts: &'a [Draft],
    written: &Written<'a>,
    report: &'a Report<'a>,
    lint: &'a Report<'a>,
) -> Option<Contract> {
    let first = drafts.first()?;
    let mut contract = empty(first, report);
    contract.releases = written.releases_of(&contract.component);
    for draft in drafts {
        join(&mut contract, draft, report);
    }
    let (list_keys, unordered) = (list_keys(&contract), contract.unordered.clone());
    let rules = hash::rules(&contract);
    let shelf = |draft: &'a Draft| {
        let others = drafts.iter().filter(|other| !std::ptr::eq(*other, draft)).map(|other| &other.fixtures);
        let own = std::iter::once(&draft.fixtures).chain(others).collect();
        Shelf { own, shared: written.fixtures }
    };
    let mut namespaces = Namespaces::new();
    for draft in drafts {
        let Some(drawn) = &draft.namespaces else { continue };
        let (shelf, none) = (shelf(draft), Namespaces::new());
        let (list_keys, unordered) = (&list_keys, &unordered);
        let (before, rules) = (&none, &rules);
        let context =
            Context { draft, namespaces: before, shelf: &shelf, list_keys, unordered, rules, report, lint };
        let shared = (written.variations, contract.releases.as_deref());
        context.namespaces(drawn, shared, &mut namespaces);
    }
    if contract.form == Form::Objects {
        emitted::check(drafts, &namespaces, report);
    }
    for draft in drafts {
        let shelf = shelf(draft);
        let (list_keys, unordered) = (&list_keys, &unordered);
        let namespaces = &namespaces;
        let context =
            Context { draft, namespaces, shelf: &shelf, list_keys, unordered, rules: &rules, report, lint };
        let loaded = draft.clauses.iter().map(|clause| (clause, context.clause(clause)));
        let asked = loaded.filter(|(clause, _)| is_asked(drafts, clause));
        contract.clauses.extend(asked.map(|(_, loaded)| loaded));
    }
    check_parameters(&contract, drafts, report);
    Some(contract)
}

/// Notes parameters without an example, and examples of none.
fn check_parameters(contract: &Contract, drafts: &[Draft], report: &Report<'_>) {
    let expected = contract.clauses.iter().flat_map(|clause| &clause.cases);
    let expected = expected.filter_map(|case| case.then.object.as_ref());
    let named: BTreeSet<&str> = expected.flat_map(parameters::names).map(parameters::stated_as).collect();
    let Some(span) = drafts.first().map(|draft| draft.span) else { return };
    for name in named.iter().filter(|name| !contract.parameters.contains_key(**name)) {
        let remedy = format!("say one that fits the contract's config: `parameters: {{{name}: …}}`");
        report.add("parameters", span, format!("parameter {name} has no example"), remedy);
    }
    for name in contract.parameters.keys().filter(|name| !named.contains(name.as_str())) {
        let remedy = "write `{$parameter: …}` where it matters, or drop it";
        report.add("parameters", span, format!("no clause names the parameter {name}"), remedy);
    }
}

/// Notes an id that another clause has.
fn note_id(ids: &mut BTreeMap<String, String>, clause: &Clause, report: &Report<'_>) {
    let place = format!("{}:{}", report.files[clause.span.file].path, clause.span.mark.line);
    if let Some(first) = ids.insert(clause.id.clone(), place) {
        let message = format!("{} is taken, at {first}", clause.id);
        report.add("duplicate-id", clause.span, message, "ids are never reused: number the clause anew");
    }
}

fn empty(first: &Draft, report: &Report<'_>) -> Contract {
    Contract {
        name: first.name.clone(),
        component: first.labels.get("component").cloned().unwrap_or_default(),
        labels: BTreeMap::new(),
        form: first.form,
        source: first.source.clone(),
        subject: Subject {
            webhook: first.webhook.clone(),
            controller: first.controller.clone(),
            handles: Vec::new(),
            instance: first.instance.clone(),
        },
        only_touches: Vec::new(),
        unordered: Vec::new(),
        list_keys: BTreeMap::new(),
        exempt: BTreeMap::new(),
        parameters: BTreeMap::new(),
        flags: None,
        releases: None,
        clauses: Vec::new(),
        files: vec![report.files[first.file].path.clone()],
    }
}

/// Adds what one file says to its contract.
fn join(contract: &mut Contract, draft: &Draft, report: &Report<'_>) {
    if draft.form != contract.form || draft.webhook != contract.subject.webhook {
        let message = format!("the files of {} differ in form or webhook", contract.name);
        report.add(
            "folder",
            draft.span,
            message,
            "one behaviour has one form and one webhook; name another contract",
        );
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
    for (all, own) in
        [(&mut contract.only_touches, &draft.only_touches), (&mut contract.unordered, &draft.unordered)]
    {
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
                let message = format!("the files of {} are about two command lines", contract.name);
                report.add("folder", draft.span, message, "one contract is about one: name another");
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
                format!("the files of {} key {path} differently", contract.name),
                "one list has one key",
            );
        }
    }
}
