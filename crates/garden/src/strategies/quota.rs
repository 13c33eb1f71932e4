//! Quotas.

use serde_json::Value;
use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column};
use super::{CORE, GardenKind};
use crate::webhooks::quota;

pub(super) static KIND: GardenKind =
    GardenKind { crd: "quotas.core.gardener.cloud", details: CORE, strategy: &STRATEGY };

static STRATEGY: Strategy = Strategy {
    validate: |_, old, new| quota::validate(old, new),
    allows_unconditional_update: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Scope", |quota, _| {
        let text = |field: &str| quota["spec"]["scope"][field].as_str().unwrap_or_default();
        format!("{}.{}", text("apiVersion"), text("kind")).into()
    }),
    column("Cluster Lifetime", |quota, _| {
        let days = quota.pointer("/spec/clusterLifetimeDays").and_then(Value::as_i64);
        days.map_or("<unspecified>".into(), |days| format!("{days} days").into())
    }),
    AGE,
];
