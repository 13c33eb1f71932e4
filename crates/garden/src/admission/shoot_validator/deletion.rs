//! When a Shoot may be deleted, and when its finalizer may go.

use api::garden::{FINALIZER, Shoot};
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::scheduling::moving;

/// A Shoot that moves to another Seed is not deleted; one that Gardener made keeps its finalizer until it is gone:
/// GPL-SHVAL-035, GPL-SHVAL-036.
pub(super) fn check(operation: Operation, shoot: &Shoot, old: &Shoot) -> Result<(), Rejection> {
    if let (Operation::Delete, Some(last)) = (operation, moving(shoot)) {
        let (type_, state) = (&last.type_, &last.state);
        return Err(Rejection::forbidden(format!(
            "cannot mark shoot for deletion during {type_} operation that is in state {state}"
        )));
    }
    let has_finalizer =
        |shoot: &Shoot| shoot.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER);
    let Some(last) = &shoot.status.last_operation else { return Ok(()) };
    let is_removed = has_finalizer(old) && !has_finalizer(shoot);
    let is_gone = last.type_ == "Delete" && last.state == "Succeeded" && last.progress == 100;
    if is_removed && !is_gone && !shoot.status.technical_id.is_empty() {
        return Err(Rejection::forbidden(format!(
            "finalizer {FINALIZER:?} cannot be removed because shoot deletion has not completed successfully yet"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_testing::outcome;

    #[rstest]
    #[case::no_operation(Value::Null, "")]
    #[case::reconciled(json!({"type": "Reconcile", "state": "Succeeded"}), "")]
    #[case::migrated(
        json!({"type": "Migrate", "state": "Succeeded"}),
        "cannot mark shoot for deletion during Migrate operation that is in state Succeeded",
    )]
    #[case::being_restored(
        json!({"type": "Restore", "state": "Pending"}),
        "cannot mark shoot for deletion during Restore operation that is in state Pending",
    )]
    #[case::restored(json!({"type": "Restore", "state": "Succeeded"}), "")]
    fn a_shoot_on_its_way_is_not_deleted(#[case] last: Value, #[case] want: &str) {
        let shoot: Shoot = serde_json::from_value(json!({"status": {"lastOperation": last}})).unwrap();
        let code = if want.is_empty() { 0 } else { 403 };
        let deleted = check(Operation::Delete, &shoot, &Shoot::default());
        assert_eq!(outcome(deleted), (code, want.to_owned()));
        assert_eq!(check(Operation::Update, &shoot, &Shoot::default()), Ok(()));
    }

    #[rstest]
    #[case::deleted(json!({"type": "Delete", "state": "Succeeded", "progress": 100}), "id", 0)]
    #[case::not_done(json!({"type": "Delete", "state": "Succeeded", "progress": 99}), "id", 403)]
    #[case::failed(json!({"type": "Delete", "state": "Error", "progress": 100}), "id", 403)]
    #[case::other(json!({"type": "Create", "state": "Succeeded", "progress": 100}), "id", 403)]
    #[case::never_made(json!({"type": "Create", "state": "Processing"}), "", 0)]
    #[case::no_operation(Value::Null, "id", 0)]
    fn the_finalizer_stays_until_the_shoot_is_gone(#[case] last: Value, #[case] id: &str, #[case] code: u16) {
        let with = |finalizers: Value| -> Shoot {
            let status = json!({"lastOperation": last, "technicalID": id});
            serde_json::from_value(json!({"metadata": {"finalizers": finalizers}, "status": status})).unwrap()
        };
        let (old, new) = (with(json!(["gardener"])), with(json!(["other"])));
        let text = "finalizer \"gardener\" cannot be removed because shoot deletion has not completed successfully yet";
        let want = if code == 0 { "" } else { text };
        assert_eq!(outcome(check(Operation::Update, &new, &old)), (code, want.to_owned()));
        assert_eq!(check(Operation::Update, &old, &old), Ok(()));
        assert_eq!(check(Operation::Update, &old, &new), Ok(()));
    }
}
