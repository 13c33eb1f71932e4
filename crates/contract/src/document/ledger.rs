//! Ledgers: every normative sentence and reference row of a component, with the clauses that cover it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Error, SourceFile};
use crate::index::Summary;
use crate::model::Source;

/// The ledger of a component, `kind: Ledger`; `contracts/<component>/ledger.yaml`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Ledger {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Ledger`.
    pub kind: String,
    /// The component that keeps, or will keep, these sentences: `resource-manager`.
    pub component: String,
    /// The sentences, in the order of their sources.
    pub entries: Vec<LedgerEntry>,
}

/// One sentence, and exactly one of: the clauses that cover it, why there are none yet, why there will be none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Entry")]
pub struct LedgerEntry {
    /// Never reused.
    pub id: String,
    /// The sentence in our words.
    pub text: String,
    /// Its source.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub source: Option<Source>,
    /// Rows of the reference that say the same: `U31-2`.
    #[serde(default)]
    pub covers: Vec<String>,
    /// The clauses that cover it.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// Why there are no clauses yet.
    #[serde(default)]
    pub not_yet: Option<String>,
    /// Why there will be none.
    #[serde(default)]
    pub out_of_scope: Option<String>,
}

impl LedgerEntry {
    /// Whether no clause covers it yet although one will.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.clauses.is_empty() && self.out_of_scope.is_none()
    }

    /// The hash of the sentence.
    #[must_use]
    pub fn sentence(&self) -> Option<&str> {
        self.source.as_ref()?.sentence.as_deref()
    }
}

