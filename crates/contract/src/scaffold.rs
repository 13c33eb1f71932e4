//! The contract file that `new contract` writes: it loads, and has one clause to replace.

use std::collections::{BTreeMap, BTreeSet};

mod templates;

/// The forms that can be scaffolded; `registration` is a clause about a webhook configuration in the form mutation.
pub const FORMS: [&str; 9] = [
    "mutation",
    "validation",
    "registration",
    "scenario",
    "configuration",
    "process",
    "flags",
    "objects",
    "versions",
];

/// What a new contract is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractHead<'a> {
    /// `pod-scheduler-name`.
    pub name: &'a str,
    /// `resource-manager`.
    pub component: &'a str,
    /// The id of its first clause: `GRM-PSN-001`.
    pub id: &'a str,
}

/// A contract file for a behaviour of a component, written in one of [`FORMS`].
///
/// # Errors
/// When the name is not lower-case words joined by `-` (`pod-scheduler-name`), or the form is not one of [`FORMS`].
pub fn contract(head: &ContractHead<'_>, form: &str) -> Result<String, String> {
    let name = head.name;
    let template = templates::of(form)
        .ok_or_else(|| format!("cannot scaffold the form {form:?}; {}", crate::load::nearest(form, FORMS)))?;
    let plain = name
        .split('-')
        .all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    if !plain {
        return Err(format!(
            "{name:?} is not a valid name of a contract: write lower-case words joined by -, as in pod-scheduler-name"
        ));
    }
    let text =
        template.replace("{name}", name).replace("{component}", head.component).replace("{id}", head.id);
    Ok(crate::table_format::align(&text))
}

/// An id for the first clause of a new contract that no clause has, in the manner of its component's ids: `GRM-PSN-001`, or the
/// next number for a component that numbers its clauses throughout (`CP-142`). `own` are the ids of the component, `all` those of
/// every component and of the ledgers.
#[must_use]
pub fn free_id(name: &str, own: &BTreeSet<&str>, all: &BTreeSet<&str>) -> String {
    let mut heads: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for id in own {
        if let Some((head, rest)) = id.split_once('-') {
            *heads.entry((head, rest.contains('-'))).or_default() += 1;
        }
    }
    let usual = heads.into_iter().max_by_key(|(_, count)| *count).map(|(usual, _)| usual);
    match usual {
        Some((head, false)) => {
            let numbers = all.iter().filter_map(|id| id.strip_prefix(head)?.strip_prefix('-')?.parse().ok());
            let last: u32 = numbers.max().unwrap_or(0);
            format!("{head}-{:03}", last + 1)
        }
        Some((head, true)) => format!("{}-001", free_prefix(&format!("{head}-"), name, all)),
        None => format!("{}-001", free_prefix("", name, all)),
    }
}

/// Letters of the name that no other contract has as its prefix.
fn free_prefix(head: &str, name: &str, all: &BTreeSet<&str>) -> String {
    let words: Vec<String> = name.split('-').map(str::to_uppercase).collect();
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    let joined: String = words.concat();
    let first: String = joined.chars().take(3).collect();
    let by_first_word: String = words.first().iter().flat_map(|word| word.chars().take(2)).collect();
    let last: String = words.last().iter().flat_map(|word| word.chars().take(2)).collect();
    let wanted = if initials.chars().count() >= 3 { initials.clone() } else { first.clone() };
    let candidates = [wanted, initials, first, format!("{by_first_word}{last}")].into_iter();
    let numbered = (2..).map(|number| format!("{}{number}", joined.chars().take(3).collect::<String>()));
    let is_free = |prefix: &String| {
        let prefix = format!("{head}{prefix}-");
        !all.iter().any(|id| id.starts_with(&prefix))
    };
    let free = candidates.filter(|prefix| !prefix.is_empty()).chain(numbered).find(is_free);
    format!("{head}{}", free.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: ContractHead<'static> =
        ContractHead { name: "pod-scheduler-name", component: "resource-manager", id: "GRM-PSN-001" };

    #[test]
    fn name_component_and_id_are_filled_in_whatever_the_form() {
        for form in FORMS {
            let text = contract(&HEAD, form).unwrap();
            for line in ["  name: pod-scheduler-name", "  labels: {component: resource-manager}"] {
                assert!(text.lines().any(|written| written == line), "{form}: {line} in\n{text}");
            }
            assert!(text.contains("GRM-PSN-001") && !text.contains("{id}"), "{form}: {text}");
        }
    }

    #[test]
    fn invalid_names_and_forms_are_refused() {
        for name in ["", "Pod", "pod--name", "pod_name", "-pod"] {
            assert!(contract(&ContractHead { name, ..HEAD }, "mutation").is_err(), "{name:?}");
        }
        let text = "cannot scaffold the form \"flag\"; did you mean `flags`?";
        assert_eq!(contract(&HEAD, "flag"), Err(text.to_owned()));
    }

    #[test]
    fn ids_follow_the_manner_of_their_component_and_are_free() {
        let of = |ids: &[&'static str]| ids.iter().copied().collect::<BTreeSet<&str>>();
        let table: [(&str, &[&'static str], &str); 7] = [
            ("pod-scheduler-name", &["ACM-HAC-001", "ACM-SEC-002"], "ACM-PSN-001"),
            ("pod-scheduler-name", &["ACM-PSN-001", "ACM-SEC-002"], "ACM-POD-001"),
            ("pod-scheduler-name", &["ACM-PSN-001", "ACM-POD-002"], "ACM-PONA-001"),
            ("seccomp-profile", &["GRM-HAC-001"], "GRM-SEC-001"),
            ("anything", &["CP-017", "CP-141"], "CP-142"),
            ("pod-scheduler-name", &[], "PSN-001"),
            ("a", &[], "A-001"),
        ];
        for (name, ids, want) in table {
            assert_eq!(free_id(name, &of(ids), &of(ids)), want, "{name} {ids:?}");
        }
    }
}
