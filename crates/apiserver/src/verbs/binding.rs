//! Binding of pods to nodes.

use serde_json::{Value, json};
use webhook::field::{Error, ErrorKind, Path, Shown};

use super::{transient, update};
use crate::call::Call;
use crate::clock::rfc3339;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::{GroupResource, Status};
use crate::object::decode;
use crate::object::meta;
use crate::state::ServerState;
use crate::store::Expect;

const PODS: &str = "pods";

/// Binds a pod to a node: the pod of the path or, in the collection `bindings`, that of the binding's name. Webhooks
/// receive the binding, not the pod.
pub(crate) async fn bind(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    let binding = decode::object(shared, call, &mut notes)?;
    let named = call.path.name.as_str();
    let check = |binding: &Value| {
        if !named.is_empty() && meta::name(binding) != named {
            return Err(Status::bad_request("name in URL does not match name in Binding object"));
        }
        let errors = errors(binding);
        if errors.is_empty() { Ok(()) } else { Err(Status::failure(join_errors(&errors))) }
    };
    let (binding, notes) = transient::admit(shared, call, (binding, notes), check).await?;
    assign(shared, call, &binding).map_err(|status| status.with_notes(&notes))?;
    Ok(transient::created(call, notes))
}

fn errors(binding: &Value) -> Vec<Error> {
    let target = Path::new("target");
    let text = |field: &str| binding["target"][field].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    if !matches!(text("kind"), "" | "Node") {
        errors.push(Error {
            kind: ErrorKind::NotSupported,
            field: target.child("kind").to_string(),
            value: Some(Shown::from(text("kind"))),
            detail: "supported values: \"Node\", \"<empty>\"".to_owned(),
        });
    }
    if text("name").is_empty() {
        errors.push(Error::required(&target.child("name"), ""));
    }
    errors
}

/// Joins errors that are reported without the wrapper of an invalid object.
fn join_errors(errors: &[Error]) -> String {
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match messages.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

fn assign(shared: &ServerState, call: &Call, binding: &Value) -> Result<(), Status> {
    let name = meta::name(binding);
    if name.is_empty() {
        return Err(Status::bad_request("Name parameter required."));
    }
    let key = call.key(name);
    loop {
        let of = GroupResource { group: "", resource: PODS };
        let pod = shared.store.get(PODS, &key).ok_or_else(|| Status::not_found(of, name))?;
        update::check_stored(call, binding, pod.value())?;
        if let Some(why) = reason_not_assignable(pod.value()) {
            let of = GroupResource { group: "", resource: "pods/binding" };
            return Err(Status::conflict(of, name, &why));
        }
        let bound = assign_node(pod.value().clone(), binding, &rfc3339(shared.clock.now()));
        let expect = Expect::Revision(pod.revision());
        if call.query.dry_run() || shared.store.put(PODS, &key, expect, bound).is_ok() {
            return Ok(());
        }
    }
}

/// Reason why a pod cannot be bound.
fn reason_not_assignable(pod: &Value) -> Option<String> {
    let name = meta::name(pod);
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let gates = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    if meta::is_terminating(pod) {
        return Some(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if !node.is_empty() {
        return Some(format!("pod {name} is already assigned to node {node:?}"));
    }
    gates.then(|| format!("pod {name} has non-empty .spec.schedulingGates"))
}

/// The bound pod, with the labels and annotations of the binding.
fn assign_node(mut pod: Value, binding: &Value, now: &str) -> Value {
    pod["spec"]["nodeName"] = binding["target"]["name"].clone();
    if let Some(status) = pod["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            pod["metadata"][field][key] = value.clone();
        }
    }
    transient::set_condition(&mut pod, json!({"type": "PodScheduled", "status": "True"}), now);
    pod
}
