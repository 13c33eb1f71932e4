//! Builds the nodes of one document from the parser's events.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Event, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle};

use super::super::{Error, Mark, fail};
use super::input::ParserInput;
use crate::depth;

/// The index of a node.
pub(super) type Id = usize;

/// The tag of merge keys.
const MERGE: &str = "tag:yaml.org,2002:merge";
/// Limit on the work of the parser, which visits all open brackets for each token. Only documents made to exhaust it come
/// near.
const WORK: usize = 400_000_000;

/// Error message if the parser panics for an unknown reason.
pub(super) const DEFECT: &str = "the YAML parser failed";
/// Error message about an escape that YAML 1.1 does not have.
const UNKNOWN_ESCAPE: &str = "found unknown escape character";
/// Maximum number of words that the parser looks ahead.
const LOOKAHEAD: usize = 8;

#[derive(Debug)]
pub(super) enum TreeData {
    Scalar(TreeScalar),
    List(Vec<Id>),
    /// Keys and values in turn.
    Map(Vec<Id>),
    Alias(Id),
}

#[derive(Debug)]
pub(super) struct TreeScalar {
    pub(super) text: String,
    /// The full tag, `tag:yaml.org,2002:int`.
    pub(super) tag: Option<String>,
    /// Whether the text determines the type: it has neither quotes nor a tag.
    pub(super) plain: bool,
    /// Whether `plain` is set, or the tag is `!`.
    pub(super) implicit: bool,
}

#[derive(Debug)]
pub(super) struct TreeNode {
    pub(super) data: TreeData,
    pub(super) start: Mark,
    /// Its depth in lists and maps, including targets of aliases.
    levels: usize,
}

/// One document.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The first node is the root; empty for an empty text.
    pub(super) nodes: Vec<TreeNode>,
}

impl TreeNode {
    /// Whether it is the merge key `<<`.
    pub(super) fn is_merge(&self) -> bool {
        match &self.data {
            TreeData::Scalar(TreeScalar { text, tag, implicit, .. }) => {
                text == "<<" && (*implicit || tag.as_deref() == Some(MERGE))
            }
            _ => false,
        }
    }
}

/// Reads the first document, and nothing after its end.
pub(super) fn read(text: &str) -> Result<Tree, Error> {
    let mut input = ParserInput::new(text);
    loop {
        match parse(&input) {
            Err(ParseFailure::Colon(offset)) if input.replace_colon(offset) => {}
            Err(ParseFailure::Colon(_)) => return Err(fail("found unexpected ':'", Mark::default())),
            Err(ParseFailure::Escape(at)) if input.replace_escaped_apostrophe(at.offset) => {}
            Err(ParseFailure::Escape(at)) => return Err(fail(UNKNOWN_ESCAPE, at)),
            Err(ParseFailure::Other(error)) => return Err(error),
            Ok(tree) => return Ok(tree),
        }
    }
}

/// Reason a text was not parsed.
enum ParseFailure {
    /// The parser rejects the colon at this offset, which ends a text in brackets; Go treats it as a letter.
    Colon(usize),
    /// The parser rejects the escape here; Go accepts that of an apostrophe.
    Escape(Mark),
    Other(Error),
}

impl From<Error> for ParseFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

fn parse(input: &ParserInput<'_>) -> Result<Tree, ParseFailure> {
    let mut parser = Parser::new();
    // A small buffer, so that the text after the document is not validated.
    parser.set_input(BufReader::with_capacity(1024, input.text.as_bytes()));
    let mut builder = Builder {
        input,
        tree: Tree::default(),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        work: 0,
        last: Mark::default(),
    };
    loop {
        let event = catch_unwind(AssertUnwindSafe(|| parser.parse()));
        let event = event.map_err(|_| builder.defect())?;
        let event = event.map_err(|error| failure(&error, &input.text))?;
        builder.last = mark(event.end_mark);
        match event.data {
            EventData::DocumentEnd { .. } | EventData::StreamEnd => return Ok(builder.tree),
            _ => builder.handle(event)?,
        }
    }
}

struct Builder<'a> {
    input: &'a ParserInput<'a>,
    tree: Tree,
    /// Lists and maps whose end was not read yet, and whether they are in brackets.
    open: Vec<(Id, bool)>,
    anchors: BTreeMap<String, Id>,
    work: usize,
    /// End of the last event.
    last: Mark,
}

