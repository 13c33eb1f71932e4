//! Releases of Gardener that differ in what they write: which there are, and what each adds to objects (contracts/README.md,
//! Releases).

use std::collections::BTreeMap;
use std::sync::Arc;

use formats::yaml::{Mark, Node};
use schema::Kinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Error, SourceFile, target::Metadata};
use crate::versions::Range;

/// A file of releases, `kind: Releases`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ReleasesFile {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Releases`.
    pub kind: String,
    /// Name of the file.
    pub metadata: Metadata,
    /// What they are.
    pub spec: Releases,
}

/// The releases that contracts of a component tell apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Releases {
    /// Whose contracts: `controlplane`. Their `versions` are releases of Gardener, whatever version a target has itself.
    pub component: String,
    /// The release that is meant where nobody says one: `v1.82.0`.
    pub default: String,
    /// Each range of releases, oldest first.
    pub releases: Vec<Release>,
}

/// Releases that write the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// One of them, which stands for all where a clause holds for them alone: `v1.98.0`.
    pub version: String,
    /// Which they are: `>=1.98`.
    pub versions: String,
    /// What they write beside what all write: `deployment/kube-apiserver: {metadata: {labels: {…}}}`; `deployment/*` is each.
    #[serde(default)]
    pub adds: BTreeMap<String, Value>,
}

impl Releases {
    /// The releases that write what this one writes.
    #[must_use]
    pub fn of(&self, gardener: &str) -> Option<&Release> {
        self.releases.iter().find(|release| covers(&release.versions, gardener))
    }

    /// The release that a clause is asked of where any may be: the default where it holds for that, else the first that
    /// it holds for.
    #[must_use]
    pub fn usual(&self, versions: Option<&str>) -> &str {
        let holds = |gardener: &&str| versions.is_none_or(|range| covers(range, gardener));
        let known = self.releases.iter().map(|release| release.version.as_str());
        std::iter::once(self.default.as_str()).chain(known).find(holds).unwrap_or(&self.default)
    }

    /// Makes objects what this release writes.
    pub fn write(&self, gardener: &str, objects: &mut [Arc<Value>]) {
        for object in objects {
            if let Some(written) = self.written(gardener, object) {
                *object = Arc::new(written);
            }
        }
    }

    /// An object as this release writes it; `None`: it adds nothing to it. What the object says itself stays.
    #[must_use]
    pub fn written(&self, gardener: &str, object: &Value) -> Option<Value> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text(&object["kind"]).to_lowercase(), text(&object["metadata"]["name"]));
        let is_meant = |key: &str| {
            key.split_once('/').is_some_and(|(of, named)| of == kind && (named == "*" || named == name))
        };
        let adds = &self.of(gardener)?.adds;
        let mut written = object.clone();
        adds.iter().filter(|(key, _)| is_meant(key)).for_each(|(_, added)| fill(&mut written, added));
        (written != *object).then_some(written)
    }
}

/// Whether a range covers a version; what is no version is in none.
fn covers(range: &str, version: &str) -> bool {
    let is_version = Range::parse(&format!("={version}")).is_some();
    is_version && Range::parse(range).is_some_and(|range| range.covers(version))
}

/// Adds what is not there.
fn fill(object: &mut Value, added: &Value) {
    let (Some(object), Some(added)) = (object.as_object_mut(), added.as_object()) else { return };
    for (key, value) in added {
        match object.get_mut(key) {
            Some(found) if !found.is_null() => fill(found, value),
            _ => drop(object.insert(key.clone(), value.clone())),
        }
    }
}

