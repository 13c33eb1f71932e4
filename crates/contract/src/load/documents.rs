//! The documents in contract files, by kind. Files are read in parallel.

use std::collections::BTreeMap;
use std::sync::Arc;

use formats::yaml::{self, Node};
use rayon::prelude::*;
use serde::de::DeserializeOwned;

use super::draft::{self, Draft};
use super::plain::check_plain;
use super::profiles::{self, ProfileDraft};
use super::report::{Report, nearest};
use super::tree::{Span, Tree};
use super::{explanations, fixtures, variations};
use crate::document::mutants::Mutants;
use crate::document::not_normative::NotNormative;
use crate::document::releases::{self, Releases};
use crate::document::{API_VERSION, Error, SourceFile, attestation, ledger::Ledger};
use crate::explanations::Explanations;
use crate::index::{Ledgers, Records};

/// The kinds of documents, and the part of the files that each belongs to.
const KINDS: [(&str, FilePart); 10] = [
    ("Contract", FilePart::Contracts),
    ("Ledger", FilePart::Ledgers),
    ("NotNormative", FilePart::Ledgers),
    ("Attestation", FilePart::Records),
    ("Explanations", FilePart::Records),
    ("Mutants", FilePart::Records),
    ("Variations", FilePart::Shared),
    ("Releases", FilePart::Shared),
    ("ControlPlaneNamespace", FilePart::Profiles),
    ("ProviderProfile", FilePart::Profiles),
];

/// A part of the files that can be read without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilePart {
    /// The contracts.
    Contracts,
    /// Shared by contracts: fixtures, variations, releases.
    Shared,
    /// Provider profiles, which contracts of a component share.
    Profiles,
    /// Attestations, explanations and figures of mutants.
    Records,
    /// Ledgers, and sentences that are not normative.
    Ledgers,
}

/// The documents by kind.
#[derive(Default)]
pub(crate) struct Documents {
    pub(crate) contracts: Vec<Draft>,
    pub(crate) fixtures: BTreeMap<String, Tree>,
    pub(crate) variations: Vec<variations::VariationsDraft>,
    pub(crate) releases: Vec<Arc<Releases>>,
    pub(crate) profiles: Vec<ProfileDraft>,
    pub(crate) ledgers: Vec<(Ledger, SourceFile)>,
    pub(crate) not_normative: Vec<(NotNormative, SourceFile)>,
    pub(crate) attestations: Vec<attestation::Attestation>,
    pub(crate) explanations: Vec<Explanations>,
    pub(crate) mutants: Vec<Mutants>,
}

/// One document.
enum Document {
    Contract(Box<Draft>),
    Fixture(Tree),
    Variations(variations::VariationsDraft),
    Releases(Releases),
    Profile(ProfileDraft),
    Ledger(Ledger),
    NotNormative(NotNormative),
    Attestation(attestation::Attestation),
    Explanations(Explanations),
    Mutants(Mutants),
}

/// Reads these parts of the files in parallel; files without any of them are not parsed.
pub(crate) fn read(parts: &[FilePart], report: &Report<'_>) -> Documents {
    let files = files_with_any(parts, report);
    let read: Vec<_> = files.par_iter().map(|file| read_file(*file, parts, report.files)).collect();
    collect_documents(files, read, report)
}

/// The same, one file after the other: for callers with a lock that a thread of the pool may wait for.
pub(crate) fn read_sequentially(parts: &[FilePart], report: &Report<'_>) -> Documents {
    let files = files_with_any(parts, report);
    let read = files.iter().map(|file| read_file(*file, parts, report.files)).collect();
    collect_documents(files, read, report)
}

/// The files that may hold a document of any of these parts.
fn files_with_any(parts: &[FilePart], report: &Report<'_>) -> Vec<usize> {
    let has_any = |file: &usize| parts.iter().any(|part| has_part(&report.files[*file], *part));
    (0..report.files.len()).filter(has_any).collect()
}

