//! Contract files as written: headers, clauses, tables; nothing merged or expanded yet.

use std::collections::BTreeMap;

use formats::yaml::Node;

use super::emitted::ObjectsForm;
use super::fields::Fields;
use super::flags;
use super::gardener::versions_form::{self, VersionsForm};
use super::keywords::{
    BINDS, CLAUSE, CLAUSE_OBJECTS, CLAUSE_VERSIONS, FORMS, LAWS, LEVELS, METADATA, ROOT, SOURCE, SPEC,
    SPEC_FLAGS, SPEC_OBJECTS, SPEC_VERSIONS, TARGET, TARGET_FLAGS, laws,
};
use super::not_on;
use super::report::Report;
use super::table::{self, Table};
use super::tree::{Span, Tree};
use crate::flags::FlagTable;
use crate::model::{Binds, Form, Handled, Law, Level, Source, Subject};
use crate::versions::Range;

const OUTSIDE_FLAGS: &str = "outside the form flags";

/// One document of kind Contract.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) file: usize,
    pub(crate) span: Span,
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) form: Form,
    pub(crate) source: Option<Source>,
    pub(crate) webhook: Option<String>,
    pub(crate) controller: Option<String>,
    pub(crate) handles: Vec<Handled>,
    pub(crate) instance: Option<String>,
    pub(crate) only_touches: Vec<String>,
    pub(crate) elsewhere: Vec<String>,
    pub(crate) unordered: Vec<String>,
    pub(crate) list_keys: BTreeMap<String, String>,
    pub(crate) exempt: BTreeMap<Law, String>,
    pub(crate) config: Option<Tree>,
    pub(crate) fixtures: BTreeMap<String, Tree>,
    pub(crate) versions_form: VersionsForm,
    /// Form objects only: the namespaces.
    pub(crate) namespaces: Option<Tree>,
    pub(crate) parameters: Option<Tree>,
    /// Form flags only: the flags in its rows.
    pub(crate) flags: Option<FlagTable>,
    pub(crate) clauses: Vec<Clause>,
}

/// A clause as written.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) id: String,
    pub(crate) span: Span,
    pub(crate) text: String,
    pub(crate) level: Level,
    pub(crate) strict: Option<Level>,
    pub(crate) binds: Binds,
    pub(crate) versions: Option<String>,
    pub(crate) needs: Vec<String>,
    pub(crate) presupposes: Vec<String>,
    pub(crate) covers: Vec<String>,
    pub(crate) instance: Option<String>,
    pub(crate) differs: BTreeMap<String, String>,
    pub(crate) not_on: BTreeMap<String, String>,
    pub(crate) source: Option<Source>,
    pub(crate) config: Option<Tree>,
    pub(crate) table: Option<Table>,
    pub(crate) given: Option<Tree>,
    pub(crate) when: Option<Tree>,
    pub(crate) then: Option<Tree>,
    /// What the emitted object must satisfy: `emits`.
    pub(crate) emits: Option<Tree>,
    /// Form objects only: the selected objects, and the changes that break the clause.
    pub(crate) objects_form: ObjectsForm,
    pub(crate) steps: Option<Tree>,
    pub(crate) faults: Vec<String>,
    pub(crate) versions_form: VersionsForm,
}

impl Draft {
    /// Component and name of the contract.
    pub(crate) fn key(&self) -> (String, String) {
        (self.labels.get("component").cloned().unwrap_or_default(), self.name.clone())
    }

    /// The contract's subject.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            webhook: self.webhook.clone(),
            controller: self.controller.clone(),
            handles: self.handles.clone(),
            instance: self.instance.clone(),
        }
    }
}

impl Clause {
    /// Whether it has cases: in a table of flags, rows `may add` and `may change` make none.
    pub(crate) fn has_cases(&self) -> bool {
        self.table.as_ref().is_none_or(|table| table.rows.iter().any(flags::has_cases))
    }
}

/// Reads a document of kind Contract; `None` if name, form or another necessary part is missing.
pub(crate) fn read(file: usize, node: &Node, report: &Report<'_>) -> Option<Draft> {
    let root = Fields::of(file, node, "a contract", &ROOT, report)?;
    let Some(metadata) = root.node("metadata") else {
        report.add(
            "missing-key",
            root.span(),
            "metadata is missing",
            "write `metadata: {name: …, labels: {component: …}}`",
        );
        return None;
    };
    let metadata = Fields::of(file, metadata, "metadata", &METADATA, report)?;
    let name = metadata.required("name", "name the behaviour: `name: pod-scheduler-name`");
    let labels = metadata.pairs("labels");
    if !labels.contains_key("component") {
        report.add(
            "missing-key",
            metadata.span(),
            "the label component is missing",
            "write `labels: {component: …}`",
        );
    }
    let Some(spec) = root.node("spec") else {
        report.add("missing-key", root.span(), "spec is missing", "");
        return None;
    };
    let known: Vec<&str> =
        SPEC.into_iter().chain(SPEC_VERSIONS).chain(SPEC_FLAGS).chain(SPEC_OBJECTS).collect();
    let spec = Fields::of(file, spec, "spec", &known, report)?;
    let form = form(&spec)?;
    let mut draft = header(&spec, form);
    (draft.name, draft.labels) = (name?, labels);
    if form == Form::Flags {
        (draft.clauses, draft.flags) = flags::clauses(&spec);
    } else {
        draft.clauses = clauses(&spec, form);
    }
    Some(draft)
}

