//! The cases of a clause of the form versions: one for each row and each value of `runsOn`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::profile::Offering;
use super::question;
use super::versions_form::Offer;
use crate::case::{About, Case, Given, When};
use crate::gardener::decision::{self, Decision, Question, RunsOn};
use crate::load::cells::Cells;
use crate::load::draft::Clause;
use crate::load::expand::{Context, UnnamedCase, UsedColumns};
use crate::load::given::ObjectBuilder;
use crate::load::keywords::{RUNS_ON, THEN_DECISION};
use crate::load::report::nearest;
use crate::load::table::TableRow;
use crate::load::then;
use crate::load::tree::{Key, Span, Tree, TreeData};
use crate::load::variants::{self, Variant};

/// The fixtures that CloudProfiles and Shoots start from.
const FIXTURES: [&str; 2] = ["cloudprofile", "shoot"];
/// Meaning of columns if a contract has neither `shoot` nor `then`: paths in a Shoot, and in the result.
const IMPLIED_SHOOT: [(&str, &str); 2] =
    [("current", "spec.kubernetes.version"), ("autoUpdate", "spec.maintenance.autoUpdate.kubernetesVersion")];
const IMPLIED_THEN: [(&str, &str); 2] = [("becomes", "shoot.spec.kubernetes.version"), ("reason", "reason")];

