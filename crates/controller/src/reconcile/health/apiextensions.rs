//! Health of CustomResourceDefinitions, in all their versions.

use kube::api::{NotUsed, Object};
use serde::Deserialize;

use super::conditions::{Condition, optional, required};
use super::{Check, Unhealthy};

/// `apiextensions.k8s.io CustomResourceDefinition`.
pub type CustomResourceDefinition = Object<NotUsed, CustomResourceDefinitionStatus>;

/// The fields of its status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CustomResourceDefinitionStatus {
    /// `null` while there are none.
    conditions: Option<Vec<Condition>>,
}

impl Check for CustomResourceDefinition {
    /// GRM-HLT-020, GRM-HLT-021: its names are accepted, it is established, and it is not terminating.
    fn check(&self) -> Result<(), Unhealthy> {
        let conditions =
            self.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        required(conditions, "NamesAccepted", "True")?;
        required(conditions, "Established", "True")?;
        optional(conditions, "Terminating", "False")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::reconcile::health::ConditionMissing;

    #[rstest]
    #[case::complete(json!([["NamesAccepted", "True"], ["Established", "True"]]), "")]
    #[case::staying(json!([["NamesAccepted", "True"], ["Established", "True"], ["Terminating", "False"]]), "")]
    #[case::unnamed(json!([["Established", "True"]]), "condition \"NamesAccepted\" is missing")]
    #[case::unestablished(json!([["NamesAccepted", "True"]]), "condition \"Established\" is missing")]
    #[case::refused(
        json!([["NamesAccepted", "False"], ["Established", "True"]]),
        "condition \"NamesAccepted\" has invalid status False (expected True) due to Reason: Message"
    )]
    #[case::going(
        json!([["NamesAccepted", "True"], ["Established", "True"], ["Terminating", "True"]]),
        "condition \"Terminating\" has invalid status True (expected False) due to Reason: Message"
    )]
    fn a_definition_is_healthy_when_it_can_be_used(#[case] conditions: Value, #[case] reason: &str) {
        let conditions = conditions.as_array().unwrap().iter().map(
            |pair| json!({"type": pair[0], "status": pair[1], "reason": "Reason", "message": "Message"}),
        );
        let object = json!({
            "metadata": {"name": "a"}, "spec": {"group": "g"}, "status": {"conditions": conditions.collect::<Vec<_>>()},
        });
        let object: CustomResourceDefinition = serde_json::from_value(object).unwrap();
        assert_eq!(object.check().err().map(|error| error.to_string()).unwrap_or_default(), reason);
    }

    #[rstest]
    #[case(Value::Null)]
    #[case(json!({}))]
    #[case(json!({"conditions": null, "storedVersions": ["v1"]}))]
    fn a_definition_without_conditions_is_not_healthy(#[case] status: Value) {
        let object = json!({"metadata": {"name": "a"}, "spec": {}, "status": status});
        let object: CustomResourceDefinition = serde_json::from_value(object).unwrap();
        assert_eq!(object.check(), Err(ConditionMissing("NamesAccepted").into()));
    }
}
