//! Reuses a kind cluster: locks it, and removes what an earlier run left in it.

use std::fs::{self, File, TryLockError};

use conformance::run::CASES;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::kind::Kind;

use super::installation::{InstallError, wait_until_none_missing};
use super::{create, environment_failure, options, rollouts};
use crate::arguments::KindArguments;
use crate::environment;
use crate::terminal::{Failure, Terminal};

/// Plurals and kinds of webhook configurations.
const REGISTRATIONS: [(&str, &str); 2] = [
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
];

/// How many namespaces an error names.
const EXAMPLES: usize = 3;

/// A lock that keeps other runs out of the cluster of a name. The system releases it when this process ends.
pub(super) struct Claim(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl Claim {
    /// Takes the lock.
    pub(super) fn of(name: &str) -> Result<Self, Failure> {
        let folder = environment::state_folder().join("kind");
        let path = folder.join(format!("{}.lock", name.to_lowercase()));
        let failed = |error: std::io::Error| {
            Failure::environment(format!("failed to lock the cluster with {}: {error}", path.display()))
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Failure::environment(format!(
                "another run uses the cluster {name}: wait for its end, or choose another --cluster"
            ))),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// The cluster of this name without what an earlier run left, or a new one; and whether it is new.
pub(super) async fn reuse_or_create(
    name: &str,
    arguments: &KindArguments,
    terminal: &Terminal,
) -> Result<(Kind, bool), Failure> {
    let options = options(name, arguments);
    let found = Kind::reuse(&options).await.map_err(|error| environment_failure(&error))?;
    let Some(kind) = found else { return Ok((create(&options, terminal).await?, true)) };
    remove_leftovers(&kind)
        .await
        .map_err(|error| environment_failure(&format!("failed to reuse the cluster {name}: {error}")))?;
    terminal.note(&format!("using the existing cluster {}, which stays", kind.name()));
    Ok((kind, false))
}

/// Deletes webhook configurations and namespaces of an earlier run. Refuses a cluster with webhooks of others.
async fn remove_leftovers(kind: &Kind) -> Result<(), InstallError> {
    let cluster = Cluster::new(kind.client().clone());
    let mut foreign = Vec::new();
    for (plural, registration_kind) in REGISTRATIONS {
        for found in list(kind, &format!("/apis/admissionregistration.k8s.io/v1/{plural}")).await? {
            if calls_rollouts_only(&found) {
                let registration = reference("admissionregistration.k8s.io/v1", registration_kind, &found);
                cluster.delete(&registration, "").await?;
            } else {
                foreign.push(name(&found));
            }
        }
    }
    if !foreign.is_empty() {
        return Err(InstallError::ForeignWebhooks { names: foreign.join(", ") });
    }
    for found in leftover_namespaces(kind).await? {
        cluster.delete(&reference("v1", "Namespace", &found), "").await?;
    }
    wait_until_none_missing(|| async {
        let left = leftover_namespaces(kind).await?;
        let answer = || {
            let names: Vec<String> = left.iter().take(EXAMPLES).map(name).collect();
            format!(
                "{} namespaces of an earlier run are not deleted yet, such as {}",
                left.len(),
                names.join(", ")
            )
        };
        Ok::<_, InstallError>((!left.is_empty()).then(answer))
    })
    .await
}

/// Namespaces that an earlier run left.
async fn leftover_namespaces(kind: &Kind) -> Result<Vec<Value>, InstallError> {
    let is_of_a_run = |found: &Value| name(found) == rollouts::NAMESPACE || name(found).starts_with(CASES);
    Ok(list(kind, "/api/v1/namespaces").await?.into_iter().filter(is_of_a_run).collect())
}

async fn list(kind: &Kind, path: &str) -> Result<Vec<Value>, InstallError> {
    let mut list =
        kind.ask(path).await.map_err(|answer| InstallError::List { path: path.to_owned(), answer })?;
    match list["items"].take() {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items),
        items => {
            Err(InstallError::List { path: path.to_owned(), answer: format!("items is no list: {items}") })
        }
    }
}

/// Whether all webhooks of a configuration are components that a run installs.
fn calls_rollouts_only(registration: &Value) -> bool {
    let mut webhooks = registration["webhooks"].as_array().into_iter().flatten();
    webhooks.all(|webhook| webhook["clientConfig"]["service"]["namespace"] == rollouts::NAMESPACE)
}

fn reference(api_version: &str, kind: &str, found: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": found["metadata"]["name"]}})
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
