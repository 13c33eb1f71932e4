//! The hash of a clause: it changes with the meaning of the clause, not with its layout.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::draft::Clause;
use crate::case::{Case, Sending, When};
use crate::flags::Explains;
use crate::gardener::decision::Question;
use crate::model::Contract;

/// SHA-256 over everything that the clause demands, fixtures and cells filled in, and over its contract's rules.
/// It does not include the text, so that better wording makes no attestation stale.
pub(super) fn of<'a>(
    clause: &Clause,
    contract: &Value,
    cases: impl Iterator<Item = (&'a Case, &'a Value)>,
) -> String {
    let mut hasher = Sha256::new();
    let mut add = |part: &Value| hasher.update(part.to_string().as_bytes());
    add(&json!({
        "id": clause.id, "level": clause.level, "binds": clause.binds,
        "versions": clause.versions, "needs": clause.needs, "instance": clause.instance,
    }));
    if let Some(strict) = clause.strict {
        add(&json!({"strict": strict}));
    }
    if contract.as_object().is_some_and(|rules| !rules.is_empty()) {
        add(contract);
    }
    for (case, then) in cases {
        let given = &case.given;
        add(&case.config);
        given.cluster.iter().for_each(&mut add);
        let object = given.object.as_ref().or(case.emitted());
        for object in [given.namespace.as_ref(), given.old.as_ref(), object] {
            add(object.unwrap_or(&Value::Null));
        }
        add(&action(&case.when));
        add(then);
    }
    hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// How answers of a contract compare and what they may change, for the hash of each of its clauses; absent
/// fields are left out.
pub(super) fn rules(contract: &Contract) -> Value {
    let sorted = |paths: &[String]| paths.iter().cloned().collect::<BTreeSet<_>>();
    let all = json!({
        "onlyTouches": sorted(&contract.only_touches),
        "unordered": sorted(&contract.unordered),
        "listKeys": contract.list_keys,
        "mayChange": may_change(contract),
        // The reason of an exemption does not matter.
        "exempt": contract.exempt.keys().collect::<BTreeSet<_>>(),
    });
    let is_set = |rule: &Value| {
        rule.as_array().is_some_and(|rule| !rule.is_empty())
            || rule.as_object().is_some_and(|rule| !rule.is_empty())
    };
    all.as_object()
        .into_iter()
        .flatten()
        .filter(|(_, rule)| is_set(rule))
        .map(|(name, rule)| (name.clone(), rule.clone()))
        .collect()
}

/// Flags that a webhook may add or change, sorted.
fn may_change(contract: &Contract) -> Vec<String> {
    let rows = contract.flags.iter().flat_map(|named| &named.rows);
    let free = rows.filter(|row| row.explains != Explains::Judged);
    let free: BTreeSet<String> = free.map(|row| format!("{} {:?}", row.flag, row.explains)).collect();
    free.into_iter().collect()
}

/// The action, for the hash of a clause; absent fields are left out.
fn action(when: &When) -> Value {
    match when {
        When::Admission { operation, sending } => {
            let Sending { direct, review, request } = sending;
            let mut action = json!({"admission": operation, "request": request});
            if *direct {
                action["direct"] = json!(true);
            }
            if let Some(review) = review {
                action["review"] = json!(review.name());
            }
            action
        }
        When::DeleteCollection { resource } => json!({"deleteCollection": resource}),
        When::Registration { instance } => json!({"registration": instance}),
        When::Configuration => json!("configuration"),
        When::Process(action) => json!({"process": action}),
        When::Decision(decision) => {
            let asks = match &decision.asks {
                Question::Admission { operation } => json!({"admission": operation}),
                Question::Maintenance { admitted: true } => json!({"maintenance": "admitted"}),
                Question::Maintenance { admitted: false } | Question::Window => json!(decision.asks.name()),
                Question::Rolling { additional } => json!({"rolling": additional}),
                Question::Support { gardener, cluster, version } => json!([gardener, cluster, version]),
            };
            json!({"decision": decision.runs_on.name(), "asks": asks, "now": decision.now.to_string()})
        }
        // The steps are hashed with `then`.
        When::Steps(_) => Value::Null,
        When::Emitted(emitted) => json!({"emitted": emitted.namespace}),
    }
}
