//! Projects.

use api::garden::{GROUP, Project};
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::strategy::{Column, Generation, Situation, Strategy};

use super::columns::{AGE, NAME, column, text_or};
use super::{CORE, GardenKind, generation};
use crate::webhooks::project;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "projects.core.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[("spec.tolerations.defaults", "key"), ("spec.tolerations.whitelist", "key")],
        selectable: &["metadata.name", "spec.namespace"],
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: project::mutate,
    prepare_changed: |_, old, new| {
        let differs = generation::differs("Project", (old, new), |project: &Project| &project.spec)?;
        Ok(Generation::raised_if(differs))
    },
    validate: |_, old, new| project::validate(old, new),
    validate_status,
    has_generation: true,
    allows_unconditional_update: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Namespace", |project, _| text_or(project, "/spec/namespace", "<unknown>")),
    column("Status", |project, _| text_or(project, "/status/phase", "<unknown>")),
    column("Owner", |project, _| text_or(project, "/spec/owner/name", "<unknown>")),
    column("Creator", |project, _| text_or(project, "/spec/createdBy/name", "<unknown>")),
    AGE,
];

/// A Project does not lose its phase.
fn validate_status(_: &Situation<'_>, old: &Value, new: &Value) -> Result<(), Rejection> {
    let phase = |project: &Value| project["status"]["phase"].as_str().unwrap_or_default().to_owned();
    if phase(old).is_empty() || !phase(new).is_empty() {
        return Ok(());
    }
    let at = Path::new("status").child("phase");
    let errors = [Error::invalid(&at, "", "phase cannot be updated to an empty string")];
    Err(Rejection::invalid(GROUP, "Project", new["metadata"]["name"].as_str().unwrap_or_default(), &errors))
}
