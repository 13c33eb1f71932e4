//! Patches objects, and applies configurations (server-side apply).

use serde_json::{Value, json};

use crate::apply::{self, Lens};
use crate::call::Call;
use crate::http::media_type::media_type;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::fields::{self, Directive};
use crate::object::meta;
use crate::object::strategy;
use crate::object::structural;
use crate::patch::{APPLY, Patch};
use crate::state::ServerState;
use crate::verbs::update::{Edit, change, check_name};
use crate::verbs::{create, ownership};

struct PatchEdit<'a> {
    call: &'a Call,
    patch: Patch,
}

struct ApplyEdit<'a> {
    call: &'a Call,
    configuration: Value,
}

/// Patches an object with the request's body; an applied configuration creates a missing object.
pub(crate) async fn patch(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    if media_type(&call.content_type) == APPLY {
        return apply(shared, call).await;
    }
    let patch = read(shared, call)?;
    change(shared, call, &PatchEdit { call, patch }).await
}

/// Refuses patch types that custom resources do not support.
pub(crate) fn check(call: &Call) -> Result<(), Status> {
    if media_type(&call.content_type) == APPLY { Ok(()) } else { Patch::check(&call.content_type, false) }
}

/// Parses the patch of a request.
pub(crate) fn read(shared: &ServerState, call: &Call) -> Result<Patch, Status> {
    let resource = &call.target.resource;
    let served = shared.registry.served();
    let ty = if call.target.custom {
        None
    } else {
        served.kinds.type_of(&resource.group, &resource.version, &resource.kind)
    };
    Patch::check(&call.content_type, ty.is_some())?;
    apply::check(call, "PatchOptions", Some(false))?;
    let strict = Directive::of(call) != Directive::Ignore;
    Ok(Patch::read(&call.content_type, &call.body, ty, strict))
}

fn exists(shared: &ServerState, call: &Call) -> bool {
    shared.store.get(&call.target.table, &call.key(&call.path.name)).is_some()
}

/// Parses the applied configuration of a request; for a subresource, the object must exist.
pub(crate) fn configuration(shared: &ServerState, call: &Call) -> Result<Value, Status> {
    apply::check(call, "PatchOptions", Some(true))?;
    let creates = strategy::allows_create_on_update(&call.target, &call.path.subresource);
    if !call.path.subresource.is_empty() && !creates && !exists(shared, call) {
        return Err(Status::not_found(call.group_resource(), &call.path.name));
    }
    let bad = |why: &dyn std::fmt::Display| Status::bad_request(format!("error decoding YAML: {why}"));
    let text = std::str::from_utf8(&call.body).map_err(|error| bad(&error))?;
    let mut value: Value = match formats::json::document(text.as_bytes()) {
        Ok(value) if is_also_yaml(text) => value,
        Err(_) if text.trim().is_empty() => Value::Null,
        _ => formats::yaml::first_document(text.as_bytes())
            .map_err(|error| bad(&format!("error converting YAML to JSON: yaml: {error}")))?,
    };
    // kube-apiserver makes JSON of the YAML and reads that.
    formats::json::reread(&mut value);
    let found = match value {
        Value::Object(_) => return Ok(value),
        // An empty document is a configuration without a kind.
        Value::Null => return Ok(json!({})),
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
    };
    let why = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
    Err(bad(&format!("error unmarshaling JSON: while decoding JSON: {why}")))
}

/// Whether a JSON text means the same as YAML, which has neither escapes of surrogates nor of slashes, refuses control characters
/// and tabs between lines, and joins lines at the line breaks of Unicode.
fn is_also_yaml(text: &str) -> bool {
    let is_special =
        |letter: char| matches!(letter, '\t' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}'..);
    !["\\ud", "\\uD", "\\/"].iter().any(|escape| text.contains(escape)) && !text.contains(is_special)
}

async fn apply(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let mut notes = Notes::default();
    let edit = ApplyEdit { call, configuration: configuration(shared, call)? };
    loop {
        if exists(shared, call) {
            return change(shared, call, &edit).await;
        }
        let mut object = edit.object(shared, None, &mut notes)?;
        check_new(call, &mut object).map_err(|status| status.with_notes(&notes))?;
        match create::create_object(shared, call, (object, notes.clone())).await {
            // A concurrent request created the object: apply the configuration to it.
            Err(status) if status.reason == "AlreadyExists" => {}
            answer => return answer,
        }
    }
}

