//! A cluster that was there before the run: whose it is, and what an earlier run left in it.

use std::fs::{self, File, TryLockError};

use conformance::run::CASES;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::kind::Kind;

use super::installation::{InstallError, until};
use super::{broken, create, options, rollouts};
use crate::arguments::KindArguments;
use crate::environment;
use crate::terminal::{Failure, Terminal};

/// Where registrations are listed; their kinds.
const REGISTRATIONS: [(&str, &str); 2] = [
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
];

/// How many namespaces are named that do not go.
const NAMED: usize = 3;

/// That no other run asks in a cluster of this name; given back however this process ends.
pub(super) struct Claim(#[expect(dead_code, reason = "the lock is given back when the file is closed")] File);

impl Claim {
    /// Takes it.
    pub(super) fn of(name: &str) -> Result<Self, Failure> {
        let folder = environment::state_folder().join("kind");
        let path = folder.join(format!("{}.lock", name.to_lowercase()));
        let failed = |error: std::io::Error| {
            Failure::environment(format!("failed to claim the cluster in {}: {error}", path.display()))
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Failure::environment(format!(
                "another run asks in the cluster {name}, and would find what this one writes: wait for its end, or choose \
                 another --cluster"
            ))),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// The cluster of this name without what an earlier run left, or a new one; and whether it is new.
pub(super) async fn found_or_created(
    name: &str,
    arguments: &KindArguments,
    terminal: &Terminal,
) -> Result<(Kind, bool), Failure> {
    let options = options(name, arguments);
    let found = Kind::reuse(&options).await.map_err(|error| broken(&error))?;
    let Some(kind) = found else { return Ok((create(&options, terminal).await?, true)) };
    clear(&kind).await.map_err(|error| broken(&format!("failed to reuse the cluster {name}: {error}")))?;
    terminal.note(&format!("cluster {} is used again, and stays", kind.name()));
    Ok((kind, false))
}

/// Removes registrations and namespaces of an earlier run; those of others are not for this one to remove.
async fn clear(kind: &Kind) -> Result<(), InstallError> {
    let cluster = Cluster::new(kind.client().clone());
    let mut foreign = Vec::new();
    for (plural, named) in REGISTRATIONS {
        for found in list(kind, &format!("/apis/admissionregistration.k8s.io/v1/{plural}")).await? {
            if is_of_a_run(&found) {
                cluster.delete(&at("admissionregistration.k8s.io/v1", named, &found), "").await?;
            } else {
                foreign.push(name(&found));
            }
        }
    }
    if !foreign.is_empty() {
        return Err(InstallError::Foreign { names: foreign.join(", ") });
    }
    for found in left(kind).await? {
        cluster.delete(&at("v1", "Namespace", &found), "").await?;
    }
    until(|| async {
        let left = left(kind).await?;
        let answer = || {
            let names: Vec<String> = left.iter().take(NAMED).map(name).collect();
            format!("{} namespaces of an earlier run do not go, such as {}", left.len(), names.join(", "))
        };
        Ok::<_, InstallError>((!left.is_empty()).then(answer))
    })
    .await
}

/// Namespaces that an earlier run left.
async fn left(kind: &Kind) -> Result<Vec<Value>, InstallError> {
    let is_left = |found: &Value| name(found) == rollouts::NAMESPACE || name(found).starts_with(CASES);
    Ok(list(kind, "/api/v1/namespaces").await?.into_iter().filter(is_left).collect())
}

async fn list(kind: &Kind, path: &str) -> Result<Vec<Value>, InstallError> {
    let mut list =
        kind.ask(path).await.map_err(|answer| InstallError::Unlisted { path: path.to_owned(), answer })?;
    Ok(serde_json::from_value(list["items"].take()).unwrap_or_default())
}

/// Whether it sends requests to components that a run installs.
fn is_of_a_run(registration: &Value) -> bool {
    let mut webhooks = registration["webhooks"].as_array().into_iter().flatten();
    webhooks.all(|webhook| webhook["clientConfig"]["service"]["namespace"] == rollouts::NAMESPACE)
}

fn at(api_version: &str, kind: &str, found: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": found["metadata"]["name"]}})
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
