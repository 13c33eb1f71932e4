//! Bastions.

use api::garden::Bastion;
use api::garden::operations::GROUP;
use api::gardener::OPERATION_RECONCILE;
use jiff::{SignedDuration, Timestamp};
use schema::TypedKindDetails;
use serde_json::{Value, json};
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::strategy::{Column, Generation, Situation, Strategy};

use super::columns::{self, AGE, NAME, column, text, text_or};
use super::{ALL, GardenKind, OPERATIONS, generation};
use crate::webhooks::bastion;
use crate::webhooks::shoot_metadata::FORCE_DELETION;

/// Operation that keeps a Bastion.
const KEEP_ALIVE: &str = "keepalive";
/// How long a Bastion lives after it was kept alive.
const LIFE: SignedDuration = SignedDuration::from_hours(1);
const HEARTBEAT: &str = "/status/lastHeartbeatTimestamp";
const EXPIRATION: &str = "/status/expirationTimestamp";

pub(super) static KIND: GardenKind = GardenKind {
    crd: "bastions.operations.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[("status.conditions", "type")],
        selectable: &["metadata.name", "metadata.namespace", "spec.seedName", "spec.shootRef.name"],
        categories: ALL,
        ..OPERATIONS
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    prepare_new: |situation, bastion| {
        keep_alive(bastion, situation.now);
        Ok(())
    },
    prepare_changed,
    prepare_status,
    validate: |_, old, new| bastion::validate(old, new),
    validate_status,
    has_generation: true,
    // The original only writes the two times.
    keeps_new_status: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    Column {
        description: "The Shoot this bastion belongs to.",
        ..column("Shoot", |bastion, _| text(bastion, "/spec/shootRef/name"))
    },
    Column {
        description: "The Seed cluster on which the Shoot is scheduled.",
        ..column("Seed", |bastion, _| text_or(bastion, "/spec/seedName", "<pending>"))
    },
    Column {
        description: "The bastion host's IP and/or hostname.",
        ..column("IP", |bastion, _| match text(bastion, "/status/ingress/hostname") {
            hostname if hostname != "" => hostname,
            _ => text_or(bastion, "/status/ingress/ip", "<pending>"),
        })
    },
    Column {
        description: "The time and date when the last heartbeat occurred.",
        ..column("Heartbeat", |bastion, now| {
            columns::since(bastion, HEARTBEAT, now)
                .map_or("<never>".into(), |age| format!("{age} ago").into())
        })
    },
    Column {
        description: "The time and date after which the bastion will be deleted.",
        ..column("Expires", |bastion, now| match columns::time(bastion, EXPIRATION) {
            None => "<pending>".into(),
            Some(end) if end < now => "<expired>".into(),
            Some(end) => formats::age::to_string(end.duration_since(now).as_secs()).into(),
        })
    },
    AGE,
];

fn prepare_changed(situation: &Situation<'_>, old: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    let of_spec = generation::of_spec("Bastion", (old, new), |bastion: &Bastion| &bastion.spec)?;
    let is_forced = |bastion: &Value| generation::annotation(bastion, FORCE_DELETION) == "true";
    // Unlike other kinds, a Bastion keeps the annotation.
    let reconciles = generation::operation(new) == OPERATION_RECONCILE;
    let is_raised = of_spec == Generation::Raised || reconciles || (is_forced(new) && !is_forced(old));
    if generation::operation(new) == KEEP_ALIVE {
        keep_alive(new, situation.now);
    }
    Ok(Generation::raised_if(is_raised))
}

/// Records a heartbeat, whether or not an annotation requests it, and removes that annotation.
fn keep_alive(bastion: &mut Value, now: Timestamp) {
    if generation::operation(bastion) == KEEP_ALIVE {
        generation::remove_operation(bastion);
    }
    if !bastion["status"].is_object() {
        bastion["status"] = json!({});
    }
    bastion["status"]["lastHeartbeatTimestamp"] = written(now).into();
    bastion["status"]["expirationTimestamp"] = written(expiration(now)).into();
}

fn prepare_status(_: &Situation<'_>, _: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    // The original ends the request with this answer, too, because it reads the time without looking whether there is one.
    let heartbeat = columns::time(new, HEARTBEAT).ok_or_else(|| {
        Rejection::errored(500, "This request caused apiserver to panic. Look in the logs for details.")
    })?;
    new["status"]["expirationTimestamp"] = written(expiration(heartbeat)).into();
    Ok(Generation::Kept)
}

fn validate_status(situation: &Situation<'_>, _: &Value, new: &Value) -> Result<(), Rejection> {
    if columns::time(new, HEARTBEAT).is_none_or(|heartbeat| heartbeat <= situation.now) {
        return Ok(());
    }
    let at = Path::new("status").child("lastHeartbeatTimestamp");
    let shown = new.pointer(HEARTBEAT).unwrap_or(&Value::Null);
    let errors = [Error::invalid(&at, shown, "last heartbeat must not be in the future")];
    let name = new["metadata"]["name"].as_str().unwrap_or_default();
    Err(Rejection::invalid(GROUP, "Bastion", name, &errors))
}

fn expiration(heartbeat: Timestamp) -> Timestamp {
    heartbeat.checked_add(LIFE).unwrap_or(heartbeat)
}

/// A time as Go writes it, in seconds.
fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
