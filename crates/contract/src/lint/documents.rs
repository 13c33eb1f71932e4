//! Checks contracts, ledgers and the list of sentences that are not normative against the documents that they quote.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use formats::yaml::Mark;

use crate::document::ledger::{self, Ledger, LedgerEntry};
use crate::document::{Error, SourceFile};
use crate::index::Ledgers;
use crate::model::Source;
use crate::sentence::{self, Sentence};

/// Maximal length of a quotation, in words; a whole sentence may be longer.
const QUOTATION: usize = 80;

/// Maximal number of sentences that are reported one by one; the rest is counted.
const NAMED: usize = 20;

/// Number of words of a sentence in a message.
const WORDS: usize = 8;

/// The documents, and the quotations in them.
pub(super) struct Documents<'a> {
    documents: Vec<Document<'a>>,
}

struct Document<'a> {
    file: &'a SourceFile,
    sentences: Vec<Sentence<'a>>,
    /// Quotations that are not one sentence: parts of sentences, or several sentences.
    quoted: Vec<(String, Range<usize>)>,
}

impl<'a> Documents<'a> {
    /// Searches the documents for these hashes; `None`: there are no documents.
    pub(super) fn of(files: &'a [SourceFile], wanted: &BTreeSet<&str>) -> Option<Self> {
        let sentences: Vec<_> = files.iter().map(|file| sentence::sentences(&file.text)).collect();
        let sentence_hashes: BTreeSet<&str> =
            sentences.iter().flatten().map(|sentence| sentence.hash.as_str()).collect();
        let parts: BTreeSet<&str> = wanted.difference(&sentence_hashes).copied().collect();
        let quoted: Vec<_> =
            files.iter().map(|file| sentence::quoted(&file.text, &parts, QUOTATION)).collect();
        let documents = files.iter().zip(sentences).zip(quoted);
        let documents =
            documents.map(|((file, sentences), quoted)| Document { file, sentences, quoted }).collect();
        (!files.is_empty()).then_some(Self { documents })
    }

    /// Whether a document contains this sentence, part of a sentence, or several sentences.
    pub(super) fn has(&self, hash: &str) -> bool {
        self.sentences().any(|sentence| sentence.hash == hash)
            || self.documents.iter().any(|document| document.quoted.iter().any(|(quoted, _)| quoted == hash))
    }

    fn sentences(&self) -> impl Iterator<Item = &Sentence<'a>> {
        self.documents.iter().flat_map(|document| &document.sentences)
    }

    /// Checks that every sentence is numbered in a ledger or listed as not normative, and that numbered and listed
    /// sentences exist. Without ledgers and list, nothing is checked.
    pub(super) fn check_numbered(&self, ledgers: &Ledgers) -> Vec<Error> {
        if ledgers.ledgers.is_empty() && ledgers.not_normative.is_empty() {
            return Vec::new();
        }
        let entries = entries(&ledgers.ledgers);
        let listed: BTreeSet<&str> = listed(ledgers).map(|(hash, _)| hash).collect();
        let mut both = BTreeMap::new();
        let mut unnumbered = Unnumbered::default();
        for document in &self.documents {
            let mut before = None;
            for sentence in &document.sentences {
                let entry = document.entry(sentence, &entries);
                before = entry.and_then(|entry| entry.source.as_ref()).or(before);
                match (entry, listed.contains(sentence.hash.as_str())) {
                    (Some(entry), true) => drop(both.insert(sentence.hash.as_str(), entry)),
                    (None, false) => unnumbered.note(document.file, sentence, before),
                    _ => {}
                }
            }
        }
        [self.missing_sentences(ledgers), in_both(ledgers, &both), unnumbered.errors()].concat()
    }

    /// Reports entries of ledgers and of the list whose sentence is in no document.
    fn missing_sentences(&self, ledgers: &Ledgers) -> Vec<Error> {
        let mut found = Vec::new();
        for (ledger, file) in &ledgers.ledgers {
            for entry in &ledger.entries {
                let Some(hash) = entry.sentence().filter(|hash| !self.has(hash)) else { continue };
                let message = format!("no document contains the sentence {hash} of {} any more", entry.id);
                let remedy = "find its new wording; `gardener-conformance lint --hash 'the words'` prints the new hash";
                found.push(ledger::at(file, &entry.id, message, remedy).coded("sentence"));
            }
        }
        let known: BTreeSet<&str> = self.sentences().map(|sentence| sentence.hash.as_str()).collect();
        for (hash, file) in listed(ledgers).filter(|(hash, _)| !known.contains(hash)) {
            let message = format!("no document contains the sentence {hash} any more");
            found.push(error_at_hash(
                file,
                hash,
                message,
                "remove the line; lint reports a new sentence separately",
            ));
        }
        found
    }
}

