//! The GitHub Action: runs its steps as a runner does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::{CallResult, result_of};

/// The action of this project.
fn action() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action.yml");
    formats::yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The step of this name.
fn step<'a>(action: &'a Value, name: &str) -> &'a Value {
    let steps = action["runs"]["steps"].as_array().unwrap();
    steps.iter().find(|step| step["name"] == name).unwrap()
}

/// Runs the step `verify` with inputs; other inputs have their defaults. Returns its result, outputs and summary.
fn run(folder: &Path, inputs: &[(&str, &str)]) -> (CallResult, String, String) {
    let action = action();
    let value = |input: &str| {
        let given = inputs.iter().find(|(name, _)| *name == input).map(|(_, value)| (*value).to_owned());
        given.unwrap_or_else(|| action["inputs"][input]["default"].as_str().unwrap_or_default().to_owned())
    };
    let verify = step(&action, "verify");
    let filled: BTreeMap<&str, String> = verify["env"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, text)| {
            let input = text.as_str().unwrap().trim_start_matches("${{ inputs.").trim_end_matches(" }}");
            assert!(action["inputs"][input].is_object(), "{input} is no input");
            (name.as_str(), value(input))
        })
        .collect();
    for name in ["output", "summary"] {
        fs::write(folder.join(name), "").unwrap();
    }
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", verify["run"].as_str().unwrap()])
        .current_dir(folder)
        .envs(filled)
        .env("BINARY", env!("CARGO_BIN_EXE_gardener-conformance"))
        .env("GITHUB_ACTION_PATH", folder)
        .env("GITHUB_OUTPUT", folder.join("output"))
        .env("GITHUB_STEP_SUMMARY", folder.join("summary"))
        .output()
        .unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    (result_of(&output), read("output"), read("summary"))
}

#[test]
fn a_webhook_is_verified_and_gated() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let inputs = [
        ("target", "built-in"),
        ("suite", "resource-manager"),
        ("arguments", "--contract\npod-scheduler-name\n"),
    ];
    let (result, output, summary) = run(here, &inputs);
    result.assert_exit(0, &["verdict  conformant", "1 contract,"]);
    assert_eq!(output, "report=reports/latest\nexit-code=0\n");
    assert!(summary.starts_with("## gardener-conformance: conformant"), "{summary}");
    fs::rename(here.join("reports/latest"), here.join("main")).unwrap();

    let (result, output, summary) = run(here, &[&inputs[..], &[("baseline", "main")]].concat());
    result.assert_exit(0, &["gate     holds", "baseline main"]);
    assert_eq!(output, "report=reports/latest\nexit-code=0\n");
    assert!(summary.contains("## gardener-conformance: the gate holds"), "{summary}");

    let policy = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: GatePolicy\nmetadata: {name: a}\nspec:\n  \
                  profiles: [{name: other, components: [controlplane]}]\n";
    fs::write(here.join("gate.yaml"), policy).unwrap();
    let (result, output, _) = run(here, &[&inputs[..], &[("policy", "gate.yaml")]].concat());
    result.assert_exit(4, &["profile \"other\"", "gate     does not hold"]);
    assert_eq!(output, "report=reports/latest\nexit-code=4\n");
}

#[test]
fn an_unreachable_target_fails_and_leaves_no_older_report() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let arguments = ("arguments", "--insecure\n--contract\nkube-scheduler-flags");
    let (result, output, summary) = run(here, &[("target", "url=https://127.0.0.1:9"), arguments]);
    result.assert_exit(3, &["could not reach the target"]);
    assert_eq!(output, "report=reports/latest\nexit-code=3\n");
    assert!(summary.starts_with("## gardener-conformance: inconclusive"), "{summary}");
    let (result, output, summary) = run(here, &[("target", "no.yaml"), ("baseline", "reports/latest")]);
    result.assert_exit(2, &["failed to read target no.yaml"]);
    assert_eq!((output.as_str(), summary.as_str()), ("report=reports/latest\nexit-code=2\n", ""));
}

#[test]
fn it_uses_no_other_action_and_inserts_no_input_into_a_script() {
    let action = action();
    assert_eq!(action["runs"]["using"], "composite");
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert!(step["uses"].is_null() && step["shell"] == "bash", "{step}");
        assert!(!step["run"].as_str().unwrap().contains("${{"), "{step}");
    }
    assert!(step(&action, "build")["run"].as_str().unwrap().contains("cargo build --release --locked"));
    for output in action["outputs"].as_object().unwrap().keys() {
        assert_eq!(action["outputs"][output]["value"], format!("${{{{ steps.verify.outputs.{output} }}}}"));
    }
}
