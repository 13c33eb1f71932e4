//! The nodes of one document, as the parser tells them.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Event, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle};

use super::super::build::fail;
use super::super::{Error, Mark};
use super::source::Source;
use crate::depth;

/// A node by its number.
pub(super) type Id = usize;

/// What is merged into the map that has it as a key.
const MERGE: &str = "tag:yaml.org,2002:merge";
/// The parser looks at all open brackets for each token. No document that a person or a program writes comes near; who wants
/// to keep it busy does.
const WORK: usize = 400_000_000;

/// What is said of a text that the parser panics at for a reason that is not known.
pub(super) const DEFECT: &str = "the YAML parser failed";
/// The parser looks so many words ahead at most.
const NEAR: usize = 8;

#[derive(Debug)]
pub(super) enum Data {
    Scalar(Scalar),
    List(Vec<Id>),
    /// Keys and values in turn.
    Map(Vec<Id>),
    Alias(Id),
}

#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) text: String,
    /// Whole, `tag:yaml.org,2002:int`.
    pub(super) tag: Option<String>,
    /// Whether the text says what it is: it stands without quotes and without a tag.
    pub(super) plain: bool,
    /// The same, or its tag is `!`.
    pub(super) implicit: bool,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) data: Data,
    pub(super) start: Mark,
    /// How many levels of lists and maps it has, those behind aliases included.
    levels: usize,
}

/// One document.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The first node is the whole; absent in an empty text.
    pub(super) nodes: Vec<Node>,
}

impl Node {
    /// Whether it is `<<`, which adds what stands behind it to the map.
    pub(super) fn is_merge(&self) -> bool {
        match &self.data {
            Data::Scalar(Scalar { text, tag, implicit, .. }) => {
                text == "<<" && (*implicit || tag.as_deref() == Some(MERGE))
            }
            _ => false,
        }
    }
}

/// Reads the first document, and nothing behind its end.
pub(super) fn read(text: &str) -> Result<Tree, Error> {
    let mut source = Source::new(text);
    loop {
        match parse(&source) {
            Err(Refusal::Colon(offset)) if source.disguise(offset) => {}
            Err(Refusal::Colon(_)) => return Err(fail("found unexpected ':'", Mark::default())),
            Err(Refusal::Other(error)) => return Err(error),
            Ok(tree) => return Ok(tree),
        }
    }
}

/// Why a text was not read.
enum Refusal {
    /// At this offset the parser refuses a colon that ends a text in brackets; to Go it is a letter.
    Colon(usize),
    Other(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

fn parse(source: &Source<'_>) -> Result<Tree, Refusal> {
    let mut parser = Parser::new();
    // In small pieces, so that what stands behind the document is not looked at.
    parser.set_input(BufReader::with_capacity(1024, source.text.as_bytes()));
    let mut builder = Builder {
        source,
        tree: Tree::default(),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        work: 0,
        last: Mark::default(),
    };
    loop {
        let event = catch_unwind(AssertUnwindSafe(|| parser.parse()));
        let event = event.map_err(|_| builder.defect())?;
        let event = event.map_err(|error| refusal(&error))?;
        builder.last = mark(event.end_mark);
        match event.data {
            EventData::DocumentEnd { .. } | EventData::StreamEnd => return Ok(builder.tree),
            _ => builder.take(event)?,
        }
    }
}

struct Builder<'a> {
    source: &'a Source<'a>,
    tree: Tree,
    /// Lists and maps that are not closed, and whether they stand in brackets.
    open: Vec<(Id, bool)>,
    anchors: BTreeMap<String, Id>,
    work: usize,
    /// Where the last event ended.
    last: Mark,
}

impl Builder<'_> {
    /// Why the parser panicked. It has no words for a tag that a comma ends in brackets; anything else is its defect.
    fn defect(&self) -> Error {
        let rest = self.source.from(self.last.offset);
        let ends_a_tag = |word: &str| word.contains('!') && word.contains(',');
        let is_known = rest.split_whitespace().take(NEAR).any(ends_a_tag);
        fail(if is_known { "a comma ends a tag" } else { DEFECT }, self.last)
    }

