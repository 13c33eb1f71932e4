//! ControllerInstallations.

use api::garden::ControllerInstallation;
use schema::TypedKindDetails;
use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column, condition_cell, text};
use super::{ALL, CORE, GardenKind, generation};
use crate::webhooks::controller_installation;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "controllerinstallations.core.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[("status.conditions", "type")],
        selectable: &["metadata.name", "spec.registrationRef.name", "spec.seedRef.name"],
        categories: ALL,
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    prepare_changed: |_, old, new| {
        let kind = "ControllerInstallation";
        generation::of_spec(kind, (old, new), |installation: &ControllerInstallation| &installation.spec)
    },
    validate: |_, old, new| controller_installation::validate(old, new),
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Registration", |installation, _| text(installation, "/spec/registrationRef/name")),
    column("Seed", |installation, _| text(installation, "/spec/seedRef/name")),
    column("Valid", |installation, _| condition_cell(installation, "Valid")),
    column("Installed", |installation, _| condition_cell(installation, "Installed")),
    column("Healthy", |installation, _| condition_cell(installation, "Healthy")),
    column("Progressing", |installation, _| condition_cell(installation, "Progressing")),
    AGE,
];
