//! Subresources that are posted to: eviction and binding of pods.

use serde_json::{Value, json};

use super::{delete, update};
use crate::call::{Call, Verb};
use crate::decode;
use crate::meta;
use crate::notes::Notes;
use crate::render;
use crate::reply::Reply;
use crate::state::Shared;
use crate::status::Status;
use crate::verbs::create::success;

struct Bound(Value);

/// Deletes a pod by the options of its eviction; disruption budgets are not looked at.
pub(crate) async fn evict(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let eviction = decode::tree(&call.content_type, &call.body)?;
    let options = eviction.get("deleteOptions").cloned().unwrap_or_else(|| json!({}));
    let deletion = Call { body: options.to_string().into(), verb: Verb::Delete, ..call.clone() };
    let deletion = Call { content_type: String::new(), ..deletion };
    let reply = delete::delete(shared, &deletion).await?;
    let done =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Reply { notes: reply.notes, ..Reply::json(201, render::written(&done, call.accept.yaml)) })
}

/// Puts a pod on a node.
pub(crate) async fn bind(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let binding = decode::tree(&call.content_type, &call.body)?;
    let node = binding.pointer("/target/name").cloned().unwrap_or_default();
    let reply = update::change(shared, call, &Bound(node)).await?;
    let uid = shared.store.get(&call.target.table, &call.key(&call.path.name));
    let uid = uid.as_ref().map(|pod| meta::text(pod.value(), "uid").to_owned()).unwrap_or_default();
    let done = success(call, &call.path.name, &uid);
    Ok(Reply { notes: reply.notes, ..Reply::json(201, render::written(&done, call.accept.yaml)) })
}

impl update::Edit for Bound {
    fn apply(&self, _: &Shared, current: &Value, _: &mut Notes) -> Result<Value, Status> {
        let bound = current.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
        if !bound.is_empty() {
            let of = crate::status::GroupResource { group: "", resource: "pods/binding" };
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
