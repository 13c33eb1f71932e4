//! Which changes trigger the check of a Garden.

use api::garden::condition::{Condition, LastOperation};
use api::operator::Garden;
use api::resources::{ManagedResource, RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING};
use controller::{Event, Request, Store, Watch};

const PROCESSING: &str = "Processing";

/// OPR-CAR-014: a Garden triggers itself when it appears, and when its reconciliation has succeeded.
pub(super) fn gardens(store: &Store<Garden>) -> Watch<Garden> {
    Watch::of(store).filter(|event| match event {
        Event::Create(_) => true,
        Event::Update { old, new } => has_finished(old, new),
        Event::Delete(_) | Event::Generic(_) => false,
    })
}

/// OPR-CAR-015: a ManagedResource triggers the Garden when it is created, deleted, or its conditions change. During a
/// reconciliation of the Garden so many change that they do not trigger it.
pub(super) fn managed_resources(
    store: &Store<ManagedResource>,
    gardens: &Store<Garden>,
) -> Watch<ManagedResource> {
    let gardens = gardens.clone();
    let changed = |event: &Event<ManagedResource>| {
        event.old().is_none_or(|old| have_changed(&old.status.conditions, &event.object().status.conditions))
    };
    Watch::of(store).filter(changed).map_new(move |_| {
        let garden = gardens.list().into_iter().next()?;
        (!is(operation(&garden), PROCESSING)).then(|| Request::of(&*garden))
    })
}

fn operation(garden: &Garden) -> Option<&LastOperation> {
    garden.status.last_operation.as_ref()
}

fn is(operation: Option<&LastOperation>, state: &str) -> bool {
    operation.is_some_and(|operation| operation.state == state)
}

fn has_finished(old: &Garden, new: &Garden) -> bool {
    let reconciles =
        |garden| operation(garden).filter(|operation: &&LastOperation| operation.type_ != "Delete");
    is(reconciles(old), PROCESSING) && is(reconciles(new), "Succeeded")
}

fn have_changed(old: &[Condition], new: &[Condition]) -> bool {
    let said = |conditions: &[Condition], type_: &str| {
        let condition = conditions.iter().find(|condition| condition.type_ == type_);
        condition.map(|of| (of.status.clone(), of.reason.clone(), of.message.clone()))
    };
    let types = [RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING];
    types.into_iter().any(|type_| said(old, type_) != said(new, type_))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn garden(operation: Option<(&str, &str)>) -> Garden {
        let operation = operation.map(|(type_, state)| json!({"type": type_, "state": state}));
        serde_json::from_value(
            json!({"metadata": {"name": "garden"}, "status": {"lastOperation": operation}}),
        )
        .unwrap()
    }

    #[rstest]
    #[case::succeeded(Some(("Reconcile", "Processing")), Some(("Reconcile", "Succeeded")), true)]
    #[case::created(Some(("Create", "Processing")), Some(("Create", "Succeeded")), true)]
    #[case::began(Some(("Reconcile", "Succeeded")), Some(("Reconcile", "Processing")), false)]
    #[case::failed(Some(("Reconcile", "Processing")), Some(("Reconcile", "Error")), false)]
    #[case::goes_on(Some(("Reconcile", "Processing")), Some(("Reconcile", "Processing")), false)]
    #[case::after_an_error(Some(("Reconcile", "Error")), Some(("Reconcile", "Succeeded")), false)]
    #[case::deleted(Some(("Delete", "Processing")), Some(("Delete", "Succeeded")), false)]
    #[case::to_be_deleted(Some(("Reconcile", "Processing")), Some(("Delete", "Succeeded")), false)]
    #[case::first(None, Some(("Reconcile", "Succeeded")), false)]
    #[case::gone(Some(("Reconcile", "Processing")), None, false)]
    fn a_reconciliation_has_finished(
        #[case] old: Option<(&str, &str)>,
        #[case] new: Option<(&str, &str)>,
        #[case] finished: bool,
    ) {
        assert_eq!(has_finished(&garden(old), &garden(new)), finished);
    }

    fn condition(type_: &str, [status, reason, message]: [&str; 3]) -> Condition {
        let object = json!({"type": type_, "status": status, "reason": reason, "message": message});
        serde_json::from_value(object).unwrap()
    }

    #[rstest]
    #[case::nothing(Some("ResourcesApplied"), ["True", "A", "a"], false)]
    #[case::status(Some("ResourcesApplied"), ["False", "A", "a"], true)]
    #[case::reason(Some("ResourcesApplied"), ["True", "B", "a"], true)]
    #[case::message(Some("ResourcesApplied"), ["True", "A", "b"], true)]
    #[case::another(Some("ResourcesHealthy"), ["True", "A", "a"], true)]
    #[case::vanished(None, ["True", "A", "a"], true)]
    fn conditions_change(#[case] type_: Option<&str>, #[case] said: [&str; 3], #[case] changed: bool) {
        let old = [condition("ResourcesApplied", ["True", "A", "a"])];
        let new: Vec<Condition> = type_.map(|type_| condition(type_, said)).into_iter().collect();
        assert_eq!(have_changed(&old, &new), changed);
        assert!(!have_changed(&old, &[old.as_slice(), &[condition("Other", said)]].concat()));
    }
}
