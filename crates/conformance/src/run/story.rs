//! Describes a failed case in two lines: given and when.

use contract::case::When;
use serde_json::Value;

use crate::plan::LocatedCase;

/// `given  Deployment app · type=server · tolerance=node`, `when   UPDATE apps/v1 deployments`.
pub(super) fn describe(located: LocatedCase<'_>) -> Vec<String> {
    let given = &located.case.given;
    let object = given.object.as_ref().or(given.old.as_ref()).or(located.case.emitted());
    let mut parts: Vec<String> = object.map(describe_object).into_iter().collect();
    let inputs = located.case.inputs.iter().filter(|(column, _)| column != "operation" && column != "case");
    parts.extend(
        inputs.map(|(column, value)| format!("{column}={}", if value.is_empty() { "\"\"" } else { value })),
    );
    parts.extend(given.cluster.iter().map(|fact| format!("there is {}", describe_object(fact))));
    let when = match &located.case.when {
        When::Admission { operation, .. } => {
            let plural = object.and_then(|object| substrate::cluster::resource(object).ok());
            let plural = plural.map(|resource| format!(" {} {}", resource.api_version(), resource.plural));
            format!("{operation}{}", plural.unwrap_or_default())
        }
        When::DeleteCollection { resource } => format!("DELETE of all {resource}"),
        When::Registration { instance } => format!("registered for a {instance}"),
        When::Configuration => format!("started with {}", located.case.config),
        When::Process(action) => action.to_string(),
        When::Emitted(emitted) => format!("emitted in the namespace {}", emitted.namespace),
        When::Decision(decision) => format!("{} is decided at {}", decision.asks.name(), decision.now),
        When::Steps(scenario) => {
            scenario.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(" → ")
        }
    };
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(format!("given  {}", parts.join(" · ")));
    }
    lines.push(format!("when   {when}"));
    lines
}

fn describe_object(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"])).trim().to_owned()
}
