//! OpenIDConnectPresets.

use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column, selector, text_or};
use super::{GardenKind, SETTINGS};
use crate::webhooks::open_id_connect_preset;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "openidconnectpresets.settings.gardener.cloud",
    details: SETTINGS,
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: open_id_connect_preset::mutate,
    validate: |_, old, new| open_id_connect_preset::validate(old, new),
    columns: &[NAME, ISSUER, SHOOTS, AGE],
    ..Strategy::PLAIN
};

pub(super) const ISSUER: Column = Column {
    format: "",
    ..column("Issuer", |preset, _| text_or(preset, "/spec/server/issuerURL", "<unknown>"))
};

pub(super) const SHOOTS: Column =
    Column { format: "", ..column("Shoot-Selector", |preset, _| selector(preset, "/spec/shootSelector")) };
