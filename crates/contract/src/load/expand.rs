//! Rows times operations times fixtures: the cases of a clause.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cells::Cells;
use super::draft::{Clause, Draft};
use super::flags;
use super::given::{FixtureLookup, ObjectBuilder};
use super::hash;
use super::keywords::{GIVEN, GIVEN_PROCESS};
use super::namespaces::Namespaces;
use super::process;
use super::report::Report;
use super::table::TableRow;
use super::then::{self, known_keys};
use super::tree::{Span, Tree};
use super::variants::{self, Variant};
use super::when;
use crate::case::{Case, Given, When};
use crate::emitted::Emits;
use crate::expect::Rules;
use crate::gardener::decision::RunsOn;
use crate::model::{self, Form, Location};

/// The context in which clauses are expanded.
pub(crate) struct Context<'a> {
    pub(crate) draft: &'a Draft,
    /// The namespaces of the form objects.
    pub(crate) namespaces: &'a Namespaces,
    pub(crate) lookup: &'a FixtureLookup<'a>,
    pub(crate) list_keys: &'a BTreeMap<String, String>,
    pub(crate) unordered: &'a [String],
    /// The contract's rules for all clauses, for their hashes.
    pub(crate) rules: &'a Value,
    /// Errors: the contract cannot be used.
    pub(crate) report: &'a Report<'a>,
    /// Findings of lint: the contract can be used.
    pub(crate) lint: &'a Report<'a>,
}

/// A case without its name.
pub(super) struct UnnamedCase {
    pub(super) row: Option<usize>,
    pub(super) like: Option<String>,
    pub(super) operation: Option<String>,
    /// Form versions only: where the decision runs.
    pub(super) runs_on: Option<RunsOn>,
    pub(super) case: Case,
    /// `then` as written, for the clause's hash.
    pub(super) then: Value,
}

/// The columns that are used before `then`, and in it.
#[derive(Default)]
pub(super) struct UsedColumns {
    pub(super) before: BTreeSet<usize>,
    pub(super) after: BTreeSet<usize>,
}

