//! The versions of a CRD: schemas, parsed when they are first used, scale paths, and the conversion webhook.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use schema::{Crd, Scaling};
use serde_json::Value;

use super::schema::Schema;
use crate::versions::ConversionWebhook;

/// The versions of a CRD.
#[derive(Debug)]
pub(crate) struct Versions {
    versions: BTreeMap<String, VersionSchema>,
    conversion: Option<ConversionWebhook>,
}

#[derive(Debug)]
struct VersionSchema {
    json: Value,
    scaling: Option<Arc<Scaling>>,
    schema: OnceLock<Arc<Schema>>,
}

impl Versions {
    /// The versions that a CRD serves.
    pub(crate) fn of(crd: &Crd) -> Self {
        let names = crd.resources().into_iter().map(|resource| resource.version);
        let version = |name: String| {
            let json = crd.open_api(&name).cloned().unwrap_or_default();
            let scaling = crd.scaling(&name).cloned().map(Arc::new);
            (name, VersionSchema { json, scaling, schema: OnceLock::new() })
        };
        Self { versions: names.map(version).collect(), conversion: ConversionWebhook::of(crd.json()) }
    }

    /// The conversion webhook, if the CRD has one.
    pub(crate) fn conversion(&self) -> Option<&ConversionWebhook> {
        self.conversion.as_ref()
    }

    /// The scale paths of a version.
    pub(crate) fn scaling(&self, version: &str) -> Option<Arc<Scaling>> {
        self.versions.get(version)?.scaling.clone()
    }

    /// The schema of a version; an empty one if the version is not served.
    pub(crate) fn schema(&self, version: &str) -> Arc<Schema> {
        self.versions.get(version).map_or_else(Arc::default, |version| {
            Arc::clone(version.schema.get_or_init(|| Arc::new(Schema::read(&version.json))))
        })
    }
}
