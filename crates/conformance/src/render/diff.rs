//! Failed checks as a diff of the asserted fields: each parent once, wanted and got below it.

use crate::report::Check;

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffLine {
    /// ` ` for a parent, `-` for wanted, `+` for got.
    pub(super) sign: char,
    /// The line, indented.
    pub(super) text: String,
    /// `wanted` or `got`, after the text.
    pub(super) note: &'static str,
}

/// The checks of one case as a diff.
pub(super) fn diff(checks: &[Check]) -> Vec<DiffLine> {
    let mut lines = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for check in checks {
        let mut path = match check.part.as_str() {
            "object" => segments(&check.path),
            part => std::iter::once(part.to_owned()).chain(path_segments(&check.path)).collect(),
        };
        let name = path.pop();
        let shared = open.iter().zip(&path).take_while(|(open, wanted)| open == wanted).count();
        for (depth, segment) in path.iter().enumerate().skip(shared) {
            lines.push(DiffLine { sign: ' ', text: format!("{}{segment}:", "  ".repeat(depth)), note: "" });
        }
        let indent = "  ".repeat(path.len());
        let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
        lines.push(DiffLine { sign: '-', text: format!("{indent}{name}{}", check.want), note: "wanted" });
        lines.push(DiffLine { sign: '+', text: format!("{indent}{name}{}", check.got), note: "got" });
        open = path;
    }
    lines
}

/// `a step: cluster pod/p spec.a` → `a step`, `cluster pod/p`, `spec`, `a`; a place without a step is one segment.
fn path_segments(path: &str) -> Vec<String> {
    let Some((step, rest)) = path.split_once(": ") else {
        return Some(path.to_owned()).filter(|path| !path.is_empty()).into_iter().collect();
    };
    let keyless = rest.split('[').next().unwrap_or_default();
    let is_field = |(object, _): &(&str, &str)| object.contains('/');
    let (object, field) =
        keyless.rfind(' ').map(|space| rest.split_at(space)).filter(is_field).unwrap_or((rest, ""));
    [step, object].into_iter().map(str::to_owned).chain(segments(field.trim_start())).collect()
}

/// Maps of texts: the rest of the path is one key, also with dots.
const OF_TEXTS: [&str; 4] = ["annotations", "labels", "matchLabels", "nodeSelector"];

/// `spec.containers[name=a.b].env` → `spec`, `containers[name=a.b]`, `env`; `metadata.labels.a.b/c` → `metadata`, `labels`, `a.b/c`.
fn segments(path: &str) -> Vec<String> {
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

    fn check(part: &str, path: &str, want: &str, got: &str) -> Check {
        let text = str::to_owned;
        Check { part: text(part), path: text(path), want: text(want), got: text(got) }
    }

    #[test]
    fn parents_are_shown_once() {
        let checks = [
            check("object", "spec.replicas", "2", "3"),
            check("object", "spec.template.metadata", "absent", "{}"),
            check("message", "", "no", "absent"),
        ];
        let shown: Vec<String> = diff(&checks)
            .iter()
            .map(|line| format!("{} {} {}", line.sign, line.text, line.note).trim_end().to_owned())
            .collect();
        let want = [
            "  spec:",
            "-   replicas: 2 wanted",
            "+   replicas: 3 got",
            "    template:",
            "-     metadata: absent wanted",
            "+     metadata: {} got",
            "- message: no wanted",
            "+ message: absent got",
        ];
        assert_eq!(shown, want);
    }

    #[test]
    fn keys_of_labels_keep_their_dots() {
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
    fn a_check_of_a_step_is_split_into_step_object_and_field() {
        let joined = |path| path_segments(path).join(" > ");
        assert_eq!(
            joined("told: sourceCluster managedresource/mr status.conditions[type=A b].reason"),
            "told > sourceCluster managedresource/mr > status > conditions[type=A b] > reason"
        );
        assert_eq!(joined("told: cluster configmap/b"), "told > cluster configmap/b");
        assert_eq!(joined("told: writes"), "told > writes");
        assert_eq!(joined("told"), "told");
        assert_eq!(joined(""), "");
    }

    #[test]
    fn dots_in_keys_do_not_part_segments() {
        assert_eq!(segments("spec.env[name=a.b].value"), ["spec", "env[name=a.b]", "value"]);
    }
}