impl Context<'_> {
    /// The variants of a clause's `when`; a list of operations makes several.
    pub(crate) fn question_variants(&self, clause: &Clause) -> Vec<Variant> {
        let when = clause.when.clone().or_else(|| self.draft.versions_form.when.clone());
        let implied = || entries([("decide", "maintenance")], clause.span);
        variants::of(&Tree::empty(clause.span), &when.unwrap_or_else(implied))
    }

    /// The cases of one row, one for each value of `runsOn`.
    pub(crate) fn decision_cases(
        &self,
        clause: &Clause,
        variant: &Variant,
        cells: &Cells<'_>,
        row: Option<(usize, &TableRow)>,
        used: &mut UsedColumns,
    ) -> Option<Vec<UnnamedCase>> {
        let errors = self.report.count();
        let builder = self.builder(cells);
        let now = self.now(clause, cells)?;
        let question = question::read(&cells.fill(&variant.when), self.report)?;
        let given = self.given_objects(clause, &question, now, &builder)?;
        used.before.extend(cells.take_used());
        let wanted = cells.fill(&self.then_tree(clause)?);
        used.after.extend(cells.take_used());
        let places = self.runs_on(clause, &question);
        let then = self.read_then(&wanted, &question)?;
        self.check_observable(&wanted, &places);
        if self.report.count() > errors {
            return None;
        }
        let operation = match &question {
            Question::Admission { operation } if variant.names_operation => Some(operation.clone()),
            _ => None,
        };
        let built = |runs_on: RunsOn| UnnamedCase {
            row: row.map(|(number, _)| number),
            like: None,
            operation: operation.clone(),
            runs_on: Some(runs_on),
            case: Case {
                name: String::new(),
                inputs: Vec::new(),
                config: json!({}),
                given: given.clone(),
                when: When::Decision(Box::new(Decision { runs_on, asks: question.clone(), now })),
                then: then.clone(),
                location: self.location_of(clause, row),
            },
            then: wanted.to_value(),
        };
        Some(places.into_iter().map(built).collect())
    }

    fn now(&self, clause: &Clause, cells: &Cells<'_>) -> Option<Timestamp> {
        let remedy = "write a time with its zone: `now: 2024-06-01T00:00:00Z`";
        let Some(tree) = clause.versions_form.now.as_ref().or(self.draft.versions_form.now.as_ref()) else {
            self.report.add("missing-key", clause.span, "now is missing", remedy);
            return None;
        };
        let filled = cells.fill(tree);
        let now = filled.text().and_then(|text| text.parse().ok());
        if now.is_none() {
            let message = format!("{} is not a valid time", filled.to_value());
            self.report.add("time", filled.span, message, remedy);
        }
        now
    }

    /// The CloudProfile and the Shoots of the question.
    fn given_objects(
        &self,
        clause: &Clause,
        question: &Question,
        now: Timestamp,
        builder: &ObjectBuilder<'_>,
    ) -> Option<Given> {
        if matches!(question, Question::Support { .. }) {
            return Some(Given::default());
        }
        let layers = [self.draft.versions_form.shoot.as_ref(), clause.versions_form.shoot.as_ref()];
        let implied = || implied(clause, &IMPLIED_SHOOT);
        let object = if layers.iter().all(Option::is_none) {
            shoot(&[Some(&implied())], clause.span, builder)
        } else {
            shoot(&layers, clause.span, builder)
        };
        let old = match &clause.versions_form.old {
            Some(old) => Some(shoot(&[layers[0], Some(old)], clause.span, builder)?),
            None => None,
        };
        let (admission, update) = match question {
            Question::Admission { operation } => (true, operation == "UPDATE"),
            _ => (false, false),
        };
        let has_old = admission || matches!(question, Question::Rolling { .. });
        if old.is_none() && update {
            let remedy = "add the old Shoot: `old: {spec: …}`";
            self.report.add(
                "missing-object",
                clause.span,
                "old is missing: an UPDATE needs the old Shoot",
                remedy,
            );
        } else if let (Some(old), false) = (&clause.versions_form.old, has_old) {
            let message = format!("old is not allowed with `decide: {}`", question.name());
            self.report.add("form", old.span, message, "remove it");
        }
        // A list of operations may name CREATE too, which has no old Shoot.
        let old = old.filter(|_| update || !admission);
        let cluster = vec![self.profile(clause, now, builder)?];
        Some(Given { cluster, old, object: Some(object?), ..Given::default() })
    }

    fn profile(&self, clause: &Clause, now: Timestamp, builder: &ObjectBuilder<'_>) -> Option<Value> {
        let (own, base) = (&clause.versions_form, &self.draft.versions_form);
        let offering = Offering { now, cells: builder.cells, report: self.report };
        let mut profile = builder.object(&entries([("like", FIXTURES[0])], clause.span))?;
        match own.cloud_profile.as_ref().or(base.cloud_profile.as_ref()) {
            Some(Offer::Inline(tree)) if tree.map().is_some() => {
                profile = builder.with_difference(profile, &builder.cells.fill(tree))?;
            }
            Some(offer) => profile["spec"]["kubernetes"]["versions"] = offering.versions(offer).into(),
            None => {}
        }
        match own.machine_images.as_ref().or(base.machine_images.as_ref()) {
            Some(Offer::Table(table, span)) => {
                profile["spec"]["machineImages"] = offering.images(table, *span).into();
            }
            Some(Offer::Inline(tree)) => {
                let remedy = "write `machineImages: |`, then lines of `| name | version |`";
                self.report.add("type", tree.span, "machineImages must be a table", remedy);
            }
            None => {}
        }
        Some(profile)
    }

    /// `then` as written: of the clause, of the contract, or implied by the columns.
    fn then_tree(&self, clause: &Clause) -> Option<Tree> {
        let written = clause.then.clone().or_else(|| self.draft.versions_form.then.clone());
        let wanted = written.unwrap_or_else(|| implied(clause, &IMPLIED_THEN));
        if wanted.map().is_some_and(<[_]>::is_empty) {
            let remedy = "write `then: {…}`, or add a column `becomes` to the table";
            self.report.add("missing-key", clause.span, "then is missing", remedy);
            return None;
        }
        Some(wanted)
    }

    /// Reads `then`; fields of the result are collected under one key.
    fn read_then(&self, wanted: &Tree, question: &Question) -> Option<crate::case::Then> {
        let beside = &THEN_DECISION[1..];
        let known: Vec<&str> = question.tells().iter().chain(beside).copied().collect();
        then::known_keys(wanted, "then", &known, self.report)?;
        let all = wanted.map().unwrap_or_default().iter().cloned();
        let (mut entries, result): (Vec<_>, Vec<_>) =
            all.partition(|(key, _)| beside.contains(&key.name.as_str()));
        if !result.is_empty() {
            let key = Key { name: THEN_DECISION[0].to_owned(), span: wanted.span };
            entries.push((key, Tree { data: TreeData::Map(result), span: wanted.span }));
        }
        let tree = Tree { data: TreeData::Map(entries), span: wanted.span };
        then::read(&tree, About::Decision, &decision::rules(), self.report)
    }

    /// The values of `runsOn`.
    fn runs_on(&self, clause: &Clause, question: &Question) -> Vec<RunsOn> {
        let Some(tree) = clause.versions_form.runs_on.as_ref().or(self.draft.versions_form.runs_on.as_ref())
        else {
            let remedy = "write where the rows run: `runsOn: [decision, reconcile]`";
            self.report.add("missing-key", clause.span, "runsOn is missing", remedy);
            return Vec::new();
        };
        let mut found = Vec::new();
        for item in tree.list().unwrap_or(std::slice::from_ref(tree)) {
            let word = question::text(item);
            match RUNS_ON.iter().find(|(name, _)| *name == word) {
                None => {
                    let remedy = nearest(&word, RUNS_ON.iter().map(|(name, _)| *name));
                    self.report.add(
                        "runs-on",
                        item.span,
                        format!("unknown value {word:?} of runsOn"),
                        remedy,
                    );
                }
                Some((_, place)) if found.contains(place) => {
                    self.report.add(
                        "runs-on",
                        item.span,
                        format!("runsOn lists {word} twice"),
                        "remove one of the two",
                    );
                }
                Some((_, place)) if !question.places().contains(place) => {
                    let names: Vec<&str> = question.places().iter().map(|place| place.name()).collect();
                    let message = format!("{} cannot run on {word}", question.name());
                    self.report.add(
                        "runs-on",
                        item.span,
                        message,
                        format!("it can run on {}", names.join(", ")),
                    );
                }
                Some((_, place)) => found.push(*place),
            }
        }
        self.check_why(clause, found == [RunsOn::Decision] && question.places().len() > 1);
        found
    }

    /// Reports assertions that cannot be observed on one of the values of `runsOn`.
    fn check_observable(&self, wanted: &Tree, places: &[RunsOn]) {
        for (key, _) in wanted.map().unwrap_or_default() {
            for place in
                places.iter().filter(|place| place.unobservable_fields().contains(&key.name.as_str()))
            {
                let message = format!("`{}` cannot be observed on {}", key.name, place.name());
                self.report.add("runs-on", key.span, message, "change runsOn, or remove the assertion");
            }
        }
    }

    /// Checks that a clause has `why` if and only if it runs on `decision` alone although it could run elsewhere.
    fn check_why(&self, clause: &Clause, alone: bool) {
        match (&clause.versions_form.why, alone) {
            (None, true) => {
                let remedy = "add a reason: `why: only the log has the error`";
                let message = format!("why is missing: {} runs on decision alone", clause.id);
                self.report.add("why", clause.span, message, remedy);
            }
            (Some(why), false) => {
                let message = "why is allowed only in a clause that runs on decision alone although it could run elsewhere";
                self.report.add("why", why.span, message, "remove it");
            }
            (Some(why), true) if why.text().is_none() => {
                self.report.add("why", why.span, "why must be a string", "write a sentence");
            }
            _ => {}
        }
    }
}

