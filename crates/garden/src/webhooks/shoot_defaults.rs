//! Defaults of a Shoot that are neither Kubernetes', nor maintenance's, nor a pool's.

use serde_json::{Value, json};
use webhook::object::{self, WrongType};

/// Taint of seeds that are the garden's own.
const PROTECTED: &str = "seed.gardener.cloud/protected";

/// Sets the defaults; those of Shoots with pools only if there is one: GDN-SDF-001 to -004.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(shoot: &mut Value) -> Result<(), WrongType> {
    if_absent(shoot, &["spec", "purpose"], "evaluation")?;
    tolerate_protected(shoot)?;
    if object::list(shoot, &["spec", "networking", "ipFamilies"])?.is_empty() {
        object::set(shoot, &["spec", "networking", "ipFamilies"], json!(["IPv4"]))?;
    }
    if has_pools(shoot)? {
        let dashboard = ["spec", "addons", "kubernetesDashboard"];
        if_absent(shoot, &dashboard, json!({"enabled": false}))?;
        if_absent(shoot, &[dashboard[0], dashboard[1], dashboard[2], "authenticationMode"], "token")?;
        let access = ["spec", "provider", "workersSettings", "sshAccess"];
        if_absent(shoot, &access, json!({"enabled": true}))?;
        let mode = ["spec", "systemComponents", "coreDNS", "autoscaling", "mode"];
        if !["horizontal", "cluster-proportional"].contains(&object::text(shoot, &mode)?) {
            object::set(shoot, &mode, "horizontal")?;
        }
    }
    if_absent(shoot, &["spec", "schedulerName"], "default-scheduler")?;
    let ingress = ["spec", "addons", "nginxIngress"];
    if object::map(shoot, &ingress)?.is_some() {
        if_absent(shoot, &[ingress[0], ingress[1], ingress[2], "externalTrafficPolicy"], "Cluster")?;
    }
    Ok(())
}

/// Whether a Shoot has pools.
pub(super) fn has_pools(shoot: &Value) -> Result<bool, WrongType> {
    Ok(!object::list(shoot, &["spec", "provider", "workers"])?.is_empty())
}

/// Sets a field that is absent or null.
pub(super) fn if_absent(object: &mut Value, path: &[&str], value: impl Into<Value>) -> Result<(), WrongType> {
    if object::get(object, path)?.is_none() {
        object::set(object, path, value)?;
    }
    Ok(())
}

/// Shoots of the garden's namespace go to the garden's own seeds. A toleration with a value is another one.
fn tolerate_protected(shoot: &mut Value) -> Result<(), WrongType> {
    const TOLERATIONS: [&str; 2] = ["spec", "tolerations"];
    if object::text(shoot, &["metadata", "namespace"])? != "garden" {
        return Ok(());
    }
    for toleration in object::list(shoot, &TOLERATIONS)? {
        if object::text(toleration, &["key"])? == PROTECTED && object::get(toleration, &["value"])?.is_none()
        {
            return Ok(());
        }
    }
    object::list_mut(shoot, &TOLERATIONS)?.push(json!({"key": PROTECTED}));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shoots_of_the_garden_tolerate_its_own_seeds() {
        let protected = json!({"key": PROTECTED});
        let with_value = json!({"key": PROTECTED, "value": "a"});
        let table = [
            ("garden", vec![], vec![protected.clone()]),
            ("garden", vec![protected.clone()], vec![protected.clone()]),
            ("garden", vec![with_value.clone()], vec![with_value, protected]),
            ("garden-dev", vec![], vec![]),
        ];
        for (namespace, before, after) in table {
            let mut shoot = json!({"metadata": {"namespace": namespace}, "spec": {"tolerations": before}});
            default(&mut shoot).unwrap();
            assert_eq!(shoot["spec"]["tolerations"], json!(after), "{namespace}");
        }
    }
}
