//! Which objects something else scales: what HorizontalPodAutoscalers and HVPAs aim at.

use std::collections::BTreeSet;

use serde_json::Value;

use super::GroupKind;
use super::equivalence::Equivalences;
use super::reference::key;
use super::unstructured::{at, group_kind, group_version, name, namespace, text};

/// Keys of what is scaled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaled {
    horizontally: BTreeSet<String>,
    vertically: BTreeSet<String>,
}

/// An autoscaler aims at something whose `apiVersion` is none; the text is the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid API version in scaleTargetReference of HorizontalPodAutoscaler '{namespace}/{name}': unexpected GroupVersion string: {api_version}"
)]
pub struct TargetError {
    namespace: String,
    name: String,
    api_version: String,
}

impl Scaled {
    /// Takes note of an `autoscaling/v1 HorizontalPodAutoscaler`.
    ///
    /// # Errors
    /// When it aims at something whose `apiVersion` is none.
    pub fn add_hpa(&mut self, hpa: &Value) -> Result<(), TargetError> {
        let target = target(hpa, &["spec", "scaleTargetRef"])?;
        self.horizontally.insert(target);
        Ok(())
    }

    /// Takes note of an `autoscaling.k8s.io/v1alpha1 Hvpa`; one that aims at nothing scales nothing.
    ///
    /// # Errors
    /// When it aims at something whose `apiVersion` is none.
    pub fn add_hvpa(&mut self, hvpa: &Value) -> Result<(), TargetError> {
        let path = ["spec", "targetRef"];
        if at(hvpa, &path).is_none_or(Value::is_null) {
            return Ok(());
        }
        let target = target(hvpa, &path)?;
        let deploys = |scaler| at(hvpa, &["spec", scaler, "deploy"]).and_then(Value::as_bool) == Some(true);
        if deploys("hpa") {
            self.horizontally.insert(target.clone());
        }
        if deploys("vpa") {
            self.vertically.insert(target);
        }
        Ok(())
    }

    /// Whether the replicas of an object are scaled, maybe under an equivalent kind.
    #[must_use]
    pub fn is_horizontally(&self, object: &Value, equivalences: &Equivalences) -> bool {
        has(&self.horizontally, object, equivalences)
    }

    /// Whether the resources of an object's containers are scaled, maybe under an equivalent kind.
    #[must_use]
    pub fn is_vertically(&self, object: &Value, equivalences: &Equivalences) -> bool {
        has(&self.vertically, object, equivalences)
    }
}

/// The target lives where the autoscaler does.
fn target(scaler: &Value, path: &[&str]) -> Result<String, TargetError> {
    let reference = at(scaler, path).unwrap_or(&Value::Null);
    let api_version = text(reference, &["apiVersion"]);
    let (group, _) = group_version(api_version).ok_or_else(|| TargetError {
        namespace: namespace(scaler).to_owned(),
        name: name(scaler).to_owned(),
        api_version: api_version.to_owned(),
    })?;
    let kind = GroupKind { group: group.to_owned(), kind: text(reference, &["kind"]).to_owned() };
    Ok(key(&kind, namespace(scaler), text(reference, &["name"])))
}

fn has(keys: &BTreeSet<String>, object: &Value, equivalences: &Equivalences) -> bool {
    if keys.is_empty() {
        return false;
    }
    let kind = group_kind(object);
    let mut kinds = [&kind].into_iter().chain(equivalences.of(&kind));
    kinds.any(|kind| keys.contains(&key(kind, namespace(object), name(object))))
}
