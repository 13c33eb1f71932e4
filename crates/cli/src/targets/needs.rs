//! Reads the objects that a target needs in its cluster before it starts (`needs` in a target file).

use std::error::Error as _;
use std::fs;
use std::path::PathBuf;

use conformance::target::Needs;
use schema::Crd;
use serde_json::Value;

use crate::terminal::Failure;

/// Reads the objects of the files.
pub(super) fn read(files: impl Iterator<Item = PathBuf>) -> Result<Needs, Failure> {
    let mut needs = Needs::default();
    for file in files {
        let wrong = |reason: String| {
            let remedy = "`needs` must name YAML files with objects, relative to the target file";
            Failure::usage(format!("failed to read {}: {reason}; {remedy}", file.display()))
        };
        let text = fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
        let objects = formats::yaml::documents(&text).map_err(|error| wrong(error.to_string()))?;
        for (at, object) in objects.into_iter().filter(|object| !object.is_null()).enumerate() {
            let added = add(&mut needs, object);
            added.map_err(|reason| wrong(format!("object {}: {reason}", at + 1)))?;
        }
    }
    Ok(needs)
}

fn add(needs: &mut Needs, object: Value) -> Result<(), String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    if text(&object["apiVersion"]).is_empty() || kind.is_empty() || name.is_empty() {
        return Err("apiVersion, kind or metadata.name is missing".to_owned());
    }
    if kind == "CustomResourceDefinition" {
        let crd = Crd::from_value(object).map_err(|error| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })?;
        needs.crds.push(crd);
    } else {
        needs.objects.push(object);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GARDEN: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: garden}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bastions.operations.gardener.cloud}
spec:
  group: operations.gardener.cloud
  scope: Namespaced
  names: {kind: Bastion, plural: bastions}
  versions: [{name: v1alpha1, served: true, storage: true}]
";

    #[test]
    fn crds_are_separated_from_other_objects() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("garden.yaml");
        fs::write(&file, GARDEN).unwrap();
        let needs = read([file].into_iter()).unwrap();
        assert_eq!(
            needs.crds.iter().map(Crd::name).collect::<Vec<_>>(),
            ["bastions.operations.gardener.cloud"]
        );
        assert_eq!(
            needs.objects.iter().map(|object| &object["metadata"]["name"]).collect::<Vec<_>>(),
            ["garden"]
        );
    }

    #[test]
    fn invalid_objects_are_reported_with_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("garden.yaml");
        let table = [
            ("a: [", "garden.yaml"),
            (
                "kind: Namespace\nmetadata: {name: a}\n",
                "object 1: apiVersion, kind or metadata.name is missing",
            ),
            (
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n",
                "spec",
            ),
        ];
        for (text, words) in table {
            fs::write(&file, text).unwrap();
            let failure = read([file.clone()].into_iter()).unwrap_err();
            assert!(failure.text.contains(words) && failure.text.contains("`needs`"), "{}", failure.text);
        }
        assert!(read([folder.path().join("none.yaml")].into_iter()).is_err());
    }
}
