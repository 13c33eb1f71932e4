//! The schema of files of kind Explanations.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Why answers of a target differ from those of another implementation.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "Explanations")]
pub(super) struct ExplanationsFile {
    #[schemars(extend("const" = "conformance.gardener.cloud/v1alpha1"))]
    api_version: String,
    #[schemars(extend("const" = "Explanations"))]
    kind: String,
    /// The target that differs.
    target: ExplainedTarget,
    /// The explanations, in order; the first that fits counts.
    explanations: Vec<ExplanationEntry>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExplainedTarget {
    /// Its name, as in its target file.
    name: String,
    /// Its version; absent: every version.
    version: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExplanationEntry {
    /// Webhooks that it applies to: one, or a list.
    webhooks: Option<Value>,
    /// Controllers that it applies to: one, or a list.
    controllers: Option<Value>,
    /// Places that it applies to, as prefixes: `object.spec.tolerations`, `[code, message]`.
    at: Value,
    /// Condition on the value in the request.
    input: Option<Value>,
    /// Condition on the value in the other implementation's answer.
    ours: Option<Value>,
    /// Condition on the value in the answer of the target that differs.
    theirs: Option<Value>,
    /// Condition on the case: `operation`, `config`, `object` and so on.
    given: Option<Value>,
    /// The clause whose `differs` states the difference.
    clause: Option<String>,
    /// Why, in a sentence.
    reason: String,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::load::keywords::{EXPLAINED, EXPLANATION, EXPLANATIONS};

    #[test]
    fn the_schema_has_the_keys_of_the_loader() {
        let schema = crate::json_schema::of::<ExplanationsFile>();
        let keys = |of: &Value| -> BTreeSet<String> {
            of["properties"].as_object().expect("an object").keys().cloned().collect()
        };
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(keys(&schema), of(&EXPLANATIONS));
        assert_eq!(keys(&schema["$defs"]["ExplainedTarget"]), of(&EXPLAINED));
        assert_eq!(keys(&schema["$defs"]["ExplanationEntry"]), of(&EXPLANATION));
    }
}
