//! ClusterOpenIDConnectPresets.

use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column, selector};
use super::open_id_connect_preset::{ISSUER, SHOOTS};
use super::{GardenKind, SETTINGS};
use crate::webhooks::cluster_open_id_connect_preset;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "clusteropenidconnectpresets.settings.gardener.cloud",
    details: SETTINGS,
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: cluster_open_id_connect_preset::mutate,
    validate: |_, old, new| cluster_open_id_connect_preset::validate(old, new),
    columns: &[NAME, ISSUER, PROJECTS, SHOOTS, AGE],
    ..Strategy::PLAIN
};

const PROJECTS: Column = Column {
    format: "",
    ..column("Project-Selector", |preset, _| selector(preset, "/spec/projectSelector"))
};
