//! Profiling: the originals serve Go's profiles beside the metrics, our programs have none and say so.

use formats::yaml::Node;
use serde_json::Value;

use super::{Ineffective, PathSegment, Warning, path_text, position};

/// The section of all components for profiling.
const SECTION: &str = "debugging";
const SWITCHES: [&str; 2] = ["enableProfiling", "enableContentionProfiling"];

/// A warning for each switch that is on, if the component knows it. GCM-CFG-011.
pub(super) fn warnings(root: &Node, unknown: &[Warning]) -> Vec<Warning> {
    let is_on = |switch: &&str| {
        let found = root.get(SECTION).and_then(|section| section.get(switch));
        found.is_some_and(|switch| switch.to_value() == Value::Bool(true))
    };
    let warning = |switch: &str| {
        let path = [SECTION, switch].map(|name| PathSegment::Field(name.to_owned()));
        let (position, field) = (position(root, &path, true), path_text(&path));
        Warning { position, field, reason: Ineffective::NoProfiles, suggestion: None }
    };
    let switched_on = SWITCHES.into_iter().filter(is_on).map(warning);
    let is_known =
        |field: &str| unknown.iter().all(|warning| warning.field != SECTION && warning.field != field);
    switched_on.filter(|warning| is_known(&warning.field)).collect()
}
