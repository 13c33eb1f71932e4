//! Which changes of a Garden lead to its reconciliation.

use api::operator::Garden;
use controller::{Event, Store, Watch};

use super::operation;

/// A Garden is reconciled when it appears, when its generation changes, and when an operation is requested.
pub(super) fn gardens(store: &Store<Garden>) -> Watch<Garden> {
    Watch::of(store).filter(matters)
}

fn matters(event: &Event<Garden>) -> bool {
    match event {
        Event::Create(_) | Event::Delete(_) => true,
        Event::Update { old, new } => {
            let requests = |garden: &Garden| operation::requested(garden).is_some();
            old.metadata.generation != new.metadata.generation || (!requests(old) && requests(new))
        }
        Event::Generic(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn garden(metadata: &Value) -> Arc<Garden> {
        Arc::new(serde_json::from_value(json!({"metadata": metadata})).unwrap())
    }

    #[rstest]
    #[case::nothing(&json!({"generation": 1}), &json!({"generation": 1}), false)]
    #[case::generation(&json!({"generation": 1}), &json!({"generation": 2}), true)]
    #[case::label(&json!({}), &json!({"labels": {"a": "b"}}), false)]
    #[case::operation(&json!({}), &json!({"annotations": {"gardener.cloud/operation": "reconcile"}}), true)]
    #[case::unknown_operation(&json!({}), &json!({"annotations": {"gardener.cloud/operation": "retry"}}), false)]
    #[case::another_operation(
        &json!({"annotations": {"gardener.cloud/operation": "reconcile"}}),
        &json!({"annotations": {"gardener.cloud/operation": "rotate-ca-start"}}),
        false,
    )]
    #[case::operation_in_place_of_an_unknown_one(
        &json!({"annotations": {"gardener.cloud/operation": "retry"}}),
        &json!({"annotations": {"gardener.cloud/operation": "rotate-ca-start"}}),
        true,
    )]
    fn updates_matter(#[case] old: &Value, #[case] new: &Value, #[case] want: bool) {
        assert_eq!(matters(&Event::Update { old: garden(old), new: garden(new) }), want);
    }

    #[test]
    fn appearance_matters() {
        assert!(matters(&Event::Create(garden(&json!({})))));
        assert!(!matters(&Event::Generic(garden(&json!({})))));
    }
}
