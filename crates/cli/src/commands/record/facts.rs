//! Reads the objects that a webhook may need for a recorded request.

use conformance::exchange::Subject;
use conformance::recording;
use serde_json::{Value, json};
use substrate::cluster::{self, Cluster};

use crate::terminal::{Failure, Terminal};

/// The objects that are recorded with each case.
pub(super) struct CaseFacts {
    /// API version, kind and name of the objects of `--fact`.
    named: Vec<(String, String, String)>,
}

impl CaseFacts {
    /// Parses the values of `--fact`: `RESOURCE/NAME`.
    pub(super) fn parse(values: &[String]) -> Result<Self, Failure> {
        let named = values.iter().map(|value| {
let (resource, name) = value.split_once('/').unwrap_or((value, ""));
            if name.is_empty() || name.contains('/') {
                let remedy = "write RESOURCE/NAME, such as configmaps/cloud-config";
                return Err(Failure::usage(format!("--fact {value}: this does not name an object; {remedy}")));
            }
            let found = cluster::collection_of(resource).map_err(|_| {
                let remedy = "write the plural, and the group if there is one, such as infrastructures.extensions.gardener.cloud";
                Failure::usage(format!("--fact {value}: unknown resource {resource:?}; {remedy}"))
            })?;
            let version = if found.group.is_empty() { String::new() } else { format!("{}/", found.group) };
            Ok((format!("{version}{}", found.version), found.kind.clone(), name.to_owned()))
        });
        Ok(Self { named: named.collect::<Result<_, _>>()? })
    }

    /// Reads the Shoot's Cluster and the objects of `--fact`, as far as they exist.
    pub(super) async fn read_for(
        &self,
        cluster: &Cluster,
        subject: &Subject,
        terminal: &Terminal,
    ) -> Result<Vec<Value>, Failure> {
        let mut found = Vec::new();
        if subject.namespaced {
            let shoot = object("extensions.gardener.cloud/v1alpha1", "Cluster", &subject.namespace, "");
            found.extend(read(cluster, &shoot).await?);
        }
        for (version, kind, name) in &self.named {
            let wanted = object(version, kind, name, &subject.namespace);
            if let Some(fact) = read(cluster, &wanted).await? {
                found.push(fact);
                continue;
            }
            let place = wanted["metadata"]["namespace"].as_str();
            let place = place.map(|namespace| format!(" in {namespace}")).unwrap_or_default();
            terminal.note(&format!("  ! --fact: there is no {kind} {name}{place}"));
        }
        Ok(found)
    }
}

/// Reads the namespace of the request; `None` if it has neither labels nor annotations, as cases then need not contain it.
pub(super) async fn read_namespace(cluster: &Cluster, subject: &Subject) -> Result<Option<Value>, Failure> {
    if !subject.namespaced {
        return Ok(None);
    }
    let found = read(cluster, &object("v1", "Namespace", &subject.namespace, "")).await?;
    Ok(found.filter(has_labels_or_annotations))
}

fn has_labels_or_annotations(namespace: &Value) -> bool {
    let has = |field: &str, ignored: &str| {
        let keys = namespace["metadata"][field].as_object();
        keys.is_some_and(|keys| keys.keys().any(|key| key != ignored))
    };
    has("labels", "kubernetes.io/metadata.name") || has("annotations", "")
}

fn object(version: &str, kind: &str, name: &str, namespace: &str) -> Value {
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object
}

/// Reads an object without its secrets; `None` if it, or its kind, does not exist.
async fn read(cluster: &Cluster, object: &Value) -> Result<Option<Value>, Failure> {
    let reply = cluster.get(object).await.map_err(|error| Failure::environment(error.to_string()))?;
    match reply.code {
        404 => Ok(None),
        _ if reply.is_success() => Ok(Some(recording::kept(&reply.body))),
        _ => {
            let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
            let (kind, name) = (kind.as_str().unwrap_or_default(), name.as_str().unwrap_or_default());
            Err(Failure::environment(format!("failed to read {kind} {name}: {}", reply.message())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_with_a_namespaces_name_does_not_count() {
        let table = [
            (json!({"name": "a"}), false),
            (json!({"labels": {"kubernetes.io/metadata.name": "a"}}), false),
            (json!({"labels": {"kubernetes.io/metadata.name": "a", "b": "c"}}), true),
            (json!({"annotations": {"b": "c"}}), true),
        ];
        for (metadata, want) in table {
            assert_eq!(has_labels_or_annotations(&json!({"metadata": metadata})), want);
        }
    }

    #[test]
    fn facts_are_named_by_resource_and_name() {
        let parse = |text: &str| CaseFacts::parse(&[text.to_owned()]);
        let parsed =
            parse("infrastructures.extensions.gardener.cloud/a").map_err(|failure| failure.text).unwrap();
        let want = ["extensions.gardener.cloud/v1alpha1", "Infrastructure", "a"].map(str::to_owned);
        assert_eq!(parsed.named, [want.into()]);
        for wrong in ["configmaps", "configmaps/", "configmaps/a/b", "nonsense/a"] {
            assert!(parse(wrong).is_err_and(|failure| failure.code == 2 && failure.text.contains(wrong)));
        }
    }
}