impl ApplyEdit<'_> {
    /// The object after the configuration is applied, with a warning about fields that the configuration has twice.
    fn object(
        &self,
        shared: &ServerState,
        current: Option<&Value>,
        notes: &mut Notes,
    ) -> Result<Value, Status> {
        let object = self.merged(shared, current, notes)?;
        let duplicates = match Directive::of(self.call) {
            Directive::Ignore => Vec::new(),
            // JSON is searched faster, and has duplicates seldom.
            _ if self.call.body.starts_with(b"{") && fields::duplicates(&self.call.body).is_empty() => {
                Vec::new()
            }
            Directive::Warn | Directive::Strict => formats::yaml::duplicate_keys(&self.call.body),
        };
        if !duplicates.is_empty() && Directive::of(self.call) == Directive::Strict {
            let why = "error converting YAML to JSON: yaml: unmarshal errors:";
            let lines = duplicates.join("\n  ");
            return Err(Status::bad_request(format!("error strict decoding YAML: {why}\n  {lines}")));
        }
        notes.warn(duplicates);
        Ok(object)
    }

    fn merged(
        &self,
        shared: &ServerState,
        current: Option<&Value>,
        notes: &mut Notes,
    ) -> Result<Value, Status> {
        let served = shared.registry.served();
        let lens = Lens::new(&served, &self.call.target, &self.call.path.subresource);
        let options = apply::ApplyOptions::of(self.call);
        let mut object = apply::apply(&lens, current, &self.configuration, &options, shared.clock.now())?;
        let Some(schema) = &self.call.target.schema else {
            self.convert(shared, &mut object)?;
            return decode::patched(shared, self.call, (object, None), notes);
        };
        // A field that became empty is null, which the schema may refuse. As in kube-apiserver, it does not count as a
        // null that was sent.
        decode::check_type_meta(self.call, &mut object)?;
        structural::default(&mut object, schema);
        Ok(object)
    }
}

impl ApplyEdit<'_> {
    /// The schema accepts values that Go's types do not; this is detected after the merge, and reported for the
    /// configuration.
    fn convert(&self, shared: &ServerState, object: &mut Value) -> Result<(), Status> {
        fields::convert(shared, self.call, object).map_err(|why| {
            let resource = &self.call.target.resource;
            let kind = format!("{}/{}, Kind={}", resource.group, resource.version, resource.kind);
            let (namespace, name) = (meta::namespace(&self.configuration), meta::name(&self.configuration));
            Status::failure(format!(
                "failed to convert new object ({namespace}/{name}; {kind}) to proper version: unable to convert \
                 unstructured object to {kind}: {why}"
            ))
        })
    }
}

impl Edit for ApplyEdit<'_> {
    fn apply(&self, shared: &ServerState, current: &Value, notes: &mut Notes) -> Result<Value, Status> {
        let mut object = self.object(shared, Some(current), notes)?;
        check_namespace_and_name(self.call, &mut object)?;
        Ok(object)
    }
}

impl Edit for PatchEdit<'_> {
    fn apply(&self, shared: &ServerState, current: &Value, notes: &mut Notes) -> Result<Value, Status> {
        let patched = (self.patch.apply(current)?, self.patch.strategic(current));
        let mut object = decode::patched(shared, self.call, patched, notes)?;
        check_namespace_and_name(self.call, &mut object)?;
        ownership::record(shared, self.call, Some(current), &mut object);
        Ok(object)
    }
}

/// Refuses an object whose namespace or name differs from the request's; sets the namespace if it is absent.
pub(crate) fn check_namespace_and_name(call: &Call, object: &mut Value) -> Result<(), Status> {
    decode::set_namespace(call, object)?;
    check_name(call, object)
}

fn check_new(call: &Call, object: &mut Value) -> Result<(), Status> {
    let uid = meta::text(object, "uid");
    if !uid.is_empty() {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        return Err(Status::conflict(call.group_resource(), &call.path.name, &why));
    }
    check_namespace_and_name(call, object)
}