fn collect_documents(
    files: Vec<usize>,
    read: Vec<(Vec<Document>, Report<'_>)>,
    report: &Report<'_>,
) -> Documents {
    let mut documents = Documents::default();
    for (file, (found, wrong)) in files.into_iter().zip(read) {
        report.join(wrong);
        for document in found {
            documents.add(document, file, report);
        }
    }
    documents
}

/// The contracts of one file as drafts, and its errors.
pub(crate) fn drafts(file: usize, files: &[SourceFile]) -> (Vec<Draft>, Report<'_>) {
    let (found, report) = read_file(file, &[FilePart::Contracts], files);
    let draft = |document| if let Document::Contract(draft) = document { Some(*draft) } else { None };
    (found.into_iter().filter_map(draft).collect(), report)
}

/// Whether a file may contain a document of this part, judged by the lines `kind: …` of its text. An unknown kind
/// counts for every part.
pub(crate) fn has_part(source: &SourceFile, part: FilePart) -> bool {
    if is_fixture(source) {
        return part == FilePart::Shared;
    }
    let mut kinds =
        source.text.lines().filter_map(|line| line.strip_prefix("kind:")).map(str::trim).peekable();
    let is_silent = kinds.peek().is_none();
    let of = |kind: &str| KINDS.iter().find(|(name, _)| *name == kind).map_or(part, |(_, part)| *part);
    is_silent || kinds.any(|kind| of(kind) == part)
}

/// Whether a file is a fixture: in a folder of fixtures, and without our API version.
fn is_fixture(source: &SourceFile) -> bool {
    source.path.split('/').any(|part| part == "fixtures") && !source.text.contains(API_VERSION)
}

fn read_file<'s>(file: usize, parts: &[FilePart], files: &'s [SourceFile]) -> (Vec<Document>, Report<'s>) {
    let report = Report::new(files);
    let source = &files[file];
    let nodes = yaml::parse(&source.text).unwrap_or_else(|error| {
        report.push(source.syntax_error(error));
        Vec::new()
    });
    let documents = nodes.iter().filter_map(|node| document(file, node, parts, &report)).collect();
    (documents, report)
}

fn document(file: usize, node: &Node, parts: &[FilePart], report: &Report<'_>) -> Option<Document> {
    let source = &report.files[file];
    let own = node.get("apiVersion").and_then(Node::as_str) == Some(API_VERSION);
    let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
    if is_fixture(source) {
        check_plain(node, file, report);
        return Some(Document::Fixture(Tree::of(file, node)));
    }
    let known = KINDS.iter().find(|(name, _)| own && *name == kind);
    let Some((_, part)) = known else {
        report_unknown_kind(file, node, own, report);
        return None;
    };
    if !parts.contains(part) {
        return None;
    }
    let read = |error: Error, code| report.push(error.coded(code));
    match kind {
        "Contract" => {
            check_plain(node, file, report);
            draft::read(file, node, report).map(Box::new).map(Document::Contract)
        }
        "Variations" => {
            check_plain(node, file, report);
            variations::read(file, node, report).map(Document::Variations)
        }
        "ControlPlaneNamespace" | "ProviderProfile" => {
            profiles::read(file, node, report).map(Document::Profile)
        }
        "Explanations" => explanations::read(file, node, report).map(Document::Explanations),
        "Ledger" => {
            deserialize(node, source).map_err(|error| read(error, "ledger")).ok().map(Document::Ledger)
        }
        "NotNormative" => {
            deserialize(node, source).map_err(|error| read(error, "ledger")).ok().map(Document::NotNormative)
        }
        "Mutants" => {
            deserialize(node, source).map_err(|error| read(error, "mutants")).ok().map(Document::Mutants)
        }
        "Attestation" => attestation::read(source)
            .map_err(|error| read(error, "attestation"))
            .ok()
            .map(Document::Attestation),
        _ => releases::read(source).map_err(|error| read(error, "releases")).ok().map(Document::Releases),
    }
}