/// Reads a file of releases.
///
/// # Errors
/// When it is no YAML, of another kind, has unknown fields, names kinds or releases that are none, or leaves out the default.
pub fn read(file: &SourceFile) -> Result<Releases, Error> {
    let found: ReleasesFile = file.read("Releases")?;
    let spec = found.spec;
    let nodes = formats::yaml::parse(&file.text).unwrap_or_default();
    let drawn = nodes.first().and_then(|root| root.get("spec"));
    let items = drawn.and_then(|spec| spec.get("releases")).and_then(Node::items).unwrap_or_default();
    let mark = |node: Option<&Node>| node.map_or_else(super::first, |node| node.start);
    let wrong = |mark: Mark, message: String, remedy: &str| {
        Err(file.error(mark, 1, message, Some(remedy.to_owned())))
    };
    for (release, node) in spec.releases.iter().zip(items) {
        if Range::parse(&release.versions).is_none() {
            let remedy = "write `>=1.98`, or several with commas: `>=1.80, <1.98`";
            return wrong(mark(node.get("versions")), "the versions are no range".to_owned(), remedy);
        }
        if !covers(&release.versions, &release.version) {
            let message = format!("{} is none of {}", release.version, release.versions);
            return wrong(
                mark(node.get("version")),
                message,
                "name one that the range covers: `version: v1.98.0`",
            );
        }
        for (key, added) in &release.adds {
            let at = mark(node.get("adds").and_then(|adds| adds.get(key)));
            if !is_known(key) || !added.is_object() {
                let message = format!("{key:?} adds nothing to any object");
                let remedy =
                    "write `deployment/kube-apiserver: {metadata: {labels: {…}}}`, or `deployment/*`";
                return wrong(at, message, remedy);
            }
        }
    }
    if spec.of(&spec.default).is_none() {
        let message = format!("the default {:?} is in no range", spec.default);
        let at = mark(drawn.and_then(|spec| spec.get("default")));
        return wrong(at, message, "name a release of one of `releases`: `default: v1.82.0`");
    }
    Ok(spec)
}

fn is_known(key: &str) -> bool {
    let Some((kind, name)) = key.split_once('/') else { return false };
    let named = Kinds::gardener().named(kind);
    !name.is_empty() && named.into_iter().any(|resource| resource.kind.to_lowercase() == kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Releases\nmetadata: {name: gardener}\n\
                        spec:\n  component: a\n";
    const REST: &str = "  default: v1.82.0\n  releases:\n  - {version: v1.82.0, versions: \"<1.98\"}\n  \
                        - version: v1.98.0\n    versions: \">=1.98\"\n    adds: {deployment/a: {metadata: {labels: {b: c}}}}\n";

    fn releases() -> Releases {
        read(&SourceFile::new("releases.yaml", format!("{HEAD}{REST}"))).unwrap()
    }

    #[test]
    fn a_release_adds_what_an_object_does_not_say_itself() {
        let object =
            |labels: Value| json!({"kind": "Deployment", "metadata": {"name": "a", "labels": labels}});
        let table = [
            ("v1.98.3", json!({"x": "y"}), Some(json!({"x": "y", "b": "c"}))),
            ("v1.98.3", json!({"b": "other"}), None),
            ("v1.82.0", json!({"x": "y"}), None),
        ];
        for (release, before, after) in table {
            assert_eq!(releases().written(release, &object(before)), after.map(object), "{release}");
        }
        let other = json!({"kind": "Deployment", "metadata": {"name": "b"}});
        assert_eq!(releases().written("v1.98.0", &other), None);
        let bare = json!({"kind": "Deployment", "metadata": {"name": "a"}});
        assert_eq!(releases().written("v1.98.0", &bare), Some(object(json!({"b": "c"}))));
    }

    #[test]
    fn a_clause_is_asked_of_the_default_where_it_holds_for_that() {
        for (versions, want) in [
            (None, "v1.82.0"),
            (Some("<1.98"), "v1.82.0"),
            (Some(">=1.98"), "v1.98.0"),
            (Some("<1.0"), "v1.82.0"),
        ] {
            assert_eq!(releases().usual(versions), want, "{versions:?}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let table = [
            ("\">=1.98\"", "new", 10, "no range"),
            ("version: v1.98.0", "version: v1.97.0", 9, "none of >=1.98"),
            ("version: v1.98.0", "version: new", 9, "none of >=1.98"),
            ("deployment/a", "deploiment/a", 11, "adds nothing"),
            ("default: v1.82.0", "default: new", 6, "in no range"),
            ("adds:", "add:", 11, "add"),
        ];
        for (from, to, line, words) in table {
            let text = format!("{HEAD}{REST}").replace(from, to);
            let error = read(&SourceFile::new("releases.yaml", text)).unwrap_err();
            assert_eq!((error.location.line, error.message.contains(words)), (line, true), "{to}: {error}");
        }
    }
}
