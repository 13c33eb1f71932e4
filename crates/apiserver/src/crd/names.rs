//! Whether the names of a definition are free in its group, and what its conditions say of that.

use serde_json::{Value, json};

use crate::object::meta;

/// The names that a definition is known by, and the conditions `NamesAccepted` and `Established`; `others` are the
/// definitions of the same group. Each name that is free is accepted; of several that are not, the last one is told.
pub(super) fn accepted(object: &Value, others: &[&Value], since: impl Fn(&str) -> String) -> (Value, Value) {
    let wanted = &object["spec"]["names"];
    let known = others.iter().find(|other| meta::name(other) == meta::name(object));
    let before = known.map_or(&Value::Null, |known| &known["status"]["acceptedNames"]);
    let used = Used::of(object, others);
    let mut accepted = if before.is_object() { before.clone() } else { json!({"kind": "", "plural": ""}) };
    let mut conflict = None;
    for (field, reason) in NAMES {
        let used = if matches!(field, "kind" | "listKind") { &used.kinds } else { &used.resources };
        let taken = taken(&wanted[field], used);
        if taken.is_empty() {
            take(&mut accepted, field, &wanted[field]);
        } else {
            conflict = Some((reason, aggregate(&taken)));
        }
    }
    take(&mut accepted, "categories", &wanted["categories"]);
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

/// What has a name, and how it is told that another definition has it, in the order in which Kubernetes looks.
const NAMES: [(&str, &str); 5] = [
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("shortNames", "ShortNamesConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
];

/// The names that other definitions of the group have.
struct Used<'a> {
    resources: Vec<&'a Value>,
    kinds: Vec<&'a Value>,
}

impl<'a> Used<'a> {
    fn of(object: &Value, others: &[&'a Value]) -> Self {
        let group = &object["spec"]["group"];
        let rivals: Vec<&Value> = others
            .iter()
            .filter(|other| other["spec"]["group"] == *group && meta::name(other) != meta::name(object))
            .map(|other| &other["status"]["acceptedNames"])
            .collect();
        let names = |fields: &[&str]| {
            let each =
                |names: &'a Value| fields.iter().flat_map(|field| each(&names[*field])).collect::<Vec<_>>();
            rivals.iter().copied().flat_map(each).collect()
        };
        Self { resources: names(&["plural", "singular", "shortNames"]), kinds: names(&["kind", "listKind"]) }
    }
}

/// A name, or several.
fn each(names: &Value) -> Vec<&Value> {
    match names {
        Value::Array(names) => names.iter().collect(),
        Value::Null => Vec::new(),
        name => vec![name],
    }
}

fn taken(names: &Value, used: &[&Value]) -> Vec<String> {
    let taken = each(names).into_iter().filter(|name| *name != "" && used.contains(name));
    taken.map(|name| format!("{name} is already in use")).collect()
}

fn take(accepted: &mut Value, field: &str, wanted: &Value) {
    if !wanted.is_null() {
        accepted[field] = wanted.clone();
    }
}

/// One message as it is, several in brackets.
fn aggregate(messages: &[String]) -> String {
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
    fn names_of_one_group_are_taken_once() {
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
            let (_, conditions) = accepted(&object, &[&boats, &cars], |_| String::new());
            assert_eq!(
                (&conditions[0]["reason"], &conditions[0]["message"]),
                (&json!(reason), &json!(message))
            );
        }
    }

    #[test]
    fn names_that_are_free_are_accepted_beside_one_that_is_not() {
        let (boats, rival) = (definition("boats", "Boat"), definition("barks", "Boat"));
        let (names, _) = accepted(&rival, &[&boats], |_| String::new());
        assert_eq!(names, json!({"plural": "barks", "kind": ""}));
    }
}