/// The fixture with these differences merged over it, in order.
fn shoot(layers: &[Option<&Tree>], span: Span, builder: &ObjectBuilder<'_>) -> Option<Value> {
    let base = builder.object(&entries([("like", FIXTURES[1])], span))?;
    let filled = layers.iter().flatten().map(|layer| builder.cells.fill(layer));
    filled.into_iter().try_fold(base, |base, layer| builder.with_difference(base, &layer))
}

/// A tree with a cell at the path of each of these columns that the table has.
fn implied(clause: &Clause, paths: &[(&str, &str)]) -> Tree {
    let columns = clause.table.as_ref().map(|table| table.columns.as_slice()).unwrap_or_default();
    let mut tree = Tree::empty(clause.span);
    for (name, path) in paths {
        if let Some(column) = columns.iter().find(|column| column.name == *name) {
            let cell = Tree { data: TreeData::Scalar(Value::from(format!("<{name}>"))), span: column.span };
            let steps: Vec<&str> = path.split('.').collect();
            put(&mut tree, &steps, cell);
        }
    }
    tree
}

fn put(tree: &mut Tree, path: &[&str], value: Tree) {
    let (TreeData::Map(entries), Some((first, rest))) = (&mut tree.data, path.split_first()) else {
        *tree = value;
        return;
    };
    let at = entries.iter().position(|(key, _)| key.name == *first).unwrap_or_else(|| {
        let key = Key { name: (*first).to_owned(), span: value.span };
        entries.push((key, Tree::empty(value.span)));
        entries.len() - 1
    });
    if rest.is_empty() {
        entries[at].1 = value;
    } else {
        put(&mut entries[at].1, rest, value);
    }
}

fn entries<const N: usize>(pairs: [(&str, &str); N], span: Span) -> Tree {
    let entry = |(key, value): (&str, &str)| {
        (Key { name: key.to_owned(), span }, Tree { data: TreeData::Scalar(Value::from(value)), span })
    };
    Tree { data: TreeData::Map(pairs.map(entry).into()), span }
}
