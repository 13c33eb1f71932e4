//! The hash of a clause: it changes with what the clause means, however it is set.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::draft::Clause;
use crate::case::{Case, Sending, When};

/// SHA-256 over everything that the clause says, fixtures and cells filled in, however it is set.
pub(super) fn of<'a>(clause: &Clause, cases: impl Iterator<Item = (&'a Case, &'a Value)>) -> String {
    let mut hasher = Sha256::new();
    let mut add = |part: &Value| hasher.update(part.to_string().as_bytes());
    add(&json!({
        "id": clause.id, "text": clause.text, "level": clause.level, "binds": clause.binds,
        "versions": clause.versions, "needs": clause.needs, "instance": clause.instance,
    }));
    for (case, then) in cases {
        let given = &case.given;
        add(&case.config);
        given.cluster.iter().for_each(&mut add);
        for object in [&given.namespace, &given.old, &given.object] {
            add(object.as_ref().unwrap_or(&Value::Null));
        }
        add(&done(&case.when));
        add(then);
    }
    hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What is done, as it goes into the hash of a clause; what is not said is not in it.
fn done(when: &When) -> Value {
    match when {
        When::Admission { operation, sending } => {
            let Sending { direct, review, request } = sending;
            let mut done = json!({"admission": operation, "request": request});
            if *direct {
                done["direct"] = json!(true);
            }
            if let Some(review) = review {
                done["review"] = json!(review.name());
            }
            done
        }
        When::DeleteCollection { resource } => json!({"deleteCollection": resource}),
        When::Registration { instance } => json!({"registration": instance}),
        When::Configuration => json!("configuration"),
        // Steps are part of what must hold.
        When::Steps(_) => Value::Null,
    }
}