/// Checks the ledgers against the contracts' clauses.
#[must_use]
pub fn lint(ledgers: &[(Ledger, SourceFile)], clauses: &[Summary]) -> Vec<Error> {
    let known: BTreeSet<&str> = clauses.iter().map(|clause| clause.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    let mut errors = Vec::new();
    for (ledger, file) in ledgers {
        errors.extend(check_folder(ledger, file));
        for entry in &ledger.entries {
            if !seen.insert(entry.id.as_str()) {
                let message = format!("duplicate id {}", entry.id);
                errors.push(at(file, &entry.id, message, "give the entry a new id"));
            }
            errors.extend(check_entry(entry, file, &known));
        }
    }
    let components: BTreeMap<&str, &SourceFile> =
        ledgers.iter().map(|(ledger, file)| (ledger.component.as_str(), file)).collect();
    let entries = ledgers.iter().flat_map(|(ledger, _)| &ledger.entries);
    let named: BTreeSet<&str> = entries.flat_map(|entry| &entry.clauses).map(String::as_str).collect();
    let mut ids = NextIds::default();
    for clause in clauses.iter().filter(|clause| !named.contains(clause.id.as_str())) {
        let Some(file) = components.get(clause.component.as_str()) else { continue };
        let own = ledgers.iter().find(|(ledger, _)| ledger.component == clause.component);
        let own = own.map_or(&[][..], |(ledger, _)| ledger.entries.as_slice());
        let id = ids.next(own, ledgers.iter().flat_map(|(ledger, _)| &ledger.entries));
        errors.push(missing_entry(clause, &id, file));
    }
    errors
}

/// The error for a clause that no entry names, at the end of the ledger, with an entry to paste there.
fn missing_entry(clause: &Summary, id: &str, file: &SourceFile) -> Error {
    let source = clause.source.as_ref().map_or_else(|| "{…}".to_owned(), flow_source);
    let text = serde_json::Value::from(clause.text.as_str());
    let remedy = format!(
        "add at the end of {}, in words of the document's sentence\n- {{id: {id}, source: {source},\n   text: {text}, clauses: [{}]}}",
        file.path, clause.id
    );
    let before = file.text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = file.text[..before].matches('\n').count() + 1;
    let mark = formats::yaml::Mark { line, column: 1, offset: before };
    file.error(mark, 0, format!("no entry of the ledger names {}", clause.id), Some(remedy))
}

/// A source as the ledgers write it.
fn flow_source(source: &Source) -> String {
    let fields = [
        ("document", &source.document),
        ("code", &source.code),
        ("version", &source.version),
        ("section", &source.section),
        ("sentence", &source.sentence),
    ];
    let plain = |text: &str| {
        let is_plain = text.chars().all(|c| c.is_alphanumeric() || " -_./".contains(c));
        is_plain && formats::yaml::reads_as_string(text)
    };
    let write = |text: &String| {
        if plain(text) { text.clone() } else { serde_json::Value::from(text.as_str()).to_string() }
    };
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let fields: Vec<String> = fields.map(|(name, value)| format!("{name}: {}", write(value))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Hands out ids that no entry has: the greatest number of the ledger's usual prefix, plus one.
#[derive(Default)]
struct NextIds {
    last: BTreeMap<String, u32>,
}

impl NextIds {
    /// `own` are the entries of the ledger, the last of which has its prefix; `all` also those of other ledgers.
    fn next<'a>(&mut self, own: &[LedgerEntry], all: impl Iterator<Item = &'a LedgerEntry>) -> String {
        let parts = |entry: &'a LedgerEntry| entry.id.rsplit_once('-');
        let (prefix, width) = own
            .last()
            .and_then(|entry| entry.id.rsplit_once('-'))
            .map_or(("L-X", 4), |(prefix, number)| (prefix, number.len()));
        let numbers = all.filter_map(parts).filter(|(other, _)| *other == prefix);
        let greatest = numbers.filter_map(|(_, number)| number.parse().ok()).max().unwrap_or(0);
        let last = self.last.entry(prefix.to_owned()).or_insert(greatest);
        *last += 1;
        format!("{prefix}-{last:0width$}")
    }
}

/// The error for a ledger in another component's folder.
fn check_folder(ledger: &Ledger, file: &SourceFile) -> Option<Error> {
    let folder = file.path.strip_suffix("/ledger.yaml")?.strip_prefix("contracts/")?;
    let message = format!("the ledger of component {} is in contracts/{folder}", ledger.component);
    let remedy = format!("write `component: {folder}`, or move it to contracts/{}", ledger.component);
    (folder != ledger.component).then(|| file.error(super::first(), 0, message, Some(remedy)))
}

/// The errors of one entry.
fn check_entry(entry: &LedgerEntry, file: &SourceFile, known: &BTreeSet<&str>) -> Vec<Error> {
    let mut errors = Vec::new();
    let given = [!entry.clauses.is_empty(), entry.not_yet.is_some(), entry.out_of_scope.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        let message = format!("{} needs exactly one of clauses, notYet and outOfScope", entry.id);
        errors.push(at(
            file,
            &entry.id,
            message,
            "name the clauses that cover it, or write why there are none",
        ));
    }
    for clause in entry.clauses.iter().filter(|clause| !known.contains(clause.as_str())) {
        let message = format!("{} names {clause}, which does not exist in any contract", entry.id);
        let remedy = match crate::load::closest(clause, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? Otherwise write the clause, or use `notYet`"),
            None => "write the clause, or use `notYet`".to_owned(),
        };
        errors.push(at(file, &entry.id, message, &remedy));
    }
    errors
}

/// An error at the line that declares this id.
pub(crate) fn at(file: &SourceFile, id: &str, message: String, remedy: &str) -> Error {
    let mut mark = super::first();
    for (number, line) in file.text.lines().enumerate() {
        let declares = line.find(id).filter(|column| {
            line[..*column].trim_end().ends_with("id:")
                && !line[column + id.len()..].starts_with(|c: char| c.is_alphanumeric())
        });
        if let Some(column) = declares {
            mark = formats::yaml::Mark { line: number + 1, column: column + 1, offset: mark.offset + column };
            return file.error(mark, id.len(), message, Some(remedy.to_owned()));
        }
        mark.offset += line.len() + 1;
    }
    file.error(super::first(), 0, message, Some(remedy.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Ledger\ncomponent: c\nentries:\n";

    fn found(path: &str, entries: &str) -> Vec<(usize, String)> {
        let file = SourceFile::new(path, format!("{HEAD}{entries}"));
        let ledger = formats::yaml::from_str(&file.text).unwrap();
        let found = lint(&[(ledger, file)], &[]);
        found.into_iter().map(|error| (error.location.line, error.message)).collect()
    }

    #[test]
    fn entries_without_a_reason_or_of_unknown_clauses_are_found_at_their_line() {
        let entries = "- {id: L-1, text: t, notYet: later}\n\
                       - {id: L-2, text: t}\n\
                       - {id: L-3, text: t, clauses: [X-1]}\n\
                       - {id: L-1, text: t, outOfScope: never}\n";
        let wanted = [
            (6, "L-2 needs exactly one of clauses, notYet and outOfScope"),
            (7, "L-3 names X-1, which does not exist in any contract"),
            (5, "duplicate id L-1"),
        ];
        assert_eq!(
            found("contracts/c/ledger.yaml", entries),
            wanted.map(|(line, text)| (line, text.to_owned()))
        );
    }

    #[test]
    fn a_missing_entry_is_printed_with_the_next_free_id() {
        let entries = "- {id: L-C-0007, text: t, notYet: later}\n- {id: L-C-0003, text: t, notYet: later}\n";
        let file = SourceFile::new("contracts/c/ledger.yaml", format!("{HEAD}{entries}"));
        let other = SourceFile::new("contracts/d/ledger.yaml", HEAD.replace("component: c", "component: d"));
        let read = |file: &SourceFile| formats::yaml::from_str::<Ledger>(&file.text).unwrap();
        let mut of_other = read(&SourceFile::new("x", format!("{HEAD}{}", entries.replace('7', "8"))));
        of_other.component = "d".to_owned();
        let clause = |id: &str| Summary {
            component: "c".to_owned(),
            id: id.to_owned(),
            text: "a: b".to_owned(),
            source: Some(Source {
                document: Some("docs/a.md".to_owned()),
                version: Some("v1.61".to_owned()),
                section: Some("What?".to_owned()),
                ..Source::default()
            }),
            hash: String::new(),
            cases: 1,
            differs: BTreeMap::new(),
        };
        let ledgers = [(read(&file), file), (of_other, other)];
        let found = lint(&ledgers, &[clause("C-1"), clause("C-2")]);
        let remedies: Vec<&str> = found.iter().filter_map(|error| error.remedy.as_deref()).collect();
        let entry = |id: &str, clause: &str| {
            format!(
                "add at the end of contracts/c/ledger.yaml, in words of the document's sentence\n- {{id: {id}, source: \
                 {{document: docs/a.md, version: v1.61, section: \"What?\"}},\n   text: \"a: b\", clauses: [{clause}]}}"
            )
        };
        // Another ledger has L-C-0008 already, and the duplicate ids of the two are found too.
        assert!(remedies.contains(&entry("L-C-0009", "C-1").as_str()), "{remedies:?}");
        assert!(remedies.contains(&entry("L-C-0010", "C-2").as_str()), "{remedies:?}");
        for pasted in remedies.iter().filter_map(|remedy| remedy.split_once('\n')) {
            let text = format!("{HEAD}{entries}{}\n", pasted.1);
            assert_eq!(read(&SourceFile::new("x", text)).entries.len(), 3);
        }
    }

    #[test]
    fn a_ledger_lies_in_the_folder_of_its_component() {
        let entries = "- {id: L-1, text: t, notYet: later}\n";
        let wanted = [(1, "the ledger of component c is in contracts/d".to_owned())];
        assert_eq!(found("contracts/d/ledger.yaml", entries), wanted);
        assert_eq!(found("contracts/c/ledger.yaml", entries), []);
        assert_eq!(found("mine/ledger.yaml", entries), []);
    }
}
