//! Reads tables from text: `[name]` begins a section, every other line is a row; empty lines and lines with `#` are
//! ignored.

use std::collections::BTreeMap;

/// The rows of each section, in the order of the lines.
pub(super) fn read<Row>(
    tables: &[&'static str],
    row: impl Fn(&'static str) -> Row,
) -> BTreeMap<&'static str, Vec<Row>> {
    let mut sections: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    let mut name = "";
    for line in tables.iter().flat_map(|table| table.lines()).map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name = section;
        } else if !line.is_empty() && !line.starts_with('#') {
            sections.entry(name).or_default().push(row(line));
        }
    }
    sections
}

/// Checks of tables for tests.
#[cfg(test)]
pub(super) mod checks {
    use std::collections::BTreeMap;

    use schema::Kinds;

    /// Sections that are neither a kind (`apps/v1 Deployment`) nor referenced by a row, and sections that are
    /// referenced but missing.
    pub(in crate::object) fn unknown_sections<Row>(
        sections: &BTreeMap<&'static str, Vec<Row>>,
        applied: impl Fn(&Row) -> Option<&'static str>,
    ) -> Vec<&'static str> {
        let applied: Vec<&str> = sections.values().flatten().filter_map(applied).collect();
        let is_kind = |section: &str| {
            let (version, kind) = kind(section)?;
            Kinds::kubernetes().of_object(version, kind)
        };
        let unused = sections.keys().filter(|name| is_kind(name).is_none() && !applied.contains(name));
        let missing = applied.iter().filter(|name| !sections.contains_key(*name));
        unused.chain(missing).copied().collect()
    }

    /// Whether the kind of a section has a field (`.spec.containers[].name`); true for sections that are not kinds.
    pub(in crate::object) fn has_field(section: &str, path: &str) -> bool {
        let Some((version, kind)) = kind(section) else { return true };
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let ty = Kinds::kubernetes().type_of(group, version, kind).expect("a kind of Kubernetes");
        let path = path.trim_start_matches('.');
        path.is_empty() || ty.at(path).is_some()
    }

    fn kind(section: &str) -> Option<(&str, &str)> {
        let of = ["changed ", "before ", "status ", "addresses "];
        let of = of.iter().find_map(|part| section.strip_prefix(part));
        of.unwrap_or(section).split_once(' ')
    }
}
