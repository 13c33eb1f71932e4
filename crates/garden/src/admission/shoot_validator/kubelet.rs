//! What kubelets reserve of a machine.

use api::garden::Quantity as Written;
use api::garden::cloud_profile::MachineType;
use api::garden::shoot::kubelet::{KubeletConfig, KubeletConfigReserved};
use formats::quantity::Quantity;
use webhook::field::{Error, Path};

use crate::webhooks::field_errors::FieldErrors;

/// What is reserved for Kubernetes and the system together is less than the machine has: GPL-SHVAL-100, GPL-SHVAL-101.
pub(super) fn validate(
    kubelet: Option<&KubeletConfig>,
    machine_type: &str,
    types: &[MachineType],
    at: &Path,
) -> FieldErrors {
    let Some(kubelet) = kubelet else { return FieldErrors::new() };
    let cpu = reserved(kubelet, |reserved| reserved.cpu.as_ref());
    let memory = reserved(kubelet, |reserved| reserved.memory.as_ref());
    let mut errors = FieldErrors::new();
    for machine in types.iter().filter(|known| known.name == machine_type) {
        for (what, sum, capacity) in [("CPU", cpu, &machine.cpu), ("memory", memory, &machine.memory)] {
            let capacity = read(capacity);
            if sum >= capacity {
                let shown = format!("kubeReserved {what} + systemReserved {what}: {sum}");
                let detail = format!(
                    "total reserved {what} (kubeReserved + systemReserved) cannot be more than the Node's {what} \
                     capacity '{capacity}'"
                );
                errors.push(Error::invalid(at, &shown, &detail));
            }
        }
    }
    errors
}

fn reserved(kubelet: &KubeletConfig, of: impl Fn(&KubeletConfigReserved) -> Option<&Written>) -> Quantity {
    let parts = [&kubelet.kube_reserved, &kubelet.system_reserved].into_iter().flatten();
    let amounts = parts.filter_map(of).map(read);
    // What has too many digits is more than any machine has.
    amounts.fold(Quantity::from_integer(0), |sum, amount| sum.checked_add(&amount).unwrap_or(amount))
}

/// What is no quantity was refused when the object was decoded.
fn read(written: &Written) -> Quantity {
    Quantity::parse(&written.0).unwrap_or_else(|_| Quantity::from_integer(0))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_validator::testing::texts;

    const CPU: &str = "k: Invalid value: \"kubeReserved CPU + systemReserved CPU: 2\": total reserved CPU \
        (kubeReserved + systemReserved) cannot be more than the Node's CPU capacity '2'";
    const MEMORY: &str = "k: Invalid value: \"kubeReserved memory + systemReserved memory: 5Gi\": total reserved \
        memory (kubeReserved + systemReserved) cannot be more than the Node's memory capacity '4Gi'";

    #[rstest]
    #[case::nothing(json!({}), "small", &[])]
    #[case::below(json!({"kubeReserved": {"cpu": "1", "memory": "2Gi"}, "systemReserved": {"cpu": "999m"}}), "small",
        &[])]
    #[case::at(json!({"kubeReserved": {"cpu": "1"}, "systemReserved": {"cpu": "1000m"}}), "small", &[CPU])]
    #[case::both(
        json!({"kubeReserved": {"cpu": "2", "memory": "1Gi"}, "systemReserved": {"memory": "4Gi"}}),
        "small",
        &[CPU, MEMORY],
    )]
    #[case::unknown_type(json!({"kubeReserved": {"cpu": "100"}}), "x", &[])]
    fn reservations_are_below_the_capacity(
        #[case] kubelet: Value,
        #[case] machine: &str,
        #[case] want: &[&str],
    ) {
        let types = json!([{"name": "small", "cpu": "2", "memory": "4Gi"}]);
        let types: Vec<MachineType> = serde_json::from_value(types).unwrap();
        let kubelet: KubeletConfig = serde_json::from_value(kubelet).unwrap();
        assert_eq!(texts(&validate(Some(&kubelet), machine, &types, &Path::new("k"))), want);
    }
}
