//! Tables as text: `[name]` begins a section, every other line is a row of it; `#` and what is empty say nothing.

use std::collections::BTreeMap;

/// Rows by section, each section in the order of its lines.
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

/// What tests hold tables against.
#[cfg(test)]
pub(super) mod known {
    use std::collections::BTreeMap;

    use schema::Kinds;

    /// Sections that are neither a kind of Kubernetes (`apps/v1 Deployment`) nor applied by a row, and applied ones that
    /// are not there.
    pub(in crate::object) fn strays<Row>(
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

    /// Whether the kind of a section has a field (`.spec.containers[].name`); a section of no kind is not asked.
    pub(in crate::object) fn has(section: &str, path: &str) -> bool {
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
