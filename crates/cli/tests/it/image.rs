//! What a person is told who names an image as target, and that its container goes with the tool. The Docker client is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::program::{Told, program, told};

/// An engine of this machine that has every image, whose containers do not serve.
const ENGINE: &str = r#"folder=${0%/*}
echo "$@" >> "$folder/asked"
case "$1" in
info) echo '{"ServerVersion": "20.10.24"}' ;;
start) echo $$ > "$folder/pid"; exec sleep 1000 ;;
stop) kill -9 $(cat "$folder/pid") ;;
esac"#;
const IMAGE: &str = "image=registry.example/team/webhook:v1 --port=<port>";

/// The program where this script is the Docker client.
fn with(folder: &Path, docker: &str) -> Command {
    let path = folder.join("docker");
    fs::write(&path, format!("#!/bin/sh\n{docker}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = program(folder);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display())).env("HOME", folder);
    command.env_remove("XDG_CACHE_HOME");
    command
}

fn verify(command: &mut Command, target: &str, more: &[&str]) -> Told {
    let arguments = ["verify", "--clause", "GRM-SEC-002", "--target", target];
    told(&command.args(arguments).args(more).output().unwrap())
}

#[test]
fn what_is_wrong_is_named_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |target: &str, more: &[&str]| verify(&mut with(folder.path(), ENGINE), target, more);
    asked("image=", &[]).says(2, &["image= names no image", "image=REGISTRY/NAME:TAG"]);
    asked("image=webhook:v1", &[]).says(2, &["on which port it is asked", "<port>"]);
    asked(IMAGE, &["--insecure"]).says(2, &["--ca and --insecure"]);
    asked(IMAGE, &["--substrate", "kind"]).says(2, &["what runs in the cluster are our own components"]);
    assert!(!folder.path().join("asked").exists(), "the engine was asked for something");

    let mut none = program(folder.path());
    none.env("PATH", "/nowhere").env("HOME", folder.path()).env_remove("XDG_CACHE_HOME");
    verify(&mut none, IMAGE, &[]).says(3, &["failed to find docker", "install Docker"]);
    let silent = "echo 'Cannot connect to the Docker daemon' >&2; exit 1";
    verify(&mut with(folder.path(), silent), IMAGE, &[]).says(
        3,
        &["! ", "failed to reach a Docker engine", "Cannot connect to the Docker daemon", "start Docker"],
    );
    let ending = ENGINE.replace("exec sleep 1000", "echo no such flag >&2; exit 2");
    verify(&mut with(folder.path(), &ending), IMAGE, &[])
        .says(3, &["registry.example/team/webhook:v1 ended before it was ready", "no such flag"]);
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
    file("image: webhook:v1, args: [--port=<port>]").says(3, &["webhook:v1 ended before it was ready"]);
    file("args: [--port=<port>], url: \"https://127.0.0.1:<port>\"").says(2, &["args but no image"]);
}

#[test]
fn its_container_goes_with_a_tool_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |what: &str| {
        let asked = fs::read_to_string(folder.path().join("asked")).unwrap_or_default();
        let line = asked.lines().find(|line| line.starts_with(what))?;
        line.split(' ').find(|word| word.starts_with("gardener-conformance-")).map(str::to_owned)
    };
    let until = |what: &str| {
        let begun = Instant::now();
        loop {
            if let Some(name) = asked(what) {
                return name;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "{what} is not asked for");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let arguments = ["verify", "--clause", "GRM-SEC-002", "--target", IMAGE];
    let mut tool = with(folder.path(), ENGINE).args(arguments).spawn().unwrap();
    let name = until("start --attach ");
    assert_eq!(asked("stop "), None);
    tool.kill().unwrap();
    tool.wait().unwrap();
    assert_eq!(until("stop -t 2 "), name);
    assert_eq!(until("rm --force --volumes "), name);
}
