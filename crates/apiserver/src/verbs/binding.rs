//! Binding of pods to nodes.

use serde_json::{Value, json};

use super::update;
use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::meta;
use crate::render;
use crate::state::Shared;

struct Bound(Value);

/// Puts a pod on a node.
pub(crate) async fn bind(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let binding = decode::tree(call)?;
    if meta::name(&binding) != call.path.name {
        return Err(Status::bad_request("name in URL does not match name in Binding object"));
    }
    let node = binding.pointer("/target/name").cloned().unwrap_or_default();
    if node.as_str().unwrap_or_default().is_empty() {
        return Err(Status::plain(500, "", "target.name: Required value"));
    }
    let reply = update::change(shared, call, &Bound(node)).await?;
    let done =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Reply { notes: reply.notes, ..Reply::json(201, render::written(&done, call.accept.yaml)) })
}

impl update::Edit for Bound {
    fn apply(&self, _: &Shared, current: &Value, _: &mut Notes) -> Result<Value, Status> {
        let bound = current.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
        if !bound.is_empty() {
            let of = crate::http::status::GroupResource { group: "", resource: "pods/binding" };
            let why = format!("pod {} is already assigned to node {bound:?}", meta::name(current));
            return Err(Status::conflict(of, meta::name(current), &why));
        }
        let mut pod = current.clone();
        pod["spec"]["nodeName"] = self.0.clone();
        Ok(pod)
    }

    fn options(&self) -> &'static str {
        "CreateOptions"
    }
}
