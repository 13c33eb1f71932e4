//! Paths of objects, and how people name them.

/// Maps of texts: the rest of the path is one key, also with dots.
const OF_TEXTS: [&str; 4] = ["annotations", "labels", "matchLabels", "nodeSelector"];

/// Lists whose elements are named by their key alone, what precedes the name, and fields below them that a reader need not know.
const NAMED: [(&str, &str, &[&str]); 5] = [
    ("units[name=", "", &["content", "Service"]),
    ("files[path=", "", &["content", "inline", "data"]),
    ("containers[name=", "container ", &[]),
    ("initContainers[name=", "init container ", &[]),
    ("dropIns[name=", "", &["content", "Service"]),
];

/// A path as people name it: `spec.units[name=kubelet.service].content` → `kubelet.service`;
/// `spec.template.spec.containers[name=app]<Flags>.--v` → `container app`, `--v`; any other path is one part.
#[must_use]
pub fn place(path: &str) -> Vec<String> {
    let segments = segments(path);
    let mut parts = Vec::new();
    let mut rest: Vec<String> = Vec::new();
    let mut hidden: &[&str] = &[];
    for segment in &segments {
        let (name, notation) = notation(segment);
        let found = NAMED.iter().find_map(|(list, word, hidden)| {
            Some((name.strip_prefix(list)?.strip_suffix(']')?, *word, *hidden))
        });
        if let Some((key, word, below)) = found {
            rest.clear();
            parts.push(format!("{word}{key}"));
            hidden = below;
        } else if !hidden.contains(&name.split('<').next().unwrap_or(name)) {
            let name = if notation == Some("Unit") { name } else { segment.as_str() };
            rest.push(name.strip_suffix("<Flags>").unwrap_or(name).to_owned());
        }
    }
    let is_unit = hidden.contains(&"Service");
    match rest.as_slice() {
        [] => {}
        [flag, ..] if is_unit || flag.starts_with("--") => parts.extend(rest),
        fields => parts.push(fields.join(".")),
    }
    parts
}

/// `ExecStart<Flags>` → `ExecStart`, `Flags`.
fn notation(segment: &str) -> (&str, Option<&str>) {
    match segment.strip_suffix('>').and_then(|segment| segment.rsplit_once('<')) {
        Some((name, notation)) => (name, Some(notation)),
        None => (segment, None),
    }
}

/// `spec.containers[name=a.b].env` → `spec`, `containers[name=a.b]`, `env`; `metadata.labels.a.b/c` → `metadata`, `labels`,
/// `a.b/c`.
#[must_use]
pub fn segments(path: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0;
    let mut in_texts = false;
    for letter in path.chars() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            '.' if depth == 0 && !in_texts => {
                in_texts = found.last().is_some_and(|name| OF_TEXTS.contains(&name.as_str()));
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(letter);
        }
    }
    found.retain(|segment| !segment.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_labels_and_elements_keep_their_dots() {
        let table = [
            ("metadata.labels.a.b/c", "metadata > labels > a.b/c"),
            ("spec.containers[name=a.b].env", "spec > containers[name=a.b] > env"),
            ("data.a.b", "data > a > b"),
        ];
        for (path, want) in table {
            assert_eq!(segments(path).join(" > "), want);
        }
    }

    #[test]
    fn containers_units_and_files_are_named_by_their_key() {
        let table = [
            ("spec.replicas", "spec.replicas"),
            ("spec.units[name=kubelet.service].content", "kubelet.service"),
            (
                "spec.units[name=kubelet.service].content<Unit>.Service.ExecStart<Flags>.--v",
                "kubelet.service > ExecStart > --v",
            ),
            ("spec.units[name=a.service].content<Unit>.Unit.After", "a.service > Unit > After"),
            ("spec.files[path=/etc/a.conf].content.inline.data", "/etc/a.conf"),
            ("spec.files[path=/etc/a.conf].content.inline.data<Yaml>.a.b", "/etc/a.conf > a.b"),
            ("spec.files[path=/a].content.inline.data<Base64><Yaml>.a", "/a > a"),
            ("spec.template.spec.containers[name=app]<Flags>.--v", "container app > --v"),
            ("spec.template.spec.containers[name=app].command", "container app > command"),
            (
                "spec.template.spec.containers[name=app].env[name=A].value",
                "container app > env[name=A].value",
            ),
        ];
        for (path, want) in table {
            assert_eq!(place(path).join(" > "), want, "{path}");
        }
    }
}
