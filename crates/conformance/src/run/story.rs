//! What a failed case was, in two lines: given and when.

use contract::case::When;
use serde_json::Value;

use crate::plan::Looked;

/// `given  Deployment app · type=server · tolerance=node`, `when   UPDATE apps/v1 deployments`.
pub(super) fn tell(looked: Looked<'_>) -> Vec<String> {
    let given = &looked.case.given;
    let object = given.object.as_ref().or(given.old.as_ref()).or(looked.case.emitted());
    let mut parts: Vec<String> = object.map(describe).into_iter().collect();
    let inputs = looked.case.inputs.iter().filter(|(column, _)| column != "operation" && column != "case");
    parts.extend(
        inputs.map(|(column, value)| format!("{column}={}", if value.is_empty() { "\"\"" } else { value })),
    );
    parts.extend(given.cluster.iter().map(|fact| format!("there is {}", describe(fact))));
    let when = match &looked.case.when {
        When::Admission { operation, .. } => {
            let plural = object.and_then(|object| substrate::cluster::resource(object).ok());
            let plural = plural.map(|resource| format!(" {} {}", resource.api_version(), resource.plural));
            format!("{operation}{}", plural.unwrap_or_default())
        }
        When::DeleteCollection { resource } => format!("DELETE of all {resource}"),
        When::Registration { instance } => format!("registered for a {instance}"),
        When::Configuration => format!("started with {}", looked.case.config),
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

fn describe(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"])).trim().to_owned()
}
