//! Operations that the annotation of a Garden requests, and what they do to the rotation of its credentials.

use api::gardener::OPERATION;
use api::operator::Garden;
use api::operator::credentials::{Credentials, CredentialsRotation};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use self::Credential::{AccountKey, Authorities, EncryptionKey};

const PREPARING: &str = "Preparing";
const PREPARED: &str = "Prepared";
const COMPLETING: &str = "Completing";
const COMPLETED: &str = "Completed";

/// A requested operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedOperation {
    /// Reconcile, and nothing else.
    Reconcile,
    /// Begin rotations.
    Start(&'static [Credential], WithObservability),
    /// Complete rotations.
    Complete(&'static [Credential]),
}

/// Whether the passwords of observability are rotated, too: they need one step alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WithObservability {
    Yes,
    No,
}

/// Credentials that are rotated in two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Credential {
    Authorities,
    AccountKey,
    EncryptionKey,
}

/// All of them.
const ALL: &[Credential] = &[Authorities, AccountKey, EncryptionKey];

/// The state of a rotation in two steps.
struct TwoSteps<'a> {
    phase: &'a mut String,
    begun: &'a mut Option<Time>,
    prepared: &'a mut Option<Time>,
    completing: &'a mut Option<Time>,
    completed: &'a mut Option<Time>,
}

/// The operation that a Garden requests; `None` without one, or if it is none that the operator knows.
pub(super) fn requested(garden: &Garden) -> Option<RequestedOperation> {
    let none = WithObservability::No;
    Some(match garden.metadata.annotations.as_ref()?.get(OPERATION)?.as_str() {
        "reconcile" => RequestedOperation::Reconcile,
        "rotate-credentials-start" => RequestedOperation::Start(ALL, WithObservability::Yes),
        "rotate-credentials-complete" => RequestedOperation::Complete(ALL),
        "rotate-ca-start" => RequestedOperation::Start(&[Authorities], none),
        "rotate-ca-complete" => RequestedOperation::Complete(&[Authorities]),
        "rotate-serviceaccount-key-start" => RequestedOperation::Start(&[AccountKey], none),
        "rotate-serviceaccount-key-complete" => RequestedOperation::Complete(&[AccountKey]),
        "rotate-etcd-encryption-key-start" => RequestedOperation::Start(&[EncryptionKey], none),
        "rotate-etcd-encryption-key-complete" => RequestedOperation::Complete(&[EncryptionKey]),
        "rotate-observability-credentials" => RequestedOperation::Start(&[], WithObservability::Yes),
        _ => return None,
    })
}

/// The credentials of a Garden when an operation begins.
pub(super) fn begun(
    garden: &Garden,
    operation: Option<RequestedOperation>,
    now: Timestamp,
) -> Option<Credentials> {
    let (mut credentials, now) = (garden.status.credentials.clone(), Time(now));
    match operation {
        None | Some(RequestedOperation::Reconcile) => {}
        Some(RequestedOperation::Start(chosen, observability)) => {
            let rotation = rotation_of(&mut credentials);
            for credential in chosen {
                credential.steps(rotation).start(&now);
            }
            if observability == WithObservability::Yes {
                rotation.observability.get_or_insert_default().last_initiation_time = Some(now);
            }
        }
        Some(RequestedOperation::Complete(chosen)) => {
            let rotation = rotation_of(&mut credentials);
            for credential in chosen {
                credential.steps(rotation).complete(&now);
            }
        }
    }
    credentials
}

/// The credentials of a Garden when it has been reconciled: each step that was taken has ended.
pub(super) fn ended(garden: &Garden, now: Timestamp) -> Option<Credentials> {
    let mut credentials = garden.status.credentials.clone()?;
    let Some(rotation) = credentials.rotation.as_mut() else { return Some(credentials) };
    let now = Time(now);
    if rotation.certificate_authorities.is_some() {
        Authorities.steps(rotation).end(&now);
    }
    if rotation.service_account_key.is_some() {
        AccountKey.steps(rotation).end(&now);
    }
    if rotation.etcd_encryption_key.is_some() {
        EncryptionKey.steps(rotation).end(&now);
    }
    if let Some(observability) = rotation.observability.as_mut() {
        let begun = observability.last_initiation_time.as_ref();
        let is_open = |begun: &Time| {
            observability.last_completion_time.as_ref().is_none_or(|completed| completed.0 < begun.0)
        };
        if begun.is_some_and(is_open) {
            observability.last_completion_time = Some(now);
        }
    }
    Some(credentials)
}

