//! A Shoot that is being deleted keeps its spec.

use std::collections::BTreeSet;

use api::garden::shoot::ShootSpec;
use serde_json::Value;
use webhook::field::{Error, Path};

/// The original lists at most this many differences.
const MOST: usize = 10;
/// Fields whose names in Go are not the API's names with a capital letter.
const NAMES: [(&str, &str); 17] = [
    ("apiAudiences", "APIAudiences"),
    ("apiGroup", "APIGroup"),
    ("caBundle", "CABundle"),
    ("cpu", "CPU"),
    ("cpuCFSQuota", "CPUCFSQuota"),
    ("cpuInitializationPeriod", "CPUInitializationPeriod"),
    ("cpuManagerPolicy", "CPUManagerPolicy"),
    ("cri", "CRI"),
    ("dns", "DNS"),
    ("horizontalPodAutoscaler", "HorizontalPodAutoscalerConfig"),
    ("httpAccessVerbosity", "HTTPAccessVerbosity"),
    ("ipFamilies", "IPFamilies"),
    ("machineControllerManager", "MachineControllerManagerSettings"),
    ("oidcConfig", "OIDCConfig"),
    ("pid", "PID"),
    ("podPidsLimit", "PodPIDsLimit"),
    ("sshAccess", "SSHAccess"),
];

/// The error of a spec that changed, with its differences: GDN-SDL-001.
pub(super) fn validate(new: &ShootSpec, old: &ShootSpec, is_deleted: bool, at: &Path) -> Option<Error> {
    if !is_deleted || new == old {
        return None;
    }
    let value = |spec: &ShootSpec| serde_json::to_value(spec).unwrap_or_default();
    let mut found = Vec::new();
    compare(&mut Vec::new(), &value(new), &value(old), &mut found);
    Some(Error::forbidden(at, &found.join(",")))
}

/// Compares by the API's names, in the order of the alphabet; what is absent is `<nil pointer>`, whatever its type.
fn compare(path: &mut Vec<String>, new: &Value, old: &Value, found: &mut Vec<String>) {
    if new == old || found.len() >= MOST {
        return;
    }
    let mut below = |step: String, new: Option<&Value>, old: Option<&Value>| {
        path.push(step);
        compare(path, new.unwrap_or(&Value::Null), old.unwrap_or(&Value::Null), found);
        path.pop();
    };
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            let names: BTreeSet<&String> = new.keys().chain(old.keys()).collect();
            for name in names {
                below(go_name(name), new.get(name), old.get(name));
            }
        }
        (Value::Array(new), Value::Array(old)) => {
            for index in 0..new.len().max(old.len()) {
                below(format!("slice[{index}]"), new.get(index), old.get(index));
            }
        }
        _ => found.push(format!("{}: {} != {}", path.join("."), plain(new), plain(old))),
    }
}

fn go_name(name: &str) -> String {
    if let Some((_, known)) = NAMES.iter().find(|(api, _)| *api == name) {
        return (*known).to_owned();
    }
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil pointer>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
