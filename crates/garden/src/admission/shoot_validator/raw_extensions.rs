//! Configurations for providers, which are any JSON, but none of an internal API version.

use api::garden::shoot::ShootSpec;
use serde_json::Value;
use webhook::field::{Error, Path};

use crate::webhooks::field_errors::FieldErrors;

const INTERNAL: &str = "__internal";

/// The errors of all such configurations, in deletions too; extensions' are not looked at: GPL-SHVAL-055.
pub(super) fn validate(spec: &ShootSpec) -> FieldErrors {
    let (at, networking) = (Path::new("spec"), spec.networking.as_ref());
    let (provider, at_provider) = (&spec.provider, at.child("provider"));
    let mut configs = vec![
        (at_provider.child("infrastructureConfig"), provider.infrastructure_config.as_ref()),
        (at_provider.child("controlPlaneConfig"), provider.control_plane_config.as_ref()),
        (
            at.child("networking").child("providerConfig"),
            networking.and_then(|networking| networking.provider_config.as_ref()),
        ),
    ];
    for (index, pool) in provider.workers.iter().enumerate() {
        let at = at_provider.child("workers").index(index);
        let image = pool.machine.image.as_ref();
        configs.push((at.child("providerConfig"), pool.provider_config.as_ref()));
        configs.push((
            at.child("machine").child("image").child("providerConfig"),
            image.and_then(|image| image.provider_config.as_ref()),
        ));
        let runtimes = pool.cri.iter().flat_map(|cri| &cri.container_runtimes).enumerate();
        let at = at.child("cri").child("containerRuntimes");
        configs.extend(runtimes.map(|(index, runtime)| {
            (at.index(index).child("providerConfig"), runtime.provider_config.as_ref())
        }));
    }
    let shown = configs.iter().filter_map(|(at, config)| Some((at, internal_kind((*config)?)?)));
    shown.map(|(at, kind)| Error::invalid(at, &kind, "must not use apiVersion 'internal'")).collect()
}

/// Version and kind of a configuration of an internal version.
fn internal_kind(config: &Value) -> Option<String> {
    let text = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    (version == INTERNAL).then(|| format!("{group}/{version}, Kind={}", text("kind")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::shoot_validator::testing::{spec, texts};

    #[rstest]
    #[case::external(json!({"apiVersion": "a.b/v1", "kind": "C"}), None)]
    #[case::no_object(json!("x"), None)]
    #[case::no_text(json!({"apiVersion": 1}), None)]
    #[case::too_many_parts(json!({"apiVersion": "a/b/__internal"}), None)]
    #[case::internal(json!({"apiVersion": "a.b/__internal", "kind": "C"}), Some("a.b/__internal, Kind=C"))]
    #[case::without_kind(json!({"apiVersion": "__internal"}), Some("/__internal, Kind="))]
    fn internal_versions_are_found(#[case] config: Value, #[case] want: Option<&str>) {
        assert_eq!(internal_kind(&config).as_deref(), want);
    }

    #[test]
    fn each_configuration_is_looked_at() {
        let config = json!({"apiVersion": "a/__internal", "kind": "C"});
        let pool = json!({
            "providerConfig": config,
            "machine": {"image": {"providerConfig": config}},
            "cri": {"containerRuntimes": [{}, {"providerConfig": config}]},
        });
        let errors = validate(&spec(json!({
            "extensions": [{"type": "x", "providerConfig": config}],
            "networking": {"providerConfig": config},
            "provider": {"infrastructureConfig": config, "controlPlaneConfig": config, "workers": [{}, pool]},
        })));
        let text = "Invalid value: \"a/__internal, Kind=C\": must not use apiVersion 'internal'";
        let want = [
            "provider.infrastructureConfig",
            "provider.controlPlaneConfig",
            "networking.providerConfig",
            "provider.workers[1].providerConfig",
            "provider.workers[1].machine.image.providerConfig",
            "provider.workers[1].cri.containerRuntimes[1].providerConfig",
        ]
        .map(|field| format!("spec.{field}: {text}"));
        assert_eq!(texts(&errors), want);
    }
}