fn rotation_of(credentials: &mut Option<Credentials>) -> &mut CredentialsRotation {
    credentials.get_or_insert_default().rotation.get_or_insert_default()
}

impl Credential {
    /// Its rotation, which begins to be there if it was not.
    fn steps(self, rotation: &mut CredentialsRotation) -> TwoSteps<'_> {
        match self {
            Self::Authorities => {
                let of = rotation.certificate_authorities.get_or_insert_default();
                TwoSteps {
                    phase: &mut of.phase,
                    begun: &mut of.last_initiation_time,
                    prepared: &mut of.last_initiation_finished_time,
                    completing: &mut of.last_completion_triggered_time,
                    completed: &mut of.last_completion_time,
                }
            }
            Self::AccountKey => {
                let of = rotation.service_account_key.get_or_insert_default();
                TwoSteps {
                    phase: &mut of.phase,
                    begun: &mut of.last_initiation_time,
                    prepared: &mut of.last_initiation_finished_time,
                    completing: &mut of.last_completion_triggered_time,
                    completed: &mut of.last_completion_time,
                }
            }
            Self::EncryptionKey => {
                let of = rotation.etcd_encryption_key.get_or_insert_default();
                TwoSteps {
                    phase: &mut of.phase,
                    begun: &mut of.last_initiation_time,
                    prepared: &mut of.last_initiation_finished_time,
                    completing: &mut of.last_completion_triggered_time,
                    completed: &mut of.last_completion_time,
                }
            }
        }
    }
}