impl Document<'_> {
    /// The entry that numbers a sentence: it quotes the sentence, or a part of it, or several sentences of which
    /// it is one.
    fn entry<'e>(
        &self,
        sentence: &Sentence<'_>,
        entries: &BTreeMap<&str, &'e LedgerEntry>,
    ) -> Option<&'e LedgerEntry> {
        let overlaps =
            |range: &Range<usize>| range.start < sentence.range.end && sentence.range.start < range.end;
        let part = || {
            let mut quoted = self.quoted.iter().filter(|(_, range)| overlaps(range));
            quoted.find_map(|(hash, _)| entries.get(hash.as_str()))
        };
        entries.get(sentence.hash.as_str()).or_else(part).copied()
    }
}

/// The entries that quote a sentence, by its hash.
fn entries(ledgers: &[(Ledger, SourceFile)]) -> BTreeMap<&str, &LedgerEntry> {
    let entries = ledgers.iter().flat_map(|(ledger, _)| &ledger.entries);
    entries.filter_map(|entry| Some((entry.sentence()?, entry))).collect()
}

/// The hashes that are listed as not normative, each with its file.
fn listed(ledgers: &Ledgers) -> impl Iterator<Item = (&str, &SourceFile)> {
    let documents = ledgers
        .not_normative
        .iter()
        .flat_map(|(listed, file)| listed.documents.iter().map(move |document| (document, file)));
    documents.flat_map(|(document, file)| document.sentences.keys().map(move |hash| (hash.as_str(), file)))
}

/// Reports sentences that are both numbered and listed.
fn in_both(ledgers: &Ledgers, both: &BTreeMap<&str, &LedgerEntry>) -> Vec<Error> {
    let wrong = listed(ledgers).filter_map(|(hash, file)| Some((hash, file, both.get(hash)?)));
    let error = |(hash, file, entry): (&str, &SourceFile, &&LedgerEntry)| {
        let message = format!("{hash} is listed as not normative, but {} numbers it", entry.id);
        error_at_hash(file, hash, message, "remove one of the two")
    };
    wrong.map(error).collect()
}

/// An error at the line of the list that has this hash as its key.
fn error_at_hash(file: &SourceFile, hash: &str, message: String, remedy: &str) -> Error {
    let mut mark = Mark { line: 1, column: 1, offset: 0 };
    for (number, line) in file.text.split_inclusive('\n').enumerate() {
        if let Some(column) = line.find(hash) {
            mark = Mark { line: number + 1, column: column + 1, offset: mark.offset + column };
            break;
        }
        mark.offset += line.len();
    }
    file.error(mark, hash.len(), message, Some(remedy.to_owned())).coded("not-normative")
}

/// Sentences that are neither numbered nor listed.
#[derive(Default)]
struct Unnumbered {
    named: Vec<Error>,
    /// The first sentence that is not reported, and how many there are.
    rest: Option<(Error, usize)>,
}

impl Unnumbered {
    fn note(&mut self, file: &SourceFile, sentence: &Sentence<'_>, before: Option<&Source>) {
        match &mut self.rest {
            _ if self.named.len() < NAMED => self.named.push(unnumbered(file, sentence, before)),
            Some((_, count)) => *count += 1,
            None => self.rest = Some((unnumbered(file, sentence, before), 1)),
        }
    }

    fn errors(mut self) -> Vec<Error> {
        let rest = self.rest.map(|(mut first, count)| {
            first.message =
                format!("{count} more sentences, from here on, are neither numbered in a ledger nor listed as not normative");
            first.remedy = Some("lint reports them after those before are corrected".to_owned());
            first
        });
        self.named.extend(rest);
        self.named
    }
}

/// The error for a sentence that is neither numbered nor listed, with an entry to fill in: probably from the document
/// and section of the numbered sentence before it.
fn unnumbered(file: &SourceFile, sentence: &Sentence<'_>, before: Option<&Source>) -> Error {
    let words: Vec<&str> = sentence.text.split_whitespace().take(WORDS).collect();
    let message = format!(
        "“{} …” ({}) is neither numbered in a ledger nor listed as not normative",
        words.join(" "),
        sentence.hash
    );
    let of = |field: fn(&Source) -> &Option<String>| {
        before.and_then(|source| field(source).as_deref()).unwrap_or("…").to_owned()
    };
    let remedy = format!(
        "add to the ledger of the component that will keep it\n\
         - {{id: L-…, source: {{document: {}, version: {}, section: {}, sentence: \"{hash}\"}},\n   \
         text: …, notYet: …}}\nor, if it requires nothing, to contracts/not-normative.yaml\n    \
         \"{hash}\": explanation",
        of(|source| &source.document),
        of(|source| &source.version),
        of(|source| &source.section),
        hash = sentence.hash
    );
    let start = file.text[..sentence.range.start].rfind('\n').map_or(0, |at| at + 1);
    let column = file.text[start..sentence.range.start].chars().count() + 1;
    let mark = Mark { line: sentence.line, column, offset: sentence.range.start };
    let length = sentence.text.lines().next().unwrap_or_default().len();
    file.error(mark, length, message, Some(remedy)).coded("unnumbered")
}