/// Reads the form.
fn form(spec: &Fields<'_>) -> Option<Form> {
    let remedy = "write `form: mutation`, `validation`, `flags`, `configuration`, `process`, `objects`, `versions` or `scenario`";
    spec.required("form", remedy)?;
    spec.choice("form", &FORMS)
}

fn header(spec: &Fields<'_>, form: Form) -> Draft {
    let target =
        spec.node("target").and_then(|node| Fields::of(spec.file, node, "target", &TARGET, spec.report));
    let (key, remedy) = match form {
        Form::Scenario => ("controller", "name the controller: `target: {controller: …}`"),
        _ => ("webhook", "name the webhook: `target: {webhook: …, handles: [v1 pods]}`"),
    };
    check_keys_of_forms(spec, form, target.as_ref());
    let has_target = !matches!(form, Form::Configuration | Form::Process | Form::Versions | Form::Objects);
    if has_target && target.and_then(|target| target.node(key)).is_none() {
        let at = target.map_or_else(|| spec.span(), |target| target.span());
        spec.report.add("missing-key", at, format!("target.{key} is missing"), remedy);
    }
    let text = |name: &str| target.and_then(|target| target.text(name));
    Draft {
        file: spec.file,
        span: spec.span(),
        name: String::new(),
        labels: BTreeMap::new(),
        form,
        source: source(spec),
        webhook: text("webhook"),
        controller: text("controller"),
        handles: target.map(|target| handles(&target)).unwrap_or_default(),
        instance: text("instance"),
        only_touches: paths(spec, "onlyTouches"),
        elsewhere: paths(spec, "elsewhere"),
        unordered: paths(spec, "unordered"),
        list_keys: spec.pairs("listKeys"),
        exempt: exempt(spec),
        config: spec.tree("config"),
        fixtures: fixtures(spec),
        versions_form: VersionsForm::of(spec),
        namespaces: spec.tree("namespaces"),
        parameters: spec.tree("parameters"),
        flags: None,
        clauses: Vec::new(),
    }
}

/// Reports keys of a contract that its form does not have.
fn check_keys_of_forms(spec: &Fields<'_>, form: Form, target: Option<&Fields<'_>>) {
    if form == Form::Objects {
        let others = ["target", "config", "onlyTouches", "elsewhere", "exempt"];
        report_not_allowed(spec, &others, "in the form objects");
    } else {
        report_not_allowed(spec, &SPEC_OBJECTS, "outside the form objects");
    }
    if form == Form::Flags {
        let others: Vec<&str> = SPEC_VERSIONS.into_iter().filter(|key| *key != "when").collect();
        versions_form::report_foreign_keys(spec, form, &others, &[]);
    } else {
        versions_form::report_foreign_keys(spec, form, &SPEC_VERSIONS, &["target", "config"]);
        report_not_allowed(spec, &SPEC_FLAGS, OUTSIDE_FLAGS);
        if let Some(target) = target {
            report_not_allowed(target, &TARGET_FLAGS, OUTSIDE_FLAGS);
        }
    }
}

/// Reports keys of the form objects in other forms, and keys of other forms in the form objects.
fn check_keys_of_objects_form(fields: &Fields<'_>, form: Form) {
    if form == Form::Objects {
        let others = ["given", "when", "then", "config", "steps", "faults", "instance", "needs"];
        return report_not_allowed(fields, &others, "in the form objects");
    }
    report_not_allowed(fields, &CLAUSE_OBJECTS, "outside the form objects");
}

/// Reports keys that are not allowed here.
fn report_not_allowed(fields: &Fields<'_>, names: &[&str], place: &str) {
    for (name, node) in names.iter().filter_map(|name| Some((name, fields.node(name)?))) {
        let message = format!("{name} is not allowed {place}");
        fields.report.add("form", Span::of(fields.file, node), message, "remove it");
    }
}

/// Reads the source of a contract or a clause.
pub(super) fn source(fields: &Fields<'_>) -> Option<Source> {
    let node = fields.node("source")?;
    let source = Fields::of(fields.file, node, "source", &SOURCE, fields.report)?;
    let sentence = source.text("sentence");
    let fits = |text: &String| {
        text.len() == 8 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    };
    if let (Some(node), false) = (source.node("sentence"), sentence.as_ref().is_none_or(fits)) {
        source.report_type_error(
            node,
            "sentence must be a string of 8 hex digits",
            "`gardener-conformance lint --hash 'the words'` prints the hash; quote it if it has digits only",
        );
    }
    Some(Source {
        document: source.text("document"),
        code: source.text("code"),
        version: source.text("version"),
        section: source.text("section"),
        sentence,
    })
}

