//! Configuration files: values and errors.

use serde_json::{Value, json};

use super::*;

fn refused(value: &Value) -> Vec<String> {
    match ControlPlaneWebhooksConfiguration::from_value(value) {
        Err(ConfigError::Invalid(errors)) => errors.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

/// A configuration that requests everything that is reserved.
fn request_everything_reserved() -> Value {
    json!({
        "provider": "a b", "gardenerVersion": "new", "disabledWebhooks": ["shoot"],
        "kubeAPIServer": {
            "flags": {"--secure-port": "1", "advertise": "2", "--feature-gates": "A=true", "--cloud-config": "/y/c", "--x": "y"},
            "removedFlags": ["--etcd-cafile", "--audit-log-maxsize", "--x"],
            "featureGates": [{"name": "", "kubernetes": "one"}],
            "env": [{"name": "A"}, {"name": "A"}],
            "volumes": [{"name": "ca"}, {"name": "mine"}],
            "volumeMounts": [{"name": "other", "mountPath": "/x"}],
        },
        "kubelet": {
            "flags": {"--config": "/x", "--cloud-config": "/var/lib/kubelet/cloudprovider.conf"},
            "configuration": {"enableControllerAttachDetach": false, "featureGates": {}},
            "unitOptions": [{"section": "Service", "name": "ExecStart", "value": "x"}, {"section": "", "name": "a=b", "value": "c\nd"}],
            "kernel": {"a b": "c\nd"},
            "files": [{"path": "/var/lib/kubelet/config/kubelet"}, {"path": "/a"}, {"path": "/a"}],
            "units": [{"name": "kubelet.service"}],
        },
    })
}

#[test]
fn missing_fields_have_defaults() {
    let (config, warnings) =
        ControlPlaneWebhooksConfiguration::from_value(&json!({"provider": "local"})).unwrap();
    let plugins = vec!["PersistentVolumeLabel".to_owned()];
    assert_eq!(
        (config.csi, config.csi_incompatible_admission_plugins, warnings),
        (true, plugins, Vec::new())
    );
}

#[test]
fn settings_that_the_contract_reserves_are_errors() {
    let wanted = [
        "provider: Invalid value: \"a b\": a lowercase RFC 1123 label",
        "gardenerVersion: Invalid value: \"new\"",
        "disabledWebhooks[0]: Unsupported value: \"shoot\"",
        "kubeAPIServer.flags[--feature-gates]: Forbidden: set feature gates in featureGates",
        "kubeAPIServer.flags[--secure-port]: Forbidden: Gardener sets this flag, and webhooks must not change it (CP-019)",
        "kubeAPIServer.flags[advertise]: Invalid value: \"advertise\": must begin with --",
        "kubeAPIServer.removedFlags[--etcd-cafile]: Forbidden: Gardener sets this flag, and webhooks must not change it (CP-017)",
        "kubeAPIServer.removedFlags[--audit-log-maxsize]: Forbidden: Gardener sets this flag, and webhooks must not change it (CP-018)",
        "kubeAPIServer.removedFlags[--x]: Duplicate value: \"--x\"",
        "kubeAPIServer.featureGates[0].name: Required value",
        "kubeAPIServer.featureGates[0].kubernetes: Invalid value: \"one\"",
        "kubeAPIServer.env[1].name: Duplicate value: \"A\"",
        "kubeAPIServer.volumes[0].name: Forbidden: it is a volume of Gardener",
        "kubeAPIServer.volumes[0].name: Invalid value: \"ca\": no volumeMount mounts it",
        "kubeAPIServer.volumes[1].name: Invalid value: \"mine\": no volumeMount mounts it",
        "kubeAPIServer.volumeMounts[0].name: Not found: \"other\"",
        "kubeAPIServer.flags[--cloud-config]: Invalid value: \"/y/c\": no volume is mounted there",
        "kubelet.flags[--cloud-config]: Invalid value: \"/var/lib/kubelet/cloudprovider.conf\": neither files nor cloudProviderConfig contains this file (CP-102)",
        "kubelet.flags[--config]: Forbidden: Gardener sets this flag, and webhooks must not change it (CP-097)",
        "kubelet.configuration[enableControllerAttachDetach]: Forbidden: CSI plugins need it to be true (CP-104)",
        "kubelet.configuration[featureGates]: Forbidden: set feature gates in featureGates",
        "kubelet.unitOptions[0].name: Forbidden: kubelet.service has one ExecStart (CP-094)",
        "kubelet.unitOptions[1].section: Required value",
        "kubelet.unitOptions[1].name: Invalid value: \"a=b\"",
        "kubelet.unitOptions[1].value: Invalid value: \"c\\nd\"",
        "kubelet.kernel[a b]: Invalid value",
        "kubelet.files[0].path: Forbidden: it is a file of Gardener (CP-106)",
        "kubelet.files[2].path: Duplicate value: \"/a\"",
        "kubelet.units[0].name: Forbidden: it is a unit of Gardener (CP-106)",
    ];
    let found = refused(&request_everything_reserved());
    let missing: Vec<_> =
        wanted.iter().filter(|wanted| !found.iter().any(|found| found.starts_with(**wanted))).collect();
    assert_eq!((missing, found.len()), (Vec::new(), wanted.len()), "{found:#?}");
}

#[test]
fn from_1_98_on_objects_are_labelled() {
    for (version, labelled) in [("v1.79.3", false), ("v1.97.9", false), ("v1.98.0", true), ("v1.120.1", true)]
    {
        let config = json!({"provider": "local", "gardenerVersion": version});
        assert_eq!(
            ControlPlaneWebhooksConfiguration::from_value(&config).unwrap().0.is_labelled(),
            labelled,
            "{version}"
        );
    }
}
