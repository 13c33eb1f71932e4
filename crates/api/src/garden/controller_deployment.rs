//! ControllerDeployment: how an extension is deployed.

use serde_json::Value;

kind! {
    /// How an extension is deployed.
    ControllerDeployment, "ControllerDeployment", "ControllerDeploymentList", "controllerdeployments",
    ClusterResourceScope {
        /// Type of the deployment: `helm`.
        #[serde(rename = "type")]
        type_: String,
        /// Configuration of this type: the chart and its values.
        provider_config: Option<Value>,
    }
}