fn handles(target: &Fields<'_>) -> Vec<Handled> {
    let mut found = Vec::new();
    for text in target.texts("handles") {
        let handled = text.split_once(' ').map(|(api_version, resource)| {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let own = |text: &str| text.to_owned();
            Handled { group: own(group), version: own(version), resource: own(resource) }
        });
        match (handled, target.node("handles")) {
            (Some(handled), _) => found.push(handled),
            (None, Some(node)) => target.report_type_error(
                node,
                &format!("{text:?} is not an API version and a resource"),
                "write `apps/v1 deployments` or `v1 pods`",
            ),
            (None, None) => {}
        }
    }
    found
}

fn paths(spec: &Fields<'_>, name: &str) -> Vec<String> {
    let paths = spec.texts(name);
    for path in &paths {
        if let (Err(error), Some(node)) = (schema::segments(path), spec.node(name)) {
            spec.report_type_error(
                node,
                &format!("{path:?} is not a valid path: {error}"),
                "write it like `spec.containers[].env`",
            );
        }
    }
    paths
}

fn exempt(spec: &Fields<'_>) -> BTreeMap<Law, String> {
    let mut found = BTreeMap::new();
    let Some(node) = spec.node("exempt") else { return found };
    let known: Vec<&str> = laws().collect();
    let Some(fields) = Fields::of(spec.file, node, "exempt", &known, spec.report) else { return found };
    for (name, law) in LAWS {
        if let Some(reason) = fields.text(name) {
            found.insert(law, reason);
        }
    }
    found
}

fn fixtures(spec: &Fields<'_>) -> BTreeMap<String, Tree> {
    let entries = spec.node("fixtures").and_then(Node::entries).unwrap_or_default();
    entries.iter().map(|entry| (entry.key.clone(), Tree::of(spec.file, &entry.value))).collect()
}

fn clauses(spec: &Fields<'_>, form: Form) -> Vec<Clause> {
    let items = spec.node("clauses").and_then(Node::items).unwrap_or_default();
    if items.is_empty() {
        spec.report.add(
            "missing-key",
            spec.span(),
            "the contract has no clauses",
            "write `clauses: [{id: …, text: …, when: …, then: …}]`",
        );
    }
    items.iter().filter_map(|node| clause(spec.file, node, form, spec.report)).collect()
}

/// Reads `level` and `strict`; `strict` must be the stricter level.
fn levels(fields: &Fields<'_>) -> (Level, Option<Level>) {
    let level = fields.choice("level", &LEVELS).unwrap_or_default();
    let strict = fields.choice("strict", &LEVELS);
    if let (Some(node), true) = (fields.node("strict"), strict.is_some_and(|strict| strict >= level)) {
        let remedy = "write a stricter level than `level`: `level: SHOULD`, `strict: MUST`";
        fields.report_type_error(node, "strict is not stricter than level", remedy);
    }
    (level, strict)
}

fn clause(file: usize, node: &Node, form: Form, report: &Report<'_>) -> Option<Clause> {
    let known: Vec<&str> = CLAUSE.into_iter().chain(CLAUSE_VERSIONS).chain(CLAUSE_OBJECTS).collect();
    let fields = Fields::of(file, node, "a clause", &known, report)?;
    versions_form::report_foreign_keys(
        &fields,
        form,
        &CLAUSE_VERSIONS,
        &["given", "config", "steps", "faults", "instance"],
    );
    check_keys_of_objects_form(&fields, form);
    let id = fields.required("id", "write an id that was never used: `id: GRM-HAC-001`");
    let text = fields.required("text", "write `text: …`, one sentence that says what holds");
    let id_span = fields.node("id").map_or_else(|| fields.span(), |node| Span::of(file, node));
    let versions = fields.text("versions");
    let is_range = |text: &str| Range::parse(text).is_some();
    if let (Some(node), Some(false)) = (fields.node("versions"), versions.as_deref().map(is_range)) {
        fields.report_type_error(
            node,
            "versions is not a valid range",
            "write `>=1.58`, or several with commas: `>=1.58, <1.82`",
        );
    }
    let (level, strict) = levels(&fields);
    Some(Clause {
        id: id?,
        span: id_span,
        text: text.unwrap_or_default(),
        level,
        strict,
        binds: fields.choice("binds", &BINDS).unwrap_or_default(),
        versions,
        needs: fields.texts("needs"),
        presupposes: fields.texts("presupposes"),
        covers: fields.texts("covers"),
        instance: fields.text("instance"),
        differs: fields.pairs("differs"),
        not_on: not_on::read(&fields),
        source: source(&fields),
        config: fields.tree("config"),
        table: fields.node("table").and_then(|node| table::read(file, node, report)),
        given: fields.tree("given"),
        when: fields.tree("when"),
        then: fields.tree("then"),
        emits: fields.tree("emits"),
        objects_form: ObjectsForm::of(&fields),
        steps: fields.tree("steps"),
        faults: fields.texts("faults"),
        versions_form: VersionsForm::of(&fields),
    })
}
