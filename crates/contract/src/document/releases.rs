//! Releases of Gardener that write different objects, and what each adds to objects (contracts/README.md,
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
    /// The releases.
    pub spec: Releases,
}

/// The releases that contracts of a component distinguish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Releases {
    /// The contracts' component: `controlplane`. `versions` of its clauses are releases of Gardener, not versions of
    /// the target.
    pub component: String,
    /// The release that is used if none is named: `v1.82.0`.
    pub default: String,
    /// The ranges of releases, oldest first.
    pub releases: Vec<Release>,
}

/// A range of releases that write the same objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// A release of the range, used for clauses that hold only for this range: `v1.98.0`.
    pub version: String,
    /// The range: `>=1.98`.
    pub versions: String,
    /// Fields that they add, by object: `deployment/kube-apiserver: {metadata: {labels: {…}}}`; `deployment/*` is
    /// every Deployment.
    #[serde(default)]
    pub adds: BTreeMap<String, Value>,
}

impl Releases {
    /// The range that contains a release.
    #[must_use]
    pub fn of(&self, gardener: &str) -> Option<&Release> {
        self.releases.iter().find(|release| covers(&release.versions, gardener))
    }

    /// The release that a clause is tested with if the target supports any: the default if the clause holds for it,
    /// else the first release that the clause holds for.
    #[must_use]
    pub fn usual(&self, versions: Option<&str>) -> &str {
        let holds = |gardener: &&str| versions.is_none_or(|range| covers(range, gardener));
        let known = self.releases.iter().map(|release| release.version.as_str());
        std::iter::once(self.default.as_str()).chain(known).find(holds).unwrap_or(&self.default)
    }

    /// Adds to the objects what this release adds.
    pub fn write(&self, gardener: &str, objects: &mut [Arc<Value>]) {
        for object in objects {
            if let Some(written) = self.written(gardener, object) {
                *object = Arc::new(written);
            }
        }
    }

    /// The object as this release writes it; `None`: the release adds nothing. Fields that the object already has stay.
    #[must_use]
    pub fn written(&self, gardener: &str, object: &Value) -> Option<Value> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text(&object["kind"]).to_lowercase(), text(&object["metadata"]["name"]));
        let is_meant = |key: &str| {
            key.split_once('/').is_some_and(|(of, named)| of == kind && (named == "*" || named == name))
        };
        let adds = &self.of(gardener)?.adds;
        let mut written = object.clone();
        adds.iter()
            .filter(|(key, _)| is_meant(key))
            .for_each(|(_, added)| add_missing_fields(&mut written, added));
        (written != *object).then_some(written)
    }
}

/// Whether a range covers a version; an invalid version is in no range.
fn covers(range: &str, version: &str) -> bool {
    let is_version = Range::parse(&format!("={version}")).is_some();
    is_version && Range::parse(range).is_some_and(|range| range.covers(version))
}

/// Adds missing fields.
fn add_missing_fields(object: &mut Value, added: &Value) {
    let (Some(object), Some(added)) = (object.as_object_mut(), added.as_object()) else { return };
    for (key, value) in added {
        match object.get_mut(key) {
            Some(found) if !found.is_null() => add_missing_fields(found, value),
            _ => drop(object.insert(key.clone(), value.clone())),
        }
    }
}

/// Reads a file of releases.
///
/// # Errors
/// When it is not YAML, has another kind or unknown fields, names unknown kinds or releases, or no range covers the default.
pub fn read(file: &SourceFile) -> Result<Releases, Error> {
    let file_content: ReleasesFile = file.read("Releases")?;
    let spec = file_content.spec;
    let nodes = formats::yaml::parse(&file.text).unwrap_or_default();
    let spec_node = nodes.first().and_then(|root| root.get("spec"));
    let items = spec_node.and_then(|spec| spec.get("releases")).and_then(Node::items).unwrap_or_default();
    let mark = |node: Option<&Node>| node.map_or_else(super::first, |node| node.start);
    let wrong = |mark: Mark, message: String, remedy: &str| {
        Err(file.error(mark, 1, message, Some(remedy.to_owned())))
    };
    for (release, node) in spec.releases.iter().zip(items) {
        if Range::parse(&release.versions).is_none() {
            let remedy = "write `>=1.98`, or several with commas: `>=1.80, <1.98`";
            return wrong(mark(node.get("versions")), "versions is not a valid range".to_owned(), remedy);
        }
        if !covers(&release.versions, &release.version) {
            let message = format!("release {} is not in the range {}", release.version, release.versions);
            return wrong(
                mark(node.get("version")),
                message,
                "name a release that the range covers: `version: v1.98.0`",
            );
        }
        for (key, added) in &release.adds {
            let at = mark(node.get("adds").and_then(|adds| adds.get(key)));
            if !is_known(key) || !added.is_object() {
                let message = format!("{key:?} is not a known object with fields to add");
                let remedy =
                    "write `deployment/kube-apiserver: {metadata: {labels: {…}}}`, or `deployment/*`";
                return wrong(at, message, remedy);
            }
        }
    }
    if spec.of(&spec.default).is_none() {
        let message = format!("no range covers the default {:?}", spec.default);
        let at = mark(spec_node.and_then(|spec| spec.get("default")));
        return wrong(at, message, "name a release that one of `releases` covers: `default: v1.82.0`");
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
    fn a_release_adds_fields_that_an_object_lacks() {
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
    fn a_clause_is_tested_with_the_default_release_if_it_holds_for_it() {
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
    fn errors_have_a_line() {
        let table = [
            ("\">=1.98\"", "new", 10, "not a valid range"),
            ("version: v1.98.0", "version: v1.97.0", 9, "not in the range >=1.98"),
            ("version: v1.98.0", "version: new", 9, "not in the range >=1.98"),
            ("deployment/a", "deploiment/a", 11, "not a known object"),
            ("default: v1.82.0", "default: new", 6, "no range covers"),
            ("adds:", "add:", 11, "add"),
        ];
        for (from, to, line, words) in table {
            let text = format!("{HEAD}{REST}").replace(from, to);
            let error = read(&SourceFile::new("releases.yaml", text)).unwrap_err();
            assert_eq!((error.location.line, error.message.contains(words)), (line, true), "{to}: {error}");
        }
    }
}
