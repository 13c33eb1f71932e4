//! Images as targets: error messages, and that the container ends with the tool. The Docker client is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::program::{CallResult, program, result_of};

/// A Docker client whose engine has every image and whose containers do not serve.
const ENGINE: &str = r#"folder=${0%/*}
echo "$@" >> "$folder/calls"
case "$1" in
info) echo '{"ServerVersion": "20.10.24"}' ;;
start) echo $$ > "$folder/pid"; exec sleep 1000 ;;
stop) kill -9 $(cat "$folder/pid") ;;
esac"#;
const IMAGE: &str = "image=registry.example/team/webhook:v1 --port=<port>";

/// The program with this script as the Docker client.
fn with(folder: &Path, docker: &str) -> Command {
    let path = folder.join("docker");
    fs::write(&path, format!("#!/bin/sh\n{docker}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = program(folder);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display())).env("HOME", folder);
    command.env_remove("XDG_CACHE_HOME");
    command
}

fn verify(command: &mut Command, target: &str, more: &[&str]) -> CallResult {
    let arguments = ["verify", "--clause", "GRM-SEC-002", "--target", target];
    result_of(&command.args(arguments).args(more).output().unwrap())
}

#[test]
fn errors_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let verify_image = |target: &str, more: &[&str]| verify(&mut with(folder.path(), ENGINE), target, more);
    verify_image("image=", &[]).assert_exit(2, &["image= names no image", "REGISTRY/NAME:TAG"]);
    verify_image("image=webhook:v1", &[]).assert_exit(2, &["on which port to serve", "<port>"]);
    verify_image(IMAGE, &["--insecure"]).assert_exit(2, &["--ca and --insecure"]);
    verify_image(IMAGE, &["--substrate", "kind"])
        .assert_exit(2, &["--substrate kind supports --target built-in only"]);
    assert!(!folder.path().join("calls").exists(), "the Docker client was called");

    let mut without_docker = program(folder.path());
    without_docker.env("PATH", "/nowhere").env("HOME", folder.path()).env_remove("XDG_CACHE_HOME");
    verify(&mut without_docker, IMAGE, &[]).assert_exit(3, &["failed to find docker", "install Docker"]);
    let unreachable = "echo 'Cannot connect to the Docker daemon' >&2; exit 1";
    verify(&mut with(folder.path(), unreachable), IMAGE, &[]).assert_exit(
        3,
        &["! ", "failed to reach a Docker engine", "Cannot connect to the Docker daemon", "start Docker"],
    );
    let ending = ENGINE.replace("exec sleep 1000", "echo no such flag >&2; exit 2");
    verify(&mut with(folder.path(), &ending), IMAGE, &[])
        .assert_exit(3, &["registry.example/team/webhook:v1 ended before it was ready", "no such flag"]);
    let report = fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
    for words in
        [r#""kind": "image""#, r#""name": "webhook""#, r#""endpoint": "registry.example/team/webhook:v1"#]
    {
        assert!(report.contains(words), "{words} is not in {report}");
    }
}

#[test]
fn a_target_file_names_an_image_in_place_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = |spec: &str| {
        let text = format!(
            "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {{name: x}}\nspec: {{{spec}}}\n"
        );
        fs::write(folder.path().join("target.yaml"), text).unwrap();
        verify(&mut with(folder.path(), &ENGINE.replace("exec sleep 1000", "exit 2")), "target.yaml", &[])
    };
    file("image: webhook:v1, args: [--port=<port>]")
        .assert_exit(3, &["webhook:v1 ended before it was ready"]);
    file("args: [--port=<port>], url: \"https://127.0.0.1:<port>\"").assert_exit(2, &["args but no image"]);
}

#[test]
fn killing_the_tool_removes_its_container() {
    let folder = tempfile::tempdir().unwrap();
    let container_of = |call: &str| {
        let calls = fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
        let line = calls.lines().find(|line| line.starts_with(call))?;
        line.split(' ').find(|word| word.starts_with("gardener-conformance-")).map(str::to_owned)
    };
    let wait_for = |call: &str| {
        let begun = Instant::now();
        loop {
            if let Some(name) = container_of(call) {
                return name;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "docker {call} was not called");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let arguments = ["verify", "--clause", "GRM-SEC-002", "--target", IMAGE];
    let mut tool = with(folder.path(), ENGINE).args(arguments).spawn().unwrap();
    let name = wait_for("start --attach ");
    assert_eq!(container_of("stop "), None);
    tool.kill().unwrap();
    tool.wait().unwrap();
    assert_eq!(wait_for("stop -t 2 "), name);
    assert_eq!(wait_for("rm --force --volumes "), name);
}
