//! An object in the versions that its owners wrote it in.

use std::borrow::Cow;

use schema::{Message, Resource, Type};
use serde_json::Value;

use super::place::Place;
use super::reset::{self, Reset};
use super::valid;
use crate::convert;
use crate::object::fields::blank;
use crate::registry::{ServedKinds, ServedResource};

/// A kind as it is written through one subresource, in all of its versions.
#[derive(Debug)]
pub(crate) struct Lens<'a> {
    served: &'a ServedKinds,
    resource: &'a Resource,
    custom: bool,
    subresource: &'a str,
}

impl<'a> Lens<'a> {
    /// The kind of a request.
    pub(crate) fn new(served: &'a ServedKinds, target: &'a ServedResource, subresource: &'a str) -> Self {
        Self { served, resource: &target.resource, custom: target.custom, subresource }
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

    /// Whether a CRD says what the kind is, and not its scale.
    pub(crate) fn is_custom(&self) -> bool {
        self.custom && !self.is_scale()
    }

    /// An object of which nothing was said.
    pub(crate) fn empty(&self) -> Value {
        let api_version = self.api_version();
        let (group, version) = split(&api_version);
        let message = Message::of_kind(group, version, self.kind()).filter(|_| !self.custom);
        let mut empty = message.map_or_else(|| serde_json::json!({}), blank);
        empty["kind"] = self.kind().into();
        empty["apiVersion"] = api_version.into();
        empty
    }

    /// Whether an empty list is told from none: not in what is no Go type.
    pub(crate) fn tells_empty_lists(&self) -> bool {
        !self.custom
    }

    /// Whether an object has the form that the schema of its kind wants. Those of built-in kinds do since they were read,
    /// but for elements of lists that say nothing of what tells them apart.
    pub(crate) fn fits(&self, object: &Value) -> bool {
        match self.place(&self.api_version()) {
            Some(place) if self.is_custom() => valid::errors(&place, object, true).is_empty(),
            Some(place) => valid::tells_apart(&place, object),
            None => true,
        }
    }

    /// What the kind looks like in a version; absent where there is no such version.
    pub(crate) fn place(&self, api_version: &str) -> Option<Place> {
        let (group, version) = split(api_version);
        if self.is_scale() {
            let ty = (api_version == "autoscaling/v1")
                .then(|| self.served.kinds.type_of(group, version, "Scale"))
                .flatten()?;
            return Some(Place::root(ty, true));
        }
        let resource = self.resource(api_version)?;
        let ty = self.served.kinds.type_of(group, version, &resource.kind).unwrap_or_else(Type::any);
        Some(Place::root(ty, !self.custom))
    }

    /// The object in a version, from any other.
    pub(crate) fn shown<'b>(&self, object: &'b Value, api_version: &str) -> Cow<'b, Value> {
        match self.resource(api_version) {
            Some(resource) if !self.is_scale() => convert::shown(object, &resource),
            _ => Cow::Borrowed(object),
        }
    }

    /// What a write in this version through this subresource leaves as it was.
    pub(crate) fn reset(&self, api_version: &str) -> Reset {
        // The object itself is known to leave its status alone in the version of the request only.
        let elsewhere = self.subresource.is_empty() && api_version != self.api_version();
        if self.custom && elsewhere {
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
        self.served.target(group, version, &self.resource.plural).map(|target| target.resource)
    }
}

fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