impl TwoSteps<'_> {
    /// Begins the rotation. One that has begun goes on: its annotation could not be removed, and a new time would make a third
    /// Secret.
    fn start(self, now: &Time) {
        if self.phase == PREPARING {
            return;
        }
        PREPARING.clone_into(self.phase);
        *self.begun = Some(now.clone());
        *self.prepared = None;
        *self.completing = None;
    }

    /// Completes the rotation, unless its completion has begun.
    fn complete(self, now: &Time) {
        if self.phase == COMPLETING {
            return;
        }
        COMPLETING.clone_into(self.phase);
        *self.completing = Some(now.clone());
    }

    /// Ends the step that was taken, if one was.
    fn end(self, now: &Time) {
        match self.phase.as_str() {
            PREPARING => {
                PREPARED.clone_into(self.phase);
                *self.prepared = Some(now.clone());
            }
            COMPLETING => {
                COMPLETED.clone_into(self.phase);
                *self.completed = Some(now.clone());
                *self.prepared = None;
                *self.completing = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2023-11-14T22:13:20Z";
    const BEFORE: &str = "2023-11-01T00:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    fn garden(operation: &str, rotation: &Value) -> Garden {
        let garden = json!({
            "metadata": {"name": "garden", "annotations": {"gardener.cloud/operation": operation}},
            "status": {"credentials": {"rotation": rotation}},
        });
        serde_json::from_value(garden).unwrap()
    }

    fn after_begin(operation: &str, rotation: &Value) -> Value {
        let garden = garden(operation, rotation);
        json!(begun(&garden, requested(&garden), now()).unwrap().rotation)
    }

    #[rstest]
    #[case::reconcile("reconcile", &json!({}), &json!({}))]
    #[case::ca("rotate-ca-start", &json!({}), &json!({
        "certificateAuthorities": {"phase": "Preparing", "lastInitiationTime": NOW},
    }))]
    #[case::account_key("rotate-serviceaccount-key-start", &json!({}), &json!({
        "serviceAccountKey": {"phase": "Preparing", "lastInitiationTime": NOW},
    }))]
    #[case::encryption_key("rotate-etcd-encryption-key-start", &json!({}), &json!({
        "etcdEncryptionKey": {"phase": "Preparing", "lastInitiationTime": NOW},
    }))]
    #[case::observability("rotate-observability-credentials", &json!({}), &json!({
        "observability": {"lastInitiationTime": NOW},
    }))]
    #[case::all("rotate-credentials-start", &json!({}), &json!({
        "certificateAuthorities": {"phase": "Preparing", "lastInitiationTime": NOW},
        "serviceAccountKey": {"phase": "Preparing", "lastInitiationTime": NOW},
        "etcdEncryptionKey": {"phase": "Preparing", "lastInitiationTime": NOW},
        "observability": {"lastInitiationTime": NOW},
    }))]
    #[case::again(
        "rotate-ca-start",
        &json!({"certificateAuthorities": {
            "phase": "Completed", "lastInitiationTime": BEFORE, "lastCompletionTime": BEFORE,
        }}),
        &json!({"certificateAuthorities": {
            "phase": "Preparing", "lastInitiationTime": NOW, "lastCompletionTime": BEFORE,
        }}),
    )]
    #[case::begun_already(
        "rotate-ca-start",
        &json!({"certificateAuthorities": {"phase": "Preparing", "lastInitiationTime": BEFORE}}),
        &json!({"certificateAuthorities": {"phase": "Preparing", "lastInitiationTime": BEFORE}}),
    )]
    #[case::complete(
        "rotate-ca-complete",
        &json!({"certificateAuthorities": {"phase": "Prepared", "lastInitiationFinishedTime": BEFORE}}),
        &json!({"certificateAuthorities": {
            "phase": "Completing", "lastInitiationFinishedTime": BEFORE, "lastCompletionTriggeredTime": NOW,
        }}),
    )]
    #[case::complete_all("rotate-credentials-complete", &json!({}), &json!({
        "certificateAuthorities": {"phase": "Completing", "lastCompletionTriggeredTime": NOW},
        "serviceAccountKey": {"phase": "Completing", "lastCompletionTriggeredTime": NOW},
        "etcdEncryptionKey": {"phase": "Completing", "lastCompletionTriggeredTime": NOW},
    }))]
    fn an_operation_begins_a_phase(#[case] operation: &str, #[case] before: &Value, #[case] after: &Value) {
        assert_eq!(after_begin(operation, before), *after);
    }

    #[test]
    fn other_values_are_no_operations() {
        assert_eq!(requested(&garden("rotate-everything", &json!({}))), None);
        assert_eq!(requested(&Garden::default()), None);
    }

    #[rstest]
    #[case::prepared(
        &json!({"certificateAuthorities": {"phase": "Preparing", "lastInitiationTime": BEFORE}}),
        &json!({"certificateAuthorities": {
            "phase": "Prepared", "lastInitiationTime": BEFORE, "lastInitiationFinishedTime": NOW,
        }}),
    )]
    #[case::completed(
        &json!({"etcdEncryptionKey": {
            "phase": "Completing", "lastInitiationTime": BEFORE, "lastInitiationFinishedTime": BEFORE,
            "lastCompletionTriggeredTime": BEFORE,
        }}),
        &json!({"etcdEncryptionKey": {
            "phase": "Completed", "lastInitiationTime": BEFORE, "lastCompletionTime": NOW,
        }}),
    )]
    #[case::between_the_steps(
        &json!({"serviceAccountKey": {"phase": "Prepared", "lastInitiationTime": BEFORE}}),
        &json!({"serviceAccountKey": {"phase": "Prepared", "lastInitiationTime": BEFORE}}),
    )]
    #[case::observability(
        &json!({"observability": {"lastInitiationTime": BEFORE}}),
        &json!({"observability": {"lastInitiationTime": BEFORE, "lastCompletionTime": NOW}}),
    )]
    #[case::observability_ended(
        &json!({"observability": {"lastInitiationTime": BEFORE, "lastCompletionTime": BEFORE}}),
        &json!({"observability": {"lastInitiationTime": BEFORE, "lastCompletionTime": BEFORE}}),
    )]
    fn success_ends_a_phase(#[case] before: &Value, #[case] after: &Value) {
        let credentials = ended(&garden("", before), now()).unwrap();
        assert_eq!(json!(credentials.rotation), *after);
    }
}
