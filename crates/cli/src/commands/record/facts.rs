//! What stands around the object that a webhook is asked about, and what it may read there.

use conformance::exchange::Subject;
use conformance::recording;
use serde_json::{Value, json};
use substrate::cluster::{self, Cluster};

use crate::terminal::{Failure, Terminal};

/// Objects that are kept beside each case.
pub(super) struct Facts {
    /// API version, kind and name.
    named: Vec<(String, String, String)>,
}

impl Facts {
    /// Reads `RESOURCE/NAME`.
    pub(super) fn read(wanted: &[String]) -> Result<Self, Failure> {
        let named = wanted.iter().map(|wanted| {
            let (resource, name) = wanted.split_once('/').unwrap_or((wanted, ""));
            if name.is_empty() || name.contains('/') {
                let remedy = "write RESOURCE/NAME, such as configmaps/cloud-config";
                return Err(Failure::usage(format!("--fact {wanted}: it names no object; {remedy}")));
            }
            let found = cluster::collection_of(resource).map_err(|_| {
                let remedy = "write its plural, and its group where it has one: infrastructures.extensions.gardener.cloud";
                Failure::usage(format!("--fact {wanted}: no resource {resource:?} is known; {remedy}"))
            })?;
            let version = if found.group.is_empty() { String::new() } else { format!("{}/", found.group) };
            Ok((format!("{version}{}", found.version), found.kind.clone(), name.to_owned()))
        });
        Ok(Self { named: named.collect::<Result<_, _>>()? })
    }

    /// What of it is there: the shoot's Cluster, and what was named.
    pub(super) async fn of(
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
            match read(cluster, &wanted).await? {
                Some(fact) => found.push(fact),
                None => terminal.note(&format!("  ! {kind} {name} is not there: --fact")),
            }
        }
        Ok(found)
    }
}

/// The namespace of what is asked about; nothing where it says no more than its name, so that nobody has to write it.
pub(super) async fn namespace(cluster: &Cluster, subject: &Subject) -> Result<Option<Value>, Failure> {
    if !subject.namespaced {
        return Ok(None);
    }
    let found = read(cluster, &object("v1", "Namespace", &subject.namespace, "")).await?;
    Ok(found.filter(says_something))
}

fn says_something(namespace: &Value) -> bool {
    let has = |field: &str, but: &str| {
        let keys = namespace["metadata"][field].as_object();
        keys.is_some_and(|keys| keys.keys().any(|key| key != but))
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

/// An object without its secrets; nothing where it, or its kind, is not there.
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
    fn a_namespace_says_something_by_labels_and_annotations() {
        let table = [
            (json!({"name": "a"}), false),
            (json!({"labels": {"kubernetes.io/metadata.name": "a"}}), false),
            (json!({"labels": {"kubernetes.io/metadata.name": "a", "b": "c"}}), true),
            (json!({"annotations": {"b": "c"}}), true),
        ];
        for (metadata, want) in table {
            assert_eq!(says_something(&json!({"metadata": metadata})), want);
        }
    }

    #[test]
    fn facts_are_named_by_resource_and_name() {
        let read = |text: &str| Facts::read(&[text.to_owned()]);
        let known =
            read("infrastructures.extensions.gardener.cloud/a").map_err(|failure| failure.text).unwrap();
        let want = ["extensions.gardener.cloud/v1alpha1", "Infrastructure", "a"].map(str::to_owned);
        assert_eq!(known.named, [want.into()]);
        for wrong in ["configmaps", "configmaps/", "configmaps/a/b", "nonsense/a"] {
            assert!(read(wrong).is_err_and(|failure| failure.code == 2 && failure.text.contains(wrong)));
        }
    }
}