impl Context<'_> {
    /// The clause with its cases.
    pub(crate) fn clause(&self, clause: &Clause) -> model::Clause {
        let mut used = UsedColumns::default();
        let (mut built, emits) = self.expand(clause, &mut used);
        self.check_plugins(clause);
        if self.draft.form == Form::Flags {
            // Rows `may add` and `may change` are only compared with the fixture; they make no cases.
            let has_cases = |built: &UnnamedCase| {
                built
                    .row
                    .zip(clause.table.as_ref())
                    .is_none_or(|(row, table)| flags::has_cases(&table.rows[row]))
            };
            built.retain(has_cases);
        }
        if let Some(table) = clause.table.as_ref().filter(|_| self.draft.form != Form::Flags) {
            self.check_columns(table, &used);
        }
        self.check_breaks(clause, &built);
        let hash = hash::of(clause, self.rules, built.iter().map(|built| (&built.case, &built.then)));
        let cases = self.name_cases(clause, built, &used);
        model::Clause {
            id: clause.id.clone(),
            text: clause.text.clone(),
            level: clause.level,
            strict: clause.strict,
            binds: clause.binds,
            versions: clause.versions.clone(),
            needs: clause.needs.clone(),
            presupposes: clause.presupposes.clone(),
            covers: clause.covers.clone(),
            instance: clause.instance.clone().or_else(|| self.draft.instance.clone()),
            why: clause.versions_form.why.as_ref().and_then(Tree::text).map(str::to_owned),
            differs: clause.differs.clone(),
            not_on: clause.not_on.clone(),
            source: source(clause, self.draft),
            hash,
            location: self.location(clause.span),
            webhook_may: clause.objects_form.webhook,
            emits,
            cases,
            is_partial: false,
        }
    }

    /// The cases of all rows, and their rules for emitted objects.
    fn expand(&self, clause: &Clause, used: &mut UsedColumns) -> (Vec<UnnamedCase>, Vec<Emits>) {
        let (mut built, mut emits) = (Vec::new(), Vec::new());
        let variants = match self.draft.form {
            Form::Scenario | Form::Objects => Vec::new(),
            Form::Versions => self.question_variants(clause),
            _ => self.variants(clause),
        };
        let mut add = |cells: &Cells<'_>, row| match self.draft.form {
            Form::Scenario => built.extend(self.scenario(clause, cells, row, used)),
            Form::Objects => {
                if let Some((rule, cases)) = self.emitted_cases(clause, cells, row, used) {
                    emits.push(rule);
                    built.extend(cases);
                }
            }
            Form::Versions => {
                let cases = variants.iter();
                let cases =
                    cases.filter_map(|variant| self.decision_cases(clause, variant, cells, row, used));
                built.extend(cases.flatten());
            }
            _ => built
                .extend(variants.iter().filter_map(|variant| self.case(clause, variant, cells, row, used))),
        };
        if let Some(table) = &clause.table {
            for (number, row) in table.rows.iter().enumerate() {
                add(&Cells::of(table, row, self.report), Some((number, row)));
            }
        } else {
            add(&Cells::none(self.report), None);
        }
        (built, emits)
    }

    fn variants(&self, clause: &Clause) -> Vec<Variant> {
        let empty = Tree::empty(clause.span);
        let given = clause.given.clone().unwrap_or_else(|| empty.clone());
        if clause.then.is_none() {
            self.report.add(
                "missing-key",
                clause.span,
                "then is missing",
                "write what must hold: `then: {…}`",
            );
        }
        if self.draft.form == Form::Configuration {
            for (name, tree) in [("given", &clause.given), ("when", &clause.when)] {
                if let Some(tree) = tree {
                    let message = format!("{name} is not allowed in the form configuration");
                    self.report.add(
                        "form",
                        tree.span,
                        message,
                        "remove it; write the component's configuration under `config`",
                    );
                }
            }
            return variants::of(&empty, &empty);
        }
        let Some(when) = &clause.when else {
            self.report.add(
                "missing-key",
                clause.span,
                "when is missing",
                "write `when: {admission: CREATE}`",
            );
            return Vec::new();
        };
        variants::of(&given, when)
    }

    fn case(
        &self,
        clause: &Clause,
        variant: &Variant,
        cells: &Cells<'_>,
        row: Option<(usize, &TableRow)>,
        used: &mut UsedColumns,
    ) -> Option<UnnamedCase> {
        let builder = self.builder(cells);
        let errors = self.report.count();
        let config = self.config(clause, &builder);
        let mut given = self.given(&cells.fill(&variant.given), &builder)?;
        let when = match self.draft.form {
            Form::Configuration => Some(When::Configuration),
            Form::Process => process::when(&cells.fill(&variant.when), &builder),
            _ => when::read(&cells.fill(&variant.when), &builder),
        };
        used.before.extend(cells.take_used());
        let asserted = cells.fill(clause.then.as_ref()?);
        let emitted = clause.emits.as_ref().map(|emits| cells.fill(emits));
        used.after.extend(cells.take_used());
        let when = when?;
        self.fill_in_object(clause, &mut given, &when);
        let rules = self.rules(&given, &when);
        let then = match self.draft.form {
            Form::Process => process::then(&asserted, &when, self.report)?,
            _ => then::read(&asserted, when.subject(), &rules, self.report)?,
        };
        if let (Some(emitted), Some(object)) = (&emitted, &given.object) {
            let span = row.map_or(clause.span, |(_, row)| row.span);
            flags::check_emitted(emitted, object, &rules, span, self.report);
        }
        if self.report.count() > errors {
            return None;
        }
        let location = self.location_of(clause, row);
        let operation = if variant.names_operation { operation(&when) } else { None };
        let case = Case { name: String::new(), inputs: Vec::new(), config, given, when, then, location };
        Some(UnnamedCase {
            row: row.map(|(number, _)| number),
            like: variant.like.as_deref().map(|like| cells.fill_text(like, clause.span)),
            operation,
            runs_on: None,
            case,
            then: flags::assertions_for_hash(&asserted, emitted.as_ref()),
        })
    }

    /// The builder for objects of a row.
    pub(super) fn builder<'c>(&'c self, cells: &'c Cells<'c>) -> ObjectBuilder<'c> {
        ObjectBuilder {
            lookup: self.lookup,
            cells,
            list_keys: self.list_keys,
            unordered: self.unordered,
            report: self.report,
            in_progress: RefCell::default(),
        }
    }

    fn given(&self, tree: &Tree, builder: &ObjectBuilder<'_>) -> Option<Given> {
        let errors = self.report.count();
        let known: &[&str] = if self.draft.form == Form::Process { &GIVEN_PROCESS } else { &GIVEN };
        known_keys(tree, "given", known, self.report)?;
        let part = |name: &str| tree.get(name).filter(|part| !part.is_null());
        let object = |name: &str| part(name).map(|part| builder.object(part));
        let cluster = match part("cluster").map(|part| (part, part.list())) {
            None => Vec::new(),
            Some((_, Some(items))) => {
                items.iter().filter(|item| !item.is_null()).filter_map(|item| builder.object(item)).collect()
            }
            Some((part, None)) => {
                self.report.add(
                    "type",
                    part.span,
                    "cluster must be a list of objects",
                    "write `cluster: [{like: …}]`",
                );
                Vec::new()
            }
        };
        let given = Given {
            cluster,
            namespace: object("namespace").flatten(),
            old: object("old").flatten(),
            object: object("object").flatten(),
            surroundings: None,
        };
        (self.report.count() == errors).then_some(given)
    }

    /// The rules of the object in the answer.
    fn rules(&self, given: &Given, when: &When) -> Rules {
        let request = match when {
            When::Admission { sending, .. } => sending.request.get("object"),
            When::Registration { .. } => return self.registration_rules(),
            When::Configuration | When::Process(_) => {
                return Rules::unknown().with(self.list_keys, self.unordered);
            }
            When::DeleteCollection { .. } | When::Steps(_) | When::Decision(_) | When::Emitted(_) => None,
        };
        let object = given.object.as_ref().or(request).or(given.old.as_ref());
        Rules::of_object(object.unwrap_or(&Value::Null)).with(self.list_keys, self.unordered)
    }

    /// The rules of the webhook configuration.
    fn registration_rules(&self) -> Rules {
        let kind = match self.draft.form {
            Form::Validation => "ValidatingWebhookConfiguration",
            _ => "MutatingWebhookConfiguration",
        };
        let head = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind});
        Rules::of_object(&head).with(self.list_keys, self.unordered)
    }

    /// If only the old object is given, it is also the object of the request.
    fn fill_in_object(&self, clause: &Clause, given: &mut Given, when: &When) {
        let When::Admission { operation, sending } = when else { return };
        let needed = matches!(operation.as_str(), "CREATE" | "UPDATE");
        if !needed || given.object.is_some() || sending.request.contains_key("object") {
            return;
        }
        given.object = given.old.clone();
        if operation == "CREATE" {
            given.old = None;
        }
        if given.object.is_none() {
            let span = clause.given.as_ref().map_or(clause.span, |given| given.span);
            let message = format!("{operation} needs an object");
            self.report.add("missing-object", span, message, "write `given: {object: {like: …}}`");
        }
    }

    /// Adds names and inputs to the cases.
    fn name_cases(&self, clause: &Clause, built: Vec<UnnamedCase>, used: &UsedColumns) -> Vec<Case> {
        let mut seen = BTreeSet::new();
        let mut cases = Vec::new();
        for UnnamedCase { row, like, operation, runs_on, mut case, .. } in built {
            let row = clause.table.as_ref().zip(row).map(|(table, row)| (table, &table.rows[row]));
            let mut parts = Vec::new();
            if let Some((table, row)) = row {
                let inputs = (0..table.columns.len()).filter(|at| used.before.contains(at));
                for at in inputs {
                    case.inputs.push((table.columns[at].name.clone(), row.cells[at].raw.clone()));
                }
                let cells: Vec<&str> = case.inputs.iter().map(|(_, cell)| cell.as_str()).collect();
                parts.push(row.case.clone().unwrap_or_else(|| cells.join(",")));
            }
            let level = runs_on.map(|level| level.name().to_owned());
            for (input, value) in [("like", like), ("operation", operation), ("runsOn", level)] {
                if let Some(value) = value {
                    case.inputs.push((input.to_owned(), value.clone()));
                    parts.push(value);
                }
            }
            parts.retain(|part| !part.is_empty());
            case.name = parts.join("/");
            if !seen.insert(case.name.clone()) {
                let span = row.map_or(clause.span, |(_, row)| row.span);
                let message = format!("two cases are named {}/{}", clause.id, case.name);
                self.report.add(
                    "case-name",
                    span,
                    message,
                    "remove the row, or name the rows in a column `case`",
                );
            }
            cases.push(case);
        }
        cases
    }

    /// Position of a row, or of a clause without a table.
    pub(super) fn location_of(&self, clause: &Clause, row: Option<(usize, &TableRow)>) -> Location {
        self.location(row.map_or(clause.span, |(_, row)| row.span))
    }

    pub(super) fn location(&self, span: Span) -> Location {
        Location {
            file: self.report.files[span.file].path.clone(),
            line: span.mark.line,
            column: span.mark.column,
        }
    }
}

/// The source of a clause; fields that it leaves out are the contract's.
fn source(clause: &Clause, draft: &Draft) -> Option<model::Source> {
    let Some(own) = &clause.source else { return draft.source.clone() };
    if own.document.is_some() || own.code.is_some() {
        return Some(own.clone());
    }
    let base = draft.source.clone().unwrap_or_default();
    Some(model::Source {
        version: own.version.clone().or(base.version),
        section: own.section.clone().or(base.section),
        sentence: own.sentence.clone().or(base.sentence),
        ..base
    })
}

/// The part of a case's name that is not from its row.
fn operation(when: &When) -> Option<String> {
    match when {
        When::Admission { operation, .. } => Some(operation.clone()),
        When::DeleteCollection { .. } => Some("deleteCollection".to_owned()),
        When::Registration { instance } => Some(instance.clone()),
        When::Configuration | When::Process(_) | When::Steps(_) | When::Decision(_) | When::Emitted(_) => {
            None
        }
    }
}
