//! Describes a failed scenario: its given objects and its steps.

use contract::scenario::Scenario;
use serde_json::Value;

use crate::plan::LocatedCase;

/// `given  sourceCluster ManagedResource mr · keep=true`, `when   applied → removed`.
pub(super) fn describe(located: LocatedCase<'_>, scenario: &Scenario) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut parts = Vec::new();
    for (side, objects) in &scenario.given {
        parts.extend(objects.iter().map(|object| {
            format!("{} {} {}", side.name(), text(&object["kind"]), text(&object["metadata"]["name"]))
        }));
    }
    parts.extend(located.case.inputs.iter().map(|(column, value)| format!("{column}={value}")));
    let steps: Vec<&str> = scenario.steps.iter().map(|step| step.name.as_str()).collect();
    vec![format!("given  {}", parts.join(" · ")), format!("when   {}", steps.join(" → "))]
}
