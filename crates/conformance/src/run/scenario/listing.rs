//! Lists the objects of a kind in a cluster of a scenario.

use std::collections::BTreeSet;

use contract::scenario::{Action, Scenario, Side};
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde_json::{Value, json};
use substrate::cluster::resource;

use super::clusters::Clusters;
use super::steps::ScenarioEnd;

/// The kinds that a scenario names: cluster, API version and kind.
pub(super) fn named_kinds(scenario: &Scenario) -> BTreeSet<(Side, String, String)> {
    let of_value = |side: &Side, object: &Value| {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        (*side, text("apiVersion"), text("kind"))
    };
    let given = scenario
        .given
        .iter()
        .flat_map(|(side, objects)| objects.iter().map(move |object| of_value(side, object)));
    let done = scenario.steps.iter().flat_map(|step| &step.actions).filter_map(|action| match action {
        Action::Create(side, object) => Some(of_value(side, object)),
        Action::Patch(side, object, _)
        | Action::PatchStatus(side, object, _)
        | Action::Delete(side, object)
        | Action::Touch(side, object) => Some((*side, object.api_version.clone(), object.kind.clone())),
        Action::Refuse(..) | Action::Stop | Action::Start => None,
    });
    given.chain(done).collect()
}

/// All objects of a kind; none if the server does not serve it.
pub(super) async fn list(
    clusters: &Clusters,
    side: Side,
    api_version: &str,
    kind: &str,
) -> Result<Vec<Value>, ScenarioEnd> {
    let failed = |reason: String| {
        ScenarioEnd::Environment(format!("failed to list {api_version} {kind} in {}: {reason}", side.name()))
    };
    let Ok(served) = resource(&json!({"apiVersion": api_version, "kind": kind})) else {
        return Ok(Vec::new());
    };
    let kind = ApiResource {
        group: served.group.clone(),
        version: served.version.clone(),
        api_version: served.api_version(),
        kind: served.kind.clone(),
        plural: served.plural.clone(),
    };
    let api: Api<DynamicObject> = Api::all_with(clusters.client(side), &kind);
    match api.list(&ListParams::default()).await {
        Ok(list) => {
            let objects = list.items.into_iter().map(serde_json::to_value);
            objects.map(|object| object.map_err(|error| failed(error.to_string()))).collect()
        }
        // A kind without a definition has no objects.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(failed(error.to_string())),
    }
}
