//! Compiles all mutants at once, and finds those that do not compile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use syn::visit::{self, Visit};
use syn::{Expr, Lit};

use super::instrument::Mutant;
use super::tree::Tree;

/// A compiler that reports an error in each pass needs some builds until all are found.
const MOST_BUILDS: usize = 60;

/// The test programs with all mutants that compile.
pub(super) struct Built {
    /// By component.
    pub(super) programs: BTreeMap<String, PathBuf>,
    pub(super) mutants: Vec<Mutant>,
    /// Files of the mutants that do not compile.
    pub(super) unviable: Vec<String>,
}

/// Builds the tests `contracts` of packages in the copy.
pub(super) fn build(tree: &Tree, packages: &[&str], target: &Path) -> Result<Built> {
    let mut omitted = BTreeSet::new();
    for _ in 0..MOST_BUILDS {
        let mutants = tree.write(&omitted)?;
        match compile(tree.root(), packages, target)? {
            Compiled::Programs(programs) => {
                let unviable = tree.files_of(&omitted)?;
                return Ok(Built { programs, mutants, unviable });
            }
            Compiled::Errors(errors) => {
                let known = omitted.len();
                for error in &errors {
                    omitted.extend(causes(tree.root(), error)?);
                }
                if omitted.len() == known {
                    bail!(
                        "{} does not compile, and not because of a mutant:\n{}",
                        packages.join(", "),
                        texts(&errors)
                    );
                }
            }
        }
    }
    bail!(
        "{} still does not compile after {MOST_BUILDS} builds, each without the mutants that failed before",
        packages.join(", ")
    )
}

enum Compiled {
    Programs(BTreeMap<String, PathBuf>),
    Errors(Vec<CompilerError>),
}

/// An error of the compiler.
struct CompilerError {
    text: String,
    /// Files from the root, with line and column, those that the compiler calls primary first.
    places: Vec<(String, usize, usize)>,
}

