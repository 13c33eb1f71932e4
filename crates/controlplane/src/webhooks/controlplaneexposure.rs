//! Changes for the seed's provider: exposure of a control plane and storage of its data.

use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

use crate::config::{ControlPlaneWebhooksConfiguration, Storage};
use crate::ensurer::{self, Ensured, Ensurer};

/// Name of the webhook.
pub const NAME: &str = "controlplaneexposure";

struct Exposure<'a>(&'a ControlPlaneWebhooksConfiguration);

/// Applies the changes for the seed's provider to an object of a control plane.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(config: &ControlPlaneWebhooksConfiguration, object: &mut Value) -> Result<(), Rejection> {
    ensurer::mutate(&Exposure(config), None, object)
}

impl Ensurer for Exposure<'_> {
    /// A Service of type ClusterIP stays unchanged. CP-034, CP-036.
    fn kube_api_server_service(&self, service: &mut Value) -> Ensured {
        let annotations = &self.0.load_balancer_annotations;
        if object::text(service, &["spec", "type"])? == "LoadBalancer" && !annotations.is_empty() {
            let all = object::map_mut(service, &["metadata", "annotations"])?;
            all.extend(annotations.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))));
        }
        Ok(())
    }

    /// CP-071.
    fn etcd(&self, etcd: &mut Value) -> Ensured {
        let Storage { class_name, capacity } = match object::text(etcd, &["metadata", "name"])? {
            "etcd-main" => &self.0.etcd.main,
            _ => &self.0.etcd.events,
        };
        for (field, value) in [("storageClass", class_name), ("storageCapacity", capacity)] {
            if !value.is_empty() {
                object::set(etcd, &["spec", field], value.as_str())?;
            }
        }
        Ok(())
    }
}
