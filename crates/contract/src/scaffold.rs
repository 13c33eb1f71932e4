//! The contract file that `new contract` writes: it loads, and has one clause to replace.

/// The forms that can be scaffolded.
pub const FORMS: [&str; 2] = ["mutation", "versions"];

/// A contract file for a behaviour of a component, written in one of [`FORMS`].
///
/// # Errors
/// When the name is not lower-case words joined by `-` (`pod-scheduler-name`), or the form is not one of [`FORMS`].
pub fn contract(name: &str, component: &str, form: &str) -> Result<String, String> {
    let template = match form {
        "mutation" => TEMPLATE,
        "versions" => VERSIONS,
        other => return Err(format!("cannot scaffold the form {other:?}; use one of {}", FORMS.join(", "))),
    };
    let plain = name
        .split('-')
        .all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    if !plain {
        return Err(format!(
            "{name:?} is not a valid name of a contract: write lower-case words joined by -, as in pod-scheduler-name"
        ));
    }
    let prefix: String =
        name.split('-').filter_map(|word| word.chars().next()).map(|c| c.to_ascii_uppercase()).collect();
    Ok(template.replace("{name}", name).replace("{component}", component).replace("{prefix}", &prefix))
}

const TEMPLATE: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: mutation
  source: {document: docs/concepts/{component}.md, version: v1.82, section: Name of the Section}
  target: {webhook: {name}, handles: [v1 pods]}
  onlyTouches: [spec.schedulerName]
  config: {}
  clauses:
  - id: {prefix}-001
    text: one sentence that says what holds
    table: |
      | scheduler         | becomes   |
      | default-scheduler | mine      |
      | other             | unchanged |
    given: {object: {like: pod, spec: {schedulerName: <scheduler>}}}
    when: {admission: CREATE}
    then: {object: {spec: {schedulerName: <becomes>}}}
";

const VERSIONS: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: versions
  source: {document: docs/usage/shoot_versions.md, version: v1.82, section: Name of the Section}
  onlyTouches: [spec.kubernetes.version]
  now: 2024-06-01T00:00:00Z
  runsOn: [decision, reconcile]
  cloudProfile: |
    | version  | classification | expires |
    | "1.27.4" | supported      |         |
    | "1.27.3" | deprecated     | +30d    |
  clauses:
  - id: {prefix}-001
    text: one sentence that says what holds
    table: |
      | current  | autoUpdate | becomes   | reason                                      |
      | "1.27.3" | true       | "1.27.4"  | AutoUpdate of Kubernetes version configured |
      | "1.27.3" | false      | unchanged | absent                                      |
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_component_and_prefix_are_filled_in() {
        let text = contract("pod-scheduler-name", "resource-manager", "mutation").unwrap();
        for line in
            ["  name: pod-scheduler-name", "  labels: {component: resource-manager}", "  - id: PSN-001"]
        {
            assert!(text.lines().any(|written| written == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn invalid_names_and_forms_are_refused() {
        for name in ["", "Pod", "pod--name", "pod_name", "-pod"] {
            assert!(contract(name, "c", "mutation").is_err(), "{name:?}");
        }
        assert_eq!(
            contract("a", "c", "flags"),
            Err("cannot scaffold the form \"flags\"; use one of mutation, versions".to_owned())
        );
    }
}
