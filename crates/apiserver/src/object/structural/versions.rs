//! What a CRD says of its versions: schemas, read when they are first asked for, where replicas stand, and who converts.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use schema::{Crd, Scaling};
use serde_json::Value;

use super::schema::Schema;
use crate::versions::Conversion;

/// The schemas of a CRD by version.
#[derive(Debug)]
pub(crate) struct Versions {
    versions: BTreeMap<String, Version>,
    conversion: Option<Conversion>,
}

#[derive(Debug)]
struct Version {
    json: Value,
    scaling: Option<Arc<Scaling>>,
    read: OnceLock<Arc<Schema>>,
}

impl Versions {
    /// Those of a definition.
    pub(crate) fn of(crd: &Crd) -> Self {
        let names = crd.resources().into_iter().map(|resource| resource.version);
        let version = |name: String| {
            let json = crd.open_api(&name).cloned().unwrap_or_default();
            let scaling = crd.scaling(&name).cloned().map(Arc::new);
            (name, Version { json, scaling, read: OnceLock::new() })
        };
        Self { versions: names.map(version).collect(), conversion: Conversion::of(crd.json()) }
    }

    /// The webhook that converts, where one does.
    pub(crate) fn conversion(&self) -> Option<&Conversion> {
        self.conversion.as_ref()
    }

    /// Where the replicas stand in a version.
    pub(crate) fn scaling(&self, version: &str) -> Option<Arc<Scaling>> {
        self.versions.get(version)?.scaling.clone()
    }

    /// The schema of a version; of one that is not served, one that knows nothing.
    pub(crate) fn schema(&self, version: &str) -> Arc<Schema> {
        self.versions.get(version).map_or_else(Arc::default, |version| {
            Arc::clone(version.read.get_or_init(|| Arc::new(Schema::read(&version.json))))
        })
    }
}