impl Builder<'_> {
    /// The error for a panic of the parser. It panics on a tag in brackets that a comma follows; any other panic is a defect.
    fn defect(&self) -> Error {
        let rest = self.input.from(self.last.offset);
        let ends_a_tag = |word: &str| word.contains('!') && word.contains(',');
        let is_known = rest.split_whitespace().take(LOOKAHEAD).any(ends_a_tag);
        fail(if is_known { "a tag must not be followed by a comma" } else { DEFECT }, self.last)
    }

    fn handle(&mut self, event: Event) -> Result<(), Error> {
        let start = mark(event.start_mark);
        self.work += self.open.len();
        if self.work > WORK {
            return Err(fail("too many open brackets", start));
        }
        match event.data {
            EventData::Alias { anchor } => {
                let unknown = || fail(&format!("unknown anchor '{anchor}' referenced"), start);
                let node = *self.anchors.get(&anchor).ok_or_else(unknown)?;
                let levels = self.tree.nodes[node].levels;
                check_depth(self.open.len() + levels, start)?;
                self.add(TreeData::Alias(node), None, start, levels);
                self.raise_parent_depth(levels);
            }
            EventData::Scalar { anchor, tag, value, plain_implicit, style, .. } => {
                let mut plain = plain_implicit;
                if plain && tag.is_none() && event.end_mark.index > event.start_mark.index {
                    plain = style == ScalarStyle::Plain && !has_tag(self.input.from(start.offset));
                }
                let in_brackets = self.open.last().is_some_and(|(_, in_brackets)| *in_brackets);
                if style == ScalarStyle::Plain && in_brackets && value.contains('?') {
                    return Err(fail("an unquoted text in brackets must not contain a question mark", start));
                }
                if style == ScalarStyle::DoubleQuoted
                    && self.input.has_escaped_slash(start.offset, mark(event.end_mark).offset)
                {
                    return Err(fail(UNKNOWN_ESCAPE, start));
                }
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let text = self.input.restore(value, is_block, mark(event.end_mark).offset);
                let scalar = TreeScalar { text, tag, plain, implicit: plain_implicit };
                self.add(TreeData::Scalar(scalar), anchor, start, 0);
            }
            EventData::SequenceStart { anchor, style, .. } => {
                self.begin(TreeData::List(Vec::new()), style == SequenceStyle::Flow, anchor, start)?;
            }
            EventData::MappingStart { anchor, style, .. } => {
                self.begin(TreeData::Map(Vec::new()), style == MappingStyle::Flow, anchor, start)?;
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                if let Some((closed, _)) = self.open.pop() {
                    self.raise_parent_depth(self.tree.nodes[closed].levels);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        data: TreeData,
        in_brackets: bool,
        anchor: Option<String>,
        start: Mark,
    ) -> Result<(), Error> {
        let id = self.add(data, anchor, start, 1);
        self.open.push((id, in_brackets));
        check_depth(self.open.len(), start)
    }

    /// Makes the innermost open node at least one level deeper than a child of `levels`.
    fn raise_parent_depth(&mut self, levels: usize) {
        if let Some((open, _)) = self.open.last() {
            let parent = &mut self.tree.nodes[*open].levels;
            *parent = (*parent).max(levels + 1);
        }
    }

    fn add(&mut self, data: TreeData, anchor: Option<String>, start: Mark, levels: usize) -> Id {
        let id = self.tree.nodes.len();
        if let Some(TreeData::List(nodes) | TreeData::Map(nodes)) =
            self.open.last().and_then(|(open, _)| self.tree.nodes.get_mut(*open)).map(|node| &mut node.data)
        {
            nodes.push(id);
        }
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
        self.tree.nodes.push(TreeNode { data, start, levels });
        id
    }
}

fn check_depth(levels: usize, at: Mark) -> Result<(), Error> {
    if depth::fits(levels) { Ok(()) } else { Err(fail(depth::TOO_DEEP, at)) }
}

/// Whether an unquoted scalar, whose properties begin here, has the tag `!`, which makes it a string. The parser drops this
/// tag.
fn has_tag(text: &str) -> bool {
    let text = match text.strip_prefix('&') {
        Some(anchor) => anchor.trim_start_matches(|letter: char| !letter.is_whitespace()).trim_start(),
        None => text,
    };
    text.starts_with('!')
}

fn mark(mark: libyaml_safer::Mark) -> Mark {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Mark { line: small(mark.line) + 1, column: small(mark.column) + 1, offset: small(mark.index) }
}

/// The parser has no position for characters that it does not read.
fn failure(error: &libyaml_safer::Error, text: &str) -> ParseFailure {
    let at = error.problem_mark().or(error.context_mark()).map(mark);
    let at = at.or_else(|| control_character(text)).unwrap_or_default();
    match error.problem() {
        "found unexpected ':'" => ParseFailure::Colon(at.offset),
        UNKNOWN_ESCAPE => ParseFailure::Escape(at),
        problem => ParseFailure::Other(fail(problem, at)),
    }
}

/// The first character that YAML 1.1 does not allow.
fn control_character(text: &str) -> Option<Mark> {
    let is_allowed = |letter: char| match letter {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => !letter.is_control(),
    };
    let offset = text.find(|letter| !is_allowed(letter))?;
    let before = &text[..offset];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Some(Mark { line: before.matches('\n').count() + 1, column: line.chars().count() + 1, offset })
}
