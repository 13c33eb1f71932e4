//! The fields of a Worker's specification.

use super::super::shape::{
    Field, OPTIONAL_TEXT, OPTIONAL_TRUTH, PROVIDER_CONFIG, RAW, REGION, SECRET_REF, Shape, TEXT_MAP, TEXTS,
    TYPE, field,
};

/// `extensionsv1alpha1.WorkerSpec`.
pub(super) const SPEC: &[Field] = &[
    TYPE,
    PROVIDER_CONFIG,
    field("infrastructureProviderStatus", "InfrastructureProviderStatus", RAW),
    REGION,
    SECRET_REF,
    field("sshPublicKey", "SSHPublicKey", Shape::Bytes),
    field("pools", "Pools", Shape::List("v1alpha1.WorkerPool", &POOL)),
];

const POOL: Shape = Shape::Struct(&[
    field("machineType", "MachineType", Shape::Text),
    field("maximum", "Maximum", Shape::Integer32),
    field("maxSurge", "MaxSurge", Shape::IntegerOrText),
    field("maxUnavailable", "MaxUnavailable", Shape::IntegerOrText),
    field("annotations", "Annotations", TEXT_MAP),
    field("labels", "Labels", TEXT_MAP),
    field("taints", "Taints", Shape::List("v1.Taint", &TAINT)),
    field("machineImage", "MachineImage", IMAGE),
    field("minimum", "Minimum", Shape::Integer32),
    field("name", "Name", Shape::Text),
    field("providerConfig", "ProviderConfig", RAW),
    field("userData", "UserData", Shape::Bytes),
    field("volume", "Volume", Shape::Pointer("v1alpha1.Volume", &VOLUME)),
    field("dataVolumes", "DataVolumes", Shape::List("v1alpha1.DataVolume", &DATA_VOLUME)),
    field("kubeletDataVolumeName", "KubeletDataVolumeName", OPTIONAL_TEXT),
    field("zones", "Zones", TEXTS),
    field(
        "machineControllerManager",
        "MachineControllerManagerSettings",
        Shape::Pointer("v1beta1.MachineControllerManagerSettings", &SETTINGS),
    ),
    field("kubernetesVersion", "KubernetesVersion", OPTIONAL_TEXT),
    field("nodeTemplate", "NodeTemplate", Shape::Pointer("v1alpha1.NodeTemplate", &TEMPLATE)),
    field("architecture", "Architecture", OPTIONAL_TEXT),
]);
const TAINT: Shape = Shape::Struct(&[
    field("key", "Key", Shape::Text),
    field("value", "Value", Shape::Text),
    field("effect", "Effect", Shape::Text),
    field("timeAdded", "TimeAdded", Shape::Pointer("v1.Time", &Shape::Time)),
]);
const IMAGE: Shape =
    Shape::Struct(&[field("name", "Name", Shape::Text), field("version", "Version", Shape::Text)]);
const VOLUME: Shape = Shape::Struct(&[field("name", "Name", OPTIONAL_TEXT), VOLUME_TYPE, SIZE, ENCRYPTED]);
const DATA_VOLUME: Shape = Shape::Struct(&[field("name", "Name", Shape::Text), VOLUME_TYPE, SIZE, ENCRYPTED]);
const VOLUME_TYPE: Field = field("type", "Type", OPTIONAL_TEXT);
const SIZE: Field = field("size", "Size", Shape::Text);
const ENCRYPTED: Field = field("encrypted", "Encrypted", OPTIONAL_TRUTH);
const SETTINGS: Shape = Shape::Struct(&[
    field("machineDrainTimeout", "MachineDrainTimeout", OPTIONAL_DURATION),
    field("machineHealthTimeout", "MachineHealthTimeout", OPTIONAL_DURATION),
    field("machineCreationTimeout", "MachineCreationTimeout", OPTIONAL_DURATION),
    field("maxEvictRetries", "MaxEvictRetries", Shape::Pointer("int32", &Shape::Integer32)),
    field("nodeConditions", "NodeConditions", TEXTS),
]);
const OPTIONAL_DURATION: Shape = Shape::Pointer("v1.Duration", &Shape::Duration);
const TEMPLATE: Shape = Shape::Struct(&[field("capacity", "Capacity", Shape::Map(&Shape::Quantity))]);