/// Deserializes a document.
fn deserialize<T: DeserializeOwned>(node: &Node, source: &SourceFile) -> Result<T, Error> {
    node.read().map_err(|error| source.type_error(error))
}

/// Reports a document of an unknown kind or API version.
fn report_unknown_kind(file: usize, node: &Node, own: bool, report: &Report<'_>) {
    if own {
        let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
        let place = node.get("kind").unwrap_or(node);
        let remedy = nearest(kind, KINDS.map(|(name, _)| name));
        return report.add("kind", Span::of(file, place), format!("unknown kind {kind:?}"), remedy);
    }
    let place = node.get("apiVersion").unwrap_or(node);
    let remedy = format!(
        "write `apiVersion: {API_VERSION}`, or move the file to contracts/fixtures if it is a fixture"
    );
    report.add("kind", Span::of(file, place), format!("apiVersion is not {API_VERSION}"), remedy);
}

impl Documents {
    fn add(&mut self, document: Document, file: usize, report: &Report<'_>) {
        match document {
            Document::Contract(draft) => self.contracts.push(*draft),
            Document::Fixture(tree) => fixtures::note(&mut self.fixtures, tree, report),
            Document::Variations(draft) => self.variations.push(draft),
            Document::Releases(releases) => self.releases.push(Arc::new(releases)),
            Document::Profile(draft) => self.profiles.push(draft),
            Document::Ledger(ledger) => self.ledgers.push((ledger, report.files[file].clone())),
            Document::NotNormative(listed) => self.not_normative.push((listed, report.files[file].clone())),
            Document::Attestation(attestation) => self.attestations.push(attestation),
            Document::Explanations(explanations) => self.explanations.push(explanations),
            Document::Mutants(mutants) => self.mutants.push(mutants),
        }
    }

    /// The documents beside contracts.
    pub(crate) fn into_records_and_ledgers(self) -> (Records, Ledgers) {
        let Self { ledgers, not_normative, attestations, explanations, mutants, .. } = self;
        (Records { attestations, explanations, mutants }, Ledgers { ledgers, not_normative })
    }

    /// The contracts by component and name; the files of one name are one contract.
    pub(crate) fn by_name(&mut self) -> BTreeMap<(String, String), Vec<Draft>> {
        let mut named: BTreeMap<(String, String), Vec<Draft>> = BTreeMap::new();
        for draft in std::mem::take(&mut self.contracts) {
            named.entry(draft.key()).or_default().push(draft);
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_parsed_for_the_parts_that_its_kinds_belong_to() {
        let table = [
            ("contracts/a.yaml", "apiVersion: x\nkind: Contract\n", [true, false, false, false]),
            ("contracts/a.yaml", "kind: Ledger\n---\nkind: Contract\n", [true, false, false, true]),
            ("contracts/a.yaml", "kind: NotNormative\n", [false, false, false, true]),
            ("contracts/a.yaml", "kind: Attestation\n", [false, false, true, false]),
            ("contracts/a.yaml", "kind: Variations\n", [false, true, false, false]),
            ("contracts/a.yaml", "kind: \"Ledger\"\n", [true, true, true, true]),
            ("contracts/a.yaml", "{kind: Ledger}\n", [true, true, true, true]),
            ("contracts/fixtures/a.yaml", "kind: Pod\n", [false, true, false, false]),
            (
                "contracts/fixtures/a.yaml",
                "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Contract\n",
                [true, false, false, false],
            ),
        ];
        for (path, text, wanted) in table {
            let file = SourceFile::new(path, text);
            let parts = [FilePart::Contracts, FilePart::Shared, FilePart::Records, FilePart::Ledgers];
            let found = parts.map(|part| has_part(&file, part));
            assert_eq!(found, wanted, "{path} {text}");
        }
    }
}
