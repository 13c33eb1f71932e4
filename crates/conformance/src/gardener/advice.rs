//! Why a clause about a provider's webhooks matters, and with which functions of Gardener's extension library a webhook in Go keeps
//! it. The names are those of `extensions/pkg/webhook` and `…/controlplane/genericmutator`, v1.82.

use contract::flags::CommandLine;
use contract::model::{Binds, Clause, Contract, Form};
use serde_json::Value;

/// What a lost or changed flag breaks, by the beginning of its name.
const FLAGS: [(&str, &str); 20] = [
    ("--tls-", "clients verify the server by this certificate: without it nothing can connect"),
    ("--client-ca-file", "clients of the Shoot are authenticated by certificates of this authority"),
    ("--etcd-", "it leads to the data of the cluster: without it the API server does not start"),
    ("--kubelet-", "with it the API server calls kubelets: logs, exec and port-forward need it"),
    ("--service-account-", "tokens of pods are signed and verified with it"),
    (
        "--service-cluster-ip-range",
        "Services get their addresses from it; another range strands those that exist",
    ),
    ("--advertise-address", "pods reach the API server at this address"),
    ("--endpoint-reconciler-type", "it decides who writes the addresses of the API server for pods"),
    (
        "--enable-admission-plugins",
        "plugins that Gardener adds to the list must stay: add to it, do not replace it",
    ),
    (
        "--disable-admission-plugins",
        "plugins that Gardener adds to the list must stay: add to it, do not replace it",
    ),
    ("--feature-gates", "it is a list that the user of the Shoot may fill: add to it, do not replace it"),
    (
        "--cloud-",
        "volumes and load balancers come from the cloud controller manager and CSI drivers of the provider",
    ),
    ("--cluster-cidr", "nodes get the addresses of their pods from it"),
    ("--allocate-node-cidrs", "nodes get the addresses of their pods from it"),
    ("--authentication-kubeconfig", "probes and metrics are authenticated with it"),
    ("--authorization-kubeconfig", "probes and metrics are authorized with it"),
    ("--kubeconfig", "with it the program reaches the API server"),
    ("--secure-port", "Gardener's Services and probes call this port"),
    ("--port", "Gardener's Services and probes call this port"),
    ("--leader-elect", "two leaders at once would undo each other's work"),
];

/// Why the clause matters, in a sentence; `None` where only its own text explains it.
pub(crate) fn why(contract: &Contract, clause: &Clause) -> Option<String> {
    if clause.binds == Binds::Gardener {
        let reason = match contract.form {
            Form::Objects => "webhooks of every provider find the objects as this clause describes them",
            _ => return None,
        };
        return Some(reason.to_owned());
    }
    let reason = flags(contract, clause).into_iter().find_map(|flag| {
        let known = FLAGS.iter().find(|(prefix, _)| flag.starts_with(prefix));
        known.map(|(_, reason)| format!("{flag}: {reason}"))
    });
    let all =
        "a webhook changes the control planes of all Shoots of its provider, with the next reconciliation";
    Some(reason.map_or_else(|| all.to_owned(), |reason| format!("{reason}. And {all}")))
}

/// What to call in Go to keep the clause, one piece of advice each; empty for clauses that do not bind extensions.
pub(crate) fn in_go(contract: &Contract, clause: &Clause) -> Vec<String> {
    if clause.binds == Binds::Gardener {
        return Vec::new();
    }
    let table = contract.flags.as_ref();
    let mut advice = Vec::new();
    match table.map(|table| &table.line) {
        Some(CommandLine::Container(name)) => {
            advice.push(format!(
                "in {}: c := webhook.ContainerWithName(…, {name:?}), then change single flags of c.Command",
                method_of_container(name)
            ));
            advice.push(
                "webhook.EnsureStringWithPrefix(c.Command, \"--flag=\", value) sets one, EnsureNoStringWithPrefix \
                 removes one, EnsureStringWithPrefixContains adds to a list; never assign c.Command anew"
                    .to_owned(),
            );
        }
        Some(CommandLine::Unit(unit)) => {
            advice.push(format!(
                "in EnsureKubeletServiceUnitOptions ({unit}): option := webhook.UnitOptionWithSectionAndName(opts, \
                 \"Service\", \"ExecStart\"), command := webhook.DeserializeCommandLine(option.Value), and back with \
                 SerializeCommandLine"
            ));
            advice.push(
                "webhook.EnsureStringWithPrefix(command, \"--flag=\", value) leaves one flag however often the webhook \
                 is called; append adds one at each call"
                    .to_owned(),
            );
        }
        None => advice.extend(object_advice(clause)),
    }
    advice
}

/// The flags of the clause's rows.
fn flags<'a>(contract: &'a Contract, clause: &Clause) -> Vec<&'a str> {
    let rows = contract.flags.iter().flat_map(|table| &table.rows);
    rows.filter(|row| row.clause == clause.id).map(|row| row.flag.as_str()).collect()
}

fn object_advice(clause: &Clause) -> Vec<String> {
    let object = clause.cases.iter().find_map(|case| case.given.object.as_ref().or(case.given.old.as_ref()));
    let Some(object) = object else { return Vec::new() };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    let (method, helpers) = match kind.as_str() {
        "Deployment" => (
            method_of_container(&name),
            "EnsureVolumeWithName, EnsureVolumeMountWithName, EnsureEnvVarWithName, EnsureContainerWithName, \
             EnsureAnnotationOrLabel",
        ),
        "Service" => ("EnsureKubeAPIServerService", "EnsureAnnotationOrLabel"),
        "Etcd" => ("EnsureETCD", "EnsureAnnotationOrLabel"),
        "OperatingSystemConfig" => (
            "EnsureKubeletServiceUnitOptions, EnsureKubeletConfiguration, EnsureAdditionalUnits or EnsureAdditionalFiles",
            "EnsureUnitOption, AppendUniqueUnit, EnsureFileWithPath",
        ),
        _ => return Vec::new(),
    };
    vec![format!(
        "in {method}, change single members of `new`, with the functions of package webhook: {helpers}"
    )]
}

/// The method of genericmutator.Ensurer for the Deployment of a container.
fn method_of_container(name: &str) -> &'static str {
    match name {
        "kube-apiserver" => "EnsureKubeAPIServerDeployment",
        "kube-controller-manager" => "EnsureKubeControllerManagerDeployment",
        "kube-scheduler" => "EnsureKubeSchedulerDeployment",
        "cluster-autoscaler" => "EnsureClusterAutoscalerDeployment",
        "machine-controller-manager" => "EnsureMachineControllerManagerDeployment",
        "vpn-seed-server" => "EnsureVPNSeedServerDeployment",
        _ => "the Ensurer method of the Deployment",
    }
}
