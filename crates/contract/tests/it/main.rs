//! Contracts as files: loading, errors with their positions, and findings of lint.

mod actions;
mod cel;
mod documents;
mod embedded;
mod emitted;
mod examples;
mod flags;
mod folders;
mod given;
mod index;
mod lint;
mod malformed;
mod profiles;
mod scenario;
mod variations;
mod versions;

use contract::document::SourceFile;
use contract::load::{self, Loaded};

/// The shared fixtures of the project and these contract files.
fn sources(files: &[(&str, String)]) -> Vec<SourceFile> {
    // Variations take a while to build, and no sample uses them.
    let is_fixture =
        |file: &SourceFile| file.path.contains("/fixtures/") && !file.text.contains("kind: Variations");
    let fixtures = contracts::files().into_iter().filter(is_fixture);
    fixtures.chain(files.iter().map(|(path, text)| SourceFile::new(*path, text.as_str()))).collect()
}

/// A contract with these lines under `spec` (after form and target) and these clauses.
fn contract(spec: &str, clauses: &str) -> String {
    format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Contract\nmetadata:\n  name: sample\n  labels: {{component: sample}}\nspec:\n  \
         form: mutation\n  source: {{document: docs/sample.md, version: v1.0, section: Sample}}\n  \
         target: {{webhook: sample, handles: [v1 pods]}}\n{}  clauses:\n{}",
        indent(spec, "  "),
        indent(clauses, "  ")
    )
}

/// Loads one contract file.
fn load_one(text: &str) -> Loaded {
    load::read(&sources(&[("contracts/sample/sample.yaml", text.to_owned())]))
}

/// Indents the lines of a text.
fn indent(text: &str, by: &str) -> String {
    text.lines().flat_map(|line| [by, line, "\n"]).collect()
}

/// Loads one contract file and fails if there are errors or findings.
fn load_clean(text: &str) -> Loaded {
    let loaded = load_one(text);
    let wrong: Vec<String> = loaded
        .errors
        .iter()
        .chain(&loaded.findings)
        .map(|error| format!("{error} [{}]", error.code))
        .collect();
    assert!(wrong.is_empty(), "{}\n{text}", wrong.join("\n"));
    loaded
}
