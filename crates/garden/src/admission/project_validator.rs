//! ProjectValidator: the namespace of a new Project has the prefix of Gardener's namespaces.

use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::spec_text;
use super::{Attributes, Plugin, Validate, messages};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::PROJECT_VALIDATOR,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

const PREFIX: &str = "garden-";
const GARDEN: &str = "garden";

/// GPL-PROJVAL-001. A namespace that an update sets is not checked.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    if (attributes.kind, attributes.operation) != ("Project", Operation::Create)
        || !attributes.subresource.is_empty()
    {
        return Ok(());
    }
    let project = messages::given(object, "could not convert object to Project")?;
    let namespace = spec_text(project, "namespace")?;
    if project["spec"]["namespace"].is_null() || namespace == GARDEN || namespace.starts_with(PREFIX) {
        return Ok(());
    }
    let why = format!(".spec.namespace must start with {PREFIX}");
    Err(messages::forbidden(attributes, Some(project), why))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    #[rstest]
    #[case(Operation::Create, json!({"namespace": "garden-dev"}), true)]
    #[case(Operation::Create, json!({"namespace": "garden"}), true)]
    #[case(Operation::Create, json!({}), true)]
    #[case(Operation::Create, json!({"namespace": "dev"}), false)]
    #[case(Operation::Create, json!({"namespace": "gardendev"}), false)]
    #[case(Operation::Create, json!({"namespace": ""}), false)]
    #[case(Operation::Update, json!({"namespace": "dev"}), true)]
    fn the_namespace_of_a_new_project_has_a_prefix(
        #[case] operation: Operation,
        #[case] spec: Value,
        #[case] is_accepted: bool,
    ) {
        let garden = TestGarden::default();
        let project = json!({"metadata": {"name": "dev"}, "spec": spec});
        let refused = validate(&garden.attributes(operation, "Project", &project), Some(&project)).err();
        let message =
            "projects.core.gardener.cloud \"dev\" is forbidden: .spec.namespace must start with garden-";
        let want = (!is_accepted).then_some(message);
        assert_eq!(refused.map(|rejection| rejection.message).as_deref(), want);
    }
}
