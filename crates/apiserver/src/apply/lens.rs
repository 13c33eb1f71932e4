//! An object in each of the versions that its managers wrote.

use std::borrow::Cow;

use schema::{Message, Resource, Type};
use serde_json::Value;

use super::reset::{self, Reset};
use super::schema_node::SchemaNode;
use super::valid;
use crate::convert;
use crate::object::fields::blank;
use crate::registry::{ServedKinds, ServedResource};

/// A kind written through one subresource, in all of its versions.
#[derive(Debug)]
pub(crate) struct Lens<'a> {
    served: &'a ServedKinds,
    resource: &'a Resource,
    custom: bool,
    typed: bool,
    subresource: &'a str,
}

impl<'a> Lens<'a> {
    /// The kind of a request.
    pub(crate) fn new(served: &'a ServedKinds, target: &'a ServedResource, subresource: &'a str) -> Self {
        let (custom, typed) = (target.custom, target.typed.is_some());
        Self { served, resource: &target.resource, custom, typed, subresource }
    }

    /// The version of the request: `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.is_scale() { "autoscaling/v1".to_owned() } else { self.resource.api_version() }
    }

    /// The kind of the request.
    pub(crate) fn kind(&self) -> &str {
        if self.is_scale() { "Scale" } else { &self.resource.kind }
    }

    /// The subresource that is written through; empty for the object itself.
    pub(crate) fn subresource(&self) -> &str {
        self.subresource
    }

    /// Whether a CRD defines the kind. The scale of a custom resource is not custom.
    pub(crate) fn is_custom(&self) -> bool {
        self.custom && !self.is_scale()
    }

    /// An object without any fields set.
    pub(crate) fn empty(&self) -> Value {
        let api_version = self.api_version();
        let (group, version) = split(&api_version);
        let message = Message::of_kind(group, version, self.kind()).filter(|_| !self.custom);
        let mut empty = message.map_or_else(|| serde_json::json!({}), blank);
        empty["kind"] = self.kind().into();
        empty["apiVersion"] = api_version.into();
        empty
    }

    /// Whether an empty list differs from an absent one, as it does in Go types only.
    pub(crate) fn distinguishes_empty_lists(&self) -> bool {
        !self.custom
    }

    /// Whether an object matches the schema of its kind. Decoding has checked built-in kinds already, except whether
    /// elements of keyed lists have their key.
    pub(crate) fn matches_schema(&self, object: &Value) -> bool {
        match self.schema_node(&self.api_version()) {
            Some(node) if self.is_custom() => valid::errors(&node, object, true).is_empty(),
            Some(node) => valid::has_list_keys(&node, object),
            None => true,
        }
    }

    /// The schema of the kind in a version; `None` if that version does not exist.
    pub(crate) fn schema_node(&self, api_version: &str) -> Option<SchemaNode> {
        let (group, version) = split(api_version);
        if self.is_scale() {
            let ty = (api_version == "autoscaling/v1")
                .then(|| self.served.kinds.type_of(group, version, "Scale"))
                .flatten()?;
            return Some(SchemaNode::root(ty, true));
        }
        let resource = self.resource(api_version)?;
        let ty = self.served.kinds.type_of(group, version, &resource.kind).unwrap_or_else(Type::any);
        Some(SchemaNode::root(ty, !self.custom))
    }

    /// The object converted to a version.
    pub(crate) fn in_version<'b>(&self, object: &'b Value, api_version: &str) -> Cow<'b, Value> {
        match self.resource(api_version) {
            Some(resource) if !self.is_scale() => convert::to_version(object, &resource),
            _ => Cow::Borrowed(object),
        }
    }

    /// The fields that a write in this version through this subresource does not change.
    pub(crate) fn reset(&self, api_version: &str) -> Reset {
        // kube-apiserver registers the reset fields of a custom resource's main endpoint for the requested version
        // only.
        let elsewhere = self.subresource.is_empty() && api_version != self.api_version();
        // Strategies of aggregated API servers register none.
        if self.typed || (self.custom && elsewhere) {
            return Reset::Nothing;
        }
        reset::of(self.resource, self.custom, self.subresource)
    }

    fn is_scale(&self) -> bool {
        self.subresource == "scale"
    }

    fn resource(&self, api_version: &str) -> Option<Resource> {
        if api_version == self.resource.api_version() {
            return Some(self.resource.clone());
        }
        let (group, version) = split(api_version);
        self.served.target(group, version, &self.resource.plural).map(|target| target.resource.clone())
    }
}

fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
