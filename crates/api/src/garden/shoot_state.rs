//! ShootState: the state of a shoot's control plane, from which another seed restores it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reference::NamedResourceReference;

kind! {
    /// The state of a shoot's control plane, from which another seed restores it.
    ShootState, "ShootState", "ShootStateList", "shootstates", NamespaceResourceScope {
        /// The specification.
        spec: ShootStateSpec,
    }
}

object! {
    /// The specification.
    ShootStateSpec {
        /// State of Gardener.
        gardener: Vec<GardenerResourceData>,
        /// State of extensions.
        extensions: Vec<ExtensionResourceState>,
        /// Objects that the state of extensions refers to.
        resources: Vec<ResourceData>,
    }

    /// A named piece of Gardener's state.
    GardenerResourceData {
        /// The name.
        name: String,
        /// Its type: `secret`.
        #[serde(rename = "type")]
        type_: String,
        /// The data.
        data: Option<Value>,
        /// Labels of the data.
        labels: BTreeMap<String, String>,
    }

    /// The state of an extension's resource.
    ExtensionResourceState {
        /// Kind of the resource.
        kind: String,
        /// Its name.
        name: Option<String>,
        /// Its purpose.
        purpose: Option<String>,
        /// The state.
        state: Option<Value>,
        /// References to the objects in `resources`.
        resources: Vec<NamedResourceReference>,
    }

    /// An object that the state of extensions refers to.
    ResourceData {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
        /// Group and version of its kind.
        api_version: Option<String>,
        /// The object.
        data: Option<Value>,
    }
}
