//! Reads files of kind Explanations, with the operators of `then`.

use formats::yaml::Node;
use schema::segments;

use super::expectation;
use super::fields::Fields;
use super::keywords::{EXPLAINED, EXPLANATION, EXPLANATIONS};
use super::report::Report;
use super::tree::Span;
use crate::expect::{Expect, Rules};
use crate::explanations::{Explanation, Explanations};
use crate::model::Location;

/// Reads a document of kind Explanations; `None` if its target is missing.
pub(super) fn read(file: usize, node: &Node, report: &Report<'_>) -> Option<Explanations> {
    let root = Fields::of(file, node, "a file of explanations", &EXPLANATIONS, report)?;
    let Some(target) = root.node("target") else {
        let remedy = "write `target: {name: …, version: …}`";
        report.add("missing-key", root.span(), "target is missing", remedy);
        return None;
    };
    let target = Fields::of(file, target, "a target", &EXPLAINED, report)?;
    let entries = root.node("explanations").and_then(Node::items).unwrap_or_default();
    Some(Explanations {
        name: target.required("name", "name the target that differs")?,
        version: target.text("version"),
        entries: entries.iter().filter_map(|entry| explanation(file, entry, report)).collect(),
    })
}

fn explanation(file: usize, node: &Node, report: &Report<'_>) -> Option<Explanation> {
    let fields = Fields::of(file, node, "an explanation", &EXPLANATION, report)?;
    let expect = |name: &str| -> Option<Expect> {
        fields.tree(name).map(|tree| expectation::read(&tree, &Rules::unknown(), report))
    };
    let at = fields.texts("at");
    if at.is_empty() {
        let remedy = "name the places: `at: object.spec.tolerations` or `at: [code, message]`";
        report.add("missing-key", fields.span(), "at is missing", remedy);
    }
    for path in at.iter().filter(|path| segments(path).is_err()) {
        report.add(
            "path",
            fields.span(),
            format!("{path} is not a valid path"),
            "write it like `object.spec.pools[].name`",
        );
    }
    let span = Span::of(file, node);
    Some(Explanation {
        webhooks: fields.texts("webhooks"),
        controllers: fields.texts("controllers"),
        at,
        input: expect("input"),
        ours: expect("ours"),
        theirs: expect("theirs"),
        given: expect("given"),
        clause: fields.text("clause"),
        reason: fields.required("reason", "write a sentence with the reason why the answers differ")?,
        location: Location {
            file: report.files[file].path.clone(),
            line: span.mark.line,
            column: span.mark.column,
        },
    })
}
