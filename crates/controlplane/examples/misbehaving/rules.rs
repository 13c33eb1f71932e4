//! Defects of a webhook: each rule breaks one clause of the contract, and no other.

use formats::unit;
use gardener_controlplane::command_line::CommandLine;
use gardener_controlplane::ensurer::Role;
use gardener_controlplane::webhooks::controlplanebackup;
use serde_json::{Value, json};

/// One way to misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Sets a flag of a component to this value.
    Flag(Role, &'static str, &'static str),
    /// Removes a flag of a component.
    NoFlag(Role, &'static str),
    /// Removes a member from a list flag of a component.
    NoMember(Role, &'static str, &'static str),
    /// Adds a member to a list flag of a component.
    Member(Role, &'static str, &'static str),
    /// Annotates an object that no hook changes.
    Stranger(&'static str),
    /// Sets a field, by its JSON pointer; a pointer to the end of a list appends.
    Field(Role, &'static str, &'static str),
    /// Adds a backup to an Etcd without one, only in the webhook for backups: the seed's webhook does not change
    /// backups.
    Backup,
    /// Removes the element of this name from a list.
    Without(Role, &'static str, &'static str),
    /// Annotates the Service of kube-apiserver if it is of this type.
    Annotated(&'static str),
    /// Renames the container of a component.
    Renamed(Role),
    /// Empties kubelet.service.
    Empty,
    /// Adds a second start command to kubelet.service.
    StartsTwice,
    /// Adds an argument that is not a flag to the kubelet.
    Argument(&'static str),
    /// Stores the kubelet's configuration without encoding.
    Decoded,
    /// Sets a field of the kubelet's configuration.
    Kubelet(&'static str, &'static str),
    /// Sets a flag, but only for a version that is newer than those of all other clauses.
    SinceThen(Role, &'static str),
    /// Sets a flag, but only where Gardener sets this feature gate, which it does for no other clause.
    BesideGates(Role, &'static str, &'static str),
    /// Sets a field of the kubelet's configuration, but only for that newer version.
    KubeletSinceThen(&'static str, &'static str),
}

const KAS: Role = Role::KubeApiServer;
const KCM: Role = Role::KubeControllerManager;
const KS: Role = Role::KubeScheduler;
const OSC: Role = Role::OperatingSystemConfig;
const SERVICE: Role = Role::KubeApiServerService;
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// Every rule, by the clause that it breaks.
pub(crate) const RULES: [(&str, Wrong); 57] = [
    ("CP-001", Wrong::Stranger("Deployment")),
    (
        "CP-007",
        Wrong::Field(
            KS,
            "/metadata/labels/provider.extensions.gardener.cloud~1mutated-by-controlplane-webhook",
            "\"no\"",
        ),
    ),
    ("CP-013", Wrong::Renamed(KAS)),
    ("CP-016", Wrong::NoMember(KAS, "--enable-admission-plugins", "NodeRestriction")),
    ("CP-017", Wrong::Flag(KAS, "--etcd-cafile", "/x")),
    ("CP-018", Wrong::Flag(KAS, "--audit-policy-file", "/x")),
    ("CP-019", Wrong::Flag(KAS, "--secure-port", "6443")),
    ("CP-023", Wrong::NoFlag(KAS, "--event-ttl")),
    ("CP-024", Wrong::Flag(KAS, "--endpoint-reconciler-type", "none")),
    ("CP-025", Wrong::Flag(KAS, "--advertise-address", "52.18.3.9")),
    ("CP-027", Wrong::Member(KAS, "--enable-admission-plugins", "PersistentVolumeLabel")),
    ("CP-029", Wrong::Field(KAS, "/spec/template/spec/containers/0/env", "[]")),
    ("CP-031", Wrong::Without(KAS, "/spec/template/spec/volumes", "cloud-provider-config")),
    ("CP-034", Wrong::Field(SERVICE, "/metadata/annotations/example.com~1idle-timeout", "\"1\"")),
    ("CP-036", Wrong::Annotated("ClusterIP")),
    ("CP-041", Wrong::Renamed(KCM)),
    ("CP-043", Wrong::Flag(KCM, "--kubeconfig", "/x")),
    ("CP-044", Wrong::Flag(KCM, "--leader-elect", "false")),
    ("CP-045", Wrong::Flag(KCM, "--tls-cert-file", "/x")),
    ("CP-046", Wrong::Flag(KCM, "--cluster-cidr", "10.0.0.0/8")),
    ("CP-047", Wrong::Flag(KCM, "--concurrent-gc-syncs", "1")),
    ("CP-048", Wrong::NoFlag(KCM, "--horizontal-pod-autoscaler-tolerance")),
    ("CP-049", Wrong::Flag(KCM, "--port", "0")),
    ("CP-055", Wrong::NoFlag(KCM, "--use-service-account-credentials")),
    ("CP-057", Wrong::Field(KCM, "/spec/template/spec/containers/0/env", "[]")),
    ("CP-059", Wrong::Without(KCM, "/spec/template/spec/volumes", "etc-ssl")),
    ("CP-061", Wrong::Renamed(KS)),
    ("CP-063", Wrong::Flag(KS, "--config", "/x")),
    ("CP-064", Wrong::Flag(KS, "--v", "9")),
    ("CP-065", Wrong::Flag(KS, "--cloud-provider", "external")),
    (
        "CP-066",
        Wrong::Field(KS, "/spec/template/spec/containers/0/env", r#"[{"name": "CLOUD_KEY", "value": "x"}]"#),
    ),
    (
        "CP-067",
        Wrong::Field(
            KS,
            "/spec/template/spec/volumes/-",
            r#"{"name": "cloud", "secret": {"secretName": "cloudprovider"}}"#,
        ),
    ),
    ("CP-071", Wrong::Field(Role::Etcd, "/spec/replicas", "3")),
    ("CP-092", Wrong::Stranger("OperatingSystemConfig")),
    ("CP-093", Wrong::Empty),
    ("CP-094", Wrong::StartsTwice),
    ("CP-096", Wrong::Decoded),
    ("CP-097", Wrong::Flag(OSC, "--config", "/x")),
    ("CP-098", Wrong::Flag(OSC, "--kubeconfig", "/x")),
    ("CP-099", Wrong::Flag(OSC, "--network-plugin", "kubenet")),
    ("CP-100", Wrong::Member(OSC, "--node-labels", "cloud=x")),
    ("CP-103", Wrong::Flag(OSC, "--v", "9")),
    ("CP-104", Wrong::Kubelet("enableControllerAttachDetach", "false")),
    ("CP-105", Wrong::Kubelet("featureGates", "{}")),
    ("CP-106", Wrong::Field(OSC, "/spec/files/0/permissions", "511")),
    ("CP-108", Wrong::Stranger("Service")),
    ("CP-111", Wrong::Without(KAS, "/spec/template/spec/volumes", "ca")),
    ("CP-112", Wrong::Without(KCM, "/spec/template/spec/volumes", "ca")),
    ("CP-114", Wrong::Backup),
    ("CP-126", Wrong::Field(OSC, "/spec/units/0/enable", "false")),
    ("CP-127", Wrong::Kubelet("failSwapOn", "false")),
    ("CP-128", Wrong::SinceThen(KAS, "--secure-port")),
    ("CP-129", Wrong::SinceThen(KCM, "--secure-port")),
    ("CP-130", Wrong::SinceThen(KS, "--secure-port")),
    ("CP-131", Wrong::SinceThen(OSC, "--v")),
    ("CP-132", Wrong::KubeletSinceThen("failSwapOn", "false")),
    ("CP-142", Wrong::BesideGates(KAS, "--secure-port", "APIServerIdentity=true")),
];

/// Rules that break no clause, by their names in a report: no clause covers what they change.
pub(crate) const STRANGE: [(&str, Wrong); 3] = [
    ("unexplained-flag", Wrong::Flag(KAS, "--foreign-flag", "x")),
    ("unexplained-flag-of-kubelet", Wrong::Flag(OSC, "--foreign-flag", "x")),
    ("unexplained-argument-of-kubelet", Wrong::Argument("$FOREIGN_ARGUMENTS")),
];

impl Wrong {
    /// Damages the object that a correct webhook returned; idempotent.
    pub(crate) fn damage(self, webhook: &str, object: &mut Value) {
        let role = Role::of(object).ok().flatten();
        match self {
            Self::Flag(of, flag, value) if role == Some(of) => edit(object, |line| line.set(flag, value)),
            Self::NoFlag(of, flag) if role == Some(of) => edit(object, |line| line.remove(flag)),
            Self::NoMember(of, flag, member) if role == Some(of) => {
                edit(object, |line| line.remove_member(flag, member));
            }
            Self::Member(of, flag, member) if role == Some(of) => {
                edit(object, |line| line.add_member(flag, member));
            }
            Self::Stranger(kind) if role.is_none() && object["kind"] == kind => {
                object["metadata"]["annotations"]["example.com/wrong"] = json!("true");
            }
            Self::Field(of, pointer, value) if role == Some(of) => field(object, pointer, value),
            Self::Without(of, pointer, name) if role == Some(of) => {
                let list = object.pointer_mut(pointer).and_then(Value::as_array_mut);
                if let Some(list) = list {
                    list.retain(|element| element["name"] != name);
                }
            }
            Self::Annotated(of) if role == Some(SERVICE) && object["spec"]["type"] == of => {
                object["metadata"]["annotations"]["example.com/wrong"] = json!("true");
            }
            Self::Backup if role == Some(Role::Etcd) && webhook == controlplanebackup::NAME => {
                let store = &mut object["spec"]["backup"]["store"];
                *store = if store.is_null() { json!({"prefix": "wrong"}) } else { store.take() };
            }
            Self::SinceThen(of, flag) if role == Some(of) && is_newer(object) => {
                edit(object, |line| line.set(flag, "9"));
            }
            Self::BesideGates(of, flag, gate) if role == Some(of) && has_gate(object, gate) => {
                edit(object, |line| line.set(flag, "9"));
            }
            Self::Renamed(of) if role == Some(of) => {
                object
                    .pointer_mut(CONTAINER)
                    .into_iter()
                    .for_each(|container| container["name"] = json!("wrong"));
            }
            _ if role == Some(OSC) => self.damage_node(object),
            _ => {}
        }
    }

    fn damage_node(self, object: &mut Value) {
        match self {
            Self::Empty => object["spec"]["units"][0]["content"] = json!(""),
            Self::StartsTwice => kubelet_unit(object, |options| {
                let starts: Vec<_> =
                    options.iter().filter(|option| option.name == "ExecStart").cloned().collect();
                if let [one] = starts.as_slice() {
                    options.push(one.clone());
                }
            }),
            Self::Argument(argument) => kubelet_unit(object, |options| {
                let start = options.iter_mut().find(|option| option.name == "ExecStart");
                if let Some(start) = start.filter(|start| !start.value.ends_with(argument)) {
                    start.value.extend([" ", argument]);
                }
            }),
            Self::Decoded => {
                let inline = &mut object["spec"]["files"][1]["content"]["inline"];
                if let Some(content) = decoded(inline) {
                    *inline = json!({"encoding": "", "data": content});
                }
            }
            Self::Kubelet(name, value) => kubelet(object, name, value),
            Self::KubeletSinceThen(name, value) if is_newer(object) => kubelet(object, name, value),
            _ => {}
        }
    }
}

/// Whether an object is of Kubernetes 1.33, according to its image or the labels of its nodes.
fn is_newer(object: &Value) -> bool {
    let text = object["spec"].to_string();
    [":v1.33.", "kubernetes-version=1.33."].iter().any(|version| text.contains(version))
}

/// Whether the component of an object has a feature gate.
fn has_gate(object: &Value, gate: &str) -> bool {
    object.pointer(CONTAINER).is_some_and(|container| container.to_string().contains(gate))
}

fn edit(object: &mut Value, edit: impl Fn(&mut CommandLine)) {
    if object["kind"] == "OperatingSystemConfig" {
        return kubelet_unit(object, |options| {
            for option in options.iter_mut().filter(|option| option.name == "ExecStart").take(1) {
                let mut line = CommandLine::of_line(&option.value);
                edit(&mut line);
                option.value = line.to_line();
            }
        });
    }
    let Some(container) = object.pointer_mut(CONTAINER) else { return };
    let Ok(mut line) = CommandLine::of_container(container) else { return };
    edit(&mut line);
    container.as_object_mut().into_iter().for_each(|container| line.write(container));
}

fn kubelet_unit(object: &mut Value, edit: impl FnOnce(&mut Vec<unit::UnitOption>)) {
    let content = &mut object["spec"]["units"][0]["content"];
    let Ok(mut options) = unit::options(content.as_str().unwrap_or_default()) else { return };
    edit(&mut options);
    *content = Value::from(unit::write(&options));
}

fn kubelet(object: &mut Value, name: &str, value: &str) {
    let inline = &mut object["spec"]["files"][1]["content"]["inline"];
    let Some(content) = decoded(inline) else { return };
    let Ok(mut configuration) = formats::yaml::from_str::<Value>(&content) else { return };
    configuration[name] = serde_json::from_str(value).unwrap_or_default();
    let encoded = formats::yaml::to_string(&configuration).ok();
    let encoded =
        encoded.and_then(|text| gardener_controlplane::file_content::Encoding::Base64.encode(&text).ok());
    inline["data"] = json!(encoded);
}

fn decoded(inline: &Value) -> Option<String> {
    let encoding = gardener_controlplane::file_content::Encoding::of(inline["encoding"].as_str()?).ok()?;
    encoding.decode(inline["data"].as_str()?).ok()
}

fn field(object: &mut Value, pointer: &str, value: &str) {
    let value: Value = serde_json::from_str(value).unwrap_or_default();
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match object.pointer_mut(parent) {
        Some(Value::Array(items)) if !items.contains(&value) => items.push(value),
        Some(Value::Object(fields)) => {
            let name = name.replace("~1", "/");
            // A label or annotation that does not exist cannot be changed.
            if name == "env" || fields.contains_key(&name) {
                fields.insert(name, value);
            }
        }
        _ => {}
    }
}
