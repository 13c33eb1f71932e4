//! Checks the names of a CRD against other CRDs of its group, and derives its conditions.

use serde_json::{Value, json};

use crate::object::meta;

/// The accepted names, and the conditions `NamesAccepted` and `Established`; `others` are all definitions. Names
/// without a conflict are accepted; of several conflicts, the conditions report the last.
pub(super) fn accept(object: &Value, others: &[&Value], since: impl Fn(&str) -> String) -> (Value, Value) {
    let wanted = &object["spec"]["names"];
    let stored = others.iter().find(|other| meta::name(other) == meta::name(object));
    let before = stored.map_or(&Value::Null, |stored| &stored["status"]["acceptedNames"]);
    let used = UsedNames::of(object, others);
    let mut accepted = if before.is_object() { before.clone() } else { json!({"kind": "", "plural": ""}) };
    let mut conflict = None;
    for (field, reason) in NAMES {
        let used = if matches!(field, "kind" | "listKind") { &used.kinds } else { &used.resources };
        let conflicts = conflicts_with(&wanted[field], used);
        if conflicts.is_empty() {
            set_name(&mut accepted, field, &wanted[field]);
        } else {
            conflict = Some((reason, join(&conflicts)));
        }
    }
    set_name(&mut accepted, "categories", &wanted["categories"]);
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since(kind),
        })
    };
    let conditions = match conflict {
        None => json!([
            condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
            condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
        ]),
        Some((reason, message)) => json!([
            condition("NamesAccepted", "False", reason, &message),
            condition("Established", "False", "NotAccepted", "not all names are accepted"),
        ]),
    };
    (accepted, conditions)
}

/// The fields with names, and the reasons of their conflicts, in kube-apiserver's order.
const NAMES: [(&str, &str); 5] = [
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("shortNames", "ShortNamesConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
];

/// The names of other definitions in the group.
struct UsedNames<'a> {
    resources: Vec<&'a Value>,
    kinds: Vec<&'a Value>,
}

impl<'a> UsedNames<'a> {
    fn of(object: &Value, others: &[&'a Value]) -> Self {
        let group = &object["spec"]["group"];
        let rivals: Vec<&Value> = others
            .iter()
            .filter(|other| other["spec"]["group"] == *group && meta::name(other) != meta::name(object))
            .map(|other| &other["status"]["acceptedNames"])
            .collect();
        let names = |fields: &[&str]| {
            let values = |names: &'a Value| {
                fields.iter().flat_map(|field| names_in(&names[*field])).collect::<Vec<_>>()
            };
            rivals.iter().copied().flat_map(values).collect()
        };
        Self { resources: names(&["plural", "singular", "shortNames"]), kinds: names(&["kind", "listKind"]) }
    }
}

/// A name or a list of names, as a list.
fn names_in(names: &Value) -> Vec<&Value> {
    match names {
        Value::Array(names) => names.iter().collect(),
        Value::Null => Vec::new(),
        name => vec![name],
    }
}

fn conflicts_with(names: &Value, used: &[&Value]) -> Vec<String> {
    let taken = names_in(names).into_iter().filter(|name| *name != "" && used.contains(name));
    taken.map(|name| format!("{name} is already in use")).collect()
}

fn set_name(accepted: &mut Value, field: &str, wanted: &Value) {
    if !wanted.is_null() {
        accepted[field] = wanted.clone();
    }
}

/// A single message, or several in brackets.
fn join(messages: &[String]) -> String {
    if let [message] = messages { message.clone() } else { format!("[{}]", messages.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(plural: &str, kind: &str) -> Value {
        let names = json!({
            "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"),
        });
        json!({
            "metadata": {"name": format!("{plural}.x.y")}, "spec": {"group": "x.y", "names": names},
            "status": {"acceptedNames": names},
        })
    }

    #[test]
    fn names_are_unique_in_their_group() {
        let (boats, cars) = (definition("boats", "Boat"), definition("cars", "Car"));
        let table = [
            (definition("bikes", "Bike"), "NoConflicts", "no conflicts found"),
            (definition("cars", "Car"), "NoConflicts", "no conflicts found"),
            (definition("barks", "Boat"), "ListKindConflict", "\"BoatList\" is already in use"),
            (definition("boat", "Bark"), "PluralConflict", "\"boat\" is already in use"),
            (definition("lists", "CarList"), "KindConflict", "\"CarList\" is already in use"),
        ];
        let mut short = definition("planes", "Plane");
        short["spec"]["names"]["shortNames"] = json!(["boat", "p", "cars"]);
        let both = "[\"boat\" is already in use, \"cars\" is already in use]";
        let table = table.into_iter().chain([(short, "ShortNamesConflict", both)]);
        for (object, reason, message) in table {
            let (_, conditions) = accept(&object, &[&boats, &cars], |_| String::new());
            assert_eq!(
                (&conditions[0]["reason"], &conditions[0]["message"]),
                (&json!(reason), &json!(message))
            );
        }
    }

    #[test]
    fn free_names_are_accepted_despite_a_conflict() {
        let (boats, rival) = (definition("boats", "Boat"), definition("barks", "Boat"));
        let (names, _) = accept(&rival, &[&boats], |_| String::new());
        assert_eq!(names, json!({"plural": "barks", "kind": ""}));
    }
}