fn compile(root: &Path, packages: &[&str], target: &Path) -> Result<Compiled> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--test", "contracts", "--keep-going", "--profile=mutants"]);
    for package in packages {
        cargo.args(["--package", package]);
    }
    cargo.arg("--message-format=json").current_dir(root);
    cargo.env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "1").stderr(Stdio::piped());
    let output = cargo.output().context("failed to start cargo build")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if output.status.success() {
        return Ok(Compiled::Programs(messages.iter().filter_map(program).collect()));
    }
    let errors: Vec<CompilerError> =
        messages.iter().filter_map(|message| error(&message["message"])).collect();
    if errors.is_empty() {
        bail!("cargo build --package {}: {}", packages.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(Compiled::Errors(errors))
}

/// The component and the path of a test program, if cargo reports one.
fn program(message: &Value) -> Option<(String, PathBuf)> {
    if message["target"]["name"] != "contracts" {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.file_name()?;
    Some((folder.to_string_lossy().into_owned(), message["executable"].as_str()?.into()))
}

fn error(message: &Value) -> Option<CompilerError> {
    if message["level"] != "error" {
        return None;
    }
    let spans = message["spans"].as_array()?;
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let place = |span: &Value| {
        let file = span["file_name"].as_str()?.to_owned();
        Some((file, number(&span["line_start"])?, number(&span["column_start"])?))
    };
    let mut spans: Vec<&Value> = spans.iter().collect();
    spans.sort_by_key(|span| span["is_primary"] != true);
    let places: Vec<_> = spans.into_iter().filter_map(place).collect();
    // "aborting due to 3 previous errors" has no place.
    if places.is_empty() {
        return None;
    }
    Some(CompilerError { text: message["rendered"].as_str().unwrap_or_default().to_owned(), places })
}

fn texts(errors: &[CompilerError]) -> String {
    errors.iter().map(|error| error.text.as_str()).collect()
}

/// The mutants at whose place an error is: in changed code if one of its places lies there, else those that surround it.
fn causes(root: &Path, error: &CompilerError) -> Result<BTreeSet<u32>> {
    let mut around = BTreeSet::new();
    for (file, line, column) in &error.places {
        let path = root.join(file);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let syntax = syn::parse_file(&text).with_context(|| format!("failed to parse {}", path.display()))?;
        let mut search = Search { at: (*line, column - 1), inside: None, around: None };
        search.visit_file(&syntax);
        if let Some((_, id)) = search.inside {
            return Ok(BTreeSet::from([id]));
        }
        if around.is_empty() {
            around.extend(search.around.into_iter().flat_map(|(_, ids)| ids));
        }
    }
    Ok(around)
}

/// Lines and columns, from and to.
type Range = ((usize, usize), (usize, usize));

/// Looks for the smallest mutant around a place.
struct Search {
    at: (usize, usize),
    inside: Option<(Range, u32)>,
    around: Option<(Range, Vec<u32>)>,
}

impl Search {
    fn covers(&self, spanned: &impl syn::spanned::Spanned) -> Option<Range> {
        let span = spanned.span();
        let (start, end) = (span.start(), span.end());
        let range = ((start.line, start.column), (end.line, end.column));
        (range.0 <= self.at && self.at < range.1).then_some(range)
    }
}

impl<'a> Visit<'a> for Search {
    // The visitor goes from the outside to the inside, so that the last one found is the smallest.
    fn visit_expr_if(&mut self, expression: &'a syn::ExprIf) {
        if let Some(id) = activated(&expression.cond) {
            if let Some(range) = self.covers(&expression.then_branch) {
                self.inside = Some((range, id));
            }
            if let Some(range) = self.covers(expression) {
                self.around = Some((range, chain(expression)));
            }
        }
        visit::visit_expr_if(self, expression);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        let mut ids = Ids::default();
        if let Some((_, guard)) = &arm.guard {
            ids.visit_expr(guard);
        }
        if !ids.0.is_empty()
            && let Some(range) = self.covers(arm)
            && (self.covers(&arm.pat).is_some()
                || arm.guard.as_ref().is_some_and(|(_, guard)| self.covers(guard).is_some()))
        {
            self.around = Some((range, ids.0));
        }
        visit::visit_arm(self, arm);
    }
}

/// All numbers of `if is_active(1) {} else if is_active(2) {}`.
fn chain(expression: &syn::ExprIf) -> Vec<u32> {
    let mut ids = Vec::new();
    let mut next = Some(expression);
    while let Some(current) = next {
        let Some(id) = activated(&current.cond) else { break };
        ids.push(id);
        next = match current.else_branch.as_ref().map(|(_, branch)| &**branch) {
            Some(Expr::If(inner)) => Some(inner),
            Some(Expr::Block(block)) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(Expr::If(inner), None)] => Some(inner),
                _ => None,
            },
            _ => None,
        };
    }
    ids
}

/// The number in `crate::mutation::is_active(7)`.
fn activated(condition: &Expr) -> Option<u32> {
    let Expr::Call(call) = condition else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    if path.path.segments.last()?.ident != "is_active" {
        return None;
    }
    match call.args.first()? {
        Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}

/// The numbers of all mutants in an expression.
#[derive(Default)]
struct Ids(Vec<u32>);

impl<'a> Visit<'a> for Ids {
    fn visit_expr(&mut self, expression: &'a Expr) {
        self.0.extend(activated(expression));
        visit::visit_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn f(a: String) -> bool {
    if crate::mutation::is_active(1u32) {
        return 5;
    }
    match a {
        b if !crate::mutation::is_active(4u32) => true,
        _ => false,
    }
    (if crate::mutation::is_active(2u32) {
        a - b
    } else {
        if crate::mutation::is_active(3u32) { a * b } else { a + b }
    })
}
";

    fn causes_at(line: usize, column: usize) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), SOURCE).unwrap();
        let error = CompilerError { text: String::new(), places: vec![("a.rs".to_owned(), line, column)] };
        causes(folder.path(), &error).unwrap().into_iter().collect()
    }

    #[test]
    fn an_error_in_changed_code_is_of_that_mutant() {
        assert_eq!(causes_at(3, 16), [1]);
        assert_eq!(causes_at(10, 9), [2]);
        assert_eq!(causes_at(12, 50), [3]);
    }

    #[test]
    fn an_error_in_a_pattern_is_of_the_guard_that_was_added() {
        assert_eq!(causes_at(6, 9), [4]);
    }

    #[test]
    fn an_error_in_code_as_it_is_is_of_the_mutants_around_it() {
        assert_eq!(causes_at(12, 64), [3]);
        assert_eq!(causes_at(9, 5), Vec::<u32>::new());
        assert_eq!(causes_at(9, 6), [2, 3]);
    }
}
