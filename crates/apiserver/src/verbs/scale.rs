//! The scale subresource: a workload's replicas as an object of `autoscaling/v1`.

use bytes::Bytes;
use serde_json::Value;
use webhook::field::{Error, Path};

use crate::apply::{self, Lens};
use crate::call::Call;
use crate::convert::{self, scale};
use crate::http::media_type::media_type;
use crate::http::negotiate::{Accept, Representation};
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::internal::WITH_SCALE;
use crate::object::meta;
use crate::object::validation;
use crate::patch::{APPLY, Patch};
use crate::render;
use crate::state::ServerState;
use crate::table;
use crate::verbs::{ownership, patch, update};

struct ScaleEdit<'a> {
    call: &'a Call,
    change: ScaleChange,
    /// Whether the body is the scale of a custom resource without an apiVersion.
    lacks_version: bool,
}

enum ScaleChange {
    Replace(Value),
    Patch(Patch),
    Apply(Value),
}

/// Reads the scale.
pub(crate) async fn get(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let object = super::read(shared, call).await?;
    let scaling = call.target.scaling.as_deref();
    let converted = convert::to_version(object.value(), &call.target.resource);
    if let Some(paths) = scaling {
        scale::check(&converted, paths).map_err(Status::failure)?;
        if scale::at(&converted, &paths.wanted).is_none() {
            let path = paths.wanted.join(".");
            return Err(Status::internal(&format!("the spec replicas field \".{path}\" does not exist")));
        }
    }
    Ok(Reply::json(200, render_scale(call, &scale::of(&converted, scaling))))
}

/// The scheme in which the real server looks up the wanted kind of a custom resource's scale does not know Scales, so that it
/// cannot say why a body is not decoded, whatever the reason. A Scale of another published version is not decoded either.
fn unregistered(call: &Call, status: Status) -> Status {
    let is_internal = |group: &&str| status.message.contains(&format!("({group}/__internal) does not"));
    if call.target.scaling.is_none() || status.code != 400 || WITH_SCALE.iter().any(is_internal) {
        return status;
    }
    let message = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";
    Status { message: message.to_owned(), ..status }
}

/// Replaces or patches the scale.
pub(crate) async fn write(shared: &ServerState, call: &Call, patched: bool) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    let change = if !patched {
        apply::check(call, "UpdateOptions", None)?;
        let mut scale =
            decode::object(shared, call, &mut notes).map_err(|status| unregistered(call, status))?;
        decode::set_namespace(call, &mut scale)?;
        check_stored(shared, call, &scale).map_err(|status| status.with_notes(&notes))?;
        ScaleChange::Replace(scale)
    } else if media_type(&call.content_type) == APPLY {
        ScaleChange::Apply(patch::configuration(shared, call)?)
    } else {
        ScaleChange::Patch(patch::read(shared, call)?)
    };
    let is_replaced = !patched && call.target.scaling.is_some();
    let lacks_version = is_replaced && decode::parse_body(call).is_ok_and(|body| lacks_version(&body));
    let edit = ScaleEdit { call, change, lacks_version };
    let full_call = Call { accept: Accept::default(), ..call.clone() };
    let (body, edit_notes) = update::change_and_render(shared, &full_call, &edit)
        .await
        .map_err(|status| status.with_notes(&notes))?;
    notes.extend(edit_notes);
    let written: Value =
        serde_json::from_slice(&body).map_err(|error| Status::internal(&error.to_string()))?;
    let scale = scale::of(&written, call.target.scaling.as_deref());
    Ok(Reply { notes, ..Reply::json(200, render_scale(call, &scale)) })
}

/// Checks that a scale has the name in the request's path and, if it has a UID, that of the stored object.
fn check_stored(shared: &ServerState, call: &Call, scale: &Value) -> Result<(), Status> {
    update::check_name(call, scale)?;
    let current = shared.store.get(&call.target.table, &call.key(&call.path.name));
    current.map_or(Ok(()), |current| update::check_uid(call, scale, current.value()))
}

/// Renders a scale in the requested representation.
fn render_scale(call: &Call, scale: &Value) -> Bytes {
    match call.accept.representation {
        Representation::Metadata(version) => {
            let partial = meta::partial(scale, version.api_version(), "PartialObjectMetadata");
            render::encode(&partial, call.accept.yaml)
        }
        Representation::Table(version) => {
            render::encode(&table::of(call, std::iter::once(scale), version, true), call.accept.yaml)
        }
        Representation::Full => render::encode(scale, call.accept.yaml),
    }
}

