//! The version of Gardener whose API the server has.

use serde_json::{Value, json};

/// What `/version` answers, in the form of Kubernetes' versions: that of gardener-apiserver v1.82.0 without the commit, because
/// this program is built from another one.
#[must_use]
pub fn document() -> Value {
    json!({
        "major": "1", "minor": "82", "gitVersion": "v1.82.0", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "2023-10-20T09:03:13Z", "goVersion": "go1.21.3", "compiler": "gc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture(std::env::consts::ARCH)),
    })
}

/// Go's name of an architecture.
fn architecture(name: &str) -> &str {
    match name {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_go_s_names() {
        assert_eq!(["x86_64", "aarch64", "s390x"].map(architecture), ["amd64", "arm64", "s390x"]);
    }
}
