//! The outcome of a clause.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Then {
    /// The resulting object; `$unchanged`: no patch at all.
    object: Option<Value>,
    /// Whether the request may proceed.
    allowed: Option<Value>,
    /// HTTP status of the denial.
    code: Option<Value>,
    /// Status reason; for maintenance, why versions changed.
    reason: Option<Value>,
    /// Status message.
    message: Option<Value>,
    /// All field errors; implies 422 and Invalid. A list, or a column with lists.
    #[schemars(default, schema_with = "causes")]
    causes: Option<Value>,
    /// Whether the registration sends the request to the webhook at all.
    called: Option<Value>,
    /// The whole list of warnings.
    warnings: Option<Value>,
    /// Version of the AdmissionReview in the answer: v1 or v1beta1.
    review: Option<Value>,
    /// The webhook configuration, reduced to the webhook of the contract.
    registration: Option<Value>,
    /// Whether the component starts with the configuration.
    starts: Option<Value>,
    /// The configuration with all defaults.
    effective: Option<Value>,
    /// Form process: the code with which the program ends; 128 and the signal's number if a signal ended it.
    exit_code: Option<Value>,
    /// Form process: what the program wrote to standard output and standard error.
    output: Option<Value>,
    /// Form process: the server's response: `{status, protocol, headers, body}`, or `{error}`.
    response: Option<Value>,
    /// Form versions: the resulting Shoot.
    shoot: Option<Value>,
    /// With maintenance: all reported messages, in order.
    told: Option<Value>,
    /// With maintenance and `admitted: true`: whether it succeeded.
    state: Option<Value>,
    /// With maintenance: failures of decisions, in order.
    failures: Option<Value>,
    /// The window in which work may begin: `{begin: "22:00:00", end: "22:45:00"}`.
    window: Option<Value>,
    /// Whether the Shoot is maintained now.
    maintained: Option<Value>,
    /// The earliest and the latest time in the next window.
    next: Option<Value>,
    /// The same, if the rest of the current window counts too.
    in_this: Option<Value>,
    /// The hash of the first worker pool.
    hash: Option<Value>,
    /// Whether the machines of the first worker pool are replaced.
    rolls: Option<Value>,
    /// Whether the version is supported.
    supported: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cause {
    /// Field path as Kubernetes writes it.
    field: String,
    /// FieldValueRequired, FieldValueInvalid and so on.
    reason: Option<Value>,
    /// The message.
    message: Option<Value>,
}

fn causes(generator: &mut SchemaGenerator) -> schemars::Schema {
    let list = generator.subschema_for::<Vec<Cause>>();
    schemars::json_schema!({"anyOf": [{"type": ["string", "null"]}, list]})
}