impl update::Edit for ScaleEdit<'_> {
    fn apply(&self, shared: &ServerState, current: &Value, notes: &mut Notes) -> Result<Value, Status> {
        let scaling = self.call.target.scaling.as_deref();
        if let Some(paths) = scaling {
            scale::check(current, paths).map_err(Status::failure)?;
        }
        let path = scale::path(scaling);
        let mut before = scale::of(current, scaling);
        apply::to_scale(current, &path, &mut before);
        let scale = self.apply_change(shared, &before, notes)?;
        if scaling.is_some()
            && scale::at(current, &path).is_none()
            && scale.pointer("/spec/replicas").is_none()
        {
            let why = format!("the spec replicas field \".{}\" cannot be empty", path.join("."));
            return Err(Status::bad_request(why));
        }
        let replicas = scale.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or_default();
        // The scale of a custom resource is validated with the resource.
        let is_built_in = scaling.is_none();
        let mut errors = if is_built_in { validation::metadata_of_scale(&scale) } else { Vec::new() };
        if replicas < 0 && is_built_in {
            let why = "must be greater than or equal to 0";
            errors.push(Error::invalid(&Path::new("spec").child("replicas"), replicas, why));
        }
        if !errors.is_empty() {
            return Err(Status::invalid("autoscaling", "Scale", &self.call.path.name, &errors));
        }
        let mut object = current.clone();
        scale::put(&mut object, &path, replicas.into()).map_err(Status::failure)?;
        if let Some(revision) = scale.pointer("/metadata/resourceVersion").filter(|revision| *revision != "")
        {
            meta::set(&mut object, "resourceVersion", revision.clone());
        }
        apply::from_scale(&scale, &path, &mut object, &self.call.target.resource.api_version());
        Ok(object)
    }
}

impl ScaleEdit<'_> {
    /// As in kube-apiserver, a configuration cannot change the scale of a custom resource.
    fn check_convertible(
        &self,
        before: &Value,
        scale: Value,
        configuration: &Value,
    ) -> Result<Value, Status> {
        if !self.call.target.custom || without_owners(before) == without_owners(&scale) {
            return Ok(scale);
        }
        Err(Status::failure(format!(
            "failed to convert new object ({}/{}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR \
             to an invalid group/version: autoscaling/v1",
            meta::namespace(configuration),
            meta::name(configuration),
        )))
    }

    /// Computes the scale after the request, with the owner of the replicas.
    fn apply_change(&self, shared: &ServerState, before: &Value, notes: &mut Notes) -> Result<Value, Status> {
        let mut lacks_owners = self.lacks_version;
        let mut scale = match &self.change {
            ScaleChange::Replace(scale) => scale.clone(),
            ScaleChange::Patch(patch) => {
                let patched = patch.apply(before)?;
                lacks_owners = self.call.target.scaling.is_some() && lacks_version(&patched);
                decode::patched(shared, self.call, (patched, patch.strategic(before)), notes)?
            }
            ScaleChange::Apply(configuration) => {
                let served = shared.registry.served();
                let lens = Lens::new(&served, &self.call.target, "scale");
                let options = apply::ApplyOptions::of(self.call);
                let scale = apply::apply(&lens, Some(before), configuration, &options, shared.clock.now())?;
                self.check_convertible(before, scale, configuration)?
            }
        };
        decode::set_namespace(self.call, &mut scale)?;
        update::check_name(self.call, &scale)?;
        if lacks_owners {
            // The converter of the real server does not know an object without a group, so that nothing is recorded.
            meta::of_mut(&mut scale).remove("managedFields");
        } else if !matches!(self.change, ScaleChange::Apply(_)) {
            ownership::record(shared, self.call, Some(before), &mut scale);
        }
        Ok(scale)
    }
}

fn lacks_version(scale: &Value) -> bool {
    scale["apiVersion"].as_str().unwrap_or_default().is_empty()
}

fn without_owners(scale: &Value) -> Value {
    let mut scale = scale.clone();
    meta::of_mut(&mut scale).remove("managedFields");
    scale
}
