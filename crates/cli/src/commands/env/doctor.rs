//! What each substrate needs, what is here, and how to get what is missing.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::environment;

/// One thing that a substrate needs.
struct Need {
    what: &'static str,
    found: Option<String>,
    remedy: &'static str,
}

/// The diagnosis, a paragraph per substrate.
pub(crate) fn diagnose() -> String {
    let mut text = String::new();
    describe(&mut text, "direct", "AdmissionReviews straight to the webhook", &[]);
    describe(&mut text, "embedded", "the in-process API server", &[]);
    describe(
        &mut text,
        "real control plane",
        "for development: generated data, comparison",
        &control_plane(),
    );
    text
}

fn describe(text: &mut String, substrate: &str, what: &str, needs: &[Need]) {
    let ready = needs.iter().all(|need| need.found.is_some());
    let mark = if ready { "✓" } else { "✗" };
    let nothing = if needs.is_empty() { " · needs nothing" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{mark} {substrate}  {what}{nothing}");
    for need in needs {
        let line = match &need.found {
            Some(found) => format!("    ✓ {}: {found}", need.what),
            None => format!("    ✗ {}: {}", need.what, need.remedy),
        };
        let _ = writeln!(text, "{line}");
    }
}

fn control_plane() -> Vec<Need> {
    let binaries = |folder: PathBuf| {
        let missing: Vec<&str> = ["kube-apiserver", "etcd", "kubectl"]
            .into_iter()
            .filter(|name| !folder.join(name).exists())
            .collect();
        missing.is_empty().then(|| folder.display().to_string())
    };
    let given = environment::control_plane_folder();
    if given.is_some() {
        let remedy = "the folder lacks kube-apiserver, etcd or kubectl: unset KUBEBUILDER_ASSETS, or fill it";
        return vec![Need {
            what: "binaries in KUBEBUILDER_ASSETS",
            found: given.and_then(binaries),
            remedy,
        }];
    }
    vec![Need {
        what: "Go, to build it with `make control-plane`",
        found: version("go", "version"),
        remedy: "install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder with kube-apiserver and etcd",
    }]
}

fn version(program: &str, argument: &str) -> Option<String> {
    let output =
        Command::new(program).arg(argument).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
}
