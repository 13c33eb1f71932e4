//! Names in a target file: features, webhooks, suites and files that nothing has are slips, and would silently leave cases out.

use std::collections::BTreeSet;
use std::path::Path;

use contract::document::target::{RegistrationFiles, TargetSpec};
use contract::document::{Error, SourceFile};
use contract::index::Outline;
use contract::load::{closest, nearest};
use formats::yaml::{self, Node};

/// The names that exist.
pub(crate) struct KnownNames<'a> {
    contracts: &'a [Outline],
    suites: &'a [String],
}

impl<'a> KnownNames<'a> {
    pub(crate) fn new(contracts: &'a [Outline], suites: &'a [String]) -> Self {
        Self { contracts, suites }
    }

    /// Features that clauses need.
    fn features(&self) -> BTreeSet<&'a str> {
        let clauses = self.contracts.iter().flat_map(|contract| &contract.clauses);
        clauses
            .flat_map(|clause| &clause.needs)
            .map(|need| need.strip_prefix("not ").unwrap_or(need))
            .collect()
    }

    /// Webhooks and controllers that contracts are about.
    fn subjects(&self) -> BTreeSet<&'a str> {
        let subjects = self.contracts.iter().map(|contract| &contract.subject);
        subjects
            .flat_map(|subject| [&subject.webhook, &subject.controller])
            .flatten()
            .map(String::as_str)
            .collect()
    }
}

/// The names in a target file that nothing has, each at its line.
pub(crate) fn check(file: &SourceFile, spec: &TargetSpec, known: &KnownNames<'_>) -> Vec<Error> {
    let nodes = yaml::parse(&file.text).unwrap_or_default();
    let Some(node) = nodes.first().and_then(|node| node.get("spec")) else { return Vec::new() };
    let at = |field: &str| node.get(field);
    let mut found = Vec::new();
    let mut check = |field: &str, names: &[String], what: &str, known: &BTreeSet<&str>| {
        for (index, name) in names.iter().enumerate().filter(|(_, name)| !known.contains(name.as_str())) {
            let place = at(field).map(|node| node.items().and_then(|items| items.get(index)).unwrap_or(node));
            let message = format!("{field}: {what} {name:?}");
            found
                .extend(place.map(|place| error(file, place, message, nearest(name, known.iter().copied()))));
        }
    };
    // A feature without any similar one may be of contracts that this tool does not have.
    let features = known.features();
    let is_slip = |name: &String| {
        !features.contains(name.as_str()) && closest(name, features.iter().copied()).is_some()
    };
    if spec.features.iter().any(is_slip) {
        check("features", &spec.features, "no clause needs the feature", &features);
    }
    check("serves", &spec.serves, "no contract is about a webhook or controller", &known.subjects());
    let suites: BTreeSet<&str> = known.suites.iter().map(String::as_str).collect();
    let suite: Vec<String> = spec.suite.iter().cloned().collect();
    check("suite", &suite, "there is no suite", &suites);
    found.extend(missing_files(file, spec, node));
    found
}

/// The files that a target file names and that are not there.
fn missing_files(file: &SourceFile, spec: &TargetSpec, node: &Node) -> Vec<Error> {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let mut named: Vec<(Option<&Node>, &str)> = Vec::new();
    match &spec.registration {
        Some(RegistrationFiles::All(path)) => named.push((node.get("registration"), path)),
        Some(RegistrationFiles::Each(paths)) => {
            let of = |name: &str| node.get("registration").and_then(|files| files.get(name));
            named.extend(paths.iter().map(|(name, path)| (of(name), path.as_str())));
        }
        None => {}
    }
    let config = spec.config.as_ref().and_then(|config| config.file.as_deref());
    named.extend(config.map(|path| (node.get("config").and_then(|config| config.get("file")), path)));
    named.extend(spec.ca.as_deref().map(|path| (node.get("ca"), path)));
    named.extend(spec.kubeconfig.as_deref().map(|path| (node.get("kubeconfig"), path)));
    let needs = node.get("needs").and_then(Node::items).unwrap_or_default();
    named.extend(spec.needs.iter().enumerate().map(|(index, path)| (needs.get(index), path.as_str())));
    let is_missing = |(_, path): &(Option<&Node>, &str)| !path.contains('<') && !folder.join(path).exists();
    let error_at = |(place, path): (Option<&Node>, &str)| {
        let message = format!("there is no file {}", folder.join(path).display());
        Some(error(file, place?, message, near_file(&folder.join(path))))
    };
    named.into_iter().filter(is_missing).filter_map(error_at).collect()
}

/// The remedy for a file that is not there: one of a similar name beside it.
fn near_file(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    closest(&name, names.iter().map(String::as_str)).map_or_else(
        || "write its path relative to the target file".to_owned(),
        |near| format!("did you mean `{near}`?"),
    )
}

fn error(file: &SourceFile, place: &Node, message: String, remedy: String) -> Error {
    let length = place.end.saturating_sub(place.start.offset);
    file.error(place.start, length, message, Some(remedy).filter(|remedy| !remedy.is_empty()))
        .coded("unknown-name")
}
