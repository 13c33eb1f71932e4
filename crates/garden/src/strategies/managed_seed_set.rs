//! ManagedSeedSets.

use api::garden::ManagedSeedSet;
use api::gardener::OPERATION_RECONCILE;
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::strategy::{Column, Generation, Strategy};

use super::columns::{AGE, NAME, column};
use super::{GardenKind, SEED_MANAGEMENT, generation, managed_seed_set_status};
use crate::webhooks::managed_seed_set;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "managedseedsets.seedmanagement.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[
            ("spec.shootTemplate.spec.dns.providers", "type"),
            ("spec.shootTemplate.spec.kubernetes.kubeAPIServer.admissionPlugins", "name"),
            ("spec.shootTemplate.spec.provider.workers", "name"),
            ("spec.shootTemplate.spec.tolerations", "key"),
            ("status.conditions", "type"),
        ],
        subresources: &[("scale", Some(("autoscaling", "v1", "Scale")))],
        ..SEED_MANAGEMENT
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: managed_seed_set::mutate,
    prepare_changed: |_, old, new| {
        let of_spec = generation::of_spec("ManagedSeedSet", (old, new), |set: &ManagedSeedSet| &set.spec)?;
        Ok(match of_spec {
            Generation::Raised => of_spec,
            Generation::Kept => generation::of_consumed(new, OPERATION_RECONCILE),
        })
    },
    validate: |_, old, new| managed_seed_set::validate(old, new),
    validate_status: |_, old, new| managed_seed_set_status::validate(old, new),
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Ready", |set, _| {
        let number = |pointer: &str| set.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
        format!("{}/{}", number("/status/readyReplicas"), number("/spec/replicas")).into()
    }),
    column("Pending", |set, _| {
        let Some(pending) = set.pointer("/status/pendingReplica") else { return "".into() };
        let text = |field: &str| pending[field].as_str().unwrap_or_default();
        format!("{}:{}", text("name"), text("reason")).into()
    }),
    AGE,
];