    fn take(&mut self, event: Event) -> Result<(), Error> {
        let start = mark(event.start_mark);
        self.work += self.open.len();
        if self.work > WORK {
            return Err(fail("nested too deep for its length", start));
        }
        match event.data {
            EventData::Alias { anchor } => {
                let unknown = || fail(&format!("unknown anchor '{anchor}' referenced"), start);
                let node = *self.anchors.get(&anchor).ok_or_else(unknown)?;
                let levels = self.tree.nodes[node].levels;
                check_depth(self.open.len() + levels, start)?;
                self.add(Data::Alias(node), None, start, levels);
                self.reaches(levels);
            }
            EventData::Scalar { anchor, tag, value, plain_implicit, style, .. } => {
                let mut plain = plain_implicit;
                if plain && tag.is_none() && event.end_mark.index > event.start_mark.index {
                    plain = style == ScalarStyle::Plain && !has_tag(self.source.from(start.offset));
                }
                let in_brackets = self.open.last().is_some_and(|(_, in_brackets)| *in_brackets);
                if style == ScalarStyle::Plain && in_brackets && value.contains('?') {
                    return Err(fail("a question mark ends a text in brackets that has no quotes", start));
                }
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let text = self.source.meant(value, is_block, mark(event.end_mark).offset);
                let scalar = Scalar { text, tag, plain, implicit: plain_implicit };
                self.add(Data::Scalar(scalar), anchor, start, 0);
            }
            EventData::SequenceStart { anchor, style, .. } => {
                self.begin(Data::List(Vec::new()), style == SequenceStyle::Flow, anchor, start)?;
            }
            EventData::MappingStart { anchor, style, .. } => {
                self.begin(Data::Map(Vec::new()), style == MappingStyle::Flow, anchor, start)?;
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                if let Some((closed, _)) = self.open.pop() {
                    self.reaches(self.tree.nodes[closed].levels);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        data: Data,
        in_brackets: bool,
        anchor: Option<String>,
        start: Mark,
    ) -> Result<(), Error> {
        let id = self.add(data, anchor, start, 1);
        self.open.push((id, in_brackets));
        check_depth(self.open.len(), start)
    }

    /// What is open has one more level than what stands in it.
    fn reaches(&mut self, levels: usize) {
        if let Some((open, _)) = self.open.last() {
            let around = &mut self.tree.nodes[*open].levels;
            *around = (*around).max(levels + 1);
        }
    }

    fn add(&mut self, data: Data, anchor: Option<String>, start: Mark, levels: usize) -> Id {
        let id = self.tree.nodes.len();
        if let Some(Data::List(nodes) | Data::Map(nodes)) =
            self.open.last().and_then(|(open, _)| self.tree.nodes.get_mut(*open)).map(|node| &mut node.data)
        {
            nodes.push(id);
        }
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
        self.tree.nodes.push(Node { data, start, levels });
        id
    }
}

fn check_depth(levels: usize, at: Mark) -> Result<(), Error> {
    if depth::fits(levels) { Ok(()) } else { Err(fail(depth::TOO_DEEP, at)) }
}

/// Whether an unquoted text, which begins here with what stands before it, has the tag `!`, which the parser drops; it says
/// that it is a text.
fn has_tag(here: &str) -> bool {
    let here = match here.strip_prefix('&') {
        Some(anchor) => anchor.trim_start_matches(|letter: char| !letter.is_whitespace()).trim_start(),
        None => here,
    };
    here.starts_with('!')
}

fn mark(mark: libyaml_safer::Mark) -> Mark {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Mark { line: small(mark.line) + 1, column: small(mark.column) + 1, offset: small(mark.index) }
}

fn refusal(error: &libyaml_safer::Error) -> Refusal {
    let at = error.problem_mark().or(error.context_mark()).map(mark).unwrap_or_default();
    match error.problem() {
        "found unexpected ':'" => Refusal::Colon(at.offset),
        problem => Refusal::Other(fail(problem, at)),
    }
}
