//! What follows from the state of a SecretBinding.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::garden::Quota;
use kube::ResourceExt as _;

use super::{EXTERNAL_FINALIZER, QuotaState, SecretMetadata, State};
use crate::controllers::finalizer;
use crate::controllers::labels::{SECRET_BINDING_REFERENCE, SHOOT_PROVIDER_PREFIX};

/// What to do with a SecretBinding and what it refers to.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    AddFinalizer,
    RemoveFinalizer,
    /// Report why the SecretBinding cannot be deleted yet.
    Refuse(String),
    /// Report that an object does not exist.
    Missing {
        kind: &'static str,
        name: String,
    },
    LabelQuota(Arc<Quota>),
    UnlabelQuota(Arc<Quota>),
    Secret(SecretChange),
}

/// A change of the Secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SecretChange {
    AddFinalizer,
    RemoveFinalizer,
    /// Add this label for a type of provider.
    LabelProvider(String),
    /// Add the label that SecretBindings refer to it.
    LabelReference,
    /// Remove these labels.
    Unlabel(Vec<String>),
}

/// The actions, in order; one that reports something ends the reconciliation.
pub(super) fn plan(state: &State) -> Vec<Action> {
    let has_finalizer = finalizer::is_present(&*state.binding);
    match (state.binding.metadata.deletion_timestamp.is_some(), has_finalizer) {
        (true, false) => Vec::new(),
        (true, true) => deletion(state),
        (false, _) => protection(state, has_finalizer),
    }
}

/// GCM-SBD-001 to -006: finalizers and labels while the SecretBinding exists.
fn protection(state: &State, has_finalizer: bool) -> Vec<Action> {
    let mut actions = Vec::new();
    if !has_finalizer {
        actions.push(Action::AddFinalizer);
    }
    let Some(secret) = &state.secret else {
        let name = state.binding.secret_ref.name.clone().unwrap_or_default();
        actions.push(Action::Missing { kind: "Secret", name });
        return actions;
    };
    if !finalizer::has(secret, EXTERNAL_FINALIZER) {
        actions.push(Action::Secret(SecretChange::AddFinalizer));
    }
    let types = state.binding.provider.iter().flat_map(|provider| provider.type_.split(','));
    let labels = types.map(|kind| format!("{SHOOT_PROVIDER_PREFIX}{kind}"));
    let missing = labels.filter(|label| !secret.labels().contains_key(label));
    actions.extend(missing.map(|label| Action::Secret(SecretChange::LabelProvider(label))));
    for state in &state.quotas {
        let Some(quota) = &state.quota else {
            actions.push(missing_quota(state));
            return actions;
        };
        if !quota.labels().contains_key(SECRET_BINDING_REFERENCE) {
            actions.push(Action::LabelQuota(quota.clone()));
        }
    }
    if !secret.labels().contains_key(SECRET_BINDING_REFERENCE) {
        actions.push(Action::Secret(SecretChange::LabelReference));
    }
    actions
}

/// GCM-SBD-010 to -017: labels and finalizers go once nothing refers to the SecretBinding.
fn deletion(state: &State) -> Vec<Action> {
    if !state.shoots.is_empty() {
        let begin = "Cannot delete SecretBinding, because the following Shoots are still referencing it";
        return vec![Action::Refuse(format!("{begin}: [{}]", state.shoots.join(" ")))];
    }
    let secret = state.secret.iter().filter(|_| !state.is_secret_shared);
    let mut actions: Vec<Action> = secret.flat_map(release).map(Action::Secret).collect();
    for state in state.quotas.iter().filter(|state| !state.is_shared) {
        let Some(quota) = &state.quota else {
            // The original does not delete a SecretBinding whose Quota is gone.
            actions.push(missing_quota(state));
            return actions;
        };
        if quota.labels().contains_key(SECRET_BINDING_REFERENCE) {
            actions.push(Action::UnlabelQuota(quota.clone()));
        }
    }
    actions.push(Action::RemoveFinalizer);
    actions
}

/// GCM-SBD-011: like the original, removes one provider label, and keeps those of further providers.
fn release(secret: &SecretMetadata) -> Vec<SecretChange> {
    let labels: &BTreeMap<String, String> = secret.labels();
    let provider = labels.keys().find(|label| label.starts_with(SHOOT_PROVIDER_PREFIX));
    let reference = labels.keys().find(|label| *label == SECRET_BINDING_REFERENCE);
    let removed: Vec<String> = reference.into_iter().chain(provider).cloned().collect();
    let unlabel = (!removed.is_empty()).then_some(SecretChange::Unlabel(removed));
    let finalizer = finalizer::has(secret, EXTERNAL_FINALIZER).then_some(SecretChange::RemoveFinalizer);
    unlabel.into_iter().chain(finalizer).collect()
}

fn missing_quota(state: &QuotaState) -> Action {
    let name = state.reference.name.clone().unwrap_or_default();
    Action::Missing { kind: "Quota.core.gardener.cloud", name }
}
