//! What each substrate needs, what is here, and how to get what is missing.

use std::fmt::Write as _;

use substrate::envtest::assets::Assets;
use substrate::envtest::programs;

use crate::environment;

/// One thing that a substrate needs.
struct Need {
    what: &'static str,
    found: Option<String>,
    remedy: String,
}

/// The diagnosis, a paragraph per substrate.
pub(crate) fn diagnose() -> String {
    let mut text = String::new();
    describe(&mut text, "direct", "AdmissionReviews straight to the webhook", &[]);
    describe(&mut text, "embedded", "the in-process API server", &[]);
    describe(&mut text, "envtest", "a real kube-apiserver and etcd on loopback", &[control_plane(false)]);
    let controllers = "the same with kube-controller-manager";
    describe(&mut text, "envtest --with controller-manager", controllers, &[control_plane(true)]);
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

fn control_plane(controller_manager: bool) -> Need {
    let found = Assets::find(&environment::surroundings(), programs(controller_manager));
    let remedy = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
    Need { what: "programs", found: found.ok().map(|assets| assets.folder().display().to_string()), remedy }
}
