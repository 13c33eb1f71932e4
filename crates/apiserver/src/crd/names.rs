//! Whether the names of a definition are free in its group, and what its conditions say of that.

use serde_json::{Value, json};

use crate::object::meta;

/// The names that a definition is known by, and the conditions `NamesAccepted` and `Established`; `others` are the
/// definitions of the same group.
pub(super) fn accepted(object: &Value, others: &[&Value], since: impl Fn(&str) -> String) -> (Value, Value) {
    let names = &object["spec"]["names"];
    let taken = conflict(object, others);
    let known = others.iter().find(|other| meta::name(other) == meta::name(object));
    let accepted = match &taken {
        None => names.clone(),
        Some(_) => known.map_or_else(
            || json!({"kind": "", "plural": ""}),
            |known| known["status"]["acceptedNames"].clone(),
        ),
    };
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since(kind),
        })
    };
    let conditions = match taken {
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

/// The first name that another definition of the group has: reason and message.
fn conflict(object: &Value, others: &[&Value]) -> Option<(&'static str, String)> {
    let group = &object["spec"]["group"];
    let rivals: Vec<&Value> = others
        .iter()
        .filter(|other| other["spec"]["group"] == *group && meta::name(other) != meta::name(object))
        .map(|other| &other["status"]["acceptedNames"])
        .collect();
    let resources: Vec<&Value> = rivals
        .iter()
        .flat_map(|names| {
            let short = names["shortNames"].as_array().into_iter().flatten();
            [&names["plural"], &names["singular"]].into_iter().chain(short)
        })
        .collect();
    let kinds: Vec<&Value> = rivals.iter().flat_map(|names| [&names["kind"], &names["listKind"]]).collect();
    let names = &object["spec"]["names"];
    let short = names["shortNames"].as_array().into_iter().flatten();
    let own_resources = [("PluralConflict", &names["plural"]), ("SingularConflict", &names["singular"])]
        .into_iter()
        .chain(short.map(|name| ("ShortNamesConflict", name)));
    let own_kinds = [("KindConflict", &names["kind"]), ("ListKindConflict", &names["listKind"])];
    let told = |(reason, name): (&'static str, &Value)| (reason, format!("{name} is already in use"));
    own_resources
        .filter(|(_, name)| resources.contains(name))
        .chain(own_kinds.into_iter().filter(|(_, name)| kinds.contains(name)))
        .next()
        .map(told)
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
            (definition("barks", "Boat"), "SingularConflict", "\"boat\" is already in use"),
            (definition("boat", "Bark"), "PluralConflict", "\"boat\" is already in use"),
            (definition("lists", "CarList"), "KindConflict", "\"CarList\" is already in use"),
        ];
        for (object, reason, message) in table {
            let (_, conditions) = accepted(&object, &[&boats, &cars], |_| String::new());
            assert_eq!(
                (&conditions[0]["reason"], &conditions[0]["message"]),
                (&json!(reason), &json!(message))
            );
        }
    }
}
