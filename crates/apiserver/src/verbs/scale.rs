//! The scale of a workload: its replicas as an object of `autoscaling/v1`.

use serde_json::Value;
use webhook::field::{Error, Path};

use crate::call::Call;
use crate::convert::scale;
use crate::meta;
use crate::notes::Notes;
use crate::patch::Patch;
use crate::render;
use crate::reply::Reply;
use crate::state::Shared;
use crate::status::Status;
use crate::verbs::{patch, update};

struct Scaled<'a> {
    call: &'a Call,
    change: Change,
}

enum Change {
    To(Value),
    By(Patch),
}

/// Reads the scale.
pub(crate) fn get(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let name = &call.path.name;
    let object = shared.store.get(&call.target.table, &call.key(name));
    let object = object.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
    Ok(Reply::json(200, render::written(&scale::of(object.value()), call.accept.yaml)))
}

/// Replaces or patches the scale.
pub(crate) async fn write(shared: &Shared, call: &Call, patched: bool) -> Result<Reply, Status> {
    let change = if patched {
        Change::By(patch::read(shared, call)?)
    } else {
        Change::To(crate::decode::tree(&call.content_type, &call.body)?)
    };
    let edit = Scaled { call, change };
    update::change(shared, call, &edit).await?;
    get(shared, call)
}

impl update::Edit for Scaled<'_> {
    fn apply(&self, _: &Shared, current: &Value, _: &mut Notes) -> Result<Value, Status> {
        let scale = match &self.change {
            Change::To(scale) => scale.clone(),
            Change::By(patch) => patch.apply(&scale::of(current))?,
        };
        let replicas = scale.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or_default();
        if replicas < 0 {
            let why = "must be greater than or equal to 0";
            let error = Error::invalid(&Path::new("spec").child("replicas"), replicas, why);
            return Err(Status::invalid("autoscaling", "Scale", &self.call.path.name, &[error]));
        }
        let mut object = current.clone();
        object["spec"]["replicas"] = replicas.into();
        if let Some(revision) = scale.pointer("/metadata/resourceVersion").filter(|revision| *revision != "")
        {
            meta::set(&mut object, "resourceVersion", revision.clone());
        }
        Ok(object)
    }

    fn options(&self) -> &'static str {
        if matches!(self.change, Change::By(_)) { "PatchOptions" } else { "UpdateOptions" }
    }
}
